"""A line for all that was not plainly accepted, in the transaction of what it tells."""

from __future__ import annotations

import pytest

from consumer.guard import Guard
from consumer.model import (
    Lease,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    News,
    Notice,
    Reason,
    Transition,
)
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Sql
from tests.integration.guard.unknowns import row_of, story_of, unknown

RETENTION = "interval '31 days'"


@pytest.mark.parametrize(
    ("transition", "event"),
    [
        (MarkWaiting("503"), "waiting"), (MarkWaiting("429", give_back=True), "waiting"),
        (MarkFailed("406"), "failed"), (MarkFailed("422", Reason.REJECTED), "failed"),
        (MarkParked("503", 300.0), "parked"), (MarkUnknown("reset", "file"), "unknown"),
        (MarkExpired("too old"), "expired"),
    ],
)  # fmt: skip
async def test_each_transition_leaves_its_line(
    guard: Guard, transition: Transition, event: str
) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, transition, item.mail, item.record)
    (line,) = (await story_of(guard, item)).history
    assert (line.event, line.provider, line.account) == (event, "file", "account")
    assert (line.epoch, line.attempt, line.times) == (1, 1, 1)
    assert line.at == line.last_at


async def test_a_plain_acceptance_leaves_none(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert (await story_of(guard, item)).history == ()


async def test_a_row_that_waits_for_days_has_a_short_history(guard: Guard) -> None:
    """Each time slowed down, now and then with other words: counted, not written again."""
    item = claim()
    lease: object = granted(await guard.claim(item)).lease
    for n in range(60):
        assert isinstance(lease, Lease)
        error = "HTTP 429" if n % 3 else "not started in time"
        slow = MarkWaiting(error, give_back=True)
        await guard.record(lease, slow, item.mail, item.record)
        lease = await guard.next_attempt(lease, "file", "account", b"h" * 32)
    lines = (await story_of(guard, item)).history
    assert {line.detail: line.times for line in lines} == {
        "HTTP 429": 40,
        "not started in time": 20,
    }
    assert all(line.at < line.last_at for line in lines)


async def test_attempts_are_told_one_by_one(guard: Guard) -> None:
    item = claim()
    lease: object = granted(await guard.claim(item)).lease
    for _ in range(3):
        assert isinstance(lease, Lease)
        await guard.record(lease, MarkWaiting("503"), item.mail, item.record)
        lease = await guard.next_attempt(lease, "file", "account", b"h" * 32)
    lines = (await story_of(guard, item)).history
    assert [(line.attempt, line.times) for line in lines] == [(1, 1), (2, 1), (3, 1)]


async def test_takeovers_say_what_they_go_on_from(guard: Guard) -> None:
    item, _, row = await unknown(guard)
    lease = granted(await guard.claim(claim("one", item.record, takes=row))).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    row = await row_of(guard, item)
    anew = claim("one", item.record, takes=row, clears_doubt=True)
    lease = granted(await guard.claim(anew)).lease
    await guard.record(lease, MarkFailed("406"), item.mail, item.record)
    await guard.claim(claim("one", takes=await row_of(guard, item)))
    told = [(line.event, line.detail) for line in (await story_of(guard, item)).history]
    assert told == [
        ("unknown", "reset"), ("taken over", "once more, in doubt"), ("unknown", "reset"),
        ("taken over", "never sent, by absence"), ("failed", "406"),
        ("taken over", "failed before"),
    ]  # fmt: skip


async def test_no_address_in_a_text(guard: Guard) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkWaiting("550 <ada@example.org>"), item.mail, item.record)
    assert "@" not in (await story_of(guard, item)).history[0].detail


async def test_no_state_without_its_line(guard: Guard, sql: Sql) -> None:
    """GUARD 22 holds for history as for letters: one transaction."""
    await sql("ALTER TABLE history ADD CONSTRAINT never CHECK (false) NOT VALID")
    item = claim()
    lease = granted(await guard.claim(item)).lease
    with pytest.raises(Exception, match="never"):
        await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    story = await story_of(guard, item)
    assert (story.row.status, story.letters) == ("sending", ())


async def test_history_goes_with_its_row(guard: Guard, sql: Sql) -> None:
    for name in ("kept", "gone"):
        item = claim(name)
        lease = granted(await guard.claim(item)).lease
        await guard.record(lease, MarkFailed("406"), item.mail, item.record)
    await sql(
        f"UPDATE sent_message SET claimed_at = now() - {RETENTION} WHERE idempotency_key = $1",
        item.mail.key,
    )
    assert await guard.prune() == 1
    assert len(await sql("SELECT 1 FROM history")) == 1
    assert await guard.show(item.mail.key) is None


async def test_a_row_is_kept_until_its_bounce_was_told(guard: Guard, sql: Sql) -> None:
    """GUARD 33, for news: what upstream has not heard is not forgotten."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    await guard.hear(Notice(item.mail.key, "file", "id-1", News.BOUNCED))
    await sql(f"UPDATE sent_message SET claimed_at = now() - {RETENTION}")
    assert await guard.prune() == 0
    (due,) = await guard.news_due()
    await guard.news_told(due.id)
    assert await guard.prune() == 1


async def test_a_row_is_kept_while_its_letter_is_parked(guard: Guard, sql: Sql) -> None:
    """GUARD 33: a pruned row, then evidence or a replay, would be a second mail."""
    await unknown(guard)
    await sql(f"UPDATE sent_message SET claimed_at = now() - {RETENTION}")
    assert await guard.prune() == 0


async def test_a_proof_nobody_was_told_of_keeps_its_row(guard: Guard, sql: Sql) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkFailed("406"), item.mail, item.record)
    await guard.prove(item.mail.key, MarkSent("file", "id-1"), "told")
    await sql(f"UPDATE sent_message SET claimed_at = now() - {RETENTION}")
    assert await guard.prune() == 0
    (settled,) = await guard.outcomes_due()
    await guard.outcome_told(settled.row)
    assert await guard.prune() == 1
