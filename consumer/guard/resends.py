"""One more mail for an event, because a person asks for it: the next version, under its own key.

    unknown, failed ─▶ discarded      the former row is closed, and its doubt stays on it
    sent, closed    ─▶ as it is
    (none)          ─▶ waiting        the new row has the record's coordinates, and a letter due now

All of it in one transaction under the former row's lock, and only if that row stands as the person
saw it: of two clicks, one makes a mail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from consumer.guard import history, letters, links
from consumer.guard.operators import DISCARD_OF_KEY, NotDone
from consumer.guard.privacy import Privacy
from consumer.guard.rows import find_key, lock
from consumer.guard.transitions import Letter
from consumer.model import IN_FLIGHT, Mail, Reason, Record, Row

CLOSE = """
    UPDATE sent_message
       SET topic = NULL, "partition" = NULL, "offset" = NULL, record_timestamp = NULL,
           epoch = epoch + 1,
           status = CASE WHEN status IN ('unknown', 'failed') THEN 'discarded' ELSE status END,
           outcome_due = outcome_due OR status IN ('unknown', 'failed')
     WHERE idempotency_key = $1
    RETURNING outcome_due
"""
# `first_attempt_at` stays empty until the first attempt; provider and account are those of before.
BIRTH = """
    INSERT INTO sent_message (idempotency_key, event_type, recipient, status, fingerprint,
        catalogue, provider, account, attempts, round, epoch, owner, token, topic, "partition",
        "offset", record_timestamp, claimed_at, outcome_due, version)
    VALUES ($1, $2, $3, 'waiting', $4, $5, $6, $7, 0, 0, 1, $8, $8, $9, $10, $11, $12, now(), true,
            $13)
    ON CONFLICT DO NOTHING RETURNING idempotency_key
"""
FORGOTTEN = """
    SELECT true FROM sent_message
     WHERE idempotency_key = $1 AND recipient = '' AND recipient_hash IS NULL
"""
DUE = """
    UPDATE dead_letter SET replay = true, note = $2
     WHERE idempotency_key = $1 AND status = 'parked'
"""


@dataclass(frozen=True, slots=True)
class Resend:
    """A wish for one more mail. `row`: as the person saw it; `mail.key`: the new one's.

    `token`: of this very wish, so that a repeat of it after a lost answer finds its own row.
    """

    row: Row
    mail: Mail
    record: Record
    note: str
    token: str


@dataclass(frozen=True, slots=True)
class Resent:
    key: str
    version: int


ResendResult: TypeAlias = Resent | NotDone


class LostError(Exception):
    """Inside the transaction only: the new key stands already, so nothing may be written."""


async def resend(connection: Any, wish: Resend, privacy: Privacy) -> ResendResult:
    """Close the former row and park the next version's record, due now."""
    born = await find_key(connection, wish.mail.key)
    if born is not None and born.owner == wish.token:
        return Resent(born.key, born.version)
    try:
        async with connection.transaction():
            old = (await lock(connection, [wish.row.key])).get(wish.row.key)
            why = await _why_not(connection, old, wish)
            if old is None or why is not None:
                return NotDone(why or "the row is gone")
            return await _make(connection, old, wish, privacy)
    except LostError:
        return NotDone(f"{wish.mail.key} stands already: look at it, and resend that one")


async def _why_not(connection: Any, old: Row | None, wish: Resend) -> str | None:
    if old is None:
        return f"the guard has no row of {wish.row.key} any more: it is older than guard.retention"
    if (newer := await links.after(connection, old.key)) is not None:
        return f"{old.key} was made again as {newer} already: look at that one, or resend it"
    if old.status in IN_FLIGHT:
        return f"{old.key} is {old.status}: it is still being sent, so no second one is made"
    if (old.epoch, old.status) != (wish.row.epoch, wish.row.status):
        return f"{old.key} is {old.status} by now: look at it again before you resend it"
    if old.coordinates != wish.record.coordinates:
        return f"{old.key} has no record of its own any more: publish the event again"
    return await forgotten(connection, old.key)


async def forgotten(connection: Any, key: str) -> str | None:
    """Say so where the recipient was forgotten: also before anybody is shown the mail."""
    if await connection.fetchval(FORGOTTEN, key) is None:
        return None
    return f"the recipient of {key} was forgotten: nothing is sent to them for it again"


async def _make(connection: Any, old: Row, wish: Resend, privacy: Privacy) -> Resent:
    told = await connection.fetchval(CLOSE, old.key)
    await connection.execute(DISCARD_OF_KEY, old.key, history.plain(wish.note))
    version = old.version + 1
    if await connection.fetchval(BIRTH, *_values(wish, old, version)) is None:
        raise LostError
    await _park(connection, wish, privacy)
    await links.write(connection, old, wish.mail.key, wish.note, due=told)
    return Resent(wish.mail.key, version)


async def _park(connection: Any, wish: Resend, privacy: Privacy) -> None:
    """The record's own letter goes over to the new key; where it has none, one is written."""
    letter = Letter(Reason.EXHAUSTED, f"asked for again: {history.plain(wish.note)}", 0)
    mail = wish.mail
    await letters.write(
        connection, wish.record, letter, privacy, key=mail.key, mail_type=mail.type.name
    )
    await connection.execute(DUE, mail.key, history.plain(wish.note))


def _values(wish: Resend, old: Row, version: int) -> tuple[Any, ...]:
    mail, at = wish.mail, wish.record
    return (
        mail.key, mail.type.name, mail.recipient, mail.fingerprint, mail.type.digest,
        old.provider, old.account, wish.token, at.topic, at.partition, at.offset, at.timestamp,
        version,
    )  # fmt: skip
