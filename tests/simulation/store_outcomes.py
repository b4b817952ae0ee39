"""Outcomes: the row, its dead letter and its line of history at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from consumer.guard.history import Entry, entry
from consumer.guard.outcomes import Ending
from consumer.guard.sweep import ABANDONED
from consumer.guard.transitions import (
    Decision,
    Double,
    Foreign,
    Letter,
    Stands,
    Write,
    decide,
    proven,
)
from consumer.model import (
    FIRST_LOOK,
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
from tests.simulation.store_columns import Message, when
from tests.simulation.store_tables import Database

OnDouble = Callable[[Row, MarkSent], None]


def record(db: Database, endings: Sequence[Ending], on_double: OnDouble) -> list[RecordResult]:
    results = _sent(db, endings)
    rest = {n: ending for n, ending in enumerate(endings) if n not in results}
    for wave in _waves(rest):
        results |= _under_lock(db, wave, on_double)
    return [results[n] for n in range(len(endings))]


def _sent(db: Database, endings: Sequence[Ending]) -> dict[int, RecordResult]:
    """Write the flights' own acceptances, one a token; what does not match is left out."""
    results: dict[int, RecordResult] = {}
    for n in _plain_proofs(endings):
        ending, proof = endings[n], endings[n].transition
        if isinstance(proof, MarkSent) and _is_flying(db, ending):
            row = db.rows[ending.lease.key]
            _accepted(db, row, proof)
            results[n] = Recorded(when(row.sent_at))
    return results


def _plain_proofs(endings: Sequence[Ending]) -> Iterable[int]:
    last = {
        ending.lease.token: n
        for n, ending in enumerate(endings)
        if isinstance(ending.transition, MarkSent) and ending.transition.by is None
    }
    return last.values()


def _is_flying(db: Database, ending: Ending) -> bool:
    row, lease = db.rows.get(ending.lease.key), ending.lease
    ours = row is not None and (row.epoch, row.token) == (lease.epoch, lease.token)
    return row is not None and ours and row.status is Status.SENDING


def _accepted(db: Database, row: Message, proof: MarkSent) -> None:
    db.update(
        row, status=Status.SENT, provider=proof.provider, sent_at=db.now, lease_until=None,
        provider_message_id=proof.provider_message_id, doubt_since=None, doubt_provider=None,
        error=None, outcome_due=row.outcome_due or row.round > 0,
    )  # fmt: skip
    store_letters.settle(db, row)


def _waves(endings: dict[int, Ending]) -> Iterable[dict[int, Ending]]:
    """Split into parts in which a key is met once, each in the order of its endings."""
    while endings:
        first = {ending.lease.key: n for n, ending in reversed(endings.items())}
        wave = {n: endings[n] for n in sorted(first.values())}
        yield wave
        endings = {n: ending for n, ending in endings.items() if n not in wave}


def _under_lock(
    db: Database, wave: dict[int, Ending], on_double: OnDouble
) -> dict[int, RecordResult]:
    """Decide about all, then write: rows, letters settled, history; new letters; alarms."""
    rows = {n: db.rows.get(ending.lease.key) for n, ending in wave.items()}
    reads = {n: None if row is None else row.read(db.now) for n, row in rows.items()}
    decisions = {n: decide(reads[n], it.lease, it.transition) for n, it in wave.items()}
    apply(db, [(reads[n], item, "") for n, item in decisions.items() if isinstance(item, Write)])
    for n, item in decisions.items():
        if isinstance(item, Write) and item.letter is not None:
            key, mail_type = wave[n].lease.key, wave[n].mail.type.name
            store_letters.write(db, wave[n].record, item.letter, key=key, mail_type=mail_type)
    for n, item in decisions.items():
        proof = wave[n].transition
        if isinstance(item, Double) and isinstance(proof, MarkSent):
            _double(db, item.row, proof, on_double)
    return {n: _result(db, wave[n], item) for n, item in decisions.items()}


def apply(db: Database, changes: Sequence[tuple[Row | None, Write, str]]) -> None:
    """Write what was decided about rows as they stood; the text says where a proof is from."""
    for row, item, _ in changes:
        assert row is not None
        _write(db, db.rows[row.key], item)
    for row, item, _ in changes:
        if item.settles and row is not None:
            store_letters.settle(db, db.rows[row.key])
    for row, item, detail in changes:
        assert row is not None
        db.write_line(_line(row, item, detail))


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
        settled_by=row.settled_by if item.by is None else item.by,
        outcome_due=row.outcome_due or item.due,
    )  # fmt: skip


