"""Many requests become few calls, in bounded time and room, and nobody gets another's answer."""

import asyncio
import gc
import threading
import time
import weakref

import numpy as np
import pytest

from dissensus.detector.asking import Decisions
from dissensus.serve import batching, rates
from dissensus.serve.batching import Batcher
from dissensus.serve.refusals import Overloaded, Refusal
from dissensus.serve.workers import Workers

LONG = 600.0  # seconds that only a hang takes


class Scorer:
    """Says the sum of each row, notes its batches, and takes its time: from some batch on, until ``go``."""

    def __init__(self, seconds=0.0, *, held_from=None):
        self.seconds, self.held_from = seconds, held_from
        self.batches, self.go = [], threading.Event()

    def __call__(self, inputs):
        self.batches.append(inputs)
        if self.held_from is not None and len(self.batches) > self.held_from:
            assert self.go.wait(LONG)
        time.sleep(self.seconds)
        sums = inputs.sum(axis=1).astype(np.float64)
        return Decisions(sums, sums / 1000, sums > 50)


def rows(*values, dtype=np.float64):
    return np.array(values, dtype=dtype)[:, None]


async def until(condition):
    """Lets the others have their turns until the condition holds."""
    async with asyncio.timeout(LONG):
        while not condition():
            await asyncio.sleep(0.001)


def run(scenario, *, workers=1, **settings):
    """Runs ``scenario(batcher)`` with a batcher of the settings, and closes it."""

    async def main():
        pool = Workers(workers)
        scorer = settings.pop("scorer", None) or Scorer()
        chosen = {"max_batch": 8, "max_delay": 0.005, "capacity": 100, **settings}
        batcher = Batcher(scorer, pool, **chosen)
        try:
            return await scenario(batcher)
        finally:
            await batcher.close()
            pool.close()

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def by_no_clock(monkeypatch):
    """Refusals for want of room are not held back for long, and a slow machine makes no batch smaller."""
    monkeypatch.setattr(batching, "PAUSE", 0.01)
    monkeypatch.setattr(rates, "BATCH_SECONDS", LONG)  # batches are as large as they may be


def test_requests_share_a_call_and_get_their_own_answers():
    scorer = Scorer()

    async def scenario(batcher):
        return await asyncio.gather(*(batcher.decide(rows(n, n + 100), timeout=LONG) for n in range(4)))

    answers = run(scenario, scorer=scorer)
    assert [len(batch) for batch in scorer.batches] == [8]
    for number, answer in enumerate(answers):
        assert answer.score.tolist() == [number, number + 100]
        assert answer.flagged.tolist() == [False, True]
        assert answer.p_value.tolist() == [number / 1000, (number + 100) / 1000]


def test_no_batch_is_larger_than_allowed_and_large_requests_are_divided():
    scorer = Scorer()

    async def scenario(batcher):
        return await batcher.decide(rows(*range(21)), timeout=LONG)

    answer = run(scenario, scorer=scorer)
    assert answer.score.tolist() == list(range(21))
    assert sorted(len(batch) for batch in scorer.batches) == [5, 8, 8]


def test_what_waits_is_divided_between_free_workers():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        tasks = [asyncio.create_task(batcher.decide(rows(n), timeout=LONG)) for n in range(32)]
        await until(lambda: len(scorer.batches) == 2)  # neither worker is done before both have begun
        scorer.go.set()
        await asyncio.gather(*tasks)

    run(scenario, scorer=scorer, workers=2, max_batch=32)
    assert sorted(len(batch) for batch in scorer.batches) == [16, 16]


def test_bytes_and_fractions_never_meet_in_one_batch():
    scorer = Scorer()

    async def scenario(batcher):
        kinds = (np.uint8, np.float32, np.uint8, np.uint8)
        return await asyncio.gather(*(batcher.decide(rows(1, dtype=kind), timeout=LONG) for kind in kinds))

    run(scenario, scorer=scorer)
    assert [(batch.dtype.name, len(batch)) for batch in scorer.batches] == [
        ("uint8", 3),
        ("float32", 1),
    ]


