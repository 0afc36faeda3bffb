"""Who is let in, and what every answer carries."""

import os
import re
import threading

import pytest

from dissensus.errors import SettingsError
from dissensus.serve.keys import KeyFile, new_key
from dissensus.serve.quotas import Quotas
from dissensus.serve.refusals import Refusal
from dissensus.serve.settings import ServeSettings

ROWS = {"rows": [[0.0, 0.0, 0.0]]}


def test_keys_are_kept_as_hashes_and_known_again(tmp_path):
    file = tmp_path / "keys"
    first, second = new_key(file, "first"), new_key(file, "second")
    text = file.read_text()
    assert first not in text
    assert second not in text
    assert len(first) > 40
    assert file.stat().st_mode & 0o777 == 0o600
    keys = KeyFile(file)
    assert keys.names == ["first", "second"]
    assert [keys.name_of(key) for key in (first, second, first[:-1], "", None, first + "x", "ü" * 300)] == [
        "first",
        "second",
        *[None] * 5,
    ]


def test_every_key_is_compared(tmp_path, monkeypatch):
    file = tmp_path / "keys"
    key = new_key(file, "a")
    for name in "bcd":
        new_key(file, name)
    compared = []
    monkeypatch.setattr(
        "dissensus.serve.keys.hmac.compare_digest", lambda one, two: compared.append(one) or one == two
    )
    assert KeyFile(file).name_of(key) == "a"
    assert len(compared) == 4


@pytest.mark.parametrize("name", ["a b", "", "ä", "x" * 101, "a\nb"])
def test_odd_names_of_keys_are_refused(tmp_path, name):
    with pytest.raises(SettingsError, match="name"):
        new_key(tmp_path / "keys", name)


def test_a_name_is_given_once(tmp_path):
    new_key(tmp_path / "keys", "a")
    with pytest.raises(SettingsError, match="already"):
        new_key(tmp_path / "keys", "a")


@pytest.mark.parametrize("content", [None, b"", b"# nothing\n", b"a sha256:12\n", b"\xff", b"plain-key\n"])
def test_files_that_hold_no_keys_are_refused(tmp_path, content):
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match="keys"):
        KeyFile(file)


def test_a_key_is_asked_for_everywhere_but_at_the_door(serving, folder, tmp_path):
    file = tmp_path / "keys"
    key = new_key(file, "tester")
    with serving(folder / "rows", keys=file, poll=0.05) as found:
        for path in ("/", "/static/style.css", "/v2/health/live", "/v2/health/ready", "/openapi.json"):
            assert found.client.get(path).status_code == 200, path
        for path in ("/gate", "/gates", "/traffic", "/metrics", "/v2", "/v2/models/rows", "/nothing"):
            answer = found.client.get(path)
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "key" in answer.json()["error"]
        for headers in (
            {"Authorization": f"Bearer {key}"},
            {"authorization": f"bearer  {key}"},
            {"X-API-Key": key},
        ):
            assert found.client.post("/score", json=ROWS, headers=headers).status_code == 200
        for headers in (
            {"Authorization": "Bearer"},
            {"Authorization": f"Basic {key}"},
            {"X-API-Key": key[1:]},
        ):
            assert found.client.post("/score", json=ROWS, headers=headers).status_code == 401


def test_revoked_and_added_keys_are_seen_while_serving(serving, folder, tmp_path, until, monkeypatch):
    file = tmp_path / "keys"
    old = new_key(file, "old")
    with serving(folder / "rows", keys=file, poll=0.05) as found:
        status = lambda key: found.client.get("/gate", headers={"X-API-Key": key}).status_code  # noqa: E731
        new = new_key(file, "new")
        until(lambda: status(new) == 200)
        file.write_text(re.sub(r"(?m)^old .*\n", "", file.read_text()))
        until(lambda: status(old) == 401)
        refused, refresh = [], found.service.keys.refresh

        def noted():
            try:
                return refresh()
            except SettingsError as error:
                refused.append(error)
                raise

        monkeypatch.setattr(found.service.keys, "refresh", noted)
        file.write_text("damaged")  # those known stay
        until(lambda: refused)
        assert status(new) == 200
        file.write_text("# nobody\n")
        until(lambda: status(new) == 401)


