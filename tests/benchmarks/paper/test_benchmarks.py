import numpy as np
import pytest
import torch

from benchmarks.paper.benchmarks import BENCHMARKS, GROUPS, Sizes, expand, load_inputs, load_training
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import hold_out_classes

SIZES = Sizes(training=64, test=12, validation=8, typical=6)


def rows(images):
    return {image.numpy().tobytes() for image in images}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_parts_never_overlap_and_classes_are_balanced(name):
    inputs = load_inputs(BENCHMARKS[name], SIZES, seed=0)
    channels = 3 if "svhn" in name else 1
    assert inputs.training.dtype == torch.uint8
    assert inputs.training.shape[1] == channels
    assert len(inputs.training) == 64
    assert len(inputs.inliers) == len(inputs.outliers) == 12
    assert not rows(inputs.training) & rows(inputs.validation)
    assert not rows(inputs.inliers) & rows(inputs.outliers)
    assert rows(inputs.typical) <= rows(inputs.training)
    assert torch.equal(inputs.test[:12], inputs.inliers)


def test_held_out_classes_are_never_trained_on(tiny_world):
    from benchmarks.paper import benchmarks

    source = benchmarks.load_dataset("fashion-mnist", "train")
    _, outliers = hold_out_classes(source.labels, (4, 5))
    forbidden = rows(torch.from_numpy(source.images[outliers][:, None].copy()))
    everything = Sizes(training=None, test=5000, validation=8, typical=6)
    inputs = load_inputs(BENCHMARKS["fashion-mnist-heldout-45"], everything, seed=0)
    assert not (rows(inputs.training) | rows(inputs.validation)) & forbidden
    assert len(inputs.training) == 96 - 8
    # 96 inliers and 24 outliers are there: as many of each as of the scarcer.
    assert len(inputs.inliers) == len(inputs.outliers) == 24


def test_the_seed_chooses():
    benchmark = BENCHMARKS["fashion-mnist-vs-mnist"]
    first, again, other = (load_inputs(benchmark, SIZES, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(first.test, again.test)
    assert torch.equal(first.training, again.training)
    assert rows(first.inliers) != rows(other.inliers)
    assert rows(first.validation) != rows(other.validation)


def test_training_alone_reads_no_outlier(monkeypatch):
    from benchmarks.paper import benchmarks

    read, load = [], benchmarks.load_dataset
    monkeypatch.setattr(
        benchmarks, "load_dataset", lambda name, split: read.append((name, split)) or load(name, split)
    )
    load_training(BENCHMARKS["svhn-vs-cifar10"], SIZES, seed=0)
    assert read == [("svhn", "train")]


def test_the_held_out_group_covers_every_class_once():
    members = [BENCHMARKS[name] for name in GROUPS["fashion-mnist-heldout"]]
    assert sorted(np.concatenate([member.held_out for member in members])) == list(range(10))
    assert {member.background_rate for member in members} == {0.15}
    assert BENCHMARKS["fashion-mnist-vs-mnist"].background_rate == 0.2


def test_refusals():
    with pytest.raises(SettingsError, match="no benchmark 'mnist'"):
        expand(["mnist"])
    with pytest.raises(DataError, match="validation"):
        load_training(BENCHMARKS["fashion-mnist-vs-mnist"], Sizes(None, 5, 500, 5), seed=0)
