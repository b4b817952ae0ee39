"""Traces, where OpenTelemetry is installed (extra `otel`): one span a record.

The span continues the producer's trace (`traceparent` on the record) and holds where the record
sits and what became of it; never a value from it. Where the environment names an OTLP endpoint, the
spans go there. Without the packages, or with nobody to read the spans, nothing is done at all.
"""

from __future__ import annotations

import importlib.util
import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumer.model import Record


_NAME: Final = "sendonce"


class Tracing(Protocol):
    def span(self, record: Record) -> AbstractContextManager[Any]:
        """Open the span of one record, for the length of a `with` block."""

    def ended(self, **facts: str) -> None:
        """Note on the current span what the record came to."""


class Silent:
    """No OpenTelemetry here."""

    def span(self, record: Record) -> AbstractContextManager[Any]:  # noqa: ARG002 - the protocol's
        return nullcontext()

    def ended(self, **facts: str) -> None:
        pass


class Spans:
    """OpenTelemetry's global tracer; all of it is configured by its own variables (OTEL_*)."""

    def __init__(self) -> None:
        from opentelemetry import propagate, trace  # noqa: PLC0415 - an extra

        self._propagate, self._trace = propagate, trace
        self._tracer = trace.get_tracer(_NAME)

    def span(self, record: Record) -> AbstractContextManager[Any]:
        """An exception that passes is not told: its words may quote the record."""
        return self._tracer.start_as_current_span(
            f"{record.topic} process",
            context=self._propagate.extract(_carrier(record)),
            kind=self._trace.SpanKind.CONSUMER,
            attributes={
                "messaging.system": "kafka",
                "messaging.destination.name": record.topic,
                "messaging.destination.partition.id": str(record.partition),
                "messaging.kafka.offset": record.offset,
            },
            record_exception=False,
            set_status_on_exception=False,
        )

    def ended(self, **facts: str) -> None:
        self._trace.get_current_span().set_attributes(
            {f"sendonce.{name}": value for name, value in facts.items()}
        )


# The variables of OpenTelemetry by which an exporter finds its collector.
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def tracing() -> Tracing:
    """Return spans where somebody will read them: an SDK that is set up, or an endpoint to tell."""
    if importlib.util.find_spec("opentelemetry") is None:
        return Silent()
    from opentelemetry import trace  # noqa: PLC0415 - an extra

    # Asking makes the provider that the environment names, if it names one.
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return Spans()
    if any(map(os.environ.get, _ENDPOINTS)) and importlib.util.find_spec("opentelemetry.exporter"):
        _export()
        return Spans()
    return Silent()


def _export() -> None:
    """Send spans in batches, from a thread of their own; the last ones as the process ends."""
    from opentelemetry import trace  # noqa: PLC0415 - an extra
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    named = bool(os.environ.get("OTEL_SERVICE_NAME"))
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": _NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _carrier(record: Record) -> Mapping[str, str]:
    """W3C headers only; a header that is no text is nobody's trace."""
    return {
        name.lower(): value.decode("latin-1")
        for name, value in record.headers
        if value is not None and name.lower() in ("traceparent", "tracestate")
    }
