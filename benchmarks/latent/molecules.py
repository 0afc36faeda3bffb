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


def read_molecules(folder: Path | None) -> Sequence[str]:
    """The SMILES of ``train.csv.gz``, of a wheel that holds it, or of ``DISSENSUS_MOLECULES``."""
    given = folder or os.environ.get("DISSENSUS_MOLECULES")
    if given is None:
        raise DataError(
            "the molecules of MOSES are not here: pip download --no-deps molsets==0.3.1, and name the wheel "
            "by --data or DISSENSUS_MOLECULES"
        )
    path = Path(given)
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            packed = wheel.read(MEMBER)
    else:
        packed = path.read_bytes()
    rows = csv.DictReader(io.StringIO(gzip.decompress(packed).decode()))
    return [row["SMILES"] for row in rows]


def is_molecule(text: str) -> bool:
    """Whether RDKit reads it as a molecule of at least one atom."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError("molecules are judged by RDKit: pip install rdkit") from error
    rdBase.DisableLog("rdApp.*")
    found = Chem.MolFromSmiles(text)
    return found is not None and found.GetNumAtoms() > 0
