"""Waiting at the start for what is not there yet: with backoff, aloud, and not for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

T = TypeVar("T")

log = structlog.get_logger("service")

FIRST_PAUSE = 0.5  # seconds; doubles
LONGEST_PAUSE = 5.0


class GaveUpError(Exception):
    """What was waited for did not come within the configured time."""


async def patiently(
    what: str,
    attempt: Callable[[], Awaitable[T]],
    worth_waiting_for: type[Exception],
    seconds: float,
) -> T:
    """Return what `attempt` returns; repeat it while it says that waiting may help."""
    until = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except worth_waiting_for as error:
            left = until - time.monotonic()
            if left <= 0:
                raise GaveUpError(f"{what}: {error}; gave up after {seconds:g} s") from error
            log.warning("waiting at the start", what=what, error=str(error), seconds_left=int(left))
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE)
