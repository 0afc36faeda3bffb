"""The page ``docs/extending.md`` holds: what it says to do is done here."""

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import warm_python

ROOT = Path(__file__).parents[1]


def python_of(part):
    """The blocks of Python in one part of the page."""
    page = (ROOT / "docs/extending.md").read_text("utf-8")
    text = page.split(f"\n## {part}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture(scope="module")
def blocks():
    """The Python of the part about scores: a file, its use as an object, and the line of the registry."""
    file, use, line = python_of("A score")
    return file, use, line


def with_line(tmp_path, registry, line):
    """A copy of the source whose registry has one more line; returns where it is."""
    assert line.count("\n") == 1
    # With what was compiled: hundreds of files would have to be compiled anew.
    source = shutil.copytree(ROOT / "src", tmp_path / "src")
    place = source / "dissensus" / registry
    known, begin = place.read_text("utf-8"), "_HOMES = {\n"
    assert known.count(begin) == 1
    place.write_text(known.replace(begin, begin + line), "utf-8")
    return source


def run(code, *, path, folder):
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    settings["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # it warns of plugins that are imported already
    answer = warm_python.run(
        [sys.executable, *code], cwd=folder, env=settings, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def test_an_object_needs_no_line(blocks, tmp_path):
    file, use, _ = blocks
    (tmp_path / "my_scores.py").write_text(file, "utf-8")
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(60, 2)))
    quick = "epochs=2, draws=2, samples=2, widths=(4,), latent_size=1, false_alarm_rate=0.5, device='cpu'"
    small = use.replace("statistic=Lead())", f"statistic=Lead(), {quick})")
    assert small != use
    script = f"import numpy as np\nX = np.load('rows.npy')\n{small}\nprint(gate.statistic_)"
    assert run(["-c", script], path=[ROOT / "src", tmp_path], folder=tmp_path) == "lead\n"
    command = "from dissensus.cli import main; main()"
    asked = ["inspect", "gate/", "--score", "my_scores:Lead", "--quiet"]
    run(["-c", command, *asked], path=[ROOT / "src"], folder=tmp_path)


def test_a_name_is_one_file_and_one_line(blocks, tmp_path):
    file, _, line = blocks
    source = with_line(tmp_path, "scores/_registry.py", line)
    (source / "dissensus/scores/_lead.py").write_text(file, "utf-8")

    tested = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "lead"]
    contract = ROOT / "tests/contracts/test_scores.py"
    said = run(
        [*tested, contract, f"--rootdir={tmp_path}", "-c", ROOT / "pyproject.toml"],
        path=[source],
        folder=ROOT,
    )
    assert re.search(r"\b1\d passed", said), said
    help_text = run(["-m", "dissensus", "fit", "--help"], path=[source], folder=tmp_path)
    assert "lead, ess, kl" in " ".join(help_text.replace("│", " ").split())


QUICK = ["--epochs", "2", "--draws", "2", "--samples", "2", "--false-alarm-rate", "0.5", "--device", "cpu"]


def test_a_model_needs_no_line(tmp_path):
    file, use, _ = python_of("A model")
    (tmp_path / "my_model.py").write_text(file, "utf-8")
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(60, 2)))
    quick = "epochs=2, draws=2, false_alarm_rate=0.5, device='cpu'"
    small = use.replace("model=Independent).fit", f"model=Independent, {quick}).fit")
    assert small != use
    script = f"import numpy as np\nX = np.load('rows.npy')\n{small}\nprint(type(gate.model_).__name__)"
    assert run(["-c", script], path=[ROOT / "src", tmp_path], folder=tmp_path) == "Independent\n"


def test_a_family_of_models_is_one_file_and_one_line(tmp_path):
    file, _, line = python_of("A model")
    source = with_line(tmp_path, "models/registry.py", line)
    (source / "dissensus/models/independent.py").write_text(file, "utf-8")
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(60, 2)))
    command = ["-c", "from dissensus.cli import main; main()"]
    asked = ["--model", "independent", "--quiet"]
    run([*command, "fit", "rows.npy", "-o", "gate", *QUICK, *asked], path=[source], folder=tmp_path)
    said = run([*command, "inspect", "gate"], path=[source], folder=tmp_path)  # its name is enough
    assert "of the model independent;" in " ".join(said.split())


def test_a_posterior_is_one_file_and_one_line(tmp_path):
    file, _, line = python_of("A posterior")
    source = with_line(tmp_path, "posterior/rules/__init__.py", line)
    (source / "dissensus/posterior/rules/noisy_sgd.py").write_text(file, "utf-8")
    script = (
        "import numpy as np\nfrom dissensus import BayesianVAE\n"
        "X = np.random.default_rng(0).normal(size=(60, 2))\n"
        "quick = dict(epochs=4, draws=2, samples=2, widths=(4,), latent_size=1, false_alarm_rate=0.5)\n"
        "gate = BayesianVAE(posterior='noisy-sgd', device='cpu', **quick).fit(X)\n"
        "gate.save('gate')\nprint(len(BayesianVAE.load('gate', device='cpu').draws_))"
    )
    assert run(["-c", script], path=[source], folder=tmp_path) == "2\n"


def test_an_embedder_needs_no_line(tmp_path):
    file, use, _ = python_of("An embedder")
    (tmp_path / "my_embedder.py").write_text(file, "utf-8")
    np.save(tmp_path / "pictures.npy", np.random.default_rng(0).integers(0, 256, (60, 8, 8), np.uint8))
    quick = "epochs=2, draws=2, false_alarm_rate=0.5, device='cpu'"
    small = use.replace("parts=4)).fit", f"parts=4), {quick}).fit")
    assert small != use
    script = f"import numpy as np\nX = np.load('pictures.npy')\n{small}\nprint(gate.embed.parts)"
    assert run(["-c", script], path=[ROOT / "src", tmp_path], folder=tmp_path) == "4\n"


def test_an_embedder_by_name_is_one_file_and_one_line(tmp_path):
    file, _, line = python_of("An embedder")
    source = with_line(tmp_path, "inputs/embedders/registry.py", line)
    (source / "dissensus/inputs/embedders/coarse.py").write_text(file, "utf-8")
    np.save(tmp_path / "pictures.npy", np.random.default_rng(0).integers(0, 256, (60, 8, 8), np.uint8))
    command = (
        "import sys\nfrom dissensus.cli import app\n"
        "for line in sys.argv[1:]:\n    app(line.split(), standalone_mode=False)"
    )
    fit = " ".join(["fit pictures.npy -o gate --embed coarse --quiet", *QUICK])
    said = run(["-c", command, fit, "inspect gate"], path=[source], folder=tmp_path)  # its name is enough
    assert "embeds them by coarse" in " ".join(said.split())


def test_a_dataset_is_one_file_and_one_line(tmp_path):
    file, line = python_of("A dataset")
    source = with_line(tmp_path, "inputs/datasets/__init__.py", line)
    (source / "dissensus/inputs/datasets/my_digits.py").write_text(file, "utf-8")
    script = (
        "from dissensus import load_dataset\nfrom dissensus.errors import DataError\n"
        "try:\n    load_dataset('my-digits', download=False)\n"
        "except DataError as error:\n    print(error)"
    )
    said = run(["-c", script], path=[source], folder=tmp_path)
    assert "my-digits (train) was not found" in said
    assert "Expected there: train-images-idx3-ubyte.gz" in said


def test_the_table_of_scores_is_that_of_the_registry():
    from write_score_table import BEGIN, END, PAGE, table

    found = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    assert found == table(), "run python tools/write_score_table.py"
