"""A round trip through MLflow's own save and load, without a pickle on the way."""

import numpy as np
import pytest

# MLflow warns about its own type hints while it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*type hint:UserWarning")


@pytest.fixture(scope="module", autouse=True)
def mlflow():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("mlflow", reason="MLflow is not installed: make test-integrations")
        return pytest.importorskip("mlflow.pyfunc", reason="pandas is not installed: make test-integrations")


@pytest.fixture
def saved(gate, tmp_path):
    from dissensus.integrations.mlflow import save_model

    save_model(gate, tmp_path / "model")
    return tmp_path / "model"


def test_a_round_trip_decides_alike(mlflow, gate, saved, inliers, outliers):
    loaded = mlflow.load_model(str(saved))
    asked = np.concatenate([inliers[:10], outliers])
    table, expected = loaded.predict(asked), gate.decide(asked)
    assert list(table.columns) == ["score", "p_value", "flagged"]
    for name, column in expected._asdict().items():
        np.testing.assert_array_equal(table[name], column)
    assert table["flagged"][10:].all()


def test_a_data_frame_keeps_its_index(mlflow, saved, inliers):
    import pandas as pd

    frame = pd.DataFrame(inliers[:4], index=["a", "b", "c", "d"])
    assert list(mlflow.load_model(str(saved)).predict(frame).index) == ["a", "b", "c", "d"]


def test_code_of_ones_own_is_passed_again(inliers, tmp_path, monkeypatch):
    import importlib
    import shutil
    from pathlib import Path

    from dissensus import Detector
    from dissensus.errors import ArtifactError
    from dissensus.integrations.mlflow import load_model, save_model

    shutil.copy(Path(__file__).parents[2] / "examples/own_model.py", tmp_path / "model_for_mlflow.py")
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("model_for_mlflow").ProbabilisticPCA
    gate = Detector(model=own, epochs=2, draws=2, false_alarm_rate=0.1, device="cpu").fit(inliers)
    save_model(gate, tmp_path / "own")
    table = load_model(tmp_path / "own", model=own, device="cpu").predict(inliers[:5])
    np.testing.assert_array_equal(table["score"], gate.decide(inliers[:5]).score)
    with pytest.raises(ArtifactError, match="its model is model_for_mlflow:ProbabilisticPCA"):
        load_model(tmp_path / "own")


def test_there_is_no_pickle(saved):
    files = {path.name for path in saved.rglob("*") if path.is_file()}
    assert {"MLmodel", "config.json", "draws.safetensors", "calibration.safetensors"} <= files
    assert not [name for name in files if name.endswith((".pkl", ".pickle", ".joblib", ".pt"))]
    assert "dissensus[mlflow]==" in (saved / "requirements.txt").read_text("utf-8")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # MLflow leaves a listing open
def test_an_existing_model_is_not_overwritten(mlflow, gate, saved):
    from dissensus.integrations.mlflow import save_model

    before = {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()}
    with pytest.raises(Exception, match="exists"):
        save_model(gate, saved)
    assert {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()} == before
