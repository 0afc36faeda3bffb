import inspect
import os
import subprocess
import sys

import pytest

from dissensus import __version__

HELP_EVERYWHERE = """
import sys
from typer.testing import CliRunner
from dissensus.cli import app
single = ["demo", "fit", "score", "calibrate", "explain", "report", "inspect", "serve", "export"]
for command in ([], *([name] for name in single)):
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0 and "Usage" in result.stdout, (command, result)
heavy = {"torch", "numpy", "scipy", "sklearn", "matplotlib", "PIL", "safetensors"} & set(sys.modules)
sys.exit(f"imported for --help: {heavy}" if heavy else 0)
"""


def test_help_imports_nothing_heavy():
    answer = subprocess.run([sys.executable, "-c", HELP_EVERYWHERE], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["-c", "--version"]], ids=["module", "script"])
def test_version(arguments):
    start = ["-m", "dissensus"] if arguments[0] != "-c" else ["-c", "from dissensus.cli import main; main()"]
    answer = subprocess.run(
        [sys.executable, *start, "--version"], capture_output=True, text=True, env=os.environ
    )
    assert (answer.returncode, answer.stdout) == (0, f"dissensus {__version__}\n")


def test_fit_has_the_detectors_own_defaults():
    from dissensus import BayesianVAE, Detector
    from dissensus.cli.fit import fit

    of_the_detector = {**inspect.signature(BayesianVAE).parameters, **inspect.signature(Detector).parameters}
    of_the_command = inspect.signature(fit).parameters
    shared = (of_the_detector.keys() & of_the_command.keys()) - {"resize", "model"}
    assert shared >= {"variant", "statistic", "false_alarm_rate", "chains", "draws", "epochs", "samples"}
    for name in shared:
        assert of_the_command[name].default == of_the_detector[name].default, name
    assert of_the_command["seed"].default == of_the_detector["random_state"].default


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["fit"],
        ["fit", "x.npy"],
        ["score", "gate"],
        ["fit", "x.npy", "-o", "g", "--draws", "many"],
    ],
)
def test_a_wrong_call_is_two(dissensus, arguments):
    answer = dissensus(*arguments)
    assert answer.code == 2
    assert answer.out == ""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_can_complete(shell):
    surroundings = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    answer = subprocess.run(
        [sys.executable, "-m", "dissensus", "--show-completion", shell],
        capture_output=True,
        text=True,
        env=surroundings,
    )
    assert answer.returncode == 0, answer.stderr
    assert "_DISSENSUS_COMPLETE" in answer.stdout


def test_completion_knows_the_commands():
    typed = {"_DISSENSUS_COMPLETE": "complete_bash", "COMP_WORDS": "dissensus ", "COMP_CWORD": "1"}
    answer = subprocess.run(
        [sys.executable, "-m", "dissensus"], capture_output=True, text=True, env={**os.environ, **typed}
    )
    assert {"fit", "calibrate", "score", "explain", "report", "inspect"} <= set(answer.stdout.split())
