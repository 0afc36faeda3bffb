"""Files from a publisher: checked against the published checksum, and in place only when whole."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from dissensus.errors import DataError

__all__ = ["Progress", "download_file", "download_members"]

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes received so far, and how many there will be (None if not told)."""

_CHUNK = 1 << 18
_TIMEOUT_SECONDS = 30


def download_file(url: str, folder: str | Path, *, md5: str, progress: Progress | None = None) -> Path:
    """Fetch ``url`` into ``folder`` under its own name; what fails leaves nothing behind."""
    name = url.rsplit("/", 1)[-1]
    with _scratch(Path(folder)) as scratch:
        received = _receive(url, Path(scratch, name), md5, progress)
        return received.replace(Path(folder, name))


def download_members(
    url: str, folder: str | Path, members: Iterable[str], *, md5: str, progress: Progress | None = None
) -> list[Path]:
    """Fetch the tar archive at ``url`` and put only the named regular ``members`` into ``folder``.

    A member lands under the last part of its name, so no name in the archive can reach outside.
    """
    import tarfile
    import zlib

    with _scratch(Path(folder)) as scratch:
        archive = _receive(url, Path(scratch, "archive"), md5, progress)
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


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A passing folder on the same disk as ``folder``, so that the last move is one atomic rename."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=folder, prefix=".download-")
    except OSError as error:
        raise DataError(f"{folder} cannot be written to ({error}).") from error


def _receive(url: str, target: Path, md5: str, progress: Progress | None) -> Path:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    # MD5 because that is what the publishers list.
    digest = hashlib.md5(usedforsecurity=False)
    received = 0
    try:
        with urlopen(url, timeout=_TIMEOUT_SECONDS) as answer, target.open("wb") as file:
            length = answer.headers.get("Content-Length")
            expected = int(length) if length else None
            while piece := answer.read(_CHUNK):
                file.write(piece)
                digest.update(piece)
                received += len(piece)
                if progress is not None:
                    progress(url.rsplit("/", 1)[-1], received, expected)
            file.flush()
            os.fsync(file.fileno())
    except HTTPError as refusal:
        with refusal:  # it is the answer too, and holds the connection open
            raise DataError(f"{url} cannot be downloaded ({refusal}).") from refusal
    except (OSError, HTTPException, ValueError) as error:
        raise DataError(f"{url} cannot be downloaded ({error}).") from error
    if expected is not None and received != expected:
        raise DataError(f"{url} broke off after {received} of {expected} bytes; try again.")
    if digest.hexdigest() != md5:
        raise DataError(
            f"{url} has MD5 {digest.hexdigest()} instead of the published {md5}; it was thrown away: try "
            "again later or fetch it elsewhere."
        )
    return target
