"""What libraries say through the standard library, in a measure that a person can read.

Some of them do not stop, and some call a failure what comes right by itself. So the same words are
told once a window and counted; a few texts of one template, for it names brokers one by one.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field
from typing import Final

import structlog

_QUIET: Final = ("aiokafka", "asyncpg", "aiohttp", "asyncio", "botocore", "aiosmtplib")
_WINDOW: Final = 10.0  # seconds
_PER_WINDOW: Final = 3  # texts of one template; aiokafka says 70 a second with one broker down
_TEMPLATES: Final = 500
_YOUNG: Final = 30.0  # seconds; what is not there by then is a fault

# aiokafka's templates: in our words, as information, and for how many seconds of the process.
USUAL: Final = {
    "Group Coordinator Request failed: %s": ("kafka is making room for the group", _YOUNG),
    "Topic %s is not available during auto-create initialization": (
        "kafka is making a topic ready",
        _YOUNG,
    ),
    "Heartbeat failed for group %s because it is rebalancing": (
        "the group is sharing out its partitions anew",
        math.inf,
    ),
}


def listen(level: int, *, kafka: bool) -> None:
    """Pass on what libraries say from a level on, and of the chatty ones warnings and errors only.

    `kafka`: whether its client is heard at all.
    """
    logging.basicConfig(handlers=[_Library()], level=max(level, logging.INFO), force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    if not kafka:
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@dataclass(slots=True)
class _Window:
    since: float
    told: set[str] = field(default_factory=set)
    held_back: int = 0


class _Library(logging.Handler):
    """A few lines a window for each message template, then silence and a count."""

    def __init__(self) -> None:
        super().__init__()
        self._since = time.monotonic()
        self._seen: dict[tuple[str, str], _Window] = {}
        self._log = structlog.get_logger()

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        level, text = self._said(record, now)
        held_back = self._admit((record.name, str(record.msg)[:200]), text, now)
        if held_back is None:
            return
        more: dict[str, object] = {"suppressed": held_back} if held_back else {}
        if record.exc_info and record.exc_info[0]:
            more["exc_info"] = record.exc_info
        self._log.log(level, text, library=record.name, **more)

    def _said(self, record: logging.LogRecord, now: float) -> tuple[int, str]:
        words, seconds = USUAL.get(str(record.msg), ("", 0.0))
        if now - self._since < seconds:
            return logging.INFO, words
        return _known(record.levelno), _text(record)

    def _admit(self, template: tuple[str, str], text: str, now: float) -> int | None:
        """None: not this one. Else: how many were held back before it."""
        if len(self._seen) > _TEMPLATES:  # templates with values in them; forget rather than grow
            self._seen.clear()
        window = self._seen.get(template)
        if window is None or now - window.since > _WINDOW:
            self._seen[template] = _Window(now, {text})
            return window.held_back if window else 0
        if text in window.told or len(window.told) == _PER_WINDOW:
            window.held_back += 1
            return None
        window.told.add(text)
        return 0


def _text(record: logging.LogRecord) -> str:
    """Return its message; of asyncio's, which shows objects with all they hold, the first line."""
    try:
        text = record.getMessage()
        return text.partition("\n")[0] if record.name == "asyncio" else text
    except Exception:  # noqa: BLE001 - a wrong template of a library stops no mail
        return str(record.msg)


def _known(level: int) -> int:
    """Round down to a level with a name: structlog knows no others."""
    return max(10, min(level // 10 * 10, 50))
