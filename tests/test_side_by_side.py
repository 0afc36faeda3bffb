import threading

import pytest
import torch

from dissensus.side_by_side import side_by_side

pytestmark = pytest.mark.usefixtures("two_cores")


def test_everything_is_yielded_in_the_order_of_each_work():
    found = list(side_by_side([iter([(w, n) for n in range(50)]) for w in range(3)], threads=1))
    for w in range(3):
        assert [n for own, n in found if own == w] == list(range(50))
    assert len(found) == 150


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_of_a_work_and_of_its_caller(threads):
    def work():
        yield torch.get_num_threads(), threading.get_ident()

    found = list(side_by_side([work(), work()], threads=threads))
    assert [number for number, _ in found] == [threads, threads]
    assert threading.get_ident() not in {ident for _, ident in found}
    assert torch.get_num_threads() == 2


def test_one_work_with_all_threads_stays_where_it_is():
    def work():
        yield threading.get_ident()

    assert list(side_by_side([work()], threads=2)) == [threading.get_ident()]
    assert list(side_by_side([work()], threads=1)) != [threading.get_ident()]


def test_an_error_stops_all():
    reached = []

    def endless():
        while True:
            reached.append(0)
            yield 0

    def failing():
        yield 1
        raise KeyError("lost")

    before = threading.active_count()
    with pytest.raises(KeyError, match="lost"):
        for _ in side_by_side([endless(), failing()], threads=1):
            pass
    assert threading.active_count() == before


def test_a_caller_that_leaves_stops_all():
    def endless():
        while True:
            yield 0

    before = threading.active_count()
    works = side_by_side([endless(), endless()], threads=1)
    next(works)
    works.close()
    assert threading.active_count() == before
