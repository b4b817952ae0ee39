"""The listener on a free port, the guard it speaks to, and the requests of providers."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from consumer.admin import Listener as Port
from consumer.model import Notice
from consumer.webhooks import Source, WebhookReceiver, build
from consumer.webhooks.server import Bounds
from tests.unit.webhooks.signing import KEY, SendgridSigner, basic, dumped, mailgun, svix, whsec

SECRET = whsec()
SENDGRID = SendgridSigner()
SOURCES = (
    Source("postmark", "postmark", ("hook:secret",)),
    Source("eu-mailgun", "mailgun", ("signing key",)),
    Source("resend", "resend", (SECRET,)),
    Source("sendgrid", "sendgrid", (SENDGRID.public,)),
    Source("silent", "postmark"),
)


@dataclass(slots=True)
class FakeGuard:
    """Hears, after `before`. Knows every key but those in `unknown`."""

    before: Callable[[], Awaitable[object]] | None = None
    unknown: frozenset[str] = frozenset()
    heard: list[Notice] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def hear(self, notice: Notice) -> bool:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.before is not None:
                await self.before()
        finally:
            self.at_once -= 1
        self.heard.append(notice)
        return notice.key not in self.unknown


@dataclass(slots=True)
class FakeCounts:
    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    news: Counter[tuple[str, str]] = field(default_factory=Counter)

    def webhook(self, provider: str, result: str) -> None:
        self.results[provider, result] += 1

    def webhook_news(self, provider: str, news: str, events: int = 1) -> None:
        self.news[provider, news] += events


@dataclass(slots=True)
class Listener:
    server: WebhookReceiver
    port: int
    guard: FakeGuard
    counts: FakeCounts
    session: aiohttp.ClientSession

    async def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> int:
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.post(url, data=body, headers=headers) as response:
            assert await response.read() in (b"", b"404: Not Found")
            return response.status

    async def postmark(self, event: object) -> int:
        return await self.post("/webhooks/postmark", dumped(event), basic("hook", "secret"))

    async def sendgrid(self, events: Iterable[object]) -> int:
        body = dumped(list(events))
        return await self.post("/webhooks/sendgrid", body, SENDGRID.sign(body))

    async def resend(self, event: object) -> int:
        body = dumped(event)
        return await self.post("/webhooks/resend", body, svix(SECRET, body, at=time.time()))

    async def mailgun(self, event: object, token: str) -> int:
        request = mailgun("signing key", event, token=token, at=time.time())
        return await self.post("/webhooks/eu-mailgun", dumped(request))


@asynccontextmanager
async def listening(
    guard: FakeGuard | None = None,
    bounds: Bounds | None = None,
    *,
    hear: Callable[[Notice], Awaitable[bool]] | None = None,
) -> AsyncIterator[Listener]:
    """Yield a listener that speaks to a fake guard, or to `hear`."""
    guard, counts = guard or FakeGuard(), FakeCounts()
    server = WebhookReceiver(
        hooks=build(SOURCES),
        on_notice=hear or guard.hear,
        counts=counts,
        bounds=bounds,
    )
    port = Port(server.app(), "webhooks", "127.0.0.1", 0, closing=5.0)
    await port.start()
    connector = aiohttp.TCPConnector(limit=0)
    try:
        async with aiohttp.ClientSession(connector=connector) as session:
            yield Listener(server, port.port, guard, counts, session)
    finally:
        await port.close()


def delivery(key: str = KEY) -> dict[str, Any]:
    return {
        "RecordType": "Delivery",
        "MessageID": "883953f4",
        "DeliveredAt": "2026-11-30T14:00:00Z",
        "Metadata": {"sendonce_key": key},
    }


def event(number: int, kind: str = "delivered") -> dict[str, Any]:
    """Return an event of SendGrid about the mail with this number."""
    return {
        "event": kind,
        "sendonce_key": f"{number:048x}",
        "sg_message_id": f"id{number}.recvd.0",
        "timestamp": 1_790_000_000,
    }


async def for_ever() -> None:
    await asyncio.Event().wait()


async def until(come: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not come():  # noqa: ASYNC110 - a number inside the server, which nobody announces
            await asyncio.sleep(0)
