"""A fit that does not hold its inputs in memory.

They stay on disk: a ``.npy`` file of uint8 pictures or of rows as it is, everything else decoded once into a
cache of chunks. What is learnt of them before any chain runs is learnt from some, the chains read them by
blocks (:class:`~dissensus.posterior.BlockData`), and held-out inputs are measured a batch at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.drawing import CODED, EXAMPLES, Rows, training_parts
from dissensus.detector.fitting import check_count, learnt_from
from dissensus.detector.inputs import chunk_rows
from dissensus.detector.learnt import Learnt
from dissensus.detector.measuring import OnProgress
from dissensus.detector.parts import part_fractions
from dissensus.detector.plan import Plan
from dissensus.detector.windows import Budget, Windows, remembered
from dissensus.errors import SettingsError, not_written
from dissensus.inputs import Preprocessor, Stored, TableEncoder, split, store_inputs, stored_preprocessor
from dissensus.memory import give_back, peak_of
from dissensus.models.inputs import channels_last, to_tensor
from dissensus.posterior import HELD_OUT_ROWS, BlockData
from dissensus.seeding import numpy_stream
from dissensus.torch_threads import usable_threads

__all__ = ["StoredRows", "learn_within_memory", "prepared_on_disk"]

BATCH = 1 / 16
"""The share of all memory that a batch of held-out inputs may take, with what is computed of it."""
LEARNING = 1 / 4
"""The share of all memory that inputs may take while kinds of columns and scales are learnt from them."""
COMPUTED = 64  # bytes that are computed of each number of an input when it is measured


@dataclass(frozen=True)
class StoredRows:
    """Inputs on disk, with their purposes."""

    stored: Stored
    preprocessor: Preprocessor
    rows: Rows
    train: Tensor | BlockData
    at_once: int
    """How many held-out inputs are in memory."""

    @property
    def counts(self) -> dict[str, int]:
        """How many inputs serve which purpose."""
        return {name: len(index) for name, index in self.rows.items() if name not in (CODED, EXAMPLES)}

    def first(self, part: str, count: int) -> Tensor:
        """Return what a model reads of a part's first inputs."""
        return _seen(self.preprocessor, self.stored.take(self.rows[part][:count]))

    def batches(self, part: str) -> Iterator[tuple[NDArray[Any], Tensor]]:
        """Yield a part's inputs as read and as a model reads them."""
        size = max(1, len(self.rows[part])) if part == EXAMPLES else self.at_once
        for inputs in self._given(part, size):
            yield inputs, _seen(self.preprocessor, inputs)
            give_back()

    def seen(self, part: str) -> Iterator[Tensor]:
        """What a model reads of a part, some at a time."""
        return (_seen(self.preprocessor, inputs) for inputs in self._given(part, self.at_once))

    def with_training_parts(self, *, examples: int, coded: int, seed: int) -> StoredRows:
        """The same with at most so many training inputs as parts of their own."""
        train = self.rows["train"]
        first = self.stored.take(train[:1])
        shown = self.preprocessor.shown(first, channels_last(_seen(self.preprocessor, first)).numpy())
        chosen = training_parts(len(train), shown, examples=examples, coded=coded, seed=seed)
        return replace(self, rows={**self.rows, **{name: train[places] for name, places in chosen.items()}})

    def _given(self, part: str, size: int) -> Iterator[NDArray[Any]]:
        """A part's inputs as read, so many at a time."""
        rows = self.rows[part]
        starts = range(0, max(1, len(rows)), size)
        return (self.stored.take(rows[start : start + size]) for start in starts)


def learn_within_memory(
    X: Any, plan: Plan, *, checkpoint: str | Path | None, on_progress: OnProgress | None, stacklevel: int
) -> Learnt:
    """Learn from inputs what is normal, in at most ``plan.memory`` bytes."""
    with prepared_on_disk(X, plan, checkpoint=checkpoint, stacklevel=stacklevel + 2) as prepared:
        return learnt_from(prepared, plan, checkpoint=checkpoint, on_progress=on_progress)


