"""Letters of private types: whoever writes them seals them, whoever reads them opens them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import structlog.testing

from consumer.guard import DeadLetter, Guard
from consumer.guard.desk import Desk
from consumer.guard.operators import Turn
from consumer.guard.resends import Resend, Resent
from consumer.model import Bad, Lease, MarkFailed, MarkParked, MarkUnknown, Reason, Record
from tests.integration.guard.builders import claim, granted, key_of, mail, record
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.private import privacy

BAD = Bad(Reason.INVALID, "/order/id: is missing", "order.receipt")
SECRET = b"canary-token"


def secret(**changes: Any) -> Record:
    return record(key=SECRET, value=SECRET, headers=(("x", SECRET), ("y", None)), **changes)


@pytest.fixture
async def guard(open_guard: Open) -> Guard:
    return await open_guard(privacy=privacy())


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    opened = await Desk.open(database, environment="test", privacy=privacy())
    yield opened
    await opened.close()


async def _flown(guard: Guard, name: str, at: Record) -> Lease:
    return granted(await guard.claim(claim(name, at))).lease


async def _dead(guard: Guard, sql: Sql, lease: Lease) -> None:
    await sql("UPDATE sent_message SET lease_until = now() WHERE idempotency_key = $1", lease.key)


async def _no_secret(sql: Sql) -> None:
    """Nothing of it stands in the table, and all letters name their key."""
    rows = await sql("SELECT sealed, d::text AS whole FROM dead_letter d")
    assert rows
    assert all(row["sealed"] for row in rows)
    found = [row["whole"] for row in rows if SECRET.hex() in row["whole"]]
    assert found == []


async def test_every_writer_seals_and_every_reader_opens(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    """Law: parked alone, beside a row, with an outcome, for a vanished worker, for a resend."""
    await guard.park(alone := secret(), BAD)
    await guard.park(unreadable := secret(), replace(BAD, event_type=None))
    failing, unknown, vanished = secret(), secret(), secret()
    lease = await _flown(guard, "failing", failing)
    failed = MarkFailed("no", Reason.REJECTED)
    await guard.record(lease, failed, mail("failing"), failing)
    lease = await _flown(guard, "unknown", unknown)
    await guard.record(lease, MarkUnknown("reset", "file"), mail("unknown"), unknown)
    row = (await desk.rows([lease.key]))[lease.key]
    await guard.park_too(beside := secret(), "order.receipt", row)
    await _dead(guard, sql, await _flown(guard, "vanished", vanished))
    row = (await desk.rows([key_of("vanished")]))[key_of("vanished")]
    await guard.abandon(row, "order.receipt", vanished)
    await _no_secret(sql)

    records = [alone, unreadable, failing, unknown, beside, vanished]
    listed = sorted(letter.id for letter in await guard.dead_letters())
    assert [one.record for one in await desk.letters(listed)] == records
    assert [(await _letter(guard, one)).record for one in listed] == records
    at = await desk.letter_at(alone.coordinates, "order.receipt")
    assert at is not None
    assert at.record == alone
    await sql("UPDATE dead_letter SET status = 'parked', next_check_at = now()")
    due = {one.letter.id: one.record for one in await guard.take_due()}
    assert [due[one] for one in listed] == records


async def _letter(guard: Guard, letter_id: int) -> DeadLetter:
    found = await guard.dead_letter(letter_id)
    assert found is not None
    return found


async def test_what_is_resent_is_sealed_again_or_still(guard: Guard, desk: Desk, sql: Sql) -> None:
    at = secret()
    lease = await _flown(guard, "one", at)
    await guard.record(lease, MarkFailed("no", Reason.REJECTED), mail("one"), at)
    row = (await desk.rows([lease.key]))[lease.key]
    token = secrets.token_hex(8)
    wish = Resend(row, replace(mail("one"), key=key_of("again")), at, "by ada: why", token)
    assert isinstance(await desk.resend(wish), Resent)
    await _no_secret(sql)
    [due] = await guard.take_due()
    assert due.record == at


async def test_upstream_hears_of_what_was_settled_with_a_sealed_letter(
    guard: Guard, open_guard: Open
) -> None:
    """Also from a worker that has not the key: the outcome needs nothing of the record."""
    at = secret()
    lease = await _flown(guard, "one", at)
    await guard.record(lease, MarkParked("busy", 60), mail("one"), at)
    taken = await guard.look(lease.key, "order.receipt", at.coordinates)
    again = claim("one", at, takes=taken)
    lease = granted(await guard.start_round(again)).lease
    await guard.record(lease, MarkFailed("no", Reason.REJECTED), mail("one"), at)
    assert [settled.record for settled in await guard.outcomes_due()] == [at]
    stranger = await open_guard(privacy=privacy(only="new"))
    [settled] = await stranger.outcomes_due()
    assert (settled.row.key, settled.record.value) == (lease.key, None)


async def test_a_missing_key_is_named_and_loses_nothing(
    guard: Guard, open_guard: Open, sql: Sql
) -> None:
    """Law: whoever has the key later finds it due and whole; until then it is told, each minute."""
    await guard.park(at := secret(), BAD)
    stranger = await open_guard(privacy=privacy(only="new"))
    [letter] = await stranger.dead_letters()
    read = await _letter(stranger, letter.id)
    assert read.record is None
    assert read.locked == (
        "its record is sealed under the key old, which is not in privacy.keys: put it back"
    )
    await sql("UPDATE dead_letter SET status = 'parked', next_check_at = now()")
    with structlog.testing.capture_logs() as lines:
        assert await stranger.take_due() == []
    assert [(line["event"], line["letter"], line["why"]) for line in lines] == [
        ("cannot open a dead letter", letter.id, read.locked)
    ]
    await sql("UPDATE dead_letter SET next_check_at = now()")
    [due] = await guard.take_due()
    assert due.record == at


async def test_new_letters_are_sealed_under_the_current_key_and_old_ones_are_read(
    guard: Guard, open_guard: Open, sql: Sql
) -> None:
    await guard.park(first := secret(), BAD)
    later = await open_guard(privacy=privacy(current="new"))
    await later.park(second := secret(), BAD)
    rows = await sql("SELECT sealed FROM dead_letter ORDER BY id")
    assert [row["sealed"] for row in rows] == ["old", "new"]
    for one in (guard, later):
        found = [await _letter(one, letter.id) for letter in await one.dead_letters()]
        assert [letter.record for letter in found] == [second, first]


async def test_a_rotation_comes_to_an_end(guard: Guard, open_guard: Open, sql: Sql) -> None:
    """Law: upkeep seals anew what an older key sealed, so that the older one can be taken away."""
    await guard.park(at := secret(), BAD)
    later = await open_guard(privacy=privacy(current="new"))
    assert await later.tidy() == 1
    assert await later.tidy() == 0
    stranger = await open_guard(privacy=privacy(only="new"))
    assert (await _letter(stranger, 1)).record == at
    await _no_secret(sql)


async def test_what_an_older_release_wrote_is_sealed(open_guard: Open, sql: Sql) -> None:
    older = await open_guard()
    await older.park(at := secret(), BAD)
    await older.park(record(topic="others", value=SECRET), replace(BAD, event_type=None))
    guard = await open_guard(privacy=privacy())
    assert await guard.tidy() == 1
    rows = await sql("SELECT sealed FROM dead_letter ORDER BY id")
    assert [row["sealed"] for row in rows] == ["old", None]
    assert (await _letter(guard, 1)).record == at


async def test_a_record_that_fails_again_stays_sealed_as_it_was(guard: Guard, sql: Sql) -> None:
    await guard.park(at := secret(), BAD)
    await guard.park(at, BAD)
    assert (await _letter(guard, 1)).failures == 2
    assert (await _letter(guard, 1)).record == at
    await _no_secret(sql)


# ── Wiped in time


OLDER = "UPDATE dead_letter SET first_failed_at = now() - interval '31 minutes'"


async def test_past_max_age_the_bytes_go_and_the_letter_stays(guard: Guard, sql: Sql) -> None:
    """Law: open ones are given up; nothing of key, value and headers is kept; the story is."""
    await guard.park(secret(), BAD)
    await guard.park(secret(), replace(BAD, event_type=None))
    assert await guard.tidy() == 0
    await sql(OLDER)
    await guard.park(secret(), BAD)
    assert await guard.tidy() == 2
    assert await guard.tidy() == 0
    newest, *wiped = [await _letter(guard, one.id) for one in await guard.dead_letters()]
    assert newest.wiped_at is None
    for letter in wiped:
        assert (letter.status, letter.reason, letter.detail) == (
            "discarded",
            BAD.reason,
            BAD.detail,
        )
        assert letter.note == "wiped: older than its max_age, no mail can come of it"
        assert letter.wiped_at is not None
        assert letter.record is not None
        assert (letter.record.key, letter.record.value, letter.record.headers) == (None, None, ())


async def test_what_the_service_is_at_is_not_wiped(guard: Guard, sql: Sql) -> None:
    """Nor what a person may have evidence looked for with: its row is open."""
    at = secret()
    lease = await _flown(guard, "one", at)
    await guard.record(lease, MarkUnknown("reset", "file"), mail("one"), at)
    await sql(OLDER)
    assert await guard.tidy() == 0
    await sql("UPDATE dead_letter SET status = 'open', next_check_at = NULL")
    assert await guard.tidy() == 0
    await sql("UPDATE sent_message SET status = 'discarded'")
    assert await guard.tidy() == 1


async def test_what_a_later_release_may_know_waits_for_it(guard: Guard, sql: Sql) -> None:
    """Law: for how long an event of an unknown type may wait, nobody here can say."""
    await guard.park(secret(), Bad(Reason.UNKNOWN_TYPE, "no folder", "account.opened"))
    await sql(OLDER)
    assert await guard.tidy() == 0
    await sql("UPDATE dead_letter SET status = 'settled'")
    assert await guard.tidy() == 1


async def test_a_settled_letter_keeps_its_status(guard: Guard, sql: Sql) -> None:
    await guard.park(secret(), BAD)
    await sql("UPDATE dead_letter SET status = 'settled'")
    await sql(OLDER)
    assert await guard.tidy() == 1
    assert [row["status"] for row in await sql("SELECT status FROM dead_letter")] == ["settled"]


async def test_a_wiped_record_that_comes_by_again_is_kept_anew_only_if_it_is_wanted(
    guard: Guard, sql: Sql
) -> None:
    """Given up, it stays empty when it is merely read again; an outcome of its row needs it."""
    await guard.park(at := secret(), BAD)
    await sql(OLDER)
    await guard.tidy()
    await guard.park(at, BAD)
    letter = await _letter(guard, 1)
    assert (letter.status, letter.failures) == ("discarded", 2)
    assert letter.wiped_at is not None
    lease = await _flown(guard, "one", at)
    await guard.record(lease, MarkFailed("no", Reason.REJECTED), mail("one"), at)
    letter = await _letter(guard, 1)
    assert (letter.status, letter.record, letter.wiped_at) == ("open", at, None)
    await _no_secret(sql)


async def test_a_wiped_letter_is_not_made_due(guard: Guard, desk: Desk, sql: Sql) -> None:
    await guard.park(secret(), BAD)
    await sql(OLDER)
    await guard.tidy()
    [letter] = await guard.dead_letters()
    assert await desk.make_due([Turn(letter, 0.0)], "by ada: why") == set()


async def test_without_private_types_nothing_is_sealed_or_wiped(open_guard: Open, sql: Sql) -> None:
    guard = await open_guard()
    await guard.park(secret(), BAD)
    await sql(OLDER)
    assert await guard.tidy() == 0
    assert [row["record_value"] for row in await sql("SELECT record_value FROM dead_letter")] == [
        SECRET
    ]