def _line(row: Row, item: Write, detail: str) -> Entry:
    parked = item.status is Status.WAITING and item.letter is not None
    text = item.error or ""
    if item.by is not None:
        text = f"by {item.by}: {detail}" if detail else f"by {item.by}"
    return Entry(
        row.key, "parked" if parked else item.status, item.provider or row.provider, row.account,
        row.epoch, row.attempts, item.provider_message_id, text, item.due,
    )  # fmt: skip


def _result(db: Database, ending: Ending, decision: Decision) -> RecordResult:
    match decision:
        case Write(attempts=attempts):
            if isinstance(ending.transition, MarkWaiting):
                ending.lease.attempts = attempts
            return Recorded(when(db.rows[ending.lease.key].sent_at))
        case Stands(sent_at=at):
            return Recorded(at)
        case Foreign(row=row) | Double(row=row):
            return Fenced(row)


# ── Without a flight


def abandon(db: Database, row: Row, mail_type: str, found_by: Record) -> RecordResult:
    """`sending` with a dead lease -> `unknown`, at the epoch it was read at."""
    now = db.rows.get(row.key)
    if now is None or not _is_abandoned(now, row, db.now):
        return Fenced(None if now is None else now.read(db.now))
    _abandon(db, now)
    letter = Letter(Reason.UNKNOWN, ABANDONED, FIRST_LOOK)
    store_letters.write(db, found_by, letter, key=row.key, mail_type=mail_type)
    db.write_line(entry(row, "abandoned", ABANDONED))
    return Recorded()


def _is_abandoned(now: Message, row: Row, clock: float) -> bool:
    same = now.epoch == row.epoch and now.status is Status.SENDING
    return same and not now.lease_live(clock)


def _abandon(db: Database, row: Message) -> None:
    db.update(
        row, status=Status.UNKNOWN, lease_until=None, error=ABANDONED,
        doubt_since=db.now if row.doubt_since is None else row.doubt_since,
        doubt_provider=row.provider if row.doubt_provider is None else row.doubt_provider,
    )  # fmt: skip


def orphan(db: Database, row: Row, detail: str) -> None:
    """Show a person an open row whose record cannot be read any more."""
    now = db.rows.get(row.key)
    if now is None or (now.epoch, now.status) != (row.epoch, row.status) or now.lease_live(db.now):
        return
    before, at = now.read(db.now), row.coordinates
    if at is None:
        raise LookupError("an open row without coordinates")
    if now.status is Status.SENDING:
        _abandon(db, now)
    gone = Record(at.topic, at.partition, at.offset, at.timestamp, None, None, ())
    letter = Letter(Reason.ORPHANED, detail)
    store_letters.write(db, gone, letter, key=row.key, mail_type=row.mail_type)
    db.write_line(entry(before, "orphaned", detail))


def prove(
    db: Database, key: str, proof: MarkSent, detail: str, on_double: OnDouble
) -> RecordResult:
    """Proof of acceptance that belongs to no flight: taken in every state."""
    row = db.rows.get(key)
    return Fenced(None) if row is None else take(db, row, proof, detail, on_double)


def take(
    db: Database, row: Message, proof: MarkSent, detail: str, on_double: OnDouble
) -> RecordResult:
    read = row.read(db.now)
    decision = proven(read, proof)
    match decision:
        case Write():
            apply(db, [(read, decision, detail)])
            return Recorded(when(row.sent_at))
        case Stands(sent_at=at):
            return Recorded(at)
        case Double():
            _double(db, read, proof, on_double)
            return Fenced(read)


def _double(db: Database, row: Row, proof: MarkSent, on_double: OnDouble) -> None:
    """Both were really sent: the row names the second, and it is alarmed once."""
    line = Entry(
        row.key, "double", proof.provider, row.account, row.epoch, row.attempts,
        proof.provider_message_id, "a second mail was accepted",
    )  # fmt: skip
    if db.write_line_once(line):
        stored = db.rows[row.key]
        stored.second_message_id = stored.second_message_id or proof.provider_message_id
        on_double(row, proof)
