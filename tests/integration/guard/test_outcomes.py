"""State and dead letter stand together, fences hold, and what is settled settles its letters."""

from __future__ import annotations

import asyncio

import pytest

from consumer.guard import Guard, LetterStatus
from consumer.model import (
    Bad,
    Claim,
    Fenced,
    Found,
    Lease,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Recorded,
    Row,
    Status,
    Transition,
)
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Open, Sql

SENT = MarkSent("file", "id-1")
KIND = "order.receipt"


async def flown(guard: Guard, transition: Transition) -> tuple[Claim, Lease]:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    assert isinstance(await guard.record(lease, transition, item.mail, item.record), Recorded)
    return item, lease


async def row_of(guard: Guard, item: Claim) -> Row:
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("transition", "status", "letter"),
    [
        (SENT, Status.SENT, None),
        (MarkWaiting("503"), Status.WAITING, None),
        (MarkFailed("suppressed"), Status.FAILED, None),
        (MarkFailed("422", Reason.REJECTED), Status.FAILED, (Reason.REJECTED, LetterStatus.OPEN)),
        (MarkFailed("503", Reason.EXHAUSTED), Status.FAILED, (Reason.EXHAUSTED, LetterStatus.OPEN)),
        (MarkUnknown("reset", "file"), Status.UNKNOWN, (Reason.UNKNOWN, LetterStatus.PARKED)),
        (MarkParked("503", 300.0), Status.WAITING, (Reason.EXHAUSTED, LetterStatus.PARKED)),
        (MarkExpired("too old"), Status.EXPIRED, None),
    ],
)
async def test_each_transition(
    guard: Guard, transition: Transition, status: Status, letter: tuple[Reason, LetterStatus] | None
) -> None:
    item, lease = await flown(guard, transition)
    assert (await row_of(guard, item)).status is status
    letters = await guard.dead_letters()
    assert [(one.reason, one.status) for one in letters] == ([] if letter is None else [letter])
    again = await guard.record(lease, transition, item.mail, item.record)
    assert isinstance(again, Recorded), "its first answer may have been lost"
    assert len(await guard.dead_letters()) == len(letters)


