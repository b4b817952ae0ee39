"""What webhooks tell: proof in any state, in any order, any number of times."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from consumer.guard import Guard
from consumer.model import (
    Claim,
    Evidence,
    Fenced,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    News,
    Notice,
    Recorded,
    Status,
)
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.unknowns import row_of, story_of, unknown

AT = datetime(2026, 1, 2, tzinfo=UTC)
WORST = (News.ACCEPTED, News.DELIVERED, News.BOUNCED, News.COMPLAINED)


def notice(item: Claim, news: News, message_id: str = "id-1", detail: str = "5.1.1") -> Notice:
    return Notice(item.mail.key, "file", message_id, news, AT, detail)


async def sent(guard: Guard, name: str = "one") -> Claim:
    item = claim(name)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    return item


async def test_an_event_before_our_own_write_corrupts_nothing(guard: Guard) -> None:
    """A live flight: proven by the webhook; its own answer then stands, and all else is fenced."""
    item = claim()
    lease = granted(await guard.claim(item)).lease
    assert await guard.hear(notice(item, News.DELIVERED))
    story = await story_of(guard, item)
    assert (story.row.status, story.settled_by) == (Status.SENT, Evidence.WEBHOOK)
    for late in (MarkUnknown("reset", "file"), MarkWaiting("503"), MarkWaiting("x", release=True)):
        assert isinstance(await guard.record(lease, late, item.mail, item.record), Fenced)
    own = await guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
    assert own == Recorded(story.row.sent_at)
    assert await guard.outcomes_due() == [], "the flight itself tells it"
    assert (await story_of(guard, item)).settled_by is Evidence.WEBHOOK


async def test_another_answer_after_the_webhook_is_a_double(open_guard: Open) -> None:
    alarms: list[MarkSent] = []
    guard = await open_guard(on_double=lambda row, proof: alarms.append(proof))
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.hear(notice(item, News.ACCEPTED))
    other = MarkSent("file", "id-2")
    assert isinstance(await guard.record(lease, other, item.mail, item.record), Fenced)
    assert (await story_of(guard, item)).second_message_id == "id-2"
    assert alarms == [other]


async def test_an_unknown_is_settled_by_its_webhook(guard: Guard) -> None:
    item, _, _ = await unknown(guard)
    assert await guard.hear(notice(item, News.BOUNCED))
    story = await story_of(guard, item)
    assert (story.row.status, story.delivery) == (Status.SENT, News.BOUNCED)
    assert [line.event for line in story.history] == ["unknown", "sent", "bounced"]
    assert [settled.row.key for settled in await guard.outcomes_due()] == [item.mail.key]


async def test_what_a_webhook_settles_is_logged_once_under_its_key(guard: Guard) -> None:
    item, _, _ = await unknown(guard)
    with capture_logs() as lines:
        for _ in range(2):
            await guard.hear(notice(item, News.BOUNCED))
    assert [line for line in lines if line["event"] == "settled"] == [
        {
            "event": "settled", "log_level": "info", "key": item.mail.key, "by": Evidence.WEBHOOK,
            "provider": "file", "provider_message_id": "id-1",
        }
    ]  # fmt: skip


async def test_no_such_key(guard: Guard) -> None:
    assert not await guard.hear(notice(claim(), News.DELIVERED))
    assert not await guard.hear(notice(claim(), News.BOUNCED))
    assert await guard.news_due() == []


async def test_good_news_of_a_sent_mail_leaves_no_line(guard: Guard, sql: Sql) -> None:
    """One small update a mail, or webhooks would cost more than sending."""
    items = [await sent(guard, f"n{n}") for n in range(5)]
    news = (News.ACCEPTED, News.DELIVERED)
    heard = await asyncio.gather(*(guard.hear(notice(i, one)) for i in items for one in news))
    assert heard == [True] * 10
    rows = await sql("SELECT delivery, delivery_at, settled_by FROM sent_message")
    assert [tuple(row) for row in rows] == [("delivered", AT, None)] * 5
    assert await sql("SELECT 1 FROM history") == []


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(told=st.lists(st.sampled_from(News), min_size=1, max_size=8))
async def test_order_and_repetition_do_not_matter(guard: Guard, sql: Sql, told: list[News]) -> None:
    await sql("TRUNCATE sent_message, history, dead_letter")
    item = await sent(guard)
    for news in told:
        assert await guard.hear(notice(item, news))
    story = await story_of(guard, item)
    assert story.delivery is max(told, key=WORST.index)
    bad = {news for news in told if news in {News.BOUNCED, News.COMPLAINED}}
    assert {due.news for due in await guard.news_due()} == bad
    assert len(story.history) == len(bad)


async def test_bad_news_is_told_once(guard: Guard) -> None:
    item = await sent(guard)
    await guard.hear(notice(item, News.BOUNCED, detail="550 <ada@example.org> gone"))
    (due,) = await guard.news_due()
    assert (due.row.key, due.news, due.provider) == (item.mail.key, News.BOUNCED, "file")
    assert (due.provider_message_id, due.detail) == ("id-1", "550 (address) gone")
    await guard.news_told(due.id)
    await guard.hear(notice(item, News.BOUNCED))
    assert await guard.news_due() == []


async def test_news_of_a_second_mail_is_not_the_firsts(open_guard: Open) -> None:
    alarms: list[MarkSent] = []
    guard = await open_guard(on_double=lambda row, proof: alarms.append(proof))
    item = await sent(guard)
    for _ in range(2):
        assert await guard.hear(notice(item, News.BOUNCED, "id-2"))
    story = await story_of(guard, item)
    assert (story.delivery, story.second_message_id, len(alarms)) == (None, "id-2", 1)
    assert [due.provider_message_id for due in await guard.news_due()] == ["id-2"]


@pytest.mark.parametrize("status", ["discarded", "expired", "failed"])
async def test_a_closed_row_is_opened_by_news_only(guard: Guard, sql: Sql, status: str) -> None:
    """GUARD 26: discarded, then the webhook says delivered."""
    item = claim()
    await guard.claim(item)
    await sql("UPDATE sent_message SET status = $1, lease_until = NULL", status)
    assert await guard.hear(notice(item, News.DELIVERED))
    assert (await row_of(guard, item)).status is Status.SENT
    assert len(await guard.outcomes_due()) == 1


async def test_webhooks_and_flights_meet_in_any_order(guard: Guard) -> None:
    """Both at once, many times: each row ends sent, with its own id, and nothing deadlocks."""
    items = [claim(f"n{n}") for n in range(40)]
    leases = [granted(await guard.claim(item)).lease for item in items]
    own = [
        guard.record(lease, MarkSent("file", "id-1"), item.mail, item.record)
        for lease, item in zip(leases, items, strict=True)
    ]
    told = [guard.hear(notice(item, news)) for item in reversed(items) for news in WORST]
    results = await asyncio.gather(*own, *told)
    assert all(isinstance(result, Recorded) for result in results[:40])
    for item in items:
        story = await story_of(guard, item)
        assert (story.row.status, story.delivery) == (Status.SENT, News.COMPLAINED)
        assert story.second_message_id is None
