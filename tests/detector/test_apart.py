"""Chains that are run apart and joined are one machine's fit with all of them, to the bit."""

import numpy as np
import pytest

from dissensus import BayesianFlow, BayesianVAE, Detector
from dissensus.detector import Chains, bounded, join_chains, kept, windows
from dissensus.errors import ArtifactError, DataError, SettingsError
from dissensus.inputs import StoredFile, Vocabulary
from dissensus.persistence import read_artifact
from dissensus.posterior import SamplingSettings
from tests.contracts.own_embedders import Projection


def assert_same_gate(joined, whole, folder):
    """Everything that is saved is equal, but for how long the epochs took."""
    for name, gate in (("joined", joined), ("whole", whole)):
        gate.save(folder / name)
    ours, theirs = (read_artifact(folder / name) for name in ("joined", "whole"))
    assert ours.config == theirs.config
    assert ours.calibration.keys() == theirs.calibration.keys()
    for name, array in theirs.calibration.items():
        np.testing.assert_array_equal(ours.calibration[name], array, err_msg=name)
    for part, own in theirs.draws.parts.items():
        np.testing.assert_array_equal(ours.draws.parts[part].of, own.of)
        for name, stack in own.stacks.items():
            np.testing.assert_array_equal(ours.draws.parts[part].stacks[name], stack)
    np.testing.assert_array_equal(ours.draws.chain, theirs.draws.chain)
    assert without_times(ours.draws.diagnostics) == without_times(theirs.draws.diagnostics)


def without_times(diagnostics):
    found = diagnostics.to_dict()
    for report in found["reports"]:
        report["seconds"] = 0
    return found


def run_apart(make, X, runs, folder):
    """Some chains each, by way of files, joined in no order."""
    for first, chains, draws in runs:
        make(chains=chains, draws=draws).fit_chains(X, first_chain=first).save(folder / f"from-{first}")
    return join_chains([Chains.load(folder / f"from-{first}", device="cpu") for first, *_ in reversed(runs)])


@pytest.mark.parametrize(("kind", "variant"), [("pictures", 1), ("rows", 2)])
def test_joined_chains_are_one_fit(quick, inputs, kind, variant, tmp_path):
    def make(**settings):
        return quick(variant=variant, epochs=6, **settings)

    joined = run_apart(make, inputs[kind], [(0, 2, 8), (2, 1, 4)], tmp_path)
    whole = make(chains=3, draws=12).fit(inputs[kind])
    assert whole.draws_.diagnostics.rhat
    assert_same_gate(joined, whole, tmp_path)
    np.testing.assert_array_equal(joined.score_samples(inputs[kind]), whole.score_samples(inputs[kind]))


def test_members_of_an_ensemble_are_run_one_by_one(rows, tmp_path):
    def make(chains, draws):
        return BayesianFlow(epochs=1, chains=chains, draws=draws, false_alarm_rate=0.2, device="cpu")

    joined = run_apart(make, rows, [(0, 1, 1), (1, 1, 1)], tmp_path)
    assert_same_gate(joined, make(2, 2).fit(rows), tmp_path)


def test_embedded_inputs_that_may_be_outliers(rows, tmp_path):
    embed = Projection()

    def make(**settings):
        return Detector(embed=embed, epochs=1, false_alarm_rate=0.2, device="cpu", **settings)

    parts = [
        make(chains=1, draws=1).fit_chains(rows, first_chain=first, contamination=0.1) for first in (0, 1)
    ]
    whole = make(chains=2, draws=2).fit(rows, contamination=0.1)
    parts[1].save(tmp_path / "part")
    parts[1] = Chains.load(tmp_path / "part", embed=embed, device="cpu")
    joined = join_chains(parts)
    assert joined.left_out_ == whole.left_out_
    for name, values in whole.calibration_statistics_.items():
        np.testing.assert_array_equal(joined.calibration_statistics_[name], values)


def test_texts_are_joined_by_way_of_files(tmp_path):
    texts = [f"{a} {op} {b}" for a in "xyz123" for b in "xyz123" for op in "+*-"]

    def make(**settings):
        return Detector(
            embed=Vocabulary.of(texts), epochs=2, samples=2, false_alarm_rate=0.2, device="cpu", **settings
        )

    joined = run_apart(make, texts, [(0, 1, 2), (1, 1, 2)], tmp_path)
    whole = make(chains=2, draws=4).fit(texts)
    assert_same_gate(joined, whole, tmp_path)
    np.testing.assert_array_equal(joined.score_samples(texts[:9]), whole.score_samples(texts[:9]))


