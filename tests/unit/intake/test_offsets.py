"""What may be committed is one past the finished prefix of what was delivered, and only grows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from consumer.intake.offsets import Tracker


def test_nothing_delivered_nothing_to_commit() -> None:
    assert Tracker(1).due() is None


def test_a_slow_record_holds_the_commit_back_until_it_is_finished() -> None:
    tracker = _delivered([3, 4, 5])
    tracker.finish(4)
    tracker.finish(5)
    assert tracker.due() is None
    tracker.finish(3)
    assert tracker.due() == 6


def test_holes_between_delivered_offsets_are_normal() -> None:
    tracker = _delivered([1, 2, 7])
    for offset in (1, 2, 7):
        tracker.finish(offset)
    assert tracker.due() == 8


def test_a_record_delivered_twice_in_one_ownership_is_told_apart() -> None:
    tracker = _delivered([5])
    assert not tracker.deliver(5)
    assert not tracker.deliver(4)


def test_finishing_twice_changes_nothing() -> None:
    tracker = _delivered([1, 2])
    tracker.finish(1)
    tracker.finish(1)
    assert tracker.due() == 2
    assert tracker.unfinished == 1


def test_stepping_over_control_records_waits_for_open_records() -> None:
    tracker = _delivered([1])
    tracker.reach(5)
    assert tracker.due() is None
    tracker.finish(1)
    tracker.reach(5)
    assert tracker.due() == 5
    assert tracker.deliver(5)


def test_stepping_never_goes_back() -> None:
    tracker = _delivered([8])
    tracker.finish(8)
    tracker.reach(3)
    assert tracker.due() == 9


@st.composite
def _histories(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Delivered offsets in order, an order of finishing some of them, and when commits happen."""
    delivered = sorted(draw(st.sets(st.integers(0, 500), max_size=40)))
    finishing = draw(st.permutations(delivered))
    kept = finishing[: draw(st.integers(0, len(finishing)))]
    commits = draw(st.lists(st.integers(0, 40), max_size=10))
    return delivered, list(kept), commits


@given(_histories())
def test_a_commit_covers_only_finished_records_and_only_grows(
    history: tuple[list[int], list[int], list[int]],
) -> None:
    delivered, finishing, commits = history
    tracker, finished, last = _delivered(delivered), set[int](), -1
    for step, offset in enumerate(finishing):
        tracker.finish(offset)
        finished.add(offset)
        due = tracker.due()
        if due is None:
            continue
        assert due > last
        assert {number for number in delivered if number < due} <= finished
        if step in commits:
            tracker.committed(due)
            last = due
    if len(finished) == len(delivered) and delivered:
        assert max(last, tracker.due() or -1) == delivered[-1] + 1
    assert tracker.unfinished == len(delivered) - len(finished)


@given(_histories())
def test_the_prefix_is_as_long_as_it_can_be(
    history: tuple[list[int], list[int], list[int]],
) -> None:
    delivered, finishing, _ = history
    tracker = _delivered(delivered)
    for offset in finishing:
        tracker.finish(offset)
    prefix = []
    for offset in delivered:
        if offset not in finishing:
            break
        prefix.append(offset)
    assert tracker.due() == (prefix[-1] + 1 if prefix else None)


def _delivered(offsets: list[int]) -> Tracker:
    tracker = Tracker(epoch=1)
    for offset in offsets:
        assert tracker.deliver(offset)
    return tracker
