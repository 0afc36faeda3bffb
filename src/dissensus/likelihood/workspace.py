"""Copies of a VAE to load draws into, kept from call to call: making one takes as long as scoring with it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from dissensus.models import VAE

__all__ = ["on_device", "use_weights", "workspace"]

_Key = tuple[torch.device, tuple[int, ...]]

_lock = threading.Lock()
_free: WeakKeyDictionary[VAE, dict[_Key, list[VAE]]] = WeakKeyDictionary()


@contextmanager
def workspace(vae: VAE, device: torch.device) -> Iterator[VAE]:
    """A copy of ``vae`` on ``device`` that nobody else uses meanwhile; its weights are whatever they were.

    Any number of threads may ask at once: each gets its own. Copies live as long as the VAE does.
    """
    key = (device, tuple(map(id, vae.modules())))  # a network that was exchanged needs another copy
    with _lock:
        waiting = _free.setdefault(vae, {}).setdefault(key, [])
        own = waiting.pop() if waiting else None
    if own is None:
        own = copy.deepcopy(vae).to(device)
    else:
        _take_over_the_rest(own, vae)
    try:
        yield own
    finally:
        with _lock:
            waiting.append(own)


def _take_over_the_rest(own: VAE, vae: VAE) -> None:
    """What is no part of a draw (frozen weights, buffers) may have changed since the copy was made."""
    rest = {name: p for name, p in vae.named_parameters() if not p.requires_grad} | dict(vae.named_buffers())
    if rest:
        state = own.state_dict(keep_vars=True)
        with torch.no_grad():
            for name, value in rest.items():
                if name in state:
                    state[name].copy_(value)


def use_weights(
    parameters: Mapping[str, Tensor], weights: Mapping[str, Tensor], device: torch.device
) -> None:
    """Copies weights into a network's own memory, its ``parameters`` by name.

    To use them where they lie would save little and give other bits: in a file they lie otherwise than in
    memory, and kernels add up in another order at another alignment.
    """
    with torch.no_grad():
        for name, tensor in weights.items():
            parameters[name].copy_(on_device(tensor, device))


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor there, without waiting: a GPU takes pinned memory when its work before that is done."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
