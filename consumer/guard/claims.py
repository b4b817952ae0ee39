"""Claims: the insert that decides every race, and takeovers by epoch.

    INSERT .. ON CONFLICT DO NOTHING        bare: there are two unique indexes, and a conflict on
                                            either must not fail the whole batch
    UPDATE .. WHERE epoch, status as read   takeovers; the epoch rises and fences the former owner
    SELECT                                  the losers' rows, in a statement of its own: they are
                                            not in the first one's snapshot

A row read back in flight under our own token is ours: the answer to its COMMIT was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import asyncpg

from consumer.guard.rows import Place, Standing, find, find_key
from consumer.model import Claim, ClaimResult, Found, Granted, Lease, Row, Status, elapsed

INSERT = """
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, round, epoch, owner, token, lease_until,
        first_attempt_at, attempt_deadline, body_hash, topic, "partition", "offset",
        record_timestamp, claimed_at)
    SELECT u.k, u.e, u.r, 'sending', u.f, u.c, u.p, u.a, 1, 0, 1, $1, u.tk, now() + $2::interval,
           now(), now() + $2::interval, u.bh, u.t, u.pa, u.o, u.ts, now()
      FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                  $9::text[], $10::text[], $11::bytea[], $12::text[], $13::int[], $14::bigint[],
                  $15::bigint[]) AS u(k, e, r, f, c, p, a, tk, bh, t, pa, o, ts)
    ON CONFLICT DO NOTHING
    RETURNING idempotency_key AS key, token, epoch, attempts, round
"""

# A `failed` row starts anew, for the record at hand. A `waiting` one goes on, at its own
# coordinates, with the attempts it has left ($18: or with a new round). Doubt is not touched.
TAKE_OVER = """
    UPDATE sent_message m
       SET status = 'sending', epoch = m.epoch + 1, owner = $1, token = u.tk,
           lease_until = now() + $2::interval, attempt_deadline = now() + $2::interval,
           attempts = CASE WHEN m.status = 'failed' OR $18 THEN 1 ELSE m.attempts + 1 END,
           round = CASE WHEN m.status = 'failed' THEN 0 WHEN $18 THEN m.round + 1 ELSE m.round END,
           fingerprint = u.f, catalogue = u.c, recipient = u.r, body_hash = u.bh,
           first_attempt_at = CASE
               WHEN m.status = 'failed' OR (m.provider, m.account) <> (u.p, u.a) THEN now()
               ELSE m.first_attempt_at END,
           provider = u.p, account = u.a, error = NULL, claimed_at = now(),
           topic = CASE WHEN m.status = 'failed' THEN u.t ELSE m.topic END,
           "partition" = CASE WHEN m.status = 'failed' THEN u.pa ELSE m."partition" END,
           "offset" = CASE WHEN m.status = 'failed' THEN u.o ELSE m."offset" END,
           record_timestamp = CASE WHEN m.status = 'failed' THEN u.ts ELSE m.record_timestamp END
      FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                  $9::text[], $10::text[], $11::bytea[], $12::text[], $13::int[], $14::bigint[],
                  $15::bigint[], $16::int[], $17::text[])
           AS u(k, e, r, f, c, p, a, tk, bh, t, pa, o, ts, ep, st)
     WHERE m.idempotency_key = u.k AND m.epoch = u.ep AND m.status = u.st
       AND (m.status = 'failed'
            OR (m.status = 'waiting' AND coalesce(m.lease_until <= now(), true)))
    RETURNING m.idempotency_key AS key, m.token, m.epoch, m.attempts, m.round
"""

GIVE_UP_COORDINATES = """
    UPDATE sent_message
       SET topic = NULL, "partition" = NULL, "offset" = NULL, record_timestamp = NULL,
           epoch = epoch + 1
     WHERE "offset" = $1 AND "partition" = $2 AND topic = $3 AND event_type = $4
       AND record_timestamp = $5 AND idempotency_key <> $6 AND status = 'failed'
