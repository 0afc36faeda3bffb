"""What a measurement was made with: package versions, hardware, source revision."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from dissensus._version import __version__

__all__ = ["cores", "environment"]

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds of work in so many of time
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")


def environment(*, gpu: str | None = None) -> dict[str, Any]:
    """Versions, platform, processor, cores, GPU and commit, for a record; what is not known is None.

    ``gpu`` is the accelerator's name, from whoever used it: nothing heavy is imported to find out. ``commit``
    is that of the checkout this package runs from, with ``-dirty`` where tracked files outside ``results/``
    differ from it; where there is no checkout, the environment variable ``DISSENSUS_COMMIT`` may name it.

    >>> sorted(environment(gpu="NVIDIA H200"))
    ['commit', 'cores', 'gpu', 'platform', 'processor', 'versions']
    """
    versions = {"dissensus": __version__, "python": platform.python_version()}
    return {
        "versions": versions | {package: _version(package) for package in PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": cores(),
        "gpu": gpu,
        "commit": _commit() or os.environ.get("DISSENSUS_COMMIT"),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str | None:
    # platform.processor() is empty on most Linux systems.
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or None


def cores() -> int:
    """Cores this process may use, which in a container can be fewer than the machine has."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        share, period = QUOTA.read_text("ascii").split()
        return min(here, max(1, round(int(share) / int(period))))
    except (OSError, ValueError):  # no such limit: "max", or another system
        return here


def _commit() -> str | None:
    here = Path(__file__)
    # An installed package may lie inside somebody else's checkout: only one that tracks this file counts.
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return None
    head = _git(here.parent, "rev-parse", "HEAD")
    # The first record of a run must not make the next one dirty.
    paths = (":/", ":(top,exclude)results")
    changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no", "--", *paths)
    return f"{head}-dirty" if head and changed else head


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, or None where there is no git, no checkout or no answer."""
    # Inside a git hook GIT_DIR and its like name another repository than the folder's own.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
