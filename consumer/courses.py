"""What a letter that is due asks for, by what stands under its key. Pure.

    no row of its own   ─▶ Beside      another record's row is open, and decides
                        ─▶ Anew        the line again, from the beginning
    its own row, open   ─▶ Busy        somebody is at it
                        ─▶ Lost        its worker is gone: unknown
                        ─▶ Unreadable  this catalogue cannot read its record
                        ─▶ Inquire     unknown: one step towards knowing it
                        ─▶ GoOn        the next round
    its own row, closed ─▶ Anew        or GoOn, for a mail that a person had made again

The resolver does what this says; a forecast tells a person beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from consumer.guard.verdict import Redelivery, TakeOver, Verdict, judge
from consumer.model import OPEN, Mail, Reason, Status

if TYPE_CHECKING:
    from consumer.guard import DeadLetter
    from consumer.model import Bad, Coordinates, Row, Skipped


@dataclass(frozen=True, slots=True)
class Beside:
    row: Row


@dataclass(frozen=True, slots=True)
class Anew:
    pass


@dataclass(frozen=True, slots=True)
class Busy:
    row: Row


@dataclass(frozen=True, slots=True)
class Lost:
    row: Row


@dataclass(frozen=True, slots=True)
class Unreadable:
    row: Row
    why: Skipped | Bad


@dataclass(frozen=True, slots=True)
class Inquire:
    """`mail` has the row's key, which today's mapping may give no more."""

    row: Row
    mail: Mail


@dataclass(frozen=True, slots=True)
class GoOn:
    """Likewise."""

    row: Row
    mail: Mail


Course: TypeAlias = Beside | Anew | Busy | Lost | Unreadable | Inquire | GoOn

SHARED = (Reason.UNKNOWN, Reason.EXHAUSTED)


def course(letter: DeadLetter, row: Row | None, read: Mail | Skipped | Bad) -> Course:
    """Say what is to be done about a letter; `row`: under its key, `read`: of its record."""
    if row is None or row.coordinates != letter.coordinates:
        return _beside(letter, row)
    if row.status not in OPEN:
        return _closed(row, read)
    if row.lease_live:
        return Busy(row)
    if row.status is Status.SENDING:
        return Lost(row)
    if not isinstance(read, Mail):
        return Unreadable(row, read)
    mail = replace(read, key=row.key)
    return Inquire(row, mail) if row.status is Status.UNKNOWN else GoOn(row, mail)


def _beside(letter: DeadLetter, row: Row | None) -> Course:
    """The row's own letter carries the date of its next step; the others share its fate."""
    shares = row is not None and row.status in OPEN and letter.reason in SHARED
    return Beside(row) if row is not None and shares else Anew()


def _closed(row: Row, read: Mail | Skipped | Bad) -> Course:
    """A mail made again by a person has a key that no mapping gives: its own row is its way."""
    if row.version > 1 and row.status is Status.FAILED and isinstance(read, Mail):
        return GoOn(row, replace(read, key=row.key))
    return Anew()


def verdict(
    row: Row,
    mail: Mail,
    at: Coordinates,
    max_attempts: int,
    *,
    comparable: bool | None = None,
    replay: bool = False,
) -> Verdict:
    """Judge a found row; `replay`: a person asked, so what failed before is tried again."""
    found = judge(row, mail, at, max_attempts, comparable=comparable)
    if replay and isinstance(found, Redelivery) and row.status is Status.FAILED:
        return TakeOver(row)
    return found
