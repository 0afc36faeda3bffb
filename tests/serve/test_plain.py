"""The plain endpoints: what they say, and how they say no."""

import numpy as np
import pytest


def test_gates(asked):
    assert asked.client.get("/gates").json() == {
        "gates": ["pictures", "rows", "table"],
        "default": "pictures",
        "max_inputs": 64,
        "max_body": 2 << 20,
        "may_confirm": False,
    }


@pytest.mark.parametrize(
    ("name", "kind", "shape", "columns"),
    [
        ("pictures", "images", [8, 8, 1], None),
        ("rows", "rows", [3], None),
        ("table", "table", [4], ["age", "pet"]),
    ],
)
def test_gate(asked, library, name, kind, shape, columns):
    facts, gate = asked.client.get(f"/gate?gate={name}").json(), library[name]
    assert (facts["name"], facts["kind"], facts["input_shape"]) == (name, kind, shape)
    assert facts["columns"] == columns
    assert facts["threshold"] == pytest.approx(gate.threshold_)
    assert facts["false_alarm_rate"] == 0.2
    assert facts["fitted_on"]["train"] == gate.fitted_rows_["train"]
    assert facts["calibration"]["count"] == len(gate.calibration_scores_)
    assert facts["calibration"]["scores"] == pytest.approx(np.sort(gate.calibration_scores_))
    assert sum(facts["calibration"]["histogram"]["counts"]) == len(gate.calibration_scores_)
    interval = gate.false_alarm_interval_
    assert facts["false_alarm_interval"] == {
        "low": interval.low,
        "high": interval.high,
        "probability": interval.level,
    }


def test_a_file_that_cannot_be_read_has_an_error_and_the_others_their_scores(asked, pictures, as_png):
    files = [as_png(pictures[0]), b"hello", as_png(pictures[1]), as_png(pictures[0])[:60], b""]
    answer = asked.score(files)
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result["input"] for result in results] == [f"{number}.png" for number in range(5)]
    assert [result["error"] is None for result in results] == [True, False, True, False, False]
    assert [result["score"] is None for result in results] == [False, True, False, True, True]
    assert results[0]["verdict"].endswith(".")


def test_nothing_readable_is_422_with_all_reasons(asked):
    answer = asked.score([b"hello", b"world"])
    assert answer.status_code == 422
    assert "no picture" in answer.json()["error"]
    assert len(answer.json()["results"]) == 2


def test_another_size_is_an_error_unless_it_is_to_be_converted(asked, as_png):
    large = np.full((30, 20, 3), 99, np.uint8)
    assert asked.score([as_png(large)]).status_code == 422
    answer = asked.score([as_png(large)], convert="true")
    assert answer.status_code == 200
    assert answer.json()["results"][0]["score"] is not None


def test_rows_that_cannot_be_scored_say_why(asked):
    rows = [[1, 2, 3], [1, 2], "text", [1, 2, None], [1, 2, True], [1, 2, 1e999], [1, 2, 10**400]]
    text = str(rows).replace("None", "null").replace("True", "true").replace("inf", "1e999").replace("'", '"')
    answer = asked.client.post(
        "/score?gate=rows", content=text.join(['{"rows":', "}"]), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    errors = [result["error"] for result in answer.json()["results"]]
    assert errors[0] is None
    assert all(errors[1:])
    assert "2 numbers and 3 were expected" in errors[1]


def test_table_rows_that_cannot_be_scored_say_why(asked):
    rows = [
        {"age": 30, "pet": "cat"},
        {"age": None, "pet": "cat"},
        {"age": "old", "pet": "cat"},
        {"agge": 900, "pet": "cat"},
        {"age": [1], "pet": "cat"},
        [1],
    ]
    results = asked.client.post("/score?gate=table", json={"rows": rows}).json()["results"]
    errors = [result["error"] for result in results]
    assert errors[:2] == [None, None]
    assert results[1]["notes"] == ["age: missing, never so in training"]
    assert "'old'" in errors[2]
    assert errors[3] == "the object lacks the column 'age', and has 'agge', which is no column"
    assert all(errors[3:])
    assert [result["notes"] for result in results if result is not results[1]] == [[]] * 5


def test_what_no_training_row_had_is_said(asked):
    row = {"age": 30, "pet": "<axolotl>"}
    (result,) = asked.client.post("/score?gate=table", json={"rows": [row]}).json()["results"]
    explained = asked.client.post("/explain?gate=table", json={"rows": [row]}).json()
    assert result["notes"] == explained["notes"] == ["pet: <axolotl>, never seen"]
    usual = asked.client.post("/explain?gate=table", json={"rows": [{"age": 30, "pet": "cat"}]}).json()
    assert usual["notes"] == []


def test_the_columns_of_a_table_are_explained_as_people_wrote_them(asked):
    row = {"age": 30, "pet": "<axolotl>"}
    found = asked.client.post("/explain?gate=table", json={"rows": [row]}).json()
    columns = {column["column"]: column for column in found["columns"]}
    assert columns.keys() == {"age", "pet"}
    assert columns["pet"]["value"] == "<axolotl>, never seen"
    assert columns["age"]["value"] == "30"
    for told in (columns["pet"]["expected"], columns["pet"]["nearest"]):
        assert set(told.replace(" or ", ", ").split(", ")) <= {"cat", "dog"}
    assert found["disagreement"]["largest"] == found["columns"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "no JSON"),
        (b"[]", 400, "a JSON object, not a list"),
        (b"{", 400, "no JSON"),
        (b"\xff\xfe", 400, "no JSON"),
        (b"{}", 422, "'rows' is missing"),
        (b'{"rows": []}', 422, "'rows' must have at least 1"),
        (b'{"rows": 5}', 422, "'rows' must be a list"),
        (b'{"rows": [[1, 2, NaN]]}', 400, "no JSON"),
        (b'{"rows": [[1, 2, Infinity]]}', 400, "no JSON"),
        (b'{"rows": [[1, 2, 3]], "more": 1}', 422, "unknown field 'more'"),
        (b'{"rows": 5' + b"".join(b',"%d":0' % n for n in range(200_000)) + b"}", 422, "unknown field '0'"),
        (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "no JSON"),
        (b'{"rows": [[1, 2, ' + b"9" * 5000 + b"]]}", 400, "no JSON"),
        (b'{"rows": [' + b"[1,2,3]," * 64 + b"[1,2,3]]}", 413, "at most 64"),
        # Large enough to be read in a thread.
        (b'{"rows": [[' + b"1," * 100_000 + b"1]]}", 422, "3 were expected"),
    ],
)
def test_bad_json(asked, body, status, words):
    answer = asked.client.post("/score?gate=rows", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]


