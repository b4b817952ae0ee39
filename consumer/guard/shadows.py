"""What a service in shadow mode may do here: look as the line does, and note what it would do.

It has no other way to the tables: it cannot claim, so nothing of the guard is changed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from consumer import __version__
from consumer.guard.batches import Batches, OnBatch
from consumer.guard.history import plain
from consumer.guard.lanes import PINNED, TIMEOUTS, Address, Lane, Weather
from consumer.guard.rows import Place, Standing, find
from consumer.guard.schema import check_schema
from consumer.model import Coordinates, Row

# A record that comes again may be judged otherwise: the catalogue was mended, a list was imported.
NOTE = """
    INSERT INTO shadow (topic, "partition", "offset", record_timestamp, event_type, idempotency_key,
                        fingerprint, catalogue, what, detail, occurred_at)
    SELECT u.t, u.p, u.o, u.ts, u.e, u.k, u.f, u.c, u.w, u.d, u.at
      FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                  $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[])
           AS u(t, p, o, ts, e, k, f, c, w, d, at)
    ON CONFLICT (topic, "partition", "offset", record_timestamp) DO UPDATE
       SET event_type = excluded.event_type, idempotency_key = excluded.idempotency_key,
           fingerprint = excluded.fingerprint, catalogue = excluded.catalogue,
           what = excluded.what, detail = excluded.detail, occurred_at = excluded.occurred_at,
           noted_at = now()
"""
PAGE = """
    SELECT topic, "partition", "offset", record_timestamp, event_type, idempotency_key, fingerprint,
           catalogue, what, detail, occurred_at
      FROM shadow
     WHERE (topic, "partition", "offset", record_timestamp) > ($1, $2, $3, $4)
     ORDER BY topic, "partition", "offset", record_timestamp LIMIT $5
"""
# Some at a time: no statement takes long, and notes go on being written in between.
PRUNE = """
    DELETE FROM shadow s USING (
        SELECT ctid FROM shadow WHERE noted_at <= now() - $1::interval LIMIT $2) d
     WHERE s.ctid = d.ctid
"""
SOME = 5_000


class Would(StrEnum):
    """What a service that sends would have done with a record."""

    SEND = "send"
    DUPLICATE = "duplicate"  # its key has a row: imported, or of a service that sends already
    REFUSED = "refused"  # a conflict, or another key than before
    SKIPPED = "skipped"  # by a written rule
    DEAD_LETTER = "dead_letter"


@dataclass(frozen=True, slots=True)
class Note:
    """One record. `detail`: provider, rule or reason; no value from the record."""

    at: Coordinates
    would: Would
    detail: str
    mail_type: str | None = None
    key: str | None = None
    fingerprint: str | None = None
    catalogue: str | None = None  # the digest of the folder that made the fingerprint
    occurred_at: datetime | None = None


class Onlooker:
    """The guard of a service in shadow mode. Repeats while Postgres is away, as the guard does."""

    def __init__(self, address: Address, on_batch: OnBatch) -> None:
        self._weather = Weather()
        pinned = {**TIMEOUTS, **PINNED}
        self._looking = Lane(address, self._weather, pinned, "looks")
        self._noting = Lane(address, self._weather, TIMEOUTS, "notes")
        self._looks: Batches[Place, Standing] = Batches("look", self._find, on_batch)
        self._notes: Batches[Note, None] = Batches("note", self._write, on_batch)

    @classmethod
    async def open(
        cls,
        dsn: str | Callable[[], str],
        *,
        environment: str,
        on_batch: OnBatch,
        pgbouncer: bool = False,
        password: Callable[[], str | None] | None = None,
    ) -> Onlooker:
        """Check schema, stamp and rights as `Guard.open` does; raises `SetupError`."""
        address = Address(dsn, pgbouncer, password)
        await check_schema(address, environment=environment, release=__version__)
        return cls(address, on_batch)

    async def close(self) -> None:
        self._weather.closed.set()
        for lane in (self._looking, self._noting):
            await lane.close()
        for batches in (self._looks, self._notes):
            await batches.drain()

    @property
    def away_since(self) -> datetime | None:
        """Since when Postgres does not answer; None: it does."""
        return self._weather.down_since

    async def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        return (await self._looks.submit(Place(key, mail_type, at))).row

    async def note(self, note: Note) -> None:
        """Return when it is written: the record is finished then."""
        await self._notes.submit(note)

    async def prune(self, retention: float) -> int:
        """Delete some notes that are older than `retention` seconds; return how many."""
        return await self._noting.run(lambda c: prune(c, retention))

    async def _find(self, places: Sequence[Place]) -> list[Standing]:
        return await self._looking.run(lambda c: find(c, places))

    async def _write(self, notes: Sequence[Note]) -> list[None]:
        once = {note.at: _values(note) for note in notes}  # a statement may meet a row only once
        columns = list(zip(*once.values(), strict=True))
        await self._noting.run(lambda c: c.execute(NOTE, *columns))
        return [None] * len(notes)


# ── For the report


START = Coordinates("", 0, 0, 0)  # before every record


async def page(connection: Any, after: Coordinates, limit: int) -> list[Note]:
    """Return the next notes in the order of their records."""
    found = await connection.fetch(
        PAGE, after.topic, after.partition, after.offset, after.timestamp, limit
    )
    return [_note(values) for values in found]


async def prune(connection: Any, retention: float) -> int:
    """Delete some notes that are older than `retention` seconds; return how many."""
    done = await connection.execute(PRUNE, timedelta(seconds=retention), SOME)
    return int(str(done).rpartition(" ")[2])


def _values(note: Note) -> tuple[Any, ...]:
    at = note.at
    return (
        at.topic, at.partition, at.offset, at.timestamp, note.mail_type and plain(note.mail_type),
        note.key, note.fingerprint, note.catalogue, note.would, plain(note.detail),
        note.occurred_at,
    )  # fmt: skip


def _note(values: Any) -> Note:
    return Note(
        Coordinates(
            values["topic"], values["partition"], values["offset"], values["record_timestamp"]
        ),
        Would(values["what"]),
        values["detail"],
        values["event_type"],
        values["idempotency_key"],
        values["fingerprint"],
        values["catalogue"],
        values["occurred_at"],
    )
