"""Rows that are taken over from whoever had them, exactly as they were judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consumer.guard import history
from consumer.guard.history import Entry
from consumer.guard.rows import find_key
from consumer.guard.terms import Terms, columns, is_ours, lease_of, own_lease, values_of
from consumer.model import Claim, ClaimResult, Found, Granted, Status

# A `failed` row starts anew, for the record at hand. A `waiting` one goes on, at its own
# coordinates, with the attempts it has left ($21: or with a new round). An `unknown` one stays in
# doubt, and with the account that sent, unless it was proven never sent; its record is finished,
# so upstream hears from the row.
TAKE_OVER = """
    UPDATE sent_message m
       SET status = 'sending', epoch = m.epoch + 1, owner = $1, token = u.tk,
           lease_until = now() + $2::interval, attempt_deadline = now() + $2::interval,
           attempts = CASE WHEN m.status = 'failed' OR $21 THEN 1 ELSE m.attempts + 1 END,
           round = CASE WHEN m.status = 'failed' THEN 0 WHEN $21 THEN m.round + 1 ELSE m.round END,
           fingerprint = u.f, catalogue = u.c, recipient = u.r, body_hash = u.bh,
           first_attempt_at = CASE
               WHEN m.status = 'failed' OR (m.provider, m.account) <> (u.p, u.a) THEN now()
               ELSE coalesce(m.first_attempt_at, now()) END,
           provider = u.p, account = u.a, error = NULL, claimed_at = now(),
           doubt_since = CASE WHEN u.cl THEN NULL ELSE m.doubt_since END,
           doubt_provider = CASE WHEN u.cl THEN NULL ELSE m.doubt_provider END,
           settled_by = CASE WHEN m.status = 'failed' THEN NULL
               WHEN m.status = 'unknown' AND u.cl THEN 'absence' ELSE m.settled_by END,
           outcome_due = m.outcome_due OR u.late OR m.status = 'unknown',
           topic = CASE WHEN m.status = 'failed' THEN u.t ELSE m.topic END,
           "partition" = CASE WHEN m.status = 'failed' THEN u.pa ELSE m."partition" END,
           "offset" = CASE WHEN m.status = 'failed' THEN u.o ELSE m."offset" END,
           record_timestamp = CASE WHEN m.status = 'failed' THEN u.ts ELSE m.record_timestamp END
      FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                  $9::text[], $10::text[], $11::bytea[], $12::text[], $13::int[], $14::bigint[],
                  $15::bigint[], $16::int[], $17::text[], $18::int[], $19::bool[], $20::bool[])
           AS u(k, e, r, f, c, p, a, tk, bh, t, pa, o, ts, ep, st, n, cl, late)
     WHERE m.idempotency_key = u.k AND m.epoch = u.ep AND m.status = u.st AND m.attempts = u.n
       AND (m.status = 'failed'
            OR (m.status = 'waiting' AND coalesce(m.lease_until <= now(), true))
            OR (m.status = 'unknown' AND (u.cl OR (m.provider, m.account) = (u.p, u.a))))
    RETURNING m.idempotency_key AS key, m.token, m.epoch, m.attempts, m.round, m.provider,
              m.account, u.st AS status, u.cl AS cleared
"""


async def take_over(
    connection: Any, claims: Sequence[Claim], terms: Terms, *, new_round: bool = False
) -> list[Any]:
    """Take over each claim's row if it stands as it was read; return what was taken."""
    if not claims:
        return []
    parts = columns(claims, lambda item: (*values_of(item), *_as_read(item)))
    async with connection.transaction():
        taken = await connection.fetch(TAKE_OVER, terms.owner, terms.interval, *parts, new_round)
        await history.write(connection, [_line(values, new_round=new_round) for values in taken])
    return list(taken)


async def start_round(connection: Any, item: Claim, terms: Terms) -> ClaimResult:
    """Take over a `waiting` row whose round is used up: attempts from 1, in the next round."""
    rows = await take_over(connection, [item], terms, new_round=True)
    if rows:
        return Granted(lease_of(rows[0], terms))
    row = await find_key(connection, item.mail.key)
    if row is None:
        raise LookupError("the row of a parked record is gone")  # never pruned while it is open
    return Granted(own_lease(row, terms)) if is_ours(row, item) else Found(row)


def _as_read(item: Claim) -> tuple[Any, ...]:
    """A row that has failed, or made an attempt, since it was read: nobody judged that."""
    row = item.takes
    epoch, status, attempts = (0, "", 0) if row is None else (row.epoch, row.status, row.attempts)
    return epoch, status, attempts, item.clears_doubt, item.late


def _line(values: Any, *, new_round: bool) -> Entry:
    return Entry(
        values["key"], "taken over", values["provider"], values["account"], values["epoch"],
        values["attempts"], detail=_why(Status(values["status"]), values, new_round=new_round),
    )  # fmt: skip


def _why(status: Status, values: Any, *, new_round: bool) -> str:
    if status is Status.UNKNOWN:
        return "never sent, by absence" if values["cleared"] else "once more, in doubt"
    if status is Status.FAILED:
        return "failed before"
    return "the next round" if new_round else "its attempts go on"
