"""What the admin port serves. `/healthz`, `/readyz` and `/metrics` need no token."""

from __future__ import annotations

from collections.abc import Iterable

import orjson
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from consumer.admin.health import Health, Report, ask
from consumer.telemetry import Metrics


class AdminPages:
    """Answers of one worker about itself."""

    def __init__(self, health: Health, metrics: Metrics) -> None:
        self._health = health
        self._metrics = metrics

    def app(self, routes: Iterable[web.RouteDef] = ()) -> web.Application:
        """Return what a `Listener` serves; `routes`: what else, beside these pages."""
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
