"""Gates come, change and go while they are asked; a broken one changes nothing."""

import json
import shutil
import socket
import threading

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, SettingsError
from dissensus.serve.gate_folder import GateFolder
from dissensus.serve.service import Service
from dissensus.serve.settings import ServeSettings

LONG = 600.0  # seconds that only a hang takes


def version(found, name="rows"):
    return found.client.get(f"/gate?gate={name}").json()["version"]


def refresh(found):
    found.call(found.service.gates.refresh())


@pytest.fixture
def other(folder):
    """Another gate for the same rows, which scores otherwise."""
    gate = BayesianVAE.load(folder / "rows", device="cpu")
    gate.recalibrate(np.random.default_rng(5).normal(size=(80, 3)) * 2)
    return gate


@pytest.fixture
def telling(library, other, numbers):
    """One row (1, 3) of which the two gates say different things, and the p-values that they give it."""
    p_values = np.stack([library["rows"].decide(numbers).p_value, other.decide(numbers).p_value])
    row = np.argmax(np.abs(p_values[0] - p_values[1]))
    assert p_values[0, row] != p_values[1, row]
    return numbers[row : row + 1], set(p_values[:, row])


def test_a_folder_that_is_a_gate_serves_it_under_its_name(serving, folder):
    with serving(folder / "rows") as found:
        assert found.client.get("/gates").json()["gates"] == ["rows"]


def test_replaced_added_and_removed_gates(serving, own_folder, other, numbers):
    with serving(own_folder) as found:
        before, ask = (
            version(found),
            lambda: found.client.post("/score?gate=rows", json={"rows": numbers.tolist()}),
        )
        other.save(own_folder / "rows")
        refresh(found)
        assert version(found) != before
        p_values = [result["p_value"] for result in ask().json()["results"]]
        np.testing.assert_array_equal(p_values, other.decide(numbers).p_value)

        shutil.copytree(own_folder / "rows", own_folder / "another")
        refresh(found)
        assert "another" in found.client.get("/gates").json()["gates"]

        shutil.rmtree(own_folder / "another")
        refresh(found)  # somebody may just be moving a new one in
        assert "another" in found.client.get("/gates").json()["gates"]
        refresh(found)
        assert found.client.get("/gate?gate=another").status_code == 404
        assert found.client.get("/v2/health/ready").status_code == 200


@pytest.mark.parametrize("damage", ["config.json", "draws.safetensors", "calibration.safetensors"])
def test_a_broken_replacement_keeps_the_old_one_and_says_so(serving, own_folder, numbers, damage):
    with serving(own_folder) as found:
        before = version(found)
        whole = (own_folder / "rows" / damage).read_bytes()
        (own_folder / "rows" / damage).write_bytes(whole[:-10])
        refresh(found)
        refresh(found)
        assert version(found) == before
        answer = found.client.post("/score?gate=rows", json={"rows": numbers[:2].tolist()})
        assert answer.status_code == 200
        ready = found.client.get("/v2/health/ready")
        assert ready.status_code == 200
        (problem,) = ready.json()["problems"]
        assert problem.startswith("gate rows cannot be loaded")
        assert str(own_folder) not in problem
        assert 'dissensus_gate_load_failures_total{gate="rows"} 1.0' in found.client.get("/metrics").text

        (own_folder / "rows" / damage).write_bytes(whole)
        refresh(found)
        assert found.client.get("/v2/health/ready").json()["problems"] == []


def test_a_single_gate_that_vanishes_is_served_on(serving, own_folder, numbers):
    with serving(own_folder / "rows") as found:
        shutil.rmtree(own_folder / "rows")
        refresh(found)
        refresh(found)
        assert found.client.post("/score", json={"rows": numbers[:1].tolist()}).status_code == 200
        assert "gone" in found.client.get("/v2/health/ready").json()["problems"][0]


def test_broken_gates_beside_whole_ones_are_left_out(serving, own_folder):
    (own_folder / "rows" / "draws.safetensors").write_bytes(b"")
    (own_folder / "empty").mkdir()
    (own_folder / "a file").write_text("")
    shutil.copytree(own_folder / "table", own_folder / "odd näme")
    with serving(own_folder) as found:
        assert found.client.get("/gates").json()["gates"] == ["pictures", "table"]
        assert len(found.client.get("/v2/health/ready").json()["problems"]) == 2


