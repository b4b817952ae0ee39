"""The admin port's HTTP server. `/healthz`, `/readyz` and `/metrics` need no token."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import orjson
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from consumer.admin.health import Health, Report, ask
from consumer.telemetry import Metrics

_CLOSING: Final = 2.0  # seconds for answers under way; a stop does not wait for a slow scraper


class CannotListenError(Exception):
    """The admin port cannot be had; the message names the setting to change."""


class AdminServer:
    """`start()`, `port`, `close()`. `routes`: what else this port serves (the JSON API)."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        health: Health,
        metrics: Metrics,
        routes: Iterable[web.RouteDef] = (),
    ) -> None:
        self.port = port
        self._host = host
        self._health = health
        self._metrics = metrics
        self._runner = web.AppRunner(
            self._app(routes), access_log=None, shutdown_timeout=_CLOSING, handle_signals=False
        )

    async def start(self) -> None:
        """Listen. Port 0 takes a free one; `port` then tells which."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise CannotListenError(
                f"admin: cannot listen on {self._host}:{self.port} ({error.strerror}); "
                "change [admin] host or port"
            ) from error
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        await self._runner.cleanup()

    def _app(self, routes: Iterable[web.RouteDef]) -> web.Application:
        app = web.Application()
        app.add_routes(
            [
                web.get("/healthz", self._alive),
                web.get("/readyz", self._ready),
                web.get("/metrics", self._numbers),
                *routes,
            ]
        )
        return app

    async def _alive(self, _request: web.Request) -> web.Response:
        return _answer(ask(self._health.alive))

    async def _ready(self, _request: web.Request) -> web.Response:
        return _answer(ask({**self._health.alive, **self._health.ready}))

    async def _numbers(self, _request: web.Request) -> web.Response:
        body = generate_latest(self._metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


def _answer(report: Report) -> web.Response:
    checks = {name: wrong or "ok" for name, wrong in report.answers.items()}
    body = orjson.dumps({"status": "ok" if report.well else "failing", "checks": checks})
    status = 200 if report.well else 503
    return web.Response(
        body=body,
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
