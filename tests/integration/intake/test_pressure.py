"""What is in hand is bounded; what is full stands in nobody else's way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from consumer.intake.cluster import Timing
from consumer.intake.hold import Hold
from consumer.model import Record
from tests.integration.intake.conftest import Book, Scene

Make = Callable[[int], Awaitable[Scene]]


async def test_never_more_in_hand_than_allowed_in_all_and_by_partition(scene: Make) -> None:
    here = await scene(4)
    await here.fill(2000, 4)
    most: dict[int | str, int] = {}
    now: dict[int | str, int] = {}

    async def work(record: Record, _: Hold) -> None:
        for what in ("all", record.partition):
            now[what] = now.get(what, 0) + 1
            most[what] = max(most.get(what, 0), now[what])
        await asyncio.sleep(0.002)
        for what in ("all", record.partition):
            now[what] -= 1

    book = Book(work)
    async with here.running(book.handle, max_in_flight=50, per_partition=20):
        await book.until(lambda: len(book.finished) == 2000)
    assert len(set(book.finished)) == 2000
    assert most.pop("all") == 50
    assert max(most.values()) <= 20


async def test_a_full_lane_does_not_keep_high_topics_waiting(scene: Make) -> None:
    here = await scene(1)
    urgent = Scene(here.kafka, f"{here.topic}.high", here.group)
    await here.kafka.create_topic(urgent.topic)
    await here.fill(500)
    release = asyncio.Event()

    async def work(record: Record, _: Hold) -> None:
        if record.topic == here.topic:
            await release.wait()

    book = Book(work)
    consumer = here.consumer(topics=[here.topic, urgent.topic])
    async with here.running(
        book.handle, consumer=consumer, high_topics=[urgent.topic], max_in_flight=20
    ) as intake:
        await book.until(lambda: len(book.began) == 20)
        await urgent.fill(50)
        await book.until(lambda: len(book.finished) == 50)
        assert intake.watch().in_flight == 20
        assert intake.watch().paused
        release.set()
        await book.until(lambda: len(book.finished) == 550)


async def test_the_group_keeps_a_member_that_is_full_for_long(scene: Make) -> None:
    """Longer than session and poll interval: polling goes on for no partitions."""
    here = await scene(1)
    await here.fill(50)
    release = asyncio.Event()

    async def work(_: Record, __: Hold) -> None:
        await release.wait()

    book = Book(work)
    timing = Timing(session=2.0, heartbeat=0.3, drain=1.0, poll_interval=1.0)
    async with here.running(
        book.handle, consumer=here.consumer(timing=timing), max_in_flight=5
    ) as intake:
        await book.until(lambda: len(book.began) == 5)
        await asyncio.sleep(3.0)  # time itself is what is tried here
        assert intake.watch().since_poll < 1.0
        release.set()
        await book.until(lambda: len(book.finished) == 50)
    assert len(book.began) == 50
    assert await here.committed() == {0: 50}


async def test_lag_is_what_was_not_read_yet(scene: Make) -> None:
    here = await scene(1)
    await here.fill(1000)
    release = asyncio.Event()

    async def work(_: Record, __: Hold) -> None:
        await release.wait()

    book = Book(work)
    async with here.running(book.handle, max_in_flight=10) as intake:
        await book.until(lambda: len(book.began) == 10)
        watch = intake.watch()
        assert sum(watch.lag.values()) == 1000 - 10 - watch.waiting
        release.set()
        await book.until(lambda: len(book.finished) == 1000)
        assert sum(intake.watch().lag.values()) == 0
