"""Numbers for Prometheus, in a registry of their own."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from dissensus._version import __version__

if TYPE_CHECKING:
    from dissensus.detector.asking import Decisions
    from dissensus.serve.served import Served

__all__ = ["Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SCORES = (-1e3, -100, -10, -1, -0.1, 0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4)
SERVICE = {
    "dissensus_ready": "Whether requests are taken.",
    "dissensus_connections": "Connections that are open.",
    "dissensus_connections_limit": "Connections that there may be.",
    "dissensus_decode_queue_pictures": "Large pictures that wait for a process to decode them.",
    "dissensus_decoding_pictures": "Large pictures that are being decoded.",
    "dissensus_body_bytes": "Of bodies that are being read, beyond the first 64 KiB of each.",
}
PICTURES = ("read", "unusable", "refused", "timeout", "crash")
WEBHOOKS = ("delivered", "failed", "dropped")
P_VALUES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


class Metrics:
    """Everything that is counted and measured. No label ever holds what a request sent.

    Counters are there, and 0, before anything has happened: what appears with its first event has no rate.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "dissensus_requests", "Requests.", ["route", "method", "status"], registry=registry
        )
        self.latency = Histogram(
            "dissensus_request_seconds",
            "From a request's arrival to its answer.",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge("dissensus_requests_in_flight", "Being answered.", registry=registry)
        self._batch_size = Histogram(
            "dissensus_batch_inputs", "Inputs scored together.", ["gate"], buckets=SIZES, registry=registry
        )
        self._batch_seconds = Histogram(
            "dissensus_batch_seconds",
            "What scoring a batch took.",
            ["gate"],
            buckets=SECONDS,
            registry=registry,
        )
        self._inputs = Counter("dissensus_inputs", "Inputs scored.", ["gate", "flagged"], registry=registry)
        self._score = Histogram(
            "dissensus_score",
            "Scores; higher is more unusual.",
            ["gate"],
            buckets=SCORES,
            registry=registry,
        )
        self._p_value = Histogram(
            "dissensus_p_value",
            "Uniform while inputs are like the training data.",
            ["gate"],
            buckets=P_VALUES,
            registry=registry,
        )
        self.drift_alarms = Counter(
            "dissensus_drift_alarms", "Drift alarms raised.", ["gate"], registry=registry
        )
        self.gate_loads = Counter("dissensus_gate_loads", "Gates loaded.", ["gate"], registry=registry)
        self.gate_failures = Counter(
            "dissensus_gate_load_failures", "Gates that could not be loaded.", ["gate"], registry=registry
        )
        self._pictures = Counter(
            "dissensus_pictures", "Pictures, by what became of them.", ["outcome"], registry=registry
        )
        self.webhooks = Counter("dissensus_webhooks", "Posted alarms.", ["outcome"], registry=registry)
        for outcome in PICTURES:
            self._pictures.labels(outcome)
        for outcome in WEBHOOKS:
            self.webhooks.labels(outcome)
        ProcessCollector(registry=registry)  # memory, processor time, open files and their limit
        versions = {"version": __version__, "python": platform.python_version(), "torch": version("torch")}
        Info("dissensus_build", "What answers.", registry=registry).info(versions)

    def watch(self, gates: Callable[[], Iterable[Served]], now: Callable[[], Mapping[str, float]]) -> None:
        """Adds what is looked up only when somebody asks for it: of gates, and of the service by name."""
        self.registry.register(_Now(gates, now))

    def expect_routes(self, routes: Iterable[tuple[str, str]]) -> None:
        """Begins to count the requests of routes, each with a method, at 0."""
        for route, method in routes:
            self.requests.labels(route, method, "200")
            self.latency.labels(route)

    def expect_gate(self, gate: str) -> None:
        """Begins to count what a gate does at 0."""
        for metric in (self._batch_size, self._batch_seconds, self._score, self._p_value):
            metric.labels(gate)
        for counter in (self.drift_alarms, self.gate_loads, self.gate_failures):
            counter.labels(gate)
        for flagged in ("true", "false"):
            self._inputs.labels(gate, flagged)

    def observe_batch(self, gate: str, decisions: Decisions, seconds: float) -> None:
        """Takes in the decisions of one batch."""
        count, flagged = len(decisions.score), int(decisions.flagged.sum())
        self._batch_size.labels(gate).observe(count)
        self._batch_seconds.labels(gate).observe(seconds)
        self._inputs.labels(gate, "true").inc(flagged)
        self._inputs.labels(gate, "false").inc(count - flagged)
        score, p_value = self._score.labels(gate), self._p_value.labels(gate)
        for value in decisions.score.tolist():
            score.observe(value)
        for value in decisions.p_value.tolist():
            p_value.observe(value)

    def count_picture(self, outcome: str) -> None:
        """Takes in what became of one picture."""
        self._pictures.labels(outcome).inc()

    def forget(self, gate: str) -> None:
        """Drops the numbers of a gate that is gone."""
        own = (self._batch_size, self._batch_seconds, self._score, self._p_value, self.drift_alarms)
        for metric, labels in (
            *((metric, (gate,)) for metric in own),
            *((self._inputs, (gate, flagged)) for flagged in ("true", "false")),
        ):
            with suppress(KeyError):  # it may never have been asked
                metric.remove(*labels)

    def page(self, accepted: str = "") -> tuple[bytes, str]:
        """The numbers, and their type: OpenMetrics if that is accepted, else Prometheus's text format."""
        encode, kind = choose_encoder(accepted)
        return encode(self.registry), kind


class _Now(Collector):
    """What holds at the moment."""

    def __init__(self, gates: Callable[[], Iterable[Served]], now: Callable[[], Mapping[str, float]]) -> None:
        self._gates, self._now = gates, now

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The gauges of the service and of each gate."""
        values_now = self._now()
        for name, text in SERVICE.items():
            yield GaugeMetricFamily(name, text, values_now.get(name, 0.0))
        described = {
            "dissensus_queue_inputs": "Inputs that wait.",
            "dissensus_flagged_share": "Of the last 500 inputs.",
            "dissensus_drift_log_capital": "Log of the test martingale: the evidence of drift.",
            "dissensus_drift_alarm": "Whether the drift alarm is on.",
        }
        families = {name: GaugeMetricFamily(name, text, labels=["gate"]) for name, text in described.items()}
        for served in self._gates():
            traffic = served.traffic
            values = (
                served.batcher.waiting,
                traffic.flagged_share,
                traffic.log_capital,
                traffic.alarm,
            )
            for family, value in zip(families.values(), values, strict=True):
                if value is not None:
                    family.add_metric([served.name], float(value))
        yield from families.values()
