"""Rows that nobody knows the outcome of: taken over in doubt, and proven."""

from __future__ import annotations

from dataclasses import replace

import pytest

from consumer.guard import Guard, LetterStatus
from consumer.model import (
    Evidence,
    Fenced,
    Found,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkWaiting,
    Reason,
    Recorded,
    Status,
    elapsed,
)
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.unknowns import KIND, LOST, again, due_of, row_of, story_of, unknown

FOUND = MarkSent("file", "id-1", Evidence.LOOKUP)


async def test_an_unknown_row_says_how_old_its_doubt_is(guard: Guard, sql: Sql) -> None:
    """GUARD 6: absence counts from the attempt's deadline, by the clock that set it."""
    item, _, _ = await unknown(guard)
    await sql(
        "UPDATE sent_message SET first_attempt_at = now() - interval '100 seconds',"
        " attempt_deadline = now() + interval '20 seconds',"
        " doubt_since = now() - interval '10 seconds'"
    )
    before = elapsed()
    due = await due_of(guard, sql)
    assert due.age is not None
    assert (due.record, due.replay) == (item.record, False)
    assert 100 <= due.age.first_attempt < 110
    assert -20 <= due.age.deadline < -10
    assert 10 <= due.age.doubt < 20
    assert before <= due.age.read_at <= elapsed()


async def test_once_more_in_doubt_keeps_the_doubt_and_counts(guard: Guard) -> None:
    item, _, row = await unknown(guard)
    lease = granted(await guard.claim(again(item, row))).lease
    assert (lease.epoch, lease.attempts, lease.round) == (2, 2, 0)
    story = await story_of(guard, item)
    assert (story.row.status, story.row.in_doubt, story.outcome_due) == (Status.SENDING, True, True)
    assert story.history[-1].event == "taken over"


@pytest.mark.parametrize(
    "answer",
    [
        MarkFailed("406"), MarkFailed("422", Reason.REJECTED), MarkWaiting("503"),
        MarkWaiting("stopping", release=True), MarkParked("503", 300.0), MarkExpired("too old"),
        MarkFailed("503", Reason.EXHAUSTED), LOST,
    ],
)  # fmt: skip
async def test_no_later_answer_says_anything_about_the_attempt_in_doubt(
    guard: Guard, answer: MarkWaiting
) -> None:
    """GUARD 1 and 34: neither "refused" nor "exhausted" of the repeat; it stays parked."""
    item, _, row = await unknown(guard)
    lease = granted(await guard.claim(again(item, row))).lease
    assert isinstance(await guard.record(lease, answer, item.mail, item.record), Recorded)
    story = await story_of(guard, item)
    assert (story.row.status, story.doubt_provider) == (Status.UNKNOWN, "file")
    (letter,) = story.letters
    assert (letter.status, letter.reason) == (LetterStatus.PARKED, Reason.UNKNOWN)


async def test_in_doubt_there_is_no_other_provider(guard: Guard) -> None:
    item, _, row = await unknown(guard)
    elsewhere = claim("one", item.record, takes=row, provider="other")
    assert isinstance(await guard.claim(elsewhere), Found)
    other_account = replace(again(item, row), account="another")
    assert isinstance(await guard.claim(other_account), Found)
    assert (await row_of(guard, item)).status is Status.UNKNOWN


async def test_proven_never_sent_ends_the_doubt(guard: Guard) -> None:
    """By absence: another provider may send it now, and the row says by what it was settled."""
    item, _, row = await unknown(guard)
    anew = claim("one", item.record, takes=row, provider="other", clears_doubt=True)
    lease = granted(await guard.claim(anew)).lease
    await guard.record(lease, MarkSent("other", "id-9"), item.mail, item.record)
    story = await story_of(guard, item)
    assert (story.row.provider, story.row.in_doubt) == ("other", False)
    assert (story.settled_by, story.outcome_due) == (Evidence.ABSENCE, True)
    assert story.letters[0].status is LetterStatus.SETTLED


async def test_evidence_is_applied_at_the_epoch_it_was_asked_for(guard: Guard) -> None:
    """GUARD 7: two read "absent"; the second must not send again after the first one's loss."""
    item, _, row = await unknown(guard)
    first, second = again(item, row, clears_doubt=True), again(item, row, clears_doubt=True)
    lease = granted(await guard.claim(first)).lease
    await guard.record(lease, LOST, item.mail, item.record)
    assert isinstance(await guard.claim(second), Found)
    assert not await guard.put_off(row, None, "open", "nothing is left to ask")
    assert await guard.put_off(await row_of(guard, item), 5.0, "asked", "not found yet")


