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
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import endings
from consumer.courses import Anew, Beside, Busy, GoOn, Inquire, Lost, Unreadable, course
from consumer.endings import Ended, LetGo
from consumer.guard.errors import GuardClosedError
from consumer.hand import InHand
from consumer.intake.hold import Hold
from consumer.model import Mail, NeedsSchema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from consumer.endings import Ending
    from consumer.guard import Due, Guard
    from consumer.inquiry import Inquiry
    from consumer.line import Line
    from consumer.model import Row
    from consumer.telemetry import Metrics

log = structlog.get_logger(__name__)

PAUSE = 1.0  # seconds between two looks; the first evidence is looked for after two
TELL = 60.0  # seconds between two looks for what a worker that died had not told
TELL_SHARE = 10.0  # times as long as a look takes until the next: it walks through all letters
TOGETHER = 20  # parked mails in hand at once, so that they never starve new mail
PATIENCE = 45.0  # seconds a step may wait (for a slow rate, for a live flight) before it is put
# back; shorter than the letter is held for. Behind a breaker it does not wait at all: the outage of
# one provider must not keep all others' letters
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
        self._tell_not_before = 0.0

    async def run(self) -> None:
        """Work until `stop`, and then tell what was settled to the last."""
        telling: asyncio.Task[None] | None = None
        try:
            while not self._stopping.is_set():
                due = await self._guard.take_due(TOGETHER)
                if self._stopping.is_set():
                    break  # what was taken is due again in a minute
                await asyncio.gather(*map(self.work, due))
                telling = self._told_beside(telling, some=bool(due))
                if len(due) < TOGETHER:
                    await self._pause()
            if telling is not None:
                await telling
            await self._tell()
        finally:
            if telling is not None:
                telling.cancel()
                await asyncio.wait({telling})

    def _told_beside(
        self, telling: asyncio.Task[None] | None, *, some: bool
    ) -> asyncio.Task[None] | None:
        """Tell upstream in a task of its own: a topic that is away must not keep the evidence."""
        if telling is not None and not telling.done():
            return telling
        if telling is not None:
            telling.result()  # a defect ends the worker, loudly
        if some:
            self._tell_again_at = self._tell_not_before
        if time.monotonic() < self._tell_again_at:
            return None
        return asyncio.create_task(self._tell())

    def stop(self) -> None:
        """Take no more, and call back what is in hand: it is due again later."""
        self._stopping.set()
        for hold in self._holds:
            hold.recall(hard=True)

    async def work(self, due: Due) -> None:
        """Do the next step for a letter that this worker has taken."""
        hold = Hold()
        work = asyncio.create_task(self._step(due, hold))
        hold.bind(work)
        self._holds.add(hold)
        patience = asyncio.get_running_loop().call_later(PATIENCE, _call_back, hold)
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            hold.recall(hard=True)  # not a cancellation: a write under way must not be cut off
            await asyncio.wait({work})
            raise
        finally:
            patience.cancel()
            self._holds.discard(hold)
        self._note(work, due)

    def _note(self, work: asyncio.Task[Ending | None], due: Due) -> None:
        """One record that meets a defect must not end every worker that takes it up."""
        if work.cancelled():
            return  # called back
        defect = work.exception()
        if isinstance(defect, GuardClosedError):
            return  # the service is stopping, and Postgres is away: due again later
        if defect is not None:
            log.error("a step failed", letter=due.letter.id, alert="defect", exc_info=defect)
            return
        if isinstance(ending := work.result(), Ended):
            self._metrics.record_ended(due.record, ending)

    async def _step(self, due: Due, hold: Hold) -> Ending | None:
        """Do what the letter is parked for, by what stands under its key now."""
        read = await self._line.reading.glance(due.record)
        if isinstance(read, NeedsSchema):
            return None  # the registry is away: the letter is due again in a minute
        if due.row is not None and due.row.coordinates == due.letter.coordinates:
            read = await self._line.editions.as_claimed(read, due.row, due.record)
        way = course(due.letter, due.row, read)
        match way:
            case Anew():
                return await self._replay(due, hold)
            case Inquire(row, mail):
                return await self._inquiry.settle(row, due, self._hand(mail, due, hold))
            case GoOn(row, mail):
                return await self._go_on(self._hand(mail, due, hold), row)
            case Beside():
                await self._guard.share_fate(due.letter)
            case Lost(row):
                await self._guard.abandon(row, row.mail_type, due.record)
            case Unreadable():
                await self._guard.wait_for_deploy(due.letter, NOT_READABLE)
            case Busy():
                pass
            case _:
                assert_never(way)
        return None

    def _hand(self, mail: Mail, due: Due, hold: Hold) -> InHand:
        return InHand(mail, due.record, hold, due.replay, parked=True)

    async def _go_on(self, hand: InHand, row: Row) -> Ending:
        """Fly the next round; of a mail that cannot be made any more, no row will tell upstream."""
        ending = await self._line.go_on(hand, row)
        if isinstance(ending, Ended) and _set_aside(ending):
            await self._publish(ending)
        return ending

    async def _replay(self, due: Due, hold: Hold) -> Ending:
        ending = await self._line.handle(due.record, hold, parked=True, replay=due.replay)
        if not isinstance(ending, LetGo):
            if ending.result in _TELLS_NOBODY:
                await self._publish(ending)
            await self._guard.replayed(due.letter)
        return ending

    async def _tell(self) -> None:
        began = time.monotonic()
        outcomes = await self._guard.outcomes_due()
        self._tell_again_at = began + TELL
        self._tell_not_before = began + TELL_SHARE * (time.monotonic() - began)
        for settled in outcomes:
            mail = await self._line.reading.glance(settled.record)
            if isinstance(mail, NeedsSchema):
                continue  # told when the registry is back: the outcome names the entity
            await self._publish(endings.told(settled.row, mail if isinstance(mail, Mail) else None))
            await self._guard.outcome_told(settled.row)
            self._tell_again_at = self._tell_not_before  # a look finds so many: there may be more
        for news in await self._guard.news_due():
            await self._publish(endings.news(news))
            await self._guard.news_told(news.id)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE):
                await self._stopping.wait()
        except TimeoutError:
            return


def _call_back(hold: Hold) -> None:
    """Softly: what is claimed goes on to its outcome."""
    hold.recall(hard=False)


def _set_aside(ending: Ended) -> bool:
    """Its letter was opened before any provider had a say, so no row will tell of it."""
    return (
        ending.result == "dead_letter"
        and ending.outcome is not None
        and not ending.outcome.provider
    )


# Ends of a replay that no row will tell upstream, which had heard of a dead letter.
_TELLS_NOBODY = ("duplicate", "redelivery", "skipped")
