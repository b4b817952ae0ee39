"""What the line could not finish: the next rounds of parked mails.

A mail whose round is used up waits in the dead-letter table for its next round. Every worker takes
what is due, one short statement, no transaction over HTTP; who dies over it leaves it due again.
Outcomes settled here are published from the row, whose flag is cleared after the ack.
(Evidence for unknown outcomes joins here.)
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from consumer import endings
from consumer.endings import Ended
from consumer.intake.hold import Hold
from consumer.model import Mail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from consumer.guard import Due, Guard
    from consumer.line import Line
    from consumer.telemetry import Metrics

PAUSE = 2.0  # seconds between two looks; a round is minutes away
TELL = 60.0  # seconds between two looks for what a worker that died had not told
TOGETHER = 20  # parked mails in hand at once, so that they never starve new mail


class Resolver:
    """Flies what is due. `publish` returns when upstream has heard of an ending."""

    def __init__(
        self,
        guard: Guard,
        line: Line,
        publish: Callable[[Ended], Awaitable[None]],
        metrics: Metrics,
    ) -> None:
        self._guard = guard
        self._metrics = metrics
        self._line = line
        self._publish = publish
        self._holds: set[Hold] = set()
        self._stopping = asyncio.Event()
        self._tell_again_at = 0.0

    async def run(self) -> None:
        """Work until `stop`."""
        while not self._stopping.is_set():
            due = await self._guard.take_due(TOGETHER)
            await asyncio.gather(*(self._fly(each) for each in due if _leads(each)))
            if due or time.monotonic() >= self._tell_again_at:
                await self._tell()
            if len(due) < TOGETHER:
                await self._pause()

    def stop(self) -> None:
        """Take no more, and call back what is in hand: it is due again later."""
        self._stopping.set()
        for hold in self._holds:
            hold.recall(hard=True)

    async def _fly(self, due: Due) -> None:
        hold = Hold()
        flight = asyncio.ensure_future(self._line.next_round(due.record, hold))
        hold.bind(flight)
        self._holds.add(hold)
        try:
            ending = await flight
            if isinstance(ending, Ended):
                self._metrics.record_ended(due.record, ending)
        except asyncio.CancelledError:
            if not hold.recalled:
                raise
        finally:
            self._holds.discard(hold)

    async def _tell(self) -> None:
        self._tell_again_at = time.monotonic() + TELL
        for settled in await self._guard.outcomes_due():
            mail = self._line.read(settled.record)
            await self._publish(endings.told(settled.row, mail if isinstance(mail, Mail) else None))
            await self._guard.outcome_told(settled.row)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE):
                await self._stopping.wait()
        except TimeoutError:
            return


def _leads(due: Due) -> bool:
    """The row's own letter carries the date of its next round; the others share its fate."""
    return due.row is not None and due.row.coordinates == due.letter.coordinates
