"""Mutated gates and input files: each ends in a clear error or a correct result, in bounded memory and time.

    python tools/fuzz_artifacts.py --cases 10000 --output results/fuzz/fuzz.json

Cases are numbered and each is a function of its number alone: ``--first 4711 --cases 1`` repeats one. Every
2,500 run in a process of their own whose address space is limited, so that a crash, a hang or a case
that takes too much memory is seen and does not end the run.
"""

from __future__ import annotations

import sys

from fuzzing.command import main

if __name__ == "__main__":
    sys.exit(main(__doc__, __file__))
