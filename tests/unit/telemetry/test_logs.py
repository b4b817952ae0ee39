"""Laws of logging: JSON lines, nothing blocks, libraries are heard but do not flood."""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import orjson
import pytest
import structlog

from consumer.telemetry import Logs, configure_logging
from consumer.telemetry.logs import _LIMIT


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    yield
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)
    structlog.reset_defaults()


def lines_of(logs: Logs, stream: io.BytesIO) -> list[dict[str, object]]:
    logs.close()
    return [orjson.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_holds_event_level_time_and_what_was_bound() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    structlog.get_logger().bind(topic="orders").info("sent", key="00ff")
    structlog.get_logger().debug("not heard")
    [line] = lines_of(logs, stream)
    when = str(line.pop("timestamp"))
    assert when.endswith("Z")
    assert abs(datetime.fromisoformat(when) - datetime.now(UTC)) < timedelta(minutes=1)
    assert line == {"event": "sent", "level": "info", "topic": "orders", "key": "00ff"}


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_every_level_is_written_and_named(level: str) -> None:
    stream = io.BytesIO()
    logs = configure_logging("debug", stream)
    getattr(structlog.get_logger(), level)("told")
    [line] = lines_of(logs, stream)
    assert line["level"] == level


def test_a_line_that_has_to_be_rewritten_keeps_its_time() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    structlog.get_logger().info("huge", number=2**70)
    [line] = lines_of(logs, stream)
    assert datetime.fromisoformat(str(line["timestamp"])).tzinfo is not None


def test_an_exception_is_told_with_its_traceback_and_no_address() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    try:
        raise ValueError("ada@example.org")  # noqa: TRY301 - it is caught to be logged
    except ValueError:
        structlog.get_logger().exception("bug")
    [line] = lines_of(logs, stream)
    assert "ValueError: [address]" in str(line["exception"])


def test_the_standard_library_is_heard_three_times_a_template() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    for number in range(50):
        logging.getLogger("aiokafka.cluster").error("broker %s is down", number)
    logging.getLogger("aiokafka.cluster").error("another matter")
    told = [line["event"] for line in lines_of(logs, stream)]
    assert told == ["broker 0 is down", "broker 1 is down", "broker 2 is down", "another matter"]


def test_what_was_held_back_is_counted_in_the_next_window(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    now = time.monotonic()
    for _ in range(5):
        logging.getLogger("aiokafka").error("down")
    monkeypatch.setattr("consumer.telemetry.logs.time.monotonic", lambda: now + 60)
    logging.getLogger("aiokafka").error("down")
    assert lines_of(logs, stream)[-1]["suppressed"] == 2


def test_a_wrong_template_of_a_library_raises_nothing() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    logging.getLogger("aiokafka").error("%d", "text")
    assert lines_of(logs, stream)[0]["event"] == "%d"


def test_a_reader_that_stops_reading_blocks_nobody() -> None:
    """The pipe is full; lines are taken up to the limit, the rest is dropped and counted."""
    reader, writer = os.pipe()
    logs = configure_logging("info", os.fdopen(writer, "wb", buffering=0, closefd=False))
    begin = time.monotonic()
    for _ in range(2 * _LIMIT):
        logs.write(b"x" * 100)
    assert time.monotonic() - begin < 5
    assert logs.dropped > 0
    os.close(reader)  # the blocked thread wakes with an error and ends
    logs.close()
    os.close(writer)


def test_a_closed_stream_is_survived() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    stream.close()
    structlog.get_logger().info("nobody hears this")
    logs.close()
    assert logs.dropped == 1
