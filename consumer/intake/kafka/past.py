"""What a group has behind it, read once more from outside: joins nothing, commits nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from aiokafka import TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

from consumer.intake.cluster import Cluster, KafkaUnreachableError, Timing
from consumer.intake.kafka.access import check_topics, translated
from consumer.intake.kafka.client import guard_offset_fetch, new_consumer, to_record
from consumer.intake.kafka.closing import dismissed
from consumer.intake.offsets import Partition
from consumer.model import Record

PAGE: Final = 500  # records at once; each may have ten megabytes
PATIENCE: Final = 20.0  # seconds without a record


@dataclass(frozen=True, slots=True)
class Stretch:
    """Offsets of one partition: from `first` up to `end`, which the group has not handled yet."""

    partition: Partition
    since: int  # milliseconds since the epoch: older records are none of it
    first: int
    end: int
    ahead: int  # offsets from `end` on: still to come
    begun: bool = True  # False: the group has committed nothing here

    def __len__(self) -> int:
        return self.end - self.first


class Past:
    """Connects with the first question. Not for two callers at a time."""

    def __init__(self, cluster: Cluster, group_id: str) -> None:
        self._cluster = cluster
        self._group_id = group_id
        self._consumer: Any = None

    async def stretches(self, topics: Collection[str], since: datetime) -> list[Stretch]:
        """Return what the group has committed of each partition, from an instant on.

        Raises KafkaUnreachableError, KafkaRefusedError.
        """
        counts = await check_topics(self._cluster, topics)
        places = [TopicPartition(topic, n) for topic, count in counts.items() for n in range(count)]
        instant = int(since.timestamp() * 1000)
        async with translated(self._cluster):
            await self._open()
            firsts = await self._consumer.offsets_for_times(dict.fromkeys(places, instant))
            ends = await self._consumer.end_offsets(places)
            behind = await asyncio.gather(*map(self._consumer.committed, places))
        return [
            _stretch(at, instant, firsts[at], committed, ends[at])
            for at, committed in zip(places, behind, strict=True)
        ]

    async def pages(self, stretch: Stretch) -> AsyncGenerator[list[Record], None]:
        """Read a stretch. What compaction or retention took is passed over. Raises as above."""
        place = TopicPartition(*stretch.partition)
        self._consumer.assign([place])
        self._consumer.seek(place, stretch.first)
        at = stretch.first
        while at < stretch.end:
            before = at
            async with translated(self._cluster):
                batches = await self._more(place)
                at = await self._consumer.position(place)
            if at == before:
                raise KafkaUnreachableError(f"nothing was read within {PATIENCE:g} s")
            yield [to_record(one) for one in batches.get(place, ()) if _is_in(one, stretch)]

    async def _more(self, place: TopicPartition) -> Any:
        try:
            return await self._consumer.getmany(
                place, timeout_ms=int(PATIENCE * 1000), max_records=PAGE
            )
        except OffsetOutOfRangeError:  # retention took some meanwhile
            first = (await self._consumer.beginning_offsets([place]))[place]
            self._consumer.seek(place, first)
            return {}

    async def _open(self) -> None:
        if self._consumer is None:
            self._consumer = new_consumer(self._cluster, self._group_id, Timing())
            await self._consumer.start()
            guard_offset_fetch(self._consumer._coordinator)  # noqa: SLF001 - no public seam

    async def aclose(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await dismissed(consumer)


def _is_in(message: Any, stretch: Stretch) -> bool:
    """Producers may give times: behind the first record of an instant there may be older ones."""
    return bool(message.offset < stretch.end and message.timestamp >= stretch.since)


def _stretch(
    place: TopicPartition, since: int, first: Any, committed: int | None, end: int
) -> Stretch:
    """`first`: the first record since the instant; None: there is none."""
    behind = min(committed or 0, end)
    begin = behind if first is None else min(first.offset, behind)
    return Stretch(Partition(*place), since, begin, behind, end - behind, committed is not None)
