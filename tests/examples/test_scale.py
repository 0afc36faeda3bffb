"""The manifests for clusters: every task of them asks for its own share, in words that the command knows."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

SCALE = Path(__file__).parents[2] / "examples/scale"
DISSENSUS = '#!/bin/sh\nfor word in "$@"; do echo "$word"; done > "$SEEN"\n'


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """What a task asks of `dissensus`, word by word."""
    command = tmp_path / "bin/dissensus"
    command.parent.mkdir()
    command.write_text(DISSENSUS)
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")

    def run(*words, **environment):
        answer = tmp_path / "seen"
        subprocess.run(
            words, check=True, cwd=tmp_path, env={**os.environ, **environment, "SEEN": str(answer)}
        )
        return answer.read_text().splitlines()

    return run


def known(words):
    """Parsed as the command would, up to the point where it would begin to work."""
    from typer.main import get_command

    from dissensus.cli import app

    name, *rest = words
    command = get_command(app).commands[name]
    return command.make_context(name, list(rest)).params


def test_slurm_tasks_have_a_shard_each(seen):
    asked = [
        known(
            seen(
                SCALE / "slurm-score.sh",
                "gate",
                "data",
                "parts",
                SLURM_ARRAY_TASK_ID=str(task),
                SLURM_ARRAY_TASK_MAX="11",
            )
        )
        for task in (0, 11)
    ]
    assert [found["shard"] for found in asked] == ["0/12", "11/12"]
    assert [found["output"] for found in asked] == ["parts/part-00000.parquet", "parts/part-00011.parquet"]


def test_slurm_tasks_have_a_chain_each(seen):
    found = known(seen(SCALE / "slurm-fit.sh", "data", "parts", SLURM_ARRAY_TASK_ID="5"))
    assert (found["chain_offset"], found["chains"]) == (5, 1)
    assert found["output"] == Path("parts/chain-005")


def test_kubernetes_pods_have_a_shard_each(seen):
    job = yaml.safe_load((SCALE / "kubernetes-score.yaml").read_text())["spec"]
    container = job["template"]["spec"]["containers"][0]
    found = known(seen(*container["command"], *container["args"], JOB_COMPLETION_INDEX="7"))
    assert found["shard"] == f"7/{job['completions']}"
    assert job["completionMode"] == "Indexed"
