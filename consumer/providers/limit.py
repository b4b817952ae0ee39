"""The longest that one request may take: one timer for all that are under way, not several each.

aiohttp's own limits set and cancel timers at every request, a fifth of what a request costs. All
requests of a provider have the same time, so whichever began first is the first to be over.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Limit:
    """`with limit.on_this():` ends in TimeoutError after `seconds`; for one event loop."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._under_way: dict[_Watch, float] = {}  # until when, in the order in which they began
        self._timer: asyncio.TimerHandle | None = None

    def on_this(self) -> _Watch:
        """Watch the running task for the length of a block."""
        return _Watch(self)

    def begin(self, watch: _Watch) -> None:
        loop = asyncio.get_running_loop()
        self._under_way[watch] = until = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(until, self._sweep)

    def end(self, watch: _Watch) -> None:
        self._under_way.pop(watch, None)

    def _sweep(self) -> None:
        """End what is over, and come again for the next; with nothing under way, not at all."""
        loop = asyncio.get_running_loop()
        self._timer = None
        for watch, until in tuple(self._under_way.items()):
            if until > loop.time():
                self._timer = loop.call_at(until, self._sweep)
                return
            self.end(watch)
            watch.expire()


class _Watch:
    """One request. Cancels its task when the time is over, and takes that very cancellation back.

    Whoever else cancels the task meanwhile is told apart by the task's own count, as in
    `asyncio.timeout`.
    """

    __slots__ = ("_cancelled_before", "_expired", "_limit", "_task")

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._expired = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be watched")
        self._task, self._cancelled_before = task, task.cancelling()
        self._limit.begin(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._limit.end(self)
        if not self._expired:
            return
        ours_alone = self._task.uncancel() <= self._cancelled_before
        if ours_alone and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        self._expired = True
        self._task.cancel()
