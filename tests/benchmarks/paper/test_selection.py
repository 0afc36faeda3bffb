import json

import pytest
import torch
from rich.console import Console

from benchmarks.grid import candidates
from benchmarks.paper import benchmarks
from benchmarks.paper.benchmarks import expand
from benchmarks.paper.presets import find_preset
from benchmarks.paper.selection import select_settings
from dissensus.errors import SettingsError


def test_the_grid_is_every_combination():
    found = list(candidates(find_preset("converged"), ["step_size=0.003,0.01", "widths=2x4,8"]))
    assert [changes for changes, _ in found] == [
        {"step_size": 0.003, "widths": (2, 4)},
        {"step_size": 0.003, "widths": (8,)},
        {"step_size": 0.01, "widths": (2, 4)},
        {"step_size": 0.01, "widths": (8,)},
    ]
    assert found[1][1].step_size == 0.003
    assert found[1][1].widths == (8,)


@pytest.mark.parametrize("axis", ["speed=1", "step_size", "chains=two", "name=x"])
def test_what_is_no_setting_is_refused(axis):
    with pytest.raises(SettingsError, match=axis.partition("=")[0]):
        list(candidates(find_preset("converged"), [axis]))


def test_one_record_a_candidate_and_variant_without_any_outlier(tmp_path, monkeypatch):
    load = benchmarks.load_dataset

    def training_only(name, split):
        assert (name, split) == ("fashion-mnist", "train")
        return load(name, split)

    monkeypatch.setattr(benchmarks, "load_dataset", training_only)
    for _ in range(2):  # the second time there is nothing left to do
        select_settings(
            tmp_path,
            expand(["fashion-mnist-vs-mnist"]),
            ["converged"],
            ["step_size=0.001,1000"],
            [0],
            quick=True,
            device=torch.device("cpu"),
            console=Console(quiet=True),
        )
    records = [json.loads(path.read_text()) for path in (tmp_path / "selection").glob("*.json")]
    assert len(records) == 4
    for record in records:
        if record["changes"]["step_size"] == 0.001:
            assert record["diagnostics"]["validation_log_likelihood"] < 0
            assert record["diagnostics"]["spread_over_draws"] > 0
        else:
            assert "chain 0" in record["diverged"]
