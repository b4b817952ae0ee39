"""What became of records that the group has behind it: the promise, held against what is there.

    record ─▶ its own row or letter                            what that says
           ─▶ no trace of its own ─▶ read anew ─▶ a rule       skipped
                                              ─▶ its key's row duplicate
                                              ─▶ neither       lost

Nothing is written. The catalogue is today's: of a record without a trace that it cannot read, or
that is too old by now, nobody can say more than that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from consumer.guard.letters import UNCLOSED
from consumer.guard.rows import Place
from consumer.model import (
    OPEN,
    Bad,
    Coordinates,
    Mail,
    NeedsSchema,
    Reason,
    Skipped,
    SkipRule,
    Status,
)

if TYPE_CHECKING:
    from consumer.guard.desk import Desk
    from consumer.guard.traces import LetterTrace, RowTrace, Trace
    from consumer.model import Record, Row
    from consumer.reading import Reading

_BEFORE = "nothing earlier of its partition stands there: did the group begin behind it?"
_WITH_LETTER = tuple(f"{reason}:" for reason in (Reason.REJECTED, Reason.EXHAUSTED))


class End(StrEnum):
    """Where a record ended, in the order in which it is told."""

    SENT = "sent"
    DUPLICATE = "duplicate"  # its key has a mail, of another record
    REFUSED = "refused"  # the provider will never take it for this recipient
    DEAD_LETTER = "dead_letter"  # a person is needed, or the service is still at it
    CLOSED = "closed"  # a person, or a later record of its key, closed its letter or row
    SKIPPED = "skipped"  # a written rule
    UNDER_WAY = "under_way"  # its row is open and has no letter: the sweep's, in minutes
    UNTRACED = "untraced"  # nothing stands there, and whether something should cannot be told
    LOST = "lost"  # nothing stands there, or no letter, and it should


@dataclass(frozen=True, slots=True)
class Finding:
    """Of one record. `detail` holds no value of it."""

    at: Coordinates
    end: End
    detail: str = ""
    mail_type: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """Looks at records that are committed already.

    An offset is committed when what became of its record is written: what is not there now never
    was. Unless the group began behind it: nothing of its partition stands there from before.
    """

    reading: Reading
    types: Collection[str]  # of mails: others' on the same database say nothing
    _firsts: dict[tuple[str, int], float] = field(default_factory=dict)

    async def of(self, desk: Desk, records: Sequence[Record]) -> list[Finding]:
        places = [record.coordinates for record in records]
        traces = await desk.traces(places, self.types)
        found = [traced(at, trace) for at, trace in zip(places, traces, strict=True)]
        bare = [record for record, one in zip(records, found, strict=True) if one is None]
        others = iter(await self._untraced(desk, bare))
        return [one or next(others) for one in found]

    async def _untraced(self, desk: Desk, records: Sequence[Record]) -> list[Finding]:
        reads = [await self.reading.glance(record) for record in records]
        mails = [
            Place(read.key, read.type.name, record.coordinates)
            for record, read in zip(records, reads, strict=True)
            if isinstance(read, Mail)
        ]
        rows = iter(await desk.look(mails))
        found = [
            self._of_mail(record.coordinates, read, next(rows))
            if isinstance(read, Mail)
            else _unmailed(record.coordinates, read)
            for record, read in zip(records, reads, strict=True)
        ]
        return [await self._begun(desk, one) if one.end is End.LOST else one for one in found]

    async def _begun(self, desk: Desk, lost: Finding) -> Finding:
        place = lost.at.topic, lost.at.partition
        if place not in self._firsts:
            first = await desk.first_trace(*place, self.types)
            self._firsts[place] = math.inf if first is None else first
        if self._firsts[place] < lost.at.offset:
            return lost
        return replace(lost, end=End.UNTRACED, detail=_BEFORE)

    def _of_mail(self, at: Coordinates, mail: Mail, row: Row | None) -> Finding:
        named = mail.type.name, mail.key
        if row is not None:
            # Who meets an open row waits for it, or is parked beside it with a letter of its own.
            end = End.LOST if row.status in OPEN else End.DUPLICATE
            return Finding(at, end, f"its key's row is {row.status}", *named)
        rule = self.reading.making.rules.holds_back(mail)
        match rule:
            case None:
                return Finding(at, End.LOST, "neither row nor letter, and no rule", *named)
            case SkipRule.TOO_OLD:
                return Finding(at, End.UNTRACED, "too old by now; was it when it came?", *named)
            case _:
                return Finding(at, End.SKIPPED, rule, *named)


def traced(at: Coordinates, trace: Trace) -> Finding | None:
    """Judge by what stands at its coordinates; None: nothing does."""
    at_work = next((one for one in trace.letters if one.status in UNCLOSED), None)
    row = min(trace.rows, key=lambda one: one.status is not Status.SENT, default=None)
    if row is None:
        letter = at_work or next(iter(trace.letters), None)
        return _of_letter(at, letter) if letter else None
    if row.status is not Status.SENT and at_work:
        return _of_letter(at, at_work)
    return Finding(at, *_of_row(row, told=bool(trace.letters)), row.mail_type, row.key)


def _of_row(row: RowTrace, *, told: bool) -> tuple[End, str]:
    """`told`: a letter stands beside it, closed by now."""
    status = row.status
    if status in OPEN:
        return (End.LOST, f"{status}, and no letter") if row.old else (End.UNDER_WAY, status)
    match status:
        case Status.SENT:
            return End.SENT, ""
        case Status.FAILED if (row.error or "").startswith(_WITH_LETTER):
            return (End.CLOSED, f"row {status}") if told else (End.LOST, "failed, and no letter")
        case Status.FAILED:
            return End.REFUSED, status
        case Status.EXPIRED:
            return End.SKIPPED, SkipRule.TOO_OLD
        case _:
            return End.CLOSED, f"row {status}"


def _of_letter(at: Coordinates, letter: LetterTrace) -> Finding:
    detail = f"{letter.status}: {letter.reason}"
    end = End.DEAD_LETTER if letter.status in UNCLOSED else End.CLOSED
    return Finding(at, end, detail, letter.mail_type, letter.key)


def _unmailed(at: Coordinates, read: Skipped | Bad | NeedsSchema) -> Finding:
    match read:
        case Skipped(rule, event_type):
            return Finding(at, End.SKIPPED, rule, event_type)
        case NeedsSchema():
            return Finding(at, End.UNTRACED, "the schema registry does not answer")
        case Bad(reason, _, event_type):
            # What today's catalogue cannot read an earlier one may have: as a duplicate, say.
            end = End.LOST if reason is Reason.MALFORMED else End.UNTRACED
            return Finding(at, end, f"no letter, and it cannot be read: {reason}", event_type)
        case _:
            assert_never(read)
