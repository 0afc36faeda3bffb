"""Scoring a Ray dataset and running a fit's chains on a Ray cluster, one machine or hundreds.

A score depends on nothing but the input, and a chain on nothing but its number: what a cluster gives is what
one machine gives, whichever workers there are, in whatever order they work, and whichever of them die.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import present
from dissensus.decisions import discovery_limit
from dissensus.detector import Chains, Detector, join_chains
from dissensus.detector.apart import check_apart
from dissensus.detector.sampling import expected_sampler
from dissensus.detector.streaming import decide_stream
from dissensus.errors import DataError, DissensusError, SettingsError
from dissensus.inputs import are_pictures, open_source, open_stream
from dissensus.posterior import SamplingSettings

try:
    import ray
    import ray.data
    import ray.exceptions
except ImportError as error:
    raise ImportError("this adapter needs Ray: pip install 'dissensus[ray]'") from error

__all__ = ["fit_chains", "flag_together", "score_dataset"]

USUAL_COLUMNS = ("data", "image", "item")  # what Ray's own readers call a column of arrays
READERS = (
    1.0  # CPUs that are left to those who read: an actor pool as large as the cluster would wait for ever
)
TRIES = 4  # of a chain whose worker died


def score_dataset(
    gate: Detector | str | Path,
    dataset: ray.data.Dataset,
    *,
    column: str | None = None,
    workers: int | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
    batch_size: int = 4096,
    on_error: Literal["raise", "skip"] = "raise",
    **own: Any,
) -> ray.data.Dataset:
    """Return the dataset with columns ``score``, ``p_value`` and ``flagged`` (higher = more unusual).

    ``gate`` is a fitted detector, or a folder with one, which only this process has to be able to read: its
    files go to every worker once, and each loads the weights once. Code of your own is passed in ``own`` as
    to ``Detector.load``. A gate of named columns finds them in the dataset; any other reads ``column``, which
    may be left out if there is one only, or one that Ray's readers call data, image or item.

    Each of the ``workers`` takes so many ``cpus`` and ``gpus``; by default there are as many as leave one CPU
    to those who read the dataset. With ``on_error="skip"`` inputs that cannot be scored have a text in the
    column ``error``, instead of ending the work. Nothing is computed before the result is asked for; a worker
    that dies is replaced, and its batch scored again.
    """
    files = ray.put(_files_of(gate))
    tensors = Detector.load(gate, device="cpu", **own) if isinstance(gate, str | Path) else gate
    names = tensors.preprocessor_.feature_names
    if names is None:
        column = column or _only_column(dataset.columns() or [])
    scorer = partial(_Scorer, files, own, column, None if names is None else list(names), on_error, gpus > 0)
    return dataset.map_batches(
        _as_class(scorer),
        batch_size=batch_size,
        batch_format="pandas" if names is not None else "numpy",
        num_cpus=cpus,
        num_gpus=gpus or None,
        compute=ray.data.ActorPoolStrategy(size=_workers(workers, cpus, gpus)),
    )


def flag_together(scored: ray.data.Dataset, fdr: float) -> ray.data.Dataset:
    """Return scored inputs flagged by this false discovery rate over all of them (Benjamini–Hochberg)."""
    counts = scored.groupby("p_value").count().take_all()
    known = [row for row in counts if row["p_value"] is not None and not np.isnan(row["p_value"])]
    limit = discovery_limit([row["p_value"] for row in known], [row["count()"] for row in known], fdr)

    def flagged(batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {**batch, "flagged": np.asarray(batch["p_value"] <= limit)}

    return scored.map_batches(flagged, batch_format="numpy")


def fit_chains(
    detector: Detector,
    X: Any,
    *,
    contamination: float | None = None,
    checkpoint: str | Path | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
) -> Detector:
    """Return the detector fitted as ``detector.fit(X)`` would be, each of its chains a task of its own.

    ``X`` is an array, which goes to every worker, or the name of a file or folder that all workers can read.
    ``checkpoint`` is a folder that all can write to, where a chain whose worker died goes on; without it that
    chain is begun again. The score learns, and is calibrated, here and once.
    """
    check_apart(detector)
    rows = detector.embed is not None or not are_pictures(open_source(X, resize=detector.resize))
    sampler = expected_sampler(detector, rows=rows)
    if sampler.draws % sampler.chains:
        raise SettingsError(f"draws={sampler.draws} must be a multiple of chains={sampler.chains}")
    part = copy.copy(detector)
    part.chains, part.draws = 1, sampler.draws // sampler.chains
    if isinstance(part.posterior, SamplingSettings):
        part.posterior = replace(part.posterior, chains=1)
    shared = X if isinstance(X, str | Path) else ray.put(X)
    run = ray.remote(num_cpus=cpus, num_gpus=gpus or None, max_retries=TRIES)(_run_chain)
    waiting = [
        run.remote(
            part, shared, chain, contamination, None if checkpoint is None else Path(checkpoint) / str(chain)
        )
        for chain in range(sampler.chains)
    ]
    return join_chains(_finished(waiting))


def _finished(waiting: Sequence[ray.ObjectRef[Any]]) -> list[Chains]:
    """The chains, once all are done; why one of them failed is said in one sentence."""
    try:
        return list(ray.get(list(waiting)))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, DissensusError):
            raise error.cause from error  # without the worker's traceback, which is the cause's cause
        raise
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        raise DissensusError(
            f"the worker of a chain died {TRIES + 1} times, perhaps for want of memory: give each chain more "
            "cpus=, so that fewer share a machine; with the same checkpoint= the others are not run again"
        ) from error


def _run_chain(
    part: Detector, X: Any, chain: int, contamination: float | None, checkpoint: Path | None
) -> Chains:
    """One chain, in a worker."""
    return part.fit_chains(X, first_chain=chain, contamination=contamination, checkpoint=checkpoint)


class _Scorer:
    """What a worker keeps: the gate, loaded once."""

    def __init__(
        self,
        files: ray.ObjectRef[Any],
        own: Mapping[str, Any],
        column: str | None,
        names: Sequence[str] | None,
        on_error: Literal["raise", "skip"],
        gpu: bool,
    ) -> None:
        with tempfile.TemporaryDirectory(prefix="dissensus-") as scratch:
            for name, content in ray.get(files).items():
                Path(scratch, name).write_bytes(content)
            self.gate = Detector.load(scratch, device="cuda" if gpu else "cpu", **own)
        self.column, self.names, self.on_error = column, names, on_error

    def __call__(self, batch: Any) -> Any:
        """The batch with what is decided of its inputs."""
        inputs = batch[list(self.names)] if self.names is not None else batch[self.column]
        stream = open_stream(inputs, self.gate.preprocessor_)
        rows = [row for part in decide_stream(self.gate, stream, on_error=self.on_error) for row in part]
        found: dict[str, Any] = {
            "score": np.array([np.nan if row.score is None else row.score for row in rows]),
            "p_value": np.array([np.nan if row.p_value is None else row.p_value for row in rows]),
            "flagged": np.array([row.flagged is True for row in rows]),
        }
        if self.on_error == "skip":
            found["error"] = np.array([row.error or "" for row in rows], dtype=object)
        return batch.assign(**found) if self.names is not None else {**batch, **found}


def _as_class(scorer: partial[_Scorer]) -> type:
    """Ray makes an object of a class in each of its actors."""

    class Scorer:
        def __init__(self) -> None:
            self.score = scorer()

        def __call__(self, batch: Any) -> Any:
            return self.score(batch)

    return Scorer


def _files_of(gate: Detector | str | Path) -> dict[str, bytes]:
    """The gate's files by name."""
    with tempfile.TemporaryDirectory(prefix="dissensus-") as scratch:
        if isinstance(gate, Detector):
            gate.save(Path(scratch, "gate"))
            folder = Path(scratch, "gate")
        else:
            folder = present(gate)
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _only_column(columns: Sequence[str]) -> str:
    known = [name for name in USUAL_COLUMNS if name in columns]
    if len(columns) == 1 or known:
        return known[0] if known else columns[0]
    raise DataError(f"the dataset has the columns {', '.join(columns)}: name the one of inputs by column=")


def _workers(asked: int | None, cpus: float, gpus: float) -> int:
    """How many workers there may be, so that somebody can still read what they score."""
    there = ray.cluster_resources()
    room = int(max(0.0, there.get("CPU", 0.0) - READERS) // cpus) if cpus else there.get("CPU", 1.0)
    if gpus:
        room = min(room, int(there.get("GPU", 0.0) // gpus))
    most = int(max(room, 0))
    if most < 1 or (asked is not None and asked > most):
        what = f"{asked} workers" if asked is not None else "a worker"
        has = f"{there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs"
        raise SettingsError(
            f"{what} of {cpus:g} CPUs and {gpus:g} GPUs would leave no CPU to those who read the dataset, "
            f"for the cluster has {has}: ask for "
            + (f"at most {most}" if most else "fewer CPUs a worker, such as cpus=0.5")
        )
    return most if asked is None else asked
