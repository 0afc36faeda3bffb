import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console
from scipy.stats import entropy

from benchmarks.paper.classifiers import class_probabilities, mutual_information, train_classifier
from benchmarks.paper.latent import measure_latent
from dissensus.evaluation import auroc


def test_mutual_information_against_entropies():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 6))
    expected = entropy(p.mean(0), axis=-1) - entropy(p, axis=-1).mean(0)
    np.testing.assert_allclose(mutual_information(torch.from_numpy(p)).numpy(), expected)


def test_classifiers_learn_and_repeat_themselves():
    labels = torch.arange(120) % 3
    images = torch.randint(
        0, 40, (120, 1, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    images[labels == 1, :, :4] += 180
    images[labels == 2, :, 4:] += 180
    first, again, other = (
        train_classifier(images, labels, epochs=20, seed=seed, batch_size=16) for seed in (0, 0, 1)
    )
    p = class_probabilities([first, again, other], images / 255, batch_size=50)
    assert p.shape == (3, 120, 3)
    assert (p[0].argmax(1) == labels).all()
    assert torch.equal(p[0], p[1])
    assert not torch.equal(p[0], p[2])


def test_record_scores_and_labels_agree(tmp_path):
    path = measure_latent(
        tmp_path, "converged", 0, quick=True, device=torch.device("cpu"), console=Console(quiet=True)
    )
    record = json.loads(path.read_text())
    with np.load(tmp_path / record["scores"]) as arrays:
        inside = arrays["in_distribution"]
        assert inside.sum() == 6
        # The lower half of the proxy is in-distribution.
        assert arrays["proxy"][inside].max() <= arrays["proxy"][~inside].min()
        for name in ("BVAE1", "Annulus", "qz"):
            found = auroc(arrays[name][inside], arrays[name][~inside])
            assert record["metrics"][name]["auroc"] == pytest.approx(found)
    assert record["settings"]["sampling"]["chains"] == 1  # chains have latent spaces of their own
    written = path.stat().st_mtime_ns
    measure_latent(
        tmp_path, "converged", 0, quick=True, device=torch.device("cpu"), console=Console(quiet=True)
    )
    assert path.stat().st_mtime_ns == written


def test_other_settings_are_measured_anew(tmp_path, monkeypatch):
    from benchmarks.paper import latent

    def measured():
        path = measure_latent(
            tmp_path, "converged", 0, quick=True, device=torch.device("cpu"), console=Console(quiet=True)
        )
        return json.loads(path.read_text())["settings"]["latent"]["points"]

    assert measured() == 12
    monkeypatch.setattr(latent, "LATENT_QUICK", replace(latent.LATENT_QUICK, points=10))
    assert measured() == 10
