"""Traces need an endpoint in the environment, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

TRACED = """
import os, sys
from consumer.model import Record
from consumer.telemetry.tracing import tracing
with tracing().span(Record("orders", 0, 0, 0, None, None)) as span:
    print(span.is_recording(), span.resource.attributes["service.name"])
sys.stdout.flush()
os._exit(0)  # without waiting for a collector
"""


def test_an_endpoint_in_the_environment_is_enough() -> None:
    """A process of its own: OpenTelemetry keeps one provider a process. Nothing listens there."""
    found = subprocess.run(
        [sys.executable, "-c", TRACED],
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert found.stdout.split() == ["True", "sendonce"]
