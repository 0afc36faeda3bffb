"""The Open Inference Protocol, as a standard client speaks it and as nobody should."""

import gzip
import json
import math

import numpy as np
import pytest

from dissensus.serve.tensors import TYPES

tritonclient = pytest.importorskip("tritonclient.http")


@pytest.fixture
def triton(asked):
    client = tritonclient.InferenceServerClient(asked.url.removeprefix("http://"))
    yield client
    client.close()


def tensor(name, array, kind, binary):
    found = tritonclient.InferInput(name, list(array.shape), kind)
    found.set_data_from_numpy(array, binary_data=binary)
    return found


def outputs(binary):
    return [
        tritonclient.InferRequestedOutput(name, binary_data=binary)
        for name in ("score", "p_value", "flagged")
    ]


def test_health_and_metadata(triton):
    assert triton.is_server_live()
    assert triton.is_server_ready()
    assert triton.is_model_ready("pictures")
    assert triton.is_model_ready("rows", "1")
    assert triton.get_server_metadata()["name"] == "dissensus"
    metadata = triton.get_model_metadata("pictures")
    assert metadata["inputs"] == [{"name": "images", "datatype": "UINT8", "shape": [-1, 8, 8, 1]}]
    assert [output["datatype"] for output in metadata["outputs"]] == ["FP64", "FP64", "BOOL"]
    assert triton.get_model_metadata("table", "1")["inputs"] == [
        {"name": "age", "datatype": "FP64", "shape": [-1]},
        {"name": "pet", "datatype": "BYTES", "shape": [-1]},
    ]
    assert not triton.is_model_ready("nobody")


@pytest.mark.parametrize("binary_in", [True, False])
@pytest.mark.parametrize("binary_out", [True, False, None])
def test_a_standard_client_scores(triton, library, pictures, binary_in, binary_out):
    images = pictures[:5]
    wanted = None if binary_out is None else outputs(binary_out)
    result = triton.infer(
        "pictures", [tensor("images", images, "UINT8", binary_in)], outputs=wanted, request_id="a-7"
    )
    decisions = library["pictures"].decide(images)
    assert result.get_response()["id"] == "a-7"
    for name in ("score", "p_value", "flagged"):
        np.testing.assert_allclose(result.as_numpy(name), getattr(decisions, name), rtol=1e-6)
    assert result.as_numpy("flagged").dtype == np.bool_
    assert result.as_numpy("score").dtype == np.float64


@pytest.mark.parametrize("kind", ["FP32", "FP64"])
def test_rows_of_both_precisions(triton, library, numbers, kind):
    given = numbers.astype({"FP32": np.float32, "FP64": np.float64}[kind])
    result = triton.infer("rows", [tensor("rows", given, kind, True)], model_version="1")
    decisions = library["rows"].decide(given.astype(np.float64))
    np.testing.assert_allclose(result.as_numpy("score"), decisions.score, rtol=1e-6)


AGES, PETS = [41.5, 20.0, math.nan, 60.0], ["cat", "dog", "cat", "Übertier"]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_table_is_asked_by_the_names_of_its_columns(triton, asked, binary, shape):
    ages = np.array([str(age) for age in AGES], object) if not binary else np.array(AGES)
    sent = [
        tensor("pet", np.array(PETS, object).reshape(shape), "BYTES", binary),
        tensor("age", ages.reshape(shape), "FP64" if binary else "BYTES", binary),
        tensor("of no meaning", np.zeros(2), "FP64", binary),
    ]
    result = triton.infer("table", sent)
    rows = [{"age": "" if age != age else age, "pet": pet} for age, pet in zip(AGES, PETS, strict=True)]
    wanted = asked.client.post("/score?gate=table", json={"rows": rows}).json()["results"]
    for name in ("score", "p_value"):
        np.testing.assert_allclose(result.as_numpy(name), [one[name] for one in wanted], rtol=1e-6)


def column(name, *values, kind="BYTES", **changes):
    return {"name": name, "shape": [len(values)], "datatype": kind, "data": list(values), **changes}


