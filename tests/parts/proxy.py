"""A TCP proxy that fails on purpose, between a client and a real server.

async with start_proxy(host, port) as proxy:
    connect to ("127.0.0.1", proxy.port)
    proxy.mode = Mode.WITHHOLD      # requests arrive, answers do not come back
    proxy.reset()                   # and now the line is cut: was it done or not?
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto


class Mode(Enum):
    PASS = auto()
    WITHHOLD = auto()  # what the client says arrives; what the server says is swallowed
    STALL = auto()  # nothing moves in either direction; it goes on when the mode changes
    REFUSE = auto()  # new connections are reset at once


@dataclass
class Proxy:
    """`withheld`: set when an answer of the server has been swallowed; `held`: a request, by STALL.

    `delay`: seconds that each piece takes in either direction.
    """

    port: int
    connections: int = 0
    delay: float = 0.0
    withheld: asyncio.Event = field(default_factory=asyncio.Event)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    _mode: Mode = Mode.PASS
    _moving: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._moving.set()

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        if mode is Mode.STALL:
            self._moving.clear()
        else:
            self._moving.set()

    def reset(self) -> None:
        """Cut every connection hard (RST), as a dying machine or a firewall would."""
        for writer in list(self._writers):
            _cut(writer)


@asynccontextmanager
async def start_proxy(host: str, port: int) -> AsyncIterator[Proxy]:
    """Yield a proxy before the server at (host, port)."""
    proxy = Proxy(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        proxy._tasks.add(task)
        try:
            with contextlib.suppress(asyncio.CancelledError):  # asyncio would make a noise of it
                await _serve(proxy, (host, port), reader, writer)
        finally:
            proxy._tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.reset()
        for task in list(proxy._tasks):
            task.cancel()
        await asyncio.gather(*proxy._tasks, return_exceptions=True)


async def _serve(
    proxy: Proxy,
    target: tuple[str, int],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    proxy.connections += 1
    if proxy.mode is Mode.REFUSE:
        _cut(writer)
        return
    try:
        far_reader, far_writer = await asyncio.open_connection(*target)
    except OSError:
        _cut(writer)
        return
    proxy._writers |= {writer, far_writer}
    try:
        there = asyncio.create_task(_pump(proxy, reader, far_writer, answers=False))
        back = asyncio.create_task(_pump(proxy, far_reader, writer, answers=True))
        done, pending = await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*done, *pending, return_exceptions=True)
    finally:
        proxy._writers -= {writer, far_writer}
        writer.close()
        far_writer.close()


async def _pump(
    proxy: Proxy, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool
) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await source.read(65536):
            if proxy.mode is Mode.STALL and not answers:
                proxy.held.set()
            if proxy.delay:
                await asyncio.sleep(proxy.delay)
            await proxy._moving.wait()
            if answers and proxy.mode is Mode.WITHHOLD:
                proxy.withheld.set()
                continue
            sink.write(data)
            await sink.drain()


def _cut(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with contextlib.suppress(OSError):  # it is closed already
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
