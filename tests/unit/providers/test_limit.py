"""One timer for all requests: each ends at its own time, and only at that."""

from __future__ import annotations

import asyncio

import pytest

from consumer.providers.limit import Limit

SHORT, LONG = 0.02, 60.0  # seconds


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def test_what_takes_too_long_ends_in_a_timeout() -> None:
    with pytest.raises(TimeoutError), Limit(SHORT).on_this():
        await for_ever()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0, "the cancellation was ours, and is taken back"


async def test_what_ends_in_time_is_left_alone() -> None:
    limit = Limit(SHORT)
    with limit.on_this():
        pass
    await asyncio.sleep(2 * SHORT)  # past its time


async def test_each_has_the_whole_time_for_itself() -> None:
    """The second began later: the timer that ends the first must not end it as well."""
    limit, loop = Limit(SHORT), asyncio.get_running_loop()

    async def lasts() -> float:
        began = loop.time()
        with pytest.raises(TimeoutError), limit.on_this():
            await for_ever()
        return loop.time() - began

    first = asyncio.create_task(lasts())
    await asyncio.sleep(SHORT / 2)
    second = asyncio.create_task(lasts())
    assert min(await first, await second) >= SHORT
    assert await asyncio.create_task(lasts()) >= SHORT, "and so has one after a pause"


async def test_who_is_cancelled_by_others_is_cancelled() -> None:
    limit, inside = Limit(LONG), asyncio.Event()

    async def watched() -> None:
        with limit.on_this():
            inside.set()
            await for_ever()

    task = asyncio.create_task(watched())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_at_once_is_no_mere_timeout() -> None:
    """Called back in the very turn in which the time was over: the calling back must be heard."""
    limit, inside = Limit(SHORT), asyncio.Event()

    async def watched() -> None:
        with limit.on_this():
            inside.set()
            await for_ever()

    task = asyncio.create_task(watched())
    await inside.wait()
    (watch,) = limit._under_way
    watch.expire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelling() == 1


async def test_nothing_is_left_under_way() -> None:
    limit = Limit(SHORT)
    with pytest.raises(RuntimeError), limit.on_this():
        raise RuntimeError
    assert not limit._under_way
