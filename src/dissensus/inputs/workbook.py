"""Rows of a spreadsheet: the first sheet of an Excel workbook."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dissensus.errors import DataError, brief
from dissensus.inputs.unpacking import refuse_bomb

__all__ = ["workbook_rows"]


def workbook_rows(path: Path) -> Iterator[list[Any]]:
    """Yield the rows of the first sheet, without empty ones: numbers, texts, dates, truth values or None.

    Of formulas it is what they came to when the file was saved.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise DataError(f"{path} needs openpyxl: pip install 'dissensus[excel]'") from error
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_bomb(path, sum(member.file_size for member in archive.infolist()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and the like, which mean nothing here
            book = load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            for row in sheet.iter_rows(values_only=True):
                if any(value is not None and value != "" for value in row):
                    yield list(row)
        finally:
            book.close()
    except DataError:
        raise
    except Exception as error:  # on damaged bytes the parser raises almost anything
        raise DataError(
            f"{path} cannot be read as an Excel workbook ({brief(error)}): save it again, or as CSV"
        ) from error
