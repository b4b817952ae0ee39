"""What was decided about a locked row, written: the row, its letters settled, its history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumer.guard import history, letters
from consumer.guard.history import Entry
from consumer.guard.transitions import Write
from consumer.model import Row, Status

WRITE = """
    UPDATE sent_message m
       SET status = u.s, attempts = u.n, error = u.e,
           lease_until = CASE WHEN u.l THEN m.lease_until END,
           provider = coalesce(u.p, m.provider),
           provider_message_id = coalesce(u.id, m.provider_message_id),
           sent_at = CASE WHEN u.s = 'sent' THEN now() END,
           doubt_since = CASE WHEN u.s = 'sent' THEN NULL
               WHEN u.d IS NOT NULL THEN coalesce(m.doubt_since, now()) ELSE m.doubt_since END,
           doubt_provider = CASE WHEN u.s = 'sent' THEN NULL
               WHEN u.d IS NOT NULL THEN coalesce(m.doubt_provider, u.d)
               ELSE m.doubt_provider END,
           settled_by = coalesce(u.by, m.settled_by),
           outcome_due = m.outcome_due OR u.due
      FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bool[], $6::text[],
                  $7::text[], $8::text[], $9::text[], $10::bool[])
           AS u(k, s, n, e, l, p, id, d, by, due)
     WHERE m.idempotency_key = u.k
    RETURNING m.idempotency_key, m.sent_at
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A row as it stood under its lock, and what becomes of it. `detail`: where a proof is from."""

    row: Row
    write: Write
    detail: str = ""


async def apply(connection: Any, changes: Iterable[Change]) -> dict[str, datetime | None]:
    """Write the changes, one a key; return `sent_at` by key. Wants the locks of their rows."""
    items = list(changes)
    if not items:
        return {}
    done = await connection.fetch(WRITE, *zip(*map(_values, items), strict=True))
    settled = [item.row.key for item in items if item.write.settles]
    if settled:
        await letters.settle(connection, settled)
    await history.write(connection, map(_line, items))
    return {values["idempotency_key"]: values["sent_at"] for values in done}


def _line(item: Change) -> Entry:
    row, write = item.row, item.write
    parked = write.status is Status.WAITING and write.letter is not None
    detail = write.error or ""
    if write.by is not None:
        detail = f"by {write.by}: {item.detail}" if item.detail else f"by {write.by}"
    return Entry(
        row.key, "parked" if parked else write.status, write.provider or row.provider, row.account,
        row.epoch, row.attempts, write.provider_message_id, detail, write.due,
    )  # fmt: skip


def _values(item: Change) -> tuple[Any, ...]:
    write = item.write
    return (
        item.row.key, write.status, write.attempts, write.error, write.keeps_lease, write.provider,
        write.provider_message_id, write.doubts, write.by, write.due,
    )  # fmt: skip
