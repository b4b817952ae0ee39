"""Laws of logging: JSON lines, nothing blocks, libraries are heard but do not flood."""

from __future__ import annotations

import errno
import inspect
import io
import logging
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import aiokafka.cluster
import aiokafka.consumer.group_coordinator
import asyncpg
import orjson
import pytest
import structlog

from consumer.guard.errors import GuardError
from consumer.telemetry import Logs, configure_logging
from consumer.telemetry.accidents import kind_of
from consumer.telemetry.libraries import USUAL
from consumer.telemetry.logs import _LIMIT

SECRET = "canary"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    hook = sys.excepthook
    yield
    sys.excepthook = hook
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


def test_an_exception_is_told_with_its_traceback_and_in_no_words_of_others() -> None:
    """Law: a parser quotes the text, Postgres the row, a group what is in it."""
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    try:
        try:
            raise ValueError(SECRET)  # noqa: TRY301 - it is caught to be logged
        except ValueError as error:
            raise ExceptionGroup(SECRET, [KeyError(SECRET)]) from error
    except ExceptionGroup:
        structlog.get_logger().exception("bug")
    [line] = lines_of(logs, stream)
    told = str(line["exception"])
    for part in ("in test_an_exception", "ValueError\n", "KeyError", "the direct cause of"):
        assert part in told
    assert SECRET not in told


def test_our_own_words_and_the_systems_are_told() -> None:
    assert kind_of(GuardError("said by us")) == "consumer.guard.errors.GuardError: said by us"
    refused = ConnectionRefusedError(errno.ECONNREFUSED, SECRET)
    assert kind_of(refused) == "ConnectionRefusedError: Connection refused"
    assert kind_of(asyncpg.CheckViolationError(SECRET)).endswith("Error: SQLSTATE 23514")


def test_a_crash_is_a_line_of_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    error = ValueError(SECRET)
    sys.excepthook(ValueError, error, None)
    [line] = lines_of(logs, stream)
    assert (line["event"], line["error"]) == ("crashed", "ValueError")
    assert SECRET not in str(line)
    assert capfd.readouterr().err == ""


def test_what_asyncio_shows_of_an_object_is_not_told() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    logging.getLogger("asyncio").error("never retrieved\nfuture: <Task exception=%r>", SECRET)
    [line] = lines_of(logs, stream)
    assert line["event"] == "never retrieved"


def test_the_standard_library_is_heard_three_times_a_template() -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    for number in range(50):
        logging.getLogger("aiokafka.cluster").error("broker %s is down", number // 2)
    logging.getLogger("aiokafka.cluster").error("another matter")
    told = [line["event"] for line in lines_of(logs, stream)]
    assert told == ["broker 0 is down", "broker 1 is down", "broker 2 is down", "another matter"]


def test_what_was_held_back_is_counted_in_the_next_window(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    now = time.monotonic()
    for _ in range(5):
        logging.getLogger("aiokafka").error("down")
    monkeypatch.setattr("time.monotonic", lambda: now + 60)
    logging.getLogger("aiokafka").error("down")
    assert [line.get("suppressed") for line in lines_of(logs, stream)] == [None, 4]


def test_what_comes_right_by_itself_is_said_in_plain_words_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Law: a new group frightens nobody; one that has no coordinator for long is an error."""
    stream = io.BytesIO()
    logs = configure_logging("info", stream)
    now, library = time.monotonic(), logging.getLogger("aiokafka.consumer.group_coordinator")
    for _ in range(3):
        library.error("Group Coordinator Request failed: %s", "[Error 15]")
    monkeypatch.setattr("time.monotonic", lambda: now + 60)
    library.error("Group Coordinator Request failed: %s", "[Error 15]")
    told = [(line["level"], line["event"]) for line in lines_of(logs, stream)]
    assert told == [
        ("info", "kafka is making room for the group"),
        ("error", "Group Coordinator Request failed: [Error 15]"),
    ]


def test_what_is_put_in_plain_words_is_what_aiokafka_says() -> None:
    modules = (aiokafka.cluster, aiokafka.consumer.group_coordinator)
    said = " ".join(map(inspect.getsource, modules))
    assert [words for words in USUAL if words not in said] == []


def test_a_command_speaks_for_kafkas_client() -> None:
    stream = io.BytesIO()
    logs = configure_logging("warning", stream, kafka=False)
    logging.getLogger("aiokafka").error("Unable connect to %r", "127.0.0.1:1")
    logging.getLogger("asyncpg").error("heard")
    assert [line["event"] for line in lines_of(logs, stream)] == ["heard"]
    logs = configure_logging("warning", stream)
    logging.getLogger("aiokafka").error("down")
    assert lines_of(logs, stream)[-1]["event"] == "down"


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
