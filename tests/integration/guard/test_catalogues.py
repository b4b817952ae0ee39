"""Editions of the catalogue, kept as long as a row can name them; letters that nobody read."""

from __future__ import annotations

import asyncio

import pytest

from consumer.guard import Guard, LetterStatus
from consumer.guard.desk import Desk
from consumer.model import Bad, Edition, MarkSent, MarkUnknown, Reason
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Open, Sql

ONE = Edition("d1", "order.receipt", "basis", b"\x00snapshot")
TWO = Edition("d2", "password.reset", "another", b"")
LONG_AGO = "UPDATE catalogue_version SET last_seen_at = now() - interval '32 days'"


async def test_an_edition_is_kept_once_and_found_by_everybody(
    open_guard: Open, database: str
) -> None:
    """Workers of one release start together."""
    guards = [await open_guard() for _ in range(4)]
    await asyncio.gather(*(guard.shelf.keep([ONE, TWO]) for guard in guards))
    assert await guards[0].shelf.edition("d1") == ONE
    assert await guards[0].shelf.edition("d3") is None
    desk = await Desk.open(database, environment="test")
    assert await desk.edition("d2") == TWO
    await desk.close()


async def test_an_edition_in_use_stays(guard: Guard, sql: Sql) -> None:
    await guard.shelf.keep([ONE, TWO])
    await sql(LONG_AGO)
    await guard.shelf.keep([ONE])
    await guard.shelf.prune()
    assert await guard.shelf.edition("d1") == ONE
    assert await guard.shelf.edition("d2") is None


async def test_an_edition_that_an_open_row_names_outlives_everything(
    guard: Guard, sql: Sql
) -> None:
    """A mail that nobody knows waits for a person for months, and is made again then."""
    await guard.shelf.keep([ONE])
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    await sql(LONG_AGO)
    await guard.shelf.prune()
    assert await guard.shelf.edition("d1") == ONE
    await guard.prove(lease.key, MarkSent("file", "x"), "found")
    await guard.shelf.prune()
    assert await guard.shelf.edition("d1") is None


async def test_takeovers_keep_the_edition_that_the_mail_was_made_with(
    guard: Guard, sql: Sql
) -> None:
    """Whoever goes on makes the mail with the row's own edition, and so writes the same one."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    granted(await guard.claim(claim(at=item.record, takes=row)))
    assert [tuple(row) for row in await sql("SELECT catalogue FROM sent_message")] == [("d1",)]


# ── Letters of events that no worker knew


STRANGE = (Reason.UNKNOWN_TYPE, Reason.UNKNOWN_VERSION)


async def parked(guard: Guard, reason: Reason) -> int:
    at = record()
    await guard.park(at, Bad(reason, "x", "invoice.overdue"))
    [found] = [one for one in await guard.dead_letters() if one.coordinates == at.coordinates]
    return found.id


async def test_only_what_nobody_knew_is_found(guard: Guard) -> None:
    ids = {reason: await parked(guard, reason) for reason in (*STRANGE, Reason.INVALID)}
    expected = [ids[reason] for reason in STRANGE]
    assert await guard.unread.ids(0, 10) == expected
    assert await guard.unread.ids(expected[0], 10) == expected[1:]
    assert await guard.unread.ids(0, 1) == expected[:1]
    letters = await guard.unread.letters(expected)
    assert [one.record is not None for one in letters] == [True, True]


@pytest.mark.parametrize("reason", STRANGE)
async def test_what_is_taken_is_one_workers_and_due_for_all_later(
    open_guard: Open, sql: Sql, reason: Reason
) -> None:
    here, there = await open_guard(), await open_guard()
    number = await parked(here, reason)
    taken = await asyncio.gather(here.unread.take([number]), there.unread.take([number]))
    [due] = [one for some in taken for one in some]
    assert (due.letter.id, due.replay, due.row) == (number, False, None)
    assert due.record.value == b'{"a":1}'
    assert await here.take_due() == []
    await sql("UPDATE dead_letter SET next_check_at = now()")
    assert [one.letter.id for one in await there.take_due()] == [number]


async def test_what_was_given_up_meanwhile_is_not_taken(guard: Guard, sql: Sql) -> None:
    number = await parked(guard, Reason.UNKNOWN_TYPE)
    await sql("UPDATE dead_letter SET status = $1", LetterStatus.DISCARDED)
    assert await guard.unread.take([number]) == []