@pytest.mark.parametrize("what", ["nothing", "file", "empty", "broken"])
def test_nothing_to_serve_is_an_error_that_says_so(tmp_path, own_folder, what):
    path = {
        "nothing": tmp_path / "nowhere",
        "file": tmp_path / "file",
        "empty": tmp_path / "empty",
        "broken": own_folder / "rows",
    }[what]
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (own_folder / "rows" / "draws.safetensors").write_bytes(b"")
    with pytest.raises(ArtifactError, match=path.name):
        Service(path, ServeSettings())


def test_folders_being_written_are_not_gates(own_folder):
    shutil.copytree(own_folder / "rows", own_folder / ".rows.x.tmp")
    assert list(GateFolder(own_folder).scan()) == ["pictures", "rows", "table"]


def test_a_request_that_was_still_being_sent_when_its_gate_was_replaced(
    serving, own_folder, other, telling, until
):
    body = json.dumps({"rows": telling[0].tolist()}).encode()
    head = f"POST /score?gate=rows HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    with serving(own_folder) as found:
        gates = found.service.gates
        before_version = version(found)
        before = found.client.post(
            "/score?gate=rows", content=body, headers={"content-type": "application/json"}
        )
        host, port = found.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=LONG) as connection:
            connection.sendall(f"{head}Content-Type: application/json\r\nConnection: close\r\n\r\n".encode())
            connection.sendall(body[:10])
            until(lambda: gates.find("rows")._asking == 1)  # the half request has been seen
            other.save(own_folder / "rows")
            refresh(found)
            (leaving,) = gates._leaving
            for _ in range(10):  # the loop turns many times for each of these
                assert version(found) != before_version
            assert not leaving.done()
            connection.sendall(body[10:])
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        assert received.startswith(b"HTTP/1.1 200")
        assert received.endswith(before.content)
        until(lambda: not gates._leaving)


def test_a_gate_swapped_under_load_loses_nothing(serving, own_folder, other, telling, until):
    """Every answer is one of the old gate or one of the new, and there is one for every request."""
    row, known = telling
    answers, stop = [], threading.Event()
    with serving(own_folder, poll=0.05) as found:

        def ask():
            while not stop.is_set():
                answers.append(found.client.post("/score?gate=rows", json={"rows": row.tolist()}))

        clients = [threading.Thread(target=ask) for _ in range(8)]
        for client in clients:
            client.start()
        originals = BayesianVAE.load(own_folder / "rows", device="cpu")
        for gate in (other, originals, other):
            before = version(found)
            gate.save(own_folder / "rows")
            until(lambda before=before: version(found) != before)
        stop.set()
        for client in clients:
            client.join()
    assert {answer.status_code for answer in answers} == {200}
    p_values = [answer.json()["results"][0]["p_value"] for answer in answers]
    assert set(p_values) == known


def test_a_gate_behind_a_link_is_called_by_the_link_and_follows_it(serving, folder, tmp_path, other):
    """As people deploy: each save a folder of its own, and a link to the one that is in use."""
    root, saves = tmp_path / "gates", tmp_path / "saves"
    root.mkdir()
    shutil.copytree(folder / "rows", saves / "v16")
    other.save(saves / "v17")
    (root / "current").symlink_to(saves / "v16")
    with serving(root) as found:
        listed = found.client.get("/gates").json()
        assert (listed["gates"], listed["default"]) == (["current"], "current")
        before = version(found, "current")
        (root / "new").symlink_to(saves / "v17")
        (root / "new").rename(root / "current")
        refresh(found)
        assert version(found, "current") != before
    (tmp_path / "current").symlink_to(saves / "v16")
    with serving(tmp_path / "current") as found:
        assert found.client.get("/gates").json()["gates"] == ["current"]


