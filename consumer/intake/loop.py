"""The loop: poll, hand out, commit, drain.

    poll ──> lanes ──> a task a record: handle(record, hold) ──> tracker ──> committer
      └─ goes on while all is full, for no partitions then: the group gives up who does not poll

Partitions taken away: hand out nothing more, call back what waits, give what is claimed its time,
call back the rest, commit what finished, let go. A stop is the same for all, and then leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import TypeAlias

import structlog

from consumer.intake.cluster import COMMIT_DEADLINE, LAST_WORDS
from consumer.intake.commits import Committer
from consumer.intake.hold import Hold
from consumer.intake.kafka import Consumer
from consumer.intake.lanes import Lane, Owned, Work, call_back, called_back, lose
from consumer.intake.offsets import Partition, Tracker
from consumer.intake.reach import Reach
from consumer.intake.watch import StuckError, Watch, Watchdog
from consumer.model import Record

log = structlog.get_logger(__name__)

Handle: TypeAlias = Callable[[Record, Hold], Awaitable[bool]]

POLL_RECORDS = 128  # more gains nothing
POLL_WAIT = 0.2  # seconds; with every partition wanted, records wake the poll by themselves
FULL_WAIT = 0.02  # while some are not wanted: how soon one that has room again is asked for
LEAVE = 3.0  # seconds for leaving the group: nobody waits for more than a goodbye


class Intake:
    """One member of the group and all its records in hand.

    `handle` returns True when the record is finished (its offset may be committed), False only
    when it was called back; anything it raises ends the intake, and `run` raises it.
    """

    def __init__(
        self,
        consumer: Consumer,
        handle: Handle,
        *,
        high_topics: Collection[str] = (),
        max_in_flight: int = 384,
        high_in_flight: int = 64,
        per_partition: int = 256,
        commit_every: float = 1.0,
    ) -> None:
        self._consumer = consumer
        self._handle = handle
        self._high_topics = frozenset(high_topics)
        self._normal = Lane(max_in_flight)
        self._high = Lane(high_in_flight)
        self._per_partition = per_partition
        self._owned: dict[Partition, Owned] = {}
        self._all: set[Owned] = set()  # also of ownerships that ended with records still in hand
        self._epoch = 0
        self._committer = Committer(consumer, commit_every)
        self._watchdog = Watchdog(consumer)
        self._reach = Reach(consumer)
        self._tasks: list[asyncio.Task[None]] = []
        self._unassigned_since: float | None = time.monotonic()
        self._stopping = False
        self._hurried = asyncio.Event()
        self._end: asyncio.Future[None] | None = None

    # ── Life

    async def open(self) -> None:
        """Connect and join. Raises KafkaUnreachable-, KafkaRefusedError; may be tried again."""
        await self._consumer.open(self)

    async def run(self) -> None:
        """Work until `stop`; raise what ended it otherwise, and then `stop` is wanted as well.

        OffsetsLostError, KafkaRefusedError, StuckError; anything else is a defect of ours.
        """
        self._end = asyncio.get_running_loop().create_future()
        commits = self._committer.run(self._owned.values)
        for part in (self._poll(), commits, self._watchdog.run(), self._reach.run()):
            task = asyncio.create_task(part)
            task.add_done_callback(self._part_ended)
            self._tasks.append(task)
        await asyncio.shield(self._end)

    async def stop(self, budget: float) -> None:
        """Drain, commit and leave the group, all within `budget` seconds."""
        self._stopping = True
        until = time.monotonic() + budget
        reserve = min(LAST_WORDS + COMMIT_DEADLINE + LEAVE, budget / 2)
        owned = list(self._owned.values())
        await self._drain([*self._all], until - reserve, last_words=min(LAST_WORDS, reserve / 4))
        await self._committer.last(owned, min(COMMIT_DEADLINE, reserve / 3))
        leave = min(LEAVE, max(0.5, until - time.monotonic()))
        left = await self._consumer.close(budget=leave, hurried=self._hurried)
        log.info("intake_stopped", left_the_group=left, in_hand=self._in_flight)
        await self._end_tasks()

    def hurry(self) -> None:
        """Call back hard whatever is in hand, and leave at once: a stop that must not wait."""
        self._hurried.set()
        call_back(self._all, hard=True)

    async def _end_tasks(self) -> None:
        # The consumer is closed: a poll that still waits in it may be cancelled now.
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._end is not None and not self._end.done():
            self._end.set_result(None)

    # ── Poll and hand out

    async def _poll(self) -> None:
        while not self._stopping:
            wanted = [p for p, owned in self._owned.items() if owned.wants_more]
            wait = POLL_WAIT if len(wanted) == len(self._owned) else FULL_WAIT
            records = await self._consumer.poll(wanted, wait=wait, limit=POLL_RECORDS)
            self._watchdog.polled()
            self._offer(records)

    def _offer(self, records: list[Record]) -> None:
        for record in records:
            owned = self._owned.get(Partition(record.topic, record.partition))
            if owned is not None and not owned.taken:  # else whoever owns it next reads it
                owned.offer(record)
        self._hand_out(self._high)
        self._hand_out(self._normal)

    def _hand_out(self, lane: Lane) -> None:
        while (turn := lane.next()) is not None:
            owned, record = turn
            hold = Hold(stand=owned.stand)
            work = asyncio.create_task(self._work(owned, record, hold))
            hold.bind(work)
            owned.begin(work, hold)
            work.add_done_callback(partial(self._ended, owned))

    async def _work(self, owned: Owned, record: Record, hold: Hold) -> None:
        if await self._handle(record, hold):
            owned.tracker.finish(record.offset)
        elif not hold.recalled:
            # It would hold back every later commit of its partition, in silence.
            raise RuntimeError("a record was let go that nobody had called back")

    def _ended(self, owned: Owned, work: Work) -> None:
        hold = owned.end(work)
        if not owned.hands and owned.taken:
            self._all.discard(owned)
        if work.cancelled():
            if not hold.recalled:
                self._fail(RuntimeError("a record's task was cancelled by nobody we know"))
        elif (error := work.exception()) is not None:
            self._fail(error)
        self._hand_out(owned.lane)

    # ── Partitions come and go (both run inside the group's own task)

    async def assigned(self, partitions: Collection[Partition]) -> None:
        if self._stopping:
            return  # a rebalance ended while we drain: nothing new is begun
        self._epoch += 1
        for partition in partitions:
            lane = self._high if partition.topic in self._high_topics else self._normal
            owned = Owned(partition, Tracker(self._epoch), lane, self._per_partition)
            self._owned[partition] = owned
            self._all.add(owned)
        self._unassigned_since = None
        log.info("partitions_assigned", epoch=self._epoch, partitions=len(partitions))

    async def revoked(self, partitions: Collection[Partition]) -> None:
        """Drain and commit within the drain time. Never raises: the group's task swallows it."""
        owned = [self._owned.pop(partition) for partition in partitions if partition in self._owned]
        began = time.monotonic()
        try:
            await self._drain(owned, began + self._consumer.timing.drain, last_words=LAST_WORDS)
            await self._committer.last(owned)
        except Exception as error:  # noqa: BLE001 - the group's task would swallow it
            self._fail(error)
        lose(owned)
        self._unassigned_since = time.monotonic()
        if owned:
            self._log_revoked(owned, time.monotonic() - began)

    def _log_revoked(self, owned: Collection[Owned], seconds: float) -> None:
        in_hand = sum(len(one.hands) for one in owned)
        log.info("partitions_revoked", epoch=self._epoch, partitions=len(owned),
                 still_in_hand=in_hand, seconds=round(seconds, 2))  # fmt: skip

    async def _drain(self, owned: Collection[Owned], until: float, *, last_words: float) -> None:
        for one in owned:
            one.take()
        await called_back(owned, until - time.monotonic(), hard=False)
        await called_back(owned, last_words, hard=True)
        self._all.difference_update(one for one in owned if not one.hands)

    # ── When something ends that should not

    def _part_ended(self, task: asyncio.Task[None]) -> None:
        if self._stopping or task.cancelled():
            return
        self._fail(task.exception() or RuntimeError("a part of the intake ended by itself"))

    def _fail(self, error: BaseException) -> None:
        log.error("intake_failed", error=type(error).__name__)
        self._stopping = True
        if self._end is not None and not self._end.done():
            self._end.set_exception(error)

    # ── Seen from outside

    @property
    def _in_flight(self) -> int:
        return self._normal.in_flight + self._high.in_flight

    @property
    def _unassigned(self) -> float:
        since = self._unassigned_since
        return 0.0 if since is None else time.monotonic() - since

    def watch(self) -> Watch:
        owned = list(self._owned.values())
        lags = {one.partition: self._consumer.lag(one.partition) for one in owned}
        return Watch(
            since_poll=self._watchdog.since_poll,
            unassigned=self._unassigned,
            away_since=self._reach.away_since,
            loop_lag=self._committer.loop_lag,
            in_flight=self._normal.in_flight,
            high_in_flight=self._high.in_flight,
            waiting=sum(len(one.waiting) for one in owned),
            paused=frozenset(one.partition for one in owned if not one.wants_more),
            lag={partition: lag for partition, lag in lags.items() if lag is not None},
        )

    def healthy(self) -> bool:
        """False: a restart would help. Brokers that are away make no difference here."""
        return not any(task.done() for task in self._tasks) or self._stopping


__all__ = ["Handle", "Intake", "StuckError", "Watch"]
