"""Embedders: what stands for one, what a gate writes of it, and how inputs go through it."""

import copy
import functools
import pickle
from hashlib import sha256

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.errors import ArtifactError, DataError, SettingsError
from dissensus.inputs import Embedder
from dissensus.inputs.embedders import check_embedder, embedder, embedder_from_config, embedder_to_config
from dissensus.inputs.embedders.batches import embed_all, settled_batch
from tests.contracts.own_embedders import Forgetful, Net, Projection, halves, letters, net, other_net

HERE = "tests.contracts.own_embedders"


@pytest.fixture(scope="module")
def pictures():
    return np.random.default_rng(0).integers(0, 256, (40, 8, 8, 1), dtype=np.uint8)


@pytest.fixture
def onnx_file(tmp_path):
    """Writes an ONNX file that multiplies flattened inputs by a matrix."""
    helper = pytest.importorskip("onnx").helper
    pytest.importorskip("onnxruntime")
    import onnx

    def write(name="encoder.onnx", *, factor=1.0, numbers=64, kind=onnx.TensorProto.FLOAT):
        matrix = (factor * np.random.default_rng(0).normal(size=(numbers, 3))).astype(np.float32)
        nodes = [
            helper.make_node("Cast", ["x"], ["floats"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Flatten", ["floats"], ["flat"]),
            helper.make_node("MatMul", ["flat", "w"], ["y"]),
        ]
        graph = helper.make_graph(
            nodes,
            "encoder",
            [helper.make_tensor_value_info("x", kind, ["n", *([1, 8, 8] if numbers == 64 else [numbers])])],
            [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 3])],
            [onnx.numpy_helper.from_array(matrix, "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.save(model, tmp_path / name)
        return tmp_path / name

    return write


OWN = {"function": halves, "class": Projection(4), "module": net, "method": net.forward}


class TestContract:
    """What holds of every embedder, whatever it is made of."""

    @pytest.fixture(params=[*OWN, "onnx", "onnx of uint8"])
    def given(self, request):
        if not request.param.startswith("onnx"):
            return OWN[request.param]
        onnx_file = request.getfixturevalue("onnx_file")  # which only these need
        return onnx_file(kind=2) if "uint8" in request.param else str(onnx_file())

    def test_vectors_are_the_same_alone_and_in_any_batch(self, given, pictures):
        own = embedder(given)
        batch = settled_batch(own, pictures)
        whole = embed_all(own, pictures, batch)
        assert whole.dtype == np.float32
        assert whole.shape == (40, whole.shape[1])
        for some in (slice(0, 1), slice(7, 8), slice(3, 20), slice(39, None, -1)):
            np.testing.assert_array_equal(embed_all(own, pictures[some], batch), whole[some])

    def test_the_threads_of_torch_change_no_bit(self, given, pictures):
        own, threads = embedder(given), torch.get_num_threads()
        try:
            found = []
            for count in (1, 3):
                torch.set_num_threads(count)
                found.append(embed_all(own, pictures, 1))
        finally:
            torch.set_num_threads(threads)
        np.testing.assert_array_equal(*found)

    def test_bytes_and_fractions_are_the_same_pictures(self, given, pictures):
        own = embedder(given)
        np.testing.assert_array_equal(
            embed_all(own, pictures / np.float32(255), 1), embed_all(own, pictures, 1)
        )

    def test_what_a_gate_writes_finds_it_again(self, given, pictures):
        check_embedder(given)
        own = embedder(given)
        described = embedder_to_config(own)
        again = embedder_from_config(described, [letters, given])
        assert embedder_to_config(again) == described
        np.testing.assert_array_equal(embed_all(again, pictures, 1), embed_all(own, pictures, 1))
        with pytest.raises(ArtifactError, match="pass it again"):
            embedder_from_config(described)

    def test_it_can_be_copied_and_pickled(self, given, pictures):
        own = embedder(given)
        for again in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):  # noqa: S301
            np.testing.assert_array_equal(embed_all(again, pictures, 1), embed_all(own, pictures, 1))


def test_names_and_digests():
    assert embedder_to_config(embedder(halves)) == {
        "embedder": f"{HERE}:halves",
        "config": {},
        "sha256": None,
    }
    assert embedder_to_config(Projection(4)) == {
        "embedder": f"{HERE}:Projection",
        "config": {"size": 4, "seed": 0},
        "sha256": None,
    }
    described = embedder_to_config(embedder(net))
    assert described["embedder"] == f"{HERE}:Net"
    assert described["sha256"] == embedder(Net()).digest() != embedder(other_net).digest()
    assert embedder_to_config(embedder(net.forward))["embedder"] == f"{HERE}:Net.forward"


def test_the_digest_of_an_onnx_file_is_that_of_its_bytes(onnx_file):
    path = onnx_file()
    found = embedder_to_config(embedder(path))
    assert found == {"embedder": "onnx", "config": {}, "sha256": sha256(path.read_bytes()).hexdigest()}


def test_a_module_is_copied_and_put_into_eval_mode(pictures):
    own = Net().train()
    made = embedder(own)
    before = embed_all(made, pictures, 1)
    np.testing.assert_array_equal(before, embed_all(made, pictures, 1))  # dropout would move it
    with torch.no_grad():
        own.weight.add_(1)
    np.testing.assert_array_equal(embed_all(made, pictures, 1), before)
    assert own.training


def test_weights_other_than_those_of_the_gate_are_refused():
    described = embedder_to_config(embedder(net))
    with pytest.raises(ArtifactError, match=r"SHA-256 .*pass the weights it was fitted with"):
        embedder_from_config(described, other_net)
    assert embedder_from_config(described, [other_net, net]).digest() == described["sha256"]


def test_another_onnx_file_than_that_of_the_gate_is_refused(onnx_file):
    file, other = onnx_file(), onnx_file("other.onnx", factor=2.0)
    described = embedder_to_config(embedder(file))
    with pytest.raises(ArtifactError, match="its embedder onnx had weights of SHA-256"):
        embedder_from_config(described, other)
    with pytest.raises(ArtifactError, match=r"--embed encoder.onnx on the command line"):
        embedder_from_config(described, halves)
    assert embedder_from_config(described, [str(other), file]).digest() == described["sha256"]


def test_another_one_than_that_of_the_gate_is_refused():
    described = embedder_to_config(embedder(halves))
    with pytest.raises(
        ArtifactError, match=f"its embedder is {HERE}:halves and what was passed is .*letters"
    ):
        embedder_from_config(described, letters)
    with pytest.raises(ArtifactError, match=f"its embedder is {HERE}:halves, code of its owner's own"):
        embedder_from_config(described)
    with pytest.raises(ArtifactError, match="pass an object with its weights, not the class"):
        embedder_from_config(embedder_to_config(embedder(net)), Net)
    with pytest.raises(ArtifactError, match="there is no embedder 'of-tomorrow' here"):
        embedder_from_config({"embedder": "of-tomorrow", "config": {}, "sha256": None})


def test_a_class_is_made_of_what_the_gate_says():
    again = embedder_from_config(embedder_to_config(Projection(7, seed=3)), Projection)
    assert (again.size, again.seed) == (7, 3)


def local(_):
    def inner(batch):
        return batch

    return inner


class Callable:
    def __call__(self, batch):
        return batch


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda batch: batch, "a lambda has no name"),
        (local(0), "the function inner is defined inside a function"),
        (functools.partial(halves), "is no embedder that a gate could name"),
        (Callable(), "inherits from dissensus.inputs.Embedder"),
        (3, "is no embedder"),
        (Projection, r"embed=Projection is a class: pass an object"),
        (nn.Linear, "is a class"),
        ("my_module:encode", "is a name: import it and pass it"),
        ("resnet", "embed='resnet' is no embedder: name vocabulary, an .onnx file"),
        ("nowhere.onnx", r"nowhere.onnx cannot be read .*: name an ONNX file"),
        (Forgetful(), "could not be loaded back .*does not keep its argument 'width'"),
        (Projection(np.arange(2)), "could not be loaded back .*JSON"),
    ],
)
def test_what_could_not_be_loaded_back_is_refused(given, said):
    with pytest.raises(SettingsError, match=said):
        check_embedder(given)


