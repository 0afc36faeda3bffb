"""Below each example of the gallery stands what it printed and drew when it was last recorded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/gallery"
THUMBNAIL = (400, 280)
NOT_YET = "\n\nWhat it prints and draws has not been recorded yet (``make gallery``).\n"


def records() -> dict[str, dict[str, Any]]:
    """By example."""
    path = RESULTS / "gallery.jsonl"
    if not path.exists():
        return {}
    return {record["name"]: record for record in map(json.loads, path.read_text("utf-8").splitlines())}


def drawn(name: str) -> str:
    """The figure of an example, if it drew one."""
    if not (RESULTS / "figures" / f"{name}.png").exists():
        return ""
    return f"\n.. image:: ../../results/gallery/figures/{name}.png\n   :alt: What this program draws\n\n"


def printed(name: str, record: dict[str, Any]) -> str:
    """What an example printed, and where it ran."""
    source = (ROOT / "examples" / f"{name}.py").read_bytes()
    changed = hashlib.sha256(source).hexdigest() != record["settings"]["source"]
    where = record["environment"]
    said = "\n".join(f"   {line}" for line in record["about"]["said"].rstrip().splitlines())
    return (
        f"\n\nWhat it prints\n--------------\n\n.. code-block:: text\n\n{said}\n\n"
        f"Recorded on {where['cores']} cores of an {where['processor']} with version "
        f"{where['versions']['dissensus']}{', when the file was another than above' if changed else ''}.\n"
    )


def thumbnails(app: Sphinx) -> None:
    """Put what an example drew on its card; sphinx-gallery, which runs none, knows no picture of it."""
    for example in (ROOT / "examples").glob("*.py"):
        card = Path(app.srcdir) / "gallery/images/thumb" / f"sphx_glr_{example.stem}_thumb.png"
        figure = RESULTS / "figures" / f"{example.stem}.png"
        if figure.exists():
            with Image.open(figure) as picture:
                ImageOps.pad(picture.convert("RGB"), THUMBNAIL, color="white").save(card)
        else:
            Image.new("RGB", THUMBNAIL, "whitesmoke").save(card)


def on_read(app: Sphinx, document: str, content: list[str]) -> None:
    """Called by Sphinx with each page as it is read."""
    folder, _, name = document.partition("/")
    if folder != "gallery" or not (ROOT / "examples" / f"{name}.py").exists():
        return
    record = records().get(name)
    head, code, rest = content[0].partition("\n.. GENERATED FROM PYTHON SOURCE LINES")
    body, mark, end = rest.partition("\n.. _sphx_glr_download_")
    said = NOT_YET if record is None else printed(name, record)
    content[0] = head + drawn(name) + code + body + said + mark + end


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", thumbnails, priority=900)  # after sphinx-gallery
    app.connect("source-read", on_read)
    return {"parallel_read_safe": True}
