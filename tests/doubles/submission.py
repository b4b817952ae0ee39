"""The SMTP double as a process: beside the port for mails one for `control`, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from tests.doubles.control import Control
from tests.doubles.smtp import SmtpDouble


@asynccontextmanager
async def submission() -> AsyncIterator[tuple[SmtpDouble, str]]:
    """Yield the double, and the address of its control."""
    async with SmtpDouble() as double:
        control = Control("smtp", double.ledger, double.script, double.script.clear)

        async def handle(request: web.BaseRequest) -> web.Response:
            reply = control.answer(request.method, request.path, await request.read())
            return web.Response(status=reply.status, body=reply.body, headers=reply.headers)

        runner = web.ServerRunner(web.Server(handle, access_log=None))
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield double, f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()