def test_requests_of_one_effort_share_a_call_and_those_of_several_do_not():
    own, fast = Scorer(), Scorer()

    async def scenario(batcher):
        asked = [
            batcher.decide(rows(n), timeout=LONG, effort=effort)
            for n, effort in enumerate(4 * [None, "fast"])
        ]
        await asyncio.gather(*asked)
        await batcher.decide(rows(9), timeout=LONG, effort="no other way")

    run(scenario, scorer=own, others={"fast": fast}, max_delay=0.05)
    assert [batch[:, 0].tolist() for batch in fast.batches] == [[1, 3, 5, 7]]
    assert [batch[:, 0].tolist() for batch in own.batches] == [[0, 2, 4, 6], [9]]


def test_all_efforts_share_one_queue_and_its_numbers():
    own, fast = Scorer(held_from=0), Scorer()
    noted = []

    async def scenario(batcher):
        first = asyncio.create_task(batcher.decide(rows(0), timeout=LONG))
        await until(lambda: own.batches)
        waiting = [
            asyncio.create_task(batcher.decide(rows(*range(5)), timeout=LONG, effort=effort))
            for effort in (None, "fast")
        ]
        await asyncio.sleep(0)
        assert batcher.waiting == 10
        for effort in (None, "fast"):
            with pytest.raises(Overloaded, match="10 inputs wait"):
                await batcher.decide(rows(1), timeout=LONG, effort=effort)
        own.go.set()
        await asyncio.gather(first, *waiting)
        return batcher.stats.to_json()

    on_batch = lambda decisions, _, effort: noted.append((effort, len(decisions.score)))  # noqa: E731
    stats = run(scenario, scorer=own, others={"fast": fast}, capacity=10, on_batch=on_batch)
    assert sorted(noted, key=str) == [("fast", 5), (None, 1), (None, 5)]
    assert (stats["inference_count"], stats["execution_count"]) == (11, 3)
    assert stats["inference_stats"]["success"]["count"] == 3


def test_each_effort_is_judged_by_its_own_speed():
    """What is scored ten times as fast gets larger batches, and is not refused for another's slowness."""
    speed = rates.Rates(10.0)
    speed.measure("fast", 8, 0.08)
    assert speed.seconds({None: 20, "fast": 20}) == pytest.approx(2.2)
    assert speed.seconds({"not yet measured": 20}) == 2.0
    speed.measure("fast", 1, 1.0)  # a lone input says little
    speed.measure("fast", 8, 0.04)
    assert speed.seconds({"fast": 120}) == pytest.approx(1.0)


def test_a_full_queue_refuses_and_says_when_to_come_back():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        first = asyncio.create_task(batcher.decide(rows(*range(8)), timeout=LONG))
        await until(lambda: scorer.batches)
        waiting = asyncio.create_task(batcher.decide(rows(*range(8)), timeout=LONG))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded) as refusal:
            await batcher.decide(rows(1, 2, 3), timeout=LONG)
        scorer.go.set()
        await asyncio.gather(first, waiting)
        return refusal.value

    refusal = run(scenario, scorer=scorer, capacity=10)
    assert refusal.status == 429
    assert 1 <= int(refusal.headers["Retry-After"]) <= 60


def test_more_than_the_queue_holds_is_too_large_rather_than_too_early():
    async def scenario(batcher):
        with pytest.raises(Refusal, match="send fewer") as refusal:
            await batcher.decide(rows(*range(11)), timeout=LONG)
        return refusal.value.status

    assert run(scenario, capacity=10) == 413


def test_what_could_not_be_answered_in_time_is_refused_at_once():
    scorer = Scorer(0.1, held_from=1)

    async def scenario(batcher):
        await batcher.decide(rows(*range(8)), timeout=LONG)  # at most 80 a second are known now
        tasks = [asyncio.create_task(batcher.decide(rows(*range(8)), timeout=LONG)) for _ in range(6)]
        await until(lambda: len(scorer.batches) == 2 and batcher.waiting == 40)
        with pytest.raises(Overloaded, match="in time"):
            await batcher.decide(rows(1), timeout=0.2)
        scorer.go.set()
        await asyncio.gather(*tasks)

    run(scenario, scorer=scorer)


