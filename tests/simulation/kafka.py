"""The broker: a log, a group with its rebalances, and commits as they happened.

    member gone (left, or silent for a session) or new ─▶ the others are told with their heartbeat
    ─▶ each gives up its partitions, commits, joins again ─▶ all are there, or time is up:
    the next generation, partitions dealt out; who came too late is no member any more

A commit counts for a member of the running generation only. Kafka itself does not hold offsets to
growing: that is the service's own promise, and the laws watch it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from consumer.intake.cluster import KafkaUnreachableError, Timing
from consumer.intake.kafka import CommitAnswer, Committed, Lost, RecordGoneError
from consumer.intake.offsets import Partition
from consumer.model import Coordinates, Record
from tests.simulation.loop import WORLD, Process
from tests.simulation.network import Network, deliver

if TYPE_CHECKING:
    from tests.simulation.consumer import SimConsumer

TIMING = Timing(session=10.0, heartbeat=3.0, drain=6.0)


@dataclass(slots=True)
class Log:
    """A partition: records in order, with holes between their offsets; `end` may lie behind one."""

    records: list[Record] = field(default_factory=list)
    end: int = 0
    gone: int = 0  # retention took what is before


@dataclass(slots=True, eq=False)
class Member:
    consumer: SimConsumer
    process: Process
    waiting: asyncio.Future[Assignment | None] | None = None  # its answer to the join
    partitions: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    generation: int
    partitions: tuple[Partition, ...]


class SimBroker:
    def __init__(
        self,
        network: Network,
        partitions: Collection[Partition],
        on_commit: Callable[[Partition, int, int], None],
    ) -> None:
        self.network = network
        self.logs = {partition: Log() for partition in partitions}
        self.committed: dict[Partition, int] = {}
        self._on_commit = on_commit
        self._members: dict[SimConsumer, Member] = {}
        self._generation = 0
        self._preparing = 0  # counts rebalances; the running one, if any, by `_rebalancing`
        self._rebalancing = False

    # ── The log

    def append(self, partition: Partition, record: Record, *, hole: int = 0) -> None:
        log = self.logs[partition]
        log.records.append(record)
        log.end = record.offset + 1 + hole
        for member in self._members.values():
            member.consumer.wake()

    def read(self, at: Coordinates) -> Record:
        log = self.logs[Partition(at.topic, at.partition)]
        for record in log.records:
            if record.coordinates == at and record.offset >= log.gone:
                return record
        raise RecordGoneError("retention took it")

    # ── The group

    def join(self, consumer: SimConsumer, process: Process) -> asyncio.Future[Assignment | None]:
        """Answer when the next generation begins; None: no member any more, join anew."""
        answer = self.network.loop.create_future()
        self.network.loop.later(self.network.travel(), self._joins, consumer, process, answer)
        return answer

    def _joins(
        self, consumer: SimConsumer, process: Process, answer: asyncio.Future[Assignment | None]
    ) -> None:
        if process.dead:
            return
        member = self._members.get(consumer)
        if member is None:
            member = self._members[consumer] = Member(consumer, process)
        member.waiting = answer
        if not self._rebalancing:
            self._rebalance()
        self._complete_if_all_joined()

    def leave(self, consumer: SimConsumer) -> None:
        if self._members.pop(consumer, None) is not None:
            self._changed()

    def silent(self, process: Process) -> None:
        """A process froze or died: without heartbeats its session ends."""
        left = TIMING.session - self.network.random.uniform(0, TIMING.heartbeat)
        self.network.loop.later(left, self._expire, process)

    def _expire(self, process: Process) -> None:
        for member in list(self._members.values()):
            if member.process is process and (process.dead or process.frozen):
                self.network.story.tell(self.network.loop.now, process.name, "session expired")
                del self._members[member.consumer]
                self._tell_to_rejoin(member)  # it hears of it when it is back
                self._changed()

    def _changed(self) -> None:
        if self._rebalancing:
            self._complete_if_all_joined()
        elif self._members:
            self._rebalance()

    def rebalance(self) -> None:
        """Somebody shakes the group: a topic changed, a member was configured anew."""
        if self._members and not self._rebalancing:
            self._rebalance()

    def _rebalance(self) -> None:
        self._rebalancing, self._preparing = True, self._preparing + 1
        for member in self._members.values():
            if member.waiting is None:
                self._tell_to_rejoin(member)
        self.network.loop.later(TIMING.rebalance, self._time_is_up, self._preparing)

    def _tell_to_rejoin(self, member: Member) -> None:
        beat = self.network.random.uniform(0, TIMING.heartbeat)
        self.network.loop.later(beat, member.consumer.rejoin)

    def _time_is_up(self, preparing: int) -> None:
        if self._rebalancing and preparing == self._preparing:
            for member in [one for one in self._members.values() if one.waiting is None]:
                del self._members[member.consumer]
                self._tell_to_rejoin(member)
            self._complete_if_all_joined()

    def _complete_if_all_joined(self) -> None:
        if any(member.waiting is None for member in self._members.values()):
            return
        self._rebalancing = False
        self._generation += 1
        members = list(self._members.values())
        for n, member in enumerate(members):
            member.partitions = tuple(list(self.logs)[n :: len(members)])
            waiting, member.waiting = member.waiting, None
            assert waiting is not None
            assignment = Assignment(self._generation, member.partitions)
            self.network.loop.later(self.network.travel(), deliver, waiting, assignment)
        dealt = [f"{one.process.name}:{[p.number for p in one.partitions]}" for one in members]
        self.network.story.tell(
            self.network.loop.now, "broker", "generation", self._generation, *dealt
        )

    # ── Offsets

    def commit(
        self, consumer: SimConsumer, generation: int, offsets: Mapping[Partition, int]
    ) -> CommitAnswer:
        member = self._members.get(consumer)
        if member is None or generation != self._generation:
            return Lost("IllegalGeneration")
        if not set(offsets) <= set(member.partitions):
            return Lost("IllegalState")
        for partition, offset in offsets.items():
            before = self.committed.get(partition, 0)
            self.committed[partition] = offset
            self._on_commit(partition, before, offset)
        return Committed()


class SimReader:
    """Reads single records back, for the sweep."""

    def __init__(self, broker: SimBroker) -> None:
        self._broker = broker

    async def read(self, at: Coordinates) -> Record:
        network = self._broker.network
        await asyncio.sleep(network.travel())
        if network.random.random() < network.faults.before:
            raise KafkaUnreachableError("simulated")
        return self._broker.read(at)


class SimPublisher:
    """Outcomes to their topic: published again until acked, as the real publisher does."""

    def __init__(self, network: Network, topic: list[tuple[bytes | None, bytes]]) -> None:
        self._network, self._topic = network, topic

    async def publish(self, key: bytes | None, value: bytes) -> None:
        network = self._network
        while True:
            acked = await network.ask("broker", "outcome", lambda: self._append(key, value), key)
            if acked is True:
                return
            await asyncio.sleep(network.random.uniform(0, 1))

    def _append(self, key: bytes | None, value: bytes) -> bool:
        self._topic.append((key, value))
        return True


__all__ = ["TIMING", "WORLD", "Log", "SimBroker", "SimPublisher", "SimReader"]
