"""The service says what the library says: alone, together, from many threads, in every form of request."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dissensus.detector.effort import at_effort

pytestmark = pytest.mark.usefixtures("whole_self_test")


def columns(answer):
    results = answer.json()["results"]
    return [np.array([result[name] for result in results]) for name in ("score", "p_value", "flagged")]


def assert_equal(found, decisions):
    score, p_value, flagged = found
    np.testing.assert_allclose(score, decisions.score, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(p_value, decisions.p_value)
    np.testing.assert_array_equal(flagged, decisions.flagged)


def test_pictures(asked, library, pictures, as_png):
    shown = np.concatenate([pictures[:9], 255 - pictures[9:10]])
    answer = asked.score([as_png(picture) for picture in shown], gate="pictures")
    assert answer.status_code == 200
    decisions = library["pictures"].decide(shown)
    assert_equal(columns(answer), decisions)
    assert decisions.flagged.any() != decisions.flagged.all()  # or nothing was shown


def test_rows(asked, library, numbers):
    answer = asked.client.post("/score?gate=rows", json={"rows": numbers.tolist()})
    assert_equal(columns(answer), library["rows"].decide(numbers))


def test_tables(asked, library, tmp_path):
    cells = [("41.5", "cat"), ("12", "dog"), ("40", "eel"), ("99", "cat")]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["age,pet", *(",".join(row) for row in cells)]))
    decisions = library["table"].decide(file)
    objects = [{"pet": pet, "age": float(age), "name": "ignored"} for age, pet in cells]
    for form in (objects, [list(row) for row in cells]):
        assert_equal(columns(asked.client.post("/score?gate=table", json={"rows": form})), decisions)


def test_64_clients_at_once(asked, library, pictures, as_png):
    files = [as_png(picture) for picture in pictures]
    with ThreadPoolExecutor(64) as clients:
        answers = list(clients.map(lambda file: asked.score([file], gate="pictures"), files))
    found = [np.concatenate(parts) for parts in zip(*map(columns, answers), strict=True)]
    assert_equal(found, library["pictures"].decide(pictures))


@pytest.mark.parametrize("name", ["pictures", "rows"])
def test_the_library_itself_may_be_asked_from_many_threads(library, pictures, numbers, name):
    """What the workers rely on: one detector, shared."""
    gate, inputs = library[name], {"pictures": pictures, "rows": numbers}[name]
    expected = gate.decide(inputs)
    batches = np.array_split(inputs, 30)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(gate.decide, batches))
    assert_equal([np.concatenate(part) for part in zip(*found, strict=True)], expected)


@pytest.mark.parametrize("effort", ["fast", "standard", "thorough"])
def test_every_effort_is_asked_by_name(asked, library, pictures, numbers, as_png, effort):
    files = [("files", ("a.png", as_png(picture), "image/png")) for picture in pictures[:5]]
    answer = asked.client.post("/score", params={"gate": "pictures", "effort": effort}, files=files)
    assert_equal(columns(answer), at_effort(library["pictures"], effort).decide(pictures[:5]))
    answer = asked.client.post(
        "/score", params={"gate": "rows", "effort": effort}, json={"rows": numbers.tolist()}
    )
    assert_equal(columns(answer), library["rows"].decide(numbers))


def test_an_effort_that_is_none_is_refused(asked, numbers):
    answer = asked.client.post(
        "/score", params={"gate": "rows", "effort": "hasty"}, json={"rows": numbers.tolist()}
    )
    assert answer.status_code == 422
    assert "'effort' must be 'fast', 'standard' or 'thorough'" in answer.json()["error"]
