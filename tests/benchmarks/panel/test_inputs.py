from dataclasses import replace

import numpy as np
import pytest

from benchmarks.clusters import cluster_labels
from benchmarks.panel import inputs as module
from benchmarks.panel.inputs import FITTED_ON, FULL, MADE_UP_TO_LEARN, OF_TEST_FILE, QUICK, load_inputs
from benchmarks.panel.sets import CLUSTER_SETS, INLIER_SETS, expand, kind_of
from benchmarks.panel.tasks import panel_sizes
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import MADE_UP, image_statistics


def images_of(inputs, section):
    return {image.numpy().tobytes() for image in inputs.scored[inputs.sections[section]]}


def test_no_image_serves_two_purposes():
    sizes = replace(panel_sizes(quick=True), training=None)
    found = load_inputs(INLIER_SETS["mnist"], sizes, seed=3)
    parts = [{image.numpy().tobytes() for image in found.training}]
    parts += [images_of(found, section) for section in (*FITTED_ON, "inliers", OF_TEST_FILE)]
    assert [len(part) for part in parts] == [240 - 72, 24, 24, 24, 30, 36]
    assert len(set().union(*parts)) == sum(map(len, parts))
    assert list(found.sections)[4:-1] == ["fashion-mnist", "kmnist", "digits", *MADE_UP]
    assert all(part.stop - part.start == 12 for part in list(found.sections.values())[4:-1])
    assert (
        found.sections[OF_TEST_FILE].stop == len(found.scored) == sizes.scored(INLIER_SETS["mnist"], "test")
    )


@pytest.mark.parametrize("name", ["svhn", "fashion-mnist-heldout-45"])
def test_one_calibration_set_is_of_the_training_file_and_one_of_the_test_file(name):
    found = load_inputs(INLIER_SETS[name], panel_sizes(quick=True), seed=0)
    for section, split in ((FITTED_ON[-1], "train"), (OF_TEST_FILE, "test"), ("inliers", "test")):
        images = module.load_dataset(INLIER_SETS[name].dataset, split).images
        assert images_of(found, section) <= {np.moveaxis(image, -1, 0).tobytes() for image in images} | {
            image.tobytes() for image in images
        }


def test_the_second_calibration_set_moves_no_other_image():
    sizes = panel_sizes(quick=True)
    before = load_inputs(INLIER_SETS["svhn"], replace(sizes, test_calibration=0), seed=0)
    after = load_inputs(INLIER_SETS["svhn"], sizes, seed=0)
    assert (before.training == after.training).all()
    assert (before.scored == after.scored[: len(before.scored)]).all()


def test_made_up_outliers_are_made_of_test_images_that_serve_nothing_else():
    found = load_inputs(INLIER_SETS["svhn"], panel_sizes(quick=True), seed=0)
    back = 255 - found.scored[found.sections["inverted"]]
    bases = {image.numpy().tobytes() for image in back}
    test = {image.transpose(2, 0, 1).tobytes() for image in module.load_dataset("svhn", "test").images}
    assert bases <= test
    assert not bases & (images_of(found, "inliers") | images_of(found, OF_TEST_FILE))


@pytest.mark.parametrize("name", ["svhn", "fashion-mnist-heldout-45"])
def test_outliers_to_learn_from_are_made_of_training_images_and_move_no_other_image(name):
    sizes = panel_sizes(quick=True)
    before = load_inputs(INLIER_SETS[name], sizes, seed=0)
    after = load_inputs(INLIER_SETS[name], replace(sizes, made_up=10), seed=0)
    assert (before.training == after.training).all()
    assert (before.scored == after.scored[: len(before.scored)]).all()
    assert list(after.sections)[len(before.sections) :] == [MADE_UP_TO_LEARN + kind for kind in MADE_UP]
    back = 255 - after.scored[after.sections[f"{MADE_UP_TO_LEARN}inverted"]]
    assert (back == after.scored[after.sections["fusing"]][:10]).all()
    assert len(after.scored) == replace(sizes, made_up=10).scored(INLIER_SETS[name], "test")


def test_selection_reads_training_images_of_its_own_set_alone(monkeypatch):
    read, load = [], module.load_dataset
    monkeypatch.setattr(module, "load_dataset", lambda *what: read.append(what) or load(*what))
    monkeypatch.setattr(module, "digits", lambda: pytest.fail("digits are no training images"))
    found = load_inputs(INLIER_SETS["mnist"], panel_sizes(quick=True), seed=0, purpose="selection")
    assert read == [("mnist", "train")]
    assert list(found.sections)[4:] == list(MADE_UP)
    back = {(255 - image).numpy().tobytes() for image in found.scored[found.sections["inverted"]]}
    for section in (*FITTED_ON, "inliers"):
        assert not back & images_of(found, section)
    assert not back & {image.numpy().tobytes() for image in found.training}


