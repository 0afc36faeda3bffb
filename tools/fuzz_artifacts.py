"""Mutated gates and input files: each ends in a clear error or a correct result, in bounded memory and time.

    python tools/fuzz_artifacts.py --cases 10000 --output results/fuzz/fuzz.json

Cases are numbered and each is a function of its number alone: ``--first 4711 --cases 1`` repeats one. Every
few hundred run in a process of their own whose address space is limited, so that a crash, a hang or a case
that takes too much memory is seen and does not end the run.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import hashlib
import io
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 2 << 30  # bytes of address space above what the process takes before its first case
SECONDS = 20  # for one case
CHUNK = 2500  # cases a process
GATES = ("pictures", "rows", "table")
FILES = ("config.json", "draws.safetensors", "calibration.safetensors", "diagnostics.json")


class Hang(BaseException):
    """A case took too long; no ``except Exception`` may swallow it."""


class WrongError(Exception):
    """A case ended neither in a clear error nor in a correct result."""


# ---- what is mutated

TABLE = "length,colour,weight\n" + "".join(
    f"{i * 7 % 11 / 2},{('red', 'green', 'blue')[i % 3]},{'' if i % 5 == 0 else i * i % 13}\n"
    for i in range(40)
)


class Originals:
    """Two small gates and one file of every format, with the decisions that are right for them."""

    def __init__(self, folder: Path) -> None:
        from dissensus import BayesianVAE

        self.folder = folder
        settings = {"epochs": 2, "draws": 2, "chains": 1, "samples": 2, "latent_size": 1, "examples": 4}
        self.pictures = np.random.default_rng(0).integers(0, 256, (40, 8, 8), dtype=np.uint8)
        self.rows = np.random.default_rng(1).normal(size=(40, 3))
        self.gates = {}
        (folder / "table.csv").write_text(TABLE, "utf-8")
        for name, data, others in (
            ("pictures", self.pictures, {"widths": (1,), "statistic": "kl"}),
            ("rows", self.rows, {"widths": (3,), "statistic": "typicality", "variant": 2}),
            ("table", folder / "table.csv", {"widths": (3,), "statistic": "std"}),
        ):
            gate = BayesianVAE(**settings, **others, false_alarm_rate=0.2, device="cpu").fit(data)
            gate.save(folder / name)
            self.gates[name] = BayesianVAE.load(folder / name, device="cpu")
        self.asked = {"pictures": self.pictures[:3], "rows": self.rows[:3], "table": folder / "table.csv"}
        self.right = {name: self.gates[name].decide(asked) for name, asked in self.asked.items()}
        self.inputs = self._write_inputs(folder / "inputs")

    def _write_inputs(self, folder: Path) -> dict[str, tuple[str, bytes]]:
        """File name → the gate it is for and its bytes."""
        from PIL import Image

        folder.mkdir()
        some = self.pictures[:4]
        found: dict[str, tuple[str, bytes]] = {}
        for suffix in ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm", "tga", "ico"):
            buffer = io.BytesIO()
            kind = {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper())
            Image.fromarray(some[0]).save(buffer, kind)
            found[f"one.{suffix}"] = ("pictures", buffer.getvalue())
        for name, array in (("pictures", some), ("rows", self.rows[:4])):
            buffer = io.BytesIO()
            np.save(buffer, array)
            found[f"{name}.npy"] = (name, buffer.getvalue())
            for compressed, save in (("", np.savez), ("-compressed", np.savez_compressed)):
                buffer = io.BytesIO()
                save(buffer, images=array)
                found[f"{name}{compressed}.npz"] = (name, buffer.getvalue())
        idx = struct.pack(">4B3I", 0, 0, 8, 3, *some.shape) + some.tobytes()
        found["some.idx"] = ("pictures", idx)
        found["some.gz"] = ("pictures", gzip.compress(idx, mtime=0))
        found["some.bin"] = ("pictures", bytes([3]) + bytes(range(256)) * 12)
        from scipy.io import savemat

        digits = np.zeros((32, 32, 3, 2), np.uint8)
        for compressed in (False, True):
            buffer = io.BytesIO()
            savemat(buffer, {"X": digits, "y": np.array([[1], [10]])}, do_compression=compressed)
            found[f"some{'-compressed' * compressed}.mat"] = ("pictures", buffer.getvalue())
        found["table.csv"] = ("table", TABLE.encode())
        return found


# ---- how


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """One to four of the things that happen to bytes."""
    for _ in range(int(rng.integers(1, 5))):
        if not content:
            break
        kind, place = rng.integers(7), int(rng.integers(len(content)))
        if kind == 0:
            content = content[:place]
        elif kind == 1:
            flipped = content[place] ^ (1 << int(rng.integers(8)))
            content = content[:place] + bytes([flipped]) + content[place + 1 :]
        elif kind == 2:
            content = content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
        elif kind == 3:
            content = content[:place] + content[place + int(rng.integers(1, 9)) :]
        elif kind == 4:
            content = content[:place] + bytes(len(content) - place)
        elif kind == 5:  # sizes in headers: all ones, or the sign bit
            size = int(rng.choice([2, 4, 8]))
            wild = [b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), bytes(size)][int(rng.integers(3))]
            content = content[:place] + wild + content[place + size :]
        else:
            content = (
                content[:place] + content[place : place + 64] * int(rng.integers(2, 5)) + content[place:]
            )
    return content


HOSTILE: list[Any] = [
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    10**30,
    10**9,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x" * 100_000,
    "../../../../etc/passwd",
    "__import__('os').system('false')",
    "\x00",
    [],
    {},
    [[[[]]]],
    [10**6] * 3,
    [1] * 5000,
    {"a": {"b": None}},
]
NAMES = [
    "-rf",
    "a\nb",
    "..dots..",
    "$(false)",
    "%s%n",
    "x" * 200,
    "x" * 300,
    "with space",
    "quote'\"",
    "\udcff",
    "ünïcödé",
    "con",
    "*?[x]",
    "~",
    "mnist",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a JSON document."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*path, key))


def sign(folder: Path) -> None:
    """Makes all digests right again, as only somebody who means to would."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    for name in config["files"]:
        if (folder / name).is_file():
            config["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    config.pop("digest", None)
    config["digest"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def signed(folder: Path) -> bool:
    """Whether it could be signed at all."""
    try:
        sign(folder)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return False
    return True


# ---- the kinds of case: each returns "error" or "result", or raises


def load_and_ask(originals: Originals, name: str, folder: Path, *, same: bool) -> str:
    """Loads a gate and asks it; ``same`` is whether it must then decide as the original does."""
    from dissensus import BayesianVAE
    from dissensus.errors import DissensusError

    try:
        gate = BayesianVAE.load(folder, device="cpu")
        found = gate.decide(originals.asked[name])
    except DissensusError as error:
        return check_message(error)
    right = originals.right[name]
    if same and not all(np.array_equal(a, b) for a, b in zip(found, right, strict=True)):
        raise WrongError("an altered gate decides otherwise")
    return check_decisions(found, len(right.score))


def check_message(error: Exception) -> str:
    """Refuses a message that is not one sentence of readable length."""
    text = str(error)
    if not text or "\n" in text or len(text) > 2000:
        raise WrongError(f"no clear message: {text[:200]!r}")
    return "error"


def check_decisions(found: Any, count: int | None = None) -> str:
    """Refuses decisions that no detector could have made."""
    size = len(found.score) if count is None else count
    if not (found.score.shape == found.p_value.shape == found.flagged.shape == (size,)):
        raise WrongError("decisions of wrong shapes")
    if np.isnan(found.score).any() or not ((found.p_value > 0) & (found.p_value <= 1)).all():
        raise WrongError("decisions that are no numbers")
    return "result"


def gate_bytes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Bytes of one file of a gate, as accidents change them."""
    name, file = str(rng.choice(GATES)), str(rng.choice(FILES))
    folder = copied(originals.folder / name, work)
    (folder / file).write_bytes(mutated((folder / file).read_bytes(), rng))
    return load_and_ask(originals, name, folder, same=True)


def gate_bytes_signed(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """The same with right digests."""
    name, file = str(rng.choice(GATES)), str(rng.choice(FILES))
    folder = copied(originals.folder / name, work)
    (folder / file).write_bytes(mutated((folder / file).read_bytes(), rng))
    return load_and_ask(originals, name, folder, same=not signed(folder))


def gate_values(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Wrong types and wild sizes in a gate's JSON, with right digests."""
    name = str(rng.choice(GATES))
    folder = copied(originals.folder / name, work)
    file = folder / str(rng.choice(["config.json", "config.json", "config.json", "diagnostics.json"]))
    document = json.loads(file.read_text("utf-8"))
    for _ in range(int(rng.integers(1, 4))):
        candidates = list(places(document))
        *path, last = candidates[int(rng.integers(len(candidates)))]
        inside = document
        for key in path:
            inside = inside[key]
        if rng.integers(5) == 0 and isinstance(inside, dict):
            inside[str(rng.choice(NAMES[:9]))] = inside.pop(last)
        else:
            inside[last] = copy.deepcopy(HOSTILE[int(rng.integers(len(HOSTILE)))])
    file.write_text(json.dumps(document), "utf-8")
    signed(folder)
    return load_and_ask(originals, name, folder, same=False)


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


def input_bytes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Bytes of an input file, as accidents change them."""
    file = list(originals.inputs)[int(rng.integers(len(originals.inputs)))]
    gate, content = originals.inputs[file]
    (work / file).write_bytes(mutated(content, rng))
    return ask_file(originals, gate, work / file)


def input_names(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Good and mutated files under hostile names and under other formats' suffixes."""
    files = list(originals.inputs)
    file, other = (files[int(rng.integers(len(files)))] for _ in range(2))
    gate, content = originals.inputs[file]
    path = work / f"{NAMES[int(rng.integers(len(NAMES)))]}{Path(other).suffix}"
    with suppress(OSError):  # the system itself refuses some names: they are asked for all the same
        path.write_bytes(content if rng.integers(2) else mutated(content, rng))
    return ask_file(originals, gate, path)


def input_sizes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Headers that promise far more than the file holds."""
    kind = int(rng.integers(5))
    huge = [int(n) for n in rng.choice([8, 2**16, 2**20, 2**31 - 1], size=3)]
    if kind == 0:
        path, content = work / "huge.npy", npy_header((huge[0], huge[1], huge[2]))
    elif kind == 1:
        path, buffer = work / "huge.npz", io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("images.npy", npy_header((huge[0], huge[1], huge[2])) + bytes(1000))
        content = buffer.getvalue()
    elif kind == 2:
        path, content = work / "huge.idx", struct.pack(">4B3I", 0, 0, 8, 3, *huge) + bytes(1000)
    elif kind == 3:
        path = work / "huge.gz"
        content = gzip.compress(struct.pack(">4B3I", 0, 0, 8, 3, *huge) + bytes(1000))
    else:
        path = work / "huge.png"
        content = png(min(huge[0], 2**31 - 1), min(huge[1], 2**31 - 1), bytes(1000))
    path.write_bytes(content)
    return ask_file(originals, "pictures", path)


def input_bombs(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Small files that unpack to gigabytes, as they promise."""
    kind, count = int(rng.integers(5)), 3 << 30
    if kind == 0:
        path = work / "bomb.gz"
        path.write_bytes(bomb_zlib(struct.pack(">4B3I", 0, 0, 8, 3, count // 64, 8, 8), count, wbits=31))
    elif kind == 1:
        path = work / "bomb.npz"
        path.write_bytes(bomb_zip(npy_header((count // 64, 8, 8)), count))
    elif kind == 2:
        path = work / "bomb.png"
        path.write_bytes(png(1 << 15, 1 << 15, bomb_zlib(b"", (1 << 30) + (1 << 15)), packed=True))
    elif kind == 3:
        path = work / "bomb.mat"
        path.write_bytes(mat_bomb(count))
    else:
        path = work / "bomb.gif"
        path.write_bytes(b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + b";")
    return ask_file(originals, "pictures", path)


def ask_file(originals: Originals, gate: str, path: Path) -> str:
    """Asks a good gate about a file."""
    from dissensus.errors import DissensusError

    try:
        return check_decisions(originals.gates[gate].decide(path))
    except DissensusError as error:
        return check_message_of_name(error)


def check_message_of_name(error: Exception) -> str:
    """A name may hold a line break of its own."""
    return check_message(type(error)(str(error).replace("a\nb", "ab")))


def copied(folder: Path, work: Path) -> Path:
    """A copy of a gate to play with."""
    return Path(shutil.copytree(folder, work / "gate"))


def npy_header(shape: tuple[int, ...]) -> bytes:
    """How a ``.npy`` file of bytes of this shape begins."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def png(width: int, height: int, data: bytes, *, packed: bool = False) -> bytes:
    """A grey picture of one bit a pixel."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packed_data = data if packed else zlib.compress(data)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed_data) + chunk(b"IEND", b"")


@cache
def bomb_zlib(head: bytes, count: int, wbits: int = 15) -> bytes:
    """``head`` and ``count`` zeros, packed; made once a process and off the clock: it takes seconds."""
    signal.alarm(0)
    packer = zlib.compressobj(1, zlib.DEFLATED, wbits)
    zeros = bytes(1 << 20)
    parts = [packer.compress(head), *(packer.compress(zeros) for _ in range(count >> 20))]
    parts += [packer.compress(bytes(count & ((1 << 20) - 1))), packer.flush()]
    signal.alarm(SECONDS)
    return b"".join(parts)


@cache
def bomb_zip(head: bytes, count: int) -> bytes:
    """The same as the one member of an archive."""
    signal.alarm(0)
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("images.npy", "w", force_zip64=True) as member,
    ):
        member.write(head)
        for _ in range(count >> 20):
            member.write(bytes(1 << 20))
    signal.alarm(SECONDS)
    return buffer.getvalue()


def mat_bomb(count: int) -> bytes:
    """A MATLAB file whose X holds ``count`` bytes."""
    images = count // (32 * 32 * 3)
    size = images * 32 * 32 * 3
    flags = struct.pack("<IIII", 6, 8, 9, 0)
    shape = struct.pack("<II4i", 5, 16, 32, 32, 3, images)
    name = struct.pack("<HH4s", 1, 1, b"X")
    inner = flags + shape + name + struct.pack("<II", 2, size)
    head = struct.pack("<II", 14, len(inner) + size) + inner
    packed = bomb_zlib(head, size)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


KINDS: dict[str, tuple[int, Callable[[Originals, np.random.Generator, Path], str]]] = {
    "gate: bytes": (20, gate_bytes),
    "gate: bytes, signed": (16, gate_bytes_signed),
    "gate: values, signed": (16, gate_values),
    "gate: arrays, signed": (12, gate_arrays),
    "gate: files": (4, gate_files),
    "gate: names": (2, gate_names),
    "input: bytes": (20, input_bytes),
    "input: names": (4, input_names),
    "input: sizes": (5, input_sizes),
    "input: bombs": (1, input_bombs),
}
"""Of a hundred cases, how many are of each kind."""
ORDER = [name for name, (weight, _) in KINDS.items() for _ in range(weight)]


# ---- running


def run_case(originals: Originals, number: int, folder: Path) -> tuple[str, str]:
    """Kind and outcome of one case; raises :class:`WrongError` or anything else if it is a finding."""
    kind = ORDER[number % len(ORDER)]
    with tempfile.TemporaryDirectory(dir=folder) as work, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind, KINDS[kind][1](originals, np.random.default_rng(number), Path(work))


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raises :class:`Hang` in a block that takes longer."""

    def stop(*_: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def limit_memory(allowance: int) -> None:
    """No more address space than now and ``allowance`` bytes; what cannot be had is an error, not a swap."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + allowance
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def peak_memory() -> int:
    """The most bytes this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def tree(folder: Path) -> dict[str, str]:
    """Digest by file, to tell whether anything was touched."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def run_cases(first: int, count: int, *, limited: bool = True) -> dict[str, Any]:
    """Outcomes of some cases, in this process."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        kept, work = Path(scratch, "kept"), Path(scratch, "work")
        kept.mkdir(), work.mkdir()
        originals = Originals(kept)
        run_case(originals, 20, work)  # what is imported late is not a case's doing
        before, base = tree(kept), peak_memory()
        if limited:
            limit_memory(MEMORY)
        outcomes: Counter[str] = Counter()
        findings: list[dict[str, Any]] = []
        slowest = 0.0
        for number in range(first, first + count):
            start = time.perf_counter()
            try:
                with time_limit(SECONDS):
                    kind, outcome = run_case(originals, number, work)
                outcomes[f"{kind}: {outcome}"] += 1
            except (Exception, Hang) as error:
                findings.append({"case": number, "kind": ORDER[number % len(ORDER)], "found": repr(error)})
            slowest = max(slowest, time.perf_counter() - start)
        if tree(kept) != before:
            findings.append({"case": first, "kind": "all", "found": "an existing file was touched"})
        return {
            "outcomes": dict(outcomes),
            "findings": findings,
            "slowest_case_s": slowest,
            "peak_memory_above_start_MiB": (peak_memory() - base) / 2**20,
        }


def main() -> int:
    """Runs the cases in processes of their own, and writes the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        json.dump(run_cases(arguments.first, arguments.cases), sys.stdout)
        return 0
    outcomes: Counter[str] = Counter()
    findings: list[Any] = []
    slowest = peak = 0.0
    start = time.perf_counter()
    for first in range(arguments.first, arguments.first + arguments.cases, CHUNK):
        count = min(CHUNK, arguments.first + arguments.cases - first)
        command = [sys.executable, __file__, "--inside", "--first", str(first), "--cases", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            findings.append({"case": first, "kind": "all", "found": done.stderr[-2000:] or done.returncode})
            continue
        part = json.loads(done.stdout)
        outcomes.update(part["outcomes"])
        findings += part["findings"]
        sys.stderr.write("".join(f"{json.dumps(finding)}\n" for finding in part["findings"]))
        slowest, peak = max(slowest, part["slowest_case_s"]), max(peak, part["peak_memory_above_start_MiB"])
        sys.stderr.write(f"{first + count} cases, {len(findings)} findings\n")
    from dissensus.evaluation.provenance import environment

    record = {
        "cases": arguments.cases,
        "first": arguments.first,
        "outcomes": dict(sorted(outcomes.items())),
        "findings": findings,
        "slowest_case_s": round(slowest, 2),
        "limit_s": SECONDS,
        "peak_memory_above_start_MiB": round(peak),
        "memory_limit_above_start_MiB": MEMORY >> 20,
        "seconds": round(time.perf_counter() - start),
        "environment": environment(),
    }
    text = json.dumps(record, indent=1)
    if arguments.output is None:
        sys.stdout.write(text + "\n")
    else:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(text + "\n", "utf-8")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
