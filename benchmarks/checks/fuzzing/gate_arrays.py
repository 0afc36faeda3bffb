"""Cases with other arrays in a gate's safetensors."""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import load_and_ask
from benchmarks.checks.fuzzing.gate_copy import copied, signed
from benchmarks.checks.fuzzing.hostile import HOSTILE, NAMES
from benchmarks.checks.fuzzing.originals import GATES, Originals

__all__ = ["gate_arrays"]


def gate_arrays(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Arrays of other types, shapes, names and values in a gate's safetensors, with right digests."""
    from safetensors.numpy import load, save

    name = str(rng.choice(GATES))
    folder = copied(originals.folder / name, work)
    file = folder / str(rng.choice(["draws.safetensors", "calibration.safetensors"]))
    arrays = load(file.read_bytes())
    key = str(rng.choice(sorted(arrays)))
    array = arrays[key]
    kind = int(rng.integers(9))
    if kind == 0:
        arrays[key] = array.astype(rng.choice(["f2", "f8", "i1", "i8", "u1", "?"]))
    elif kind == 1:
        arrays[key] = np.concatenate([array.ravel(), array.ravel()])
    elif kind == 2:
        arrays[key] = array.ravel()[:0]
    elif kind == 3:
        wild = [np.nan, np.inf, -np.inf, 3e38, -1, 2**31 - 1][int(rng.integers(6))]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[key] = np.full_like(array, 0) + np.array(wild).astype(array.dtype)
    elif kind == 4:
        del arrays[key]
    elif kind == 5:
        arrays[str(rng.choice([n for n in NAMES if n.isprintable()]))] = arrays.pop(key)
    elif kind == 6:
        arrays["examples/" + key] = array
    elif kind == 7:
        arrays[key] = array[..., None]
    content = save({n: np.ascontiguousarray(a) for n, a in arrays.items()})
    if kind == 8:  # a header that claims another type, shape or place
        size = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8 : 8 + size])
        entry = header[key]
        part = str(rng.choice(["shape", "dtype", "data_offsets"]))
        entry[part] = HOSTILE[int(rng.integers(len(HOSTILE)))] if rng.integers(2) else [2**40, 2**20]
        text = json.dumps(header).encode()
        content = struct.pack("<Q", len(text)) + text + content[8 + size :]
    file.write_bytes(content)
    signed(folder)
    return load_and_ask(originals, name, folder, same=False)
