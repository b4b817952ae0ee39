"""What the service would do with a dead letter now, if a person had it go again.

Walks what the resolver and the line walk, and writes nothing. What others do is beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from consumer.courses import (
    Anew,
    Beside,
    Busy,
    GoOn,
    Inquire,
    Lost,
    Unreadable,
    course,
    verdict,
)
from consumer.editions import Editions
from consumer.guard.rows import Place
from consumer.guard.verdict import (
    Abandoned,
    AlsoParked,
    Conflict,
    Duplicate,
    KeyDrift,
    Redelivery,
    TakeOver,
    Wait,
)
from consumer.leave import Rehearsal
from consumer.model import (
    Bad,
    Mail,
    Message,
    NeedsSchema,
    Prepared,
    Record,
    Rejected,
    Row,
    Skipped,
    Status,
)
from consumer.providers.fetching import Unfetched

if TYPE_CHECKING:
    from consumer.guard import DeadLetter
    from consumer.guard.desk import Desk
    from consumer.providers import Provider
    from consumer.reading import Reading


class What(StrEnum):
    """What would become of a letter, in the order in which it is told."""

    SEND = "send"  # a provider is given the mail
    EVIDENCE = "evidence"  # nobody knows whether it was sent: only looked for, now
    DUPLICATE = "duplicate"  # its mail was sent, or is sent by an earlier letter of this replay
    STILL_BAD = "still_bad"  # fails as before, or otherwise
    REFUSED = "refused"  # a conflict, or another key than before
    CLOSED = "closed"  # its key expired or was given up: only `resend` makes a mail of it
    SKIPPED = "skipped"  # a written rule holds it back
    WAITS = "waits"  # for a flight under way, or a registry that is away


@dataclass(frozen=True, slots=True)
class Forecast:
    letter: DeadLetter  # without its record
    what: What
    detail: str
    key: str | None = None  # of the mail that it is about


@dataclass(frozen=True, slots=True)
class _Stands:
    """A row, and whether its fingerprint says anything about a mail's that found it."""

    row: Row
    comparable: bool = True


