"""pytorch-ood's own interface: its base class, its exceptions, its metrics."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from dissensus import BayesianVAE
from dissensus.errors import DataError

api = pytest.importorskip("pytorch_ood.api", reason="pytorch-ood is not installed: make test-integrations")


def settings(**others):
    return BayesianVAE(epochs=20, draws=4, samples=4, false_alarm_rate=0.1, device="cpu", **others)


@pytest.fixture(scope="module")
def rows(inliers):
    return torch.from_numpy(inliers)


@pytest.fixture(scope="module")
def detector(rows):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    loader = DataLoader(TensorDataset(rows, torch.arange(len(rows)) % 10), batch_size=64)
    return PyTorchOODDetector(settings()).fit(loader)


def test_it_is_a_detector_of_pytorch_ood(detector, rows):
    assert isinstance(detector, api.Detector)
    assert detector.requires_fit
    scores = detector(rows[:7])  # calling it is predicting
    assert scores.shape == (7,)
    assert torch.equal(scores, detector.predict(rows[:7]))


def test_a_loader_is_fitted_like_its_tensor(detector, rows):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    plain = PyTorchOODDetector(settings()).fit(rows)
    assert torch.equal(plain.predict(rows), detector.predict(rows))
    batches = PyTorchOODDetector(settings()).fit(DataLoader(rows, batch_size=50))
    assert torch.equal(batches.predict(rows), detector.predict(rows))


def test_its_own_metrics_see_outliers_score_higher(detector, rows, outliers):
    from pytorch_ood.metrics import OODMetrics

    metrics = OODMetrics()
    metrics.update(detector(rows), torch.zeros(len(rows)))
    metrics.update(detector(torch.from_numpy(outliers)), -torch.ones(len(outliers)))
    assert metrics.compute()["AUROC"] > 0.95


def test_inputs_marked_as_outliers_are_left_out(detector, rows, outliers):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    mixed = torch.cat([rows, torch.from_numpy(outliers)])
    labels = torch.cat([torch.zeros(len(rows)), -torch.ones(len(outliers))])
    fitted = PyTorchOODDetector(settings()).fit([(mixed, labels)])
    assert torch.equal(fitted.predict(rows), detector.predict(rows))


def test_images_have_their_channels_first():
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    generator = torch.Generator().manual_seed(0)
    images = torch.rand(60, 3, 8, 10, generator=generator)
    fitted = PyTorchOODDetector(settings(widths=(4,), latent_size=2)).fit(images)
    assert fitted.gate.preprocessor_.shape == (8, 10, 3)
    expected = -fitted.gate.score_samples(images.permute(0, 2, 3, 1).numpy())
    torch.testing.assert_close(fitted(images), torch.from_numpy(expected))
    with pytest.raises(DataError, match="shape"):
        fitted(images.permute(0, 2, 3, 1))


def test_a_fitted_gate_is_used_as_it_is(gate, rows):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    scores = PyTorchOODDetector(gate).predict(rows)
    torch.testing.assert_close(scores, torch.from_numpy(-gate.score_samples(rows.numpy())))


def test_the_documented_errors(rows):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    unfitted = PyTorchOODDetector()
    with pytest.raises(api.RequiresFittingException):
        unfitted.predict(rows)
    with pytest.raises(NotImplementedError, match="fit"):
        unfitted.fit_features(rows, None)
    with pytest.raises(NotImplementedError, match="predict"):
        unfitted.predict_features(rows)


def test_it_moves(gate, rows):
    from dissensus.integrations.pytorch_ood import PyTorchOODDetector

    detector = PyTorchOODDetector(gate).to("cpu")
    assert detector.device == torch.device("cpu")
    assert detector.gate.device == "cpu"
    assert detector(rows[:2]).device == torch.device("cpu")
