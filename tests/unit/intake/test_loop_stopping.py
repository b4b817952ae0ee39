"""A rebalance in the middle of a stop: nothing new is begun, nothing is committed for later owners.

Found by simulation: the stop's last commit, made under the next generation, set the offsets back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, cast

import pytest

from consumer.intake import loop
from consumer.intake.cluster import Timing
from consumer.intake.hold import Hold
from consumer.intake.kafka import CommitAnswer, Committed
from consumer.intake.loop import Intake
from consumer.intake.offsets import Partition
from consumer.model import Record

PARTITION = Partition("orders", 0)
RECORDS = [Record("orders", 0, offset, 0, None, b"{}") for offset in (0, 1)]


class Member:
    """A member of a group, which hands over one record a poll, of what is asked for."""

    timing = Timing(drain=0.01)
    heard = 0.0

    def __init__(self) -> None:
        self.commits: list[Mapping[Partition, int]] = []
        self.more = asyncio.Semaphore(1)
        self._records = list(RECORDS)

    async def poll(self, wanted: Collection[Partition], **_: object) -> list[Record]:
        await self.more.acquire()
        return [self._records.pop(0)]

    async def commit(self, offsets: Mapping[Partition, int], **_: object) -> CommitAnswer:
        self.commits.append(offsets)
        return Committed()

    def position(self, _: Partition) -> int | None:
        return None

    async def close(self, **_: object) -> bool:
        return True


async def test_a_rebalance_during_a_stop_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LAST_WORDS", 0.01)
    member, begun, may_end = Member(), asyncio.Queue[int](), asyncio.Event()

    async def handle(record: Record, hold: Hold) -> bool:
        begun.put_nowait(record.offset)
        with hold.fixed():  # a write whose answer takes long
            await may_end.wait()
        return True

    intake = Intake(cast("Any", member), handle, commit_every=60)
    await intake.assigned([PARTITION])
    running = asyncio.create_task(intake.run())
    assert await begun.get() == 0
    stopping = asyncio.create_task(intake.stop(10))
    await asyncio.sleep(0)  # it drains now
    await intake.revoked([PARTITION])
    await intake.assigned([PARTITION])  # the next generation: ours again, for as long as we stay
    member.more.release()  # the poll that was under way hands over what it read
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.gather(stopping, running)
    assert begun.empty()
    assert member.commits == []
