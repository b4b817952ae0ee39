"""After the storm: nothing fails any more, and what is in doubt is settled, or shown.

Some evidence is waited for by design: two minutes for a webhook, ten and thirty for a mail to be
found. Nobody waits here. When nothing is due, all that stands in the database becomes older by as
much as the next step is away: for every party that is the same as waiting, and the service has no
switch for it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import asyncpg

from tests.chaos.world import World
from tests.parts.proxy import Mode
from tests.whole.stack import Stack

GLANCE = 0.5  # seconds
SOON = 2.0  # seconds that are waited for in earnest
QUIET = 3.0  # seconds for which a date has to stand still before it is leapt to
LEAP = 300.0  # seconds, at most, at once
LONGEST = 8 * 3600.0  # seconds; who asks a provider in vain gives up after two hours

ROWS = """
    UPDATE sent_message
       SET first_attempt_at = first_attempt_at - $1::interval,
           attempt_deadline = attempt_deadline - $1::interval,
           doubt_since = doubt_since - $1::interval
     WHERE status = 'unknown'
"""
LETTERS = """
    UPDATE dead_letter SET next_check_at = next_check_at - $1::interval WHERE status = 'parked'
"""
LEFT = """
    SELECT (SELECT count(*) FROM sent_message WHERE status IN ('sending', 'waiting')) AS flying,
           (SELECT count(*) FROM sent_message WHERE outcome_due AND status <> 'unknown') AS untold,
           (SELECT count(*) FROM dead_letter WHERE status = 'parked') AS parked
"""


@dataclass(slots=True)
class Clock:
    """By how much the database was made older: time that the service would have waited."""

    stack: Stack
    leapt: float = 0.0
    began: float = field(default_factory=time.monotonic)
    _due: float = 0.0
    _since: float = 0.0

    @property
    def took(self) -> float:
        """Seconds that it would have taken."""
        return time.monotonic() - self.began + self.leapt

    async def pass_over(self, due_in: float) -> None:
        """Leap to what is due, if nobody is at it: who takes a letter moves its date on first."""
        due, now = time.monotonic() + due_in, time.monotonic()
        if abs(due - self._due) > GLANCE:
            self._due, self._since = due, now
        elif now - self._since > QUIET and due_in > SOON:
            await self._leap(min(due_in, LEAP))

    async def _leap(self, seconds: float) -> None:
        for statement in (ROWS, LETTERS):
            await self._aged(statement, timedelta(seconds=seconds))
        self.leapt += seconds

    async def _aged(self, statement: str, by: timedelta) -> None:
        """It touches all rows in no order, and whoever works on some may be in its way."""
        while True:
            with suppress(asyncpg.DeadlockDetectedError):
                await self.stack.sql(statement, by)
                return

    async def step(self) -> bool:
        """Leap now and then, where many are waited for; False: nothing is left to wait for."""
        [left] = await self.stack.sql(LEFT)
        if not any((left["flying"], left["untold"], left["parked"])):
            return False
        if left["parked"] and time.monotonic() - self._since > QUIET:
            self._since = time.monotonic()
            await self._leap(LEAP)
        await asyncio.sleep(GLANCE)
        return True


async def heal(world: World) -> None:
    """Nothing is broken any more, and whoever is gone comes back; answers are lost as before."""
    for leg in world.legs:
        leg.mode, leg.delay = Mode.PASS, 0.0
        leg.reset()
    for hand in world.hands:
        if not hand.lives:
            hand.start()


async def settle(world: World, seconds: float) -> Clock:
    """Wait until all is committed and nothing is parked any more; `seconds`: of real time."""
    await world.stack.finished(*world.topics.values(), seconds=seconds)
    for double in world.doubles.values():
        await double.fail({})
    clock = Clock(world.stack)
    until = time.monotonic() + seconds
    while await clock.step():
        if time.monotonic() > until or clock.leapt > LONGEST:
            break  # the reckoning says what is left
    return clock
