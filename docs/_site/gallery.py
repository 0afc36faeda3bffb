"""Below each example of the gallery stands what it printed and drew when it was last recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/gallery"


def records() -> dict[str, dict[str, Any]]:
    """By example."""
    path = RESULTS / "gallery.jsonl"
    if not path.exists():
        return {}
    return {record["name"]: record for record in map(json.loads, path.read_text("utf-8").splitlines())}


def outcome(name: str, record: dict[str, Any]) -> str:
    """What an example printed and drew, and where it ran."""
    figure = RESULTS / "figures" / f"{name}.png"
    source = (ROOT / "examples" / f"{name}.py").read_bytes()
    changed = hashlib.sha256(source).hexdigest() != record["settings"]["source"]
    where = record["environment"]
    said = "\n".join(f"   {line}" for line in record["about"]["said"].rstrip().splitlines())
    drawn = (
        f".. image:: ../../results/gallery/figures/{name}.png\n   :alt: What it draws\n\n"
        if figure.exists()
        else ""
    )
    return (
        f"\n\nWhat it prints\n--------------\n\n.. code-block:: text\n\n{said}\n\n{drawn}"
        f"Recorded in {record['seconds']['all']:.0f} s on {where['cores']} cores of an "
        f"{where['processor']} that other programs used too, with version {where['versions']['dissensus']}"
        f"{', when the file was another than above' if changed else ''}.\n"
    )


def on_read(app: Sphinx, document: str, content: list[str]) -> None:
    """Called by Sphinx with each page as it is read."""
    folder, _, name = document.partition("/")
    if folder != "gallery" or not (ROOT / "examples" / f"{name}.py").exists():
        return
    record = records().get(name)
    if record is None:
        LOGGER.warning("examples/%s.py has no record: python -m benchmarks gallery", name)
        return
    before, mark, after = content[0].partition("\n.. _sphx_glr_download_")
    content[0] = before + outcome(name, record) + mark + after


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", on_read)
    return {"parallel_read_safe": True}