async def test_sent_carries_its_proof_and_time(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    result = await guard.record(lease, SENT, item.mail, item.record)
    row = await row_of(guard, item)
    assert isinstance(result, Recorded)
    assert (row.provider_message_id, row.sent_at) == ("id-1", result.sent_at)
    assert result.sent_at is not None


async def test_the_dead_letter_is_the_record_byte_for_byte(guard: Guard) -> None:
    odd = record(
        key=None, value=bytes(range(256)), headers=(("a", b"\0\xff"), ("b", None), ("a", b""))
    )
    await guard.park(odd, Bad(Reason.MALFORMED, "not JSON"))
    (listed,) = await guard.dead_letters()
    letter = await guard.dead_letter(listed.id)
    assert letter is not None
    assert letter.record == odd


async def test_a_record_that_fails_again_has_one_letter(guard: Guard) -> None:
    at = record()
    for _ in range(3):
        await guard.park(at, Bad(Reason.UNKNOWN_TYPE, "no such folder"))
    await guard.park(at, Bad(Reason.INVALID, "other", event_type="order.receipt"))
    counts = {letter.reason: letter.failures for letter in await guard.dead_letters()}
    assert counts == {Reason.UNKNOWN_TYPE: 3, Reason.INVALID: 1}


async def test_a_record_that_comes_by_unread_does_not_end_what_is_parked_for_its_row(
    guard: Guard,
) -> None:
    """The service is at it, with the edition that its row was made with; else a person is asked."""
    item, _ = await flown(guard, MarkUnknown("reset", "file"))
    unread = Bad(Reason.INVALID, "this deploy cannot map it", "order.receipt")
    await guard.park(item.record, unread, fresh=True)
    (letter,) = await guard.dead_letters()
    assert (letter.reason, letter.status) == (Reason.UNKNOWN, LetterStatus.PARKED)
    assert letter.failures == 1
    await guard.park(item.record, unread)
    (letter,) = await guard.dead_letters()
    assert (letter.reason, letter.status) == (Reason.INVALID, LetterStatus.OPEN)


async def test_a_hostile_text_cannot_stop_its_own_dead_letter(guard: Guard) -> None:
    bad = Bad(Reason.UNKNOWN_TYPE, "x\0\ud800" * 9000, event_type="t\0\ud800" * 9000)
    await guard.park(record(), bad)
    (letter,) = await guard.dead_letters()
    assert letter.event_type is not None
    assert len(letter.event_type) == 255


async def test_an_older_epoch_writes_nothing(guard: Guard) -> None:
    item, lease = await flown(guard, MarkWaiting("503", release=True))
    second = granted(await guard.claim(claim(takes=await row_of(guard, item)))).lease
    for transition in (MarkFailed("422", Reason.REJECTED), MarkUnknown("reset", "file")):
        result = await guard.record(lease, transition, item.mail, item.record)
        assert isinstance(result, Fenced)
        assert result.row is not None
        assert result.row.epoch == second.epoch
    assert (await row_of(guard, item)).status is Status.SENDING
    assert await guard.dead_letters() == []


async def test_proof_from_an_older_epoch_is_written(guard: Guard) -> None:
    item, lease = await flown(guard, MarkWaiting("503", release=True))
    second = granted(await guard.claim(claim(takes=await row_of(guard, item)))).lease
    assert isinstance(await guard.record(lease, SENT, item.mail, item.record), Recorded)
    refused = await guard.record(second, MarkFailed("422"), item.mail, item.record)
    assert isinstance(refused, Fenced)
    assert (await row_of(guard, item)).status is Status.SENT


async def test_two_flights_of_a_key_in_one_batch(guard: Guard) -> None:
    """The newer one's acceptance is not taken for the older one's."""
    item, old = await flown(guard, MarkWaiting("503", release=True))
    new = granted(await guard.claim(claim(takes=await row_of(guard, item)))).lease
    refused, sent = await asyncio.gather(
        guard.record(old, MarkFailed("422"), item.mail, item.record),
        guard.record(new, SENT, item.mail, item.record),
    )
    assert isinstance(refused, Fenced)
    assert isinstance(sent, Recorded)


async def test_a_second_acceptance_is_alarmed_and_the_first_stays(open_guard: Open) -> None:
    doubles: list[tuple[Row, MarkSent]] = []
    guard = await open_guard(on_double=lambda row, proof: doubles.append((row, proof)))
    item, lease = await flown(guard, SENT)
    second = MarkSent("file", "id-2")
    assert isinstance(await guard.record(lease, second, item.mail, item.record), Fenced)
    assert [proof for _, proof in doubles] == [second]
    assert (await row_of(guard, item)).provider_message_id == "id-1"


async def test_sending_with_a_dead_lease_becomes_unknown_once(guard: Guard, sql: Sql) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    alive = await row_of(guard, item)
    assert isinstance(await guard.abandon(alive, KIND, item.record), Fenced)
    await sql("UPDATE sent_message SET lease_until = now() - interval '1 second'")
    results = await asyncio.gather(*(guard.abandon(alive, KIND, item.record) for _ in range(4)))
    assert sum(isinstance(result, Recorded) for result in results) == 1
    (letter,) = await guard.dead_letters()
    assert (letter.reason, letter.status) == (Reason.UNKNOWN, LetterStatus.PARKED)
    late = await guard.record(lease, MarkFailed("refused"), item.mail, item.record)
    assert isinstance(late, Fenced)
    assert isinstance(await guard.record(lease, SENT, item.mail, item.record), Recorded)
    (settled,) = await guard.dead_letters()
    assert settled.status is LetterStatus.SETTLED


async def test_a_row_in_doubt_stays_unknown(guard: Guard, sql: Sql) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await sql("UPDATE sent_message SET doubt_since = now(), doubt_provider = 'file'")
    await guard.record(lease, MarkWaiting("refused"), item.mail, item.record)
    row = await row_of(guard, item)
    assert (row.status, row.in_doubt) == (Status.UNKNOWN, True)
    assert [one.reason for one in await guard.dead_letters()] == [Reason.UNKNOWN]
    assert isinstance(await guard.next_attempt(lease, "file", "a", b""), Fenced)


async def test_a_record_beside_an_unknown_row_has_its_own_letter(guard: Guard) -> None:
    item, lease = await flown(guard, MarkUnknown("reset", "file"))
    other = record()
    row = await row_of(guard, item)
    assert isinstance(await guard.park_too(other, KIND, row), Recorded)
    assert len(await guard.dead_letters()) == 2
    await guard.record(lease, SENT, item.mail, item.record)
    assert {one.status for one in await guard.dead_letters()} == {LetterStatus.SETTLED}
    assert isinstance(await guard.park_too(record(), KIND, row), Fenced)


async def test_settling_settles_what_its_record_left_before_it_had_a_key(guard: Guard) -> None:
    item = claim()
    await guard.park(item.record, Bad(Reason.MALFORMED, "by an older release"))
    await guard.park(record(), Bad(Reason.INVALID, "template", "order.receipt", item.mail.key))
    await guard.park(record(), Bad(Reason.CONFLICT, "other", "order.receipt", item.mail.key))
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, SENT, item.mail, item.record)
    statuses = {one.reason: one.status for one in await guard.dead_letters()}
    assert statuses == {
        Reason.MALFORMED: LetterStatus.SETTLED,
        Reason.INVALID: LetterStatus.SETTLED,
        Reason.CONFLICT: LetterStatus.OPEN,  # that mail was never made
    }


