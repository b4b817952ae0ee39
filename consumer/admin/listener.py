"""A port of ours, and the settings to change where it cannot be had."""

from __future__ import annotations

from aiohttp import web


class CannotListenError(Exception):
    """The port cannot be had; the message names the settings to change."""


class Listener:
    """`start()`, `port`, `close()`. `section`: of the settings that `host` and `port` come from.

    `closing`: seconds for requests under way at a stop.
    """

    def __init__(
        self, app: web.Application, section: str, host: str, port: int, *, closing: float
    ) -> None:
        self.port = port
        self._host = host
        self._section = section
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=closing, handle_signals=False
        )

    async def start(self) -> None:
        """Listen. Port 0 takes a free one; `port` then tells which. Raises CannotListenError."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise CannotListenError(
                f"{self._section}: cannot listen on {self._host}:{self.port} ({error.strerror}); "
                f"change [{self._section}] host or port"
            ) from error
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        await self._runner.cleanup()
