"""A local cluster of two CPUs: Ray's workers say what one process says, also when one of them dies."""

import os
import signal
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianFlow, BayesianVAE
from dissensus.errors import DataError, DissensusError, SettingsError

pytestmark = pytest.mark.filterwarnings("ignore::Warning")


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed: make test-integrations")
    pytest.importorskip("ray.data")
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def by_row(dataset):
    """Scored rows in the order of their numbers."""
    found = sorted(dataset.take_all(), key=lambda row: row["number"])
    return {
        name: np.array([row[name] for row in found]) for name in ("number", "score", "p_value", "flagged")
    }


def numbered(ray, inputs):
    return ray.data.from_items([{"number": n, "data": row} for n, row in enumerate(inputs)])


def assert_decided(found, expected, count):
    assert found["number"].tolist() == list(range(count))  # nothing lost, nothing doubled
    for name in ("score", "p_value", "flagged"):
        np.testing.assert_array_equal(found[name], getattr(expected, name))


def test_a_dataset_is_scored_as_by_one_process(ray, gate, inliers, outliers, tmp_path):
    from dissensus.integrations.ray import flag_together, score_dataset

    inputs = np.concatenate([inliers, outliers])
    gate.save(tmp_path / "gate")
    scored = score_dataset(tmp_path / "gate", numbered(ray, inputs), cpus=0.5, batch_size=50).materialize()
    assert_decided(by_row(scored), gate.decide(inputs), len(inputs))
    together = by_row(flag_together(scored, 0.2))
    assert_decided(together, gate.decide(inputs, fdr=0.2), len(inputs))


def test_a_killed_worker_loses_nothing(ray, gate, inliers, tmp_path, monkeypatch):
    from dissensus.integrations import ray as adapter

    marker, as_class = tmp_path / "killed", adapter._as_class

    def killed_once(scorer):
        class Killed(as_class(scorer)):
            def __call__(self, batch):
                if 120 in batch["number"] and not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().__call__(batch)

        return Killed

    monkeypatch.setattr(adapter, "_as_class", killed_once)
    scored = adapter.score_dataset(gate, numbered(ray, inliers), cpus=0.5, batch_size=50)
    assert_decided(by_row(scored), gate.decide(inliers), len(inliers))
    assert marker.exists()


def test_inputs_that_cannot_be_scored_are_told(ray, gate, inliers):
    from dissensus.integrations.ray import score_dataset

    broken = inliers[:20].copy()
    broken[7, 1] = np.nan
    found = score_dataset(gate, numbered(ray, broken), cpus=0.5, on_error="skip").take_all()
    bad = [row for row in found if row["error"]]
    assert [row["number"] for row in bad] == [7]
    assert "NaN" in bad[0]["error"]


def test_chains_on_workers_are_one_fit(ray, inliers, tmp_path):
    from dissensus.integrations.ray import fit_chains

    settings = {"epochs": 4, "false_alarm_rate": 0.1, "device": "cpu", "chains": 2}
    cluster = fit_chains(BayesianFlow(**settings), inliers, checkpoint=tmp_path, cpus=0.5)
    alone = BayesianFlow(**settings).fit(inliers)
    np.testing.assert_array_equal(cluster.score_samples(inliers), alone.score_samples(inliers))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def dying(marker, *, always=False):
    """A detector whose second chain kills its worker after two epochs: once, or always."""

    class Dying(BayesianFlow):
        def fit_chains(self, X, *, first_chain, **how):
            def kill(stage, done, total):
                if first_chain == 1 and done == 2 and (always or not marker.exists()):
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)

            return super().fit_chains(X, first_chain=first_chain, **{**how, "on_progress": kill})

    return Dying(epochs=4, false_alarm_rate=0.1, device="cpu", chains=2)


def test_a_chain_whose_worker_is_killed_goes_on(ray, inliers, tmp_path):
    from dissensus.integrations.ray import fit_chains

    marker = tmp_path / "killed"
    cluster = fit_chains(dying(marker), inliers, checkpoint=tmp_path / "checkpoint", cpus=0.5)
    assert marker.exists()
    alone = BayesianFlow(epochs=4, false_alarm_rate=0.1, device="cpu", chains=2).fit(inliers)
    np.testing.assert_array_equal(cluster.score_samples(inliers), alone.score_samples(inliers))


def test_what_ends_a_chain_is_one_sentence(ray, inliers, tmp_path, monkeypatch):
    from dissensus.integrations import ray as adapter

    monkeypatch.setattr(adapter, "TRIES", 1)
    with pytest.raises(DissensusError, match=r"^the worker of a chain died 2 times, perhaps .*checkpoint="):
        adapter.fit_chains(dying(tmp_path / "killed", always=True), inliers, cpus=0.5)
    broken = inliers.copy()
    broken[7, 1] = np.nan
    np.save(tmp_path / "broken.npy", broken)
    with pytest.raises(DataError) as refused:
        adapter.fit_chains(BayesianFlow(chains=2), tmp_path / "broken.npy", cpus=0.5)
    assert "NaN" in str(refused.value)
    assert "Traceback" not in str(refused.value)


def test_the_example_names_the_pictures_that_it_flags(ray, tmp_path, monkeypatch):
    spec = spec_from_file_location("ray_job", Path(__file__).parents[2] / "examples/scale/ray_job.py")
    job = module_from_spec(spec)
    spec.loader.exec_module(job)
    monkeypatch.setattr(job.ray, "init", lambda: None)  # the tests' own cluster is there
    small = {"epochs": 1, "draws": 2, "samples": 2, "widths": (4,), "device": "cpu", "statistic": "mean-ll"}
    monkeypatch.setattr(job, "Detector", lambda chains: BayesianVAE(chains=chains // 4, **small))
    pictures = np.random.default_rng(0).integers(0, 99, (140, 8, 8), np.uint8)
    pictures[:6] += 150
    for number, picture in enumerate(pictures):
        Image.fromarray(picture).save(tmp_path / f"{number:03d}.png")
    job.main(str(tmp_path), str(tmp_path), str(tmp_path / "results"))
    found = ray.data.read_parquet(str(tmp_path / "results/flagged")).take_all()
    assert sorted(Path(row["path"]).stem for row in found) == [f"{number:03d}" for number in range(140)]
    assert {"score", "p_value", "flagged", "error"} <= set(found[0])


def test_calls_that_cannot_work(ray, gate):
    from dissensus.integrations.ray import score_dataset

    dataset = ray.data.from_items([{"a": 1.0, "b": 2.0}])
    with pytest.raises(DataError, match="columns a, b: name the one of inputs"):
        score_dataset(gate, dataset)
    with pytest.raises(SettingsError, match=r"2 workers of 1 CPUs.*leave no CPU.*at most 1"):
        score_dataset(gate, dataset, column="a", workers=2)
