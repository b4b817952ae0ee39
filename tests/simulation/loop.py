"""Simulated time and a scheduler: an event loop for several processes at once.

    nothing is ready   ─▶ the clock jumps to the next timer
    something is ready ─▶ one callback of one process, which one is drawn from the seed

A process's own callbacks run in the order in which asyncio promises it; between processes there is
no order. Whose callback it is, its context says (`PROCESS`): a frozen process's callbacks are kept
until it thaws, a dead one's are dropped. What belongs to nobody (network, broker, database,
providers) is the world's and always runs. A callback runs from one await to the next, so every
await is a place where its process can die or freeze.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from random import Random
from typing import Any

START = 1_800_000_000.0  # seconds since 1970, when every world begins
MOST_STEPS = 100_000
BOOT = START - 1000.0  # what the monotonic clocks count from


@dataclass(slots=True, eq=False)
class Process:
    """Something that can die and freeze. `number`: for a story, and for an order that stands."""

    name: str
    dead: bool = False
    frozen: bool = False
    ready: deque[SimHandle] = field(default_factory=deque)

    def kill(self) -> None:
        """Take it away between two awaits: no `finally` runs, nothing is said to anybody."""
        self.dead = True
        self.ready.clear()


WORLD = Process("world")
PROCESS: ContextVar[Process] = ContextVar("process", default=WORLD)


class SimHandle:
    __slots__ = ("args", "callback", "cancelled_", "context", "process", "when_")

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], context: Context
    ) -> None:
        self.callback, self.args, self.context = callback, args, context
        self.process: Process = context.get(PROCESS, WORLD)
        self.cancelled_ = False
        self.when_ = 0.0

    def cancel(self) -> None:
        self.cancelled_ = True

    def cancelled(self) -> bool:
        return self.cancelled_

    def when(self) -> float:
        return self.when_


class SimLoop(asyncio.AbstractEventLoop):
    """One world's loop. `steps` counts the callbacks that ran."""

    def __init__(self, random: Random) -> None:
        self.now = START
        self.steps = 0
        self.failed: BaseException | None = None
        self._random = random
        self._timers: list[tuple[float, int, SimHandle]] = []
        self._serial = 0
        self._closed = False
        self._processes: list[Process] = [WORLD]
        self._tasks: list[asyncio.Task[Any]] = []  # the dead's as well: nothing of theirs may run
        WORLD.ready.clear()

    def add(self, process: Process) -> None:
        self._processes.append(process)

    def run(self, until: float) -> None:
        """Run until the clock shows `until`, or nothing will ever happen again."""
        asyncio._set_running_loop(self)
        try:
            while self.failed is None and self._turn(until):
                pass
        finally:
            asyncio._set_running_loop(None)
        if self.failed is not None:
            raise self.failed

    def _turn(self, until: float) -> bool:
        chosen, others = None, 0
        for process in self._processes:
            if process.ready and not process.frozen:
                others += 1
                if chosen is None or self._random.random() * others < 1:
                    chosen = process
        if chosen is None:
            return self._jump(until)
        handle = chosen.ready.popleft()
        if not handle.cancelled_:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise AssertionError("busy: a world needs some hundred steps, this one never ends")
            handle.context.run(handle.callback, *handle.args)
        return True

    def _jump(self, until: float) -> bool:
        timers = self._timers
        while timers and timers[0][2].cancelled_:
            heapq.heappop(timers)
        if not timers or timers[0][0] > until:
            self.now = max(self.now, until) if timers else self.now
            return False
        self.now = max(self.now, timers[0][0])
        while timers and timers[0][0] <= self.now:
            self._enqueue(heapq.heappop(timers)[2])
        return True

    def _enqueue(self, handle: SimHandle) -> None:
        if not handle.process.dead:
            handle.process.ready.append(handle)

    def close(self) -> None:
        """End the world: what is suspended in it never goes on."""
        self._closed = True
        self._timers.clear()
        for process in self._processes:
            process.kill()
        for task in self._tasks:
            if not task.done():
                _forget(task)
        self._tasks.clear()
        WORLD.dead = False

    # ── What asyncio asks of a loop

    def call_soon(  # type: ignore[override] # lighter handles
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> SimHandle:
        handle = SimHandle(callback, args, copy_context() if context is None else context)
        if not self._closed:
            self._enqueue(handle)
        return handle

    def call_at(  # type: ignore[override] # lighter handles
        self, when: float, callback: Callable[..., object], *args: Any,
        context: Context | None = None,
    ) -> SimHandle:  # fmt: skip
        handle = SimHandle(callback, args, copy_context() if context is None else context)
        handle.when_ = when
        if not (self._closed or handle.process.dead):
            self._serial += 1
            heapq.heappush(self._timers, (when, self._serial, handle))
        return handle

    def call_later(  # type: ignore[override] # lighter handles
        self, delay: float, callback: Callable[..., object], *args: Any,
        context: Context | None = None,
    ) -> SimHandle:  # fmt: skip
        return self.call_at(self.now + delay, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override] # without a name's cost
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[Any]:  # fmt: skip
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)
        return task

    def time(self) -> float:
        return self.now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self._closed

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An error that nobody took is a defect, of the service or of this simulation."""
        error = context.get("exception")
        if not self._closed and self.failed is None:
            self.failed = error or RuntimeError(str(context.get("message")))

    # ── What a world asks of it

    def later(self, delay: float, callback: Callable[..., object], *args: Any) -> SimHandle:
        """Have the world itself do something, whatever becomes of the process that asked for it."""
        return self.call_at(self.now + delay, callback, *args, context=Context())

    def start(self, process: Process, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task that belongs to `process`, as all do that it starts in turn."""
        context = Context()
        context.run(PROCESS.set, process)
        return self.create_task(work, context=context)


@contextmanager
def clocks_of(loop: SimLoop) -> Iterator[None]:
    """Let every clock of the standard library show the loop's time."""
    real = time.time, time.monotonic, time.perf_counter, time.clock_gettime
    time.time = lambda: loop.now
    time.monotonic = time.perf_counter = lambda: loop.now - BOOT
    time.clock_gettime = lambda _clock: loop.now - BOOT
    try:
        yield
    finally:
        time.time, time.monotonic, time.perf_counter, time.clock_gettime = real


def _forget(task: asyncio.Task[Any]) -> None:
    """Unwind what is suspended for ever; whatever its `finally` blocks do reaches nobody."""
    task._log_destroy_pending = False  # type: ignore[attr-defined] # on purpose
    with suppress(BaseException):
        task.get_coro().close()
