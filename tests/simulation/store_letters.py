"""Dead letters: one a record and mail type, settled with the row of their key."""

from __future__ import annotations

from consumer.guard.doubts import SHARED_FATE, WAIT_FOR_DEPLOY
from consumer.guard.history import entry
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.parking import Age, Due
from consumer.guard.transitions import Letter
from consumer.model import (
    FIRST_LOOK,
    Bad,
    Fenced,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Status,
)
from tests.simulation.store_columns import OPEN_LETTER, Message, StoredLetter
from tests.simulation.store_tables import Database

NOT_MADE = (Reason.CONFLICT, Reason.KEY_DRIFT)  # refused under this key: no mail was made of them


def write(
    db: Database,
    record: Record,
    letter: Letter,
    *,
    key: str | None,
    mail_type: str | None,
    discarded_stays: bool = False,
    parked_stays: bool = False,
) -> None:
    """INSERT .. ON CONFLICT DO UPDATE, on the coordinates and the type (a type may be missing)."""
    db.letter_ids += 1  # an identity counts on, also where the row was there
    parked = letter.check_in is not None
    status = LetterStatus.PARKED if parked else LetterStatus.OPEN
    check_at = None if letter.check_in is None else db.now + letter.check_in
    stored = db.letters.get((record.coordinates, mail_type))
    if stored is None:
        stored = StoredLetter(
            db.letter_ids, key, mail_type, letter.reason, letter.detail, status, record, 1,
            db.now, db.now, check_at, record.coordinates,
        )  # fmt: skip
        db.letters[stored.place] = stored
    elif not (parked_stays and _is_at_work(db, stored)):
        _fail_again(db, stored, letter, key, check_at)
        if not (discarded_stays and stored.status is LetterStatus.DISCARDED):
            stored.status = status
        stored.replay = stored.replay and parked
    stored.check()


def _is_at_work(db: Database, letter: StoredLetter) -> bool:
    """Say whether it is parked for an open row of its own record."""
    return letter.status is LetterStatus.PARKED and any(
        row.at == letter.at
        and row.mail_type == letter.mail_type
        and row.status in (Status.WAITING, Status.UNKNOWN)
        for row in db.rows.values()
    )


def _fail_again(
    db: Database, stored: StoredLetter, letter: Letter, key: str | None, check_at: float | None
) -> None:
    stored.failures += 1
    stored.last_failed_at = db.now
    stored.reason, stored.detail = letter.reason, letter.detail
    stored.next_check_at = check_at
    stored.key = stored.key if key is None else key


def settle(db: Database, row: Message) -> None:
    """Settle every letter of the key, and every one of the row's own record."""
    if not db.letters:
        return
    for letter in db.letters.values():
        if letter.status in OPEN_LETTER and _is_settled_with(letter, row):
            letter.status, letter.next_check_at = LetterStatus.SETTLED, None


def _is_settled_with(letter: StoredLetter, row: Message) -> bool:
    if letter.key == row.key and letter.reason not in NOT_MADE:
        return True
    return letter.at == row.at and letter.mail_type in (row.mail_type, None)


# ── Records set aside


def park(db: Database, record: Record, bad: Bad, *, fresh: bool) -> None:
    write(
        db, record, Letter(bad.reason, bad.detail), key=bad.idempotency_key,
        mail_type=bad.event_type, discarded_stays=True,
        parked_stays=fresh and bad.reason is not Reason.FUSED,
    )  # fmt: skip


def park_too(db: Database, record: Record, mail_type: str, row: Row) -> RecordResult:
    now = db.rows.get(row.key)
    letter = None if now is None else _letter_beside(now, db.now)
    if letter is None:
        return Fenced(None if now is None else now.read(db.now))
    write(db, record, letter, key=row.key, mail_type=mail_type)
    if now is not None and now.at == record.coordinates:
        now.outcome_due = True
    return Recorded()


def _letter_beside(row: Message, now: float) -> Letter | None:
    if row.status is Status.UNKNOWN:
        return Letter(Reason.UNKNOWN, "its key's outcome is unknown; evidence decides", FIRST_LOOK)
    if row.status is Status.WAITING and not row.lease_live(now):
        return Letter(Reason.EXHAUSTED, "the row's attempts are used up; the next round decides", 0)
    return None


