"""Records of full measurements and of quick ones, which never lie in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.evaluation import read_records

__all__ = ["records_of_kind", "refuse_other_kind"]


def records_of_kind(output: Path, folder: str, *, quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record below ``output/folder`` with its path below ``output``; none where there is no folder.

    One of the other kind is refused.
    """
    where = output / folder
    if not where.is_dir():
        return
    for name, record in read_records(where).items():
        if record.get("quick") is not quick:
            kind = "a quick" if record.get("quick") else "a full"
            raise DataError(
                f"{where / name} is {kind} record in the wrong folder; keep quick and full records apart"
            )
        yield f"{folder}/{name}", record


def refuse_other_kind(output: Path, folder: str, *, quick: bool) -> None:
    """An error where the folder holds quick records and full ones are to be added, or the other way round."""
    for _ in records_of_kind(output, folder, quick=quick):
        pass
