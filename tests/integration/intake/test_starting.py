"""Where a group starts is decided once and out loud; a committed offset always wins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from aiokafka.protocol.commit import OffsetFetchRequest
from aiokafka.protocol.group import SyncGroupRequest
from confluent_kafka.admin import AdminClient
from structlog.typing import EventDict

from consumer.intake.cluster import (
    Cluster,
    KafkaRefusedError,
    KafkaUnreachableError,
    OffsetsLostError,
)
from consumer.intake.kafka import Consumer, guard_offset_fetch
from consumer.intake.positions import Edge, StartFrom
from tests.integration.intake.conftest import QUICK, Book, Scene
from tests.parts.kafka import Kafka

Make = Callable[[int], Awaitable[Scene]]


@pytest.fixture
def lines() -> Iterator[list[EventDict]]:
    with structlog.testing.capture_logs() as captured:
        yield captured


async def test_earliest_reads_what_was_there_and_says_so(
    scene: Make, lines: list[EventDict]
) -> None:
    assert await _read(await scene(1), Edge.EARLIEST) == [0, 1, 2, 3, 4, 5]
    said = [line for line in lines if line["event"] == "start_position"]
    assert [(line["offsets"], line["rule"]) for line in said] == [({"0": 0}, "earliest")]


async def test_latest_reads_only_what_comes_after(scene: Make) -> None:
    assert await _read(await scene(1), Edge.LATEST) == [5]


async def test_an_instant_reads_from_the_first_record_at_or_after_it(scene: Make) -> None:
    instant = datetime.fromtimestamp(1_700_000_003, UTC)
    assert await _read(await scene(1), instant) == [3, 4, 5]


async def test_an_instant_after_everything_starts_at_the_end(scene: Make) -> None:
    assert await _read(await scene(1), datetime.now(UTC)) == [5]


async def test_a_committed_offset_wins_over_any_start(scene: Make) -> None:
    here = await scene(1)
    await _read(here, Edge.EARLIEST)
    await here.fill(2)
    book = Book()
    async with here.running(book.handle, consumer=here.consumer(start_from=Edge.LATEST)):
        await book.until(lambda: len(book.finished) == 2)
    assert [offset for _, offset in book.began] == [6, 7]


async def test_latest_is_remembered_even_if_nothing_was_read(scene: Make) -> None:
    """Or a record that came while the service was away would be skipped at its next start."""
    here = await scene(1)
    async with here.running(Book().handle, consumer=here.consumer(start_from=Edge.LATEST)):
        await here.until_committed({0: 0})
    await here.fill(3)
    book = Book()
    async with here.running(book.handle, consumer=here.consumer(start_from=Edge.LATEST)):
        await book.until(lambda: len(book.finished) == 3)


async def test_deleted_group_offsets_are_a_new_start_and_said_aloud(
    scene: Make, lines: list[EventDict]
) -> None:
    """What the guard has forgotten meanwhile is too old to send; here nothing is skipped."""
    here = await scene(1)
    await _read(here, Edge.EARLIEST)
    admin = AdminClient({"bootstrap.servers": here.kafka.bootstrap})
    admin.delete_consumer_groups([here.group])[here.group].result(timeout=10)
    book = Book()
    async with here.running(book.handle):
        await book.until(lambda: len(book.finished) == 6)
    said = [line for line in lines if line["event"] == "start_position"]
    assert [line["log_level"] for line in said] == ["info", "info"]


async def test_an_answer_that_is_an_error_in_disguise_is_not_nothing_committed(
    scene: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Committed 40, then a dozen empty OffsetFetch answers with code 16: reading goes on at 40."""
    here = await scene(1)
    await here.fill(40)
    first = Book()
    async with here.running(first.handle):
        await first.until(lambda: len(first.finished) == 40)
    await here.fill(3)
    lies = _lie_about_offsets(monkeypatch, times=12)
    second = Book()
    async with here.running(second.handle, consumer=here.consumer(start_from=Edge.EARLIEST)):
        await second.until(lambda: len(second.finished) == 3)
    assert not lies
    assert [offset for _, offset in second.began] == [40, 41, 42]


async def test_an_offset_that_retention_took_stops_the_intake_with_the_count(scene: Make) -> None:
    here = await scene(1)
    await here.fill(10)
    book = Book()
    async with here.running(book.handle):
        await book.until(lambda: len(book.finished) == 10)
    await here.fill(10)
    await here.kafka.delete_records(here.topic, 0, 17)
    with pytest.raises(OffsetsLostError, match=r"10 is out of range, .* 17 to 20") as lost:
        await here.run_to_its_end(Book().handle)
    assert lost.value.missing == 7
    assert await here.committed() == {0: 10}


async def test_missing_topics_are_all_named(kafka: Kafka) -> None:
    kafka.must_be_real()
    consumer = Consumer(
        Cluster(kafka.bootstrap), group_id="g", topics=["no.a", "no.b"], start_from=Edge.EARLIEST
    )
    with pytest.raises(
        KafkaRefusedError, match=r"no\.a does not exist; topic no\.b does not exist: create them"
    ):
        await consumer.open(_Nobody())


async def test_an_unreachable_cluster_is_told_apart_from_a_refusal(free_port: int) -> None:
    consumer = Consumer(
        Cluster(f"127.0.0.1:{free_port}"), group_id="g", topics=["t"], start_from=Edge.EARLIEST,
        timing=QUICK,
    )  # fmt: skip
    with pytest.raises(KafkaUnreachableError, match=str(free_port)):
        await consumer.open(_Nobody())


async def test_a_compacted_topic_is_warned_of(
    kafka: Kafka, unique: Callable[[str], str], lines: list[EventDict]
) -> None:
    topic = unique("compacted")
    await kafka.create_topic(topic, config={"cleanup.policy": "compact"})
    consumer = Consumer(
        Cluster(kafka.bootstrap), group_id=unique("g"), topics=[topic], start_from=Edge.EARLIEST
    )
    await consumer.open(_Nobody())
    await consumer.close(budget=5)
    assert {"event": "topic_is_compacted", "topic": topic, "log_level": "warning"} in lines


class _Nobody:
    async def assigned(self, partitions: object) -> None: ...
    async def revoked(self, partitions: object) -> None: ...


async def _read(here: Scene, start_from: StartFrom) -> list[int]:
    """Five records a second apart, then the group starts, then one more."""
    async with here.kafka.producer() as producer:
        for number in range(5):
            stamp = (1_700_000_000 + number) * 1000
            await producer.send_and_wait(here.topic, b"x", timestamp_ms=stamp)
    book = Book()
    async with here.running(book.handle, consumer=here.consumer(start_from=start_from)):
        await here.until(bool)
        await here.fill(1)
        await book.until(lambda: (0, 5) in book.finished)
    return [offset for _, offset in book.began]


def _lie_about_offsets(monkeypatch: pytest.MonkeyPatch, *, times: int) -> list[int]:
    """After the join, let answers to OffsetFetch be empty, with NOT_COORDINATOR at their top."""
    left: list[int] = []

    def lying(coordinator: Any) -> None:
        honest = coordinator._send_req

        async def send(request: Any) -> Any:
            response = await honest(request)
            if isinstance(request, SyncGroupRequest):
                left.extend([16] * times)
            if isinstance(request, OffsetFetchRequest) and left:
                return type(response)(error_code=left.pop(), topics=[], throttle_time_ms=0)
            return response

        coordinator._send_req = send
        guard_offset_fetch(coordinator)

    monkeypatch.setattr("consumer.intake.kafka.consumer.guard_offset_fetch", lying)
    return left
