"""All records again: a plan that can be called, in parts that go on where one fails."""

import shlex
import subprocess

import pytest
import typer
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.everything import parts as parts_module
from benchmarks.everything.parts import PARTS, Part
from benchmarks.everything.plan import MOST_MINUTES, measured_minutes, plan_lines
from benchmarks.places import RESULTS
from benchmarks.records import Record, Records

EVERY = [part for parts in PARTS.values() for part in parts]


@pytest.fixture(scope="module")
def command():
    return typer.main.get_command(app)


@pytest.mark.parametrize("part", EVERY, ids=lambda part: part.call)
def test_every_part_is_a_call_that_the_command_line_knows(command, part):
    name, *options = shlex.split(part.call)
    found = command.commands[name]
    found.make_context(name, options)  # refuses what is no option
    assert {"output"} <= {parameter.name for parameter in found.params}
    assert part.minutes <= MOST_MINUTES


@pytest.fixture
def results(tmp_path):
    records = Records(tmp_path / "speed")
    for seed, seconds in ((0, {"all": 60.0}), (1, {"all": 120.0, "fits": 99.0}), (2, {})):
        records.add("cuda", Record("growth", seed, {}, [], seconds, environment={}))
    records.add("cuda", Record("training", None, {}, [], {"fits": 20.0, "scores": 10.0}, environment={}))
    return tmp_path


@pytest.mark.parametrize(
    ("records", "minutes"),
    [
        ("speed/cuda:training", 0.5),
        ("speed/c*:growth@0,training", 1.5),
        ("speed/cuda:growth@0 speed/cuda:growth@1", 3.0),
        ("speed/cuda:growth*", None),  # one of them does not say how long it took
        ("speed/cuda:training,decoding", None),
        ("speed/cpu:training", None),
        ("paper/x:y", None),
        ("", None),
    ],
)
def test_minutes_are_those_of_all_the_records_that_a_part_names(results, records, minutes):
    assert measured_minutes(Part("speed", 1, records), results) == minutes


def test_the_plan_marks_estimates_and_what_is_too_long(results):
    parts = [Part("speed --x", 4, "speed/cuda:training"), Part("paper", 12.5)]
    assert plan_lines(parts, results) == [
        "  1    0.5 min  python -m benchmarks speed --x",
        "  2 ~ 12.5 min! python -m benchmarks paper",
        "      13.0 min in all; ~ is an estimate, no record says it yet",
    ]


@pytest.mark.skipif(not RESULTS.is_dir(), reason="the results are not here: this is not a checkout")
@pytest.mark.parametrize("machine", PARTS)
def test_by_the_records_no_part_takes_too_long(machine):
    assert [line for line in plan_lines(PARTS[machine], RESULTS) if "min!" in line] == []


def run(*arguments):
    return CliRunner().invoke(app, ["all", *map(str, arguments)])


@pytest.fixture
def calls(monkeypatch):
    parts = {"cpu": (Part("a --b 1", 1), Part("fails", 1), Part("c", 1)), "gpu": ()}
    monkeypatch.setattr(parts_module, "PARTS", parts)
    made = []

    def call(command, **_):
        made.append(command[3:])
        return subprocess.CompletedProcess(command, {"stop": 130, "fails": 1}.get(command[3], 0))

    monkeypatch.setattr(subprocess, "run", call)
    return made


def test_a_part_that_fails_does_not_stop_the_others(calls):
    answer = run("--cpu")
    assert calls == [["a", "--b", "1"], ["fails"], ["c"]]
    assert answer.exit_code == 3
    assert "part 2: failed with exit code 1" in answer.stderr
    assert "1 of 3 parts failed; once more: --part 2" in answer.stderr


def test_single_parts_and_another_folder(calls, tmp_path):
    assert run("--cpu", "--part", 3, "--part", 1, "--output", tmp_path).exit_code == 0
    assert calls == [["c", "--output", f"{tmp_path}/c"], ["a", "--b", "1", "--output", f"{tmp_path}/a"]]


def test_ctrl_c_in_a_part_ends_the_run(calls, monkeypatch):
    monkeypatch.setattr(parts_module, "PARTS", {"cpu": (Part("stop", 1), Part("c", 1))})
    assert run("--cpu").exit_code == 130
    assert calls == [["stop"]]


def test_the_plan_measures_nothing(calls, tmp_path):
    answer = run("--cpu", "--plan", "--output", tmp_path)
    assert answer.exit_code == 0
    assert len(answer.stdout.splitlines()) == 4
    assert calls == []


@pytest.mark.parametrize(
    "options", [[], ["--gpu", "--cpu"], ["--cpu", "--part", "0"], ["--cpu", "--part", "9"]]
)
def test_wrong_calls(calls, options):
    assert run(*options).exit_code == 2
    assert calls == []
