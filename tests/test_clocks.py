"""A test that needs another clock gives it to the module it tests, never to the whole process.

Servers of other tests live in the same process: an event loop that looks at a moved clock sleeps for hours.
"""

import re
from pathlib import Path

MOVED = re.compile(r"""setattr\(\s*(?:[\w.]*\btime\s*,\s*["']|["']time\.)""")


def test_no_test_moves_the_clock_of_the_process():
    here = Path(__file__)
    others = [path for path in here.parent.rglob("*.py") if path != here]
    assert not [str(path) for path in others if MOVED.search(path.read_text("utf-8"))]


def test_it_would_be_seen():
    assert MOVED.search("monkeypatch.setattr(progress." + 'time, "monotonic", look)')
    assert MOVED.search('monkeypatch.setattr("time.' + 'monotonic", look)')
    assert not MOVED.search('monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=look))')
