"""Shared by all tests: one thread each, so that tests running side by side do not fight over the cores."""

import functools
import gc
import json
import os
import signal
import threading

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

import pytest
import torch
import typer.testing

from dissensus import progress
from dissensus.detector import measuring
from dissensus.likelihood import own_bits
from dissensus.models import build_vae, model_to_config

torch.set_num_threads(1)

WHOLE_SELF_TEST = own_bits.DRAWS, own_bits.TILES, own_bits.INPUTS, own_bits.SHIFTS
# Whether a row keeps its bits is asked at every fit and load, of which there are over a thousand here. Tests
# that are not about it ask less, and of models of one shape once.
own_bits.DRAWS, own_bits.TILES, own_bits.INPUTS, own_bits.SHIFTS = 2, 1, 4, (1,)
_kept = {}


def _keeps_bits_as_before(model, draws, data, **settings):
    asked = own_bits.DRAWS, own_bits.TILES, own_bits.INPUTS, own_bits.SHIFTS
    shape = json.dumps(model_to_config(model)), type(model), data.dtype, data.shape, len(draws)
    key = *asked, *shape, *(settings[name] for name in ("samples", "device"))
    if key not in _kept:
        _kept[key] = own_bits.keeps_bits(model, draws, data, **settings)
    return _kept[key]


measuring.keeps_bits = _keeps_bits_as_before

# Commands are made of their functions whenever one is called, in a tenth of a second; here once.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# Lines about the progress of long work would come where a machine is slow, and nowhere else.
progress.EVERY = float("inf")

# A shell that starts us in the background has us ignore Ctrl-C, and so would all processes that tests start.
ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
if ignored and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") is not None and not torch.cuda.is_available():
        pytest.skip("there is no GPU here: `make test-gpu` runs these where there is one")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing that is collected is garbage before the end: nobody looks for any among it, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)  # looking for garbage all the time took a twelfth of all time


def pytest_collection_modifyitems(items):
    """Begins with the longest: at the end one process would be at it while the other has nothing to do."""
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


@pytest.fixture
def two_cores():
    """As a process has where there are two, instead of the one thread that all other tests have."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def image_vaes():
    """Three small convolutional VAEs of one architecture."""
    return [
        build_vae(
            (1, 9, 10),
            latent_size=3,
            widths=(4,),
            hidden=8,
            generator=torch.Generator().manual_seed(seed),
        )
        for seed in range(3)
    ]


@pytest.fixture
def images():
    random = torch.Generator().manual_seed(9)
    return torch.randint(0, 256, (17, 1, 9, 10), generator=random, dtype=torch.uint8)


@pytest.fixture(scope="module")
def whole_self_test():
    """Asks whether a row keeps its bits as often as a user's machine does."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in zip(("DRAWS", "TILES", "INPUTS", "SHIFTS"), WHOLE_SELF_TEST, strict=True):
            patch.setattr(own_bits, name, value)
        yield
