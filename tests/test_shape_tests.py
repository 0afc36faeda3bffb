"""Whether inputs are pictures or rows is asked in ``inputs`` and ``models`` alone."""

import re
from pathlib import Path

import dissensus

SOURCE = Path(dissensus.__file__).parent
TEST_OF_SHAPE = re.compile(
    r"\.ndim\s*(==|!=|>|>=|in)\s*\(?[34]"  # of a batch, or of one input
    r"|len\([\w.]*shape_?\)\s*(==|!=|>|in)\s*\(?[123]"
)


def test_nobody_else_tells_pictures_from_rows_by_their_shape():
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ("inputs", "models")
        for line in path.read_text("utf-8").splitlines()
        if TEST_OF_SHAPE.search(line)
    ]
    assert found == []


def test_such_a_test_would_be_found():
    assert TEST_OF_SHAPE.search("if explanation.input.ndim == 3:")
    assert TEST_OF_SHAPE.search("if len(gate.input_shape_) == 3:")
