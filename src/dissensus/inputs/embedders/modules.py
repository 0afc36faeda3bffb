"""A torch module as an embedder, known again by the digest of its weights."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import numpy as np
import torch
from torch import nn

from dissensus.errors import SettingsError, brief
from dissensus.inputs.embedders.contract import Embedder

__all__ = ["ModuleEmbedder"]

ON_A_GPU = 32  # inputs a call: one alone would wait for the kernels of the next


class ModuleEmbedder(Embedder):
    """Calls a copy of a module in eval mode, on the module's own device, or one of its methods.

    Pictures come to it as float32 in [0, 1] (n, C, H, W), rows as float32 (n, D), anything else as a list.
    """

    def __init__(self, module: nn.Module, method: str | None = None) -> None:
        try:
            self.module = copy.deepcopy(module).eval()  # training that goes on must not change a gate
        except Exception as error:  # whatever its own code raises
            raise SettingsError(
                f"the embedder {type(module).__name__} cannot be copied ({brief(error)}): detach its tensors"
            ) from error
        self.method = method
        weights = next(self.module.parameters(), None)
        self.device = torch.device("cpu") if weights is None else weights.device
        self.parallel = self.device.type == "cpu"
        self.batch = 1 if self.parallel else ON_A_GPU

    def __call__(self, batch: Any, /) -> Any:
        """What the module gives, without gradients."""
        function = self.module if self.method is None else getattr(self.module, self.method)
        with torch.inference_mode():
            if not isinstance(batch, np.ndarray):
                return function(batch)
            inputs = torch.from_numpy(batch).to(self.device)
            return function(inputs.float() / 255 if inputs.dtype == torch.uint8 else inputs.float())

    def config(self) -> dict[str, Any]:
        """Return no arguments: a module is known by the SHA-256 of its weights, which are not saved."""
        return {}

    def digest(self) -> str:
        """Return the SHA-256 of the names, types, shapes and values of all weights and buffers."""
        found = hashlib.sha256()
        for name, tensor in sorted(self.module.state_dict().items()):
            if not isinstance(tensor, torch.Tensor):
                continue
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            found.update(flat.view(torch.uint8).numpy().data)
        return found.hexdigest()

    @property
    def code(self) -> Any:
        """Return the module's class, or the function of the method that was given."""
        kind = type(self.module)
        return kind if self.method is None else getattr(kind, self.method)
