"""People say through the service what inputs are: who may, what is saved, and who hears of it."""

import errno
import os
import threading

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.lock import Claim

ALL = {"reviewers": ("*",)}
LONG = 600.0  # seconds that only a hang takes


@pytest.fixture
def rows(numbers):
    return {"rows": numbers[:6].tolist()}


@pytest.fixture
def table_row():
    return {"rows": [{"age": 41, "pet": "cat"}]}


def known(found, rows, gate="rows"):
    answer = found.client.post(f"/score?gate={gate}", json=rows)
    return [result["known"] for result in answer.json()["results"]]


def facts(found, gate="rows"):
    return found.client.get(f"/gate?gate={gate}").json()


def test_nothing_is_known_before_anybody_has_looked(asked, rows, table_row):
    assert known(asked, rows) == [None] * 6
    assert known(asked, {"rows": [[1, 2, 3], [1]]}) == [None, None]
    assert asked.client.post("/explain?gate=table", json=table_row).json()["known"] is None


def test_outliers_are_remembered_and_no_score_changes(serving, own_folder, rows):
    with serving(own_folder, **ALL) as found:
        before, about = found.client.post("/score?gate=rows", json=rows).json(), facts(found)
        answer = found.client.post("/confirm?gate=rows&normal=false", json=rows)
        assert answer.status_code == 200, answer.text
        told, after = answer.json(), facts(found)
        assert told == {
            "gate": "rows",
            "version": after["version"],
            "normal": False,
            "remembered": 6,
            "joined": 0,
            "left": 0,
            "calibration_inputs": about["calibration"]["count"],
        }
        assert after["version"] != about["version"]
        again = found.client.post("/score?gate=rows", json=rows).json()
        assert [result.pop("known") for result in again["results"]] == ["confirmed as an outlier before"] * 6
        assert [result.pop("known") for result in before["results"]] == [None] * 6
        assert again == before
        explained = found.client.post("/explain?gate=rows", json={"rows": rows["rows"][:1]}).json()
        assert explained["known"] == "confirmed as an outlier before"
        assert explained["notes"] == []
    saved = BayesianVAE.load(own_folder / "rows", device="cpu")
    assert saved.known(np.array(rows["rows"])) == ["confirmed as an outlier before"] * 6


def test_pictures_and_tables_too(serving, own_folder, pictures, as_png, table_row):
    with serving(own_folder, **ALL) as found:
        files = [("files", (f"{number}.png", as_png(pictures[number]))) for number in range(2)]
        answer = found.client.post("/confirm?gate=pictures&normal=true", files=files)
        assert answer.json()["remembered"] == 2
        results = found.score([as_png(one) for one in pictures[:3]], gate="pictures").json()["results"]
        assert [result["known"] for result in results] == ["confirmed as normal before"] * 2 + [None]
        assert found.client.post("/confirm?gate=table&normal=false", json=table_row).status_code == 200
        assert known(found, table_row, "table") == ["confirmed as an outlier before"]


def test_what_was_audited_joins_and_what_turns_out_otherwise_leaves(serving, own_folder, library, rows):
    with serving(own_folder, **ALL) as found:
        told = found.client.post("/confirm?gate=rows&normal=true&audited=1", json=rows).json()
        count = len(library["rows"].calibration_scores_)
        assert (told["joined"], told["calibration_inputs"]) == (6, count + 6)
        assert facts(found)["calibration"]["count"] == count + 6
        twice = found.client.post("/confirm?gate=rows&normal=true&audited=1", json=rows)
        assert twice.status_code == 422
        assert "confirmed before" in twice.json()["error"]
        told = found.client.post("/confirm?gate=rows&normal=false", json=rows).json()
        assert (told["left"], told["calibration_inputs"]) == (6, count)


def test_traffic_goes_on_unless_decisions_change(serving, own_folder, rows):
    with serving(own_folder, **ALL) as found:
        assert len(known(found, rows)) == 6
        inputs = lambda: found.client.get("/traffic?gate=rows").json()["inputs"]  # noqa: E731
        found.client.post("/confirm?gate=rows&normal=false", json=rows)
        assert inputs() == 6
        found.client.post("/confirm?gate=rows&normal=true&audited=1", json=rows)
        assert inputs() == 0


def test_only_reviewers_may(serving, own_folder, tmp_path, rows):
    from dissensus.serve.keys import new_key

    keys = tmp_path / "keys"
    ann, bob = ({"X-API-Key": new_key(keys, name)} for name in ("ann", "bob"))
    ask = {"url": "/confirm?gate=rows&normal=false", "json": rows}
    with serving(own_folder, keys=keys, reviewers=("ann",)) as found:
        assert found.client.post(**ask).status_code == 401
        refused = found.client.post(**ask, headers=bob)
        assert refused.status_code == 403
        assert "--reviewer" in refused.json()["error"]
        assert not found.client.get("/gates", headers=bob).json()["may_confirm"]
        assert found.client.get("/gates", headers=ann).json()["may_confirm"]
        before = (own_folder / "rows/config.json").read_bytes()
        assert found.client.post(**ask, headers=ann).status_code == 200
        assert (own_folder / "rows/config.json").read_bytes() != before


def test_nobody_may_unless_it_was_asked_for(asked, rows):
    assert asked.client.post("/confirm?gate=rows&normal=false", json=rows).status_code == 403
    assert asked.client.get("/gates").json()["may_confirm"] is False


def test_names_of_reviewers_need_keys():
    from dissensus.errors import SettingsError
    from dissensus.serve.settings import ServeSettings

    with pytest.raises(SettingsError, match="keys"):
        ServeSettings(reviewers=("ann",))
    assert ServeSettings(reviewers=("*",)).may_confirm(None)
    assert not ServeSettings().may_confirm(None)


