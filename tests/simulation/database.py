"""The store behind the network, and the moments at which somebody who waits should look again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import TypeVar

from consumer.guard.letters import LetterStatus
from consumer.model import Coordinates, Status
from tests.simulation.catalogue import Kept
from tests.simulation.loop import PROCESS, START, SimHandle
from tests.simulation.network import Lost, Network, deliver
from tests.simulation.store import Store

T = TypeVar("T")

AT_LEAST = 60.0  # seconds until somebody looks for outcomes that were not told
SELDOM = 900.0  # seconds until somebody looks although nothing is due
STALE = 601.0  # seconds after which an open row is stale; just above the guard's own


class SimDatabase:
    """What all workers share. `after_write`: what an oracle wants to see after each statement."""

    def __init__(self, network: Network, after_write: Callable[[], None]) -> None:
        self.network, self._after_write = network, after_write
        self.store = Store(now=START)
        self.editions: dict[str, Kept] = {}  # of the catalogue, as workers kept them at their start
        self.flown: set[Coordinates] = set()  # records whose own flight closed their key's row
        self._resolvers: list[asyncio.Future[None]] = []
        self._alarm: SimHandle | None = None

    def ask(
        self, what: str, statement: Callable[[Store], T], *about: object
    ) -> asyncio.Future[T | Lost]:
        def effect() -> T:
            self.store.now = self.network.loop.now
            result = statement(self.store)
            self._after_write()
            self._set_alarm()
            return result

        return self.network.ask(PROCESS.get().name, what, effect, *about)

    def write(self, statement: Callable[[Store], T]) -> T:
        """Somebody else writes, at once: an operator's command."""
        self.store.now = self.network.loop.now
        result = statement(self.store)
        self._after_write()
        self._set_alarm()
        return result

    def pause(self, tries: int) -> float:
        """Return seconds before a repeat, as the real lanes wait."""
        longest: float = min(2.0, 0.05 * 2 ** min(tries, 10))
        return longest * self.network.random.uniform(0.5, 1.0)

    # ── Waking who waits for something to do

    def letters_wake(self, woken: asyncio.Future[None]) -> None:
        self._resolvers.append(woken)
        self._set_alarm()

    def rows_go_stale(self, woken: asyncio.Future[None]) -> None:
        open_rows = any(row.status in _FLYING for row in self.store.db.rows.values())
        self.network.loop.later(STALE / 2 if open_rows else SELDOM, deliver, woken, None)

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._resolvers:
            when = max(self._next_due(), self.network.loop.now)
            self._alarm = self.network.loop.later(when - self.network.loop.now, self._wake)

    def _next_due(self) -> float:
        db, now = self.store.db, self.network.loop.now
        dates = [
            letter.next_check_at or 0.0
            for letter in db.letters.values()
            if letter.status is LetterStatus.PARKED
        ]
        told = any(row.outcome_due and row.status in _TELLABLE for row in db.rows.values())
        return min(min(dates, default=math.inf), now + (AT_LEAST if told else SELDOM))

    def _wake(self) -> None:
        """Wake them all: they race for what is due."""
        woken, self._resolvers = self._resolvers, []
        for one in woken:
            deliver(one, None)


_FLYING = (Status.SENDING, Status.WAITING)
_TELLABLE = (Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED)
