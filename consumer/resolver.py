"""What the line could not finish: next rounds, outcomes that nobody knows, a person's replays.

    parked and due ─▶ unknown   ─▶ one step of the inquiry
                   ─▶ waiting   ─▶ the next round
                   ─▶ sending   ─▶ its worker is gone: unknown
                   ─▶ otherwise ─▶ replayed: the line again, from the beginning

Driven by dead letters, not by rows: every worker takes what is due in one short statement, with no
transaction over HTTP, and who dies over it leaves it due again. What is settled here is published
from the row, whose flag is cleared after the ack.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from consumer import endings
from consumer.endings import Ended, LetGo
from consumer.hand import InHand
from consumer.intake.hold import Hold
from consumer.model import Mail, Reason, Status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from consumer.endings import Ending
    from consumer.guard import Due, Guard
    from consumer.inquiry import Inquiry
    from consumer.line import Line
    from consumer.model import Row
    from consumer.telemetry import Metrics

PAUSE = 1.0  # seconds between two looks; the first evidence is looked for after two
TELL = 60.0  # seconds between two looks for what a worker that died had not told
TOGETHER = 20  # parked mails in hand at once, so that they never starve new mail
NOT_READABLE = 600.0  # seconds to the next look at what this worker's catalogue cannot read


class Resolver:
    """Works on what is due. `publish` returns when upstream has heard of an ending."""

    def __init__(
        self,
        guard: Guard,
        line: Line,
        inquiry: Inquiry,
        publish: Callable[[Ended], Awaitable[None]],
        metrics: Metrics,
    ) -> None:
        self._guard = guard
        self._line = line
        self._inquiry = inquiry
        self._publish = publish
        self._metrics = metrics
        self._holds: set[Hold] = set()
        self._stopping = asyncio.Event()
        self._tell_again_at = 0.0

    async def run(self) -> None:
        """Work until `stop`."""
        while not self._stopping.is_set():
            due = await self._guard.take_due(TOGETHER)
            await asyncio.gather(*map(self._take, due))
            if due or time.monotonic() >= self._tell_again_at:
                await self._tell()
            if len(due) < TOGETHER:
                await self._pause()

    def stop(self) -> None:
        """Take no more, and call back what is in hand: it is due again later."""
        self._stopping.set()
        for hold in self._holds:
            hold.recall(hard=True)

    async def _take(self, due: Due) -> None:
        hold = Hold()
        work = asyncio.ensure_future(self._step(due, hold))
        hold.bind(work)
        self._holds.add(hold)
        try:
            ending = await work
            if isinstance(ending, Ended):
                self._metrics.record_ended(due.record, ending)
        except asyncio.CancelledError:
            if not hold.recalled:
                raise
        finally:
            self._holds.discard(hold)

    async def _step(self, due: Due, hold: Hold) -> Ending | None:
        """Do what the letter is parked for, by what stands under its key now."""
        row = due.row
        if row is None or not _is_of(row, due):
            return await self._beside(due, hold)
        if row.status not in _OPEN:
            return await self._replay(due, hold)
        if row.status is Status.SENDING:
            await self._abandoned(row, due)
            return None
        mail = self._line.read(due.record)
        if not isinstance(mail, Mail):
            await self._guard.wait_for_deploy(due.letter, NOT_READABLE)
            return None
        hand = InHand(replace(mail, key=row.key), due.record, hold, due.replay)
        if row.status is Status.UNKNOWN:
            return await self._inquiry.settle(row, due, hand)
        return await self._line.go_on(hand)

    async def _beside(self, due: Due, hold: Hold) -> Ending | None:
        """Another record's row decides, as long as it is open; else this record goes again."""
        row = due.row
        if row is not None and row.status in _OPEN and due.letter.reason in _SHARED:
            await self._guard.share_fate(due.letter)
            return None
        return await self._replay(due, hold)

    async def _replay(self, due: Due, hold: Hold) -> Ending:
        ending = await self._line.handle(due.record, hold, replay=True)
        if not isinstance(ending, LetGo):
            await self._guard.replayed(due.letter)
        return ending

    async def _abandoned(self, row: Row, due: Due) -> None:
        if not row.lease_live:
            await self._guard.abandon(row, row.mail_type, due.record)

    async def _tell(self) -> None:
        self._tell_again_at = time.monotonic() + TELL
        for settled in await self._guard.outcomes_due():
            mail = self._line.read(settled.record)
            await self._publish(endings.told(settled.row, mail if isinstance(mail, Mail) else None))
            await self._guard.outcome_told(settled.row)
        for news in await self._guard.news_due():
            await self._publish(endings.news(news))
            await self._guard.news_told(news.id)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE):
                await self._stopping.wait()
        except TimeoutError:
            return


_OPEN = (Status.SENDING, Status.WAITING, Status.UNKNOWN)
_SHARED = (Reason.UNKNOWN, Reason.EXHAUSTED)


def _is_of(row: Row, due: Due) -> bool:
    """The row's own letter carries the date of its next step; the others share its fate."""
    return row.coordinates == due.letter.coordinates
