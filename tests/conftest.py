"""Shared by all tests: one thread each, so that tests running side by side do not fight over the cores."""

import os
import signal

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be all processes of tests.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

import torch

torch.set_num_threads(1)
