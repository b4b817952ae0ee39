"""The wire: never more requests than places, high first, nothing lost by cancelling."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from consumer.providers.wire import Wire


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_free_place_is_taken_without_an_await() -> None:
    wire = Wire(1)
    held = wire.acquire()
    try:
        held.send(None)
    except StopIteration:
        pass
    else:
        raise AssertionError("it waited")
    assert wire.taken == 1


async def test_high_passes_whoever_waits() -> None:
    wire, order = Wire(1), list[str]()

    async def use(name: str, *, high: bool) -> None:
        async with wire.place(high=high):
            order.append(name)

    async with wire:
        tasks = [asyncio.create_task(use(f"ordinary {n}", high=False)) for n in range(2)]
        tasks.append(asyncio.create_task(use("high", high=True)))
        await turns()
    await asyncio.gather(*tasks)
    assert order == ["high", "ordinary 0", "ordinary 1"]


async def test_a_place_given_in_the_turn_of_the_cancellation_is_free_again() -> None:
    wire = Wire(1)
    await wire.acquire()
    waiting = asyncio.create_task(wire.acquire())
    await turns()
    wire.release()
    waiting.cancel()
    await turns()
    assert wire.taken == 0


@given(st.integers(1, 3), st.lists(st.tuples(st.sampled_from("acr "), st.integers(0, 9))))
def test_places_are_exact_whatever_is_taken_cancelled_and_released(
    places: int, steps: list[tuple[str, int]]
) -> None:
    asyncio.run(_play(Wire(places), places, steps))


async def _play(wire: Wire, places: int, steps: list[tuple[str, int]]) -> None:
    tasks: list[asyncio.Task[None]] = []
    held = list[asyncio.Task[None]]()
    for step, number in steps:
        if step == "a":
            tasks.append(asyncio.create_task(wire.acquire(high=number % 2 == 0)))
        elif step == "c" and tasks:
            tasks[number % len(tasks)].cancel()
        elif step == "r" and held:
            held.pop()
            wire.release()
        else:
            await turns()
        held += [task for task in tasks if task.done() and not task.cancelled()]
        tasks = [task for task in tasks if not task.done()]
        assert wire.taken <= places
    await turns()
    held += [task for task in tasks if task.done() and not task.cancelled()]
    assert wire.taken == len(held) <= places
    for task in tasks:
        task.cancel()
    await turns()
