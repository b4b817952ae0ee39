"""The one committer: one commit in flight, each with a deadline, offsets that only grow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Protocol, assert_never

import structlog

from consumer.intake.cluster import COMMIT_DEADLINE
from consumer.intake.kafka import CommitAnswer, Committed, Late, Lost
from consumer.intake.lanes import Owned
from consumer.intake.offsets import Partition

log = structlog.get_logger(__name__)


class Broker(Protocol):
    """What of the consumer is needed here."""

    async def commit(
        self, offsets: Mapping[Partition, int], *, deadline: float
    ) -> CommitAnswer: ...
    def position(self, partition: Partition) -> int | None: ...


class Committer:
    """Commits what is finished, every so often and at the end of an ownership."""

    def __init__(self, broker: Broker, every: float) -> None:
        self.loop_lag = 0.0  # seconds by which the last tick came late: the event loop's own lag
        self._broker = broker
        self._every = every
        self._one = asyncio.Lock()

    async def run(self, owned: Callable[[], Collection[Owned]]) -> None:
        """Commit for ever; `owned` is asked anew each time, under the lock."""
        while True:
            due = time.monotonic() + self._every
            await asyncio.sleep(self._every)
            self.loop_lag = time.monotonic() - due
            async with self._one:
                await self._commit(owned(), COMMIT_DEADLINE)

    async def last(self, owned: Collection[Owned], deadline: float = COMMIT_DEADLINE) -> None:
        """Wait for the commit in flight to end, then commit these; `deadline` seconds for each."""
        try:
            async with asyncio.timeout(deadline):
                await self._one.acquire()
        except TimeoutError:  # only a stop in a hurry waits shorter than a commit may last
            log.warning("commit_late", error="another was in flight", partitions=len(owned))
            return
        try:
            await self._commit(owned, deadline)
        finally:
            self._one.release()

    async def _commit(self, owned: Collection[Owned], deadline: float) -> None:
        due = {one: offset for one in owned if (offset := self._due(one)) is not None}
        if not due:
            return
        offsets = {one.partition: offset for one, offset in due.items()}
        answer = await self._broker.commit(offsets, deadline=deadline)
        match answer:
            case Committed():
                for one, offset in due.items():
                    one.tracker.committed(offset)
            case Lost(error):
                log.info("commit_dropped", error=error, partitions=len(due))
                for one in due:
                    one.lost = True
            case Late(error):
                log.warning("commit_late", error=error, partitions=len(due))
            case _:
                assert_never(answer)

    def _due(self, owned: Owned) -> int | None:
        if owned.lost:
            return None
        position = self._broker.position(owned.partition)
        # Of an ownership that is over the position says nothing: a poll that was under way when it
        # ended has moved past records that nobody took in hand.
        if position is not None and not owned.taken:
            owned.tracker.reach(position)
        return owned.tracker.due()
