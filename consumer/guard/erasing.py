"""What is known of one person, taken out of rows, letters and texts: the statements."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from consumer.guard import history, rows
from consumer.guard.history import Entry
from consumer.guard.mentions import CUT
from consumer.model import Mail, Record, Row, Status

BLOCKS: Final = 2048  # of 8 kB, looked through at once
MANY: Final = 100_000  # lines, likewise
CLOSES: Final = (Status.WAITING, Status.UNKNOWN, Status.FAILED)  # each might be sent some day

SIZE = "SELECT pg_relation_size('sent_message') / current_setting('block_size')::bigint"
ADDRESSED = """
    SELECT m.idempotency_key FROM sent_message m
     WHERE m.ctid >= $1::tid AND m.ctid < $2::tid
       AND (lower(m.recipient) = $3 OR m.recipient_hash = $4)
"""
ERASE = """
    UPDATE sent_message m
       SET recipient = '', recipient_hash = NULL, lease_until = NULL,
           status = CASE WHEN u.closes THEN 'discarded' ELSE m.status END,
           epoch = CASE WHEN u.closes THEN m.epoch + 1 ELSE m.epoch END,
           outcome_due = m.outcome_due OR u.closes
      FROM unnest($1::text[], $2::bool[]) AS u(k, closes) WHERE m.idempotency_key = u.k
"""
# Of a record that never became a mail: nor shall it when its topic is read again.
TAKE = """
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, epoch, owner, token, topic, "partition", "offset",
        record_timestamp, claimed_at)
    VALUES ($1, $2, '', 'discarded', $3, $4, '', '', 0, 1, 'forgotten', 'forgotten', $5, $6, $7, $8,
            now())
    ON CONFLICT DO NOTHING RETURNING idempotency_key
"""
OF_KEYS = """
    SELECT d.id FROM dead_letter d
     WHERE d.idempotency_key = ANY($1::text[]) AND d.wiped_at IS NULL
"""
# A letter that another person's open row needs is emptied, and stays where it is. What was noted of
# it before stays as well, as it does in the history; the address in it is cut out with all others.
WIPE = """
    UPDATE dead_letter d
       SET record_key = NULL, record_value = NULL, header_names = '{}', header_values = '{}',
           sealed = NULL, wiped_at = now(), replay = d.replay AND x.stays,
           note = concat_ws('; then ', d.note, $2::text),
           status = CASE WHEN x.stays THEN d.status ELSE 'discarded' END,
           next_check_at = CASE WHEN x.stays THEN d.next_check_at END
      FROM (SELECT l.id, l.status NOT IN ('open', 'parked') OR EXISTS (
                SELECT FROM sent_message m WHERE m.idempotency_key = l.idempotency_key
                   AND m.status IN ('sending', 'waiting', 'unknown')) AS stays
              FROM dead_letter l WHERE l.id = ANY($1::bigint[])) AS x
     WHERE d.id = x.id AND d.wiped_at IS NULL
    RETURNING d.id
"""
# `***=`: what follows is the text itself, and no expression.
CUT_OUT = """
    WITH done AS (
        UPDATE {table} SET {column} = regexp_replace({column}, '***=' || $1::text, '{cut}', 'gi')
         WHERE {some} AND position($1::text IN lower({column})) > 0 RETURNING 1)
    SELECT count(*) FROM done
"""
SMALL: Final = (("shadow", "detail"), ("pause", '"by"'), ("pause", "why"))
BY_ID: Final = (("history", "detail"), ("dead_letter", "detail"), ("dead_letter", "note"))


@dataclass(frozen=True, slots=True)
class Erased:
    """`closed`: of the rows, how many might still have been sent; `flying`: left alone."""

    rows: int
    closed: int
    letters: int
    flying: frozenset[str]


async def addressed(connection: Any, first: int, address: str, hashed: bytes | None) -> list[str]:
    """Return the keys of an address in the next blocks of the table."""
    found = await connection.fetch(ADDRESSED, (first, 0), (first + BLOCKS, 0), address, hashed)
    return sorted(values["idempotency_key"] for values in found)


async def erase(connection: Any, keys: Sequence[str], note: str) -> Erased:
    """Empty these rows and their letters; what is in flight, or was when its worker died, waits."""
    async with connection.transaction():
        known = (await rows.lock(connection, keys)).values()
        gone = [row for row in known if not (row.lease_live or row.status is Status.SENDING)]
        closes = [row.status in CLOSES for row in gone]
        named = [row.key for row in gone]
        await connection.execute(ERASE, named, closes)
        await history.write(connection, [_line(row, note) for row in gone])
        letters = [values["id"] for values in await connection.fetch(OF_KEYS, named)]
        wiped = await wipe(letters, note, connection)
    flying = frozenset(row.key for row in known) - frozenset(named)
    return Erased(len(gone), sum(closes), wiped, flying)


def _line(row: Row, note: str) -> Entry:
    return replace(history.entry(row, "forgotten", note), due=row.status in CLOSES)


async def wipe(letter_ids: Sequence[int], note: str, connection: Any) -> int:
    return len(await connection.fetch(WIPE, letter_ids, note)) if letter_ids else 0


async def take(mail: Mail, at: Record, note: str, connection: Any) -> None:
    """Have the key of a mail that was never made refuse it from now on."""
    place = at.topic, at.partition, at.offset, at.timestamp
    kind = mail.type
    async with connection.transaction():
        if await connection.fetchval(
            TAKE, mail.key, kind.name, mail.fingerprint, kind.digest, *place
        ):
            line = Entry(mail.key, "forgotten", None, None, 1, 0, detail=note)
            await history.write(connection, [line])


async def last_of(table: str, connection: Any) -> int:
    """Return how far a table goes: its last id, or of the rows their blocks."""
    last = SIZE if table == "sent_message" else f"SELECT coalesce(max(id), 0) FROM {table}"  # noqa: S608 - names of ours
    return int(await connection.fetchval(last))


def texts(lasts: dict[str, int]) -> Iterator[str]:
    """Yield the statements that cut a text ($1) out of every column in which there may be one."""
    for table, column in SMALL:
        yield _cutting(table, column, "true")
    for table, column in BY_ID:
        for first in range(0, lasts[table] + 1, MANY):
            yield _cutting(table, column, f"id >= {first} AND id < {first + MANY}")
    for first in range(0, lasts["sent_message"] + 1, BLOCKS):
        some = f"ctid >= '({first},0)' AND ctid < '({first + BLOCKS},0)'"
        yield _cutting("sent_message", "error", some)


async def cut(statement: str, text: str, connection: Any) -> int:
    """Run one of these; return how many texts held it."""
    return int(await connection.fetchval(statement, text))


def _cutting(table: str, column: str, some: str) -> str:
    return CUT_OUT.format(table=table, column=column, some=some, cut=CUT)


def searched() -> Collection[str]:
    """Return the tables whose texts are searched piece by piece."""
    return {table for table, _ in BY_ID} | {"sent_message"}
