"""Rows that nobody will come back for (GUARD 16 and 19), found without reading the whole table."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from consumer.guard import Guard, LetterStatus
from consumer.model import (
    Bad,
    Claim,
    Fenced,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Recorded,
    Status,
)
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.unknowns import KIND, again, row_of, story_of, unknown

DEAD = """
    UPDATE sent_message SET claimed_at = now() - $1::text::interval,
           lease_until = CASE WHEN lease_until IS NULL THEN NULL ELSE now() - interval '11 min' END
"""


async def flying(guard: Guard, name: str = "one") -> Claim:
    item = claim(name)
    await guard.claim(item)
    return item


async def mark(sql: Sql) -> datetime:
    (row,) = await sql("SELECT done_until FROM sweep")
    return datetime.fromisoformat(str(row[0]))


async def test_a_row_left_in_flight_becomes_unknown_with_a_letter(guard: Guard, sql: Sql) -> None:
    """GUARD 19: its record is not delivered again; the sweep reads it back."""
    item = await flying(guard)
    await sql(DEAD, "20 min")
    (row,) = await guard.stale(10)
    assert isinstance(await guard.abandon(row, KIND, item.record), Recorded)
    story = await story_of(guard, item)
    assert (story.row.status, story.letters[0].status) == (Status.UNKNOWN, LetterStatus.PARKED)
    assert [line.event for line in story.history] == ["abandoned"]
    assert await guard.stale(10) == []


async def test_an_attempt_of_the_resolver_that_died_is_due_again(guard: Guard, sql: Sql) -> None:
    """GUARD 16: parked and committed, taken over, and the worker dies: its letter still drives."""
    item, _, row = await unknown(guard)
    await guard.claim(claim("one", item.record, takes=row))
    await sql("UPDATE sent_message SET lease_until = now() - interval '1 second'")
    await sql("UPDATE dead_letter SET next_check_at = now()")
    (due,) = await guard.take_due()
    assert due.row is not None
    assert (due.row.status, due.row.lease_live, due.age) == (Status.SENDING, False, None)
    assert isinstance(await guard.abandon(due.row, KIND, due.record), Recorded)
    (letter,) = await guard.dead_letters()
    assert (letter.status, letter.reason) == (LetterStatus.PARKED, Reason.UNKNOWN)


async def test_a_waiting_row_without_a_letter_is_parked(guard: Guard, sql: Sql) -> None:
    """And its record is finished by that: what comes of it is told from the row (28)."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("stop", release=True), item.mail, item.record)
    await sql(DEAD, "20 min")
    (row,) = await guard.stale(10)
    assert isinstance(await guard.park_too(item.record, KIND, row), Recorded)
    assert await guard.stale(10) == []
    (due,) = await guard.take_due()
    again = granted(await guard.claim(claim("one", item.record, takes=due.row))).lease
    await guard.record(again, MarkSent("file", "id-1"), item.mail, item.record)
    assert [settled.row.key for settled in await guard.outcomes_due()] == [item.mail.key]


async def test_an_unknown_row_whose_own_record_has_no_letter_is_swept(
    guard: Guard, sql: Sql
) -> None:
    """Another record gave it up, and its own one never came back: nobody would ask about it."""
    item = await flying(guard)
    await sql(DEAD, "20 min")
    await guard.abandon(await row_of(guard, item), KIND, record())
    (row,) = await guard.stale(10)
    assert row.status is Status.UNKNOWN
    await guard.park_too(item.record, KIND, row)
    assert await guard.stale(10) == []


async def gave_up_asking(guard: Guard) -> Claim:
    """One worker opened the letter; another one knew, and goes on."""
    item, _, row = await unknown(guard)
    assert await guard.put_off(row, None, "asked", "no answer for too long")
    return again(item, row, clears_doubt=True)


async def failed_for_good(guard: Guard) -> Claim:
    """Two workers replay one letter, and this is what the quicker one came to."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkFailed("503", Reason.EXHAUSTED), item.mail, item.record)
    return again(item, await row_of(guard, item))


@pytest.mark.parametrize("ended", [gave_up_asking, failed_for_good])
async def test_a_waiting_row_is_not_left_to_a_letter_that_says_it_ended(
    guard: Guard, sql: Sql, ended: Callable[[Guard], Awaitable[Claim]]
) -> None:
    """The slower worker took the row over, and was called back before it sent."""
    item = await ended(guard)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("called back", release=True), item.mail, item.record)
    await sql(DEAD, "20 min")
    (left,) = await guard.stale(10)
    assert isinstance(await guard.park_too(item.record, KIND, left), Recorded)
    (due,) = await guard.take_due()
    assert due.row is not None
    assert due.row.status is Status.WAITING
    assert await guard.stale(10) == []


async def test_an_unknown_row_is_not_left_to_a_letter_that_says_nothing_of_it(
    guard: Guard, sql: Sql
) -> None:
    """A deploy could not read its record while it waited; another record's flight went wrong."""
    item, other = claim(), record()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("called back", release=True), item.mail, item.record)
    await guard.park(item.record, Bad(Reason.INVALID, "cannot be mapped", KIND), fresh=True)
    taken = again(replace(item, record=other), await row_of(guard, item))
    lease = granted(await guard.claim(taken)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, other)
    await sql(DEAD, "20 min")
    (left,) = await guard.stale(10)
    assert isinstance(await guard.park_too(item.record, KIND, left), Recorded)
    assert {one.reason for one in await guard.dead_letters()} == {Reason.UNKNOWN}
    assert await guard.stale(10) == []


