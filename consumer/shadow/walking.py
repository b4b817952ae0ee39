"""The line up to the claim: each record becomes a note of what would have become of it.

    record ─▶ mail ─▶ look ─▶ (rules) ─▶ message ─▶ its files, the provider's bytes ─▶ note

Walked with the line's own parts. Nothing here can claim, send or publish.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from consumer.guard.errors import GuardClosedError
from consumer.guard.shadows import Note, Would
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
from consumer.leave import Rehearsal
from consumer.model import IMPORTED, Bad, Message, Prepared, Reason, Rejected, Skipped, SkipRule
from consumer.providers.fetching import Fetcher, Unfetched

if TYPE_CHECKING:
    from consumer.guard.shadows import Onlooker
    from consumer.intake.hold import Hold
    from consumer.model import Mail, Record, Row
    from consumer.providers import Provider
    from consumer.reading import Reading

_ROUND = 1  # attempts of one: a shadow makes none, so only `waiting` rows of others meet it


@dataclass(slots=True)
class Shadow:
    """Walks records. `counts`: what the records of this process came to."""

    reading: Reading
    onlooker: Onlooker
    providers: Mapping[str, Provider]
    counts: Counter[Would] = field(default_factory=Counter)
    fetcher: Fetcher = field(default_factory=Fetcher)

    async def handle(self, record: Record, hold: Hold) -> bool:
        """Note what would become of a record; False: it was called back before that."""
        try:
            note = await self._walk(record)
            await self.onlooker.note(note)
        except GuardClosedError:
            return False
        except asyncio.CancelledError:
            if not hold.recalled:
                raise
            return False
        self.counts[note.would] += 1
        return True

    async def _walk(self, record: Record) -> Note:
        read = await self.reading.read(record)
        if isinstance(read, Skipped):
            return Note(record.coordinates, Would.SKIPPED, read.rule, read.event_type)
        if isinstance(read, Bad):
            detail = f"{read.reason}: {read.detail}"
            key = read.idempotency_key
            return Note(record.coordinates, Would.DEAD_LETTER, detail, read.event_type, key)
        row = await self.onlooker.look(read.key, read.type.name, record.coordinates)
        judged = self._new(read, row) if row is None else self._met(read, row, record)
        would, detail = await judged
        return Note(
            record.coordinates, would, detail, read.type.name, read.key, read.fingerprint,
            read.type.digest, read.occurred_at,
        )  # fmt: skip

    async def _met(self, mail: Mail, row: Row, record: Record) -> tuple[Would, str]:
        found = judge(row, mail, record.coordinates, _ROUND)
        match found:
            case TakeOver():
                return await self._new(mail, row)
            case Conflict():
                return Would.REFUSED, Reason.CONFLICT
            case KeyDrift():
                return Would.REFUSED, Reason.KEY_DRIFT
            case Redelivery() | Duplicate() | Wait() | Abandoned() | AlsoParked():
                imported = row.catalogue == IMPORTED
                return Would.DUPLICATE, IMPORTED if imported else f"{row.status} by this service"
            case _:
                assert_never(found)

    async def _new(self, mail: Mail, row: Row | None) -> tuple[Would, str]:
        ready = self.reading.making.ready(mail, replay=False, claimed=row is not None)
        match ready:
            case SkipRule():
                return Would.SKIPPED, ready
            case Bad():
                return Would.DEAD_LETTER, f"{ready.reason}: {ready.detail}"
            case Message():
                return await self._prepared(ready, mail.type.providers[0])
            case _:
                assert_never(ready)

    async def _prepared(self, message: Message, provider: str) -> tuple[Would, str]:
        prepared = await Rehearsal(self.fetcher).of(self.providers[provider], message)
        match prepared:
            case Prepared() | None:
                return Would.SEND, provider
            case Rejected(error):
                return Would.DEAD_LETTER, f"{Reason.REJECTED}: {error}"
            case Unfetched(error):
                return Would.DEAD_LETTER, f"{Reason.EXHAUSTED}: {error}"
            case _:
                assert_never(prepared)
