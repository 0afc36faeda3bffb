"""Shared by all tests: one thread each, so that tests running side by side do not fight over the cores."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

import torch

torch.set_num_threads(1)
