"""Budgets: what may start, in which order, and what a taken partition leaves behind."""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st

from consumer.intake.hold import Hold
from consumer.intake.lanes import AHEAD, STANDING, Lane, Owned, Work
from consumer.intake.offsets import Partition, Tracker
from consumer.model import Record


def test_partitions_take_turns() -> None:
    lane = Lane(limit=4)
    first, second = _owned(lane, 0), _owned(lane, 1)
    for offset in range(5):
        first.offer(_record(0, offset))
    second.offer(_record(1, 0))
    assert [record.partition for _, record in _start_all(lane)] == [0, 1, 0, 0]


def test_a_partition_at_its_own_limit_lets_others_pass() -> None:
    lane = Lane(limit=10)
    first, second = _owned(lane, 0, limit=1), _owned(lane, 1)
    for offset in range(3):
        first.offer(_record(0, offset))
        second.offer(_record(1, offset))
    assert [record.partition for _, record in _start_all(lane)] == [0, 1, 1, 1]
    assert not first.wants_more


def test_what_ends_makes_room_for_what_waits() -> None:
    lane = Lane(limit=1)
    owned = _owned(lane, 0)
    for offset in range(2):
        owned.offer(_record(0, offset))
    ((work, _),) = _start_all(lane)
    assert not _start_all(lane)
    owned.end(work)
    assert [record.offset for _, record in _start_all(lane)] == [1]


def test_a_taken_partition_forgets_what_waits_and_its_tasks_still_count() -> None:
    lane = Lane(limit=1)
    owned = _owned(lane, 0)
    for offset in range(2):
        owned.offer(_record(0, offset))
    ((work, _),) = _start_all(lane)
    owned.take()
    assert lane.in_flight == 1
    owned.end(work)
    assert lane.in_flight == 0
    assert not _start_all(lane)


def test_a_full_lane_reads_a_little_ahead_and_then_no_more() -> None:
    lane = Lane(limit=1)
    owned = [_owned(lane, number) for number in range(2)]
    owned[0].offer(_record(0, 0))
    _start_all(lane)
    assert owned[0].wants_more
    for offset in range(AHEAD):
        owned[1].offer(_record(1, offset))
    assert not owned[0].wants_more
    owned[1].take()
    assert owned[0].wants_more


def test_a_record_seen_before_in_this_ownership_is_not_offered_again() -> None:
    lane = Lane(limit=9)
    owned = _owned(lane, 0)
    owned.offer(_record(0, 3))
    owned.offer(_record(0, 3))
    assert len(_start_all(lane)) == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=80), st.integers(1, 6))
def test_no_order_of_events_breaks_a_bound_or_forgets_a_record(
    events: list[tuple[int, bool]], limit: int
) -> None:
    lane = Lane(limit)
    owned = [_owned(lane, number, limit=2) for number in range(3)]
    offered, running, ended = 0, list[tuple[Owned, Work]](), 0
    for offset, (number, arrives) in enumerate(events):
        if arrives:
            owned[number].offer(_record(number, offset))
            offered += 1
        elif running:
            one, work = running.pop(0)
            one.end(work)
            ended += 1
        running += [(owned[record.partition], work) for work, record in _start_all(lane)]
        assert lane.in_flight == len(running) <= limit
        assert all(len(one.hands) <= 2 for one in owned)
    while running:
        one, work = running.pop(0)
        one.end(work)
        ended += 1
        running += [(owned[record.partition], work) for work, record in _start_all(lane)]
    assert ended == offered


def test_what_stands_for_a_person_takes_no_room_from_the_others() -> None:
    lane = Lane(limit=2)
    stopped, free = _owned(lane, 0), _owned(lane, 1)
    for offset in range(STANDING + 5):
        stopped.offer(_record(0, offset))
        while lane.next() is not None:
            hold = Hold(stand=stopped.stand)
            stopped.begin(Mock(), hold)
            hold.standing().__enter__()
    assert lane.in_flight == 0
    assert (stopped.standing, len(stopped.waiting)) == (STANDING, 5)
    assert not stopped.wants_more, "of what stands still, only a few are held"
    free.offer(_record(1, 0))
    assert [record.partition for _, record in _start_all(lane)] == [1]


def test_what_goes_on_counts_again_and_lets_the_rest_follow() -> None:
    lane = Lane(limit=2)
    owned = _owned(lane, 0)
    for offset in range(STANDING + 1):
        owned.offer(_record(0, offset))
    stretches = []
    while (turn := lane.next()) is not None:
        hold, work = Hold(stand=owned.stand), Mock()
        turn[0].begin(work, hold)
        stretches.append((work, hold.standing()))
        stretches[-1][1].__enter__()
    for work, stretch in stretches:
        stretch.__exit__()
        owned.end(work)
    assert (lane.in_flight, owned.standing) == (0, 0)
    assert [record.offset for _, record in _start_all(lane)] == [STANDING]


def _owned(lane: Lane, number: int, limit: int = 100) -> Owned:
    return Owned(Partition("orders", number), Tracker(1), lane, limit)


def _record(partition: int, offset: int) -> Record:
    return Record("orders", partition, offset, 0, None, b"")


def _start_all(lane: Lane) -> list[tuple[Work, Record]]:
    started = []
    while (turn := lane.next()) is not None:
        owned, record = turn
        work: Work = Mock(spec=asyncio.Task)
        owned.begin(work, Hold())
        started.append((work, record))
    return started
