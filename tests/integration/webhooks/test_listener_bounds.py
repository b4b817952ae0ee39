"""Laws of the listener under load, and of its start: a bound on everything, and nobody starved."""

from __future__ import annotations

import asyncio

from consumer.telemetry.webhooks import WebhookCounts
from consumer.webhooks import Counts
from consumer.webhooks.server import Bounds
from tests.integration.webhooks.listener import (
    FakeGuard,
    delivery,
    event,
    listening,
    until,
)


async def test_two_hundred_requests_at_once_are_all_heard_and_few_are_written_at_once() -> None:
    guard = FakeGuard(before=lambda: asyncio.sleep(0.005))
    async with listening(guard) as listener:
        statuses = await asyncio.gather(*(listener.sendgrid([event(n)]) for n in range(200)))
        assert set(statuses) == {200}
        assert len({notice.key for notice in guard.heard}) == 200
        assert guard.most_at_once <= Bounds().writing


async def test_two_thousand_events_in_one_request_do_not_shut_others_out() -> None:
    guard = FakeGuard(before=lambda: asyncio.sleep(0.001))
    async with listening(guard) as listener:
        many = asyncio.create_task(listener.sendgrid(event(n) for n in range(2000)))
        assert await listener.postmark(delivery()) == 200
        assert await many == 200
        assert len(guard.heard) == 2001
        assert guard.most_at_once <= Bounds().writing


async def test_whoever_finds_no_place_is_sent_away_at_once_and_not_kept_waiting() -> None:
    bounds = Bounds(at_once=1, waiting=1, seconds=1.0)
    release = asyncio.Event()
    guard = FakeGuard(before=release.wait)
    async with listening(guard, bounds) as listener:
        first = asyncio.create_task(listener.postmark(delivery()))
        await until(lambda: guard.at_once == 1)
        second = asyncio.create_task(listener.sendgrid([event(1)]))
        await until(lambda: listener.server._present == 2)
        assert await listener.sendgrid([event(2)]) == 503
        release.set()
        assert await first == 200
        assert await second == 200
        assert listener.counts.results["sendgrid", "busy"] == 1


async def test_a_caller_that_does_not_send_its_body_gives_up_its_place() -> None:
    async with listening(bounds=Bounds(at_once=1, reading=0.1)) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"POST /webhooks/postmark HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        assert await listener.postmark(delivery()) == 200
        assert b" 408 " in await reader.readline()
        writer.close()
        await writer.wait_closed()
        assert listener.counts.results["postmark", "slow"] == 1


async def test_a_caller_that_hangs_up_takes_nothing_with_it() -> None:
    async with listening(bounds=Bounds(at_once=1)) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"POST /webhooks/postmark HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        await writer.drain()
        await until(lambda: listener.server._present == 1)
        writer.transport.abort()
        assert await listener.postmark(delivery()) == 200
        assert listener.server._present == 0


def test_the_counters_of_the_service_are_counters_of_the_listener() -> None:
    counts: type[Counts] = WebhookCounts
    assert counts is WebhookCounts
