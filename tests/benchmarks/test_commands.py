"""The benchmarks as one calls them."""

import subprocess
import sys

from benchmarks.places import ROOT
from tests import warm_python

HELP = """
import sys
from typer.testing import CliRunner
from benchmarks.__main__ import app
names = [command.name for command in app.registered_commands]
for command in ([], *([name] for name in names)):
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0 and "Usage" in result.stdout, (command, result)
heavy = {"torch", "numpy", "scipy", "sklearn", "matplotlib", "PIL", "safetensors"} & set(sys.modules)
sys.exit(f"imported for --help: {heavy}" if heavy else 0)
"""


def test_help_imports_nothing_heavy():
    answer = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, cwd=ROOT)
    assert answer.returncode == 0, answer.stderr


def test_a_wrong_call_is_one_sentence():
    call = [sys.executable, "-m", "benchmarks", "paper", "--benchmark", "no-such-set"]
    answer = warm_python.run(call, capture_output=True, text=True, cwd=ROOT)
    assert answer.returncode == 2
    assert "no-such-set" in answer.stderr
    assert "Traceback" not in answer.stderr
