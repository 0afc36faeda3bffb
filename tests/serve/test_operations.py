"""What an operator sees: metrics, logs, readiness, drift alarms, webhooks."""

import asyncio
import io
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from dissensus._version import __version__
from dissensus.decisions import DriftMonitor, conformal_p_values
from dissensus.detector.asking import Decisions
from dissensus.errors import SettingsError
from dissensus.serve import traffic as traffic_module
from dissensus.serve import webhook as webhook_module
from dissensus.serve.logs import _OTHERS, _QUIET, set_up_logs
from dissensus.serve.metrics import Metrics
from dissensus.serve.settings import ServeSettings
from dissensus.serve.traffic import Traffic
from dissensus.serve.webhook import WAITING, Webhook


def samples(text):
    """{(name, labels): value}"""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def decided(scores, calibration=None):
    scores = np.asarray(scores, dtype=np.float64)
    p_values = np.full(len(scores), 0.5) if calibration is None else conformal_p_values(calibration, scores)
    return Decisions(scores, p_values, scores > 1)


@pytest.fixture
def logged():
    """The lines that are logged, as objects."""
    stream = io.StringIO()
    names = ("dissensus.serve", *_OTHERS, *_QUIET)
    kept = {name: dict(vars(logging.getLogger(name))) for name in names}
    set_up_logs("json", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    for name, state in kept.items():
        vars(logging.getLogger(name)).update(state)
        logging.getLogger(name).setLevel(state["level"])  # whoever asked meanwhile was remembered


def test_metrics_count_what_happened(serving, folder, pictures, as_png, library, until):
    with serving(folder / "pictures", workers=1) as found:  # with two, batches may end in another order
        found.score([as_png(picture) for picture in pictures[:12]])
        found.score([b"nothing"])
        found.client.get("/no/such/path-unheard-of")
        # A request is counted just after its answer has left; this one is the only one in flight.
        alone = lambda: "dissensus_requests_in_flight 1.0\n" in found.client.get("/metrics").text  # noqa: E731
        until(alone)
        text = found.client.get("/metrics").text
    decisions, values = library["pictures"].decide(pictures[:12]), samples(text)
    gate = ("gate", "pictures")
    route = ("method", "POST"), ("route", "/score")
    assert values["dissensus_requests_total", (*route, ("status", "200"))] == 1
    assert values["dissensus_requests_total", (*route, ("status", "422"))] == 1
    assert values["dissensus_request_seconds_count", (("route", "/score"),)] == 2
    assert values["dissensus_inputs_total", (("flagged", "true"), gate)] == decisions.flagged.sum()
    assert values["dissensus_inputs_total", (("flagged", "false"), gate)] == (~decisions.flagged).sum()
    assert values["dissensus_score_bucket", (gate, ("le", "1.0"))] == (decisions.score <= 1).sum()
    below = (decisions.p_value <= 0.5).sum()
    assert values["dissensus_p_value_bucket", (gate, ("le", "0.5"))] == below
    assert values["dissensus_flagged_share", (gate,)] == pytest.approx(decisions.flagged.mean())
    monitor = library["pictures"].drift_monitor()
    monitor.update(decisions.score)
    assert values["dissensus_drift_log_capital", (gate,)] == pytest.approx(monitor.log_martingale)
    assert values["dissensus_queue_inputs", (gate,)] == 0
    assert values["dissensus_ready", ()] == 1
    assert "unheard-of" not in text


def test_every_effort_counts_and_drift_is_told_by_the_own_one(serving, folder, pictures, as_png, library):
    gate = library["pictures"]
    other = next(each.name for each in gate.efforts_ if each.name != gate.effort)
    with serving(folder / "pictures") as found:
        assert found.score([as_png(picture) for picture in pictures[:3]], effort=other).status_code == 200
        assert (
            found.score([as_png(picture) for picture in pictures[:2]], effort=gate.effort).status_code == 200
        )
        (stats,) = found.client.get("/v2/models/pictures/stats").json()["model_stats"]
        values = samples(found.client.get("/metrics").text)
        traffic = found.client.get("/traffic").json()
    assert stats["inference_count"] == 5
    assert stats["inference_stats"]["success"]["count"] == 2
    assert values["dissensus_batch_inputs_sum", (("gate", "pictures"),)] == 5
    assert traffic["window"] == 2


def test_two_services_do_not_share_their_numbers():
    one, other = Metrics(), Metrics()
    one.observe_batch("a", decided([0.0, np.inf]), 0.1)
    values = samples(one.page()[0].decode())
    assert values["dissensus_score_count", (("gate", "a"),)] == 2
    assert values["dissensus_score_bucket", (("gate", "a"), ("le", "10000.0"))] == 1
    assert "dissensus_score_count" not in other.page()[0].decode()
    one.forget("a")
    one.forget("never seen")
    assert 'gate="a"' not in one.page()[0].decode()


def test_counters_are_there_before_anything_has_happened(serving, folder):
    """What appears with its first event has no rate, and no alert sees it."""
    with serving(folder / "rows") as found:
        values = samples(found.client.get("/metrics").text)
    score = (("method", "POST"), ("route", "/score"), ("status", "200"))
    assert values["dissensus_requests_total", score] == 0
    assert values["dissensus_inputs_total", (("flagged", "true"), ("gate", "rows"))] == 0
    assert values["dissensus_drift_alarms_total", (("gate", "rows"),)] == 0
    assert values["dissensus_gate_load_failures_total", (("gate", "rows"),)] == 0
    assert values["dissensus_webhooks_total", (("outcome", "failed"),)] == 0
    assert values["dissensus_pictures_total", (("outcome", "crash"),)] == 0


def test_metrics_tell_of_the_process_and_the_moment(serving, folder):
    with serving(folder / "rows", connections=50) as found:
        values = samples(found.client.get("/metrics").text)
    assert values["dissensus_connections", ()] == 1
    assert values["dissensus_connections_limit", ()] == 50
    assert values["dissensus_decode_queue_pictures", ()] == 0
    assert values["process_open_fds", ()] < values["process_max_fds", ()]
    assert values["process_resident_memory_bytes", ()] > 1e7
    (build,) = [dict(labels) for name, labels in values if name == "dissensus_build_info"]
    assert build["version"] == __version__


def test_metrics_are_openmetrics_where_that_is_asked_for(asked):
    accept = {"accept": "application/openmetrics-text; version=1.0.0"}
    answer = asked.client.get("/metrics", headers=accept)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")
    assert "\n# TYPE dissensus_requests counter\n" in answer.text
    assert asked.client.get("/metrics").headers["content-type"].startswith("text/plain; version=")


def test_logs_say_who_and_what_but_no_payload_and_no_key(serving, folder, tmp_path, logged):
    from dissensus.serve.keys import new_key

    key = new_key(tmp_path / "keys", "tester")
    row = {"age": 41.987654, "pet": "secret-pet-name"}
    with serving(folder / "table", keys=tmp_path / "keys") as found:
        headers = {"Authorization": f"Bearer {key}", "X-Request-ID": "request-17"}
        found.client.post("/score?gate=table&note=query-text", json={"rows": [row]}, headers=headers)
        found.client.get("/gate", headers={"X-API-Key": "wrong-key-value"})
    lines = logged()
    (line,) = [line for line in lines if line.get("id") == "request-17"]
    assert (line["event"], line["route"], line["status"], line["client"]) == (
        "request",
        "/score",
        200,
        "tester",
    )
    assert (line["gate"], line["inputs"]) == ("table", 1)
    assert {"time", "level", "ms", "method"} <= set(line)
    whole = json.dumps(lines)
    for secret in (key, "wrong-key-value", "secret-pet-name", "41.98", "query-text"):
        assert secret not in whole
    events = [line["event"] for line in lines if line["event"] != "request"]
    assert events[0] == "gate loaded"
    assert events[-1] == "stopped"


def test_a_failure_inside_is_a_500_with_an_id_and_no_details(serving, folder, logged, numbers):
    with serving(folder / "rows") as found:
        served = found.service.gates.find("rows")
        decide, served.batcher._decide = served.batcher._decide, lambda _: 1 / 0
        answer = found.client.post("/score", json={"rows": numbers[:1].tolist()})
        assert answer.status_code == 500
        assert answer.headers["x-request-id"] in answer.json()["error"]
        assert "division" not in answer.text
        assert answer.headers["content-security-policy"]
        served.batcher._decide = decide
        assert found.client.post("/score", json={"rows": numbers[:1].tolist()}).status_code == 200
    (failure,) = [line for line in logged() if line["event"] == "request failed"]
    assert "ZeroDivisionError" in failure["reason"]


def test_what_others_say_is_in_the_same_form(asked, logged, capfd, caplog):
    """The parser of forms would write its own lines, with what was sent in them."""
    kind = {"content-type": "multipart/form-data; boundary=edge"}
    assert asked.client.post("/score", content=b"--other", headers=kind).status_code == 400
    logging.getLogger("asyncio").error("a task\nfailed")
    assert [line["event"] for line in logged() if line["event"] != "request"] == ["a task\nfailed"]
    assert "boundary" not in capfd.readouterr().err + caplog.text


@pytest.mark.usefixtures("logged")
def test_text_logs_are_lines():
    from dissensus.serve.logs import log

    stream = io.StringIO()
    set_up_logs("text", stream)
    log("something happened", gate="a", nothing=None)
    assert stream.getvalue().rstrip().endswith("info    something happened gate=a")


def test_readiness_means_it(serving, folder):
    with serving(folder / "rows") as found:
        ready = lambda: found.client.get("/v2/health/ready").status_code  # noqa: E731
        assert ready() == 200
        found.service.workers._since[0] = -1e9  # a batch that began long ago
        assert ready() == 503
        assert "stuck" in found.client.get("/v2/health/ready").json()["problems"][0]
        assert "dissensus_ready 0.0" in found.client.get("/metrics").text
        del found.service.workers._since[0]
        assert ready() == 200
        found.loop.call_soon_threadsafe(found.service.gates.find("rows").batcher._dispatcher.cancel)
        found.client.get("/gates")
        assert ready() == 503
        assert found.client.get("/v2/models/rows/ready").status_code == 503
        assert found.client.get("/v2/health/live").status_code == 200


def test_drift_raises_the_alarm_once_and_reaches_the_webhook(serving, folder, receiver):
    with serving(folder / "rows", webhook=f"{receiver.url}/hook?token=1") as found:
        far = {"rows": [[9.0, -9.0, 9.0]] * 32}
        for _ in range(4):
            assert found.client.post("/score", json=far).status_code == 200
        assert found.client.get("/traffic").json()["drift"]["alarm"] is True
        assert receiver.wait(1)
        text = found.client.get("/metrics").text
    ((path, event),) = receiver.received
    assert path == "/hook?token=1"
    assert (event["event"], event["gate"], event["drift"]["alarm"]) == ("drift", "rows", True)
    assert "rows" not in event["drift"]
    assert 'dissensus_drift_alarms_total{gate="rows"} 1.0' in text
    assert 'dissensus_drift_alarm{gate="rows"} 1.0' in text


def test_the_monitor_is_renewed_so_that_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(traffic_module, "RENEWED", 50)
    random = np.random.default_rng(0)
    traffic = Traffic(DriftMonitor(random.normal(size=100)))
    alarms = [traffic.add(decided(random.normal(size=10) + 5)) for _ in range(20)]
    assert sum(alarms) == 4  # once in each fifty
    assert traffic.inputs == 200
    assert traffic.drift()["inputs"] <= 50
    assert traffic.summary()["window"] == 200


def test_after_an_alarm_traffic_says_how_it_differs_and_what_to_do():
    random = np.random.default_rng(1)
    calibration = random.normal(size=400)
    for shift, words in ((1.5, "score higher than"), (-1.5, "score lower than")):
        traffic = Traffic(DriftMonitor(calibration))
        traffic.add(decided(random.normal(size=100), calibration))
        assert traffic.drift()["sentence"] is None
        traffic.add(decided(random.normal(size=200) + shift, calibration))
        assert traffic.alarm
        assert words in traffic.drift()["sentence"]
        assert "dissensus calibrate" in traffic.drift()["sentence"]
    for _ in range(5):  # the shift is over, and the alarm stays
        traffic.add(decided(random.normal(size=100), calibration))
    assert traffic.drift()["sentence"] == "The last 500 inputs score about as the calibration inputs did."


def test_the_margin_for_a_calibration_set_is_a_setting(serving, folder):
    with serving(folder / "rows", drift_confidence=0.95) as found:
        drift = found.client.get("/traffic").json()["drift"]
    assert drift["confidence"] == 0.95
    assert drift["alarm_level"] == pytest.approx(np.log(2000))
    with pytest.raises(SettingsError, match="drift_confidence"):
        ServeSettings(drift_confidence=1.0)


def test_infinite_scores_are_null():
    traffic = Traffic(DriftMonitor([0.0, 1.0]))
    traffic.add(decided([np.inf, 0.5]))
    assert [one["score"] for one in traffic.summary()["recent"]] == [None, 0.5]
    json.dumps(traffic.summary(), allow_nan=False)


class Receiver:
    """An HTTP server that notes what is posted to it, and answers with given statuses in turn."""

    def __init__(self):
        self.received, self.answers, self.headers = [], [], {}
        self._arrived = threading.Semaphore(0)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.received.append((self.path, json.loads(body)))
                self.send_response(outer.answers.pop(0) if outer.answers else 200)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                outer._arrived.release()

            def log_message(self, *_):
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait(self, count):
        return all(self._arrived.acquire(timeout=600) for _ in range(count))

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver(monkeypatch):
    monkeypatch.setattr(webhook_module, "SECONDS", 600.0)  # an answer that is late would be tried again
    found = Receiver()
    yield found
    found.close()


def post(url, events, *, pauses=(0.01, 0.01)):
    """Posts the events, waits until all are dealt with, and returns the outcomes' counts."""

    async def main():
        metrics = Metrics()
        webhook = Webhook(url, metrics, pauses=pauses)
        for event in events:
            webhook.post(event)
        await webhook._queue.join()
        await webhook.close()
        return samples(metrics.page()[0].decode())

    values = asyncio.run(main())
    return {
        labels[0][1]: value
        for (name, labels), value in values.items()
        if name == "dissensus_webhooks_total" and value
    }


def test_a_webhook_is_tried_again(receiver):
    receiver.answers = [500, 503, 204]
    assert post(receiver.url, [{"n": 1}]) == {"delivered": 1}
    assert len(receiver.received) == 3


def test_a_webhook_gives_up_in_the_end(receiver):
    receiver.answers = [500] * 10
    assert post(receiver.url, [{"n": 1}]) == {"failed": 1}
    assert len(receiver.received) == 3


def test_redirects_are_not_followed(receiver):
    receiver.answers, receiver.headers = [302] * 3, {"Location": f"{receiver.url}/elsewhere"}
    assert post(receiver.url, [{"n": 1}]) == {"failed": 1}
    assert {path for path, _ in receiver.received} == {"/"}


def test_nobody_there_and_too_many_alarms_hurt_nothing():
    outcomes = post("http://127.0.0.1:9/", [{"n": number} for number in range(WAITING + 3)], pauses=())
    assert outcomes == {"failed": WAITING, "dropped": 3}
