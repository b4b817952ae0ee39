"""Bytes in hand are bounded, given out in order, and never lost."""

from __future__ import annotations

import asyncio
import random

from consumer.providers.allowance import SMALLEST, Allowance, Share

MIB = 1 << 20


async def settled(*tasks: asyncio.Task[Share]) -> list[bool]:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return [task.done() for task in tasks]


def asked(allowance: Allowance, *sizes: int) -> list[asyncio.Task[Share]]:
    return [asyncio.create_task(allowance.take(size)) for size in sizes]


async def test_shares_are_given_in_order_so_that_a_large_one_is_not_starved() -> None:
    allowance = Allowance(4 * MIB)
    first, large, small = asked(allowance, 3 * MIB, 4 * MIB, MIB)
    assert await settled(first, large, small) == [True, False, False]
    first.result().give_back()
    assert await settled(large, small) == [True, False]
    large.result().give_back()
    assert await settled(small) == [True]


async def test_who_wants_more_than_there_is_gets_all_of_it() -> None:
    allowance = Allowance(2 * MIB)
    share = await allowance.take(100 * MIB)
    (waiting,) = asked(allowance, 1)
    assert await settled(waiting) == [False]
    share.give_back()
    assert await settled(waiting) == [True]


async def test_a_small_share_counts_too() -> None:
    """Else a thousand small files would be fetched at once."""
    allowance = Allowance(2 * SMALLEST)
    tasks = asked(allowance, 1, 1, 1)
    assert await settled(*tasks) == [True, True, False]
    tasks[2].cancel()
    await asyncio.wait({tasks[2]})


async def test_what_turns_out_smaller_makes_room() -> None:
    allowance = Allowance(4 * MIB)
    share = await allowance.take(4 * MIB)
    (waiting,) = asked(allowance, 3 * MIB)
    assert await settled(waiting) == [False]
    share.shrink(10)
    assert await settled(waiting) == [True]


async def test_a_share_is_given_back_once() -> None:
    allowance = Allowance(2 * MIB)
    share = await allowance.take(2 * MIB)
    share.give_back()
    share.give_back()
    share.shrink(0)
    tasks = asked(allowance, 2 * MIB, 2 * MIB)
    assert await settled(*tasks) == [True, False]
    tasks[1].cancel()
    await asyncio.wait({tasks[1]})


async def test_nobody_stands_behind_one_who_left() -> None:
    allowance = Allowance(4 * MIB)
    held = await allowance.take(3 * MIB)
    large, small = asked(allowance, 4 * MIB, MIB)
    assert await settled(large, small) == [False, False]
    large.cancel()
    assert await settled(small) == [True]
    held.give_back()


async def test_nothing_is_lost_whoever_is_called_back_whenever() -> None:
    allowance, choose = Allowance(8 * MIB), random.Random(5)
    running: list[asyncio.Task[Share]] = []
    for _ in range(2000):
        match choose.randrange(3):
            case 0:
                running += asked(allowance, choose.randrange(10 * MIB))
            case 1 if running:
                choose.choice(running).cancel()
            case _:
                done = [task for task in running if task.done()]
                for task in done[: choose.randrange(3)]:
                    running.remove(task)
                    if not task.cancelled():
                        task.result().give_back()
        if choose.random() < 0.5:
            await asyncio.sleep(0)
    while running:
        await asyncio.sleep(0)
        for task in [task for task in running if task.done()]:
            running.remove(task)
            if not task.cancelled():
                task.result().give_back()
    (everything,) = asked(allowance, 8 * MIB)
    assert await settled(everything) == [True]
