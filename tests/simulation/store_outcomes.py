"""Outcomes: the row, its dead letter and its line of history at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from consumer.guard.outcomes import ABANDONED, Ending
from consumer.guard.transitions import Decision, Double, Foreign, Letter, Stands, Write, decide
from consumer.model import (
    Fenced,
    MarkSent,
    MarkWaiting,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Status,
)
from tests.simulation import store_letters
from tests.simulation.store_tables import Database, Message, when

OnDouble = Callable[[Row, MarkSent], None]


def record(db: Database, endings: Sequence[Ending], on_double: OnDouble) -> list[RecordResult]:
    results = _sent(db, endings)
    rest = {n: ending for n, ending in enumerate(endings) if n not in results}
    for wave in _waves(rest):
        for n, ending in wave.items():
            results[n] = _under_lock(db, ending, on_double)
    return [results[n] for n in range(len(endings))]


def _sent(db: Database, endings: Sequence[Ending]) -> dict[int, RecordResult]:
    """Write the flights' own acceptances; what does not match is left out."""
    results: dict[int, RecordResult] = {}
    for n, ending in enumerate(endings):
        if isinstance(ending.transition, MarkSent) and _is_flying(db, ending):
            row = db.rows[ending.lease.key]
            _accepted(db, row, ending.transition, due=row.outcome_due or row.round > 0)
            results[n] = Recorded(when(row.sent_at))
    return results


def _is_flying(db: Database, ending: Ending) -> bool:
    row, lease = db.rows.get(ending.lease.key), ending.lease
    ours = row is not None and (row.epoch, row.token) == (lease.epoch, lease.token)
    return row is not None and ours and row.status is Status.SENDING


def _accepted(db: Database, row: Message, proof: MarkSent, *, due: bool) -> None:
    db.update(
        row, status=Status.SENT, provider=proof.provider, sent_at=db.now, lease_until=None,
        provider_message_id=proof.provider_message_id, doubt_since=None, doubt_provider=None,
        error=None, outcome_due=due,
    )  # fmt: skip
    store_letters.settle(db, row)


def _waves(endings: dict[int, Ending]) -> Iterable[dict[int, Ending]]:
    """Split into parts in which a key is met once, each in the order of its endings."""
    while endings:
        first = {ending.lease.key: n for n, ending in reversed(endings.items())}
        wave = {n: endings[n] for n in sorted(first.values())}
        yield wave
        endings = {n: ending for n, ending in endings.items() if n not in wave}


def _under_lock(db: Database, ending: Ending, on_double: OnDouble) -> RecordResult:
    row = db.rows.get(ending.lease.key)
    read = None if row is None else row.read(db.now)
    decision = decide(read, ending.lease, ending.transition)
    if isinstance(decision, Write) and row is not None:
        _write(db, row, decision)
        if decision.letter is not None:
            store_letters.write(
                db, ending.record, decision.letter, key=row.key, mail_type=ending.mail.type.name
            )
    return _result(db, ending, decision, on_double)


def _write(db: Database, row: Message, item: Write) -> None:
    sent, doubts = item.status is Status.SENT, item.doubts is not None
    since = row.doubt_since if row.doubt_since is not None or not doubts else db.now
    provider = row.doubt_provider if row.doubt_provider is not None else item.doubts
    db.update(
        row, status=item.status, attempts=item.attempts, error=item.error,
        lease_until=row.lease_until if item.keeps_lease else None,
        provider=row.provider if item.provider is None else item.provider,
        provider_message_id=item.provider_message_id or row.provider_message_id,
        sent_at=db.now if sent else None,
        doubt_since=None if sent else since,
        doubt_provider=None if sent else provider,
        outcome_due=row.outcome_due or item.due,
    )  # fmt: skip
    if item.settles:
        store_letters.settle(db, row)


def _result(db: Database, ending: Ending, decision: Decision, on_double: OnDouble) -> RecordResult:
    match decision:
        case Write(attempts=attempts):
            if isinstance(ending.transition, MarkWaiting):
                ending.lease.attempts = attempts
            return Recorded(when(db.rows[ending.lease.key].sent_at))
        case Stands(sent_at=at):
            return Recorded(at)
        case Foreign(row=row):
            return Fenced(row)
        case Double(row=row):
            if isinstance(ending.transition, MarkSent):
                on_double(row, ending.transition)
            return Fenced(row)


# ── Without a flight


def abandon(db: Database, row: Row, mail_type: str, found_by: Record) -> RecordResult:
    """`sending` with a dead lease -> `unknown`, at the epoch it was read at."""
    now = db.rows.get(row.key)
    if now is None or not _is_abandoned(now, row, db.now):
        return Fenced(None if now is None else now.read(db.now))
    db.update(
        now, status=Status.UNKNOWN, lease_until=None, error=ABANDONED,
        doubt_since=db.now if now.doubt_since is None else now.doubt_since,
        doubt_provider=now.provider if now.doubt_provider is None else now.doubt_provider,
    )  # fmt: skip
    letter = Letter(Reason.UNKNOWN, ABANDONED)
    store_letters.write(db, found_by, letter, key=row.key, mail_type=mail_type)
    return Recorded()


def _is_abandoned(now: Message, row: Row, clock: float) -> bool:
    same = now.epoch == row.epoch and now.status is Status.SENDING
    return same and not now.lease_live(clock)


def orphan(db: Database, row: Row, detail: str) -> RecordResult:
    """The record cannot be read any more: an open letter without it, for a person."""
    raise NotImplementedError


def prove(
    db: Database, key: str, proof: MarkSent, detail: str, on_double: OnDouble
) -> RecordResult:
    """Proof of acceptance, in every state, without a lease."""
    raise NotImplementedError