# ── Due work


def take_due(db: Database, limit: int, hold_for: float, read_at: float) -> list[Due]:
    due = [letter for letter in db.letters.values() if _is_due(letter, db.now)]
    due.sort(key=lambda letter: letter.next_check_at or 0.0)
    for letter in due[:limit]:
        letter.next_check_at = db.now + hold_for
    return [_due(db, letter, read_at) for letter in due[:limit]]


def _is_due(letter: StoredLetter, now: float) -> bool:
    if letter.status is not LetterStatus.PARKED or letter.next_check_at is None:
        return False
    return letter.next_check_at <= now


def _due(db: Database, letter: StoredLetter, read_at: float) -> Due:
    row = None if letter.key is None else db.rows.get(letter.key)
    read = None if row is None else row.read(db.now)
    age = None if row is None else _age(row, db.now, read_at)
    return Due(letter.read(whole=True), letter.record, read, age, letter.replay)


def _age(row: Message, now: float, read_at: float) -> Age | None:
    first, deadline, doubt = row.first_attempt_at, row.attempt_deadline, row.doubt_since
    if row.status is not Status.UNKNOWN or first is None or deadline is None or doubt is None:
        return None
    return Age(now - first, now - deadline, now - doubt, read_at)


def put_off(db: Database, row: Row, look_in: float | None, event: str, detail: str) -> bool:
    """Move the next look at an `unknown` row; None: open its letters, a person is needed."""
    now = db.rows.get(row.key)
    if now is None or now.status is not Status.UNKNOWN or now.epoch != row.epoch:
        return False
    for letter in db.letters.values():
        if letter.status is LetterStatus.PARKED:
            _put_off(letter, now, None if look_in is None else db.now + look_in)
    db.write_line(entry(now.read(db.now), event, detail))
    return True


def _put_off(letter: StoredLetter, row: Message, until: float | None) -> None:
    own = letter.at == row.at and letter.mail_type == row.mail_type
    beside = letter.key == row.key and letter.reason is Reason.UNKNOWN
    if until is None and (own or beside):
        letter.status, letter.next_check_at, letter.replay = LetterStatus.OPEN, None, False
    elif until is not None and own:
        letter.next_check_at = until


def share_fate(db: Database, letter: DeadLetter) -> None:
    """Open a letter beside somebody's row if that row's own is open; else a minute more."""
    stored = of_id(db, letter.id)
    if stored is None or stored.status is not LetterStatus.PARKED:
        return
    if _own_is_open(db, stored):
        stored.status, stored.next_check_at, stored.replay = LetterStatus.OPEN, None, False
    else:
        stored.next_check_at = db.now + SHARED_FATE


def _own_is_open(db: Database, beside: StoredLetter) -> bool:
    row = None if beside.key is None else db.rows.get(beside.key)
    if row is None or row.at is None:
        return False
    own = db.letters.get((row.at, row.mail_type))
    return own is not None and own.status is LetterStatus.OPEN


def wait_for_deploy(db: Database, letter: DeadLetter, seconds: float) -> None:
    stored = of_id(db, letter.id)
    if stored is None or stored.status is not LetterStatus.PARKED:
        return
    if stored.last_failed_at < db.now - WAIT_FOR_DEPLOY:
        stored.status, stored.next_check_at, stored.replay = LetterStatus.OPEN, None, False
    else:
        stored.next_check_at = db.now + seconds


def replayed(db: Database, letter: DeadLetter) -> None:
    """Close a letter whose record went through the line again; not if it failed or waits anew."""
    stored = of_id(db, letter.id)
    if stored is None:
        return
    untouched = stored.status is LetterStatus.PARKED and stored.failures == letter.failures
    if untouched or stored.status is LetterStatus.SETTLED:
        stored.status = LetterStatus.REPLAYED if stored.replay else LetterStatus.SETTLED
        stored.next_check_at = None


def of_id(db: Database, letter_id: int) -> StoredLetter | None:
    return next((item for item in db.letters.values() if item.id == letter_id), None)
