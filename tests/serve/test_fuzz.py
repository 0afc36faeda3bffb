"""Thousands of odd requests: each gets a clear answer below 500, and the service is as well as before."""

import json
import random
import struct
import zlib

import numpy as np
import pytest

ROUNDS = 250
WORDS = [
    "rows",
    "inputs",
    "name",
    "shape",
    "datatype",
    "data",
    "images",
    "FP64",
    "UINT8",
    "age",
    "pet",
    "\ud800",
    "",
]


def anything(rng, depth=0):
    """A JSON value of no particular kind."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return rng.choice(
            [
                None,
                True,
                rng.randrange(-5, 300),
                rng.uniform(-1e9, 1e9),
                10 ** rng.randrange(400),
                rng.choice(WORDS),
            ]
        )
    if kind < 8:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(WORDS): anything(rng, depth + 1) for _ in range(rng.randrange(5))}


def damaged(rng, content):
    """The bytes with something wrong with them."""
    content = bytearray(content)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(content) + 1)
        match rng.randrange(4):
            case 0:
                del content[place : place + rng.randrange(1, 30)]
            case 1:
                content[place:place] = rng.randbytes(rng.randrange(1, 30))
            case 2 if place < len(content):
                content[place] ^= 1 << rng.randrange(8)
            case _:
                del content[place:]
    return bytes(content)


def check(answer):
    assert answer.status_code < 500, (answer.status_code, answer.text)
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        error = answer.json()["error"]
        assert isinstance(error, str)
        assert 3 < len(error) <= 600
        assert "Traceback" not in error
        assert "/src/" not in error
    return answer


@pytest.fixture
def unharmed(asked, numbers):
    """The same question before and after gets the same answer."""
    ask = lambda: asked.client.post("/score?gate=rows", json={"rows": numbers[:3].tolist()})  # noqa: E731
    before = ask().json()
    yield
    assert ask().json() == before
    assert asked.client.get("/v2/health/ready").status_code == 200


@pytest.mark.usefixtures("unharmed")
@pytest.mark.parametrize(
    "path",
    [
        "/score?gate=rows",
        "/score?gate=table",
        "/explain?gate=rows",
        "/confirm?gate=rows&normal=false",
        "/v2/models/rows/infer",
    ],
)
def test_json_of_any_kind(asked, path):
    rng = random.Random(path)
    for _ in range(ROUNDS):
        value = anything(rng)
        if rng.random() < 0.7:
            value = {"rows": value} if "v2" not in path else {"inputs": [value]}
        body = json.dumps(value).encode()
        if rng.random() < 0.3:
            body = damaged(rng, body)
        check(asked.client.post(path, content=body, headers={"content-type": "application/json"}))


@pytest.mark.usefixtures("unharmed")
def test_damaged_tensors(asked, numbers):
    rng = random.Random(1)
    raw = numbers[:2].tobytes()
    tensor = {
        "name": "rows",
        "shape": [2, 3],
        "datatype": "FP64",
        "parameters": {"binary_data_size": len(raw)},
    }
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    for _ in range(ROUNDS):
        body = damaged(rng, head + raw) if rng.random() < 0.8 else head + raw
        length = rng.choice([len(head), len(head), len(head), rng.randrange(400), -1])
        check(
            asked.client.post(
                "/v2/models/rows/infer",
                content=body,
                headers={"Inference-Header-Content-Length": str(length)},
            )
        )


@pytest.mark.usefixtures("unharmed")
def test_damaged_forms(asked, pictures, as_png):
    rng = random.Random(2)
    part = b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'
    whole = part + as_png(pictures[0]) + b"\r\n" + part + as_png(pictures[1]) + b"\r\n--edge--\r\n"
    kinds = [
        f"multipart/form-data; boundary={edge}" for edge in ("edge", "edge", "other", '"', "", "e" * 500)
    ]
    for _ in range(ROUNDS):
        kind = rng.choice([*kinds, "multipart/form-data", "multipart/mixed; boundary=edge"])
        check(asked.client.post("/score", content=damaged(rng, whole), headers={"content-type": kind}))


def pictures_of_all_kinds(rng, picture):
    """Files that are, were, or pretend to be pictures."""
    from PIL import Image

    yield picture
    yield from (damaged(rng, picture) for _ in range(60))
    for head in (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"BM", b"RIFF\xff\xff\xff\xffWEBP"):
        yield from (head + rng.randbytes(rng.randrange(200)) for _ in range(12))
    for size in ((60_000, 60_000), (2**31 - 1, 1), (1, 2**31 - 1), (0, 0), (8, 8)):
        head = struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
        chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(1 << 20))), (b"IEND", b"")]
        yield b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )
    import io

    for mode in ("1", "P", "RGBA", "LA", "CMYK", "I;16", "RGB"):
        buffer = io.BytesIO()
        Image.new(mode, (8, 8)).save(buffer, "JPEG" if mode == "CMYK" else "PNG")
        yield buffer.getvalue()


@pytest.mark.usefixtures("unharmed")
def test_damaged_and_pretended_pictures(asked, pictures, as_png):
    rng = random.Random(3)
    files = list(pictures_of_all_kinds(rng, as_png(pictures[0])))
    for start in range(0, len(files), 20):
        for convert in ("false", "true"):
            answer = check(asked.score(files[start : start + 20], gate="pictures", convert=convert))
            results = answer.json()["results"]
            assert len(results) == len(files[start : start + 20])
            assert all((result["error"] is None) != (result["score"] is None) for result in results)
    for file in files[::10]:
        check(asked.client.post("/explain?gate=pictures&convert=true", files={"files": ("x", file)}))


@pytest.mark.usefixtures("unharmed")
def test_odd_paths_headers_and_methods(asked):
    rng = random.Random(4)
    parts = [
        "v2",
        "models",
        "rows",
        "infer",
        "..",
        "%2e%2e",
        "%00",
        "%ff",
        "static",
        "a" * 2000,
        "gate",
        "versions",
        "1",
        "{name}",
        "~",
    ]
    names = [
        "content-type",
        "content-encoding",
        "x-request-id",
        "authorization",
        "x-api-key",
        "origin",
        "range",
        "expect",
        "accept",
        "inference-header-content-length",
        "if-none-match",
        "transfer-encoding-x",
    ]
    values = [
        "",
        "x",
        "Bearer",
        "Bearer " + "k" * 5000,
        "gzip",
        "null",
        "bytes=0-",
        "é".encode(),
        "multipart/form-data; boundary=",
        "-1",
        '"',
        "application/json; charset=utf-7",
    ]
    for _ in range(ROUNDS):
        path = "/" + "/".join(rng.choice(parts) for _ in range(rng.randrange(6)))
        query = f"?gate={rng.choice(parts)}" if rng.random() < 0.3 else ""
        headers = {rng.choice(names): rng.choice(values) for _ in range(rng.randrange(4))}
        method = rng.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"])
        check(
            asked.client.request(
                method, path + query, headers=headers, content=rng.randbytes(rng.randrange(50))
            )
        )


@pytest.mark.usefixtures("unharmed")
def test_numbers_at_the_edge(asked):
    edges = [0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 1e16, 3.4e38]
    rows = [[value, 0.0, -value] for value in edges]
    answer = check(asked.client.post("/score?gate=rows", json={"rows": rows}))
    assert all(result["error"] is None for result in answer.json()["results"])
    grid = np.array(rows)
    tensor = {"name": "rows", "shape": list(grid.shape), "datatype": "FP64", "data": grid.ravel().tolist()}
    assert check(asked.client.post("/v2/models/rows/infer", json={"inputs": [tensor]})).status_code == 200
