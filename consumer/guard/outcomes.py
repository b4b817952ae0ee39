"""Outcomes: the row and its dead letter in one transaction.

Nearly every outcome is "sent, by the flight that claimed it": those of a batch are one statement,
which settles the letters of their keys as well. All others, and what was fenced out of it, meet
their rows under a lock, where `transitions.decide` says what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from consumer.guard import letters
from consumer.guard.rows import lock
from consumer.guard.transitions import (
    Decision,
    Double,
    Foreign,
    Letter,
    Stands,
    Write,
    decide,
)
from consumer.model import (
    Fenced,
    Lease,
    Mail,
    MarkSent,
    MarkWaiting,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Transition,
)

# Only from `sending`: a row that left it may have parked others meanwhile, and their letters must
# be settled from a snapshot taken after its lock.
SENT = f"""
    WITH done AS (
        UPDATE sent_message m
           SET status = 'sent', provider = u.p, provider_message_id = u.id, sent_at = now(),
               lease_until = NULL, doubt_since = NULL, doubt_provider = NULL, error = NULL,
               outcome_due = m.round > 0
          FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[])
               AS u(k, ep, tk, p, id)
         WHERE m.idempotency_key = u.k AND m.epoch = u.ep AND m.token = u.tk
           AND m.status = 'sending'
        RETURNING m.idempotency_key, m.event_type, m.topic, m."partition", m."offset",
                  m.record_timestamp, m.sent_at, m.token
    ), letters AS ({letters.settle_within("done")})
    SELECT token, sent_at FROM done
"""  # noqa: S608 - both halves are ours

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
           outcome_due = m.outcome_due OR u.due
      FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bool[], $6::text[],
                  $7::text[], $8::text[], $9::bool[]) AS u(k, s, n, e, l, p, id, d, due)
     WHERE m.idempotency_key = u.k
    RETURNING m.idempotency_key, m.sent_at
"""

ABANDON = """
    UPDATE sent_message
       SET status = 'unknown', lease_until = NULL, error = $3,
           doubt_since = coalesce(doubt_since, now()),
           doubt_provider = coalesce(doubt_provider, provider)
     WHERE idempotency_key = $1 AND epoch = $2 AND status = 'sending' AND lease_until <= now()
    RETURNING idempotency_key
"""


@dataclass(frozen=True, slots=True)
class Ending:
    """One outcome to write: who flew, what it came to, and the record for a dead letter."""

    lease: Lease
    transition: Transition
    mail: Mail
    record: Record


OnDouble = Callable[[Row, MarkSent], None]


async def record(
    connection: Any, endings: Sequence[Ending], on_double: OnDouble
) -> list[RecordResult]:
    """Write each outcome, in order. Safe to repeat as a whole, whatever became of the first run."""
    results = await _sent(connection, endings)
    rest = {n: ending for n, ending in enumerate(endings) if n not in results}
    for wave in _waves(rest):
        async with connection.transaction():
            results |= await _under_lock(connection, wave, on_double)
    return [results[n] for n in range(len(endings))]


async def _sent(connection: Any, endings: Sequence[Ending]) -> dict[int, RecordResult]:
    """Write the flights' own acceptances in one statement; what it does not match is left out."""
    proofs = {
        ending.lease.token: (n, ending.lease, ending.transition)
        for n, ending in enumerate(endings)
        if isinstance(ending.transition, MarkSent)
    }
    if not proofs:
        return {}
    rows = sorted(
        (lease.key, lease.epoch, lease.token, proof.provider, proof.provider_message_id)
        for _, lease, proof in proofs.values()
    )
    done = await connection.fetch(SENT, *zip(*rows, strict=True))
    return {proofs[row["token"]][0]: Recorded(row["sent_at"]) for row in done}


def _waves(endings: dict[int, Ending]) -> Iterable[dict[int, Ending]]:
    """Split into parts in which a key is met once: a second outcome must see the first."""
    while endings:
        first = {ending.lease.key: n for n, ending in reversed(endings.items())}
        wave = {n: endings[n] for n in sorted(first.values())}
        yield wave
        endings = {n: ending for n, ending in endings.items() if n not in wave}


async def _under_lock(
    connection: Any, wave: dict[int, Ending], on_double: OnDouble
) -> dict[int, RecordResult]:
    rows = await lock(connection, [ending.lease.key for ending in wave.values()])
    decisions = {
        n: decide(rows.get(ending.lease.key), ending.lease, ending.transition)
        for n, ending in wave.items()
    }
    writes = {n: item for n, item in decisions.items() if isinstance(item, Write)}
    sent_at = await _write(connection, wave, writes)
    return {n: _result(wave[n], item, sent_at, on_double) for n, item in decisions.items()}


async def _write(
    connection: Any, wave: dict[int, Ending], writes: dict[int, Write]
) -> dict[str, Any]:
    if not writes:
        return {}
    rows = [_values(wave[n].lease.key, item) for n, item in writes.items()]
    done = await connection.fetch(WRITE, *zip(*rows, strict=True))
    settled = [wave[n].lease.key for n, item in writes.items() if item.settles]
    if settled:
        await letters.settle(connection, settled)
    for n, item in writes.items():
        if item.letter is not None:
            await _write_letter(connection, wave[n], item.letter)
    return {row["idempotency_key"]: row["sent_at"] for row in done}


async def _write_letter(connection: Any, ending: Ending, letter: Letter) -> None:
    await letters.write(
        connection, ending.record, letter, key=ending.lease.key, mail_type=ending.mail.type.name
    )


def _result(
    ending: Ending, decision: Decision, sent_at: dict[str, Any], on_double: OnDouble
) -> RecordResult:
    match decision:
        case Write(attempts=attempts):
            if isinstance(ending.transition, MarkWaiting):
                ending.lease.attempts = attempts  # fewer, where the attempt was given back
            return Recorded(sent_at[ending.lease.key])
        case Stands(sent_at=at):
            return Recorded(at)
        case Foreign(row=row):
            return Fenced(row)
        case Double(row=row):
            if isinstance(ending.transition, MarkSent):
                on_double(row, ending.transition)
            return Fenced(row)


async def abandon(connection: Any, row: Row, mail: Mail, found_by: Record) -> RecordResult:
    """Turn a `sending` row whose lease is dead to `unknown`, at the epoch it was read at."""
    letter = Letter(Reason.UNKNOWN, ABANDONED)
    async with connection.transaction():
        done = await connection.fetch(ABANDON, row.key, row.epoch, ABANDONED)
        if done:
            await letters.write(connection, found_by, letter, key=row.key, mail_type=mail.type.name)
            return Recorded()
        rows = await lock(connection, [row.key])
        return Fenced(rows.get(row.key))


ABANDONED = "its worker vanished in the middle of an attempt"


def _values(key: str, item: Write) -> tuple[Any, ...]:
    return (
        key, item.status, item.attempts, item.error, item.keeps_lease, item.provider,
        item.provider_message_id, item.doubts, item.due,
    )  # fmt: skip
