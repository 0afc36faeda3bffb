"""API keys: made here, kept as hashes, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers

from dissensus.destination import write_output
from dissensus.errors import SettingsError

__all__ = ["KeyFile", "new_key", "presented"]

PREFIX = "dsk_"
LINE = re.compile(
    r"(?P<name>[A-Za-z0-9._@-]{1,100}) sha256:(?P<hash>[0-9a-f]{64})"
    r"( inputs-a-minute:(?P<quota>[1-9][0-9]{0,8}))?"
)
LONGEST_KEY = 200
ABOUT = (
    "# API keys of a dissensus service: a name, the SHA-256 of its key, and perhaps inputs-a-minute:NUMBER. "
    "Remove a line to revoke it.\n"
)


def new_key(path: Path, name: str, quota: int | None = None) -> str:
    """Makes a key of 256 random bits, adds its hash to the file, and returns it: it is kept nowhere."""
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path} is no regular file: name a file for the hashes of API keys")
    known, mode = (KeyFile(path).names, path.stat().st_mode) if path.exists() else ([], 0o600)
    if LINE.fullmatch(f"{name} sha256:{'0' * 64}") is None:
        raise SettingsError(f"a key's name is made of letters, digits and . _ @ -, not {name!r}")
    if name in known:
        raise SettingsError(
            f"{path} has a key named {name!r} already: remove its line or choose another name"
        )
    key = PREFIX + secrets.token_urlsafe(32)
    before = path.read_text("utf-8") if path.exists() else ABOUT
    own = "" if quota is None else f" inputs-a-minute:{quota}"
    write_output(path, f"{before.rstrip()}\n{name} sha256:{_hash(key).hex()}{own}\n".encode())
    path.chmod(stat.S_IMODE(mode))  # an operator may have opened it to the service's user
    return key


@dataclass(frozen=True)
class _Key:
    name: str
    hash: bytes
    quota: int | None


class KeyFile:
    """The keys that are let in; :meth:`refresh` sees those added and removed while serving.

    Keys have 256 random bits, so no guessing makes a slow hash necessary: SHA-256 is enough, and costs a
    request next to nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, int, int] | None = None
        self._keys: tuple[_Key, ...] = ()
        self.refresh()

    @property
    def names(self) -> list[str]:
        """Of the keys."""
        return [key.name for key in self._keys]

    @property
    def quotas(self) -> dict[str, int]:
        """Inputs a minute of the keys that have a number of their own, by name."""
        return {key.name: key.quota for key in self._keys if key.quota is not None}

    def refresh(self) -> bool:
        """Reads the file again if it has changed; whether it had. A file that is not one is an error.

        One whose last key was removed lets nobody in, but no service starts with it.
        """
        try:
            about = self.path.stat()
            stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
            if stamp == self._stamp:
                return False
            lines = self.path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{self.path} cannot be read as a file of API keys: make one with --new-key NAME"
            ) from error
        keys = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = LINE.fullmatch(line.strip())
            if match is None:
                raise SettingsError(f"{self.path} has no name and hash in line {number}: repair or remove it")
            quota = None if match["quota"] is None else int(match["quota"])
            keys.append(_Key(match["name"], bytes.fromhex(match["hash"]), quota))
        if not keys and self._stamp is None:
            raise SettingsError(f"{self.path} holds no key: make one with --new-key NAME")
        self._keys, self._stamp = tuple(keys), stamp
        return True

    def name_of(self, key: str | None) -> str | None:
        """Whose key it is; None if nobody's. All keys are compared, whichever it is."""
        digest = _hash((key or "")[:LONGEST_KEY])
        found = None
        for known in self._keys:
            if hmac.compare_digest(known.hash, digest):
                found = known.name
        return found if key else None


def presented(headers: Headers) -> str | None:
    """The key in ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return headers.get("x-api-key") or None


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
