"""What `deploy/` holds fits the service: metrics, rules, the health check, how far the unit is locked."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from dissensus.serve.ending import Ending
from dissensus.serve.settings import ServeSettings

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS, DASHBOARD = DEPLOY / "prometheus" / "alerts.yml", DEPLOY / "grafana" / "dissensus.json"
LONG = 600.0  # seconds that only a hang takes


def needed(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program} here")


def expressions():
    """The queries of the dashboard, as Prometheus takes them."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel["targets"]]
    return [expr.replace("$__rate_interval", "5m").replace("$instance", ".*") for expr in found]


def test_every_metric_that_is_asked_for_is_there(serving, folder):
    with serving(folder / "rows") as found:
        text = found.client.get("/metrics").text
    there = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
    asked = set(re.findall(r"\b(?:dissensus|process)_[a-z_]+", ALERTS.read_text() + " ".join(expressions())))
    assert asked - there - {"dissensus_flagged_share"} == set()


@needed("promtool")
def test_promtool_takes_the_rules_their_tests_and_the_queries(tmp_path):
    rules = [{"record": f"query:{number}", "expr": expr} for number, expr in enumerate(expressions())]
    (tmp_path / "queries.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    for command in (
        ["check", "rules", ALERTS],
        ["test", "rules", ALERTS.with_name("alerts.test.yml")],
        ["check", "config", ALERTS.with_name("prometheus.yml")],
        ["check", "rules", tmp_path / "queries.yml"],
    ):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, timeout=LONG)
        assert done.returncode == 0, done.stdout + done.stderr


@needed("prometheus")
def test_a_prometheus_loads_the_rules_and_reads_the_metrics(serving, folder, tmp_path, until):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(folder / "rows") as found:
        config = (
            ALERTS.with_name("prometheus.yml")
            .read_text()
            .replace("scrape_interval: 15s", "scrape_interval: 1s")
        )
        config = config.replace("127.0.0.1:8000", found.url.removeprefix("http://"))
        (tmp_path / "prometheus.yml").write_text(config.replace("alerts.yml", str(ALERTS)))
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={tmp_path}/prometheus.yml",
                f"--storage.tsdb.path={tmp_path}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stderr=subprocess.DEVNULL,
        )
        try:

            def told(path):
                try:
                    return httpx.get(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=LONG).json()["data"]
                except (httpx.HTTPError, KeyError, ValueError):
                    return None

            until(lambda: (told("query?query=dissensus_ready") or {}).get("result"))
            rules = [rule for group in told("rules")["groups"] for rule in group["rules"]]
            (target,) = told("targets")["activeTargets"]
        finally:
            process.terminate()
            process.wait(LONG)
    assert len([rule for rule in rules if rule["type"] == "alerting"]) == 9
    assert target["health"] == "up"


@needed("kubernetes-validate")
def test_the_manifests_are_what_kubernetes_takes():
    manifests = [
        DEPLOY / "kubernetes" / "dissensus.yaml",
        *DEPLOY.parent.glob("examples/scale/*kubernetes*.yaml"),
    ]
    command = ["kubernetes-validate", "--strict", *manifests]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stdout + done.stderr


@needed("systemd-analyze")
def test_the_unit_is_locked_up():
    unit = DEPLOY / "systemd" / "dissensus.service"
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


def test_whoever_ends_the_service_waits_for_long_enough():
    """For all steps of its end, with the manifest's and the image's arguments."""
    unit, manifest, words = (
        (DEPLOY.parent / path).read_text()
        for path in (
            "deploy/systemd/dissensus.service",
            "deploy/kubernetes/dissensus.yaml",
            "docs/service.md",
        )
    )
    (drain,) = set(
        re.findall(r'"--drain", "(\d+)"', manifest + (DEPLOY.parent / "Containerfile").read_text())
    )
    needed = Ending.of(ServeSettings(drain=float(drain))).seconds
    for pattern, text in (
        (r"^TimeoutStopSec=(\d+)$", unit),
        (r"^ *terminationGracePeriodSeconds: (\d+)\b", manifest),
        (r"podman run .*--stop-timeout (\d+)", words),
    ):
        (seconds,) = re.findall(pattern, text, re.MULTILINE)
        assert float(seconds) > needed


def test_the_health_check_asks_by_http_and_by_https(serving, folder, tmp_path):
    def check(port):
        program = [sys.executable, "-I", DEPLOY / "container" / "health.py", port]
        return subprocess.run(program, timeout=LONG).returncode

    with serving(folder / "rows") as found:
        port = found.url.rpartition(":")[2]
        assert check(port) == 0
        found.loop.call_soon_threadsafe(found.service.gates.find().batcher._dispatcher.cancel)
        found.client.get("/gates")
        assert check(port) == 1
    assert check(port) == 1
    made = subprocess.run(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gate.example "
        f"-keyout {tmp_path}/key.pem -out {tmp_path}/cert.pem".split(),
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("there is no openssl to make a certificate with")
    with serving(folder / "rows", tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem") as found:
        assert check(found.url.rpartition(":")[2]) == 0
