"""A stop keeps to its budget whatever the records in hand and the brokers do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from consumer.intake.hold import Hold
from consumer.model import Record
from tests.integration.intake.conftest import Book, Scene
from tests.parts.kafka import Kafka

Make = Callable[[int], Awaitable[Scene]]


async def test_claimed_records_finish_and_are_committed_waiting_ones_are_left(scene: Make) -> None:
    here = await scene(1)
    await here.fill(10)
    never = asyncio.Event()

    async def work(record: Record, hold: Hold) -> None:
        if record.offset >= 4:
            await never.wait()
        with hold.kept():
            await asyncio.sleep(0.5)

    book = Book(work)
    async with here.running(book.handle):
        await book.until(lambda: len(book.began) == 10)
        began = time.monotonic()
    assert time.monotonic() - began < 3.0
    assert sorted(book.finished) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert await here.committed() == {0: 4}


async def test_claimed_records_that_do_not_end_are_called_back_inside_the_budget(
    scene: Make,
) -> None:
    here = await scene(1)
    await here.fill(1)
    called_back: list[bool] = []

    async def work(_: Record, hold: Hold) -> None:
        with hold.kept():
            try:
                await asyncio.Event().wait()
            finally:
                called_back.append(hold.recalled_hard)

    book = Book(work)
    async with here.running(book.handle, budget=2.0):
        await book.until(lambda: len(book.began) == 1)
        began = time.monotonic()
    assert time.monotonic() - began < 2.5
    assert called_back == [True]


async def test_a_stop_gives_the_partitions_away_at_once(scene: Make) -> None:
    """The group is left: the next member does not wait for a session to end."""
    here = await scene(1)
    await here.fill(1)
    first, second = Book(), Book()
    async with here.running(first.handle):
        await first.until(lambda: len(first.finished) == 1)
    await here.fill(1)
    began = time.monotonic()
    async with here.running(second.handle):
        await second.until(lambda: len(second.finished) == 1)
        assert time.monotonic() - began < 4.0


async def test_a_stop_without_brokers_keeps_its_budget(mortal: Kafka) -> None:
    """Also while a commit is under way that nobody will answer."""
    here = await _on(mortal)
    release = asyncio.Event()

    async def work(_: Record, hold: Hold) -> None:
        with hold.kept():
            await release.wait()

    book = Book(work)
    async with here.running(book.handle, budget=3.0) as intake:
        await book.until(lambda: len(book.began) == 10)
        mortal.kill()
        release.set()
        while not intake._committer._one.locked():  # noqa: ASYNC110 - a lock tells nobody
            await asyncio.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 4.5
    assert len(book.finished) == 10


async def test_a_broker_that_is_killed_and_comes_back_is_survived(mortal: Kafka) -> None:
    """Killed under load, back seconds later on the same data: everything is handled, committed."""
    here = await _on(mortal, partitions=3)
    await here.fill(600, 3, start=10)

    async def work(_: Record, hold: Hold) -> None:
        with hold.kept():
            await asyncio.sleep(0.05)

    book = Book(work)
    async with here.running(book.handle, max_in_flight=10) as intake:
        await book.until(lambda: len(book.finished) > 100)
        mortal.kill()
        await asyncio.sleep(2.0)  # an outage lasts
        assert intake.healthy()
        await asyncio.to_thread(mortal.start)
        await here.fill(60, 3, start=610)
        end = await mortal.end_offsets(here.topic)
        total = sum(end.values())
        await book.until(lambda: len(set(book.finished)) == total)
        await here.until_committed(end)
        assert intake.healthy()


async def test_a_defect_in_the_handler_ends_the_intake_loudly(scene: Make) -> None:
    here = await scene(1)
    await here.fill(5)

    async def work(record: Record, _: Hold) -> None:
        if record.offset == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await here.run_to_its_end(Book(work).handle)
    assert await here.committed() == {0: 3}


async def test_a_record_let_go_by_itself_is_a_defect(scene: Make) -> None:
    """Its partition would never be committed again, and nobody would know why."""
    here = await scene(1)
    await here.fill(1)

    async def let_go(_: Record, __: Hold) -> bool:
        return False

    with pytest.raises(RuntimeError, match="nobody had called back"):
        await here.run_to_its_end(let_go)


async def _on(kafka: Kafka, partitions: int = 1) -> Scene:
    here = Scene(kafka, f"orders.{partitions}", f"group.{partitions}")
    await kafka.create_topic(here.topic, partitions)
    await here.fill(10, partitions)
    return here