@pytest.mark.parametrize(
    ("query", "body", "status", "words"),
    [
        ("", [[1, 2, 3]], 422, "'normal' is missing"),
        ("&normal=perhaps", [[1, 2, 3]], 422, "'normal' must be true or false"),
        ("&normal=true&audited=2", [[1, 2, 3]], 422, "'audited' must be at most 1"),
        ("&normal=true&audited=nan", [[1, 2, 3]], 422, "audited"),
        ("&normal=false&audited=1", [[1, 2, 3]], 422, "outliers never join"),
        ("&normal=false", [[1, 2, 3], [1]], 422, "nothing was confirmed: input 1"),
        ("&normal=false", [], 422, "at least 1"),
        ("&normal=false", [[1, 2, 3]] * 65, 413, "at most 64"),
    ],
)
def test_what_cannot_be_confirmed_changes_nothing(serving, own_folder, query, body, status, words):
    before = (own_folder / "rows/config.json").read_bytes()
    with serving(own_folder, **ALL, max_inputs=64) as found:
        answer = found.client.post(f"/confirm?gate=rows{query}", json={"rows": body})
        assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
    assert (own_folder / "rows/config.json").read_bytes() == before


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_folder_that_may_not_be_written_to_is_refused(serving, own_folder, rows, monkeypatch, code):
    def refused(*_, **__):
        raise OSError(code, os.strerror(code))

    with serving(own_folder, **ALL) as found:
        version = facts(found)["version"]
        monkeypatch.setattr("dissensus.lock._opened", refused)
        answer = found.client.post("/confirm?gate=rows&normal=false", json=rows)
        assert answer.status_code == 409
        words = f"the service cannot write to its place ({os.strerror(code)})"
        assert answer.json()["error"] == f"gate rows was not changed: {words}"
        assert facts(found)["version"] == version
        assert known(found, rows) == [None] * 6


def test_a_disk_that_is_full_leaves_the_gate_as_it_was(serving, own_folder, rows, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with serving(own_folder, **ALL) as found:
        monkeypatch.setattr("dissensus.persistence.artifact.save_arrays", full)
        answer = found.client.post("/confirm?gate=rows&normal=false", json=rows)
        assert answer.status_code == 409
        assert os.strerror(errno.ENOSPC) in answer.json()["error"]
        assert known(found, rows) == [None] * 6
    assert BayesianVAE.load(own_folder / "rows", device="cpu").confirmed_ is None


def test_while_another_process_writes_it_is_told_to_come_again(serving, own_folder, rows):
    with serving(own_folder, **ALL) as found:
        with Claim(own_folder / "rows"):
            answer = found.client.post("/confirm?gate=rows&normal=false", json=rows)
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == "1"
        assert answer.json()["error"] == "another process is writing to gate rows: try again in 1 s"
        assert found.client.post("/confirm?gate=rows&normal=false", json=rows).status_code == 200


def test_one_at_a_time(serving, own_folder, rows, monkeypatch, until):
    begun, go_on = threading.Event(), threading.Event()
    confirm = BayesianVAE.confirm

    def slow(*arguments, **settings):
        begun.set()
        assert go_on.wait(LONG)
        return confirm(*arguments, **settings)

    monkeypatch.setattr(BayesianVAE, "confirm", slow)
    with serving(own_folder, **ALL) as found:
        codes = []
        ask = lambda: found.client.post("/confirm?gate=rows&normal=false", json=rows)  # noqa: E731
        first = threading.Thread(target=lambda: codes.append(ask().status_code))
        first.start()
        assert begun.wait(LONG)
        second = ask()
        assert (second.status_code, second.headers["Retry-After"]) == (429, "1")
        go_on.set()
        first.join(LONG)
        assert codes == [200]


def test_services_of_one_folder_lose_nothing_that_each_was_told(serving, own_folder, numbers):
    """The second does not know yet what the first has saved: it reads that first, and is asked again."""
    early, late = {"rows": numbers[:3].tolist()}, {"rows": numbers[3:5].tolist()}
    with serving(own_folder, **ALL) as one, serving(own_folder, **ALL) as two:
        assert one.client.post("/confirm?gate=rows&normal=false", json=early).status_code == 200
        answer = two.client.post("/confirm?gate=rows&normal=true", json=late)
        assert answer.status_code == 429
        assert "gate rows has just been replaced" in answer.json()["error"]
        assert known(two, early) == ["confirmed as an outlier before"] * 3
        assert two.client.post("/confirm?gate=rows&normal=true", json=late).status_code == 200
        assert known(one, late) == [None] * 2  # until it looks at its folder again
        one.call(one.service.gates.refresh())
        assert known(one, late) == ["confirmed as normal before"] * 2
        assert known(one, early) == ["confirmed as an outlier before"] * 3


def test_it_is_finished_even_if_the_client_leaves(serving, own_folder, rows, monkeypatch, until):
    import httpx

    begun, go_on = threading.Event(), threading.Event()
    confirm = BayesianVAE.confirm

    def slow(*arguments, **settings):
        begun.set()
        assert go_on.wait(LONG)
        return confirm(*arguments, **settings)

    monkeypatch.setattr(BayesianVAE, "confirm", slow)
    with serving(own_folder, **ALL) as found:
        with httpx.Client(base_url=found.url, timeout=0.2) as hasty, pytest.raises(httpx.ReadTimeout):
            hasty.post("/confirm?gate=rows&normal=false", json=rows)
        assert begun.wait(LONG)
        go_on.set()
        until(lambda: known(found, rows)[0] is not None)