def test_a_revoked_key_does_not_wait_for_a_gate(serving, own_folder, tmp_path, until, monkeypatch):
    file, loading = tmp_path / "keys", threading.Event()
    key = new_key(file, "old")
    with serving(own_folder / "rows", keys=file, poll=0.05) as found:
        monkeypatch.setattr(found.service.gates._folder, "load", lambda *_: loading.wait(600))
        (own_folder / "rows" / "config.json").touch()
        file.write_text("# nobody\n")
        until(lambda: found.client.get("/gate", headers={"X-API-Key": key}).status_code == 401)
        loading.set()


def test_another_key_leaves_the_file_as_open_as_it_was(tmp_path):
    file = tmp_path / "keys"
    new_key(file, "a")
    file.chmod(0o640)
    new_key(file, "b")
    assert file.stat().st_mode & 0o777 == 0o640


def test_security_headers_are_on_every_answer(asked):
    for path in ("/", "/gate", "/nothing", "/static/style.css", "/metrics"):
        headers = asked.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "localhost:99"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": ""}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_foreign_pages_and_names_are_held_off(asked, headers, status):
    assert asked.client.post("/score?gate=rows", json=ROWS, headers=headers).status_code == status


def test_anybody_may_link_to_the_page(asked):
    assert asked.client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_the_description_says_where_a_key_is_needed(serving, folder, tmp_path, asked):
    new_key(tmp_path / "keys", "tester")
    with serving(folder / "rows", keys=tmp_path / "keys") as found:
        described = found.client.get("/openapi.json").json()
    assert set(described["components"]["securitySchemes"]) == {"bearer", "header"}
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert bool(operation["security"]) == (not path.startswith("/v2/health"))
    assert "securitySchemes" not in asked.client.get("/openapi.json").json()["components"]


def test_the_page_itself_may_ask(asked):
    assert asked.client.post("/score?gate=rows", json=ROWS, headers={"origin": asked.url}).status_code == 200


def test_other_names_can_be_allowed(serving, folder):
    with serving(folder / "rows", allowed_hosts=("gate.example",)) as found:
        assert found.client.get("/gate", headers={"host": "Gate.Example:80"}).status_code == 200
        assert found.client.get("/gate").status_code == 403


def test_probes_and_prometheus_may_ask_by_an_address(serving, folder):
    """A kubelet asks a pod by its address; no page of another site can do that in somebody's browser."""
    with serving(folder / "rows", allowed_hosts=("gate.example",)) as found:
        status = lambda path, host: found.client.get(path, headers={"host": host}).status_code  # noqa: E731
        for path in ("/v2/health/live", "/v2/health/ready", "/metrics"):
            for host in ("10.1.2.3:8000", "[fd00::7]:8000", "10.1.2.3"):
                assert status(path, host) == 200, (path, host)
            for host in ("evil.example", "10.1.2.3.evil.example", "", "10.1.2"):
                assert status(path, host) == 403, (path, host)
        assert status("/gate", "10.1.2.3:8000") == 403


def test_a_name_may_be_allowed_with_its_port_and_an_address_without_brackets(serving, folder):
    with serving(folder / "rows", allowed_hosts=("gate.example:8443", "fe80::1", "[fe80::2]:80")) as found:
        status = lambda host: found.client.get("/gate", headers={"host": host}).status_code  # noqa: E731
        for host in ("gate.example:8443", "gate.example", "[fe80::1]:80", "[fe80::1]", "[FE80::2]"):
            assert status(host) == 200, host
        for host in ("other.example:8443", "[fe80::3]", "fe80", ""):
            assert status(host) == 403, host


@pytest.mark.parametrize("given", ["abc-1.2:3", "0" * 100])
def test_harmless_request_ids_are_kept(asked, given):
    assert asked.client.get("/gates", headers={"x-request-id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "<script>", "0" * 101, 'x"}'])
def test_other_request_ids_are_replaced(asked, given):
    ask = lambda: asked.client.get("/gates", headers={"x-request-id": given}).headers["x-request-id"]  # noqa: E731
    first, second = ask(), ask()
    assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]+", first)
    assert first != second


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"host": "0.0.0.0"}, "keys"),
        ({"host": "::"}, "keys"),
        ({"host": "example.org"}, "keys"),
        ({"webhook": "ftp://x/"}, "webhook"),
        ({"webhook": "https://user:word@x/"}, "webhook"),
        ({"webhook": "no address"}, "webhook"),
        ({"webhook": "http://["}, "webhook"),
        ({"webhook": "http://x:99999/"}, "webhook"),
        ({"port": 70000}, "port"),
        ({"workers": 0}, "workers"),
        ({"max_batch": 0}, "max_batch"),
        ({"timeout": float("nan")}, "timeout"),
        ({"max_delay_ms": -1}, "max_delay_ms"),
        ({"log_format": "xml"}, "log_format"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, word):
    with pytest.raises(SettingsError, match=word):
        ServeSettings(**settings)


