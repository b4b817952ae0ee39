"""An HTTP server in this process, on a port of its own: what the doubles that speak HTTP share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from aiohttp import web


class Served(ABC):
    """`async with` it, and it answers at `host`. A request that is given up is no more answered."""

    def __init__(self, *, port: int = 0, keepalive: float = 60) -> None:
        self.port = port
        self._keepalive = keepalive  # seconds
        self._runner: web.ServerRunner | None = None

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @abstractmethod
    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse: ...

    async def __aenter__(self) -> Self:
        server = web.Server(
            self._handle,
            handler_cancellation=True,
            keepalive_timeout=self._keepalive,
            access_log=None,
        )
        self._runner = web.ServerRunner(server, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def close_idle(self) -> None:
        """Close the kept-alive connections, as a server does that has waited long enough."""
        assert self._runner is not None
        assert self._runner.server is not None
        for connection in self._runner.server.connections:
            if connection.transport is not None:
                connection.transport.close()
