"""Where a partition starts that the group has no offset for: decided once, out loud.

One answer "nothing committed" proves nothing (a coordinator that is moving gives it too), so it is
asked several times over more than two heartbeats; the answers are kept over rebalances, or a group
that rebalances faster than that would never begin. The decision is committed before it is used.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

import structlog

from consumer.intake.offsets import Partition

log = structlog.get_logger(__name__)

ASKED = 3  # times, and each time the answer was "nothing committed"
APART = 1.1  # heartbeats between two of them
SPREAD = 2.1  # heartbeats at least between the first and the last


class Edge(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"


StartFrom: TypeAlias = Edge | datetime  # an aware instant: the first record at or after it


class Reader(Protocol):
    """What of the consumer is needed here."""

    async def committed(self, partition: Partition) -> int | None: ...
    async def first_offset(self, partition: Partition) -> int: ...
    async def end_offset(self, partition: Partition) -> int: ...
    async def offset_at(self, partition: Partition, timestamp: int) -> int | None: ...
    async def start_at(self, partition: Partition, offset: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Known:
    """What was there before we joined: partitions per topic, and topics with a committed offset."""

    partitions: Mapping[str, int]
    begun: frozenset[str]

    def appeared_later(self, partition: Partition) -> bool:
        """Tell a partition that the topic grew from one the group merely has not begun yet."""
        return partition.topic in self.begun or partition.number >= self.partitions.get(
            partition.topic, 0
        )


class Starts:
    """Runs one decision per partition that turned out to have no offset."""

    def __init__(
        self, reader: Reader, start_from: StartFrom, known: Known, *, heartbeat: float
    ) -> None:
        self._reader = reader
        self._start_from = start_from
        self._known = known
        self._pause = heartbeat * APART
        self._spread = heartbeat * SPREAD
        self._asked: dict[Partition, list[float]] = {}  # when the answer was "nothing"
        self._running: dict[Partition, asyncio.Task[None]] = {}
        self._untold: dict[tuple[str, str], dict[str, int]] = {}  # (topic, rule) -> offsets

    def missing(self, partition: Partition) -> None:
        """Begin to decide; a decision under way goes on. Raises what the last one ended with."""
        task = self._running.get(partition)
        if task is not None and not task.done():
            return
        if task is not None:
            self._running.pop(partition).result()
        self._running[partition] = asyncio.create_task(self._decide(partition))

    async def forget(self) -> None:
        """Stop deciding: the partitions are no longer ours."""
        tasks = list(self._running.values())
        self._running.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tell()

    async def _decide(self, partition: Partition) -> None:
        if not await self._nothing_committed(partition):
            return
        offset, rule = await self._choose(partition)
        if await self._reader.start_at(partition, offset):
            self._untold.setdefault((partition.topic, rule), {})[str(partition.number)] = offset
            self._tell(but=self._undecided())

    def _undecided(self) -> frozenset[str]:
        """Return the topics of which another partition's decision is still under way."""
        others = [p for p, task in self._running.items() if task is not asyncio.current_task()]
        return frozenset(p.topic for p in others if not self._running[p].done())

    def _tell(self, *, but: Collection[str] = ()) -> None:
        """One line a topic: at a group's first start all its partitions are decided together."""
        for topic, rule in [told for told in self._untold if told[0] not in but]:
            offsets = self._untold.pop((topic, rule))
            log.info("start_position", topic=topic, offsets=offsets, rule=rule,
                     reason="the group has no offset")  # fmt: skip

    async def _nothing_committed(self, partition: Partition) -> bool:
        asked = self._asked.setdefault(partition, [])
        while await self._reader.committed(partition) is None:
            asked.append(time.monotonic())
            if len(asked) >= ASKED and asked[-1] - asked[0] >= self._spread:
                return True
            await asyncio.sleep(self._pause)
        asked.clear()
        return False  # the consumer finds it by itself at its next fetch

    async def _choose(self, partition: Partition) -> tuple[int, str]:
        if self._known.appeared_later(partition):
            return await self._reader.first_offset(partition), "new partition"
        match self._start_from:
            case Edge.EARLIEST:
                return await self._reader.first_offset(partition), "earliest"
            case Edge.LATEST:
                return await self._reader.end_offset(partition), "latest"
            case datetime() as instant:
                return await self._at(partition, instant), instant.isoformat()

    async def _at(self, partition: Partition, instant: datetime) -> int:
        found = await self._reader.offset_at(partition, int(instant.timestamp() * 1000))
        return await self._reader.end_offset(partition) if found is None else found