async def test_rounds(guard: Guard, sql: Sql) -> None:
    item, _ = await flown(guard, MarkParked("503", 300.0))
    assert await guard.take_due() == []
    await sql("UPDATE dead_letter SET next_check_at = now()")
    (due,) = await guard.take_due()
    assert (due.record, due.letter.reason) == (item.record, Reason.EXHAUSTED)
    assert await guard.take_due() == []
    again = claim(at=item.record, takes=due.row)
    lease = granted(await guard.start_round(again)).lease
    assert (lease.epoch, lease.attempts, lease.round) == (2, 1, 1)
    assert granted(await guard.start_round(again)).lease.token == lease.token  # lost answer
    assert isinstance(await guard.start_round(claim(at=item.record, takes=due.row)), Found)
    last = MarkFailed("503", Reason.EXHAUSTED)
    await guard.record(lease, last, item.mail, item.record)
    (letter,) = await guard.dead_letters()
    assert (letter.status, letter.next_check_at) == (LetterStatus.OPEN, None)
    story = await guard.show(item.mail.key)
    assert story is not None
    assert story.outcome_due, "nobody holds the record any more"


async def test_due_work_is_given_to_one_worker(open_guard: Open, sql: Sql) -> None:
    guards = [await open_guard() for _ in range(3)]
    for n in range(6):
        item = claim(f"due-{n}")
        lease = granted(await guards[0].claim(item)).lease
        await guards[0].record(lease, MarkParked("503", 0.0), item.mail, item.record)
    taken = await asyncio.gather(*(guard.take_due(4) for guard in guards))
    ids = [due.letter.id for part in taken for due in part]
    assert len(ids) == len(set(ids)) == 6


async def test_no_state_without_its_letter(guard: Guard, sql: Sql) -> None:
    """The letter cannot be written: then the row's state is not written either."""
    await sql("ALTER TABLE dead_letter ADD CONSTRAINT never CHECK (false) NOT VALID")
    item = claim()
    lease = granted(await guard.claim(item)).lease
    with pytest.raises(Exception, match="never"):
        await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    assert (await row_of(guard, item)).status is Status.SENDING