async def test_what_is_parked_alive_or_young_is_left_alone(guard: Guard, sql: Sql) -> None:
    item = claim("parked")
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkParked("503", 300.0), item.mail, item.record)
    await unknown(guard, "unknown")
    await flying(guard, "alive")
    await sql("UPDATE sent_message SET claimed_at = now() - interval '3 days'")
    await flying(guard, "young")
    assert await guard.stale(10) == []


async def test_the_mark_passes_settled_rows_and_stops_at_an_open_one(
    guard: Guard, sql: Sql
) -> None:
    """So that a sweep of a hundred million rows reads the last minutes of claims only."""
    for n in range(3):
        item = claim(f"n{n}")
        lease = granted(await guard.claim(item)).lease
        await guard.record(lease, MarkSent("file", "x"), item.mail, item.record)
    await sql("UPDATE sent_message SET claimed_at = now() - interval '5 days'")
    assert await guard.stale(10) == []
    passed = await mark(sql)
    assert (datetime.now(UTC) - passed).total_seconds() < 15 * 60
    await flying(guard, "long flight")
    await sql(
        "UPDATE sent_message SET claimed_at = now() - interval '2 days' WHERE status = 'sending'"
    )
    await sql("UPDATE sweep SET done_until = now() - interval '3 days'")
    await sql("UPDATE sweep SET next_from = done_until")
    for _ in range(3):
        assert await guard.stale(10) == []
    (claimed,) = await sql("SELECT claimed_at FROM sent_message WHERE status = 'sending'")
    assert await mark(sql) == claimed[0]
    await sql(
        "UPDATE sent_message SET lease_until = now() - interval '11 min' WHERE status = 'sending'"
    )
    assert len(await guard.stale(10)) == 1


async def test_more_than_asked_for_comes_with_the_next_calls(guard: Guard, sql: Sql) -> None:
    for n in range(7):
        await flying(guard, f"n{n}")
    await sql(DEAD, "20 min")
    await sql("UPDATE sent_message SET claimed_at = claimed_at + \"offset\" * interval '1 ms'")
    found = [row.key for _ in range(3) for row in await guard.stale(3)]
    assert (len(found), len(set(found))) == (7, 7)
    assert len(await guard.stale(10)) == 7, "nobody took them: they come again"


async def test_one_worker_sweeps_at_a_time(open_guard: Open, sql: Sql) -> None:
    guards = [await open_guard() for _ in range(3)]
    item = await flying(guards[0])
    await sql(DEAD, "20 min")
    rows = [row for part in await asyncio.gather(*(one.stale(9) for one in guards)) for row in part]
    assert rows
    results = [await guards[0].abandon(row, KIND, item.record) for row in rows]
    assert sum(isinstance(result, Recorded) for result in results) == 1


@pytest.mark.parametrize("status", [Status.SENDING, Status.WAITING])
async def test_a_record_that_cannot_be_read_any_more_is_shown(
    guard: Guard, sql: Sql, status: Status
) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    if status is Status.WAITING:
        await guard.record(lease, MarkWaiting("stop", release=True), item.mail, item.record)
    await sql(DEAD, "20 min")
    (row,) = await guard.stale(10)
    for _ in range(2):
        await guard.orphan(row, "its topic no longer holds it")
    story = await story_of(guard, item)
    unknown_or_same = Status.UNKNOWN if status is Status.SENDING else status
    (letter,) = story.letters
    assert (story.row.status, letter.status) == (unknown_or_same, LetterStatus.OPEN)
    assert (letter.reason, letter.coordinates) == (Reason.ORPHANED, item.record.coordinates)
    whole = await guard.dead_letter(letter.id)
    assert whole is not None
    assert whole.record is not None
    assert whole.record.value is None
    assert await guard.stale(10) == []


async def test_a_row_that_moved_on_is_not_orphaned(guard: Guard, sql: Sql) -> None:
    item = await flying(guard)
    await sql(DEAD, "20 min")
    (row,) = await guard.stale(10)
    await guard.prove(item.mail.key, MarkSent("file", "id-1"), "found")
    await guard.orphan(row, "gone")
    assert isinstance(await guard.abandon(row, KIND, item.record), Fenced)
    assert await guard.dead_letters() == []
