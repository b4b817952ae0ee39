"""What a found row means for the record that found it. Pure.

    (none) ──claim──▶ sending ──▶ sent | failed | waiting | unknown
    waiting ──▶ sending | expired          the last attempt certainly did not send
    unknown ──▶ sent | sending | discarded evidence, or a person
    failed  ──▶ sending                    for another record with its key, or a replay
    any     ──▶ sent                       proof of acceptance

A row is *own* when the record's coordinates stand on it: the same record again. It never conflicts,
whatever a deploy did to its context. Any other record with the key must mean the same mail, and a
row of another mail type never does. Fingerprints that depend on other things (the context was
changed between the two) say nothing about each other, and count as equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from consumer.model import Coordinates, Mail, Row, Status


@dataclass(frozen=True, slots=True)
class Redelivery:
    """This very record is finished: its stored outcome is published, not as a duplicate."""

    row: Row


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Another record made this mail, or closed it: the stored outcome is this record's too."""

    row: Row


@dataclass(frozen=True, slots=True)
class Conflict:
    """Same key, another mail: refused loudly, the row untouched."""

    row: Row


@dataclass(frozen=True, slots=True)
class KeyDrift:
    """This record was claimed under another key before: refused, not sent twice."""

    row: Row


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Certainly not sent, and nobody is at it: claim it with `takes=row`."""

    row: Row


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody is at it: look again later, never commit it as a duplicate while it is open."""

    row: Row


@dataclass(frozen=True, slots=True)
class Abandoned:
    """In flight when its worker vanished: nobody knows whether it was sent."""

    row: Row


@dataclass(frozen=True, slots=True)
class AlsoParked:
    """Unknown, or its round used up: the record is parked beside the row's own and finishes."""

    row: Row


Verdict: TypeAlias = (
    Redelivery | Duplicate | Conflict | KeyDrift | TakeOver | Wait | Abandoned | AlsoParked
)


def judge(
    row: Row, mail: Mail, at: Coordinates, max_attempts: int, *, comparable: bool | None = None
) -> Verdict:
    """Say what `mail`, read from the record at `at`, has to do about the row that it found.

    `max_attempts`: of one round. `comparable`: whether the fingerprints of both depend on the same
    things; None: they do if both were made with one edition of the folder.
    """
    if comparable is None:
        comparable = row.catalogue == mail.type.digest
    if row.key != mail.key:
        return _of_another_key(row)
    if row.mail_type != mail.type.name:
        return Conflict(row)  # a carried key, under which another kind of mail was made
    if row.coordinates == at:
        return _own(row, max_attempts)
    same = not comparable or row.fingerprint == mail.fingerprint
    return _of_another_record(row, max_attempts, same_mail=same)


def _of_another_key(row: Row) -> Verdict:
    """Found by coordinates only. What certainly was not sent gives its coordinates up.

    Unless a person had this record's mail made again: that one stands for the record, whatever
    became of it, also when the former row is pruned.
    """
    if row.version > 1:
        return Duplicate(row)
    return TakeOver(row) if row.status is Status.FAILED else KeyDrift(row)


def _own(row: Row, max_attempts: int) -> Verdict:
    match row.status:
        case Status.SENT | Status.FAILED | Status.DISCARDED | Status.EXPIRED:
            return Redelivery(row)
        case Status.SENDING | Status.WAITING | Status.UNKNOWN:
            return _open(row, row.status, max_attempts)
    assert_never(row.status)


def _of_another_record(row: Row, max_attempts: int, *, same_mail: bool) -> Verdict:
    if row.status is Status.FAILED:
        return TakeOver(row)
    if not same_mail:
        return Conflict(row)
    match row.status:
        case Status.SENT | Status.DISCARDED | Status.EXPIRED:
            return Duplicate(row)
        case Status.SENDING | Status.WAITING | Status.UNKNOWN:
            return _open(row, row.status, max_attempts)
    assert_never(row.status)


def _open(row: Row, status: Status, max_attempts: int) -> Verdict:
    if status is Status.UNKNOWN:
        return AlsoParked(row)
    if row.lease_live:
        return Wait(row)
    if status is Status.SENDING:
        return Abandoned(row)
    return AlsoParked(row) if row.attempts >= max_attempts else TakeOver(row)
