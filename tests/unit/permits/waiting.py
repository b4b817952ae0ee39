"""Who holds permits and who waits for one, moved on by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from consumer.model import Accepted
from consumer.providers.permits import Permit, Permits
from tests.unit.permits.clock import StandingClock

T = TypeVar("T")
OK = Accepted("id")


def permits_of(clock: StandingClock, concurrency: int = 36, rate: float | None = None) -> Permits:
    return Permits("postmark", concurrency=concurrency, rate=rate, clock=clock)


def take_all(permits: Permits, *, high: bool, sender: str = "shop") -> list[Permit]:
    taken = []
    while (permit := permits.try_take(sender, high=high)) is not None:
        taken.append(permit)
    return taken


async def begun(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start it, and let it come to its wait."""
    task = asyncio.create_task(coroutine)
    await settled()
    return task


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def woken(task: asyncio.Task[T]) -> T:
    """It has what it waited for, now: a test of waking must not itself wait."""
    await settled()
    assert task.done()
    return task.result()
