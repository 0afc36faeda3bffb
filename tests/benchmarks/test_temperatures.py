"""The table of temperatures is made from records."""

from benchmarks.places import RESULTS
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
        "| panel: `sghmc` | 1 | 0.40 to 0.40 | 1 | 1 | 1 | 0 | – | – |",
        "| paper: `mine`, house numbers | 2 | −0.50 to 1.30 | 2 | 1 | 1 | 1 | – | – |",
    ]


def test_the_change_is_over_the_epochs_that_gave_draws(tmp_path):
    rule = {"name": "CyclicalSGHMC", "cycle": 6}
    schedule = {"rule": rule, "epochs": 18, "burn_in": 5, "thinning": 1}
    last = {"decoder": {"configurational_temperature": 1.0}}
    for seed, rise in enumerate((1.0, 9.0)):
        curve = [-900.0] * 4 + [-300.0, -299.0] + [-900.0] * 4 + [-298.0, -299.0] + [-900.0] * 4
        curve += [-299.0 + rise, -300.0 + rise]
        told = {"last_epoch": last, "held_out_log_likelihood": curve}
        about = {"runs": {"run": {"diagnostics": told}}}
        Records(tmp_path / "panel").add(
            "mnist", Record("cyc", seed, {"sampling": schedule}, [], {}, about, {})
        )
        last = {"decoder": {"configurational_temperature": 1.1}}
    assert temperature_table(tmp_path).splitlines()[2:] == [
        "| panel: `cyc` | 2 | 1.00 to 1.10 | 0 | 0 | 0 | 0 | 1.0 to 9.0 | 1 |",
    ]


def test_the_six_failed_runs_on_house_numbers_are_all_caught():
    """Three by their temperatures, and the three others by their drift."""
    (line,) = [line for line in temperature_table(RESULTS).splitlines() if "published`, house" in line]
    count, _, *off, _, drift = [cell.strip() for cell in line.strip("|").split("|")][1:]
    beyond_far = off[2]
    assert (count, beyond_far, drift) == ("6", "3", "3")
