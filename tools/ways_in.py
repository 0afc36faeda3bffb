"""Scores of small seeded gates, asked by every way in: the same bits before and after a change, or not.

``python tools/ways_in.py record FILE`` writes the scores of each gate, which every way in must give alike;
``python tools/ways_in.py compare FILE`` fits and asks again, and names the ways that differ. Bits depend on
the processor and on torch's version, which the file names: elsewhere its test compares numbers.
"""

from __future__ import annotations

import base64
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from dissensus import BayesianVAE
from dissensus.inspection import assess

SETTINGS = {"epochs": 4, "draws": 4, "samples": 4, "latent_size": 2, "batch_size": 16, "random_state": 7}
ASKED = 24  # inputs; the first so many of those that were fitted on, but for one changed


def main() -> None:
    """Records or compares, as the command line says."""
    _, verb, file = sys.argv
    found = answers()
    if verb == "record":
        first = {kind: next(iter(ways.values())) for kind, ways in found.items()}
        Path(file).write_text(json.dumps({"machine": machine(), "scores": first}, indent=1) + "\n", "utf-8")
    expected = json.loads(Path(file).read_text("utf-8"))["scores"]
    differ = [f"{k}, {way}" for k in expected for way, own in found[k].items() if own != expected[k]]
    print("\n".join(differ) or "every score is the same, to the bit")  # noqa: T201
    sys.exit(bool(differ))


def machine() -> dict[str, str]:
    """What bits depend on."""
    return {"processor": _processor(), "system": platform.system(), "torch": torch.__version__}


