"""The public surface: every name is there, and costs nothing before it is used."""

import importlib
import json
import subprocess
import sys

import pytest

import dissensus

HEAVY = ["torch", "sklearn", "scipy", "safetensors", "PIL", "matplotlib", "typer", "numpy"]


def modules_after(code):
    """Which modules a fresh Python holds after running ``code``."""
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    return json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)


def test_importing_the_package_imports_nothing_heavy():
    loaded = modules_after("import dissensus; dissensus.__version__; dir(dissensus)")
    assert "dissensus" in loaded
    assert not set(HEAVY) & set(loaded)


def test_errors_and_scores_do_without_torch():
    loaded = modules_after(
        "import dissensus; dissensus.DissensusError; import dissensus.scores, dissensus.decisions"
    )
    assert "dissensus.scores" in loaded
    assert "torch" not in loaded


@pytest.mark.parametrize("name", dissensus.__all__)
def test_every_public_name_is_there(name):
    assert getattr(dissensus, name) is not None
    assert name in dir(dissensus)


def test_a_public_name_is_the_one_of_its_module():
    for module, names in dissensus._HOME.items():
        home = importlib.import_module(f"dissensus.{module}")
        for name in names:
            assert name in dissensus.__all__
            assert name in home.__all__
            assert getattr(dissensus, name) is getattr(home, name)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'dissensus' has no attribute 'nothing'"):
        dissensus.nothing  # noqa: B018 asking is the test
    assert not hasattr(dissensus, "_nothing")


def test_the_version_is_one():
    numbers = dissensus.__version__.split(".")
    assert len(numbers) >= 2
    assert all(part[:1].isdigit() for part in numbers[:2])
