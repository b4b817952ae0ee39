"""A recall cancels a record's task in the stretches that allow it, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from consumer.intake.hold import Hold

Work = Callable[[Hold, asyncio.Event], Awaitable[object]]


async def test_a_record_that_holds_nothing_goes_at_the_first_call() -> None:
    async def waiting(_: Hold, never: asyncio.Event) -> None:
        await never.wait()

    hold, task, _ = await _started(waiting)
    hold.recall(hard=False)
    assert await _cancelled(task)


async def test_a_claimed_record_goes_only_at_the_hard_call() -> None:
    async def claimed(hold: Hold, never: asyncio.Event) -> None:
        with hold.kept():
            await never.wait()

    hold, task, _ = await _started(claimed)
    hold.recall(hard=False)
    await _turns()
    assert not task.done()
    hold.recall(hard=True)
    assert await _cancelled(task)


async def test_a_guard_write_is_never_cut_and_the_call_is_heard_after_it() -> None:
    seen: list[str] = []

    async def writing(hold: Hold, answer: asyncio.Event) -> None:
        with hold.kept():
            with hold.fixed():
                await answer.wait()
                seen.append("written")
            await asyncio.sleep(60)
            seen.append("went on")

    hold, task, answer = await _started(writing)
    hold.recall(hard=True)
    await _turns()
    assert not task.done()
    answer.set()
    assert await _cancelled(task)
    assert seen == ["written"]


async def test_a_write_right_after_a_write_is_not_cut_either() -> None:
    seen: list[str] = []

    async def writing_twice(hold: Hold, answer: asyncio.Event) -> None:
        with hold.fixed():
            await answer.wait()
        with hold.fixed():
            await asyncio.sleep(0)
            seen.append("second")
        await asyncio.sleep(60)

    hold, task, answer = await _started(writing_twice)
    hold.recall(hard=False)
    answer.set()
    assert await _cancelled(task)
    assert seen == ["second"]


async def test_a_soft_call_is_heard_when_the_claim_is_given_up() -> None:
    async def claimed_then_free(hold: Hold, answer: asyncio.Event) -> None:
        with hold.kept():
            await answer.wait()
        await asyncio.sleep(60)

    hold, task, answer = await _started(claimed_then_free)
    hold.recall(hard=False)
    answer.set()
    assert await _cancelled(task)


async def test_a_task_that_ends_without_waiting_again_ends_well() -> None:
    async def finishing(hold: Hold, answer: asyncio.Event) -> str:
        with hold.kept(), hold.fixed():
            await answer.wait()
        return "finished"

    hold, task, answer = await _started(finishing)
    hold.recall(hard=True)
    answer.set()
    assert await task == "finished"


async def test_whoever_swallows_the_call_can_read_it_and_still_write() -> None:
    async def swallowing(hold: Hold, never: asyncio.Event) -> tuple[bool, bool, str]:
        with hold.kept():
            try:
                await never.wait()
            except asyncio.CancelledError:
                with hold.fixed():
                    await asyncio.sleep(0)
                    return hold.recalled, hold.recalled_hard, "released"
        raise AssertionError

    hold, task, _ = await _started(swallowing)
    hold.recall(hard=True)
    assert await task == (True, True, "released")


async def test_a_repeated_call_does_not_cut_the_clearing_up() -> None:
    async def clearing(_: Hold, never: asyncio.Event) -> str:
        try:
            await never.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        return "cleared"

    hold, task, _ = await _started(clearing)
    hold.recall(hard=False)
    await asyncio.sleep(0)
    hold.recall(hard=False)
    assert await task == "cleared"


def test_without_a_task_a_call_only_raises_the_flags() -> None:
    hold = Hold()
    with hold.kept():
        hold.recall(hard=False)
    assert (hold.recalled, hold.recalled_hard) == (True, False)


async def _started(work: Work) -> tuple[Hold, asyncio.Task[object], asyncio.Event]:
    hold, event = Hold(), asyncio.Event()

    async def run() -> object:
        return await work(hold, event)

    task = asyncio.create_task(run())
    hold.bind(task)
    await _turns()
    return hold, task, event


async def _turns() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def _cancelled(task: asyncio.Task[object]) -> bool:
    with pytest.raises(asyncio.CancelledError):
        await task
    return True
