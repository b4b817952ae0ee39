"""How many requests are on the wire: a counter with two queues, high first.

Nothing is reserved here: places come free at the pace of the provider's answers, and whoever waits
holds a permit, of which ordinary mail can never have all.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass


class Wire:
    """`concurrency` places. `async with wire:` for ordinary mail, or `wire.place(high=...)`."""

    def __init__(self, concurrency: int) -> None:
        self._free = concurrency
        self.taken = 0
        self._waiting: tuple[deque[asyncio.Future[None]], ...] = (deque(), deque())

    def place(self, *, high: bool) -> Place:
        return Place(self, high)

    async def acquire(self, *, high: bool = False) -> None:
        """Take a place; no await happens while one is free. May be cancelled at any time."""
        if self._free > 0 and not self._waiting[1] and (high or not self._waiting[0]):
            self._take()
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting[high].append(future)
        try:
            await future
        except asyncio.CancelledError:
            self._leave(future, self._waiting[high])
            raise

    def release(self) -> None:
        self._free += 1
        self.taken -= 1
        self._serve()

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def _take(self) -> None:
        self._free -= 1
        self.taken += 1

    def _serve(self) -> None:
        for queue in reversed(self._waiting):
            while queue and self._free > 0:
                future = queue.popleft()
                if not future.done():
                    self._take()
                    future.set_result(None)

    def _leave(self, future: asyncio.Future[None], queue: deque[asyncio.Future[None]]) -> None:
        if not future.cancelled():  # the place was given in the same turn as the cancellation
            self.release()
            return
        if future in queue:
            queue.remove(future)
        self._serve()


@dataclass(frozen=True, slots=True)
class Place:
    """One place on the wire, for an `async with`."""

    wire: Wire
    high: bool

    async def __aenter__(self) -> None:
        await self.wire.acquire(high=self.high)

    async def __aexit__(self, *_: object) -> None:
        self.wire.release()
