"""Numbers for Prometheus, in a registry of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from dissensus.detector.asking import Decisions
    from dissensus.serve.served import Served

__all__ = ["Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SCORES = (-1e3, -100, -10, -1, -0.1, 0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4)
P_VALUES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


class Metrics:
    """Everything that is counted and measured. No label ever holds what a request sent."""

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

    def watch(self, gates: Callable[[], Iterable[Served]], ready: Callable[[], bool]) -> None:
        """Adds what is looked up only when somebody asks for it."""
        self.registry.register(_Now(gates, ready))

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

    def page(self) -> bytes:
        """In Prometheus's text format."""
        return generate_latest(self.registry)


class _Now(Collector):
    """What holds at the moment."""

    def __init__(self, gates: Callable[[], Iterable[Served]], ready: Callable[[], bool]) -> None:
        self._gates, self._ready = gates, ready

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The gauges of the service and of each gate."""
        yield GaugeMetricFamily("dissensus_ready", "Whether requests are taken.", float(self._ready()))
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
