import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console

from benchmarks.paper import runner
from benchmarks.paper.benchmarks import QUICK, expand
from benchmarks.paper.methods import find_methods
from benchmarks.paper.presets import RUNS, find_preset
from benchmarks.paper.records import read_all, read_scores
from benchmarks.paper.runner import _groups, measure, plan
from benchmarks.paper.runs import RunKey
from benchmarks.paper.table import collect
from dissensus.errors import DataError, DivergenceError
from dissensus.evaluation import auroc

CPU = torch.device("cpu")


def silent():
    return Console(quiet=True)


def tasks_for(output, methods=("ll", "tt", "bvae1"), presets=("converged",), seeds=(0,), quick=True):
    benchmarks = expand(["fashion-mnist-vs-mnist"])
    return plan(output, benchmarks, find_methods(methods), presets, seeds, quick=quick)


@pytest.fixture
def executed(monkeypatch):
    """The names of the runs that were really made."""
    made, execute = [], runner.execute
    monkeypatch.setattr(
        runner,
        "execute",
        lambda keys, *rest, **more: made.extend(key.run for key in keys) or execute(keys, *rest, **more),
    )
    return made


def test_records_hold_all_that_is_promised(tmp_path):
    assert measure(tmp_path, tasks_for(tmp_path), quick=True, device=CPU, console=silent()) == []
    records = {record["method"]: record for _, record in read_all(tmp_path, quick=True)}
    assert set(records) == {"LL", "TT", "BVAE1"}
    record = records["BVAE1"]
    assert record["n_in"] == record["n_out"] == 12
    assert record["quick"] is True
    assert set(record["other_scores"]) == {"kl", "entropy", "std", "mean-ll", "ess-with-ties"}
    assert record["settings"]["bvae1"]["sampling"]["rule"]["step_size"] == 1e-3
    assert (tmp_path / record["matrices"]["bvae1"]).exists()
    assert record["environment"]["versions"]["torch"]
    scores = read_scores(tmp_path, record)
    assert scores["in"].dtype == np.float32
    assert auroc(scores["in"], scores["out"]) == pytest.approx(record["metrics"]["auroc"])
    assert scores["reconstructions"].shape == (5, 16, 1, 28, 28)
    assert "pictures" not in read_scores(tmp_path, records["LL"])


def test_one_run_serves_all_that_need_it_and_nothing_is_made_twice(tmp_path, executed):
    measure(tmp_path, tasks_for(tmp_path), quick=True, device=CPU, console=silent())
    assert sorted(executed) == ["bvae1", "vaes"]
    assert tasks_for(tmp_path) == []
    # Another method on the same matrices, and the other preset's share of them.
    more = tasks_for(tmp_path, methods=("waic", "ll"), presets=("as-published", "converged"))
    assert [task.record.method for task in more] == ["WAIC", "LL", "WAIC"]
    measure(tmp_path, more, quick=True, device=CPU, console=silent())
    assert sorted(executed) == ["bvae1", "vaes"]


def test_an_interrupted_call_goes_on_where_it_stopped(tmp_path, executed, monkeypatch):
    save, calls = runner.save_result, []

    def stop_at_the_second(path, result):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        save(path, result)

    monkeypatch.setattr(runner, "save_result", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path, tasks_for(tmp_path), quick=True, device=CPU, console=silent())
    monkeypatch.setattr(runner, "save_result", save)
    measure(tmp_path, tasks_for(tmp_path), quick=True, device=CPU, console=silent())
    assert executed == ["vaes", "bvae1", "bvae1"]
    assert not list(tmp_path.rglob("*.checkpoint"))
    assert len(collect(tmp_path, quick=True)) == 3


def test_changed_settings_are_measured_anew(tmp_path, monkeypatch):
    measure(tmp_path, tasks_for(tmp_path, methods=["ll"]), quick=True, device=CPU, console=silent())
    path = next(tmp_path.rglob("ll-seed0.json"))
    record = json.loads(path.read_text())
    record["digests"]["vaes"] = "000000000000"
    path.write_text(json.dumps(record))
    assert len(tasks_for(tmp_path, methods=["ll"])) == 1


def test_quick_and_full_never_mix(tmp_path):
    measure(tmp_path, tasks_for(tmp_path, methods=["ll"]), quick=True, device=CPU, console=silent())
    before = next(tmp_path.rglob("ll-seed0.json")).read_bytes()
    with pytest.raises(DataError, match="a quick record in the wrong folder"):
        collect(tmp_path, quick=False)
    with pytest.raises(DataError, match="a quick record in the wrong folder"):
        tasks_for(tmp_path, methods=["ll"], quick=False)
    assert next(tmp_path.rglob("ll-seed0.json")).read_bytes() == before


@pytest.mark.parametrize("together", [False, True])
def test_a_diverged_chain_fails_its_own_records_only(tmp_path, monkeypatch, together):
    execute = runner.execute

    def diverge(keys, *rest, **more):
        if "bvae1" in [key.run for key in keys]:
            raise DivergenceError("chain 0 runs away")
        return execute(keys, *rest, **more)

    monkeypatch.setattr(runner, "execute", diverge)
    if together:
        monkeypatch.setattr(runner, "_groups", lambda runs, _device: [list(runs)])
    failures = measure(tmp_path, tasks_for(tmp_path), quick=True, device=CPU, console=silent())
    assert len(failures) == 1
    assert "chain 0 runs away" in failures[0]
    assert {row.method for row in collect(tmp_path, quick=True)} == {"LL", "TT"}


def test_what_is_sampled_together():
    """On a GPU what has as many epochs, on a CPU nothing."""
    (benchmark,) = expand(["fashion-mnist-vs-mnist"])
    preset = replace(find_preset("converged"), epochs=7, member_epochs=5)
    runs = [RunKey(benchmark, run, preset, QUICK, 0) for run in RUNS]
    together = [[run.run for run in group] for group in _groups(runs, torch.device("cuda"))]
    assert together == [["bvae1", "bvae2"], ["vaes", "background"]]
    assert [[run.run for run in group] for group in _groups(runs, CPU)] == [[run] for run in RUNS]


def test_damaged_scores_are_refused_by_name(tmp_path):
    measure(tmp_path, tasks_for(tmp_path, methods=["ll"]), quick=True, device=CPU, console=silent())
    ((_, record),) = read_all(tmp_path, quick=True)
    (tmp_path / record["scores"]).write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match="ll-seed0"):
        read_scores(tmp_path, record)
