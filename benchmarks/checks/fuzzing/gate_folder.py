"""Cases with another kind of file in a gate's folder, or the folder under another name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import check_message_of_name, load_and_ask
from benchmarks.checks.fuzzing.gate_copy import copied
from benchmarks.checks.fuzzing.hostile import NAMES
from benchmarks.checks.fuzzing.originals import FILES, GATES, Originals

__all__ = ["gate_files", "gate_names"]


def gate_files(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Files of a gate that are missing, folders, pipes, links or another gate's."""
    name, file = str(rng.choice(GATES)), str(rng.choice(FILES))
    folder = copied(originals.folder / name, work)
    (folder / file).unlink()
    kind = int(rng.integers(6))
    if kind == 1:
        (folder / file).mkdir()
    elif kind == 2:
        os.mkfifo(folder / file)
    elif kind == 3:
        (folder / file).symlink_to(str(rng.choice(["/dev/zero", "/etc/passwd", file, "nowhere"])))
    elif kind == 4:
        shutil.copy(originals.folder / ("rows" if name == "pictures" else "pictures") / file, folder)
    elif kind == 5:  # a sparse file of a size that nothing may read into memory
        with (folder / file).open("wb") as stream:
            stream.truncate(1 << (31 if file.endswith("json") else 27))
    return load_and_ask(originals, name, folder, same=True)


def gate_names(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Gates at places with names that shells, systems and formats trip over."""
    from dissensus.errors import DissensusError

    name = str(rng.choice(GATES))
    place = work / NAMES[int(rng.integers(len(NAMES)))]
    try:
        originals.gates[name].save(place)
    except DissensusError as error:
        return check_message_of_name(error)
    return load_and_ask(originals, name, place, same=True)
