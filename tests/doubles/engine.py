"""The HTTP server around a double: faults at the wire, a ledger, and `control` beside them."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import NoReturn

from aiohttp import web

from tests.doubles.api import Api, Call, RefusalError, Reply
from tests.doubles.control import DOOR, Control
from tests.doubles.ledger import Ledger
from tests.doubles.script import FINE, Fault, Script
from tests.doubles.served import Served

KEPT_CALLS = 1000  # the last requests, for tests that look at one


class Double(Served):
    """One provider's double: `async with Double(PostmarkApi()) as double: ... double.url`."""

    def __init__(self, api: Api, *, port: int = 0, seed: int = 0, keepalive: float = 60) -> None:
        super().__init__(port=port, keepalive=keepalive)
        self.api = api
        self.ledger = Ledger()
        self.script = Script(seed)
        self.calls: deque[Call] = deque(maxlen=KEPT_CALLS)
        self.arrived = asyncio.Event()  # set whenever a request was read
        self.took = asyncio.Event()  # set whenever a mail was taken; a test clears and awaits it
        self._control = Control(api.name, self.ledger, self.script, self.clear)

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def options(self) -> dict[str, object]:
        """What goes into [providers.X] to be sent here."""
        return {"type": self.api.name, "base_url": self.url, **self.api.credentials}

    # ── The wire

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith(DOOR):
            body = await request.read()
            return _plain(self._control.answer(request.method, request.path, body))
        asked = request.method == "GET"
        self.ledger.requests += 1
        self.ledger.asked += asked
        fault = self.script.draw(asked=asked)
        if fault.word == "reset":
            return _hang_up(request)
        body = await request.content.read()  # `request.read` has a limit of its own
        call = Call(request.method, request.path_qs, request.headers, body)
        self.calls.append(call)
        self.arrived.set()
        try:
            return await self._answer(request, call, fault)
        except RefusalError as refusal:
            return _plain(refusal.reply)

    async def _answer(
        self, request: web.BaseRequest, call: Call, drawn: Fault
    ) -> web.StreamResponse:
        asked = self.api.ask(call, self.ledger) if call.method == "GET" else None
        if asked is not None:
            return _plain(asked)
        taken = self.api.check(call)
        fault = self.script.of(taken.recipient, drawn)
        instead = _instead(fault, call)
        if instead is not None:
            return _plain(instead)
        reply = await self.api.take(call, taken, self.ledger, lambda: _work(fault))
        self.took.set()
        return await _deliver(request, reply, fault)

    def clear(self) -> None:
        self.ledger.clear()
        self.script.clear()
        self.calls.clear()


def _plain(reply: Reply) -> web.Response:
    return web.Response(status=reply.status, body=reply.body, headers=reply.headers)


def _instead(fault: Fault, call: Call) -> Reply | None:
    match fault.word:
        case "status":
            return Reply(fault.status, fault.body.encode(), fault.headers)
        case "redirect":
            return Reply(307, b"", {"Location": call.path})
        case _:
            return None


async def _work(fault: Fault) -> None:
    if fault.word == "delay":
        await asyncio.sleep(fault.seconds)


async def _deliver(request: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    match fault.word:
        case "drop":
            return _hang_up(request)
        case "timeout":
            return await _silence()
        case "garbage":
            return _hang_up(request, b"\x15\x03\x01\x00\x02\x02\x46 this is not HTTP\r\n\r\n")
        case "blank":
            return _plain(Reply(reply.status))
        case "slow" | "cut":
            return await _in_pieces(request, reply, fault)
        case _:
            return _plain(reply)


async def _silence() -> NoReturn:
    """Wait for ever; aiohttp cancels this when the client has had enough."""
    while True:
        await asyncio.Event().wait()


async def _in_pieces(request: web.BaseRequest, reply: Reply, fault: Fault) -> web.StreamResponse:
    if not reply.body:
        return await _head_in_pieces(request, reply, fault)
    response = web.StreamResponse(status=reply.status, headers=reply.headers)
    response.content_length = len(reply.body)
    await response.prepare(request)
    await response.write(reply.body[:5])
    if fault.word == "cut":
        return _hang_up(request)
    for place in range(5, len(reply.body)):
        await asyncio.sleep(fault.seconds)
        await response.write(reply.body[place : place + 1])
    await response.write_eof()
    return response


async def _head_in_pieces(
    request: web.BaseRequest, reply: Reply, fault: Fault
) -> web.StreamResponse:
    """An answer without a body is all head: that is what breaks off, or comes byte by byte."""
    headers = {**reply.headers, "Content-Length": "0", "Connection": "close"}
    lines = (f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {reply.status} Said\r\n{''.join(lines)}\r\n".encode()
    if fault.word == "cut":
        return _hang_up(request, head[:20])
    for place in range(len(head) - 1):
        await asyncio.sleep(fault.seconds)
        _write(request, head[place : place + 1])
    return _hang_up(request, head[-1:])


def _write(request: web.BaseRequest, piece: bytes) -> None:
    if request.transport is not None:
        request.transport.write(piece)


def _hang_up(request: web.BaseRequest, last_words: bytes = b"") -> web.Response:
    """Close without an answer; what is returned finds nobody to be written to."""
    transport = request.transport
    if transport is not None:
        with suppress(OSError):
            transport.write(last_words)
        transport.close() if last_words else transport.abort()
    return web.Response()


__all__ = ["FINE", "Double", "Fault"]
