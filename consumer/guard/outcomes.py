"""Outcomes: the row and its dead letter in one transaction.

Nearly every outcome is "sent, by the flight that claimed it": those of a batch are one statement,
which settles the letters of their keys as well. All others, and what was fenced out of it, meet
their rows under a lock, where `transitions.decide` says what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from consumer.guard import letters, proofs, writes
from consumer.guard.privacy import Privacy
from consumer.guard.proofs import OnDouble
from consumer.guard.rows import lock
from consumer.guard.transitions import (
    Decision,
    Double,
    Foreign,
    Stands,
    Write,
    decide,
)
from consumer.guard.writes import Change
from consumer.model import (
    Fenced,
    Lease,
    Mail,
    MarkSent,
    MarkWaiting,
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
               outcome_due = m.outcome_due OR m.round > 0
          FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[])
               AS u(k, ep, tk, p, id)
         WHERE m.idempotency_key = u.k AND m.epoch = u.ep AND m.token = u.tk
           AND m.status = 'sending'
        RETURNING m.idempotency_key, m.event_type, m.topic, m."partition", m."offset",
                  m.record_timestamp, m.sent_at, m.token
    ), letters AS ({letters.settle_within("done")})
    SELECT token, sent_at FROM done
"""  # noqa: S608 - both halves are ours


@dataclass(frozen=True, slots=True)
class Ending:
    """One outcome to write: who flew, what it came to, and the record for a dead letter."""

    lease: Lease
    transition: Transition
    mail: Mail
    record: Record


async def record(
    connection: Any, endings: Sequence[Ending], on_double: OnDouble, privacy: Privacy
) -> list[RecordResult]:
    """Write each outcome, in order. Safe to repeat as a whole, whatever became of the first run."""
    results = await _sent(connection, endings)
    rest = {n: ending for n, ending in enumerate(endings) if n not in results}
    for wave in _waves(rest):
        async with connection.transaction():
            results |= await _under_lock(connection, wave, on_double, privacy)
    return [results[n] for n in range(len(endings))]


async def _sent(connection: Any, endings: Sequence[Ending]) -> dict[int, RecordResult]:
    """Write the flights' own acceptances in one statement; what it does not match is left out."""
    proofs = {
        ending.lease.token: (n, ending.lease, ending.transition)
        for n, ending in enumerate(endings)
        if isinstance(ending.transition, MarkSent) and ending.transition.by is None
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
    connection: Any, wave: dict[int, Ending], on_double: OnDouble, privacy: Privacy
) -> dict[int, RecordResult]:
    rows = await lock(connection, [ending.lease.key for ending in wave.values()])
    decisions = {
        n: decide(rows.get(ending.lease.key), ending.lease, ending.transition)
        for n, ending in wave.items()
    }
    sent_at = await _write(connection, wave, decisions, rows)
    await _write_letters(connection, wave, decisions, privacy)
    await _alarm(connection, wave, decisions, on_double)
    return {n: _result(wave[n], item, sent_at) for n, item in decisions.items()}


async def _write(
    connection: Any, wave: dict[int, Ending], decisions: dict[int, Decision], rows: dict[str, Row]
) -> dict[str, datetime | None]:
    changes = {
        n: Change(rows[wave[n].lease.key], item)
        for n, item in decisions.items()
        if isinstance(item, Write)
    }
    return await writes.apply(connection, changes.values())


async def _write_letters(
    connection: Any, wave: dict[int, Ending], decisions: dict[int, Decision], privacy: Privacy
) -> None:
    for n, item in decisions.items():
        if isinstance(item, Write) and item.letter is not None:
            ending, letter = wave[n], item.letter
            await letters.write(
                connection, ending.record, letter, privacy,
                key=ending.lease.key, mail_type=ending.mail.type.name,
            )  # fmt: skip


async def _alarm(
    connection: Any,
    wave: dict[int, Ending],
    decisions: dict[int, Decision],
    on_double: OnDouble,
) -> None:
    for n, item in decisions.items():
        proof = wave[n].transition
        if isinstance(item, Double) and isinstance(proof, MarkSent):
            await proofs.double(connection, item.row, proof, on_double)


def _result(
    ending: Ending, decision: Decision, sent_at: dict[str, datetime | None]
) -> RecordResult:
    match decision:
        case Write(attempts=attempts):
            if isinstance(ending.transition, MarkWaiting):
                ending.lease.attempts = attempts  # fewer, where the attempt was given back
            return Recorded(sent_at[ending.lease.key])
        case Stands(sent_at=at):
            return Recorded(at)
        case Foreign(row=row) | Double(row=row):
            return Fenced(row)
        case _:
            assert_never(decision)