def test_other_machines_may_ask_with_keys_or_when_told_so(tmp_path):
    ServeSettings(host="0.0.0.0", keys=tmp_path / "keys")
    ServeSettings(host="0.0.0.0", no_keys_ok=True)


@pytest.mark.parametrize(
    ("quota", "workers"), [(None, 6), ("max 100000\n", 6), ("250000 100000\n", 2), ("1000 100000", 1)]
)
def test_a_container_s_share_of_the_cores_counts(tmp_path, monkeypatch, quota, workers):
    file = tmp_path / "cpu.max"
    if quota is not None:
        file.write_text(quota)
    monkeypatch.setattr("dissensus.evaluation.provenance.QUOTA", file)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(6), raising=False)
    assert ServeSettings().worker_count == workers
    assert ServeSettings(workers=9).worker_count == 9


def test_tls_takes_both_files(tmp_path):
    (tmp_path / "cert").write_text("")
    with pytest.raises(SettingsError, match="belong together"):
        ServeSettings(tls_cert=tmp_path / "cert")
    with pytest.raises(SettingsError, match="is no file"):
        ServeSettings(tls_cert=tmp_path / "cert", tls_key=tmp_path / "none")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")
def test_keys_are_kept_in_regular_files_only(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SettingsError, match="no regular file"):
        new_key(tmp_path / "pipe", "alice")
    (tmp_path / "link").symlink_to("keys")
    new_key(tmp_path / "link", "alice")
    new_key(tmp_path / "link", "bob")
    assert (tmp_path / "link").is_symlink()
    assert KeyFile(tmp_path / "keys").names == ["alice", "bob"]


def test_a_key_has_a_quota_of_inputs_a_minute(serving, folder, tmp_path):
    file = tmp_path / "keys"
    few, many = new_key(file, "few", quota=5), new_key(file, "many")
    ask = lambda key, count: found.client.post(  # noqa: E731
        "/score", json={"rows": ROWS["rows"] * count}, headers={"X-API-Key": key}
    )
    with serving(folder / "rows", keys=file, quota=100) as found:
        assert [ask(few, count).status_code for count in (3, 2)] == [200, 200]
        refused = ask(few, 2)
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 24
        assert ask(few, 6).status_code == 413  # no minute is long enough
        assert ask(many, 50).status_code == 200


def test_a_key_without_quota_left_has_no_picture_decoded(serving, folder, tmp_path, as_png, pictures):
    file = tmp_path / "keys"
    key = new_key(file, "few", quota=3)
    shown = [as_png(picture) for picture in pictures[:4]]
    with serving(folder / "pictures", keys=file) as found:
        found.service.quotas._clock = lambda: 0.0  # nothing is added meanwhile
        found.client.headers["X-API-Key"] = key
        assert found.score(shown).status_code == 413
        assert found.score([shown[0], b"no picture"]).status_code == 200  # what cannot be read counts, too
        assert found.score(shown[:2]).status_code == 429
        told = found.client.get("/metrics").text
        assert found.client.post("/explain", files={"files": ("a.png", shown[0])}).status_code == 200
        assert found.client.post("/explain", files={"files": ("a.png", shown[0])}).status_code == 429
    assert 'dissensus_pictures_total{outcome="read"} 1.0' in told
    assert 'dissensus_pictures_total{outcome="unusable"} 1.0' in told


def test_quotas_fill_up_again(tmp_path):
    new_key(tmp_path / "keys", "a", quota=60)
    seconds = [0.0]
    quotas = Quotas(KeyFile(tmp_path / "keys"), None, clock=lambda: seconds[0])
    quotas.take("a", 60)
    with pytest.raises(Refusal) as refusal:
        quotas.take("a", 10)
    assert refusal.value.headers["Retry-After"] == "10"
    seconds[0] = 10.0
    quotas.take("a", 10)
    quotas.take(None, 1000)


def test_operators_and_quotas_need_keys():
    for settings in ({"operators": ("me",)}, {"quota": 5}):
        with pytest.raises(SettingsError, match="--keys"):
            ServeSettings(**settings)