def test_where_none_is_named_the_default_answers_and_never_another(serving, own_folder, numbers):
    ask = lambda found: found.client.post("/score", json={"rows": numbers[:1].tolist()})  # noqa: E731
    only = own_folder.parent / "only"
    shutil.copytree(own_folder / "rows", only / "rows")
    with serving(only) as found:
        assert ask(found).json()["gate"] == "rows"
        shutil.copytree(own_folder / "rows", only / "a-newcomer")
        refresh(found)
        refused = ask(found)
        assert (refused.status_code, "--default" in refused.json()["error"]) == (422, True)
        assert found.client.get("/gates").json()["default"] is None
    with serving(only, default="rows") as found:
        assert ask(found).json()["gate"] == "rows"
    with pytest.raises(SettingsError, match="'nobody' cannot be served: there are a-newcomer, rows"):
        Service(only, ServeSettings(default="nobody"))


def test_versions_of_a_gate_and_the_one_that_is_pinned(serving, folder, tmp_path, other, telling):
    numbers, _ = telling
    root = tmp_path / "gates"
    shutil.copytree(folder / "rows", root / "sensors" / "v1")
    other.save(root / "sensors" / "v2")
    body = {"inputs": [{"name": "rows", "shape": [1, 3], "datatype": "FP64", "data": numbers[0].tolist()}]}
    with serving(root) as found:
        unnamed = found.client.post("/v2/models/sensors/infer", json=body)
        assert (unnamed.status_code, "--pin sensors=" in unnamed.json()["error"]) == (404, True)
    with serving(root, pinned=(("sensors", "v2"),)) as found:
        asked = {
            path: found.client.post(f"/v2/models/sensors{path}/infer", json=body).json()
            for path in ("", "/versions/v1", "/versions/v2")
        }
        assert [answer["model_version"] for answer in asked.values()] == ["v2", "v1", "v2"]
        assert asked[""]["outputs"] == asked["/versions/v2"]["outputs"]
        assert asked[""]["outputs"] != asked["/versions/v1"]["outputs"]
        assert found.client.get("/v2/models/sensors").json()["versions"] == ["v1", "v2"]
        assert found.client.post("/v2/models/sensors/versions/v3/infer", json=body).status_code == 404
        rows = {"rows": numbers[:1].tolist()}
        assert found.client.post("/score", json=rows).json()["gate"] == "sensors/v2"
        assert found.client.post("/score?gate=sensors/v1", json=rows).json()["gate"] == "sensors/v1"
    with pytest.raises(SettingsError, match="v9"):
        Service(root, ServeSettings(pinned=(("sensors", "v9"),)))


def test_gates_are_listed_unloaded_and_loaded_by_operators(serving, own_folder, tmp_path):
    from dissensus.serve.keys import new_key

    tritonclient = pytest.importorskip("tritonclient.http")
    keys = tmp_path / "keys"
    boss, other = ({"X-API-Key": key} for key in (new_key(keys, name) for name in ("boss", "other")))
    with serving(own_folder, keys=keys, operators=("boss",)) as found:
        client = tritonclient.InferenceServerClient(found.url.removeprefix("http://"))
        states = lambda: {  # noqa: E731
            entry["name"]: entry["state"] for entry in client.get_model_repository_index(headers=boss)
        }
        assert states() == dict.fromkeys(("pictures", "rows", "table"), "READY")
        client.unload_model("rows", headers=boss)
        refresh(found)
        assert states()["rows"] == "UNAVAILABLE"
        assert not client.is_model_ready("rows", headers=boss)
        client.load_model("rows", headers=boss)
        assert client.is_model_ready("rows", headers=boss)
        with pytest.raises(tritonclient.InferenceServerException, match="operator"):
            client.unload_model("rows", headers=other)
        with pytest.raises(tritonclient.InferenceServerException, match="no gate"):
            client.load_model("nobody", headers=boss)
        (own_folder / "rows" / "draws.safetensors").write_bytes(b"")
        with pytest.raises(tritonclient.InferenceServerException, match="rows"):
            client.load_model("rows", headers=boss)
        assert client.is_model_ready("rows", headers=boss)  # the one before serves on
        client.close()


def test_a_gate_that_would_take_long_is_refused_before_it_is_tried(own_folder, monkeypatch):
    from dissensus.serve import gate_folder

    monkeypatch.setattr(gate_folder, "MOST_LIKELIHOODS", 15)
    with pytest.raises(ArtifactError, match="4 draws × 4 samples"):
        Service(own_folder / "rows", ServeSettings())
