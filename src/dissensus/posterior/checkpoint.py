"""A run's state on disk after every epoch, so that a run killed at any point resumes to the same bits.

``state.safetensors`` holds the chains and the diagnostics and is replaced atomically each epoch; each draw is
a file of its own, written once, before the state that counts it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dissensus.atomic import atomic_path
from dissensus.errors import FULL, CheckpointError, not_written
from dissensus.lock import Claim

__all__ = ["Checkpoint", "claimed_checkpoint", "fingerprint"]

FORMAT = "dissensus-checkpoint-1"


def fingerprint(described: Mapping[str, Any], *tensors: Tensor) -> str:
    """A digest of settings and of data: two runs may share a checkpoint only if theirs are equal."""
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for tensor in tensors:
        digest.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
        whole = tensor.detach().reshape(-1, *tensor.shape[1:])  # a scalar becomes one row
        for rows in whole.split(4096):  # type: ignore[no-untyped-call]  # copied off the device in pieces
            digest.update(rows.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


@contextmanager
def claimed_checkpoint(folder: str | Path | None) -> Iterator[None]:
    """Inside, no other process can use the folder: for those who have work to do before they begin a run.

    The folder is made if it is not there, and is removed if nothing was put into it. None is no folder.
    """
    if folder is None:
        yield
        return
    made = not Path(folder).exists()
    try:
        with _claim(Path(folder)):
            yield
    finally:
        if made:
            with suppress(OSError):  # it is not empty: a run was begun
                Path(folder).rmdir()


def _claim(folder: Path) -> Claim:
    """Makes the folder and claims it; the lock is in it, for the folder above may belong to others."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in FULL:
            raise not_written(f"the checkpoint folder {folder}", error) from error
        raise CheckpointError(f"the checkpoint folder {folder} cannot be made: {error.strerror}") from error
    return Claim(folder, inside=True)


class Checkpoint:
    """The folder of one run; until it is released no other process can use it."""

    def __init__(self, folder: str | Path, run: str) -> None:
        self.folder, self.run = Path(folder), run
        self._claim = _claim(self.folder)

    def release(self) -> None:
        """Lets other runs use the folder."""
        self._claim.release()

    @property
    def _state(self) -> Path:
        return self.folder / "state.safetensors"

    def _draw(self, chain: int, epoch: int) -> Path:
        return self.folder / f"draw-chain{chain:03d}-epoch{epoch:05d}.safetensors"

    def save(self, epoch: int, tensors: Mapping[str, Tensor], diagnostics: Mapping[str, Any]) -> None:
        """Replaces the state by that after ``epoch``."""
        metadata = {
            "format": FORMAT,
            "run": self.run,
            "epoch": str(epoch),
            "diagnostics": json.dumps(diagnostics),
        }
        self._write(self._state, tensors, metadata)

    def load(self) -> tuple[int, dict[str, Tensor], dict[str, Any]] | None:
        """The last epoch with its tensors and diagnostics, or ``None`` where nothing was saved yet."""
        saved = self._read(self._state) if self._state.exists() else None
        # A process that was killed while it wrote has left its unfinished files behind.
        for unfinished in self.folder.glob(".*.safetensors.*.tmp"):
            unfinished.unlink(missing_ok=True)
        if saved is None:
            return None
        tensors, metadata = saved
        return int(metadata["epoch"]), tensors, json.loads(metadata["diagnostics"])

    def save_draw(self, chain: int, epoch: int, tensors: Mapping[str, Tensor]) -> None:
        """Keeps one draw."""
        self._write(self._draw(chain, epoch), tensors, {"format": FORMAT, "run": self.run})

    def load_draw(self, chain: int, epoch: int) -> dict[str, Tensor]:
        """A draw that was kept."""
        path = self._draw(chain, epoch)
        if not path.exists():
            raise CheckpointError(
                f"the checkpoint in {self.folder} lacks {path.name}: remove the folder and start again"
            )
        return self._read(path)[0]

    def _write(self, path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
        try:
            with atomic_path(path) as temporary:
                owned = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
                save_file(owned, temporary, metadata={**metadata, "digest": _digest(metadata, owned)})
        except (OSError, SafetensorError) as error:
            raise not_written(f"the checkpoint {path}", error) from error

    def _read(self, path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
        """The tensors of one of this run's files, and its metadata."""
        try:
            with safe_open(path, framework="pt") as file:
                metadata = dict(file.metadata() or {})
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"{path} is damaged ({error}): remove {self.folder} and start again"
            ) from error
        if metadata.get("format") != FORMAT:
            raise CheckpointError(f"{path} is not a checkpoint of this version: remove {self.folder}")
        if metadata.get("run") != self.run:
            raise CheckpointError(
                f"the checkpoint {path} was made with other settings or data: "
                "give the run a folder of its own, or remove that one"
            )
        if metadata.pop("digest", None) != _digest(metadata, tensors):
            raise CheckpointError(
                f"{path} is damaged (its digest differs): remove {self.folder} and start again"
            )
        return tensors, metadata


def _digest(metadata: Mapping[str, str], tensors: Mapping[str, Tensor]) -> str:
    """Of everything in a file: a flipped bit must not become a draw."""
    names = sorted(tensors)
    return fingerprint({"metadata": dict(metadata), "names": names}, *(tensors[name] for name in names))
