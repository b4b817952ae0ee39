"""Traces continue the producer's own, and hold no value of a record."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from consumer.model import Record
from consumer.telemetry.tracing import Silent, Spans, tracing

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01".encode()


def test_a_record_continues_the_producers_trace() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    record = Record("orders", 3, 7, 0, b"key", b'{"secret": 1}', (("traceparent", PARENT),))

    spans = Spans()
    with spans.span(record):
        spans.ended(result="sent")

    (span,) = exporter.get_finished_spans()
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == TRACE
    assert span.attributes is not None
    assert span.attributes["sendonce.result"] == "sent"
    assert span.attributes["messaging.kafka.offset"] == 7
    assert "secret" not in str(dict(span.attributes))


def test_an_exception_that_passes_leaves_no_word_on_the_span() -> None:
    """Law: Postgres quotes the row in its message, a parser the text."""
    exporter, spans = InMemorySpanExporter(), Spans()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans._tracer = provider.get_tracer("test")
    with pytest.raises(ValueError, match="canary"), spans.span(Record("t", 0, 0, 0, None, b"")):
        raise ValueError("canary")
    (span,) = exporter.get_finished_spans()
    assert "canary" not in span.to_json()


def test_where_an_sdk_is_set_up_spans_are_made() -> None:
    trace.set_tracer_provider(TracerProvider())  # at most the first of a process counts
    assert isinstance(tracing(), Spans)


def test_where_none_is_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages come along with others; spans that nobody reads are not made."""
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)
    assert isinstance(tracing(), Silent)


def test_without_them_a_record_costs_nothing() -> None:
    silent = Silent()
    with silent.span(Record("orders", 0, 0, 0, None, None)):
        silent.ended(result="sent")