def answers() -> dict[str, dict[str, list[str]]]:
    """The scores, as hexadecimal text that keeps every bit, by gate and way of asking it."""
    found: dict[str, dict[str, list[str]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for make in (_table, _rows, _pictures):
            kind, gate, ways = make(Path(scratch))
            gate.save(Path(scratch, "gates", kind))
            found[kind] = {way: [float(score).hex() for score in ask()] for way, ask in ways.items()}
    return found


Ways = dict[str, Callable[[], Iterable[float]]]


def _table(scratch: Path) -> tuple[str, BayesianVAE, Ways]:
    """Fitted on CSV: numbers of which some are missing, truth values and categories."""
    import pyarrow
    from pyarrow import parquet

    records = table_records()
    csv = scratch / "table.csv"
    csv.write_text(as_csv(records), "utf-8")
    gate = BayesianVAE(**SETTINGS, device="cpu").fit(csv)
    asked = records[:ASKED]
    asked[3] = asked[3] | {"country": "Mars", "price": 9000.0}
    files = {suffix: scratch / f"asked.{suffix}" for suffix in ("csv", "parquet", "jsonl")}
    files["csv"].write_text(as_csv(asked), "utf-8")
    parquet.write_table(pyarrow.Table.from_pylist(asked), files["parquet"])
    files["jsonl"].write_text("".join(json.dumps(record) + "\n" for record in asked), "utf-8")
    ways = _asked_by(gate, {"CSV": files["csv"], "Parquet": files["parquet"]})
    ways["JSON lines, streamed"] = lambda: _streamed(gate, files["jsonl"])
    ways["service"] = lambda: _served(scratch, "table", json={"rows": asked})
    return "table", gate, ways


def _rows(scratch: Path) -> tuple[str, BayesianVAE, Ways]:
    """Fitted on a ``.npy`` file of rows of numbers."""
    rows = np.random.default_rng(2).normal(size=(120, 5)) * [1, 10, 0.1, 1, 1e3]
    np.save(scratch / "rows.npy", rows)
    gate = BayesianVAE(**SETTINGS, statistic="kl", device="cpu").fit(scratch / "rows.npy")
    asked = rows[:ASKED].copy()
    asked[3] = 77.0
    np.save(scratch / "asked rows.npy", asked)
    lines = scratch / "rows.jsonl"
    lines.write_text("".join(json.dumps({"values": row}) + "\n" for row in asked.tolist()), "utf-8")
    ways = _asked_by(gate, {"array": asked, "npy": scratch / "asked rows.npy"})
    ways["JSON lines, streamed"] = lambda: _streamed(gate, lines)
    ways["service"] = lambda: _served(scratch, "rows", json={"rows": asked.tolist()})
    return "rows", gate, ways


def _pictures(scratch: Path) -> tuple[str, BayesianVAE, Ways]:
    """Fitted on a folder of grey PNG files, which are resized."""
    pictures = np.random.default_rng(1).integers(0, 256, size=(80, 12, 10), dtype=np.uint8)
    pictures[:, :, :4] //= 3
    gate = BayesianVAE(**SETTINGS, effort="thorough", resize=(12, 10), device="cpu").fit(
        _folder(scratch / "fitted", pictures)
    )
    asked = pictures[:ASKED].copy()
    asked[3] = 255 - asked[3]
    folder = _folder(scratch / "asked", asked)
    np.save(scratch / "asked pictures.npy", asked)
    contents = [path.read_bytes() for path in sorted(folder.iterdir())]
    lines = scratch / "pictures.jsonl"
    encoded = [{"image": base64.b64encode(content).decode()} for content in contents]
    lines.write_text("".join(json.dumps(record) + "\n" for record in encoded), "utf-8")
    uploads = [("files", (f"{number:03d}.png", content)) for number, content in enumerate(contents)]
    ways = _asked_by(gate, {"folder": folder, "npy": scratch / "asked pictures.npy"})
    ways["JSON lines, streamed"] = lambda: _streamed(gate, lines)
    ways["service"] = lambda: _served(scratch, "pictures", files=uploads)
    return "pictures", gate, ways


def _asked_by(gate: BayesianVAE, sources: dict[str, Any]) -> Ways:
    """Every method that takes whole sets of inputs, for each of the sources."""
    ways: Ways = {}
    for name, source in sources.items():
        ways |= {
            f"{name}, scored": lambda source=source: -gate.score_samples(source),
            f"{name}, streamed": lambda source=source: _streamed(gate, source),
            f"{name}, explained": lambda source=source: [e.decision.score for e in gate.explain(source)],
            f"{name}, reported": lambda source=source: assess(gate, source, shown=1).scores,
            f"{name}, in calibration": lambda source=source: _calibration(gate, source),
        }
    return ways


def _streamed(gate: BayesianVAE, source: Any) -> list[float]:
    return [row.score for row in gate.decide_stream(source)]


def _calibration(gate: BayesianVAE, source: Any) -> NDArray[np.float64]:
    before = gate.learnt_
    try:
        return gate.recalibrate(source).calibration_scores_
    finally:
        gate.learnt_ = before


def _served(scratch: Path, kind: str, **body: Any) -> list[float]:
    """By ``POST /score`` of a service that runs in this process."""
    from starlette.testclient import TestClient

    from dissensus.serve.app import make_app
    from dissensus.serve.service import Service
    from dissensus.serve.settings import ServeSettings

    settings = ServeSettings(timeout=600.0, decode_timeout=600.0, workers=1)
    app = make_app(Service(scratch / "gates" / kind, settings))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post("/score", **body)
    answer.raise_for_status()
    return [result["score"] for result in answer.json()["results"]]


def table_records(count: int = 160) -> list[dict[str, Any]]:
    """Rows as a Python program has them: None where a value is missing."""
    random = np.random.default_rng(3)
    countries = random.choice(["France", "Peru", "Chad"], size=count).tolist()
    prices, ages = random.normal(100, 20, count).round(3).tolist(), random.integers(20, 70, count).tolist()
    members = (random.uniform(size=count) < 0.4).tolist()
    return [
        {
            "price": prices[row],
            "country": countries[row],
            "age": None if row % 9 == 4 else ages[row],
            "member": members[row],
        }
        for row in range(count)
    ]


def as_csv(records: list[dict[str, Any]]) -> str:
    """The same rows as text; what is missing is empty."""
    lines = [",".join("" if value is None else str(value) for value in row.values()) for row in records]
    return "\n".join([",".join(records[0]), *lines]) + "\n"


def _folder(folder: Path, pictures: NDArray[np.uint8]) -> Path:
    folder.mkdir()
    for number, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"{number:03d}.png")
    return folder


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    told = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "flags"))]
    return " ".join(told[:1] + ["avx512"] * any("avx512" in line for line in told[1:2]))


if __name__ == "__main__":
    main()
