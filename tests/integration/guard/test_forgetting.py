"""Who is forgotten is nowhere in the database any more; the keys stay, and refuse."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from consumer.guard import Guard
from consumer.guard.desk import Desk
from consumer.guard.forgetting import Forgotten
from consumer.guard.imports import Past
from consumer.guard.mentions import mentions_of
from consumer.guard.resends import Resend
from consumer.guard.verdict import Duplicate, Redelivery, judge
from consumer.model import (
    Bad,
    Granted,
    Mail,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    News,
    Notice,
    Reason,
    Record,
    Status,
    Transition,
)
from tests.integration.guard.builders import claim, granted, key_of, mail, record
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.everywhere import found_in
from tests.integration.guard.private import privacy

ADA = "Ada@Example.org"
WHO = mentions_of(ADA)
NOTE = "by grace, 2026-01-01 00:00:00 UTC: she, ada@example.org, asked"
BODY = b'{"to": "ada@example.org"}'
BAD = Bad(Reason.INVALID, "/order/id: is missing", "order.receipt")
EVE = b'{"to": "nada@example.org", "cc": "eve@example.org"}'


@pytest.fixture
async def guard(open_guard: Open) -> Guard:
    return await open_guard(privacy=privacy(blank_after=86400.0))


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    opened = await Desk.open(database, environment="test", privacy=privacy())
    yield opened
    await opened.close()


def _nothing(_record: Record) -> Mail | None:
    return None


async def _forget(desk: Desk) -> Forgotten:
    return await desk.forget(WHO, NOTE, _nothing)


async def _flown(guard: Guard, name: str, ending: Transition) -> Record:
    at = record(value=BODY)
    lease = granted(await guard.claim(claim(name, at))).lease
    await guard.record(lease, ending, mail(name), at)
    return at


async def _everything(guard: Guard, desk: Desk, sql: Sql) -> dict[str, Record]:
    """A database in which an address stands wherever one may."""
    flown = {
        "sent": await _flown(guard, "sent", MarkSent("file", "id-1")),
        "failed": await _flown(guard, "failed", MarkFailed("550 ada@example.org", Reason.REJECTED)),
        "parked": await _flown(guard, "parked", MarkParked("busy", 3600)),
        "unknown": await _flown(guard, "unknown", MarkUnknown("reset", "file")),
        "blanked": await _flown(guard, "blanked", MarkSent("file", "id-2")),
    }
    age = "UPDATE sent_message SET sent_at = sent_at - interval '2 days' WHERE idempotency_key = $1"
    await sql(age, key_of("blanked"))
    await guard.tidy()
    bounced = Notice(key_of("sent"), "file", "id-1", News.BOUNCED, None, "ada@example.org: gone")
    await guard.hear(bounced)
    await guard.park(record(value=BODY), BAD)
    await guard.park(record(key=b"ada@example.org", value=b"{"), replace(BAD, event_type=None))
    await guard.park(record(headers=(("to", b"ADA@example.org"),)), BAD)
    await desk.bring_in(
        [Past(key_of("past"), "order.receipt", "ada@example.org", "old", "1", mail().occurred_at)],
        "t",
    )
    await sql("UPDATE sent_message SET error = 'no ada@example.org' WHERE status = 'failed'")
    await sql("UPDATE history SET detail = detail || ' ada@example.org'")
    await sql("UPDATE dead_letter SET note = 'for Ada@Example.org'")
    return flown


async def test_the_address_is_nowhere_and_the_keys_are_kept(
    guard: Guard, desk: Desk, sql: Sql, database: str
) -> None:
    """Law (must show 7): searched as text and as bytes in every column of every table."""
    flown = await _everything(guard, desk, sql)
    assert len(await found_in(database, "ada@example.org")) >= 4
    keys = await _keys(sql)
    done = await _forget(desk)
    assert await found_in(database, "ada@example.org") == []
    assert await found_in(database, "ada@") == []
    assert await _keys(sql) == keys
    assert (done.rows, done.closed, done.letters) == (6, 3, 6)
    assert (done.in_flight, done.locked) == (set(), {})
    assert await desk.of_address(WHO, 10) == []
    for name, at in flown.items():
        await _refuses(guard, name, at)


async def _keys(sql: Sql) -> set[str]:
    return {row["k"] for row in await sql("SELECT idempotency_key AS k FROM sent_message")}


async def _refuses(guard: Guard, name: str, at: Record) -> None:
    """Neither the record itself nor another one of its event is sent."""
    for other in (at, record(value=BODY)):
        row = await guard.look(key_of(name), "order.receipt", other.coordinates)
        assert row is not None
        verdict = judge(row, mail(name), other.coordinates, 4)
        assert isinstance(verdict, Redelivery | Duplicate), (name, row.status, verdict)
        assert not isinstance(await guard.claim(claim(name, other)), Granted)


async def test_once_is_as_good_as_twice(guard: Guard, desk: Desk, sql: Sql) -> None:
    await _everything(guard, desk, sql)
    await _forget(desk)
    before = await _tables(sql)
    done = await _forget(desk)
    assert (done.rows, done.closed, done.letters, done.texts) == (0, 0, 0, 0)
    assert await _tables(sql) == before


async def _tables(sql: Sql) -> list[str]:
    tables = ("sent_message", "dead_letter", "history")
    return [
        row["t"] for table in tables for row in await sql(f"SELECT x::text AS t FROM {table} x")
    ]


async def test_upstream_hears_that_what_was_open_is_given_up(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    at = await _flown(guard, "unknown", MarkUnknown("reset", "file"))
    await _forget(desk)
    [settled] = await guard.outcomes_due()
    assert (settled.row.key, settled.row.status) == (key_of("unknown"), Status.DISCARDED)
    assert (settled.row.coordinates, settled.record.value) == (at.coordinates, None)
    story = await desk.story(key_of("unknown"))
    assert story is not None
    assert story.history[-1].event == "forgotten"
    assert story.history[-1].detail.startswith("by grace")


async def test_what_was_noted_of_a_letter_stays_but_for_the_address(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    """Law: the words of whoever worked on it are kept, and before those of who had it emptied."""
    await guard.park(record(value=BODY), BAD)
    await sql("UPDATE dead_letter SET note = 'by ada: Ada@Example.org called about B-7'")
    await guard.park(record(value=BODY), BAD)
    await _forget(desk)
    told = await sql("SELECT note FROM dead_letter ORDER BY id")
    last = "by grace, 2026-01-01 00:00:00 UTC: she, (address) asked"
    assert [row["note"] for row in told] == [
        f"by ada: (forgotten) called about B-7; then {last}",
        last,
    ]


async def test_other_people_keep_all_that_is_theirs(guard: Guard, desk: Desk, sql: Sql) -> None:
    await guard.park(at := record(value=EVE), BAD)
    other = replace(claim("eve"), mail=replace(mail("eve"), recipient="nada@example.org"))
    await guard.claim(other)
    before = await _tables(sql)
    done = await _forget(desk)
    assert (done.rows, done.letters, done.texts) == (0, 0, 0)
    assert await _tables(sql) == before
    [letter] = await guard.dead_letters()
    kept = await guard.dead_letter(letter.id)
    assert kept is not None
    assert kept.record == at


async def test_a_letter_of_anothers_open_mail_loses_its_record_and_stays(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    """A gift to ada, bought by eve, whose mail nobody knows the outcome of: a person decides."""
    at = record(value=BODY)
    eves = replace(claim("eve", at), mail=replace(mail("eve"), recipient="eve@example.org"))
    lease = granted(await guard.claim(eves)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), eves.mail, at)
    await _forget(desk)
    row = await guard.look(key_of("eve"), "order.receipt", at.coordinates)
    [letter] = await guard.dead_letters()
    assert row is not None
    assert (row.status, letter.status) == (Status.UNKNOWN, "parked")
    assert letter.wiped_at is not None


async def test_what_is_in_flight_is_told_and_forgotten_by_the_next_run(
    guard: Guard, desk: Desk, database: str
) -> None:
    """Law: whoever sends it writes its outcome first."""
    at = record(value=BODY)
    lease = granted(await guard.claim(claim("one", at))).lease
    done = await _forget(desk)
    assert (done.in_flight, done.rows) == ({key_of("one")}, 0)
    await guard.record(lease, MarkSent("file", "x"), mail("one"), at)
    done = await _forget(desk)
    assert (done.in_flight, done.rows) == (set(), 1)
    assert await found_in(database, "ada@example.org") == []


async def test_what_cannot_be_opened_is_told(guard: Guard, database: str, sql: Sql) -> None:
    """Law: a letter under a key that is not here may hold the address; nobody says it does not."""
    await guard.park(record(value=BODY), BAD)
    stranger = await Desk.open(database, environment="test", privacy=privacy(only="new"))
    done = await _forget(stranger)
    await stranger.close()
    assert list(done.locked.values()) == [
        "its record is sealed under the key old, which is not in privacy.keys: put it back"
    ]
    assert done.letters == 0


async def test_the_key_of_a_mail_that_never_was_made_is_taken(
    guard: Guard, desk: Desk, sql: Sql, database: str
) -> None:
    """Law: read again with a mended catalogue, its record mails nobody; in whatever encoding."""
    hidden = b'{"data_base64": "' + base64.b64encode(BODY) + b'"}'
    await guard.park(at := record(value=hidden), BAD)
    done = await desk.forget(WHO, NOTE, lambda _: mail("never"))
    assert done.letters == 1
    row = await guard.look(key_of("never"), "order.receipt", at.coordinates)
    assert row is not None
    assert row.status is Status.DISCARDED
    await _refuses(guard, "never", at)
    assert await found_in(database, "ada@example.org") == []


async def test_nobody_asks_for_one_more_mail_to_who_is_forgotten(guard: Guard, desk: Desk) -> None:
    at = await _flown(guard, "sent", MarkSent("file", "id-1"))
    await _forget(desk)
    row = (await desk.rows([key_of("sent")]))[key_of("sent")]
    wish = Resend(
        row, replace(mail("sent"), key=key_of("again")), at, "by ada: why", secrets.token_hex(8)
    )
    refused = await desk.resend(wish)
    assert "was forgotten" in str(refused)
    assert "was forgotten" in str(await desk.forgotten(key_of("sent")))
    assert await desk.forgotten(key_of("another")) is None
