import math

import pytest

from dissensus.outputs import Journal, Row

ROWS = [Row(n, n / 7, 1 / (n + 1), n % 2 == 0) for n in range(10)]
ROWS[4] = Row("é\n", math.inf, 0.1, True)
ROWS[5] = Row("bad", error="unreadable")
WORK = {"gate": "abc", "size": (1, 2)}


def rows_of(journal):
    return [row for part in journal.rows() for row in part]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / ".rows.partial"
    with Journal(path, WORK) as journal:
        assert journal.done == 0
        journal.append(ROWS[:6])
        journal.append(ROWS[6:])
    return path


def test_rows_come_back_as_they_were(path, monkeypatch):
    monkeypatch.setattr("dissensus.outputs.journal.PART", 3)
    with Journal(path, WORK) as journal:
        assert journal.done == 10
        assert rows_of(journal) == ROWS
        journal.remove()
    assert not path.exists()


def test_cut_anywhere_it_goes_on_from_the_last_whole_row(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with Journal(path, WORK) as journal:
            done = journal.done
            assert rows_of(journal) == ROWS[:done]
            journal.append(ROWS[done:])
            assert rows_of(journal) == ROWS
        assert path.read_bytes() == whole


def test_bytes_that_a_power_cut_left_are_cut_off(path):
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 100 + b"\n[1, 2]\n")
    with Journal(path, WORK) as journal:
        assert journal.done == 10
    assert path.read_bytes() == whole


@pytest.mark.parametrize("other", [{"gate": "abd", "size": (1, 2)}, {"gate": "abc"}, {}])
def test_other_work_begins_anew(path, other):
    with Journal(path, other) as journal:
        assert journal.done == 0
        assert rows_of(journal) == []
