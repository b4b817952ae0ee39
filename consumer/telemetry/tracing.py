"""Traces, where OpenTelemetry is installed (extra `otel`): one span a record.

The span continues the producer's trace (`traceparent` on the record) and holds where the record
sits and what became of it; never a value from it. Without the packages, or without an SDK set up
when the service starts, nothing is done at all.
"""

from __future__ import annotations

import importlib.util
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumer.model import Record


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
    """OpenTelemetry's global tracer; who installs an SDK configures it the usual way (OTEL_*)."""

    def __init__(self) -> None:
        from opentelemetry import propagate, trace  # noqa: PLC0415 - an extra

        self._propagate, self._trace = propagate, trace
        self._tracer = trace.get_tracer("sendonce")

    def span(self, record: Record) -> AbstractContextManager[Any]:
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
        )

    def ended(self, **facts: str) -> None:
        self._trace.get_current_span().set_attributes(
            {f"sendonce.{name}": value for name, value in facts.items()}
        )


def tracing() -> Tracing:
    """Return spans where somebody will read them: the packages, and an SDK that is set up."""
    if importlib.util.find_spec("opentelemetry") is None:
        return Silent()
    from opentelemetry import trace  # noqa: PLC0415 - an extra

    # Asking makes the provider that the environment names, if it names one.
    nobody = isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return Silent() if nobody else Spans()


def _carrier(record: Record) -> Mapping[str, str]:
    """W3C headers only; a header that is no text is nobody's trace."""
    return {
        name.lower(): value.decode("latin-1")
        for name, value in record.headers
        if value is not None and name.lower() in ("traceparent", "tracestate")
    }
