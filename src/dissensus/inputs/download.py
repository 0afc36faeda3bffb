"""Files from a publisher: checked against their SHA-256, and in place only when whole."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from dissensus.errors import DataError, brief

__all__ = ["Progress", "download_file", "download_members"]

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes received so far, and how many there will be (None if not told)."""

_CHUNK = 1 << 18
_TIMEOUT_SECONDS = 30


def download_file(url: str, folder: str | Path, *, sha256: str, progress: Progress | None = None) -> Path:
    """Fetch ``url`` into ``folder`` under its own name; what fails leaves nothing behind."""
    _make(Path(folder))
    return _receive(url, Path(folder, url.rsplit("/", 1)[-1]), sha256, progress)


def download_members(
    url: str, folder: str | Path, members: Iterable[str], *, sha256: str, progress: Progress | None = None
) -> list[Path]:
    """Fetch the tar archive at ``url`` and put only the named regular ``members`` into ``folder``.

    A member lands under the last part of its name, so no name in the archive can reach outside.
    """
    import tarfile
    import zlib

    _make(Path(folder))
    # On the same disk as the folder, so that the last move is one atomic rename.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
        archive = _receive(url, Path(scratch, "archive"), sha256, progress)
        unpacked = []
        try:
            with tarfile.open(archive) as content:
                for member in members:
                    stored = content.getmember(member)
                    stream = content.extractfile(stored) if stored.isfile() else None
                    if stream is None:
                        raise DataError(f"{url} holds {member}, but not as a regular file.")
                    target = Path(scratch, member.rsplit("/", 1)[-1])
                    with stream, target.open("wb") as file:
                        while piece := stream.read(_CHUNK):
                            file.write(piece)
                    unpacked.append(target)
        except KeyError as error:
            raise DataError(f"{url} lacks the expected member: {error.args[0]}.") from error
        except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
            raise DataError(f"{url} cannot be unpacked ({error}).") from error
        return [file.replace(Path(folder, file.name)) for file in unpacked]


def _make(folder: Path) -> None:
    """Make the folder, and find out before anything is fetched whether it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"{folder} cannot be written to ({error}).") from error


def _receive(url: str, target: Path, sha256: str, progress: Progress | None) -> Path:
    pooch = _pooch()
    from requests.exceptions import ChunkedEncodingError, RequestException

    answers: list[Any] = []
    downloader = pooch.HTTPDownloader(
        progressbar=_Counter(url.rsplit("/", 1)[-1], progress),
        chunk_size=_CHUNK,
        timeout=_TIMEOUT_SECONDS,
        headers={"Accept-Encoding": "identity"},  # or a .gz might be unpacked on its way
        hooks={"response": lambda answer, **_: answers.append(answer)},
    )
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # progress is shown by who asked for it
    try:
        pooch.retrieve(url, f"sha256:{sha256}", target.name, target.parent, downloader=downloader)
    except ChunkedEncodingError as error:
        raise DataError(f"{url} broke off ({brief(error)}); try again.") from error
    except (RequestException, OSError) as error:
        raise DataError(f"{url} cannot be downloaded ({brief(error)}).") from error
    except ValueError as error:
        raise DataError(
            f"{url} does not have the published SHA-256 {sha256}; it was thrown away: try again later or "
            "fetch it elsewhere."
        ) from error
    finally:
        logger.setLevel(level)
        for answer in answers:  # of a download that was interrupted, pooch leaves the connection open
            answer.close()
    return target


class _Counter:
    """What pooch takes for a progress bar: it counts bytes, and passes them on."""

    total = 0
    """Set by pooch before the first bytes; 0 if the publisher does not tell."""

    def __init__(self, name: str, progress: Progress | None) -> None:
        self._name, self._progress, self._received = name, progress, 0

    def update(self, size: int) -> None:
        self._received += size  # the last piece is smaller than pooch says
        if self.total:
            self._received = min(self._received, self.total)
        if self._progress is not None:
            self._progress(self._name, self._received, self.total or None)

    def reset(self) -> None:
        """Called at the end, before all bytes are counted once more."""

    def close(self) -> None:
        """There is nothing to close."""


def _pooch() -> ModuleType:
    try:
        import pooch
    except ImportError:
        raise DataError("downloading needs pooch: pip install 'dissensus[datasets]'.") from None
    module: ModuleType = pooch
    return module
