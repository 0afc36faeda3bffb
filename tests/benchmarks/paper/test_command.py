import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.baselines.detectors import BASELINES
from benchmarks.records import Records


@pytest.fixture
def invoke(tmp_path):
    places = ["--output", str(tmp_path / "results"), "--cache", str(tmp_path / "cache")]
    return lambda *arguments: CliRunner().invoke(app, ["paper", *places, *map(str, arguments)])


def test_from_nothing_to_the_table(invoke, tmp_path):
    chosen = ("--benchmark", "fashion-mnist-vs-mnist", "--method", "ll", "--preset", "settled")
    measured = invoke("--quick", "--device", "cpu", *chosen, "--seeds", "0,1")
    assert measured.exit_code == 0, measured.output
    found = Records(tmp_path / "results", quick=True).read("fashion-mnist-vs-mnist")
    assert [(record.name, record.seed) for record in found] == [("settled/LL", 0), ("settled/LL", 1)]
    assert "Table 1, settled: FashionMNIST vs MNIST (QUICK" in " ".join(measured.output.split())
    assert "| LL |" in (tmp_path / "results/table1.md").read_text()
    assert "| LL |" in invoke("--quick", "--table", "--form", "markdown").output
    assert r"\begin{table*}" in invoke("--quick", "--table", "--form", "latex").output


def test_without_records_it_says_what_to_do(invoke):
    for more in ((), ("--select",), ("--clusters",), ("--ratio",)):
        result = invoke("--table", *more)
        assert result.exit_code == 0
        assert "run the benchmark first" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("--benchmark", "cifar"), "no benchmark"),
        (("--method", "gan"), "no method"),
        (("--preset", "best"), "no preset"),
        (("--seeds", "one"), "whole numbers"),
        (("--vary", "chains=2"), "--vary is for --select"),
        (("--select", "--vary", "speed=1"), "not a setting"),
        (("--select", "--latent"), "ask for one"),
        (("--baselines", "--latent"), "ask for one"),
        (("--clusters", "--ratio"), "ask for one"),
    ],
)
def test_wrong_calls_fail_before_any_work(invoke, wrong, says):
    result = invoke("--quick", *wrong)
    assert result.exit_code == 2
    assert says in " ".join(result.output.replace("│", " ").split())


def test_baselines_are_records_of_their_benchmark(invoke, tmp_path):
    chosen = ("--baselines", "--benchmark", "fashion-mnist-vs-mnist", "--seeds", "0,1")
    result = invoke("--quick", *chosen)
    assert result.exit_code == 0, result.output
    found = Records(tmp_path / "results", quick=True).read("fashion-mnist-vs-mnist")
    assert {(each.name, each.seed) for each in found} == {
        (f"baseline/{name}", seed) for name in BASELINES for seed in (0, 1)
    }