@pytest.mark.parametrize(
    ("inputs", "status", "words"),
    [
        ([column("pet", "cat")], 422, "a tensor for each column: 'age' is missing"),
        ([column("hat", "top")], 422, "'age', 'pet' are missing"),
        (
            [column("pet", "cat"), column("age", 1.0, 2.0, kind="FP64")],
            422,
            "'pet' has shape [1] and [2] was",
        ),
        ([column("pet", "cat"), column("age", "old")], 422, "row 0 cannot be scored: "),
        ([column("pet", *65 * ["cat"]), column("age", *65 * ["3"])], 413, "64"),
        ([column("pet"), column("age")], 422, "1 to 64"),
        ([column("pet", "cat", shape=[1, 1, 1]), column("age", "3")], 422, "'pet' has shape [1, 1, 1]"),
    ],
)
def test_columns_that_make_no_table(asked, inputs, status, words):
    answer = asked.client.post("/v2/models/table/infer", json={"inputs": inputs})
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text


@pytest.mark.parametrize(
    "raw",
    [b"", b"\3\0\0", b"\4\0\0\0cat", b"\2\0\0\0cat", b"\3\0\0\0c\xe4t", b"\xff\xff\xff\xffcat"],
    ids=["nothing", "half a length", "cut off", "left over", "not UTF-8", "a long one"],
)
def test_bytes_that_are_no_texts(asked, raw):
    pet = {"name": "pet", "shape": [1], "datatype": "BYTES", "parameters": {"binary_data_size": len(raw)}}
    head = json.dumps({"inputs": [column("age", "3"), pet]}).encode()
    length = {"Inference-Header-Content-Length": str(len(head))}
    answer = asked.client.post("/v2/models/table/infer", content=head + raw, headers=length)
    assert (answer.status_code, "as many texts in UTF-8" in answer.json()["error"]) == (400, True), (
        answer.text
    )


def test_some_outputs_in_the_order_they_were_asked_for(asked, numbers):
    request = {
        "inputs": [{"name": "rows", "shape": [1, 3], "datatype": "FP64", "data": numbers[0].tolist()}],
        "outputs": [{"name": "flagged"}, {"name": "score"}],
    }
    answer = asked.client.post("/v2/models/rows/infer", json=request).json()
    assert [output["name"] for output in answer["outputs"]] == ["flagged", "score"]
    assert answer["model_version"] == "1"
    assert "id" not in answer


def test_errors_reach_the_client(triton, pictures):
    from tritonclient.utils import InferenceServerException

    with pytest.raises(InferenceServerException, match=r"was expected"):
        triton.infer("pictures", [tensor("images", pictures[:2, :5], "UINT8", True)])
    with pytest.raises(InferenceServerException, match="there is no gate"):
        triton.infer("nobody", [tensor("images", pictures[:1], "UINT8", True)])


def row(**changes):
    return {"name": "rows", "shape": [1, 3], "datatype": "FP64", "data": [1, 2, 3], **changes}


