"""Forks processes that kill themselves with SIGKILL at one step of saving after the other, first to last.

python kill_run.py save|save-without-swap|recalibrate FOLDER

The folders ``one`` and ``other`` beside FOLDER hold the gates: one lies at FOLDER, the other is saved over
it. A step is whatever the interpreter reports before it touches a file or looks for the call that swaps.
Processes are forked here, in a program of its own, because starting Python and importing torch would take all
the time.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import torch

from dissensus import BayesianVAE, atomic
from dissensus.likelihood import own_bits

# Every gate is loaded again to be looked at, and whether a row keeps its bits is nothing that a kill changes.
own_bits.DRAWS, own_bits.TILES, own_bits.INPUTS, own_bits.SHIFTS = 2, 1, 4, (1,)
ASKED = np.random.default_rng(5).normal(size=(8, 3))
TOUCHES_FILES = ("open", "os.", "shutil.", "tempfile.", "ctypes.dlsym")


class KillAt:
    """Ends this process with SIGKILL before it takes step number ``step``, counted from 0."""

    def __init__(self, step):
        self.left = step

    def start(self):
        sys.addaudithook(self._audit)

    def _audit(self, event, _arguments):
        if event.startswith(TOUCHES_FILES) and event != "os.kill":
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self.left -= 1


def save_of(what, folder, gates):
    """What a process calls until it is killed: the other gate comes to where the first one lies."""
    if what == "recalibrate":
        gate = BayesianVAE.load(folder, device="cpu")
        gate.recalibrate(2 * ASKED)
        return gate.save
    return gates[1].save


def state(gate):
    """What must belong together: the draws' scores and the calibration's."""
    return np.concatenate([gate.score_samples(ASKED), np.sort(gate.calibration_scores_)])


def main(what, folder):
    """Prints at how many steps a process was killed, and after how many of these the new gate was there."""
    gates = [BayesianVAE.load(folder.with_name(name), device="cpu") for name in ("one", "other")]
    if what == "save-without-swap":
        atomic._swapped = lambda *_: False
    gates[0].save(folder)
    old = state(gates[0])
    if what == "recalibrate":
        new = state(BayesianVAE.load(folder, device="cpu").recalibrate(2 * ASKED))
    else:
        new = state(gates[1])
    assert not np.array_equal(old, new)
    save = save_of(what, folder, gates)  # once: what the processes do to it is lost with them
    step, replaced, status = 0, 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        child = os.fork()
        if child == 0:
            KillAt(step).start()
            save(folder)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found = state(BayesianVAE.load(folder, device="cpu"))
        is_new = np.array_equal(found, new)
        assert is_new or np.array_equal(found, old), f"a mix of two gates, after {step} steps"
        assert is_new or not replaced, f"the old gate is back after {step} steps"
        if status == -signal.SIGKILL:
            replaced += is_new
            step += 1
            if is_new:
                gates[0].save(folder)  # whatever was left does not stand in the way
            for left in folder.parent.glob(".gate.*.tmp"):  # to look at it would be more steps each time
                shutil.rmtree(left)
    assert status == 0, f"the process ended with {status} after {step} steps"
    assert is_new
    sys.stdout.write(f"{step} {replaced}\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1], Path(sys.argv[2]))
