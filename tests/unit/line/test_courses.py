"""Laws of courses: what a due letter asks for, by what stands under its key."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from consumer.courses import (
    Anew,
    Beside,
    Busy,
    Course,
    GoOn,
    Inquire,
    Lost,
    Unreadable,
    course,
    verdict,
)
from consumer.guard import DeadLetter, LetterStatus
from consumer.guard.verdict import Duplicate, KeyDrift, Redelivery, TakeOver
from consumer.model import Bad, Coordinates, Mail, MailType, Reason, Row, Status

AT = datetime(2026, 11, 30, tzinfo=UTC)
HERE, THERE = Coordinates("orders", 0, 1, 1), Coordinates("orders", 0, 2, 1)
KEY, NEWER = "0f" * 24, "ab" * 24
KIND = MailType("order.receipt", "orders", ("file",), "shop", 3600.0, digest="d1")
MAIL = Mail(KIND, KEY, "one", "ada@example.org", "f1", {}, AT)
BAD = Bad(Reason.INVALID, "broken")
LETTER = DeadLetter(
    1, KEY, "order.receipt", Reason.UNKNOWN, "", LetterStatus.PARKED, HERE, 1, AT, AT, AT
)
ROW = Row(
    KEY, "order.receipt", Status.UNKNOWN, "f1", "d1", "file", "a", 1, 0, 1, "o", "t",
    lease_live=False, in_doubt=False, coordinates=HERE,
)  # fmt: skip


def of(status: Status, *, live: bool = False, read: Mail | Bad = MAIL, version: int = 1) -> Course:
    row = replace(ROW, status=status, lease_live=live, version=version)
    return course(LETTER, row, read)


def test_an_open_row_of_its_own_decides() -> None:
    assert isinstance(of(Status.UNKNOWN), Inquire)
    assert isinstance(of(Status.WAITING), GoOn)
    assert isinstance(of(Status.WAITING, live=True), Busy)
    assert isinstance(of(Status.SENDING), Lost)
    assert isinstance(of(Status.SENDING, live=True), Busy)
    assert isinstance(of(Status.UNKNOWN, read=BAD), Unreadable)


@pytest.mark.parametrize("status", [Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED])
def test_a_closed_row_leaves_it_to_the_line(status: Status) -> None:
    assert of(status) == Anew()
    assert course(LETTER, None, MAIL) == Anew()


def test_the_row_keeps_its_key_whatever_the_mapping_gives_today() -> None:
    way = of(Status.UNKNOWN, read=replace(MAIL, key=NEWER))
    assert isinstance(way, Inquire)
    assert way.mail.key == KEY


def test_a_mail_made_again_goes_on_under_its_own_key() -> None:
    assert isinstance(of(Status.FAILED, version=2), GoOn)
    assert of(Status.FAILED, version=2, read=BAD) == Anew()


def test_another_records_open_row_decides_for_what_waits_beside_it() -> None:
    row = replace(ROW, coordinates=THERE)
    assert course(LETTER, row, MAIL) == Beside(row)
    assert course(replace(LETTER, reason=Reason.CONFLICT), row, MAIL) == Anew()
    assert course(LETTER, replace(row, status=Status.SENT), MAIL) == Anew()


def test_what_failed_is_tried_again_only_when_a_person_asks() -> None:
    row = replace(ROW, status=Status.FAILED)
    assert isinstance(verdict(row, MAIL, HERE, 4), Redelivery)
    assert isinstance(verdict(row, MAIL, HERE, 4, replay=True), TakeOver)


@pytest.mark.parametrize("status", Status)
def test_a_record_whose_mail_was_made_again_is_a_duplicate_of_it(status: Status) -> None:
    """The former row may be pruned, and the mapping may have changed: no second way to a mail."""
    newer = replace(ROW, key=NEWER, status=status, version=2)
    assert isinstance(verdict(newer, MAIL, HERE, 4, replay=True), Duplicate)
    drifted = replace(newer, version=1, status=Status.SENT)
    assert isinstance(verdict(drifted, MAIL, HERE, 4), KeyDrift)
