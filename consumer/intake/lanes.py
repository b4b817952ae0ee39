"""What is in hand, and what may be: budgets, partitions and the records waiting between the two.

    a poll's records -> Owned.waiting -> a task each, while its lane and its partition have room

Two lanes: a full budget of receipts never keeps a reset waiting. A task counts against its lane
until it ends, also when its partition was taken away before.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from consumer.intake.hold import Hold
from consumer.intake.offsets import Partition, Tracker
from consumer.model import Record

AHEAD = 64  # records of a full lane that may wait for room
STANDING = 32  # records of a partition that may stand still; then it is not read any further

Work: TypeAlias = "asyncio.Task[None]"


@dataclass(slots=True)
class Lane:
    """One budget of records in hand, shared by the partitions of some topics."""

    limit: int
    in_flight: int = 0
    waiting: int = 0
    line: deque[Owned] = field(default_factory=deque)  # partitions with records waiting, in turn

    @property
    def has_room(self) -> bool:
        return self.in_flight < self.limit

    @property
    def wants_more(self) -> bool:
        """Read a little ahead of the room there is, so that what ends is followed at once."""
        return self.has_room or self.waiting < AHEAD

    def next(self) -> tuple[Owned, Record] | None:
        """Return the next record that may start: one of each partition in turn."""
        while self.has_room and self.line:
            owned = self.line.popleft()
            if not owned.may_start:
                owned.queued = False  # it queues again when a record of its own ends, or comes
                continue
            self.line.append(owned)
            self.waiting -= 1
            return owned, owned.waiting.popleft()
        return None


@dataclass(slots=True, eq=False)
class Owned:
    """A partition during one ownership. `taken`: over; `lost`: its commits are no longer wanted."""

    partition: Partition
    tracker: Tracker
    lane: Lane
    limit: int  # of its own records in hand
    waiting: deque[Record] = field(default_factory=deque)
    hands: dict[Work, Hold] = field(default_factory=dict)
    standing: int = 0  # of its hands, those that wait for a person: they take no room in the lane
    queued: bool = False
    taken: bool = False
    lost: bool = False

    @property
    def may_start(self) -> bool:
        return bool(self.waiting) and not self.taken and self._has_room

    @property
    def wants_more(self) -> bool:
        return not self.waiting and self._has_room and self.lane.wants_more

    @property
    def _has_room(self) -> bool:
        return len(self.hands) < self.limit and self.standing < STANDING

    def offer(self, record: Record) -> None:
        """Put a record in the queue, unless this ownership saw it before."""
        if self.tracker.deliver(record.offset):
            self.waiting.append(record)
            self.lane.waiting += 1
            self.queue()

    def queue(self) -> None:
        if not self.queued and self.may_start:
            self.queued = True
            self.lane.line.append(self)

    def begin(self, work: Work, hold: Hold) -> None:
        self.hands[work] = hold
        self.lane.in_flight += 1

    def end(self, work: Work) -> Hold:
        self.lane.in_flight -= 1
        hold = self.hands.pop(work)
        self.queue()
        return hold

    def stand(self, change: int) -> None:
        """One more of its hands stands still, or one less. Its place in the lane is free then."""
        self.standing += change
        self.lane.in_flight -= change
        self.queue()

    def take(self) -> None:
        """The ownership is over: what waits is forgotten, somebody else will read it again."""
        self.taken = True
        self.lane.waiting -= len(self.waiting)
        self.waiting.clear()


def lose(owned: Collection[Owned]) -> None:
    """No commit for these any more: made for a later ownership, it would set the offsets back."""
    for one in owned:
        one.lost = True


def call_back(owned: Collection[Owned], *, hard: bool) -> None:
    for one in owned:
        for hold in list(one.hands.values()):
            hold.recall(hard=hard)


async def called_back(owned: Collection[Owned], budget: float, *, hard: bool) -> None:
    """Call everything back that is in hand there, and wait until it ended, or the budget did."""
    works = [work for one in owned for work in one.hands]
    call_back(owned, hard=hard)
    if works:
        await asyncio.wait(works, timeout=max(0.0, budget))