@dataclass(slots=True)
class Foresight:
    """Foretells the letters of one replay, in order: an earlier one may send a later one's mail."""

    reading: Reading
    providers: Mapping[str, Provider]
    max_attempts: int
    rehearsal: Rehearsal
    _sends: dict[str, Row] = field(default_factory=dict)

    async def of(self, desk: Desk, letters: Sequence[DeadLetter]) -> list[Forecast]:
        """Foretell letters that were read with their records."""
        own = await desk.rows({key for one in letters if (key := one.idempotency_key)})
        editions = Editions(self.reading.making, desk.edition)
        reads = [await self._read(letter, own, editions) for letter in letters]
        mails = [
            (Place(read.key, read.type.name, letter.coordinates), read)
            for letter, read in zip(letters, reads, strict=True)
            if isinstance(read, Mail)
        ]
        rows = await desk.look([place for place, _ in mails])
        stands = {
            place: _Stands(row, await editions.comparable(row, mail)) if row else None
            for (place, mail), row in zip(mails, rows, strict=True)
        }
        return [
            await self._of(letter, own.get(letter.idempotency_key or ""), read, stands)
            for letter, read in zip(letters, reads, strict=True)
        ]

    async def _read(
        self, letter: DeadLetter, own: Mapping[str, Row], editions: Editions
    ) -> Mail | Skipped | Bad | NeedsSchema:
        record, row = _record(letter), own.get(letter.idempotency_key or "")
        read = await self.reading.glance(record)
        if row is None or row.coordinates != letter.coordinates or isinstance(read, NeedsSchema):
            return read
        return await editions.as_claimed(read, row, record)

    async def _of(
        self,
        letter: DeadLetter,
        own: Row | None,
        read: Mail | Skipped | Bad | NeedsSchema,
        stands: Mapping[Place, _Stands | None],
    ) -> Forecast:
        if isinstance(read, NeedsSchema):
            return Forecast(replace(letter, record=None), What.WAITS, _AWAY, letter.idempotency_key)
        mail = read if isinstance(read, Mail) else None
        way = course(letter, own, read)
        match way:
            case Anew():
                what, detail = await self._anew(letter, read, stands)
            case GoOn(row, mail):
                what, detail = await self._send(mail, letter, claimed=True)
            case Inquire(row, mail):
                what, detail = What.EVIDENCE, f"evidence is looked for at {row.provider}"
            case Lost(row):
                what, detail = What.EVIDENCE, "its worker vanished: its outcome is unknown"
            case Beside(row):
                what, detail = _beside(row)
            case Busy(row):
                what, detail = What.WAITS, "it is in flight"
            case Unreadable(_, why):
                what, detail = What.STILL_BAD, f"{_why(why)}; its row stays open"
            case _:
                assert_never(way)
        key = mail.key if mail else letter.idempotency_key
        return Forecast(replace(letter, record=None), what, detail, key)

    async def _anew(
        self,
        letter: DeadLetter,
        read: Mail | Skipped | Bad,
        stands: Mapping[Place, _Stands | None],
    ) -> tuple[What, str]:
        if isinstance(read, Skipped):
            return What.SKIPPED, _why(read)
        if isinstance(read, Bad):
            return What.STILL_BAD, _why(read)
        at = letter.coordinates
        own = self._sends.get(read.key)
        found = _Stands(own) if own else stands[Place(read.key, read.type.name, at)]
        if found is None:
            return await self._send(read, letter, claimed=False)
        return await self._judged(found, read, letter)

    async def _judged(self, stands: _Stands, mail: Mail, letter: DeadLetter) -> tuple[What, str]:
        row, at, alike = stands.row, letter.coordinates, stands.comparable
        found = verdict(row, mail, at, self.max_attempts, comparable=alike, replay=True)
        match found:
            case TakeOver():
                return await self._send(mail, letter, claimed=True)
            case Wait():
                return What.WAITS, "a mail of its key is in flight"
            case Abandoned():
                return What.EVIDENCE, "its worker vanished: its outcome is unknown"
            case Redelivery() | Duplicate():
                return _closed(row)
            case Conflict():
                return What.REFUSED, f"conflict: its key made another mail, which is {row.status}"
            case KeyDrift():
                return What.REFUSED, f"key_drift: its record made {row.key}, which is {row.status}"
            case AlsoParked():
                return _beside(row)
            case _:
                assert_never(found)

    async def _send(self, mail: Mail, letter: DeadLetter, *, claimed: bool) -> tuple[What, str]:
        ready = self.reading.making.ready(mail, replay=True, claimed=claimed)
        if isinstance(ready, Bad):
            return What.STILL_BAD, _why(ready)
        if not isinstance(ready, Message):
            return What.SKIPPED, f"rule {ready}"
        first = self.providers[mail.type.providers[0]]
        prepared = await self.rehearsal.of(first, ready)
        match prepared:
            case Rejected(error):
                return What.STILL_BAD, f"rejected: {error}"
            case Unfetched(error):
                return What.STILL_BAD, error
            case Prepared() | None:
                self._sends[mail.key] = _sent(mail, letter, first.name)
                return What.SEND, f"through {first.name}{'' if prepared else _UNSEEN}"
            case _:
                assert_never(prepared)


_UNSEEN = ", if its files can be had"
_AWAY = "for a schema: the registry does not answer"


def _beside(row: Row) -> tuple[What, str]:
    if row.status is Status.UNKNOWN:
        return What.EVIDENCE, "its key's outcome is unknown: it shares that fate"
    return What.WAITS, f"its key's row is {row.status}: it shares that fate"


def _closed(row: Row) -> tuple[What, str]:
    match row.status:
        case Status.DISCARDED | Status.EXPIRED:
            return What.CLOSED, f"its key is {row.status}: only `resend` makes a mail of it"
        case Status.SENT:
            return What.DUPLICATE, f"sent through {row.provider}"
        case _:
            return What.DUPLICATE, f"of a mail made again, which is {row.status}"


def _why(why: Skipped | Bad) -> str:
    return f"rule {why.rule}" if isinstance(why, Skipped) else f"{why.reason}: {why.detail}"


def _record(letter: DeadLetter) -> Record:
    assert letter.record is not None, "read without its record"
    return letter.record


def _sent(mail: Mail, letter: DeadLetter, provider: str) -> Row:
    """Return the row that stands when this letter is done, as far as others are judged by it."""
    return Row(
        mail.key, mail.type.name, Status.SENT, mail.fingerprint, mail.type.digest, provider, "",
        attempts=1, round=0, epoch=1, owner="", token="", lease_live=False, in_doubt=False,
        coordinates=letter.coordinates,
    )  # fmt: skip
