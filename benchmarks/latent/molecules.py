"""Molecules as SMILES: the training strings of MOSES (the PyPI wheel ``molsets``), judged by RDKit."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from dissensus.errors import DataError

__all__ = ["is_molecule", "read_molecules"]

MEMBER = "moses/dataset/data/train.csv.gz"
EVERY = 10
"""Of the wheel's molecules each tenth is read."""


def read_molecules(folder: Path | None) -> Sequence[str]:
    """Every tenth SMILES of the wheel, or all of a ``.csv.gz`` that was made of these."""
    given = folder or os.environ.get("DISSENSUS_MOLECULES")
    if given is None:
        raise DataError(
            "the molecules of MOSES are not here: pip download --no-deps molsets==0.3.1, and name the wheel "
            "by --data or DISSENSUS_MOLECULES"
        )
    path = Path(given)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return _smiles(wheel.read(MEMBER))[::EVERY]
    return _smiles(path.read_bytes())


def _smiles(packed: bytes) -> list[str]:
    return [row["SMILES"] for row in csv.DictReader(io.StringIO(gzip.decompress(packed).decode()))]


def is_molecule(text: str) -> bool:
    """Whether RDKit reads it as a molecule of at least one atom."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError("molecules are judged by RDKit: pip install rdkit") from error
    rdBase.DisableLog("rdApp.*")
    found = Chem.MolFromSmiles(text)
    return found is not None and found.GetNumAtoms() > 0
