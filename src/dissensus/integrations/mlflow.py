"""The detector as an MLflow model, kept as its own files: MLflow imports this module to load them.

No pickle is involved: MLflow's ``loader_module`` names this module, and its ``_load_pyfunc`` reads a gate.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from dissensus._version import __version__
from dissensus.detector import Detector

try:
    import mlflow.models
    import mlflow.pyfunc
    import pandas as pd
except ImportError as error:
    raise ImportError("this adapter needs MLflow: pip install 'dissensus[mlflow]'") from error

__all__ = ["GateModel", "load_model", "save_model"]


class GateModel:
    """What ``mlflow.pyfunc.load_model`` gives its callers: rows or images in, decisions out."""

    def __init__(self, gate: Detector) -> None:
        self.gate = gate

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:  # noqa: ARG002
        """A row an input: ``score`` (higher = more unusual), ``p_value`` and ``flagged``."""
        index = model_input.index if isinstance(model_input, pd.DataFrame) else None
        return pd.DataFrame(self.gate.decide(model_input)._asdict(), index=index)


def save_model(gate: Detector, path: str | Path, **settings: Any) -> None:
    """Writes an MLflow model; ``settings`` are those of ``mlflow.pyfunc.save_model``, such as a signature."""
    settings.setdefault("pip_requirements", [f"dissensus[mlflow]=={__version__}"])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "gate")
        gate.save(folder)
        mlflow.pyfunc.save_model(path=str(path), loader_module=__name__, data_path=str(folder), **settings)


def load_model(path: str | Path, **own: Any) -> GateModel:
    """Reads what :func:`save_model` wrote to a folder, with code of your own passed as to ``Detector.load``.

    ``mlflow.pyfunc.load_model`` does the same for gates that need no such code: it cannot pass any.
    """
    flavour = mlflow.models.Model.load(str(path)).flavors["python_function"]
    return GateModel(Detector.load(Path(path, flavour["data"]), **own))


def _load_pyfunc(path: str) -> GateModel:
    """Called by MLflow with the folder that :func:`save_model` gave it."""
    return GateModel(Detector.load(path))
