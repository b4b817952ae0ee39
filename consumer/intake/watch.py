"""The watchdog: aiokafka has hung for good in several ways, and says nothing when it does.

A poll that does not return is no proof: it waits out a rebalance, and that waits for the brokers.
Only a poll that hangs while the cluster answers us is a hang; then a restart helps.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from consumer.intake.cluster import KafkaRefusedError, KafkaUnreachableError
from consumer.intake.kafka import Consumer
from consumer.intake.offsets import Partition

log = structlog.get_logger(__name__)

LOOK_EVERY = 10.0  # seconds
PROBES = 3  # in a row that the cluster answered while the poll still hung


class StuckError(Exception):
    """The client hangs although the cluster is there: only a new process gets out of it."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is to be seen of the intake now; times in seconds."""

    since_poll: float
    unassigned: float  # since an assignment was taken; 0.0 with one, also one of no partitions
    away_since: datetime | None  # since when no broker answers; None: they do
    loop_lag: float
    in_flight: int
    high_in_flight: int
    waiting: int  # read, and not started for want of room
    paused: frozenset[Partition]  # not read now, for want of room
    lag: Mapping[Partition, int]  # records in the log that were not read yet

    @property
    def away(self) -> float:
        """Seconds for which no broker has answered."""
        since = self.away_since
        return 0.0 if since is None else (datetime.now(UTC) - since).total_seconds()


class Watchdog:
    def __init__(self, consumer: Consumer, *, every: float = LOOK_EVERY) -> None:
        self._consumer = consumer
        self._every = every
        self._last_poll = time.monotonic()
        # A poll may last a whole rebalance, and that a whole request beyond its own time.
        self._patience = consumer.timing.rebalance + consumer.timing.request

    def polled(self) -> None:
        self._last_poll = time.monotonic()

    @property
    def since_poll(self) -> float:
        return time.monotonic() - self._last_poll

    async def run(self) -> None:
        """Raise StuckError when a restart is the only way out."""
        self.polled()
        probes = 0
        while probes < PROBES:
            await asyncio.sleep(self._every)
            if not self._consumer.alive():
                raise StuckError("a task of the Kafka client has ended")
            probes = probes + 1 if await self._hangs_alone() else 0
        raise StuckError(f"no poll has returned for {self.since_poll:.0f} s, the brokers answer")

    async def _hangs_alone(self) -> bool:
        if self.since_poll < self._patience:
            return False
        try:
            await self._consumer.probe()
        except (KafkaUnreachableError, KafkaRefusedError) as error:
            log.warning("poll_hangs", seconds=round(self.since_poll), error=str(error))
            return False
        return True