def test_what_is_being_scored_is_waited_for_too():
    scorer = Scorer(0.1, held_from=1)

    async def scenario(batcher):
        await batcher.decide(rows(*range(8)), timeout=LONG)  # at most 80 a second are known now
        tasks = [asyncio.create_task(batcher.decide(rows(*range(8)), timeout=LONG)) for _ in range(2)]
        await until(lambda: len(scorer.batches) == 2 and batcher.waiting == 8)
        with pytest.raises(Overloaded, match="in time"):
            await batcher.decide(rows(1), timeout=0.15)
        scorer.go.set()
        await asyncio.gather(*tasks)

    run(scenario, scorer=scorer)


def test_a_late_answer_is_a_refusal_and_its_work_is_dropped():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        first = asyncio.create_task(batcher.decide(rows(1), timeout=LONG))
        await until(lambda: scorer.batches)
        with pytest.raises(Refusal, match="no answer within") as refusal:
            await batcher.decide(rows(2), timeout=0.05)
        assert batcher.waiting == 0
        scorer.go.set()
        await first
        return refusal.value.status

    assert run(scenario, scorer=scorer) == 503
    assert [batch.tolist() for batch in scorer.batches] == [[[1.0]]]


def test_a_client_that_leaves_takes_its_work_along():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        first = asyncio.create_task(batcher.decide(rows(1), timeout=LONG))
        await until(lambda: scorer.batches)
        left = asyncio.create_task(batcher.decide(rows(2), timeout=LONG))
        await asyncio.sleep(0)
        left.cancel()
        scorer.go.set()
        await first
        return await batcher.decide(rows(3), timeout=LONG)

    assert run(scenario, scorer=scorer).score.tolist() == [3.0]
    assert [batch.tolist() for batch in scorer.batches] == [[[1.0]], [[3.0]]]


def test_a_failing_batch_fails_its_own_requests_and_no_others():
    def decide(inputs):
        if (inputs < 0).any():
            raise ArithmeticError("below zero")
        return Decisions(inputs[:, 0], inputs[:, 0], inputs[:, 0] > 0)

    async def scenario(batcher):
        with pytest.raises(ArithmeticError, match="below zero"):
            await batcher.decide(rows(-1), timeout=LONG)
        assert batcher.alive
        return await batcher.decide(rows(4), timeout=LONG)

    assert run(scenario, scorer=decide).score.tolist() == [4.0]


def test_closing_finishes_what_was_accepted():
    scorer = Scorer(0.03)

    async def scenario(batcher):
        tasks = [asyncio.create_task(batcher.decide(rows(n), timeout=LONG)) for n in range(20)]
        await asyncio.sleep(0)
        await batcher.close()
        assert not batcher.alive
        return [task.result().score.tolist() for task in tasks]

    assert run(scenario, scorer=scorer) == [[float(n)] for n in range(20)]


def test_a_closed_one_is_gone_without_a_search_for_circles():
    """It keeps a gate's weights in memory, and what a server started with is never searched again."""

    async def main():
        pool = Workers(1)
        batcher = Batcher(Scorer(), pool, max_batch=8, max_delay=0.0, capacity=100)
        await batcher.decide(rows(*range(20)), timeout=LONG)
        await batcher.close()
        pool.close()
        return weakref.ref(batcher)

    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(main())() is None
    finally:
        gc.enable()


def test_a_refusal_for_want_of_room_is_held_back(monkeypatch):
    """Clients that ask again at once would otherwise take the interpreter from those who were accepted."""
    slept, sleep = [], asyncio.sleep

    async def noted(seconds):
        slept.append(seconds)
        await sleep(0)

    async def scenario(batcher):
        accepted = asyncio.create_task(batcher.decide(rows(1, 2), timeout=LONG))
        await sleep(0)
        monkeypatch.setattr(asyncio, "sleep", noted)
        with pytest.raises(Overloaded):
            await batcher.decide(rows(3), timeout=LONG)
        monkeypatch.setattr(asyncio, "sleep", sleep)
        return await accepted

    assert run(scenario, capacity=2).score.tolist() == [1, 2]
    assert slept == [batching.PAUSE]


