"""Where a partition starts is decided only on evidence that lasts, and committed before use."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
import structlog
from aiokafka.errors import KafkaConnectionError

from consumer.intake.offsets import Partition
from consumer.intake.positions import Edge, Known, StartFrom, Starts

P0 = Partition("orders", 0)
HEARTBEAT = 0.01


class Log:
    """A partition of offsets 10 to 20 whose commit is answered as scripted, then with None."""

    def __init__(self, *committed: int | None, commit_works: bool = True) -> None:
        self.answers = list(committed)
        self.asked: list[float] = []
        self.started: list[int] = []
        self._commit_works = commit_works

    async def committed(self, _: Partition) -> int | None:
        self.asked.append(asyncio.get_running_loop().time())
        return self.answers.pop(0) if self.answers else None

    async def first_offset(self, _: Partition) -> int:
        return 10

    async def end_offset(self, _: Partition) -> int:
        return 20

    async def offset_at(self, _: Partition, timestamp: int) -> int | None:
        return 15 if timestamp == 1_000 else None

    async def start_at(self, _: Partition, offset: int) -> bool:
        self.started.append(offset)
        return self._commit_works


@pytest.mark.parametrize(
    ("start_from", "offset"),
    [
        (Edge.EARLIEST, 10),
        (Edge.LATEST, 20),
        (datetime.fromtimestamp(1, UTC), 15),
        (datetime.fromtimestamp(2, UTC), 20),
    ],
)
async def test_the_setting_decides_where_the_group_has_nothing(
    start_from: StartFrom, offset: int
) -> None:
    log = Log()
    await _decided(_starts(log, start_from))
    assert log.started == [offset]


async def test_nothing_is_believed_before_more_than_two_heartbeats() -> None:
    log = Log()
    await _decided(_starts(log))
    assert len(log.asked) >= 3
    assert log.asked[-1] - log.asked[0] > 2 * HEARTBEAT


async def test_one_answer_with_an_offset_ends_all_doubt() -> None:
    log = Log(None, None, 17)
    await _decided(_starts(log))
    assert log.started == []


async def test_evidence_is_kept_over_rebalances() -> None:
    """Each ownership is too short to decide; together they are long enough."""
    log, turns = Log(), 0
    starts = _starts(log)
    while not log.started:
        turns += 1
        assert turns < 50
        starts.missing(P0)
        await asyncio.sleep(HEARTBEAT)
        await starts.forget()
    assert turns >= 2


async def test_deciding_stops_when_the_partition_is_taken() -> None:
    log = Log()
    starts = _starts(log)
    starts.missing(P0)
    await asyncio.sleep(0)
    await starts.forget()
    asked = len(log.asked)
    await asyncio.sleep(HEARTBEAT * 4)
    assert (len(log.asked), log.started) == (asked, [])


async def test_a_partition_of_a_topic_that_the_group_has_begun_starts_at_its_beginning() -> None:
    log = Log()
    await _decided(_starts(log, Edge.LATEST, Known({"orders": 1}, frozenset({"orders"}))))
    assert log.started == [10]


async def test_a_partition_that_was_not_there_when_we_came_starts_at_its_beginning() -> None:
    log = Log()
    starts = _starts(log, Edge.LATEST, Known({"orders": 1}, frozenset()))
    await _decided(starts, Partition("orders", 1))
    assert log.started == [10]


async def test_a_commit_that_failed_is_decided_again() -> None:
    log = Log(commit_works=False)
    starts = _starts(log)
    await _decided(starts)
    await _decided(starts)
    assert log.started == [10, 10]


async def test_the_partitions_of_a_topic_are_told_in_one_line() -> None:
    """A first start of a large topic is one event, and not one for each partition."""
    starts = _starts(Log())
    with structlog.testing.capture_logs() as lines:
        for number in range(3):
            starts.missing(Partition("orders", number))
        starts.missing(Partition("accounts", 0))
        await asyncio.wait(starts._running.values())
    told = {line["topic"]: (line["log_level"], line["offsets"]) for line in lines}
    assert len(lines) == 3  # a partition that was not there before follows a rule of its own
    assert told["accounts"] == ("info", {"0": 10})
    assert told["orders"] == ("info", {"1": 10, "2": 10})


async def test_what_was_decided_is_told_though_the_others_were_taken_before() -> None:
    class Slow(Log):
        async def end_offset(self, partition: Partition) -> int:
            return 20 if partition == P0 else await asyncio.Future()

    starts = _starts(Slow(), Edge.LATEST, Known({"orders": 2}, frozenset()))
    with structlog.testing.capture_logs() as lines:
        starts.missing(Partition("orders", 1))
        await _decided(starts)
        assert lines == []
        await starts.forget()
    assert [line["offsets"] for line in lines] == [{"0": 20}]


async def test_trouble_while_deciding_is_told_to_whoever_asks_next() -> None:
    class Broken(Log):
        async def first_offset(self, _: Partition) -> int:
            raise KafkaConnectionError

    starts = _starts(Broken())
    await _decided(starts)
    with pytest.raises(KafkaConnectionError):
        starts.missing(P0)
    starts.missing(P0)
    await starts.forget()


def _starts(log: Log, start_from: StartFrom = Edge.EARLIEST, known: Known | None = None) -> Starts:
    everything = known or Known({"orders": 1}, frozenset())
    return Starts(log, start_from, everything, heartbeat=HEARTBEAT)


async def _decided(starts: Starts, partition: Partition = P0) -> None:
    starts.missing(partition)
    await asyncio.wait({starts._running[partition]})
