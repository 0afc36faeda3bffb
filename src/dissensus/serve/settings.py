"""What an operator may choose, refused at once where it cannot work."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from dissensus.errors import SettingsError
from dissensus.evaluation import cores

__all__ = ["LOOPBACK_NAMES", "ServeSettings", "is_loopback"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
MEBIBYTE = 1 << 20
ANYBODY = "*"  # as the name of a reviewer


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """All settings of a service; the defaults suit a small machine."""

    host: str = "127.0.0.1"
    port: int = 8000
    allowed_hosts: tuple[str, ...] = ()
    """Names that the service is known by; empty: those of this machine if ``host`` is loopback, else any."""
    default: str | None = None
    """The gate that answers where none is named; None: the only one, and none of several."""
    pinned: tuple[tuple[str, str], ...] = ()
    """Gates that have several versions, each with the version that answers where none is named."""
    workers: int | None = None
    """Batches scored at once; None: one a core, or one where a GPU does the work."""
    device: str = "cpu"
    max_batch: int = 32
    """Inputs scored in one call."""
    max_delay_ms: float = 5.0
    """How long the first input of a batch waits for company while a worker is free."""
    queue: int = 512
    """Inputs of one gate that may wait."""
    connections: int = 1000
    """At once; fewer where the system allows this process fewer open files."""
    max_body_mb: float = 32.0
    max_inputs: int = 256
    """Files or rows in one request."""
    max_pixels: int = 25_000_000
    """Of one picture, before it is brought to the gate's size."""
    decoders: int = 2
    """Processes that decode pictures, but for the small ones."""
    decode_timeout: float = 5.0
    """Seconds after which decoding one picture is given up."""
    timeout: float = 30.0
    """Seconds from a request's first byte to its answer."""
    poll: float = 2.0
    """Seconds between two looks at the gates' folder."""
    drain: float = 0.0
    """Seconds during which a stopping service still takes connections, but says that it is not ready."""
    keys: Path | None = None
    """The file of API keys' hashes."""
    operators: tuple[str, ...] = ()
    """Names of API keys that may load and unload gates."""
    reviewers: tuple[str, ...] = ()
    """Names of API keys that may confirm inputs, which changes gates on disk; ``*``: whoever may ask."""
    quota: int | None = None
    """Inputs a minute that each API key may send, unless its line in the file says otherwise."""
    no_keys_ok: bool = False
    """Whether other machines may ask without a key."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    webhook: str | None = None
    """Where drift alarms are posted to."""
    drift_confidence: float = 0.0
    """How surely the probability of a false drift alarm holds for each gate's own calibration set."""
    scores: tuple[str, ...] = ()
    """Scores of your own that gates were fitted with, as ``package:Class``; imported at the start."""
    models: tuple[str, ...] = ()
    """The same for models."""
    observations: tuple[str, ...] = ()
    """The same for observation models of VAEs."""
    embedders: tuple[str, ...] = ()
    """What gates embed their inputs by, as ``package:name`` or the path of an ONNX file."""
    traces: bool = False
    """Whether requests are traced with OpenTelemetry, whose environment variables say where to."""
    log_format: str = "json"

    def __post_init__(self) -> None:
        for name, least in (
            ("max_batch", 1),
            ("queue", 1),
            ("connections", 1),
            ("max_inputs", 1),
            ("max_pixels", 64),
            ("decoders", 1),
        ):
            if getattr(self, name) < least:
                raise SettingsError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if not 0 <= self.drift_confidence < 1:
            raise SettingsError(
                f"drift_confidence must be at least 0 and below 1, got {self.drift_confidence}"
            )
        for name in ("max_delay_ms", "drain"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} must be a number of at least 0, got {getattr(self, name)}")
        for name in ("max_body_mb", "decode_timeout", "timeout", "poll"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} must be a positive number, got {getattr(self, name)}")
        if self.quota is not None and self.quota < 1:
            raise SettingsError(f"quota must be at least 1, got {self.quota}")
        named = {*self.operators, *self.reviewers} - {ANYBODY}
        if self.keys is None and (named or self.quota is not None):
            raise SettingsError(
                "operators, reviewers and quotas are told by their API keys: give --keys FILE, too"
            )
        if self.workers is not None and self.workers < 1:
            raise SettingsError(f"workers must be at least 1, got {self.workers}")
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"port must lie in 0..65535, got {self.port}")
        if self.log_format not in ("json", "text"):
            raise SettingsError(f"log_format must be 'json' or 'text', got {self.log_format!r}")
        self._check_safety()

    def may_confirm(self, client: str | None) -> bool:
        """Whether who has the key of this name, or none, may say what inputs are."""
        return ANYBODY in self.reviewers or client in self.reviewers

    @property
    def max_body(self) -> int:
        """Bytes of one request's body."""
        return int(self.max_body_mb * MEBIBYTE)

    @property
    def decoder_memory(self) -> int:
        """Bytes of address space of one decoder: its libraries, and several copies of a picture."""
        return (1 << 30) + 64 * self.max_pixels

    @property
    def scheme(self) -> str:
        """Of the addresses that clients use."""
        return "http" if self.tls_cert is None else "https"

    @property
    def worker_count(self) -> int:
        """How many batches are scored at once."""
        if self.workers is not None:
            return self.workers
        return cores() if self.device == "cpu" else 1

    def _check_safety(self) -> None:
        if self.keys is None and not self.no_keys_ok and not is_loopback(self.host):
            raise SettingsError(
                f"host {self.host} lets other machines ask, and there are no API keys: give --keys FILE, or "
                "--no-keys-ok where something in front checks who asks"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            raise SettingsError("tls_cert and tls_key belong together: give both or none")
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not path.is_file():
                raise SettingsError(f"{path} is no file: name a certificate and its key in PEM format")
        if self.webhook is not None:
            try:
                address = urlsplit(self.webhook)
                known = address.scheme in ("http", "https") and address.hostname and address.port != 0
            except ValueError:  # a port that is none, a bracket that is not closed
                known = False
            if not known or "@" in address.netloc:
                raise SettingsError("webhook must be an http or https address without a user name in it")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
