"""Logging: structlog and the standard library, as JSON lines on stderr, off the event loop.

Lines are handed to a thread through a bounded queue. A plain write would be simpler and as quick
on a good day; on a bad one (a full disk, a pipe that nobody reads) it stops the event loop, with it
the heartbeats to Kafka and the renewals of leases. The thread sleeps a moment before it writes, so
that a busy service pays one system call for many lines, and no thread switch a line. What does not
fit is dropped and counted: the guard holds the truth, a log only tells of it.
"""

from __future__ import annotations

import atexit
import io
import logging
import sys
import threading
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import structlog

from consumer.telemetry.accidents import kind_of, traced
from consumer.telemetry.libraries import listen
from consumer.telemetry.lines import to_line

if TYPE_CHECKING:
    from structlog.typing import EventDict, WrappedLogger

_LIMIT: Final = 20_000  # lines; some ten seconds of a busy service, about 10 MB
_LINGER: Final = 0.02  # seconds that lines gather before they are written together
_CLOSING: Final = 2.0  # seconds that the end of the process waits for a reader of its log


class Logs:
    """The way out for log lines. Thread-safe; none of its methods raises for a broken stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self.dropped = 0
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._write_forever, name="logs", daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        if len(self._lines) >= _LIMIT:
            self.dropped += 1
            return
        self._lines.append(line)
        if not self._wake.is_set():
            self._wake.set()

    def close(self) -> None:
        """Write what is waiting, but do not wait for ever for a reader."""
        self._closed.set()
        self._wake.set()
        self._thread.join(_CLOSING)

    def _write_forever(self) -> None:
        while not self._closed.is_set():
            self._wake.wait()
            self._closed.wait(_LINGER)
            self._wake.clear()
            self._write_waiting()
        self._write_waiting()

    def _write_waiting(self) -> None:
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        if not lines:
            return
        try:
            _write_all(self._stream, b"\n".join(lines) + b"\n")
        except (OSError, ValueError):  # nobody reads any more, or the stream was closed
            self.dropped += len(lines)


def _standard_error() -> BinaryIO:
    """Take stderr below Python's buffer, whose lock a blocked thread would hold at the end."""
    try:
        return io.FileIO(sys.stderr.fileno(), "wb", closefd=False)
    except (OSError, ValueError):  # replaced by something in memory
        return sys.stderr.buffer


def _write_all(stream: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = stream.write(view)
        if written is None:  # a full pipe in non-blocking mode
            raise BlockingIOError
        view = view[written:]
    stream.flush()


class _Logger:
    """What structlog calls at the end of its processors, by the name of the level."""

    out: Logs | None = None  # one way out for the whole process, also for loggers made before it

    def info(self, line: bytes) -> None:
        if _Logger.out is not None:
            _Logger.out.write(line)

    debug = warning = error = critical = info


def dropped_lines() -> int:
    """Count the lines of this process that nobody read in time."""
    return _Logger.out.dropped if _Logger.out is not None else 0


def configure_logging(
    level: str = "info", stream: BinaryIO | None = None, *, kafka: bool = True
) -> Logs:
    """Send every log line of the process to `stream` (default: stderr), from `level` upwards.

    `level`: debug, info, warning or error. `kafka`: whether its client is heard; a command says by
    itself, and once, what Kafka refuses. May be called again: the last call wins.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    logs = Logs(stream or _standard_error())
    previous, _Logger.out = _Logger.out, logs
    if previous is not None:
        atexit.unregister(previous.close)
        previous.close()
    atexit.register(logs.close)
    sys.excepthook = _crashed
    _configure_structlog(number)
    listen(number, kafka=kafka)
    return logs


def _crashed(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Tell the last words of the process as a line of the log: Python's own would quote values."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    structlog.get_logger().error("crashed", error=kind_of(error), exc_info=error)


def _configure_structlog(level: int) -> None:
    structlog.configure(
        processors=[_render],  # each further one costs every line as much as a counter does
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_names: _Logger(),
        cache_logger_on_first_use=True,
    )


def _render(_logger: WrappedLogger, level: str, event: EventDict) -> bytes:
    """Make the line at once: a processor for each of its members costs as much again."""
    if "exc_info" in event and (trace := traced(event.pop("exc_info"))) is not None:
        event["exception"] = trace
    first = {"timestamp": datetime.now(UTC), "level": level, "event": event.pop("event", None)}
    return to_line({**first, **event})
