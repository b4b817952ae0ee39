"""A claim is granted once, whatever races, repeats or shares a batch."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from consumer.guard import Guard, KeyDrift, TakeOver, judge
from consumer.model import (
    Fenced,
    Found,
    Granted,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkWaiting,
    Reason,
    Recorded,
    Status,
    elapsed,
)
from tests.integration.guard.builders import claim, granted, key_of, mail, record
from tests.integration.guard.conftest import Open, Sql


async def test_of_many_workers_racing_for_a_key_one_is_granted(open_guard: Open) -> None:
    guards = [await open_guard() for _ in range(4)]
    names = [f"raced-{n}" for n in range(50)]
    results = await asyncio.gather(
        *(guard.claim(claim(name)) for name in names for guard in guards for _ in range(3))
    )
    winners = [result.lease.key for result in results if isinstance(result, Granted)]
    assert sorted(winners) == sorted(key_of(name) for name in names)


async def test_two_claims_of_one_key_in_one_batch(guard: Guard) -> None:
    first, second = await asyncio.gather(guard.claim(claim()), guard.claim(claim()))
    assert isinstance(first, Granted)
    assert isinstance(second, Found)
    assert second.row.token == first.lease.token
    assert second.row.lease_live


async def test_two_keys_for_one_record_in_one_batch_is_drift(guard: Guard) -> None:
    at = record()
    results = await asyncio.gather(guard.claim(claim("a", at)), guard.claim(claim("b", at)))
    (lost,) = [result for result in results if isinstance(result, Found)]
    other = mail("b") if lost.row.key == key_of("a") else mail("a")
    assert isinstance(judge(lost.row, other, at.coordinates, 4), KeyDrift)


async def test_the_lease_ends_for_us_before_it_ends_for_postgres(guard: Guard, sql: Sql) -> None:
    before = elapsed()
    lease = granted(await guard.claim(claim())).lease
    assert before <= lease.ends_at - 30.0 <= elapsed()
    (row,) = await sql(
        "SELECT extract(epoch FROM lease_until - now())::float AS left_ FROM sent_message"
    )
    assert lease.ends_at - elapsed() <= row["left_"] + 0.001


async def test_look_finds_by_key_and_else_by_coordinates(guard: Guard) -> None:
    at = record()
    await guard.claim(claim("old", at))
    by_key = await guard.look(key_of("old"), "order.receipt", record().coordinates)
    drifted = await guard.look(key_of("new"), "order.receipt", at.coordinates)
    nothing = await guard.look(key_of("new"), "order.receipt", record().coordinates)
    assert by_key == drifted
    assert by_key is not None
    assert by_key.coordinates == at.coordinates
    assert nothing is None


async def test_a_failed_row_starts_anew_for_another_record(guard: Guard, sql: Sql) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkFailed("no"), item.mail, item.record)
    (row,) = [await guard.look(item.mail.key, "order.receipt", item.record.coordinates)]
    again = claim(takes=row, fingerprint="f2")
    second = granted(await guard.claim(again)).lease
    assert (second.epoch, second.attempts, second.round) == (2, 1, 0)
    (stands,) = await sql('SELECT fingerprint, "offset", error FROM sent_message')
    assert tuple(stands) == ("f2", again.record.offset, None)


async def test_a_waiting_row_goes_on_with_its_attempts_and_coordinates(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("503", release=True), item.mail, item.record)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    second = granted(await guard.claim(claim(takes=row))).lease
    assert (second.epoch, second.attempts) == (2, 2)
    after = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    assert after is not None
    assert after.coordinates == item.record.coordinates


async def test_a_row_is_taken_over_once(open_guard: Open, guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("503", release=True), item.mail, item.record)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    workers = [await open_guard() for _ in range(4)]
    results = await asyncio.gather(
        *(worker.claim(claim(takes=row)) for worker in workers for _ in range(5))
    )
    assert sum(isinstance(result, Granted) for result in results) == 1


async def test_a_row_that_failed_since_it_was_read_is_not_taken_over(guard: Guard) -> None:
    """A rejection is not tried again by a mere redelivery that read the row before it."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("503", release=True), item.mail, item.record)
    waiting = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    await guard.record(lease, MarkFailed("422"), item.mail, item.record)
    assert isinstance(await guard.claim(claim(at=item.record, takes=waiting)), Found)
    assert isinstance(await guard.start_round(claim(at=item.record, takes=waiting)), Found)