def test_a_file_that_is_no_onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    with pytest.raises(SettingsError, match=r"a.onnx is no ONNX file that can be run"):
        check_embedder(tmp_path / "a.onnx")


def test_without_onnxruntime_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.onnx").write_bytes(b"nothing")
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(SettingsError, match=r"pip install 'dissensus\[onnx\]'"):
        embedder(tmp_path / "a.onnx")


class Batched(Embedder):
    """One that asks for whole batches; some of its kind look at the place of an input."""

    batch = 4

    def __init__(self, places=False):
        self.places, self.given = places, []

    def __call__(self, batch):
        self.given.append(len(batch))
        return np.asarray(batch, float) + (np.arange(len(batch))[:, None] if self.places else 0)


def test_batches_are_of_one_size():
    own = Batched()
    rows = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(embed_all(own, rows, settled_batch(own, None)), rows)
    assert set(own.given) == {4}


def test_where_a_place_changes_an_input_it_goes_alone():
    rows = np.arange(24.0).reshape(12, 2)
    assert settled_batch(Batched(), rows) == 4
    assert settled_batch(Batched(places=True), rows) == 1


def ragged(batch):
    return np.zeros((1, int(batch[0][0])))


def flat(batch):
    return np.zeros(3)


def broken(batch):
    raise RuntimeError("no such thing")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (ragged, r"gives vectors of different lengths: \[1, 2\]"),
        (flat, r"must give numbers of shape \(1, D\) for 1 inputs, and gave float64 of shape \(3,\)"),
        (broken, r"the embedder broken failed \(RuntimeError: no such thing\)"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(function, said):
    with pytest.raises(DataError, match=said):
        embed_all(embedder(function), np.array([[1.0], [2.0]]), 1)
