"""Letters of what nobody knows: looked at later, opened for a person, replayed by one."""

from __future__ import annotations

import asyncio

from consumer.guard import Guard, LetterStatus
from consumer.model import Bad, MarkFailed, MarkParked, MarkSent, Reason
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Sql
from tests.integration.guard.unknowns import KIND, again, due_of, row_of, story_of, unknown


async def test_looks_in_vain_move_the_date_and_are_counted_on_one_line(
    guard: Guard, sql: Sql
) -> None:
    item, _, row = await unknown(guard)
    for _ in range(30):
        assert await guard.put_off(row, 600.0, "asked", "not found yet")
    story = await story_of(guard, item)
    assert [(line.event, line.times) for line in story.history] == [("unknown", 1), ("asked", 30)]
    (seconds,) = await sql("SELECT extract(epoch FROM next_check_at - now()) FROM dead_letter")
    assert 590 < seconds[0] <= 600


async def test_nothing_left_to_ask_opens_every_letter_of_the_key(guard: Guard) -> None:
    """GUARD 24: the record beside it has a letter of its own, and shares its fate."""
    item, _, row = await unknown(guard)
    await guard.park_too(record(), KIND, row)
    assert await guard.put_off(row, None, "open", "nothing is left to ask")
    letters = (await story_of(guard, item)).letters
    assert [letter.status for letter in letters] == [LetterStatus.OPEN] * 2
    late = record()
    await guard.park_too(late, KIND, row)
    letter = (await story_of(guard, item)).letters[-1]
    assert letter.status is LetterStatus.PARKED
    await guard.share_fate(letter)
    assert (await story_of(guard, item)).letters[-1].status is LetterStatus.OPEN


async def test_a_letter_beside_waits_while_the_rows_own_is_parked(guard: Guard, sql: Sql) -> None:
    item, _, row = await unknown(guard)
    await guard.park_too(record(), KIND, row)
    beside = (await story_of(guard, item)).letters[-1]
    await guard.share_fate(beside)
    (wait,) = await sql(
        "SELECT status, extract(epoch FROM next_check_at - now()) FROM dead_letter WHERE id = $1",
        beside.id,
    )
    assert wait[0] == "parked"
    assert 50 < wait[1] <= 60


async def test_waiting_for_a_deploy_moves_nothing_but_the_date(guard: Guard, sql: Sql) -> None:
    item, _, _ = await unknown(guard)
    due = await due_of(guard, sql)
    await guard.wait_for_deploy(due.letter, 600.0)
    assert await guard.take_due() == []
    story = await story_of(guard, item)
    assert story.letters[0].status is LetterStatus.PARKED
    assert len(story.history) == 1


async def test_what_no_deploy_has_read_for_a_day_is_opened(guard: Guard, sql: Sql) -> None:
    """L6: its folder is gone for good, and nobody but a person can say so."""
    await unknown(guard)
    await sql("UPDATE dead_letter SET last_failed_at = now() - interval '25 hours'")
    due = await due_of(guard, sql)
    await guard.wait_for_deploy(due.letter, 600.0)
    (letter,) = await guard.dead_letters()
    assert (letter.status, letter.next_check_at) == (LetterStatus.OPEN, None)


async def test_the_record_of_a_replay_is_told_by_its_row(guard: Guard, sql: Sql) -> None:
    """GUARD 28: nobody holds the record; the worker dies after `sent`, upstream still hears."""
    item = claim(late=True)
    lease = granted(await guard.claim(item)).lease
    assert (await story_of(guard, item)).outcome_due
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    story = await story_of(guard, item)
    assert (story.outcome_due, story.settled_by, story.history) == (True, None, ())


async def test_late_and_ordinary_claims_in_one_batch(guard: Guard) -> None:
    items = [claim(f"n{n}", late=n % 2 == 0) for n in range(6)]
    await asyncio.gather(*map(guard.claim, items))
    assert [(await story_of(guard, item)).outcome_due for item in items] == [True, False] * 3


async def test_a_replay_closes_its_letter_and_a_failure_opens_it_again(
    guard: Guard, sql: Sql
) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    rejected = MarkFailed("422", Reason.REJECTED)
    await guard.record(lease, rejected, item.mail, item.record)
    replay = "UPDATE dead_letter SET status = 'parked', replay = true, next_check_at = now()"

    await sql(replay)
    (due,) = await guard.take_due()
    assert due.replay
    lease = granted(await guard.claim(again(item, await row_of(guard, item), late=True))).lease
    await guard.record(lease, rejected, item.mail, item.record)
    await guard.replayed(due.letter)
    (letter,) = await guard.dead_letters()
    assert (letter.status, letter.failures, letter.replay) == (LetterStatus.OPEN, 2, False)

    await sql(replay)
    (due,) = await guard.take_due()
    lease = granted(await guard.claim(again(item, await row_of(guard, item), late=True))).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert (await guard.dead_letters())[0].status is LetterStatus.SETTLED
    await guard.replayed(due.letter)
    assert (await guard.dead_letters())[0].status is LetterStatus.REPLAYED


async def test_a_replay_that_ended_as_a_duplicate_is_not_due_for_ever(
    guard: Guard, sql: Sql
) -> None:
    """Nothing was written about its record, so nothing else closes its letter."""
    item, lease, _ = await unknown(guard)
    await guard.park(record(), Bad(Reason.CONFLICT, "other", KIND, item.mail.key))
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    await sql(
        "UPDATE dead_letter SET status = 'parked', replay = true, next_check_at = now()"
        " WHERE reason = 'conflict'"
    )
    (due,) = await guard.take_due()
    await guard.replayed(due.letter)
    statuses = {one.reason: one.status for one in await guard.dead_letters()}
    assert statuses[Reason.CONFLICT] is LetterStatus.REPLAYED


async def test_a_replay_parked_anew_stays_parked(guard: Guard, sql: Sql) -> None:
    """The next round goes on as the person's replay: its age does not matter then either."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkParked("503", 300.0), item.mail, item.record)
    await sql("UPDATE dead_letter SET replay = true, next_check_at = now()")
    (due,) = await guard.take_due()
    assert due.row is not None
    lease = granted(await guard.start_round(claim("one", item.record, takes=due.row))).lease
    await guard.record(lease, MarkParked("503", 1800.0), item.mail, item.record)
    await guard.replayed(due.letter)
    (letter,) = await guard.dead_letters()
    assert (letter.status, letter.replay) == (LetterStatus.PARKED, True)
