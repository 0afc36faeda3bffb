"""The detector as one of pytorch-ood's: fitted on a loader, tensors in and out, outliers score higher."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, Self

import torch
from sklearn.base import clone
from torch import Tensor

from dissensus import detector
from dissensus.models.inputs import channels_last

try:
    from pytorch_ood.api import Detector, RequiresFittingException
except ImportError as error:
    raise ImportError("this adapter needs pytorch-ood: pip install 'dissensus[pytorch-ood]'") from error

__all__ = ["PyTorchOODDetector"]


class PyTorchOODDetector(Detector):  # type: ignore[misc]
    """A :class:`~dissensus.Detector` with pytorch-ood's interface.

    ``gate`` holds the settings, or a detector that is fitted already and then used as it is; ``None`` is a
    ``Detector()``. Images are (B, C, H, W) as in PyTorch, uint8 or float in [0, 1]; rows are (B, D).
    """

    requires_fit = True

    def __init__(self, gate: detector.Detector | None = None) -> None:
        super().__init__()
        self.gate = gate if gate is not None else detector.Detector()

    def fit(self, data_loader: Tensor | Iterable[Any]) -> Self:
        """Learns what is normal from a loader's batches ``x`` or ``(x, y)``, or from one tensor.

        Labels are used for pytorch-ood's convention alone: inputs with y < 0 are outliers and left out.
        """
        batches = [data_loader] if isinstance(data_loader, Tensor) else data_loader
        self.gate = clone(self.gate).fit(channels_last(torch.cat([_known(batch) for batch in batches])))
        return self

    def predict(self, x: Tensor) -> Tensor:
        """Scores (B,) in float64; higher = more of an outlier."""
        if not self.gate.__sklearn_is_fitted__():
            raise RequiresFittingException
        return torch.from_numpy(-self.gate.score_samples(channels_last(x))).to(x.device)

    def to(self, device: str | torch.device) -> Self:
        """Scores on this device from now on."""
        self.gate.device = str(device)
        super().to(device)
        return self

    # Older versions of pytorch-ood demand these of every detector.

    def fit_features(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: there is no classifier whose features could be used."""
        raise NotImplementedError("this detector learns from inputs, not from features: use fit(data_loader)")

    def predict_features(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: there is no classifier whose features could be used."""
        raise NotImplementedError("this detector scores inputs, not features: use predict(x)")


def _known(batch: Any) -> Tensor:
    """The inputs of a batch that are not marked as outliers."""
    if isinstance(batch, Tensor):
        return batch
    x, *labels = batch
    inputs: Tensor = x[labels[0] >= 0] if labels else x
    return inputs