@contextmanager
def prepared_on_disk(
    X: Any, plan: Plan, *, checkpoint: str | Path | None, stacklevel: int
) -> Iterator[StoredRows]:
    """Inputs that stay on disk, ready to be learnt from inside the block.

    What had to be decoded is kept in ``checkpoint``, or else removed in the end. Warnings about inputs point
    so many calls up.
    """
    assert plan.memory is not None
    if plan.embed is not None or plan.contamination:
        what = "embed" if plan.embed is not None else "contamination"
        raise SettingsError(
            f"{what} takes all inputs at once, which memory does not allow: "
            + (
                "write the vectors to a .npy file, and fit on that"
                if plan.embed is not None
                else "leave outliers out of the inputs first, or leave memory out"
            )
        )
    with ExitStack() as ended:
        if checkpoint is None:
            folder = Path(ended.enter_context(_temporary_folder()))
        else:
            folder = Path(checkpoint) / "inputs"
        stored, encoder = store_inputs(
            X,
            folder,
            resize=plan.resize,
            most=int(plan.memory * LEARNING),
            as_they_are=plan.own_shape,
            stacklevel=stacklevel + 1,
        )
        kept = None if checkpoint is None else folder
        yield _prepared(stored, encoder, plan, kept, stacklevel + 1)


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="dissensus-")
    except OSError as error:
        raise not_written("the temporary folder for decoded inputs", error) from error


def _prepared(
    stored: Stored, encoder: TableEncoder | None, plan: Plan, kept: Path | None, stacklevel: int
) -> StoredRows:
    assert plan.memory is not None
    check_count(len(stored))
    rows = split(len(stored), part_fractions(len(stored)), seed=plan.seed)
    are_rows = not stored.pictured
    settings = plan.sampling(plan.sampler(plan.recommended(are_rows)), len(rows["train"]))
    random = numpy_stream(plan.seed, "surroundings") if plan.neighbours else None
    preprocessor = stored_preprocessor(
        stored,
        rows["train"],
        encoder,
        resize=plan.resize,
        random=random,
        seed=plan.seed,
        most=int(plan.memory * LEARNING),
        stacklevel=stacklevel + 1,
    )
    batch_size = min(settings.batch_size, len(rows["train"]))
    memory = plan.memory

    def measured() -> Windows:
        step = _step_peak(preprocessor, plan, batch_size, settings.chains)
        budget = Budget(stored, memory - step, settings.chains, batch_size)
        budget.check(memory)
        return budget.windows(len(rows["train"]))

    asked = {"memory": memory, "chains": settings.chains, "batch": batch_size, "digest": stored.digest}
    windows = remembered(kept and kept / "windows.json", asked, measured)
    clip = preprocessor.clip
    at_once = max(1, int(memory * BATCH) // (COMPUTED * int(np.prod(stored.input_shape))))
    at_once = min(chunk_rows(stored.input_shape), at_once)
    train = rows["train"]

    def read(start: int, stop: int) -> Tensor:
        seen = _seen(preprocessor, stored.take(train[start:stop]))
        return seen if clip is None else seen.clamp(-clip, clip)

    if windows.window is None:
        # They are learnt from as if they had never been on a disk.
        starts = range(0, len(train), windows.block)
        whole = torch.cat([read(start, min(start + windows.block, len(train))) for start in starts])
        return StoredRows(stored, preprocessor, rows, whole, at_once)
    first = read(0, 1)
    data = BlockData(
        read,
        (len(train), *first.shape[1:]),
        windows.block,
        windows.window,
        stored.digest,
        plan.device,
    )
    return StoredRows(stored, preprocessor, rows, data, at_once)


def _step_peak(preprocessor: Preprocessor, plan: Plan, batch_size: int, chains: int) -> int:
    """The bytes that this process will take at most without any window of inputs, by trying a step.

    It sees what libraries load when they are first used. Each chain's step takes memory of its own, and what
    surrounds the steps, such as the inputs that chains are watched by, about as much as one more.
    """
    inputs = to_tensor(preprocessor.made_up(batch_size, numpy_stream(plan.seed, "trial")))
    model = plan.build(tuple(inputs.shape[1:]), preprocessor.clip, plan.seed).to(plan.device)

    def step() -> None:
        noise = torch.zeros(batch_size, model.training_noise_size, device=plan.device)
        model.objective(inputs.to(plan.device), noise).sum().neg().backward()  # type: ignore[no-untyped-call]

    step()
    idle = peak_of(lambda: None)
    busy = peak_of(step)
    watched = 2 * 4 * HELD_OUT_ROWS * inputs[0].numel()  # as floats, and what is made of them
    return busy + (busy - idle) * min(chains, usable_threads()) + watched


def _seen(preprocessor: Preprocessor, inputs: NDArray[Any]) -> Tensor:
    return to_tensor(preprocessor.transform(inputs))
