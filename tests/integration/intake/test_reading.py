"""What is read, and what of it is committed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from consumer.intake.hold import Hold
from consumer.intake.positions import Edge
from consumer.model import Record
from tests.integration.intake.conftest import Book, Scene

Make = Callable[[int], Awaitable[Scene]]


async def test_everything_is_handled_once_committed_and_not_read_again(scene: Make) -> None:
    here = await scene(3)
    await here.fill(300, 3)
    first, second = Book(), Book()
    async with here.running(first.handle):
        await first.until(lambda: len(first.finished) == 300)
    assert len(set(first.finished)) == 300
    assert await here.committed() == {0: 100, 1: 100, 2: 100}
    await here.fill(30, 3, start=300)
    async with here.running(second.handle):
        await second.until(lambda: len(second.finished) == 30)
    assert {offset for _, offset in second.began} == set(range(100, 110))
    assert await here.committed() == {0: 110, 1: 110, 2: 110}


async def test_a_record_arrives_byte_for_byte_tombstones_too(scene: Make) -> None:
    here = await scene(1)
    seen: list[Record] = []

    async def keep(record: Record, _: Hold) -> None:
        seen.append(record)

    book = Book(keep)
    async with here.kafka.producer() as producer:
        await producer.send_and_wait(here.topic, None, b"\xff\x00")
        await producer.send_and_wait(
            here.topic, b"\x00\xfe", None, timestamp_ms=1_700_000_000_123,
            headers=[("type", b"a"), ("type", b"\xff")],
        )  # fmt: skip
    async with here.running(book.handle):
        await book.until(lambda: len(book.finished) == 2)
    assert (seen[0].key, seen[0].value) == (b"\xff\x00", None)
    assert seen[1] == Record(
        here.topic, 0, 1, 1_700_000_000_123, None, b"\x00\xfe", (("type", b"a"), ("type", b"\xff"))
    )


async def test_a_slow_record_holds_the_commit_of_its_partition_back_alone(scene: Make) -> None:
    here = await scene(2)
    await here.fill(20, 2)
    release = asyncio.Event()

    async def slow(record: Record, _: Hold) -> None:
        if (record.partition, record.offset) == (0, 3):
            await release.wait()

    book = Book(slow)
    async with here.running(book.handle):
        await book.until(lambda: len(book.finished) == 19)
        await here.until_committed({0: 3, 1: 10})
        release.set()
        await here.until_committed({0: 10, 1: 10})


async def test_aborted_events_are_not_seen_and_markers_leave_no_lag(scene: Make) -> None:
    here = await scene(1)
    book = Book()
    async with here.kafka.producer(transactional_id=here.group) as producer:
        async with producer.transaction():
            await producer.send_and_wait(here.topic, b"committed")
        await producer.begin_transaction()
        await producer.send_and_wait(here.topic, b"aborted")
        await producer.abort_transaction()
    async with here.running(book.handle) as intake:
        await book.until(lambda: len(book.finished) == 1)
        await here.until_committed({0: (await here.kafka.end_offsets(here.topic))[0]})
        assert list(intake.watch().lag.values()) == [0]
    assert book.values == [b"committed"]


async def test_partitions_that_appear_while_running_start_at_their_beginning(scene: Make) -> None:
    """Also under `latest`: what arrives before the client sees the partition is not lost."""
    here = await scene(1)
    await here.fill(5)
    book = Book()
    consumer = here.consumer(start_from=Edge.LATEST)
    async with here.running(book.handle, consumer=consumer):
        await here.until_committed({0: 5})
        await here.kafka.add_partitions(here.topic, 3)
        await here.fill(30, 3)
        await book.until(lambda: len(book.finished) >= 30)
    assert sorted(set(book.finished)) == sorted(
        [(0, offset) for offset in range(5, 15)]
        + [(number, offset) for number in (1, 2) for offset in range(10)]
    )


async def test_holes_of_a_compacted_topic_are_read_over(scene: Make) -> None:
    """Offsets as compaction leaves them are made here by aborted transactions: 1, 2, 7."""
    here = await scene(1)
    book = Book()
    async with here.kafka.producer(transactional_id=here.group) as producer:
        for aborted in (True, False, True, False):
            await producer.begin_transaction()
            await producer.send_and_wait(here.topic, b"x")
            await (producer.abort_transaction() if aborted else producer.commit_transaction())
    async with here.running(book.handle):
        await book.until(lambda: len(book.finished) == 2)
        await here.until_committed(await here.kafka.end_offsets(here.topic))
    assert book.finished == [(0, 2), (0, 6)]
