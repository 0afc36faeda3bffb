from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console
from scipy.stats import entropy

from benchmarks.archive import Archive
from benchmarks.paper import figures, latent
from benchmarks.paper.classifiers import class_probabilities, mutual_information, train_classifier
from benchmarks.paper.latent import latent_tasks
from benchmarks.records import Records
from benchmarks.runner import measure
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


def made(tmp_path):
    records = Records(tmp_path / "results", quick=True)
    tasks = latent_tasks(["settled"], [0], quick=True)
    where = tmp_path / "cache"
    assert measure(records, tasks, cache=where, device=torch.device("cpu"), console=Console(quiet=True)) == []
    alone, together = records.read("latent")
    assert (together.name, together.settings["sampling"]["chains"]) == ("settled-shared-encoder", 2)
    return alone


def test_record_scores_and_labels_agree(tmp_path):
    record = made(tmp_path)
    (path,) = (tmp_path / "cache").glob("latent-settled-seed*.npz")
    arrays = Archive.load(path)
    # The lower half of the proxy is in-distribution.
    inside = arrays["proxy"] < np.sort(arrays["proxy"])[6]
    assert inside.sum() == 6
    scores = arrays.below("score")
    assert list(scores) == ["BVAE1", "BVAE1-mean-D", "Annulus", "qz", "information", "norm", "kNN"]
    own = scores["BVAE1-mean-D"]
    assert ((own >= -3) & (own <= -1)).all()  # effective sample sizes of three draws
    for row in record.rows:
        found = auroc(scores[row["score"]][inside], scores[row["score"]][~inside])
        assert row["auroc"] == pytest.approx(found)
    assert set(record.about["roc"]) == set(scores)
    assert len(record.about["classifier_accuracy"]) == 2
    assert record.settings["sampling"]["chains"] == 1  # chains have latent spaces of their own


def test_other_settings_are_measured_anew(tmp_path, monkeypatch):
    assert made(tmp_path).settings["latent"]["points"] == 12
    monkeypatch.setattr(latent, "LATENT_QUICK", replace(latent.LATENT_QUICK, points=10))
    assert made(tmp_path).settings["latent"]["points"] == 10


def test_every_score_has_a_colour_in_the_figure():
    assert set(latent.SCORES) <= set(figures.COLOURS)
