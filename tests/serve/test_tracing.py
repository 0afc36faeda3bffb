"""A request is a span of the client's own trace, and says no more than a log line."""

import pytest

from dissensus.serve.service import Service
from dissensus.serve.settings import ServeSettings

pytest.importorskip("opentelemetry.sdk")

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def spans(monkeypatch):
    """What is exported, in this process."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(
        "dissensus.serve.service.make_tracer", lambda: (provider.get_tracer("test"), lambda: None)
    )
    return exporter.get_finished_spans


def test_a_request_is_a_span_below_the_client_s(serving, folder, numbers, spans):
    with serving(folder / "rows", traces=True) as found:
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        found.client.post("/score?note=secret", json={"rows": numbers[:2].tolist()}, headers=headers)
        found.client.get("/nothing/secret", headers={"traceparent": "nonsense"})
    scored, lost = spans()
    assert (f"{scored.context.trace_id:032x}", f"{scored.parent.span_id:016x}") == (TRACE, PARENT)
    assert scored.name == "POST /score"
    assert scored.attributes["http.response.status_code"] == 200
    assert (scored.attributes["dissensus.gate"], scored.attributes["dissensus.inputs"]) == ("rows", 2)
    assert (lost.parent, lost.attributes["http.route"]) == (None, "unmatched")
    assert "secret" not in scored.to_json() + lost.to_json()


def test_without_traces_nothing_is_traced(serving, folder, spans):
    with serving(folder / "rows") as found:
        found.client.get("/gates")
    assert spans() == ()


def test_traces_are_sent_where_the_environment_says(folder, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "gates")
    service = Service(folder / "rows", ServeSettings(traces=True))
    assert service.tracer.resource.attributes["service.name"] == "gates"
    service._end_traces()