def test_an_interrupted_part_goes_on(quick, rows, tmp_path):
    def stop(stage, done, total):
        if done == 2:
            raise KeyboardInterrupt

    part = quick(chains=1)
    with pytest.raises(KeyboardInterrupt):
        part.fit_chains(rows, first_chain=3, checkpoint=tmp_path, on_progress=stop)
    seen = []
    resumed = part.fit_chains(
        rows, first_chain=3, checkpoint=tmp_path, on_progress=lambda *done: seen.append(done[1])
    )
    assert seen == [3, 4]
    assert resumed.numbers == [3]
    whole = part.fit_chains(rows, first_chain=3)
    for name, stack in whole.sampled.draws.parts["decoder"].stacks.items():
        np.testing.assert_array_equal(resumed.sampled.draws.parts["decoder"].stacks[name], stack)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_held_out_inputs_of_chains_within_memory_stay_on_disk(
    quick, pictures, checkpoint, tmp_path, monkeypatch
):
    """Windows of 32 inputs, and of those that no chain has seen three at a time."""
    monkeypatch.setattr(bounded, "_step_peak", lambda *_: 0)
    monkeypatch.setattr(kept, "chunk_rows", lambda _: 3)
    np.save(tmp_path / "data.npy", pictures)
    most, read = [], StoredFile.read
    monkeypatch.setattr(
        StoredFile, "read", lambda file, start, stop: most.append(stop - start) or read(file, start, stop)
    )
    parts = []
    for first in (0, 1):
        folder = tmp_path / f"checkpoint-{first}" if checkpoint else None
        memory = int(2 * 2 * 32 * pictures[0].size / windows.WINDOWS) + 100
        part = quick(chains=1, draws=2).fit_chains(
            tmp_path / "data.npy", first_chain=first, memory=memory, checkpoint=folder
        )
        part.save(tmp_path / f"part-{first}")
        parts.append(Chains.load(tmp_path / f"part-{first}", device="cpu"))
    most.clear()
    joined = join_chains(parts)
    assert max(most) == len(joined.examples_.inputs) == 58  # those to show come at once
    assert sorted(set(most))[:2] == [1, 3]
    whole = join_chains([quick(chains=1, draws=2).fit_chains(pictures, first_chain=n) for n in (0, 1)])
    assert joined.fitted_rows_ == whole.fitted_rows_
    np.testing.assert_array_equal(joined.examples_.inputs, whole.examples_.inputs)
    assert np.isfinite(joined.score_samples(pictures)).all()


def test_chains_may_be_saved_over_themselves(part, tmp_path):
    """What they are read from is replaced only when all is written."""
    part.save(tmp_path / "part")
    Chains.load(tmp_path / "part").save(tmp_path / "part")
    again = Chains.load(tmp_path / "part")
    assert join_chains([again]).fitted_rows_ == dict(part.rows)


def test_a_damaged_part_is_refused(part, tmp_path):
    part.save(tmp_path / "part")
    file = tmp_path / "part/calibration.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    with pytest.raises(ArtifactError, match=r"calibration.npy is truncated or was altered"):
        Chains.load(tmp_path / "part")


@pytest.fixture(scope="module")
def part(quick, rows):
    return quick(chains=1).fit_chains(rows)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epochs": 5}, "epochs"),
        ({"random_state": 1}, "seed"),
        ({"latent_size": 3}, "latent_size"),
        ({"draws": 2}, "draws of each chain"),
        ({"statistic": "ess"}, "statistic"),
    ],
)
def test_parts_of_other_settings_are_not_joined(quick, rows, part, changes, said):
    other = quick(**{"chains": 1, **changes}).fit_chains(rows, first_chain=1)
    with pytest.raises(DataError, match=f"chains 0 and 1 were fitted with different settings.*{said}"):
        join_chains([part, other])


def test_parts_of_other_inputs_and_of_one_chain_are_not_joined(quick, rows, part):
    other = quick(chains=1).fit_chains(rows[::-1].copy(), first_chain=1)
    with pytest.raises(DataError, match="chains 0 and 1 were fitted on different inputs"):
        join_chains([part, other])
    with pytest.raises(DataError, match="same chain"):
        join_chains([part, part])
    with pytest.raises(DataError, match="at least one part"):
        join_chains([])


def test_what_cannot_be_run_in_parts_is_refused(quick, pictures, rows):
    with pytest.raises(SettingsError, match="first fit of all chains"):
        quick().fit_chains(pictures, contamination=0.1)
    with pytest.raises(SettingsError, match="first_chain must be"):
        quick().fit_chains(rows, first_chain=-1)
    together = SamplingSettings.variant_1(epochs=2, burn_in=2, chains=2, batch_size=16, shared_inference=True)
    with pytest.raises(SettingsError, match=r"shared_inference.*first chain.*fit all chains in one place"):
        quick(posterior=together, chains=None, draws=None, epochs=None).fit_chains(rows)


def test_chains_are_no_gate_and_a_gate_is_no_chains(row_gate, part, tmp_path):
    part.save(tmp_path / "part")
    with pytest.raises(ArtifactError, match="no gate yet: join all parts"):
        Detector.load(tmp_path / "part")
    row_gate.save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match="is a gate, not some chains"):
        Chains.load(tmp_path / "gate")
    assert isinstance(part.detector, BayesianVAE)
    assert not hasattr(part.detector, "learnt_")