async def test_a_takeover_whose_answer_was_lost_is_ours(guard: Guard) -> None:
    """GUARD 11: the token of the flight, not the worker, says whose the claim is."""
    item, _, row = await unknown(guard)
    ours = again(item, row)
    lease = granted(await guard.claim(ours)).lease
    repeated = granted(await guard.claim(ours)).lease
    assert (repeated.epoch, repeated.attempts, repeated.token) == (2, 2, lease.token)
    assert isinstance(await guard.claim(again(item, row)), Found)


async def test_proof_after_a_look_settles_row_and_letters(guard: Guard) -> None:
    """GUARD 25 and 28: every letter of the key is settled, and upstream will hear."""
    item, _, row = await unknown(guard)
    beside = record()
    await guard.park_too(beside, KIND, row)
    assert isinstance(await guard.prove(item.mail.key, FOUND, "found when asked"), Recorded)
    story = await story_of(guard, item)
    assert (story.row.status, story.settled_by) == (Status.SENT, Evidence.LOOKUP)
    assert {letter.status for letter in story.letters} == {LetterStatus.SETTLED}
    assert [settled.row.key for settled in await guard.outcomes_due()] == [item.mail.key]
    line = story.history[-1]
    assert (line.event, line.provider_message_id) == ("sent", "id-1")
    assert line.detail == "by lookup: found when asked"


@pytest.mark.parametrize("status", ["discarded", "expired", "failed", "waiting", "unknown"])
async def test_proof_is_taken_in_every_state_and_told(guard: Guard, sql: Sql, status: str) -> None:
    """GUARD 26 and 28: given up, then proven; upstream hears, also where no letter is left."""
    item, _, _ = await unknown(guard)
    await sql(
        "UPDATE sent_message SET status = $1, doubt_since = NULL, doubt_provider = NULL"
        if status != "unknown"
        else "UPDATE sent_message SET status = $1",
        status,
    )
    await sql("DELETE FROM dead_letter")
    assert isinstance(await guard.prove(item.mail.key, FOUND, "found"), Recorded)
    (settled,) = await guard.outcomes_due()
    assert (settled.row.status, settled.record.value) == (Status.SENT, None)
    assert settled.record.coordinates == item.record.coordinates
    await guard.outcome_told(settled.row)
    assert await guard.outcomes_due() == []


async def test_the_same_proof_twice_is_one_and_another_is_a_double(open_guard: Open) -> None:
    alarms: list[MarkSent] = []
    guard = await open_guard(on_double=lambda row, proof: alarms.append(proof))
    item, _, _ = await unknown(guard)
    second = MarkSent("file", "id-2", Evidence.WEBHOOK)
    for _ in range(2):
        assert isinstance(await guard.prove(item.mail.key, FOUND, "found"), Recorded)
        assert isinstance(await guard.prove(item.mail.key, second, "told"), Fenced)
    await guard.prove(item.mail.key, MarkSent("file", "id-3"), "told")
    story = await story_of(guard, item)
    assert [alarm.provider_message_id for alarm in alarms] == ["id-2", "id-3"]
    assert (story.row.provider_message_id, story.second_message_id) == ("id-1", "id-2")
    assert [line.event for line in story.history].count("double") == 2
    assert await guard.prove("0" * 48, FOUND, "found") == Fenced(None)


async def test_the_first_evidence_stays_on_the_row(guard: Guard) -> None:
    """Our own answer comes after a lookup found the mail: it stands, and changes nothing."""
    item, lease, _ = await unknown(guard)
    await guard.prove(item.mail.key, FOUND, "found")
    late = await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert isinstance(late, Recorded)
    assert late.sent_at is not None
    assert (await story_of(guard, item)).settled_by is Evidence.LOOKUP


async def test_a_late_answer_settles_what_was_unknown(guard: Guard) -> None:
    """Also at an older epoch, while somebody repeats the attempt; a late "failed" does not (35)."""
    item, lease, row = await unknown(guard)
    await guard.claim(again(item, row))
    failed = await guard.record(lease, MarkFailed("406"), item.mail, item.record)
    assert isinstance(failed, Fenced)
    sent = await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert isinstance(sent, Recorded)
    assert (await story_of(guard, item)).settled_by is Evidence.LATE


async def test_a_repeat_that_was_accepted_says_so(guard: Guard) -> None:
    item, _, row = await unknown(guard)
    lease = granted(await guard.claim(again(item, row))).lease
    sent = MarkSent("file", "id-1", Evidence.REPEAT)
    assert isinstance(await guard.record(lease, sent, item.mail, item.record), Recorded)
    story = await story_of(guard, item)
    assert (story.settled_by, story.row.in_doubt) == (Evidence.REPEAT, False)
    assert [line.event for line in story.history] == ["unknown", "taken over", "sent"]
