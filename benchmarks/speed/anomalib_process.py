"""anomalib's quickest detectors, timed by the interpreter of the environment that anomalib is installed in.

Run as a script, with nothing of this package: reads requests as lines of JSON, answers with seconds. The
networks before the detectors have random weights, which makes no difference to the time.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

# A torch for CPUs cannot load the operators of a torchvision that was built for GPUs, and without them
# torchvision is not imported. Nothing here calls them: it is enough that they have names.
OPERATORS, SCHEMA = ("nms", "qnms"), "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"

__all__: list[str] = []


def _dfkde() -> Any:
    """A density of a network's last features: the method with the least to do beside the network."""
    from anomalib.models.image.dfkde.torch_model import DfkdeModel

    return DfkdeModel(backbone="resnet18", layers=["layer4"], pre_trained=False)


def _padim() -> Any:
    from anomalib.models.image.padim.torch_model import PadimModel

    return PadimModel(backbone="resnet18", layers=["layer1", "layer2", "layer3"], pre_trained=False)


MODELS: dict[str, Callable[[], Any]] = {"DFKDE": _dfkde, "PaDiM": _padim}
FITTED, AT_ONCE = 64, 16
_fitted: dict[tuple[str, int], Any] = {}


def fit(model: str, side: int) -> str:
    """Fits a detector to colour pictures of noise; says which anomalib this is."""
    import anomalib

    torch.manual_seed(0)
    own = MODELS[model]().train()
    with torch.no_grad():
        for _ in range(FITTED // AT_ONCE):
            own(torch.rand(AT_ONCE, 3, side, side))
        own.fit()
    _fitted[model, side] = own.eval()
    return str(anomalib.__version__)


def seconds(model: str, side: int, count: int) -> list[float]:
    """From uint8 pictures to scores, on the clock and of all cores' time together."""
    pictures = torch.randint(0, 256, (count, 3, side, side), dtype=torch.uint8)
    began, busy = time.perf_counter(), time.process_time()
    with torch.inference_mode():
        _fitted[model, side](pictures.float() / 255)
    return [time.perf_counter() - began, time.process_time() - busy]


ANSWERS: dict[str, Callable[..., Any]] = {"fit": fit, "seconds": seconds}


def main() -> None:
    """Answers until the input ends."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the packages print is no answer
    if not torch.cuda.is_available():
        library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
        for name in OPERATORS:
            library.define(name + SCHEMA)  # type: ignore[no-untyped-call]
    for line in sys.stdin:
        request = json.loads(line)
        answer = ANSWERS[request.pop("do")](**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
