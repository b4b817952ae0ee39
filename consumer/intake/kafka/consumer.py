"""One member of the group: reading, committing, positions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import (
    CommitFailedError,
    GroupAuthorizationFailedError,
    IllegalStateError,
    KafkaError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)

from consumer.intake.cluster import (
    COMMIT_DEADLINE,
    Cluster,
    KafkaRefusedError,
    OffsetsLostError,
    Timing,
)
from consumer.intake.kafka.access import (
    check_topics,
    name_of,
    show_login,
    translated,
)
from consumer.intake.kafka.answers import CommitAnswer, Committed, Late, Lost
from consumer.intake.kafka.client import guard_offset_fetch, new_consumer, to_record
from consumer.intake.kafka.closing import stopped
from consumer.intake.kafka.ear import Ear
from consumer.intake.kafka.listener import Listener, Owner
from consumer.intake.offsets import Partition
from consumer.intake.positions import Known, StartFrom, Starts
from consumer.model import Record

log = structlog.get_logger(__name__)

TROUBLE_PAUSE = 0.1  # seconds; a poll that raises returns at once
_NOWHERE = TopicPartition("", 0)  # polling it keeps the membership and reads nothing


class Consumer:
    """One member of the group, subscribed to a fixed list of topics."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        group_id: str,
        topics: Collection[str],
        start_from: StartFrom,
        timing: Timing | None = None,
    ) -> None:
        self.topics = frozenset(topics)
        self.timing = timing or Timing()
        self._cluster = cluster
        self._group_id = group_id
        self._start_from = start_from
        self._consumer: Any = None
        self._starts: Starts | None = None
        self._ear: Ear

    async def open(self, owner: Owner) -> None:
        """Connect, check topics and rights, join. Raises KafkaUnreachable-, KafkaRefusedError."""
        counts = await check_topics(self._cluster, self.topics)
        async with translated(self._cluster):
            try:
                await self._join(owner, counts)
            except BaseException:
                await self.close(budget=COMMIT_DEADLINE)
                raise

    async def _join(self, owner: Owner, counts: Mapping[str, int]) -> None:
        self._consumer = new_consumer(self._cluster, self._group_id, self.timing)
        await self._consumer.start()
        self._ear = Ear(self._consumer._client)  # noqa: SLF001 - no public way
        guard_offset_fetch(self._consumer._coordinator)  # noqa: SLF001 - no public seam
        known = Known(counts, await self._begun(counts))
        self._starts = Starts(self, self._start_from, known, heartbeat=self.timing.heartbeat)
        self._consumer.subscribe(sorted(self.topics), listener=Listener(owner, self._starts))

    async def _begun(self, counts: Mapping[str, int]) -> frozenset[str]:
        partitions = [Partition(topic, n) for topic, count in counts.items() for n in range(count)]
        offsets = await asyncio.gather(*map(self.committed, partitions))
        pairs = zip(partitions, offsets, strict=True)
        return frozenset(partition.topic for partition, offset in pairs if offset is not None)

    async def poll(
        self, partitions: Collection[Partition], *, wait: float, limit: int
    ) -> list[Record]:
        """Return new records of these partitions; takes `wait` seconds, or a whole rebalance.

        Must be called again and again, also for no partitions at all, or the group gives us up.
        Never cancel it. Raises OffsetsLostError, KafkaRefusedError.
        """
        wanted = [TopicPartition(*partition) for partition in partitions] or [_NOWHERE]
        show_login(self._consumer._client, self._cluster)  # noqa: SLF001 - no public way
        try:
            batches = await self._consumer.getmany(
                *wanted, timeout_ms=int(wait * 1000), max_records=limit
            )
        except KafkaError as error:
            # getmany counts itself as still running after it raised, and the client's own check of
            # the poll interval then never fires again; nobody else calls it, so none is running.
            self._consumer._subscription._fetch_count = 0  # noqa: SLF001 - no public way
            await self._read_trouble(error)
            return []
        return [to_record(message) for batch in batches.values() for message in batch]

    async def _read_trouble(self, error: KafkaError) -> None:
        match error:
            case NoOffsetForPartitionError():
                self._decide_starts()
            case OffsetOutOfRangeError(args=(dict() as offsets,)):
                await self._check_range(offsets)
            case GroupAuthorizationFailedError() | TopicAuthorizationFailedError():
                raise KafkaRefusedError(f"rights were taken away: {name_of(error)}") from error
            case KafkaError(retriable=True):
                log.warning("poll_failed", error=name_of(error))
            case _:
                raise KafkaRefusedError(f"reading cannot go on: {name_of(error)}") from error
        await asyncio.sleep(TROUBLE_PAUSE)

    def _decide_starts(self) -> None:
        """Decide for all that have no position: the client names them one poll at a time."""
        for tp in self._consumer.assignment():
            if self._starts is None or self.position(Partition(*tp)) is not None:
                continue
            try:
                self._starts.missing(Partition(*tp))
            except KafkaError as error:
                log.warning("start_position_undecided", topic=tp.topic, error=name_of(error))

    async def _check_range(self, offsets: Mapping[TopicPartition, int]) -> None:
        for tp, position in offsets.items():
            try:
                first = await self.first_offset(Partition(*tp))
                end = await self.end_offset(Partition(*tp))
            except KafkaError as error:
                log.warning("range_unknown", topic=tp.topic, error=name_of(error))
                continue
            if not first <= position <= end:
                raise OffsetsLostError(tp.topic, tp.partition, position, first, end)

    async def commit(
        self, offsets: Mapping[Partition, int], *, deadline: float = COMMIT_DEADLINE
    ) -> CommitAnswer:
        """Commit next-to-read offsets in one request. One at a time: the caller sees to it."""
        try:
            async with asyncio.timeout(deadline):
                await self._consumer.commit(
                    {TopicPartition(*partition): offset for partition, offset in offsets.items()}
                )
        except (CommitFailedError, IllegalStateError) as error:
            return Lost(name_of(error))
        except (TimeoutError, KafkaError) as error:
            return Late(name_of(error))
        return Committed()

    async def committed(self, partition: Partition) -> int | None:
        offset: int | None = await self._consumer.committed(TopicPartition(*partition))
        return offset

    async def first_offset(self, partition: Partition) -> int:
        tp = TopicPartition(*partition)
        return int((await self._consumer.beginning_offsets([tp]))[tp])

    async def end_offset(self, partition: Partition) -> int:
        tp = TopicPartition(*partition)
        return int((await self._consumer.end_offsets([tp]))[tp])

    async def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        """Return the first offset at or after the instant (ms since the epoch), None: none yet."""
        tp = TopicPartition(*partition)
        found = (await self._consumer.offsets_for_times({tp: timestamp}))[tp]
        return None if found is None else int(found.offset)

    async def start_at(self, partition: Partition, offset: int) -> bool:
        """Commit, then read from `offset`; False: the commit is not certain, nothing changed."""
        answer = await self.commit({partition: offset})
        if not isinstance(answer, Committed):
            log.warning("start_position_not_committed", topic=partition.topic, error=answer.error)
            return False
        if self._state(partition) is None:
            return False  # taken away meanwhile; the next owner finds the commit
        self._consumer.seek(TopicPartition(*partition), offset)
        return True

    def position(self, partition: Partition) -> int | None:
        """Return the next offset the reader will hand over; None: not ours, or not known yet."""
        state = self._state(partition)
        return int(state.position) if state is not None and state.has_valid_position else None

    def lag(self, partition: Partition) -> int | None:
        """Return how many offsets of the log were not handed over yet; None: not known."""
        state, position = self._state(partition), self.position(partition)
        if position is None or state.highwater is None:
            return None
        readable = state.highwater if state.lso in (None, -1) else state.lso
        return max(0, int(readable) - position)

    def _state(self, partition: Partition) -> Any:
        # The public calls wait, or raise, for a partition that has no position yet.
        subscription = self._consumer._subscription.subscription  # noqa: SLF001 - the public calls wait, or raise
        assignment = None if subscription is None else subscription.assignment
        tp = TopicPartition(*partition)
        return assignment.state_value(tp) if assignment and tp in assignment.tps else None

    def alive(self) -> bool:
        """Tell whether the client's own tasks still run; they have been known to end in silence."""
        tasks = (
            self._consumer._coordinator._coordination_task,  # noqa: SLF001 - no public way
            self._consumer._fetcher._fetch_task,  # noqa: SLF001 - no public way
        )
        return not any(task.done() for task in tasks)

    @property
    def heard(self) -> float:
        """When the cluster last answered anything, on `time.monotonic`'s clock."""
        return self._ear.last

    async def answers(self, silence: float) -> bool:
        """Tell whether the cluster answered in the last `silence` seconds, or does so if asked."""
        return await self._ear.hears(silence)

    async def probe(self) -> None:
        """Ask the cluster something by a connection of its own; raises as `open` does."""
        await check_topics(self._cluster, self.topics)

    async def close(self, *, budget: float, hurried: asyncio.Event | None = None) -> bool:
        """Leave the group, also while joining it; `hurried`, once set, ends the waiting for it.

        False: not heard in time; the brokers find out by the session.
        """
        if self._starts is not None:
            await self._starts.forget()
        consumer, self._consumer = self._consumer, None
        return consumer is None or await stopped(consumer, budget, hurried or asyncio.Event())
