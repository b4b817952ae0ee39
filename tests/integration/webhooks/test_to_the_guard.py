"""From a provider's request to the row: the listener and the real guard together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from consumer.guard import Guard, Story
from consumer.model import Claim, Evidence, Lease, MarkSent, MarkUnknown, News, Recorded, Status
from tests.integration.guard.builders import claim, granted, key_of
from tests.integration.webhooks.listener import Listener, listening


@pytest.fixture
async def guard(database: str) -> AsyncIterator[Guard]:
    opened = await Guard.open(
        database, owner="w1", lease=30.0, retention=30 * 86400.0, environment="test"
    )
    yield opened
    await opened.close()


@pytest.fixture
async def listener(guard: Guard) -> AsyncIterator[Listener]:
    async with listening(hear=guard.hear) as opened:
        yield opened


def told(name: str, kind: str, message_id: str = "id") -> dict[str, object]:
    return {"event": kind, "sendonce_key": key_of(name), "sg_message_id": f"{message_id}.filter.0"}


async def sending(guard: Guard, name: str = "one") -> tuple[Claim, Lease]:
    item = claim(name, provider="sendgrid")
    return item, granted(await guard.claim(item)).lease


async def story(guard: Guard, name: str = "one") -> Story:
    found = await guard.show(key_of(name))
    assert found is not None
    return found


async def test_a_lost_answer_is_settled_by_what_the_provider_tells(
    guard: Guard, listener: Listener
) -> None:
    item, lease = await sending(guard)
    await guard.record(lease, MarkUnknown("reset", "sendgrid"), item.mail, item.record)
    assert (await story(guard)).row.status is Status.UNKNOWN
    assert await listener.sendgrid([told("one", "processed")]) == 200
    settled = await story(guard)
    assert (settled.row.status, settled.settled_by) == (Status.SENT, Evidence.WEBHOOK)
    assert settled.row.provider_message_id == "id"


async def test_an_event_before_our_own_write_corrupts_nothing(
    guard: Guard, listener: Listener
) -> None:
    """The provider is quicker than our database: its event and its answer say the same mail."""
    item, lease = await sending(guard)
    assert await listener.sendgrid([told("one", "delivered")]) == 200
    answered = MarkSent("sendgrid", "id")
    assert isinstance(await guard.record(lease, answered, item.mail, item.record), Recorded)
    found = await story(guard)
    assert (found.row.status, found.row.provider_message_id) == (Status.SENT, "id")
    assert found.second_message_id is None
    assert found.delivery is News.DELIVERED


async def test_events_in_any_order_and_number_leave_the_worst(
    guard: Guard, listener: Listener
) -> None:
    item, lease = await sending(guard)
    await guard.record(lease, MarkSent("sendgrid", "id"), item.mail, item.record)
    for kind in ("bounce", "delivered", "bounce", "processed", "bounce"):
        assert await listener.sendgrid([told("one", kind)]) == 200
    assert (await story(guard)).delivery is News.BOUNCED
    [due] = await guard.news_due()
    assert (due.news, due.provider_message_id) == (News.BOUNCED, "id")


async def test_a_key_that_is_not_ours_is_counted(listener: Listener) -> None:
    assert await listener.sendgrid([told("nobody's", "bounce")]) == 200
    assert listener.counts.news == {("sendgrid", "unknown_key"): 1}


async def test_two_hundred_events_at_once_and_mails_go_on(guard: Guard, listener: Listener) -> None:
    """Half in one request, half one by one, while other mails are claimed and recorded."""
    names = [f"mail-{number}" for number in range(200)]
    items = await asyncio.gather(*(sending(guard, name) for name in names))

    async def mail(name: str) -> None:
        item, lease = await sending(guard, name)
        await guard.record(lease, MarkSent("sendgrid", name), item.mail, item.record)

    statuses = await asyncio.gather(
        listener.sendgrid(told(name, "delivered", name) for name in names[:100]),
        *(listener.sendgrid([told(name, "delivered", name)]) for name in names[100:]),
    )
    async with asyncio.timeout(10):
        await asyncio.gather(*(mail(f"other-{number}") for number in range(50)))
    assert set(statuses) == {200}
    assert listener.counts.news == {("sendgrid", "delivered"): len(items)}
    assert (await story(guard, names[0])).row.status is Status.SENT
    assert (await story(guard, names[199])).row.provider_message_id == names[199]
