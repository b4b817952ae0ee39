"""A provider that is never the bottleneck: a bare HTTP/1.1 responder in its own process.

It reads no more of a request than it needs (length, a mark in the body), answers as Postmark does,
after a latency that can be changed, and writes down when each mark arrived first. Correctness is
not its trade: the strict doubles are in `tests/doubles`.

    POST /email              accepted, with an id of its own
    POST /control {"latency": 0.02}    forget everything; answer after so many seconds from now on
    GET  /control            {"accepted": n, "distinct": n, "arrivals": {mark: unix time}}

It prints its port and lives until its stdin closes, so it cannot outlive the process that made it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import sys
import time
from collections import deque
from dataclasses import dataclass, field

MARK = re.compile(rb"BENCH-\d{7}")

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
_ACCEPTED = (
    b'{"To":"x@example.com","SubmittedAt":"2026-01-01T00:00:00Z",'
    b'"MessageID":"00000000-0000-4000-8000-%012d","ErrorCode":0,"Message":"OK"}'
)


@dataclass
class Double:
    latency: float = 0.0  # seconds from the request's last byte to the answer
    accepted: int = 0
    arrivals: dict[bytes, float] = field(default_factory=dict)
    due: deque[tuple[float, asyncio.Transport, bytes]] = field(default_factory=deque)

    def answer(self, request: bytes, transport: asyncio.Transport) -> None:
        if request.startswith(b"POST /email"):
            self._after_a_while(transport, self._accept(request))
        else:
            transport.write(self._control(request))

    def _accept(self, request: bytes) -> bytes:
        self.accepted += 1
        mark = MARK.search(request)
        self.arrivals.setdefault(mark[0] if mark else b"", time.time())
        body = _ACCEPTED % self.accepted
        return _ANSWER % (len(body), body)

    def _control(self, request: bytes) -> bytes:
        if request.startswith(b"POST"):
            self.latency = json.loads(request.partition(b"\r\n\r\n")[2])["latency"]
            self.accepted = 0
            self.arrivals.clear()
        arrivals = {mark.decode(): at for mark, at in self.arrivals.items()}
        seen = {"accepted": self.accepted, "distinct": len(arrivals), "arrivals": arrivals}
        body = json.dumps(seen).encode()
        return _ANSWER % (len(body), body)

    # One timer for all: the latency is constant, so what came first is due first.

    def _after_a_while(self, transport: asyncio.Transport, answer: bytes) -> None:
        if self.latency == 0.0:
            transport.write(answer)
            return
        loop = asyncio.get_running_loop()
        self.due.append((loop.time() + self.latency, transport, answer))
        if len(self.due) == 1:
            loop.call_at(self.due[0][0], self._answer_what_is_due)

    def _answer_what_is_due(self) -> None:
        loop = asyncio.get_running_loop()
        while self.due and self.due[0][0] <= loop.time():
            _, transport, answer = self.due.popleft()
            transport.write(answer)
        if self.due:
            loop.call_at(self.due[0][0], self._answer_what_is_due)


class Connection(asyncio.Protocol):
    """Cuts the byte stream into requests."""

    def __init__(self, double: Double) -> None:
        self.double = double
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self._end_of_request()) is not None:
            request, self.received = self.received[:end], self.received[end:]
            self.double.answer(request, self.transport)

    def _end_of_request(self) -> int | None:
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return None
        length = _LENGTH.search(self.received, 0, head)
        end = head + 4 + (int(length[1]) if length else 0)
        return end if end <= len(self.received) else None


async def serve() -> None:
    loop = asyncio.get_running_loop()
    double = Double()
    server = await loop.create_server(lambda: Connection(double), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - how the port is told
    gc.freeze()
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
