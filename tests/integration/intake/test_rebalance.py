"""Members come and go: every record is handled, commits cover only finished ones and only grow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from consumer.intake.cluster import Timing
from consumer.intake.hold import Hold
from consumer.model import Record
from tests.integration.intake.conftest import QUICK, Book, Scene

Make = Callable[[int], Awaitable[Scene]]


async def test_rebalances_every_second_lose_nothing_and_never_commit_the_unfinished(
    scene: Make,
) -> None:
    here = await scene(6)
    await here.fill(3000, 6)

    async def slow(record: Record, hold: Hold) -> None:
        with hold.kept():
            await asyncio.sleep(0.04 + 0.4 * (record.offset % 17 == 0))

    book = Book(slow)
    async with _watched(here, book) as commits, here.running(book.handle, max_in_flight=40):
        while len(set(book.finished)) < 2000:
            async with here.running(book.handle, max_in_flight=40):
                await asyncio.sleep(0.5)  # how often members change is what is tried here
            await asyncio.sleep(0.5)
        await here.until_committed(dict.fromkeys(range(6), 500))
    assert len(set(book.finished)) == 3000
    assert len(book.finished) < 3300, "claimed records had time to finish, so few came twice"
    assert len(commits) > 3


async def test_records_that_only_wait_are_given_back_at_once(scene: Make) -> None:
    here = await scene(2)
    await here.fill(40, 2)
    never = asyncio.Event()

    async def waiting(_: Record, __: Hold) -> None:
        await never.wait()

    first, second = Book(waiting), Book()
    began = time.monotonic()
    async with here.running(first.handle), here.running(second.handle):
        await second.until(lambda: len(second.finished) == 20)
        assert time.monotonic() - began < QUICK.drain, "the drain did not wait for them"


async def test_a_handler_that_never_ends_delays_a_rebalance_no_longer_than_the_drain(
    scene: Make,
) -> None:
    """And goes on counting against the bound, while its record is handled elsewhere."""
    here = await scene(2)
    await here.fill(2, 2)
    release = asyncio.Event()

    async def deaf(_: Record, hold: Hold) -> None:
        with hold.fixed():
            await release.wait()

    timing = Timing(session=6.0, heartbeat=0.3, drain=1.0)
    first, second = Book(deaf), Book()
    async with here.running(first.handle, consumer=here.consumer(timing=timing)) as stuck:
        await first.until(lambda: len(first.began) == 2)
        began = time.monotonic()
        async with here.running(second.handle, consumer=here.consumer(timing=timing)):
            await second.until(lambda: len(second.finished) >= 1)
            assert time.monotonic() - began < 1.0 + 2.0 + 4.0  # drain, last words, the joining
            assert stuck.watch().in_flight >= 2
            release.set()
            await first.until(lambda: len(first.finished) >= 2)
        await here.until_committed({0: 1, 1: 1})


async def test_an_old_owner_that_finishes_late_commits_nothing(scene: Make) -> None:
    """Record 0 is stuck, comes again in the next ownership, and then ends in the old one too."""
    here = await scene(1)
    await here.fill(5)
    release = asyncio.Event()

    async def stuck_once(record: Record, hold: Hold) -> None:
        if record.offset == 0 and book.began.count((0, 0)) == 1:
            with hold.fixed():
                await release.wait()

    book = Book(stuck_once)
    timing = Timing(session=6.0, heartbeat=0.3, drain=0.5)
    async with here.running(book.handle, consumer=here.consumer(timing=timing)):
        await book.until(lambda: len(book.finished) == 4)
        async with here.running(book.handle, consumer=here.consumer(timing=timing)):
            await here.until_committed({0: 5})
            assert book.began.count((0, 0)) == 2
            await here.fill(2)
            await here.until_committed({0: 7})
            release.set()
            await book.until(lambda: book.finished.count((0, 0)) == 2)
    assert await here.committed() == {0: 7}


async def test_a_session_that_was_lost_is_survived(scene: Make) -> None:
    """The event loop stands still for longer than the session: the member joins again."""
    here = await scene(1)
    await here.fill(10)
    book = Book()
    timing = Timing(session=1.5, heartbeat=0.3, drain=1.0)
    async with here.running(book.handle, consumer=here.consumer(timing=timing)) as intake:
        await here.until_committed({0: 10})
        time.sleep(4.0)  # noqa: ASYNC251 - to stand still is the point
        await here.fill(10)
        await book.until(lambda: len(set(book.finished)) == 20)
        await here.until_committed({0: 20})
        assert intake.healthy()


async def test_a_member_with_nothing_to_do_is_a_member(scene: Make) -> None:
    """More workers than partitions: the spare one is not waiting for anything."""
    here = await scene(1)
    await here.fill(1)
    book = Book()
    async with here.running(book.handle) as one, here.running(book.handle) as other:
        await here.until_committed({0: 1})
        async with asyncio.timeout(10):
            while one.watch().unassigned or other.watch().unassigned:  # noqa: ASYNC110 - the group decides when
                await asyncio.sleep(0.05)
        assert sorted(len(member.watch().lag) for member in (one, other)) == [0, 1]


@asynccontextmanager
async def _watched(here: Scene, book: Book) -> AsyncIterator[list[dict[int, int]]]:
    """Look at the broker's committed offsets all the time; each must be covered and none lower."""
    seen: list[dict[int, int]] = [{}]

    async def look() -> None:
        while True:
            committed = await here.committed()
            for partition, offset in committed.items():
                assert offset >= seen[-1].get(partition, 0), "a commit went back"
                covered = {(partition, number) for number in range(offset)}
                assert covered <= set(book.finished), "a commit covers an unfinished record"
            seen.append(committed)
            await asyncio.sleep(0.05)

    looking = asyncio.create_task(look())
    try:
        yield seen
    finally:
        looking.cancel()
        await asyncio.wait({looking})
        if not looking.cancelled():
            looking.result()
