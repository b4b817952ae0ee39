"""Every sentence of "a row found", as a table; and `judge` has an answer to everything."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.guard.verdict import (
    Abandoned,
    AlsoParked,
    Conflict,
    Duplicate,
    KeyDrift,
    Redelivery,
    TakeOver,
    Wait,
    judge,
)
from consumer.model import Coordinates, Mail, MailType, Row, Status

OWN = Coordinates("orders", 0, 1, 1000)
OTHER = Coordinates("orders", 0, 2, 1000)
MAX_ATTEMPTS = 4
CLOSED = (Status.SENT, Status.DISCARDED, Status.EXPIRED)
VERDICTS = (
    Abandoned, AlsoParked, Conflict, Duplicate, KeyDrift, Redelivery, TakeOver, Wait,
)  # fmt: skip


def mail(
    key: str = "k", fingerprint: str = "f", digest: str = "d", name: str = "order.receipt"
) -> Mail:
    kind = MailType(name, "orders", ("file",), "shop", 3600.0, digest=digest)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Mail(kind, key, "1", "ada@example.org", fingerprint, {}, now)


def row(
    status: Status, *, at: Coordinates | None = OWN, live: bool = False, attempts: int = 1
) -> Row:
    return Row(
        key="k", mail_type="order.receipt", status=status, fingerprint="f", catalogue="d",
        provider="file", account="a", attempts=attempts, round=0, epoch=1, owner="o", token="t",
        lease_live=live, in_doubt=status is Status.UNKNOWN, coordinates=at,
    )  # fmt: skip


TABLE = [
    # Its own coordinates: closed or failed is finished, whatever the fingerprint
    *[(row(status), mail(fingerprint="x"), Redelivery) for status in (*CLOSED, Status.FAILED)],
    # Its own, not sent yet: goes on with the new fingerprint
    (row(Status.WAITING), mail(fingerprint="x"), TakeOver),
    (row(Status.WAITING, live=True), mail(fingerprint="x"), Wait),
    (row(Status.SENDING, live=True), mail(fingerprint="x"), Wait),
    (row(Status.SENDING), mail(fingerprint="x"), Abandoned),
    (row(Status.UNKNOWN), mail(fingerprint="x"), AlsoParked),
    (row(Status.WAITING, attempts=MAX_ATTEMPTS), mail(), AlsoParked),
    # Another record, the same mail
    *[(row(status, at=OTHER), mail(), Duplicate) for status in CLOSED],
    (row(Status.SENDING, at=OTHER, live=True), mail(), Wait),
    (row(Status.WAITING, at=OTHER, live=True), mail(), Wait),
    (row(Status.WAITING, at=OTHER), mail(), TakeOver),
    (row(Status.WAITING, at=OTHER, attempts=MAX_ATTEMPTS), mail(), AlsoParked),
    (row(Status.SENDING, at=OTHER), mail(), Abandoned),
    (row(Status.UNKNOWN, at=OTHER), mail(), AlsoParked),
    # Another record, another mail: conflict in any state but failed
    *[
        (row(status, at=OTHER), mail(fingerprint="x"), Conflict)
        for status in Status
        if status is not Status.FAILED
    ],
    (row(Status.FAILED, at=OTHER), mail(fingerprint="x"), TakeOver),
    (row(Status.FAILED, at=None), mail(fingerprint="x"), TakeOver),
    # Fingerprints of another version of the folder cannot be compared: they count as equal
    (row(Status.SENT, at=OTHER), mail(fingerprint="x", digest="newer"), Duplicate),
    # A key that a record carried, and another kind of mail was made of: never the same mail
    *[
        (row(status, at=at), mail(name="password.reset", digest="e"), Conflict)
        for status in Status
        for at in (OWN, OTHER)
    ],
    # Found by coordinates, under another key
    *[(row(status), mail(key="k2"), KeyDrift) for status in Status if status is not Status.FAILED],
    (row(Status.FAILED), mail(key="k2"), TakeOver),
]


@pytest.mark.parametrize(("found", "wanted", "verdict"), TABLE)
def test_a_row_found(found: Row, wanted: Mail, verdict: type) -> None:
    assert judge(found, wanted, OWN, MAX_ATTEMPTS) == verdict(found)


@pytest.mark.parametrize(
    ("digest", "comparable", "verdict"),
    [("d", False, Duplicate), ("newer", True, Conflict), ("newer", False, Duplicate)],
)
def test_what_is_known_of_two_editions_decides_whether_they_compare(
    digest: str, *, comparable: bool, verdict: type
) -> None:
    found, wanted = row(Status.SENT, at=OTHER), mail(fingerprint="x", digest=digest)
    assert judge(found, wanted, OWN, MAX_ATTEMPTS, comparable=comparable) == verdict(found)


@given(
    status=st.sampled_from(Status),
    at=st.sampled_from([OWN, OTHER, None]),
    live=st.booleans(),
    attempts=st.integers(0, 6),
    key=st.sampled_from(["k", "k2"]),
    fingerprint=st.sampled_from(["f", "x"]),
    digest=st.sampled_from(["d", "e"]),
)
def test_judge_is_total_and_sends_only_what_certainly_was_not_sent(
    *, status: Status, at: Coordinates | None, live: bool, attempts: int, key: str,
    fingerprint: str, digest: str,
) -> None:  # fmt: skip
    found = row(status, at=at, live=live, attempts=attempts)
    verdict = judge(found, mail(key, fingerprint, digest), OWN, MAX_ATTEMPTS)
    assert isinstance(verdict, VERDICTS)
    if isinstance(verdict, TakeOver):
        assert status in {Status.FAILED, Status.WAITING}
        assert status is Status.FAILED or (not live and attempts < MAX_ATTEMPTS)
    if at == OWN and key == "k":
        assert not isinstance(verdict, Conflict | Duplicate)
