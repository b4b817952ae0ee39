"""The audit's judgement of one record, by what stands at its coordinates alone."""

from __future__ import annotations

import pytest

from consumer.auditing import End, traced
from consumer.guard import LetterStatus
from consumer.guard.traces import LetterTrace, RowTrace, Trace
from consumer.model import Coordinates, Reason, Status

AT = Coordinates("orders", 0, 7, 1)


def _rows(*statuses: Status) -> list[RowTrace]:
    return [RowTrace("k", "order.receipt", status) for status in statuses]


def _letters(*statuses: LetterStatus) -> list[LetterTrace]:
    return [LetterTrace("k", "order.receipt", status, Reason.UNKNOWN) for status in statuses]


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (Status.SENT, End.SENT),
        (Status.FAILED, End.REFUSED),
        (Status.EXPIRED, End.SKIPPED),
        (Status.DISCARDED, End.CLOSED),
        (Status.SENDING, End.UNDER_WAY),
        (Status.WAITING, End.UNDER_WAY),
        (Status.UNKNOWN, End.UNDER_WAY),
    ],
)
def test_a_row_alone_says_where_its_record_ended(status: Status, end: End) -> None:
    found = traced(AT, Trace(_rows(status), []))
    assert found is not None
    assert found.end is end


@pytest.mark.parametrize("row", [*Status, None])
@pytest.mark.parametrize("letter", LetterStatus)
def test_a_letter_at_work_is_told_unless_the_mail_was_sent(
    row: Status | None, letter: LetterStatus
) -> None:
    """Law: who is told of a dead letter can find it; who is told that it was sent, a mail."""
    found = traced(AT, Trace(_rows(row) if row else [], _letters(letter)))
    assert found is not None
    at_work = letter in (LetterStatus.OPEN, LetterStatus.PARKED)
    assert (found.end is End.DEAD_LETTER) is (at_work and row is not Status.SENT)
    assert (found.end is End.SENT) is (row is Status.SENT)


@pytest.mark.parametrize("status", [Status.SENDING, Status.WAITING, Status.UNKNOWN])
def test_a_row_that_is_open_for_long_without_a_letter_is_lost(status: Status) -> None:
    found = traced(AT, Trace([RowTrace("k", "order.receipt", status, old=True)], []))
    assert found is not None
    assert found.end is End.LOST


@pytest.mark.parametrize("reason", [Reason.REJECTED, Reason.EXHAUSTED])
def test_what_failed_with_a_letter_is_lost_without_it(reason: Reason) -> None:
    row = RowTrace("k", "order.receipt", Status.FAILED, f"{reason}: 422")
    found = traced(AT, Trace([row], []))
    assert found is not None
    assert found.end is End.LOST
    found = traced(AT, Trace([row], _letters(LetterStatus.DISCARDED)))
    assert found is not None
    assert found.end is End.CLOSED


def test_of_several_types_at_one_record_a_sent_mail_is_told() -> None:
    found = traced(AT, Trace(_rows(Status.FAILED, Status.SENT), []))
    assert found is not None
    assert found.end is End.SENT


def test_without_any_trace_nothing_is_said() -> None:
    assert traced(AT, Trace([], [])) is None
