"""The listener that providers call: `POST /webhooks/{the provider's configured name}`.

It is open to the world and shares a process with the sending of mails, so everything has a bound:
the size of a body, the time of a request, how many are read at once, how many wait, how many
events are written at once. What cannot be kept now is answered 503: providers repeat, for hours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, TypeAlias, assert_never

import structlog
from aiohttp import web

from consumer.model import Notice, elapsed
from consumer.webhooks.hook import (
    Forged,
    Heard,
    Hook,
    Reading,
    Subscribed,
    Unavailable,
    Unreadable,
)

log = structlog.get_logger("webhooks")

BODY_LIMIT: Final = 1 << 20  # bytes
TOLD_EVERY: Final = 60.0  # seconds between two log lines of one kind: anybody can call us

# True: a mail of ours. Raises, or takes too long, where it could not be written.
OnNotice: TypeAlias = Callable[[Notice], Awaitable[bool]]


class Result(StrEnum):
    """What became of a request: the label of the counter."""

    HEARD = "heard"
    SUBSCRIBED = "subscribed"
    UNREADABLE = "unreadable"
    FORGED = "forged"
    TOO_LARGE = "too_large"
    SLOW = "slow"  # the caller did not send its body in time
    BUSY = "busy"  # no place for it in time
    AWAY = "away"  # the database, or SNS's certificate, could not be had in time


STATUS: Final[Mapping[Result, int]] = {
    Result.HEARD: 200,
    Result.SUBSCRIBED: 200,
    Result.UNREADABLE: 200,
    Result.FORGED: 401,
    Result.SLOW: 408,
    Result.TOO_LARGE: 413,
    Result.BUSY: 503,
    Result.AWAY: 503,
}
UNKNOWN_KEY: Final = "unknown_key"  # well signed, and no mail of ours (or one forgotten by now)
NO_NEWS: Final = "no_news"  # opens, clicks, mails that others sent from the same account


class Counts(Protocol):
    def webhook(self, provider: str, result: str) -> None: ...

    def webhook_news(self, provider: str, news: str, events: int = 1) -> None: ...


@dataclass(frozen=True, slots=True)
class Bounds:
    at_once: int = 64  # requests whose bodies are held
    waiting: int = 512  # requests that wait for such a place; the next one is sent away
    writing: int = 16  # events on their way to the guard
    reading: float = 5.0  # seconds for a body to arrive
    seconds: float = 10.0  # for all of a request; SNS waits 15 s for an answer


class WebhookReceiver:
    """Verifies what providers post, and hands it on within its bounds."""

    def __init__(
        self,
        *,
        hooks: Mapping[str, Hook],
        on_notice: OnNotice,
        counts: Counts,
        bounds: Bounds | None = None,
    ) -> None:
        self._hooks = hooks
        self._on_notice = on_notice
        self._counts = counts
        self._bounds = bounds or Bounds()
        self._places = asyncio.Semaphore(self._bounds.at_once)
        self._writing = asyncio.Semaphore(self._bounds.writing)
        self._present = 0
        self._told: dict[tuple[str, Result], float] = {}

    def app(self) -> web.Application:
        """Return what a listener serves, on a port that is no console's."""
        app = web.Application(client_max_size=BODY_LIMIT)
        app.add_routes([web.post("/webhooks/{provider}", self._post)])
        return app

    async def _post(self, request: web.Request) -> web.Response:
        hook = self._hooks.get(request.match_info["provider"])
        if hook is None:
            raise web.HTTPNotFound
        result = await self._placed(hook, request)
        self._counts.webhook(hook.name, result.value)
        return _response(hook, result)

    async def _placed(self, hook: Hook, request: web.Request) -> Result:
        """Give the request a place, or send it away: nothing of it is held before it has one."""
        if self._present >= self._bounds.at_once + self._bounds.waiting:
            return Result.BUSY
        self._present += 1
        result = Result.BUSY
        try:
            async with asyncio.timeout(self._bounds.seconds), self._places:
                result = Result.AWAY
                result = await self._handled(hook, request)
        except TimeoutError:
            self._tell(hook, result, "out of time")
        finally:
            self._present -= 1
        return result

    async def _handled(self, hook: Hook, request: web.Request) -> Result:
        try:
            async with asyncio.timeout(self._bounds.reading):
                body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return Result.TOO_LARGE
        except (TimeoutError, ConnectionError, web.RequestPayloadError):
            return Result.SLOW
        try:
            reading = await hook.read(request.headers, body)
        except Exception as bug:  # noqa: BLE001 - ours; what it could not read shall come again
            return self._tell(hook, Result.AWAY, f"a bug: {type(bug).__name__}")
        return await self._follow(hook, reading)

    async def _follow(self, hook: Hook, reading: Reading) -> Result:
        match reading:
            case Heard():
                return await self._write(hook, reading)
            case Subscribed(topic):
                log.info("webhook_subscribed", provider=hook.name, topic=topic)
                return Result.SUBSCRIBED
            case Forged(why):
                return self._tell(hook, Result.FORGED, why)
            case Unreadable(why):
                return self._tell(hook, Result.UNREADABLE, why)
            case Unavailable(why):
                return self._tell(hook, Result.AWAY, why)
            case _:
                assert_never(reading)

    # ── To the guard

    async def _write(self, hook: Hook, heard: Heard) -> Result:
        """Write all events of a request; if one cannot be written, all shall come again."""
        if heard.others:
            self._counts.webhook_news(hook.name, NO_NEWS, heard.others)
        try:
            async with asyncio.TaskGroup() as group:
                for notice in heard.notices:
                    group.create_task(self._write_one(notice))
        except ExceptionGroup as failed:
            return self._tell(hook, Result.AWAY, type(failed.exceptions[0]).__name__)
        return Result.HEARD

    async def _write_one(self, notice: Notice) -> None:
        async with self._writing:
            known = await self._on_notice(notice)
        self._counts.webhook_news(notice.provider, notice.news.value if known else UNKNOWN_KEY)

    def _tell(self, hook: Hook, result: Result, why: str) -> Result:
        """Log what went wrong, not more than once a minute of a kind; the counter has them all."""
        last, now = self._told.get((hook.name, result)), elapsed()
        if last is None or now - last > TOLD_EVERY:
            self._told[hook.name, result] = now
            log.warning("webhook", provider=hook.name, result=result.value, why=why)
        return result


def _response(hook: Hook, result: Result) -> web.Response:
    headers = {}
    if result is Result.FORGED and hook.challenge is not None:
        headers["WWW-Authenticate"] = hook.challenge
    return web.Response(status=STATUS[result], headers=headers)