"""


@dataclass(frozen=True, slots=True)
class Terms:
    """On which a batch is claimed. `started`: read from `elapsed` before its first try went out."""

    owner: str
    lease: float
    started: float

    @classmethod
    def from_now(cls, owner: str, lease: float) -> Terms:
        return cls(owner, lease, elapsed())

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=self.lease)

    @property
    def ends_at(self) -> float:
        return self.started + self.lease


class LostError(Exception):
    """Inside a transaction only: the claim did not get its row, so nothing of it may stand."""


async def claim(connection: Any, claims: Sequence[Claim], terms: Terms) -> list[ClaimResult]:
    """Answer each claim, in order. Safe to repeat as a whole, whatever became of the first run."""
    results = await _round(connection, dict(enumerate(claims)), terms)
    while len(results) < len(claims):  # a row vanished between write and read: claim it as new
        gone = {n: item for n, item in enumerate(claims) if n not in results}
        again = {n: replace(item, takes=None) for n, item in gone.items()}
        results |= await _round(connection, again, terms)
    return [results[n] for n in range(len(claims))]


async def _round(connection: Any, claims: dict[int, Claim], terms: Terms) -> dict[int, ClaimResult]:
    """One insert, one takeover, one read; a claim whose row vanished meanwhile stays open."""
    won = await _write(connection, list(claims.values()), terms)
    results: dict[int, ClaimResult] = {
        n: won[item.token] for n, item in claims.items() if item.token in won
    }
    lost = {n: item for n, item in claims.items() if n not in results}
    if lost:
        standings = await find(connection, [_place(item) for item in lost.values()])
        for (n, item), standing in zip(lost.items(), standings, strict=True):
            result = await _lost(connection, item, standing, terms)
            if result is not None:
                results[n] = result
    return results


async def _write(connection: Any, claims: list[Claim], terms: Terms) -> dict[str, Granted]:
    """Insert what is new, take over what needs no other coordinates; granted, by token."""
    claims.sort(key=lambda item: item.mail.key)
    new = [item for item in claims if not _takes(item)]
    taken = [item for item in claims if _takes(item) and not _moves(item)]
    rows = [*await _insert(connection, new, terms), *await _take_over(connection, taken, terms)]
    return {row["token"]: Granted(_lease(row, terms)) for row in rows}


async def _insert(connection: Any, claims: list[Claim], terms: Terms) -> list[Any]:
    if not claims:
        return []
    return list(
        await connection.fetch(INSERT, terms.owner, terms.interval, *_columns(claims, _values))
    )


async def _take_over(
    connection: Any, claims: list[Claim], terms: Terms, *, new_round: bool = False
) -> list[Any]:
    if not claims:
        return []
    columns = _columns(claims, lambda item: (*_values(item), *_as_read(item)))
    return list(await connection.fetch(TAKE_OVER, terms.owner, terms.interval, *columns, new_round))


async def start_round(connection: Any, item: Claim, terms: Terms) -> ClaimResult:
    """Take over a `waiting` row whose round is used up: attempts from 1, in the next round."""
    rows = await _take_over(connection, [item], terms, new_round=True)
    if rows:
        return Granted(_lease(rows[0], terms))
    row = await find_key(connection, item.mail.key)
    if row is None:
        raise LookupError("the row of a parked record is gone")  # never pruned while it is open
    return Granted(_own(row, terms)) if _is_ours(row, item) else Found(row)


async def _lost(
    connection: Any, item: Claim, standing: Standing, terms: Terms
) -> ClaimResult | None:
    by_key, elsewhere = standing.by_key, standing.by_coordinates
    if by_key is not None and _is_ours(by_key, item):
        return Granted(_own(by_key, terms))
    if _moves(item) or (by_key is None and elsewhere and elsewhere.status is Status.FAILED):
        return await _claim_with_coordinates(connection, item, terms)
    return Found(row) if (row := standing.row) else None


async def _claim_with_coordinates(connection: Any, item: Claim, terms: Terms) -> ClaimResult | None:
    """Claim alone, after a `failed` row under another key gave up this record's coordinates."""
    try:
        async with connection.transaction():
            at = item.record
            await connection.execute(
                GIVE_UP_COORDINATES, at.offset, at.partition, at.topic, item.mail.type.name,
                at.timestamp, item.mail.key,
            )  # fmt: skip
            return await _claim_alone(connection, item, terms)
    except (LostError, asyncpg.UniqueViolationError):
        return _what_stands(item, (await find(connection, [_place(item)]))[0], terms)


async def _claim_alone(connection: Any, item: Claim, terms: Terms) -> Granted:
    rows = await (_take_over if _takes(item) else _insert)(connection, [item], terms)
    if not rows:
        raise LostError
    return Granted(_lease(rows[0], terms))


def _what_stands(item: Claim, standing: Standing, terms: Terms) -> ClaimResult | None:
    by_key, elsewhere = standing.by_key, standing.by_coordinates
    if by_key is not None and _is_ours(by_key, item):
        return Granted(_own(by_key, terms))
    if elsewhere is not None and elsewhere.status is not Status.FAILED:
        return Found(elsewhere)  # these coordinates are spoken for: drift, whatever the key's row
    return None if by_key is None else Found(by_key)


def _takes(item: Claim) -> bool:
    """A row found at the coordinates only, under another key, is not taken over but robbed."""
    return item.takes is not None and item.takes.key == item.mail.key


def _moves(item: Claim) -> bool:
    """A `failed` row starts anew for another record: its coordinates may stand elsewhere."""
    row = item.takes
    if row is None or not _takes(item) or row.status is not Status.FAILED:
        return False
    return row.coordinates != item.record.coordinates


def _as_read(item: Claim) -> tuple[int, str]:
    """A row that failed since it was read is not taken over: nobody judged that."""
    return (0, "") if item.takes is None else (item.takes.epoch, item.takes.status)


def _is_ours(row: Row, item: Claim) -> bool:
    return row.status is Status.SENDING and row.token == item.token


def _own(row: Row, terms: Terms) -> Lease:
    return Lease(row.key, row.epoch, row.token, terms.ends_at, row.attempts, row.round)


def _lease(row: Any, terms: Terms) -> Lease:
    return Lease(
        row["key"], row["epoch"], row["token"], terms.ends_at, row["attempts"], row["round"]
    )


def _place(item: Claim) -> Place:
    return Place(item.mail.key, item.mail.type.name, item.record.coordinates)


def _columns(items: Sequence[Any], values: Any) -> list[tuple[Any, ...]]:
    return list(zip(*map(values, items), strict=True))


def _values(item: Claim) -> tuple[Any, ...]:
    mail, record = item.mail, item.record
    return (
        mail.key, mail.type.name, mail.recipient, mail.fingerprint, mail.type.digest,
        item.provider, item.account, item.token, item.body_hash,
        record.topic, record.partition, record.offset, record.timestamp,
    )  # fmt: skip
