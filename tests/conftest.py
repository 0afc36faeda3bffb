"""Shared by all tests: one thread each, so that tests running side by side do not fight over the cores."""

import os
import signal
import threading

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

import torch

torch.set_num_threads(1)

# A shell that starts us in the background has us ignore Ctrl-C, and so would all processes that tests start.
ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
if ignored and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
