"""Laws of the admin port: liveness and readiness are two things, and each says why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from consumer.admin import AdminPages, CannotListenError, Check, Health, Heartbeat, Listener
from consumer.telemetry import Metrics


@asynccontextmanager
async def serving(health: Health, routes: Iterable[web.RouteDef] = ()) -> AsyncIterator[Listener]:
    pages = AdminPages(health, Metrics()).app(routes)
    listener = Listener(pages, "admin", "127.0.0.1", 0, closing=2.0)
    await listener.start()
    try:
        yield listener
    finally:
        await listener.close()


async def get(server: Listener, path: str) -> tuple[int, str]:
    url = f"http://127.0.0.1:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


def well() -> str | None:
    return None


def broken() -> str | None:
    raise KeyError("ada@example.org")


async def test_a_dependency_that_is_down_changes_readiness_and_not_liveness() -> None:
    down: Check = lambda: "postgres: no connection for 12 s"  # noqa: E731 - a check is a callable
    async with serving(Health({"poll_loop": well}, {"postgres": down, "kafka": well})) as server:
        assert await get(server, "/healthz") == (
            200,
            '{"status":"ok","checks":{"poll_loop":"ok"}}',
        )
        status, body = await get(server, "/readyz")
    assert status == 503
    assert '"postgres":"postgres: no connection for 12 s"' in body
    assert '"kafka":"ok"' in body


async def test_what_does_not_live_is_not_ready_either() -> None:
    async with serving(Health({"poll_loop": Heartbeat(limit=-1)}, {"kafka": well})) as server:
        assert (await get(server, "/healthz"))[0] == 503
        assert "no sign of life" in (await get(server, "/readyz"))[1]


async def test_a_check_that_breaks_fails_and_tells_no_value() -> None:
    async with serving(Health({"task": broken})) as server:
        status, body = await get(server, "/healthz")
    assert (status, "KeyError" in body, "ada" in body) == (503, True, False)


async def test_metrics_are_served_in_the_text_format() -> None:
    async with serving(Health()) as server:
        status, body = await get(server, "/metrics")
    assert status == 200
    assert "sendonce_build_info" in body


async def test_the_port_has_room_for_more_routes() -> None:
    async def hello(_request: web.Request) -> web.Response:
        return web.Response(text="hello")

    async with serving(Health(), routes=[web.get("/api/hello", hello)]) as server:
        assert await get(server, "/api/hello") == (200, "hello")


@pytest.mark.parametrize("section", ["admin", "webhooks"])
async def test_a_taken_port_is_told_with_the_setting_to_change(section: str) -> None:
    async with serving(Health()) as server:
        second = Listener(web.Application(), section, "127.0.0.1", server.port, closing=2.0)
        with pytest.raises(CannotListenError, match=rf"\[{section}\] host or port"):
            await second.start()


def test_a_heartbeat_is_well_while_it_beats() -> None:
    beat = Heartbeat(limit=60)
    beat.beat()
    assert beat() is None
