"""A record for each example: what it printed, and beside it what it drew."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from benchmarks.pieces import Found, Piece
from dissensus.destination import write_output
from dissensus.errors import DissensusError

__all__ = ["EXAMPLES", "figure_of", "gallery_pieces", "source_digest"]

EXAMPLES = Path(__file__).parents[2] / "examples"
GROUP = "gallery"
PREPARED = {
    # What the example says was made on another machine.
    "edge": "from dissensus import BayesianVAE, load_sample; from dissensus.export import export_gate; "
    "export_gate(BayesianVAE(effort='fast', epochs=12).fit(load_sample()[0].images[:2000]), 'gate.onnx')"
}
PATIENCE = 3600  # seconds


def source_digest(example: Path) -> str:
    """The SHA-256 of its source: another source is another example."""
    return hashlib.sha256(example.read_bytes()).hexdigest()


def figure_of(folder: Path, name: str) -> Path:
    """Where the figure of an example is kept; it need not be there."""
    return folder / "figures" / f"{name}.png"


def gallery_pieces(folder: Path, names: list[str] | None = None, *, quick: bool = False) -> list[Piece]:
    """All examples, or those of these names."""
    found = sorted(EXAMPLES.glob("*.py"))
    return [
        Piece(
            GROUP,
            example.stem,
            {"source": source_digest(example), "quick": quick},
            partial(_measure, example, figure_of(folder, example.stem), quick),
        )
        for example in found
        if names is None or example.stem in names
    ]


def _measure(example: Path, figure: Path, quick: bool, say: Callable[[str], None]) -> Found:
    environment = {**os.environ, "MPLBACKEND": "agg"}
    if quick:
        environment["DISSENSUS_QUICK"] = "1"
    with TemporaryDirectory() as place:

        def run(*words: str) -> str:
            done = subprocess.run(
                [sys.executable, *words],
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            if done.returncode:
                last = done.stderr.strip().rpartition("\n")[2]
                raise DissensusError(f"{example.name} ended with {done.returncode}: {last}")
            return done.stdout

        if example.stem in PREPARED:
            say("what was made before")
            run("-c", PREPARED[example.stem])
        say("running")
        said = run(str(example))
        drawn = Path(place) / f"{example.stem}.png"
        if drawn.exists():
            figure.parent.mkdir(parents=True, exist_ok=True)
            write_output(figure, _small(drawn))
    return Found([], {"said": said})


def _small(figure: Path) -> bytes:
    """A PNG of 256 colours, which are enough for all of them."""
    buffer = io.BytesIO()
    Image.open(figure).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        buffer, "png", optimize=True
    )
    return buffer.getvalue()
