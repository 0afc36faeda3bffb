"""Clients that try to keep a service from answering others, on this machine alone and for a bounded time.

``python -m benchmarks.service.attacks NAME PORT --seconds 20`` runs one by itself, against a service at
127.0.0.1 that was started for it. Each is a coroutine; a
:class:`~benchmarks.service.attacks.target.Target` says where, until when, and how hard.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import NamedTuple

from benchmarks.service.attacks.batches import large_batches
from benchmarks.service.attacks.bodies import near_boundaries, stalled_uploads, tiny_chunks
from benchmarks.service.attacks.connections import never_reading, silent
from benchmarks.service.attacks.pictures import large_pictures, many_scans
from benchmarks.service.attacks.target import Target

__all__ = ["ATTACKS", "Attack", "Target"]


class Attack(NamedTuple):
    """One way to be a nuisance."""

    sentence: str
    run: Callable[[Target], Coroutine[None, None, None]]


ATTACKS: Mapping[str, Attack] = {
    "silent": Attack("1,100 connections that say nothing, with 1,024 files for the service", silent),
    "never-reading": Attack("270 clients that send request after request and read no answer", never_reading),
    "stalled-uploads": Attack("eight uploads of 32 MiB that stop one byte before their end", stalled_uploads),
    "near-boundaries": Attack("forms of 32 MiB that are almost boundaries throughout", near_boundaries),
    "tiny-chunks": Attack("bodies in chunks of one byte, on four connections", tiny_chunks),
    "large-pictures": Attack("eight pictures of 5000×5000 pixels at once, of 1 KB each", large_pictures),
    "many-scans": Attack(
        "four clients with JPEGs of 5000×5000 pixels in up to 6,000 scans, of 300 KB", many_scans
    ),
    "large-batches": Attack("two clients whose requests have 256 pictures each", large_batches),
}
