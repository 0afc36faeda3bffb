"""``--embed`` on the command line: functions, modules, embedders of a person's own, ONNX files."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus import Detector

EMBEDDERS = Path(__file__).parents[1] / "contracts/own_embedders.py"
QUICK = ["--epochs", "4", "--draws", "4", "--samples", "2", "--false-alarm-rate", "0.5"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder where a person works, with a module of her own in it."""
    shutil.copy(EMBEDDERS, tmp_path / "my_embedders.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_embedders", raising=False)
    return tmp_path


def own(name):
    import my_embedders

    return getattr(my_embedders, name)


@pytest.mark.parametrize("name", ["halves", "net", "Net", "Projection"])
def test_fit_and_score(here, images_file, dissensus, name):
    embed = ["--embed", f"my_embedders:{name}"]
    fitted = dissensus("fit", images_file, "-o", here / "gate", *QUICK, *embed, "--json")
    assert fitted.code == 0, fitted.err
    assert fitted.json["input_shape"] == [8, 8, 1]
    answer = dissensus("score", here / "gate", images_file, *embed, "--format", "jsonl", "--quiet")
    assert answer.code == 0, answer.err
    found = [json.loads(line)["score"] for line in answer.out.splitlines()]
    given = own(name)() if name == "Net" else own(name)
    gate = Detector.load(here / "gate", embed=given, device="cpu")
    assert found == gate.decide(np.load(images_file)).score.tolist()


def test_every_other_command(here, images_file, dissensus, folder):
    gate, embed = here / "gate", ("--embed", "my_embedders:net")
    assert dissensus("fit", images_file, "-o", gate, *QUICK, *embed, "--quiet").code == 0
    answer = dissensus("score", gate, folder, *embed, "-o", here / "rows.csv", "--json")
    assert (answer.code, answer.json["inputs"]) == (0, 7), answer.err
    facts = dissensus("inspect", gate, *embed, "--json").json
    assert facts["kind"] == "images"
    said = " ".join(dissensus("inspect", gate, *embed).out.split())
    assert "takes images of 8×8×1" in said
    assert "embeds them by my_embedders:Net" in said
    explained = dissensus("explain", gate, images_file, *embed, "-o", here / "why", "--json")
    assert explained.json["disagreement"][0]["column"].startswith("component ")
    assert [file.name for file in (here / "why").iterdir()] == ["explanation.json"]
    assert dissensus("calibrate", gate, images_file, *embed, "--json").json["calibration_inputs"] == 60
    answer = dissensus("report", gate, images_file, *embed, "-o", here / "page.html", "--json")
    assert answer.code == 0, answer.err
    for command in (["score", gate, images_file], ["inspect", gate], ["calibrate", gate, images_file]):
        answer = dissensus(*command)
        assert answer.code == 2
        assert "--embed MODULE:NAME on the command line" in " ".join(answer.err.split())
    answer = dissensus("inspect", gate, "--embed", "my_embedders:other_net")
    assert answer.code == 2
    assert "pass the weights it was fitted with" in " ".join(answer.err.split())


def test_texts_of_a_table(here, dissensus):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice([*"ab c"], rng.integers(3, 20))) for _ in range(60)]
    (here / "texts.csv").write_text("\n".join(["number,text", *(f"{n},{t}" for n, t in enumerate(texts))]))
    embed = ["--embed", "my_embedders:letters"]
    fitted = dissensus("fit", "texts.csv", "-o", "gate", *QUICK, *embed, "--id", "number", "--json")
    assert fitted.code == 0, fitted.err
    lines = json.dumps({"number": "x", "text": "a" * 300}) + '\n{"text": null}\n'
    (here / "new.jsonl").write_text(lines, "utf-8")
    answer = dissensus(
        "score", "gate", "new.jsonl", *embed, "--format", "jsonl", "--quiet", "--skip-unreadable"
    )
    assert answer.code == 2  # the second has no text, and the embedder says so
    assert "the embedder letters failed" in " ".join(answer.err.split())
    (here / "new.jsonl").write_text(json.dumps({"number": "x", "text": "a" * 300}), "utf-8")
    answer = dissensus("score", "gate", "new.jsonl", *embed, "--format", "jsonl", "--quiet")
    row = json.loads(answer.out)
    assert (row["input"], row["flagged"]) == ("x", True)
    assert "takes rows: text" in " ".join(dissensus("inspect", "gate", *embed).out.split())


def test_an_onnx_file(here, images_file, dissensus):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    matrix = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    for name, factor in (("encoder.onnx", 1), ("other.onnx", 2)):
        graph = onnx.helper.make_graph(
            [
                onnx.helper.make_node("Flatten", ["x"], ["flat"]),
                onnx.helper.make_node("MatMul", ["flat", "w"], ["y"]),
            ],
            "encoder",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 1, 8, 8])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 3])],
            [onnx.numpy_helper.from_array(factor * matrix, "w")],
        )
        opset = [onnx.helper.make_opsetid("", 17)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), here / name)
    fitted = dissensus("fit", images_file, "-o", "gate", *QUICK, "--embed", "encoder.onnx", "--quiet")
    assert fitted.code == 0, fitted.err
    (here / "encoder.onnx").rename(here / "moved.onnx")
    answer = dissensus("score", "gate", images_file, "--embed", "moved.onnx", "-o", "rows.csv", "--json")
    assert (answer.code, answer.json["inputs"]) == (0, 60), answer.err
    answer = dissensus("score", "gate", images_file, "--embed", "other.onnx")
    assert answer.code == 2
    assert "had weights of SHA-256" in " ".join(answer.err.split())
    answer = dissensus("score", "gate", images_file)
    assert "--embed encoder.onnx on the command line" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my_embedders:nothing", "--embed my_embedders:nothing: module 'my_embedders' has no attribute"),
        ("nobodys:encode", "there is no module 'nobodys' here"),
        ("resnet", "embed='resnet' is no embedder: name vocabulary, an .onnx file"),
        ("nowhere.onnx", "nowhere.onnx cannot be read"),
        ("my_embedders:np", "is no embedder that a gate could name"),
        ("my_embedders:Forgetful", "does not keep its argument 'width'"),
        ("my_embedders:Embedder", "--embed my_embedders:Embedder cannot be made without arguments"),
    ],
)
def test_what_cannot_work_ends_with_a_sentence_before_data_is_read(here, dissensus, name, said):
    answer = dissensus("fit", here / "no such data.npy", "-o", here / "gate", *QUICK, "--embed", name)
    assert answer.code == 2
    assert said in " ".join(answer.err.split())
    assert not (here / "gate").exists()
