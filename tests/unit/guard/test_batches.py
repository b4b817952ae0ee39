"""Group commit: no timer, no neighbour harmed, no answer to the wrong one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from consumer.guard.batches import CAP, Batches
from consumer.guard.errors import GuardClosedError


class Statement:
    """A statement that runs until it is let go."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.running = asyncio.Event()
        self.go = asyncio.Event()

    async def run(self, items: Sequence[int]) -> list[int]:
        self.sizes.append(len(items))
        self.running.set()
        await self.go.wait()
        if 13 in items:
            raise ValueError(items)
        return [item * 2 for item in items]


def batches(statement: Statement) -> Batches[int, int]:
    return Batches("claim", statement.run, lambda kind, rows, seconds: None)


async def test_what_arrives_while_a_statement_runs_forms_the_next_one() -> None:
    statement = Statement()
    queue = batches(statement)
    first = asyncio.create_task(queue.submit(1))
    await statement.running.wait()
    rest = [asyncio.create_task(queue.submit(n)) for n in range(20, 20 + CAP + 5)]
    await asyncio.sleep(0)
    statement.go.set()
    assert await first == 2
    assert await asyncio.gather(*rest) == [n * 2 for n in range(20, 20 + CAP + 5)]
    assert statement.sizes == [1, CAP, 5]


async def test_one_item_at_fault_fails_alone() -> None:
    statement = Statement()
    statement.go.set()
    queue = batches(statement)
    one, bad, two = await asyncio.gather(
        *(queue.submit(n) for n in (1, 13, 2)), return_exceptions=True
    )
    assert (one, two) == (2, 4)
    assert isinstance(bad, ValueError)


async def test_who_gave_up_before_the_statement_is_left_out() -> None:
    statement = Statement()
    queue = batches(statement)
    first = asyncio.create_task(queue.submit(1))
    await statement.running.wait()
    gone = asyncio.create_task(queue.submit(2))
    stays = asyncio.create_task(queue.submit(3))
    await asyncio.sleep(0)
    gone.cancel()
    statement.go.set()
    assert (await first, await stays) == (2, 6)
    assert statement.sizes == [1, 1]


async def test_a_closed_guard_answers_everyone_at_once() -> None:
    async def closed(items: Sequence[int]) -> list[int]:
        raise GuardClosedError

    queue: Batches[int, int] = Batches("claim", closed, lambda kind, rows, seconds: None)
    answers = await asyncio.gather(*(queue.submit(n) for n in range(3)), return_exceptions=True)
    assert all(isinstance(answer, GuardClosedError) for answer in answers)
    with pytest.raises(GuardClosedError):
        await queue.submit(4)
