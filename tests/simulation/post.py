"""Webhooks: what providers tell by themselves. Late, twice, out of order, or never."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from consumer.guard.errors import GuardClosedError
from consumer.model import News, Notice

if TYPE_CHECKING:
    from tests.simulation.providers import Taken
    from tests.simulation.world import World

AGAIN = 30.0  # seconds to the repeat of what was not acknowledged
TIMES = 20


class Post:
    def __init__(self, world: World) -> None:
        self._world = world

    def push(self, taken: Taken) -> None:
        """Draw what will be told of a mail that was just taken."""
        random = self._world.random
        if not self._world.companies[taken.provider].kind.pushes or random.random() < 0.1:
            return
        for news in (News.ACCEPTED, News.DELIVERED, random.choice(list(News))):
            if random.random() < 0.6:
                delay = random.choice((0.0, 0.01, 1.0, 20.0, 100.0, 400.0)) * random.random()
                notice = Notice(taken.key, taken.provider, taken.id, news)
                for _ in range(random.choice((1, 1, 2))):
                    self._world.loop.later(delay, self._deliver, notice, TIMES)

    def _deliver(self, notice: Notice, times: int) -> None:
        world = self._world
        able = [one for one in world.alive if not one.process.frozen and one.guard is not None]
        if times and not able:
            world.loop.later(AGAIN, self._deliver, notice, times - 1)
        elif able:
            worker = world.random.choice(able)
            heard = world.loop.create_future()
            world.loop.later(AGAIN, self._again, heard, notice, times)
            world.loop.start(worker.process, self._hear(worker, notice, heard))

    def _again(self, heard: asyncio.Future[None], notice: Notice, times: int) -> None:
        if times and not heard.done():
            self._deliver(notice, times - 1)

    async def _hear(self, worker: object, notice: Notice, heard: asyncio.Future[None]) -> None:
        try:
            await worker.guard.hear(notice)  # type: ignore[attr-defined] # a Worker
        except GuardClosedError:
            return
        heard.set_result(None)
