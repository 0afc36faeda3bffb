"""Copies of a model to load draws into, kept from call to call: making one takes as long as scoring."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws

__all__ = ["Weights", "on_device", "workspace"]

Model = TypeVar("Model", bound=GenerativeModel)
_Key = tuple[torch.device, tuple[int, ...]]
_Parameters: TypeAlias = dict[str, dict[str, nn.Parameter]]

_lock = threading.Lock()
_free: WeakKeyDictionary[GenerativeModel, dict[_Key, list[GenerativeModel]]] = WeakKeyDictionary()
_parameters: WeakKeyDictionary[GenerativeModel, _Parameters] = WeakKeyDictionary()
"""Of each copy: to go through a network's modules takes longer than to copy their weights."""


@contextmanager
def workspace(model: Model, device: torch.device) -> Iterator[Model]:
    """A copy of ``model`` on ``device`` that nobody else uses meanwhile; its weights are whatever they were.

    Any number of threads may ask at once: each gets its own. Copies live as long as the model does.
    """
    key = (device, tuple(map(id, model.modules())))  # a network that was exchanged needs another copy
    with _lock:
        waiting = _free.setdefault(model, {}).setdefault(key, [])
        own = waiting.pop() if waiting else None
    if own is None:
        own = copy.deepcopy(model).to(device)
        _parameters[own] = _parameters_of(own)
    else:
        _take_over_the_rest(own, model)
    try:
        yield cast("Model", own)
    finally:
        with _lock:
            waiting.append(own)


def _parameters_of(model: GenerativeModel) -> _Parameters:
    return {part: dict(module.named_parameters()) for part, module in model.parts().items()}


def _take_over_the_rest(own: GenerativeModel, model: GenerativeModel) -> None:
    """What is no part of a draw (frozen weights, buffers) may have changed since the copy was made."""
    frozen: dict[str, Tensor] = {name: p for name, p in model.named_parameters() if not p.requires_grad}
    rest = frozen | dict(model.named_buffers())
    if rest:
        state = own.state_dict(keep_vars=True)
        with torch.no_grad():
            for name, value in rest.items():
                if name in state:
                    state[name].copy_(value)


class Weights:
    """A model's own memory, and which draw's weights each of its parts holds at the moment.

    Weights are copied. To use them where they lie would save little and give other bits: in a file they lie
    otherwise than in memory, and kernels add up in another order at another alignment.
    """

    def __init__(self, model: GenerativeModel, draws: WeightDraws, device: torch.device) -> None:
        self.draws, self.device = draws, device
        self.parameters = _parameters.get(model) or _parameters_of(model)
        self.held: dict[str, int] = {}

    def load(self, draw: int, parts: Iterable[str] | None = None) -> bool:
        """Gives some parts, by default all, the weights of a draw; says whether that changed anything."""
        changed = False
        for part in self.parameters if parts is None else parts:
            number = int(self.draws.parts[part].of[draw])
            if self.held.get(part) == number:
                continue
            self.held[part], changed = number, True
            with torch.no_grad():
                weights = self.draws.parts[part].weights(number)
                own: list[Tensor] = [self.parameters[part][name] for name in weights]
                if own:  # One call for all: with one for each, Python takes longer than the copying.
                    torch._foreach_copy_(own, [on_device(tensor, self.device) for tensor in weights.values()])
        return changed


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor there, without waiting: a GPU takes pinned memory when its work before that is done."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
