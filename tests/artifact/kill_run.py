"""Kills real processes with SIGKILL while they save over one folder, and looks after each at what is there.

python kill_run.py save|recalibrate FOLDER KILLS

The folders ONE and OTHER beside FOLDER hold the gates that are saved in turn. Processes are forked here, in a
program of its own, because starting Python and importing torch would take all the time.
"""

import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

import numpy as np
import torch

from dissensus import BayesianVAE

ASKED = np.random.default_rng(5).normal(size=(8, 3))


def work(what, folder, gates, turn):
    """One save, or one recalibration and its save."""
    if what == "save":
        gates[turn % 2].save(folder)
    else:
        gate = BayesianVAE.load(folder, device="cpu")
        gate.recalibrate(ASKED * (1 + turn % 7))
        gate.save(folder)


def state(gate):
    """What must belong together: the draws' scores and the calibration's."""
    return np.concatenate([gate.score_samples(ASKED), np.sort(gate.calibration_scores_)])


def allowed(what, gates, one):
    """The states that a whole save may leave."""
    if what == "save":
        return [state(gate) for gate in gates]
    states = [state(gates[0])]
    for turn in range(7):
        states.append(state(BayesianVAE.load(one, device="cpu").recalibrate(ASKED * (1 + turn))))
    return states


def main(what, folder, kills):
    """Prints how often the gate had changed since the kill before."""
    chance = random.Random(0)
    gates = [BayesianVAE.load(folder.with_name(name), device="cpu") for name in ("one", "other")]
    right = allowed(what, gates, folder.with_name("one"))
    gates[0].save(folder)
    last, changes = state(gates[0]), 0
    start = time.perf_counter()
    for turn in range(4):
        work(what, folder, gates, turn)
    usual = (time.perf_counter() - start) / 4
    for kill in range(kills):
        child = os.fork()
        if child == 0:
            for turn in count(kill):  # until it is killed
                work(what, folder, gates, turn)
        time.sleep(chance.uniform(0, 4 * usual))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert folder.is_dir()
        found = state(BayesianVAE.load(folder, device="cpu"))
        assert any(np.array_equal(found, one) for one in right), "a mix of two gates"
        changes += not np.array_equal(found, last)
        last = found
    gates[1].save(folder)  # whatever was left does not stand in the way
    assert np.array_equal(state(BayesianVAE.load(folder, device="cpu")), state(gates[1]))
    sys.stdout.write(f"{changes}\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
