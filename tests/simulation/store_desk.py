"""What a person does: replay, discard, resend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from consumer.guard.history import entry, plain
from consumer.guard.letters import LetterStatus
from consumer.guard.operators import Discarded, DiscardResult, NotDone, Turn
from consumer.guard.resends import Resend, ResendResult, Resent
from consumer.guard.transitions import Letter
from consumer.model import Reason, Row, Status
from tests.simulation import store_letters, store_links
from tests.simulation.store_columns import IN_FLIGHT, OPEN_LETTER, OPEN_ROW, Message, StoredLetter
from tests.simulation.store_tables import Database

# ── Replay


def make_due(db: Database, turns: Sequence[Turn], note: str) -> set[int]:
    done = [letter for turn in turns if (letter := _turned(db, turn, plain(note)))]
    keys = {letter.key for letter in done if letter.key is not None}
    for key in sorted(keys & db.rows.keys()):
        db.write_line(entry(db.rows[key].read(db.now), "replay", note))
    return {letter.id for letter in done}


def _turned(db: Database, turn: Turn, note: str) -> StoredLetter | None:
    stored, read = store_letters.of_id(db, turn.letter.id), turn.letter
    if stored is None or stored.status is LetterStatus.SETTLED:
        return None
    as_read = (stored.status, stored.failures) == (read.status, read.failures)
    if not as_read and stored.note != note:
        return None
    stored.status, stored.next_check_at = LetterStatus.PARKED, db.now + turn.after
    stored.replay, stored.note = True, note
    return stored


# ── Discard


def discard_letter(db: Database, letter_id: int, note: str) -> DiscardResult:
    letter = store_letters.of_id(db, letter_id)
    if letter is None:
        return NotDone("no such letter")
    row = None if letter.key is None else db.rows.get(letter.key)
    if row is not None and row.at == letter.at and row.status in OPEN_ROW:
        return discard_key(db, row.key, note)
    if letter.status not in OPEN_LETTER and letter.note != plain(note):
        return NotDone("closed already")
    if letter.status in OPEN_LETTER:
        _close(letter, note)
    return Discarded((letter_id,), None)


def discard_key(db: Database, key: str, note: str) -> DiscardResult:
    row = db.rows.get(key)
    before = None if row is None else row.read(db.now)
    if row is not None and (row.lease_live(db.now) or row.status is Status.SENDING):
        return NotDone("in flight")
    given_up = row is not None and row.status in OPEN_ROW
    if row is not None and before is not None and given_up:
        db.update(
            row, status=Status.DISCARDED, epoch=row.epoch + 1, outcome_due=True, lease_until=None
        )
        db.write_line(replace(entry(before, "discarded", note), due=True))
    closed = _close_of_key(db, key, note)
    if not closed and not given_up:
        return NotDone("nothing is open")
    return Discarded(tuple(sorted(closed)), before if given_up else None)


def _close_of_key(db: Database, key: str, note: str) -> list[int]:
    letters = [
        letter
        for letter in db.letters.values()
        if letter.key == key and letter.status in OPEN_LETTER
        and letter.reason not in store_letters.NOT_MADE
    ]  # fmt: skip
    for letter in letters:
        _close(letter, note)
    return [letter.id for letter in letters]


def _close(letter: StoredLetter, note: str) -> None:
    letter.status, letter.next_check_at = LetterStatus.DISCARDED, None
    letter.replay, letter.note = False, plain(note)


# ── Resend


def resend(db: Database, wish: Resend) -> ResendResult:
    """Close the former row and make the next version's, all or nothing."""
    born = db.rows.get(wish.mail.key)
    if born is not None and born.owner == wish.token:
        return Resent(born.key, born.version)
    old = db.rows.get(wish.row.key)
    if old is None or not _may_be_resent(db, old, wish):
        return NotDone("not as the person saw it")
    place = (wish.mail.type.name, wish.record.coordinates)
    if born is not None or db.places.get(place, old.key) != old.key:
        return NotDone("the new key stands already")
    return _make(db, old, wish)


def _may_be_resent(db: Database, old: Message, wish: Resend) -> bool:
    if store_links.after(db, old.key) is not None or old.status in IN_FLIGHT:
        return False
    as_seen = (old.epoch, old.status) == (wish.row.epoch, wish.row.status)
    return as_seen and old.at == wish.record.coordinates


def _make(db: Database, old: Message, wish: Resend) -> Resent:
    before, note = old.read(db.now), plain(wish.note)
    closes = old.status in (Status.UNKNOWN, Status.FAILED)
    db.update(
        old, at=None, epoch=old.epoch + 1, outcome_due=old.outcome_due or closes,
        status=Status.DISCARDED if closes else old.status,
    )  # fmt: skip
    _close_of_key(db, old.key, note)
    db.insert(_newborn(before, wish, db.now))
    _park(db, wish, note)
    store_links.write(db, before, wish.mail.key, wish.note, due=old.outcome_due)
    return Resent(wish.mail.key, old.version + 1)


def _newborn(old: Row, wish: Resend, now: float) -> Message:
    mail = wish.mail
    return Message(
        mail.key, mail.type.name, mail.recipient, Status.WAITING, mail.fingerprint,
        mail.type.digest, old.provider, old.account, 0, 0, 1, wish.token, wish.token, None, None,
        None, None, wish.record.coordinates, now, outcome_due=True, version=old.version + 1,
    )  # fmt: skip


def _park(db: Database, wish: Resend, note: str) -> None:
    mail, letter = wish.mail, Letter(Reason.EXHAUSTED, f"asked for again: {note}", 0)
    store_letters.write(db, wish.record, letter, key=mail.key, mail_type=mail.type.name)
    for stored in db.letters.values():
        if stored.key == mail.key and stored.status is LetterStatus.PARKED:
            stored.replay, stored.note = True, note
