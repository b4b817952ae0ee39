"""Brokers that are away: told once, seen by whoever looks, and survived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from consumer.admin import Heartbeat
from consumer.intake.cluster import Timing
from consumer.intake.loop import Intake
from consumer.vitals import Vitals
from tests.integration.intake.conftest import Book, Scene
from tests.parts.kafka import Kafka

TOLD = ("kafka unreachable", "kafka is back")
TIMING = Timing(session=10.0, heartbeat=1.0, drain=3.0)


async def test_a_cluster_that_is_killed_and_comes_back_is_told_once_each(mortal: Kafka) -> None:
    """Readiness says so, liveness does not: no restart brings brokers back."""
    here = Scene(mortal, "orders.reach", "group.reach")
    await mortal.create_topic(here.topic, 1)
    await here.fill(1)
    book = Book()
    with structlog.testing.capture_logs() as lines:
        async with here.running(book.handle, consumer=here.consumer(timing=TIMING)) as intake:
            await book.until(lambda: len(book.finished) == 1)
            assert _readiness(intake) is None
            mortal.kill()
            await _until(lambda: intake.watch().away_since is not None)
            assert "unreachable since 20" in str(_readiness(intake))
            assert 0 < intake.watch().away < 20
            assert intake.healthy()
            await asyncio.to_thread(mortal.start)
            await _until(lambda: intake.watch().away_since is None)
            assert (_readiness(intake), intake.watch().away) == (None, 0.0)
            await here.fill(1, start=1)
            await book.until(lambda: len(set(book.finished)) == 2)
    assert [line["event"] for line in lines if line["event"] in TOLD] == list(TOLD)


async def test_a_member_without_work_is_not_taken_for_a_cluster_that_is_away(
    kafka: Kafka, unique: Callable[[str], str]
) -> None:
    """One that gets no partition hears heartbeats; one that hears nothing at all asks first."""
    kafka.must_be_real()
    here = Scene(kafka, unique("orders"), unique("group"))
    await kafka.create_topic(here.topic, 1)
    with structlog.testing.capture_logs() as lines:
        async with (
            here.running(Book().handle) as one,
            here.running(Book().handle) as other,
        ):
            await _until(lambda: not (one.watch().unassigned or other.watch().unassigned))
            for intake in (one, other):
                assert await intake._consumer.answers(silence=2.0)
                assert await intake._consumer.answers(silence=0.0)
    assert not [line for line in lines if line["event"] in TOLD]


def _readiness(intake: Intake) -> str | None:
    vitals = Vitals(Heartbeat(15.0))
    vitals.intake = intake
    return vitals.health().ready["kafka"]()


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(40):
        while not condition():  # noqa: ASYNC110 - it is only to be looked at
            await asyncio.sleep(0.05)