def test_bad_parameters_are_named(asked):
    ask = lambda path: asked.client.post(path, json={"rows": [[0, 0, 0]]}).json()["error"]  # noqa: E731
    assert ask("/score?convert=perhaps") == "'convert' must be true or false"
    assert ask(f"/score?gate={'x' * 202}") == "'gate' must be at most 201 characters long"


def test_bodies_of_the_wrong_type(asked, pictures, as_png):
    form = [("files", ("a.png", as_png(pictures[0])))]
    assert asked.client.post("/score?gate=rows", files=form).status_code == 415
    assert asked.client.post("/score?gate=pictures", json={"rows": [[1]]}).status_code == 415
    assert (
        asked.client.post("/score", content=b"x", headers={"content-type": "text/plain"}).status_code == 415
    )
    packed = asked.client.post("/score", files=form, headers={"content-encoding": "br"})
    assert (packed.status_code, packed.headers["accept-encoding"]) == (415, "gzip, deflate, identity")


def test_too_many_files(asked, pictures, as_png):
    answer = asked.score([as_png(pictures[0])] * 65)
    assert (answer.status_code, "64" in answer.json()["error"]) == (413, True)


def test_explained_picture(asked, library, pictures, as_png):
    answer = asked.client.post("/explain", files={"files": ("a.png", as_png(pictures[3]))})
    assert answer.status_code == 200
    found, decisions = answer.json(), library["pictures"].decide(pictures[3:4])
    assert found["decision"]["score"] == pytest.approx(decisions.score[0])
    assert found["decision"]["flagged"] == decisions.flagged[0]
    uris = [found["input_png"], found["disagreement"]["png"], *found["reconstructions"], *found["nearest"]]
    assert all(uri.startswith("data:image/png;base64,") for uri in uris)
    assert len(found["reconstructions"]) == 4
    assert len(found["nearest"]) == 5
    assert found["statistics"][library["pictures"].statistic_]["value"] == pytest.approx(decisions.score[0])
    assert asked.client.get("/traffic").json()["gate"] == "pictures"


@pytest.mark.parametrize(("gate", "row"), [("rows", [9.0, 0.0, 0.0]), ("table", {"age": 400, "pet": "cat"})])
def test_explained_row(asked, gate, row):
    found = asked.client.post(f"/explain?gate={gate}", json={"rows": [row]}).json()
    shares = [column["share"] for column in found["columns"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert found["columns"][0]["column"] == (0 if gate == "rows" else "age")
    assert found["input_png"] is None


def test_only_one_is_explained(asked, numbers):
    answer = asked.client.post("/explain?gate=rows", json={"rows": numbers[:2].tolist()})
    assert answer.status_code == 422
    answer = asked.client.post("/explain?gate=rows", json={"rows": [[1]]})
    assert (answer.status_code, "expected" in answer.json()["error"]) == (422, True)


def test_traffic_counts_and_keeps_no_inputs(serving, folder, pictures, as_png, library):
    with serving(folder / "pictures", workers=1) as found:  # with two, batches may end in another order
        assert found.client.get("/traffic").json()["flagged_share"] is None
        found.score([as_png(picture) for picture in pictures[:20]])
        found.client.post("/explain", files={"files": ("a.png", as_png(pictures[0]))})  # no traffic
        traffic = found.client.get("/traffic").json()
    decisions = library["pictures"].decide(pictures[:20])
    assert (traffic["window"], traffic["inputs"], traffic["requests"]) == (20, 20, 1)
    assert [one["score"] for one in traffic["recent"]] == pytest.approx(decisions.score)
    assert set(traffic["recent"][0]) == {"time", "score", "p_value", "flagged"}
    assert traffic["flagged_share"] == pytest.approx(decisions.flagged.mean())
    monitor = library["pictures"].drift_monitor()
    monitor.update(decisions.score)
    assert traffic["drift"]["log_capital"] == pytest.approx(monitor.log_martingale)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/gate?gate=nobody", 404),
        ("GET", f"/gate?gate={'x' * 202}", 422),
        ("POST", "/gate", 405),
        ("DELETE", "/score", 405),
        ("POST", "/score?convert=perhaps", 422),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/static/..%2fapp.py", 404),
        ("GET", "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404),
        ("GET", "/docs", 404),
    ],
)
def test_refused_paths(asked, method, path, status):
    answer = asked.client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert (status == 405) == ("allow" in answer.headers)


def test_the_page_and_its_files(asked):
    page = asked.client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    tag = page.headers["etag"]
    assert asked.client.get("/", headers={"if-none-match": tag}).status_code == 304
    style = asked.client.get("/static/style.css")
    assert style.headers["content-type"].startswith("text/css")