@pytest.mark.parametrize(
    ("message", "status", "words"),
    [
        ({}, 400, "'inputs' is missing"),
        ({"inputs": []}, 400, "'inputs' must have at least 1"),
        ({"inputs": [row(), row()]}, 400, "name"),
        ({"inputs": [row(name="other")]}, 422, "'rows'"),
        ({"inputs": [row(shape=[3])]}, 422, "shape"),
        ({"inputs": [row(shape=[1, 4])]}, 400, "takes 4"),
        ({"inputs": [row(shape=[0, 3], data=[])]}, 422, "1 to 64"),
        ({"inputs": [row(shape=[10**9, 10**9])]}, 400, "takes"),
        ({"inputs": [row(shape=[True, 3])]}, 400, "'inputs[0].shape[0]' must be a whole number"),
        ({"inputs": [row(datatype="BYTES")]}, 400, "BYTES"),
        ({"inputs": [row(datatype="BYTES", data=["1", "2", "3"])]}, 422, "numbers"),
        ({"inputs": [row(datatype="BYTES", shape=[2**20 + 1, 1])]}, 400, "at most 1048576 values"),
        ({"inputs": [row(datatype="BYTES", shape=[0, 2**31], data=[])]}, 400, "more values"),
        ({"inputs": [row(shape=[0, 2**28, 2**28, 2**28], data=[])]}, 400, "more values"),
        ({"inputs": [row(datatype="STRING")]}, 400, "'inputs[0].datatype' must be"),
        ({"inputs": [row(shape=[0, 2**63])]}, 400, "must be at most"),
        ({"inputs": [row(shape=[0, 2**31])]}, 400, "more values than a request can hold"),
        ({"inputs": [row(shape=[10**4000, 3])]}, 400, "'inputs[0].shape[0]'"),
        ({"inputs": [row(parameters={"binary_data_size": 24.0})]}, 400, "must be a whole number"),
        ({"inputs": [row(parameters={"binary_data_size": 1e300})]}, 400, "must be a whole number"),
        ({"inputs": [row(parameters={"binary_data_size": 10**4000})]}, 400, "binary_data_size"),
        ({"inputs": [row(data=[1, 2, 10**4000])]}, 400, "too large"),
        ({"inputs": [row(datatype="INT8", data=[1, 2, 200])]}, 400, "-128..127"),
        ({"inputs": [row(datatype="BOOL", data=[True, True, False])]}, 422, "numbers"),
        ({"inputs": [row(data=[1, 2, "x"])]}, 400, "FP64"),
        ({"inputs": [row(data=[[1, 2], 3])]}, 400, "different lengths"),
        ({"inputs": [row(data=[1, 2, 10**400])]}, 400, "too large"),
        ({"inputs": [row(shape=[9000, 3], data=["x" * 500_000] + [""] * 26_999)]}, 400, "FP64"),  # 54 GB
        ({"inputs": [row(shape=[3, 1], data=[[1], [2, 3]])]}, 400, "different lengths"),
        ({"inputs": [row(datatype="FP32", data=[1, 2, 1e300])]}, 422, "infinite"),
        ({"inputs": [row(parameters={"binary_data_size": 24})]}, 400, "bytes"),
        (
            {"inputs": [row()], "outputs": [{"name": "nonsense"}]},
            400,
            "'outputs[0].name' must be 'score', 'p_v",
        ),
        ({"inputs": [row()], "id": 7}, 400, "'id' must be a text"),
        ({"inputs": [row()], "id": "x" * 1001}, 400, "'id' must be at most 1000 characters long"),
        ({"inputs": [row()], "parameters": 7}, 400, "'parameters' must be an object"),
        ({"inputs": [row()], "parameters": {"binary_data_output": "yes"}}, 400, "must be true or false"),
        ({"inputs": [row()], "outputs": [{"name": "score"}] * 2}, 400, "every output needs a 'name'"),
        ({"inputs": [row()], "outputs": 5}, 400, "'outputs' must be a list"),
        ({"inputs": [7] * 200_000}, 400, "'inputs[0]' must be an object"),
        ({"inputs": [row(shape=[-1, 3])]}, 400, "'inputs[0].shape[0]' must be at least 0"),
        ({"inputs": [row(shape=[1] * 9)]}, 400, "'inputs[0].shape' must have at most 8"),
        ({"inputs": [row(data=None)]}, 400, "neither 'data' nor bytes"),
        ({"inputs": [row(parameters={"binary_data_size": True})]}, 400, "must be a whole number"),
        ({"inputs": [row(shape=[65, 3], data=[0] * 195)]}, 413, "64"),
    ],
)
def test_bad_requests(asked, message, status, words):
    answer = asked.client.post("/v2/models/rows/infer", json=message)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text


@pytest.mark.parametrize("length", ["-1", "abc", "99999", "1e3", "²", "0" * 5000])
def test_bad_lengths_of_the_json(asked, length):
    header = {"Inference-Header-Content-Length": length.encode()}
    answer = asked.client.post("/v2/models/rows/infer", json={"inputs": [row()]}, headers=header)
    assert answer.status_code == 400
    assert "Inference-Header-Content-Length" in answer.json()["error"]


