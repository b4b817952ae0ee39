"""Laws of what we ask of SNS: one answer, short, from where it was asked, in time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from consumer.webhooks.certificates import LIMIT, FetchError, fetch

Serve = Callable[[Callable[[web.Request], Awaitable[web.Response]]], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    runners = []

    async def start(handler: Callable[[web.Request], Awaitable[web.Response]]) -> str:
        app = web.Application()
        app.router.add_get("/{any:.*}", handler)
        runner = web.AppRunner(app, access_log=None)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/"

    yield start
    for runner in runners:
        await runner.cleanup()


async def test_what_is_answered_is_returned(serve: Serve) -> None:
    async def pem(_: web.Request) -> web.Response:
        return web.Response(body=b"-----BEGIN")

    assert await fetch(await serve(pem)) == b"-----BEGIN"


async def test_a_redirect_is_not_followed(serve: Serve) -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        assert request.path == "/"
        raise web.HTTPFound("/elsewhere")

    with pytest.raises(FetchError, match="302"):
        await fetch(await serve(elsewhere))


async def test_an_error_is_no_certificate(serve: Serve) -> None:
    async def error(_: web.Request) -> web.Response:
        return web.Response(status=500, body=b"-----BEGIN")

    with pytest.raises(FetchError, match="500"):
        await fetch(await serve(error))


async def test_an_answer_without_end_is_cut(serve: Serve) -> None:
    async def long(_: web.Request) -> web.Response:
        return web.Response(body=b"x" * (LIMIT + 1))

    with pytest.raises(FetchError, match="too long"):
        await fetch(await serve(long))


async def test_nobody_there_is_said(unused_tcp_port: int) -> None:
    with pytest.raises(FetchError, match="cannot be reached"):
        await fetch(f"http://127.0.0.1:{unused_tcp_port}/")
