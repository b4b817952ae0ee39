"""What providers tell by themselves, and what upstream has yet to hear."""

from __future__ import annotations

from consumer.guard.hearing import BAD_NEWS, NewsDue
from consumer.guard.history import Entry
from consumer.guard.telling import Settled
from consumer.model import Coordinates, Evidence, MarkSent, News, Notice, Record, Row, Status
from tests.simulation import store_links
from tests.simulation.store_columns import CLOSED_ROW, Line, Message, when
from tests.simulation.store_outcomes import OnDouble, take
from tests.simulation.store_tables import Database

RANKS = (None, News.ACCEPTED, News.DELIVERED, News.BOUNCED, News.COMPLAINED)


def hear(db: Database, notice: Notice, on_double: OnDouble) -> bool:
    """Take a webhook's event. False: no such key."""
    row = db.rows.get(notice.key)
    if row is None:
        return False
    bad = notice.news in BAD_NEWS
    if not bad and _deliver(db, row, notice):
        return True
    before = row.read(db.now)  # as it stood under its lock
    proof = MarkSent(notice.provider, notice.provider_message_id, Evidence.WEBHOOK)
    take(db, row, proof, notice.news, on_double)
    _deliver(db, row, notice)
    if bad:
        db.write_line_once(
            Entry(
                row.key, notice.news, notice.provider, before.account, before.epoch,
                before.attempts, notice.provider_message_id, notice.detail, due=True,
            )
        )  # fmt: skip
    return True


def _deliver(db: Database, row: Message, notice: Notice) -> bool:
    """The worst that was told stays, and only of the mail that the row names."""
    named = (row.provider, row.provider_message_id)
    if row.status is not Status.SENT or named != (notice.provider, notice.provider_message_id):
        return False
    rank = 0 if row.delivery is None else RANKS.index(row.delivery)
    if rank >= RANKS.index(notice.news):
        return False
    at = db.now if notice.at is None else notice.at.timestamp()
    db.update(row, delivery=notice.news, delivery_at=at)
    return True


def news_due(db: Database, limit: int) -> list[NewsDue]:
    lines = [item for item in db.history if item.due and item.entry.event in BAD_NEWS]
    return [_news(db, item) for item in lines if item.key in db.rows][:limit]


def _news(db: Database, line: Line) -> NewsDue:
    at, told = when(line.at), line.entry
    row = _placed(db, db.rows[line.key])
    assert at is not None
    assert told.provider is not None
    assert told.provider_message_id is not None
    return NewsDue(
        line.id, row, News(told.event), at, told.provider,
        told.provider_message_id, told.detail,
    )  # fmt: skip


def news_told(db: Database, news_id: int) -> None:
    for line in db.history:
        if line.id == news_id:
            line.due = False


# ── Rows that were settled late


def outcomes_due(db: Database, limit: int) -> list[Settled]:
    """By lines of history, then by the letters of the rows' own records; one a row."""
    rows = [row for row in db.rows.values() if row.outcome_due and row.status in CLOSED_ROW]
    if not rows:
        return []
    lined = [_placed(db, row) for row in rows if _has_line(db, row)][:limit]
    lines = {row.key: _unkept(row, row.coordinates) for row in lined if row.coordinates}
    kept = {
        row.key: Settled(row.read(db.now), record)
        for row in rows
        if (record := _record_of(db, row))
    }
    return list({**lines, **dict(list(kept.items())[:limit])}.values())


def _placed(db: Database, row: Message) -> Row:
    return store_links.placed(db, row.read(db.now))


def _has_line(db: Database, row: Message) -> bool:
    events = {line.entry.event for line in db.history if line.key == row.key and line.due}
    placed = row.at is not None or store_links.after(db, row.key) is not None
    return placed and bool(events.difference(BAD_NEWS))


def _unkept(row: Row, at: Coordinates) -> Settled:
    gone = Record(at.topic, at.partition, at.offset, at.timestamp, None, None, ())
    return Settled(row, gone)


def _record_of(db: Database, row: Message) -> Record | None:
    """From a letter of whatever type: it is the same record."""
    if row.at is None:
        return None
    letters = (letter for letter in db.letters.values() if letter.at == row.at)
    return next((letter.record for letter in letters), None)


def outcome_told(db: Database, row: Row) -> None:
    """At the very epoch and status that was told: what came of it since is another outcome."""
    now = db.rows.get(row.key)
    if now is None or (now.epoch, now.status) != (row.epoch, row.status):
        return
    now.outcome_due = False
    for line in db.history:
        if line.key == row.key and line.entry.event not in BAD_NEWS:
            line.due = False