async def test_a_row_that_used_up_its_round_since_it_was_read_is_not_taken_over(
    guard: Guard,
) -> None:
    """It would make one attempt more than the cap: judged was a row that had one left."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("503", release=True), item.mail, item.record)
    waiting = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    await guard.next_attempt(lease, "file", "account", b"h" * 32)
    await guard.record(lease, MarkParked("503", 300.0), item.mail, item.record)
    assert isinstance(await guard.claim(claim(at=item.record, takes=waiting)), Found)


async def test_a_live_lease_cannot_be_taken_over(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("503"), item.mail, item.record)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    assert isinstance(await guard.claim(claim(takes=row)), Found)


async def test_coordinates_are_taken_from_a_failed_row(guard: Guard, sql: Sql) -> None:
    """The common repair: a wrong mapping failed, it was fixed, the record comes again."""
    at = record()
    wrong = claim("wrong", at)
    lease = granted(await guard.claim(wrong)).lease
    await guard.record(lease, MarkFailed("422", Reason.REJECTED), wrong.mail, at)
    right = claim("right", at)
    found = await guard.look(right.mail.key, "order.receipt", at.coordinates)
    assert found is not None
    assert isinstance(judge(found, right.mail, at.coordinates, 4), TakeOver)
    second = granted(await guard.claim(claim("right", at, takes=found))).lease
    assert second.epoch == 1
    rows = await sql('SELECT "offset" FROM sent_message WHERE status = $1', "failed")
    assert [row["offset"] for row in rows] == [None]
    await guard.record(second, MarkSent("file", "id"), right.mail, at)
    letters = await guard.dead_letters()
    assert [letter.status for letter in letters] == ["settled"]


async def test_coordinates_are_not_taken_from_any_other_row(guard: Guard) -> None:
    at = record()
    await guard.claim(claim("first", at))
    result = await guard.claim(claim("second", at))
    assert isinstance(result, Found)
    assert isinstance(judge(result.row, mail("second"), at.coordinates, 4), KeyDrift)


async def test_a_failed_row_is_not_claimed_for_a_record_that_stands_elsewhere(guard: Guard) -> None:
    """A takeover that moves coordinates onto a taken pair is drift, not an error for the batch."""
    spoken_for = record()
    await guard.claim(claim("elsewhere", spoken_for))
    failed = claim("failed")
    lease = granted(await guard.claim(failed)).lease
    await guard.record(lease, MarkFailed("no"), failed.mail, failed.record)
    row = await guard.look(failed.mail.key, "order.receipt", failed.record.coordinates)
    drifting, neighbour = await asyncio.gather(
        guard.claim(claim("failed", spoken_for, takes=row)), guard.claim(claim("neighbour"))
    )
    assert isinstance(drifting, Found)
    assert drifting.row.key == key_of("elsewhere")
    assert isinstance(neighbour, Granted)


async def test_a_row_that_vanished_is_claimed_as_new(guard: Guard, sql: Sql) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkFailed("no"), item.mail, item.record)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    await sql("DELETE FROM sent_message")
    assert granted(await guard.claim(claim(takes=row))).lease.epoch == 1


async def test_a_broken_value_fails_alone(guard: Guard) -> None:
    """NUL cannot stand in a text: that claim fails loudly, its neighbours in the batch do not."""
    results = await asyncio.gather(
        guard.claim(claim("good")),
        guard.claim(claim("bad", fingerprint="\0")),
        guard.claim(claim("also good")),
        return_exceptions=True,
    )
    assert [type(result).__name__ for result in results] == [
        "Granted",
        "CharacterNotInRepertoireError",
        "Granted",
    ]


async def test_a_delayed_write_never_speaks_for_the_attempt_after_its_own(guard: Guard) -> None:
    """An attempt that was given back counts no more, so a count could not tell the two apart.

    The second one was accepted, its answer lost; a repeat of the first one's write came late and
    made the row `waiting`, another worker's refusal made it `failed` (simulation, 993137811949).
    """
    item = claim()
    lease = granted(await guard.claim(item)).lease
    first, given_back = replace(lease), MarkWaiting("429", give_back=True)
    await guard.record(lease, given_back, item.mail, item.record)
    assert await guard.next_attempt(lease, "first", "account", b"h" * 32) is lease
    late = await guard.record(first, given_back, item.mail, item.record)
    assert isinstance(late, Fenced)
    assert late.row is not None
    assert late.row.status is Status.SENDING


async def test_a_further_attempt_keeps_the_token_and_has_an_epoch_of_its_own(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    assert await guard.record(lease, MarkWaiting("503"), item.mail, item.record) == Recorded()
    again = await guard.next_attempt(lease, "second", "account", b"h" * 32)
    assert again is lease
    assert (lease.epoch, lease.attempts) == (2, 2)
    row = await guard.look(item.mail.key, "order.receipt", item.record.coordinates)
    assert row is not None
    assert (row.status, row.attempts, row.provider) == (Status.SENDING, 2, "second")


async def test_an_attempt_given_back_does_not_count(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("429", give_back=True), item.mail, item.record)
    assert lease.attempts == 0
    await guard.next_attempt(lease, "file", "account", b"h" * 32)
    assert lease.attempts == 1


async def test_batches_form_by_themselves(open_guard: Open) -> None:
    sizes: list[int] = []
    guard = await open_guard(on_batch=lambda kind, rows, seconds: sizes.append(rows))
    await asyncio.gather(*(guard.claim(claim(f"b{n}")) for n in range(600)))
    assert sum(sizes) == 600
    assert max(sizes) == 256
