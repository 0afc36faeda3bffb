"""Rows sent as JSON: lists of numbers, or objects of named columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs import Table
from dissensus.inputs.keys import check_keys
from dissensus.serve.refusals import Refusal, clear
from dissensus.serve.requests import RowsRequest

if TYPE_CHECKING:
    from dissensus.serve.served import Served

__all__ = ["Rows", "read_columns", "read_rows"]


class Rows(NamedTuple):
    """What became of N rows."""

    numbers: NDArray[np.float64]
    """(n, D), of those n that can be scored, in order."""
    problems: dict[int, str]
    """Row → why it cannot."""
    notes: Mapping[int, Sequence[str]] = {}
    """Row → what no training row had, in words."""


def read_rows(served: Served, body: dict[str, Any], *, most: int) -> Rows:
    """The rows of ``{"rows": [...]}`` as the gate takes them; what is no list of rows is a refusal."""
    rows = RowsRequest.read(body, status=422).rows
    if len(rows) > most:
        raise Refusal(413, f"at most {most} rows are taken at once: send fewer")
    if served.kind == "images":
        where = f"/v2/models/{served.name}/infer"
        raise Refusal(415, f"gate {served.name} takes pictures: send files as a form, or tensors to {where}")
    return _numbers(served, rows) if served.columns is None else _table(served, rows, served.columns)


def _numbers(served: Served, rows: list[Any]) -> Rows:
    width, problems = served.shape[0], {}
    found = np.zeros((len(rows), width))
    for number, row in enumerate(rows):
        try:
            found[number] = _row(row, width)
        except Refusal as refusal:
            problems[number] = refusal.message
    return _usable(found, problems)


def _row(row: Any, width: int) -> list[float]:
    if not isinstance(row, list):
        raise Refusal(422, "a row must be a list of numbers")
    if len(row) != width:
        raise Refusal(422, f"the row has {len(row)} numbers and {width} were expected")
    return [_number(value) for value in row]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refusal(422, "the row holds something that is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Refusal(422, "the row holds a number that is too large")
    return number


def _table(served: Served, rows: list[Any], names: Sequence[str]) -> Rows:
    """By name, as in a file: unknown columns are ignored, absent ones are a problem of their row."""
    problems, records = {}, []
    for number, row in enumerate(rows):
        record: dict[str, Any] = {}
        if isinstance(row, list) and len(row) == len(names):
            record = dict(zip(names, row, strict=True))
        elif isinstance(row, dict):
            record = row
            try:
                check_keys(row, names)
            except DataError as error:
                problems[number] = str(error)
        else:
            problems[number] = f"a row must be an object of columns, or a list of {len(names)} values"
        if any(isinstance(record.get(name), dict | list) for name in names):
            problems[number], record = "a column holds a list or an object, and no value", {}
        records.append(record)
    columns = {name: [record.get(name) for record in records] for name in names}
    return read_columns(served, columns, len(rows), problems)


def read_columns(
    served: Served,
    columns: Mapping[str, Sequence[Any]],
    count: int,
    problems: Mapping[int, str] = MappingProxyType({}),
) -> Rows:
    """``count`` rows of a table, by column; ``problems`` says which rows are known to be unusable."""
    found = served.gate.preprocessor_.read(Table(columns, range(count), problems))
    reasons = {number: clear(reason) for number, reason in found.reasons.items()}
    return Rows(found.usable().array, reasons, found.notes)


def _usable(found: NDArray[np.float64], problems: dict[int, str]) -> Rows:
    usable = np.array([number not in problems for number in range(len(found))])
    return Rows(found[usable], problems)