def test_clusters_that_are_left_out_are_never_trained_on_and_no_test_image_is_read(monkeypatch):
    read, load = [], module.load_dataset
    monkeypatch.setattr(module, "load_dataset", lambda *what: read.append(what) or load(*what))
    one = CLUSTER_SETS["mnist-clusters-45"]
    found = load_inputs(one, panel_sizes(quick=True), seed=0, purpose="selection")
    assert read == [("mnist", "train")]
    assert list(found.sections)[3:] == ["inliers", "clusters-45", *MADE_UP]
    labels = cluster_labels("mnist")
    cluster = {
        image.tobytes(): int(number) for image, number in zip(load("mnist").images, labels, strict=True)
    }
    assert {cluster[image] for image in images_of(found, "clusters-45")} == {4, 5}
    learnt = {image.numpy().tobytes() for image in found.training}
    for section in (learnt, *(images_of(found, name) for name in (*FITTED_ON, "inliers"))):
        assert not {cluster[image] for image in section} & {4, 5}
    with pytest.raises(SettingsError, match="--select"):
        load_inputs(one, panel_sizes(quick=True), seed=0)
    assert kind_of(one, "clusters-45") == "near"


def test_held_out_classes_are_the_only_outliers():
    one = INLIER_SETS["fashion-mnist-heldout-45"]
    found = load_inputs(one, panel_sizes(quick=True), seed=0)
    assert list(found.sections)[3:] == ["inliers", "classes-45", OF_TEST_FILE]
    test = module.load_dataset("fashion-mnist", "test")
    label = {image.tobytes(): int(number) for image, number in zip(test.images, test.labels, strict=True)}
    assert {label[image] for image in images_of(found, "classes-45")} == {4, 5}
    assert not {label[image] for image in images_of(found, "inliers") | images_of(found, OF_TEST_FILE)} & {
        4,
        5,
    }


def test_the_seed_chooses_and_statistics_are_those_of_the_images():
    first, again, other = (
        load_inputs(INLIER_SETS["svhn"], panel_sizes(quick=True), seed=s) for s in (0, 0, 1)
    )
    assert (first.scored == again.scored).all()
    assert (first.scored != other.scored).any()
    part = first.sections["cifar10"]
    expected = image_statistics(first.scored[part].numpy().transpose(0, 2, 3, 1))
    assert set(first.image_statistics) == {*expected, "isolation"}
    for name, values in expected.items():
        np.testing.assert_array_equal(first.image_statistics[name][part], values)


def test_sets_that_are_too_small_are_refused():
    with pytest.raises(DataError, match="too few to set 1250 aside"):
        load_inputs(INLIER_SETS["mnist"], replace(QUICK, fitting=800), seed=0)
    with pytest.raises(DataError, match="240 test images, fewer than the 241"):
        load_inputs(INLIER_SETS["mnist"], replace(panel_sizes(quick=True), inliers=193), seed=0)


def test_kinds():
    assert kind_of(INLIER_SETS["cifar10"], "svhn") == "far"
    assert kind_of(INLIER_SETS["mnist"], "digits") == "far"
    assert {name for name in MADE_UP if kind_of(INLIER_SETS["svhn"], name) == "far"} == {
        "uniform-noise",
        "gaussian-noise",
        "constant",
    }
    assert kind_of(INLIER_SETS["fashion-mnist-heldout-01"], "classes-01") == "near"
    assert all(set(each.outliers) == set(each.other_datasets) | set(MADE_UP) for each in expand(["mnist"]))
    with pytest.raises(SettingsError, match="no in-distribution set 'imagenet'"):
        expand(["imagenet"])


def test_the_sizes_fit_into_every_test_file():
    assert FULL.inliers + FULL.outliers + FULL.test_calibration == 10_000
    assert FULL.inliers + FULL.test_calibration == 8_000  # of eight of ten classes


def test_what_reads_no_test_image_does_not_depend_on_how_many_there_are():
    assert FULL.described("selection") == replace(FULL, test_calibration=1).described("selection")
    assert FULL.described("test") != replace(FULL, test_calibration=1).described("test")


def test_full_sizes_leave_most_images_to_train_on():
    for each in INLIER_SETS.values():
        assert FULL.training_size(each, "test") >= 0.75 * each.training_images
        assert FULL.training_size(each, "selection") >= 0.5 * each.training_images