def test_a_single_input_waits_for_one_piece_of_large_requests_and_not_for_all():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        first = asyncio.create_task(batcher.decide(rows(0), timeout=LONG))
        await until(lambda: scorer.batches)
        large = [asyncio.create_task(batcher.decide(rows(*range(40)), timeout=LONG)) for _ in range(2)]
        await asyncio.sleep(0)
        singles = [asyncio.create_task(batcher.decide(rows(n), timeout=LONG)) for n in (501, 502)]
        await asyncio.sleep(0)
        scorer.go.set()
        answers = await asyncio.gather(first, *large, *singles)
        return [answer.score.tolist() for answer in answers]

    answers = run(scenario, scorer=scorer)
    assert answers == [[0], list(range(40)), list(range(40)), [501], [502]]
    sizes = [len(batch) for batch in scorer.batches]
    assert sizes == [1, 2, *[8] * 10] or sizes == [1, 8, 2, *[8] * 9]
    # The two large requests took turns.
    pieces = [batch[0, 0] for batch in scorer.batches if len(batch) == 8]
    assert pieces == [0, 0, 8, 8, 16, 16, 24, 24, 32, 32]


def test_a_queue_full_of_large_requests_has_room_for_a_small_one():
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        large = [asyncio.create_task(batcher.decide(rows(*range(10)), timeout=LONG)) for _ in range(2)]
        await until(lambda: scorer.batches)
        with pytest.raises(Overloaded):
            await batcher.decide(rows(*range(10)), timeout=LONG)
        small = asyncio.create_task(batcher.decide(rows(7), timeout=LONG))
        await asyncio.sleep(0)
        scorer.go.set()
        return [(await task).score.tolist() for task in (*large, small)]

    assert run(scenario, scorer=scorer, capacity=20) == [list(range(10)), list(range(10)), [7]]


def test_a_batch_is_no_larger_than_what_is_scored_in_a_short_time(monkeypatch):
    monkeypatch.setattr(rates, "BATCH_SECONDS", 1.0)
    scorer = Scorer()

    async def scenario(batcher):
        await batcher.decide(rows(*range(16)), timeout=LONG)

    run(scenario, scorer=scorer, rate=5.0, max_batch=32)
    assert len(scorer.batches[0]) == 5
    assert max(map(len, scorer.batches)) <= 16


def test_while_small_requests_come_one_worker_is_kept_for_them(monkeypatch):
    monkeypatch.setattr(batching, "RECENT", LONG)
    scorer = Scorer(held_from=1)

    async def scenario(batcher):
        await batcher.decide(rows(0), timeout=LONG)
        large = [asyncio.create_task(batcher.decide(rows(*range(16)), timeout=LONG)) for _ in range(2)]
        await until(lambda: len(scorer.batches) == 2)
        for _ in range(10):
            await asyncio.sleep(0.001)
        assert len(scorer.batches) == 2  # the other worker is free
        small = asyncio.create_task(batcher.decide(rows(7), timeout=LONG))
        await until(lambda: len(scorer.batches) == 3)
        scorer.go.set()
        await asyncio.gather(small, *large)

    run(scenario, scorer=scorer, workers=2)
    assert [len(batch) for batch in scorer.batches[:3]] == [1, 8, 1]


def test_the_worker_is_kept_whatever_the_efforts_of_large_requests(monkeypatch):
    monkeypatch.setattr(batching, "RECENT", LONG)
    own, fast = Scorer(held_from=1), Scorer(held_from=0)

    async def scenario(batcher):
        await batcher.decide(rows(0), timeout=LONG)
        large = [
            asyncio.create_task(batcher.decide(rows(*range(16)), timeout=LONG, effort=effort))
            for effort in (None, "fast")
        ]
        await until(lambda: len(own.batches) + len(fast.batches) == 2)
        for _ in range(10):
            await asyncio.sleep(0.001)
        assert len(own.batches) + len(fast.batches) == 2  # the other worker is free
        small = asyncio.create_task(batcher.decide(rows(7), timeout=LONG))
        await until(lambda: len(own.batches) + len(fast.batches) == 3)
        own.go.set(), fast.go.set()
        await asyncio.gather(small, *large)

    run(scenario, scorer=own, others={"fast": fast}, workers=2)


def test_without_small_requests_large_ones_have_all_workers(monkeypatch):
    monkeypatch.setattr(batching, "RECENT", 0.0)
    scorer = Scorer(held_from=0)

    async def scenario(batcher):
        large = [asyncio.create_task(batcher.decide(rows(*range(16)), timeout=LONG)) for _ in range(2)]
        await until(lambda: len(scorer.batches) == 2)
        scorer.go.set()
        await asyncio.gather(*large)

    run(scenario, scorer=scorer, workers=2)
