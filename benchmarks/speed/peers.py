"""The environment that other packages live in: made once, never the one this package runs in."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from dissensus.errors import DissensusError

__all__ = ["ANOMALIB", "PEERS", "PeersMissingError", "peer_command", "peer_python"]

PEERS = ("pyod", "pythae")
ANOMALIB = ("anomalib==2.2.0",)  # apart, for it brings a hundred others along
LONGEST = 900  # seconds to install them


class PeersMissingError(DissensusError):
    """The environment cannot be made."""


def peer_python(folder: Path | None = None, packages: tuple[str, ...] = PEERS) -> Path:
    """The interpreter of an environment with other packages, and with the torch that runs here."""
    folder = folder or _default_folder(packages)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = "\n".join([*packages, *_same_versions()])
    ready = folder / "installed.txt"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    try:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *packages, *_same_versions()])
    except (OSError, subprocess.SubprocessError) as error:
        raise PeersMissingError(
            f"{' and '.join(packages)}: left out, for an installation into {folder} failed ({_reason(error)})"
        ) from error
    ready.write_text(wanted, encoding="utf-8")
    return python


def peer_command(python: str | Path, script: str) -> list[str]:
    """What runs a script of this folder there, whose modules must not stand in for the library's."""
    return [str(python), "-P", str(Path(__file__).with_name(script))]


def _default_folder(packages: tuple[str, ...]) -> Path:
    if configured := os.environ.get("DISSENSUS_PEERS"):
        folder = Path(configured).expanduser()
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = cache / "dissensus" / "peers"
    return folder if packages == PEERS else folder.with_name(f"{folder.name}-anomalib")


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
