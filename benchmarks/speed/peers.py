"""The environment that other packages live in: made once, never the one this package runs in."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from dissensus.errors import DissensusError

__all__ = ["PEERS", "PeersMissingError", "peer_python"]

PEERS = ("pyod", "pythae")
LONGEST = 900  # seconds to install them


class PeersMissingError(DissensusError):
    """The environment cannot be made."""


def peer_python(folder: Path | None = None) -> Path:
    """The interpreter of an environment with the other packages, and with the torch that runs here."""
    folder = folder or _default_folder()
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = "\n".join([*PEERS, *_same_versions()])
    ready = folder / "installed.txt"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *PEERS, *_same_versions()])
    except (OSError, subprocess.SubprocessError) as error:
        raise PeersMissingError(
            f"PyOD and pythae are left out: they could not be installed into {folder} ({_reason(error)})"
        ) from error
    ready.write_text(wanted, encoding="utf-8")
    return python


def _default_folder() -> Path:
    if configured := os.environ.get("DISSENSUS_PEERS"):
        return Path(configured).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "dissensus" / "peers"


def _same_versions() -> list[str]:
    """Both sides are to run on the same torch and NumPy; a build's own suffix is the machine's business."""
    return [f"{name}=={metadata.version(name).partition('+')[0]}" for name in ("torch", "numpy")]


def _run(command: list[str]) -> None:
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST, env=surroundings)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return lines[-1] if lines else f"exit code {error.returncode}"
    return str(error)
