"""The quiet work beside the line: heartbeat and fleet share, pruning, figures, the loop's own lag.

None of it may fail loudly over a database that is away: the guard repeats by itself. What raises
here is a defect, and ends the process.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumer.admin import Heartbeat
    from consumer.guard import Guard
    from consumer.model import Edition
    from consumer.routes import Routes
    from consumer.telemetry import Metrics

BEAT = 5.0  # seconds between two signs of life in the table `worker`
PRUNE = 60.0  # seconds between two looks for rows past retention
BREATH = 0.5  # seconds between two batches of pruning, so that claims come first
KEEP = 3600.0  # seconds between two signs that an edition of the catalogue is in use
PAUSES = 2.0  # seconds between two looks at what a person has stopped
FIGURES = 15.0  # seconds between two counts of open dead letters
TICK = 0.25  # seconds between two looks at how late the event loop is


class Upkeep:
    def __init__(
        self, guard: Guard, routes: Routes, metrics: Metrics, editions: Sequence[Edition]
    ) -> None:
        self._editions = editions  # of the catalogue in use
        self._guard = guard
        self._routes = routes
        self._metrics = metrics

    def tasks(self, pulse: Heartbeat) -> list[asyncio.Task[None]]:
        """Start the work; whoever calls owns the tasks. `pulse` beats as long as the loop turns."""
        return [
            asyncio.create_task(self._beat(), name="heartbeat"),
            asyncio.create_task(self._prune(), name="prune"),
            asyncio.create_task(self._tidy(), name="privacy"),
            asyncio.create_task(self._keep(), name="editions"),
            asyncio.create_task(self._obey(), name="pauses"),
            asyncio.create_task(self._figures(), name="figures"),
            asyncio.create_task(self._loop_lag(pulse), name="loop lag"),
        ]

    async def _beat(self) -> None:
        """Say that this worker lives; take its share of each provider's rate."""
        while True:
            workers = await self._guard.beat()
            for route in self._routes.by_name.values():
                route.permits.share(workers)
            await asyncio.sleep(BEAT)

    async def _prune(self) -> None:
        while True:
            deleted = await self._guard.prune()
            await asyncio.sleep(BREATH if deleted else PRUNE)

    async def _keep(self) -> None:
        """Say that these editions are in use, and let those go that no row can name any more."""
        while True:
            await self._guard.shelf.keep(self._editions)
            await self._guard.shelf.prune()
            await asyncio.sleep(KEEP)

    async def _obey(self) -> None:
        while True:
            await asyncio.sleep(PAUSES)
            self._routes.pauses.take(await self._guard.pauses.read())

    async def _tidy(self) -> None:
        while True:
            done = await self._guard.tidy()
            await asyncio.sleep(BREATH if done else PRUNE)

    async def _figures(self) -> None:
        while True:
            counts = await self._guard.count_dead_letters()
            self._metrics.dead_letters_waiting(
                {(status.value, reason.value): count for (status, reason), count in counts.items()}
            )
            await asyncio.sleep(FIGURES)

    async def _loop_lag(self, pulse: Heartbeat) -> None:
        while True:
            due = time.monotonic() + TICK
            await asyncio.sleep(TICK)
            self._metrics.loop_lag(time.monotonic() - due)
            pulse.beat()
