"""A copy of a gate to play with, and its digests made right again after the play."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

__all__ = ["copied", "sign", "signed"]


def copied(folder: Path, work: Path) -> Path:
    """A copy of a gate to play with."""
    return Path(shutil.copytree(folder, work / "gate"))


def signed(folder: Path) -> bool:
    """Whether it could be signed at all."""
    try:
        sign(folder)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return False
    return True


def sign(folder: Path) -> None:
    """Makes all digests right again, as only somebody who means to would."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    for name in config["files"]:
        if (folder / name).is_file():
            config["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    config.pop("digest", None)
    config["digest"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
