"""The table of temperatures is made from records."""

from benchmarks.records import Record, Records
from benchmarks.temperatures import temperature_table


def put(folder, group, name, **temperatures):
    last = {part: {"configurational_temperature": value} for part, value in temperatures.items()}
    about = {"runs": {"run": {"diagnostics": {"last_epoch": last}}}}
    Records(folder).add(group, Record(name, 0, {}, [], {}, about, {}))


def test_each_run_is_counted_once_by_the_part_that_is_farthest_off(tmp_path):
    put(tmp_path / "paper", "svhn-vs-cifar10", "mine/BVAE1", decoder=1.3)
    put(tmp_path / "paper", "svhn-vs-cifar10", "mine/BVAE2", decoder=1.0, encoder=-0.5)
    put(tmp_path / "panel", "mnist", "sghmc", decoder=0.4)
    put(tmp_path / "panel", "mnist", "sghmc/likelihood-regret", decoder=0.4)  # made of the same run
    put(tmp_path / "panel", "mnist", "swag")  # which does not sample
    assert temperature_table(tmp_path).splitlines()[2:] == [
        "| panel: `sghmc` | 1 | 0.40 to 0.40 | 1 | 1 | 1 | 0 |",
        "| paper: `mine`, house numbers | 2 | −0.50 to 1.30 | 2 | 1 | 1 | 1 |",
    ]
