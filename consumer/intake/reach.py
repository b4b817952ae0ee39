"""What is known of the cluster's absence: one line of log when it goes, one when it is back."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import structlog

from consumer.intake.kafka import Consumer

log = structlog.get_logger(__name__)

LOOK_EVERY = 1.0  # seconds
BEATS = 2.5  # heartbeats without any answer, until the cluster is asked for one


class Reach:
    """Watches, and tells; liveness is not concerned, for no restart brings brokers back."""

    def __init__(self, consumer: Consumer, *, every: float = LOOK_EVERY) -> None:
        self.away_since: datetime | None = None
        self._consumer = consumer
        self._every = every
        self._silence = max(every, consumer.timing.heartbeat * BEATS)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if await self._consumer.answers(self._silence):
                self._answered()
            else:
                self._silent()

    def _silent(self) -> None:
        if self.away_since is None:
            heard = time.monotonic() - self._consumer.heard
            since = self.away_since = datetime.now(UTC) - timedelta(seconds=heard)
            log.warning("kafka unreachable", since=since.isoformat())

    def _answered(self) -> None:
        if self.away_since is not None:
            seconds = (datetime.now(UTC) - self.away_since).total_seconds()
            log.info("kafka is back", unreachable_for=round(seconds, 3))
            self.away_since = None
