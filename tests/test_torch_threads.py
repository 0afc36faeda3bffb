"""Short operations get one of torch's threads, and every caller has as many as before afterwards."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE
from dissensus.errors import DissensusError
from dissensus.models import build_vae
from dissensus.one_thread import one_thread
from dissensus.posterior import SamplingSettings, sample_posterior
from dissensus.posterior.chain import Chain
from dissensus.posterior.step_work import watching_threads
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import LEAST_WORK, set_own_threads, threads_for, torch_threads, usable_threads


@pytest.fixture(autouse=True)
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(140, 3))


def in_a_new_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_the_number_depends_on_the_work():
    assert threads_for(LEAST_WORK - 1) == 1
    assert threads_for(LEAST_WORK) == 3
    with torch_threads(1):
        assert threads_for(LEAST_WORK) == 3  # of those that the caller has


@pytest.mark.parametrize(
    ("shape", "batch_size", "expected"),
    [((5,), 17, 1), ((20,), 128, 1), ((784,), 128, 1), ((1, 28, 28), 20, 1), ((1, 28, 28), 128, 3)],
)
def test_steps_of_one_size_get_the_same_number_of_threads(shape, batch_size, expected):
    vae = build_vae(shape, generator=torch.Generator().manual_seed(0))
    assert watching_threads(vae, batch_size) == expected


def test_a_block_and_blocks_within_it():
    with torch_threads(1):
        assert (torch.get_num_threads(), usable_threads()) == (1, 3)
        with torch_threads(2):
            assert (torch.get_num_threads(), usable_threads()) == (2, 3)
        assert (torch.get_num_threads(), usable_threads()) == (1, 3)
    assert (torch.get_num_threads(), usable_threads()) == (3, 3)


def test_after_an_error():
    with pytest.raises(KeyError), torch_threads(1):
        raise KeyError
    assert torch.get_num_threads() == usable_threads() == 3


def test_threads_that_start_meanwhile_do_not_notice():
    with torch_threads(1):
        assert in_a_new_thread(torch.get_num_threads) == 3
        assert list(side_by_side([iter([0]), iter([1])], threads=2))
        assert in_a_new_thread(torch.get_num_threads) == 3
        assert torch.get_num_threads() == 1
    assert in_a_new_thread(torch.get_num_threads) == 3


def test_a_thread_with_a_number_of_its_own_leaves_that_of_the_process():
    def work():
        set_own_threads(2)
        with torch_threads(1):
            pass
        list(side_by_side([iter([0]), iter([1])], threads=1))
        return torch.get_num_threads()

    assert in_a_new_thread(work) == 2
    assert in_a_new_thread(torch.get_num_threads) == 3


def test_all_of_a_small_fit_runs_on_one_thread(rows, monkeypatch):
    seen = {}

    def watch(name):
        own = getattr(Chain, name)

        def noted(self, *arguments):
            seen.setdefault(name, set()).add(torch.get_num_threads())
            return own(self, *arguments)

        monkeypatch.setattr(Chain, name, noted)

    for name in ("step", "noiseless_objective", "held_out_log_likelihood"):
        watch(name)
    BayesianVAE(epochs=4, draws=4, device="cpu").fit(rows)
    assert seen == {name: {1} for name in ("step", "noiseless_objective", "held_out_log_likelihood")}


def test_the_number_of_cores_changes_no_bit_of_a_small_fit():
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        rows = torch.randn(100, 5, generator=torch.Generator().manual_seed(0))
        vae = build_vae((5,), generator=torch.Generator().manual_seed(1))
        settings = SamplingSettings.variant_1(epochs=3, burn_in=1, thinning=1, chains=2, batch_size=17)
        found.append(sample_posterior(vae, rows, settings, seed=4, held_out=rows[:9]))
    for other in found[1:]:
        for part in ("decoder", "encoder"):
            for name, stack in found[0].parts[part].stacks.items():
                assert torch.equal(stack, other.parts[part].stacks[name]), name
        assert found[0].diagnostics.rhat == other.diagnostics.rhat


def test_a_caller_has_its_threads_back_after_fitting_and_scoring(rows):
    gate = BayesianVAE(epochs=4, draws=4, device="cpu").fit(rows)
    assert torch.get_num_threads() == 3
    gate.decide(rows[:2])
    gate.explain(rows[0])
    assert torch.get_num_threads() == 3


def test_a_caller_has_its_threads_back_after_an_error(rows):
    def fail(*_):
        raise KeyError

    with pytest.raises(KeyError):
        BayesianVAE(epochs=4, draws=4, device="cpu").fit(rows, on_progress=fail)
    assert torch.get_num_threads() == usable_threads() == 3
    with pytest.raises(DissensusError):
        BayesianVAE(epochs=4, draws=4, step_size=1e6, device="cpu").fit(rows)
    assert torch.get_num_threads() == usable_threads() == 3


def test_callers_in_several_threads_have_theirs_back(rows):
    def fit(own):
        set_own_threads(own)
        gate = BayesianVAE(epochs=3, draws=2, device="cpu", random_state=own).fit(rows)
        return torch.get_num_threads(), gate.score_samples(rows[:9]), torch.get_num_threads()

    numbers = [1, 2, 3, 4]
    with ThreadPoolExecutor(len(numbers)) as pool:
        found = list(pool.map(fit, numbers))
    assert [(before, after) for before, _, after in found] == [(n, n) for n in numbers]
    assert torch.get_num_threads() == in_a_new_thread(torch.get_num_threads) == 3
    for number, (_, scores, _) in zip(numbers, found, strict=True):
        again = BayesianVAE(epochs=3, draws=2, device="cpu", random_state=number).fit(rows)
        np.testing.assert_array_equal(again.score_samples(rows[:9]), scores)


def test_blocks_that_overlap_in_two_threads_leave_each_its_number():
    """Whoever leaves first must not be left with the number that was set for the block."""
    first_inside, second_inside, first_outside = (threading.Event() for _ in range(3))

    def first():
        set_own_threads(2)
        with one_thread():
            first_inside.set()
            assert second_inside.wait(600)
        first_outside.set()
        return torch.get_num_threads()

    def second():
        set_own_threads(4)
        assert first_inside.wait(600)
        with one_thread():
            inside = torch.get_num_threads()
            second_inside.set()
            assert first_outside.wait(600)
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(first), pool.submit(second)
        assert one.result() == 2
        assert other.result() == (1, 4)
