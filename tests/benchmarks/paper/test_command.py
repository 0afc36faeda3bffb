import pytest
import typer
from typer.testing import CliRunner

from benchmarks.paper.command import paper
from benchmarks.records import Records


@pytest.fixture
def invoke():
    app = typer.Typer()
    app.command()(paper)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_from_nothing_to_the_table(invoke, tmp_path):
    options = ("--quick", "--device", "cpu", "--output", tmp_path)
    chosen = (
        "--benchmark",
        "fashion-mnist-vs-mnist",
        "--method",
        "ll",
        "--preset",
        "converged",
        "--seeds",
        "0,1",
    )
    measured = invoke(*options, *chosen)
    assert measured.exit_code == 0, measured.output
    assert len(list(tmp_path.rglob("ll-seed*.json"))) == 2
    assert "Table 1, converged (QUICK" in measured.output
    printed = invoke(*options, "--table", 1)
    assert printed.exit_code == 0
    assert r"\begin{table*}" in printed.output
    assert "| LL |" in printed.output
    assert (tmp_path / "table1.json").exists()


def test_without_records_it_says_what_to_do(invoke, tmp_path):
    result = invoke("--table", 1, "--output", tmp_path)
    assert result.exit_code == 0
    assert "run the benchmark first" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("wrong", "says"), [(("--benchmark", "cifar"), "no benchmark"), (("--method", "gan"), "no method")]
)
def test_wrong_names_fail_before_any_work(invoke, tmp_path, wrong, says):
    result = invoke("--quick", "--output", tmp_path, *wrong)
    assert result.exit_code == 2
    assert says in result.output


def test_wrong_seeds(invoke, tmp_path):
    assert invoke("--seeds", "one", "--output", tmp_path).exit_code == 2


def test_baselines_are_records_of_their_benchmark(invoke, tmp_path):
    chosen = ("--baselines", "--benchmark", "fashion-mnist-vs-mnist", "--seeds", "0,1")
    result = invoke("--quick", "--output", tmp_path, *chosen)
    assert result.exit_code == 0, result.output
    assert "| isolation-forest |" in result.output
    found = Records(tmp_path, quick=True).read("fashion-mnist-vs-mnist")
    assert [(each.name, each.seed) for each in found][:2] == [
        ("baseline/gaussian-mixture", 0),
        ("baseline/gaussian-mixture", 1),
    ]