def test_bytes_left_over(asked):
    head = json.dumps({"inputs": [row()]}).encode()
    answer = asked.client.post(
        "/v2/models/rows/infer",
        content=head + b"abc",
        headers={"Inference-Header-Content-Length": str(len(head))},
    )
    assert answer.status_code == 400
    assert "left" in answer.json()["error"]


def test_only_version_1(asked):
    assert asked.client.get("/v2/models/rows/versions/2").status_code == 404


@pytest.mark.parametrize("kind", ["FP16", "FP32", "INT8", "INT64", "UINT8", "UINT32"])
@pytest.mark.parametrize("binary", [True, False])
def test_rows_may_be_of_any_datatype_of_numbers(asked, kind, binary):
    sent = np.array([[3, 1, 2], [0, 5, 7]], TYPES[kind])
    wanted = asked.client.post("/score?gate=rows", json={"rows": sent.tolist()}).json()["results"]
    about = {"name": "rows", "shape": [2, 3], "datatype": kind}
    if binary:
        raw = sent.tobytes()
        head = json.dumps({"inputs": [about | {"parameters": {"binary_data_size": len(raw)}}]}).encode()
        answer = asked.client.post(
            "/v2/models/rows/infer",
            content=head + raw,
            headers={"Inference-Header-Content-Length": str(len(head))},
        )
    else:
        body = {"inputs": [about | {"data": sent.ravel().tolist()}]}
        answer = asked.client.post("/v2/models/rows/infer", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["outputs"][0]["data"] == [result["score"] for result in wanted]


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_a_standard_client_may_compress_its_requests(triton, library, numbers, algorithm):
    asking = [tensor("rows", numbers[:4], "FP64", True)]
    result = triton.infer("rows", asking, request_compression_algorithm=algorithm)
    np.testing.assert_allclose(result.as_numpy("score"), library["rows"].decide(numbers[:4]).score, rtol=1e-6)


def test_compressed_bodies_are_bounded_and_whole(asked):
    ask = lambda content: asked.client.post(  # noqa: E731
        "/score?gate=rows",
        content=content,
        headers={"content-encoding": "gzip", "content-type": "application/json"},
    )
    packed = gzip.compress(json.dumps({"rows": [[1, 2, 3]]}).encode())
    assert ask(packed).status_code == 200
    assert ask(packed[:-4]).status_code == 400
    assert ask(packed + b"x").status_code == 400
    assert ask(gzip.compress(bytes(100 << 20))).status_code == 413  # 100 KB that are 100 MiB


def test_statistics_of_a_model(serving, folder, numbers):
    with serving(folder / "rows") as found:
        client = tritonclient.InferenceServerClient(found.url.removeprefix("http://"))
        before = client.get_inference_statistics("rows")["model_stats"][0]
        assert (before["inference_count"], before["last_inference"]) == (0, 0)
        found.client.post("/score", json={"rows": numbers[:5].tolist()})
        found.client.post("/score", json={"rows": numbers[:1].tolist()})
        stats = client.get_inference_statistics("rows", "1")["model_stats"][0]
        client.close()
    assert (stats["name"], stats["version"]) == ("rows", "1")
    assert (stats["inference_count"], stats["execution_count"]) == (6, 2)
    success = stats["inference_stats"]["success"]
    assert success["count"] == 2
    assert 0 < stats["inference_stats"]["compute_infer"]["ns"] <= success["ns"]
    assert stats["last_inference"] > 1e12


def test_head_is_answered_like_get_without_the_body(asked):
    for path in ("/v2", "/v2/", "/v2/health/live", "/gates", "/", "/metrics", "/nothing"):
        got, head = asked.client.get(path), asked.client.head(path)
        assert head.status_code == got.status_code, path
        assert head.content == b""
        if path != "/metrics":
            assert head.headers["content-length"] == got.headers["content-length"], path
    assert asked.client.head("/score").status_code == 405
