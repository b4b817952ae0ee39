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
from dataclasses import replace
from typing import Any

import asyncpg

from consumer.guard.rows import Place, Standing, find, gives_way
from consumer.guard.takeovers import take_over
from consumer.guard.terms import Terms, columns, is_ours, lease_of, own_lease, values_of
from consumer.model import Claim, ClaimResult, Found, Granted, Status

INSERT = """
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, round, epoch, owner, token, lease_until,
        first_attempt_at, attempt_deadline, body_hash, topic, "partition", "offset",
        record_timestamp, claimed_at, outcome_due)
    SELECT u.k, u.e, u.r, 'sending', u.f, u.c, u.p, u.a, 1, 0, 1, $1, u.tk, now() + $2::interval,
           now(), now() + $2::interval, u.bh, u.t, u.pa, u.o, u.ts, now(), {late}
      FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                  $9::text[], $10::text[], $11::bytea[], $12::text[], $13::int[], $14::bigint[],
                  $15::bigint[]) AS u(k, e, r, f, c, p, a, tk, bh, t, pa, o, ts)
    ON CONFLICT DO NOTHING
    RETURNING idempotency_key AS key, token, epoch, attempts, round
"""
IN_TIME, LATE = INSERT.format(late="false"), INSERT.format(late="true")

GIVE_UP_COORDINATES = """
    UPDATE sent_message
       SET topic = NULL, "partition" = NULL, "offset" = NULL, record_timestamp = NULL,
           epoch = epoch + 1
     WHERE "offset" = $1 AND "partition" = $2 AND topic = $3 AND event_type = $4
       AND record_timestamp = $5 AND idempotency_key <> $6 AND status = 'failed'
       AND version = 1
"""


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
    rows = [*await _insert(connection, new, terms), *await take_over(connection, taken, terms)]
    return {row["token"]: Granted(lease_of(row, terms)) for row in rows}


async def _insert(connection: Any, claims: list[Claim], terms: Terms) -> list[Any]:
    """Insert new rows; those of records that are finished already are due from the start."""
    rows: list[Any] = []
    for statement, late in ((IN_TIME, False), (LATE, True)):
        if items := [item for item in claims if item.late is late]:
            values = columns(items, values_of)
            rows += await connection.fetch(statement, terms.owner, terms.interval, *values)
    return rows


async def _lost(
    connection: Any, item: Claim, standing: Standing, terms: Terms
) -> ClaimResult | None:
    by_key, elsewhere = standing.by_key, standing.by_coordinates
    if by_key is not None and is_ours(by_key, item):
        return Granted(own_lease(by_key, terms))
    if _moves(item) or (by_key is None and elsewhere and gives_way(elsewhere)):
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
    rows = await (take_over if _takes(item) else _insert)(connection, [item], terms)
    if not rows:
        raise LostError
    return Granted(lease_of(rows[0], terms))


def _what_stands(item: Claim, standing: Standing, terms: Terms) -> ClaimResult | None:
    by_key, elsewhere = standing.by_key, standing.by_coordinates
    if by_key is not None and is_ours(by_key, item):
        return Granted(own_lease(by_key, terms))
    if elsewhere is not None and not gives_way(elsewhere):
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


def _place(item: Claim) -> Place:
    return Place(item.mail.key, item.mail.type.name, item.record.coordinates)
