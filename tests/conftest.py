"""Shared by all tests: one thread each, so that tests running side by side do not fight over the cores."""

import os
import signal
import threading

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

import pytest
import torch

from dissensus.models import build_vae

torch.set_num_threads(1)

# A shell that starts us in the background has us ignore Ctrl-C, and so would all processes that tests start.
ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
if ignored and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
