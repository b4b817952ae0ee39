"""Further attempts of a flight that holds its row already.

Each has an epoch of its own: a count of attempts would not do, since some are given back, and a
write that was delayed on its way would then speak for the attempt after its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consumer.guard.rows import find_key
from consumer.guard.terms import Terms
from consumer.model import Fenced, Lease, Row, Status

NEXT_ATTEMPT = """
    UPDATE sent_message m
       SET status = 'sending', attempts = m.attempts + 1, epoch = m.epoch + 1,
           lease_until = now() + $1::interval, attempt_deadline = now() + $1::interval,
           first_attempt_at = CASE WHEN (m.provider, m.account) <> (u.p, u.a) THEN now()
                                   ELSE m.first_attempt_at END,
           provider = u.p, account = u.a, body_hash = u.bh
      FROM unnest($2::text[], $3::int[], $4::text[], $5::int[], $6::text[], $7::text[], $8::bytea[])
           AS u(k, ep, tk, n, p, a, bh)
     WHERE m.idempotency_key = u.k AND m.epoch = u.ep AND m.token = u.tk AND m.attempts = u.n
       AND m.status = 'waiting'
    RETURNING m.idempotency_key
"""


@dataclass(frozen=True, slots=True)
class Next:
    """A further attempt in the same flight."""

    lease: Lease
    provider: str
    account: str
    body_hash: bytes


async def next_attempt(
    connection: Any, items: Sequence[Next], terms: Terms
) -> list[Lease | Fenced]:
    """Start a further attempt of each flight: `waiting` -> `sending`, the lease renewed."""
    ordered = sorted(items, key=lambda item: item.lease.key)
    columns = zip(*map(_values, ordered), strict=True)
    rows = await connection.fetch(NEXT_ATTEMPT, terms.interval, *columns)
    started = {row["idempotency_key"] for row in rows}
    return [await _started(connection, item, item.lease.key in started, terms) for item in items]


async def _started(connection: Any, item: Next, started: bool, terms: Terms) -> Lease | Fenced:  # noqa: FBT001 - a fact about the item, not a switch
    lease = item.lease
    if not started:
        row = await find_key(connection, lease.key)
        if row is None or not _started_before(row, lease):
            return Fenced(row)
    lease.attempts += 1
    lease.epoch += 1
    lease.ends_at = max(lease.ends_at, terms.ends_at)
    return lease


def _started_before(row: Row, lease: Lease) -> bool:
    """The answer to our own COMMIT was lost: this attempt is counted already."""
    ours = (row.epoch, row.token) == (lease.epoch + 1, lease.token)
    return ours and row.status is Status.SENDING


def _values(item: Next) -> tuple[Any, ...]:
    lease = item.lease
    return (
        lease.key, lease.epoch, lease.token, lease.attempts,
        item.provider, item.account, item.body_hash,
    )  # fmt: skip
