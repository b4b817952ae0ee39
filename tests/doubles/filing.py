"""A server of files, as a shop keeps its invoices: counts what was asked for, and fails as told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.doubles.served import Served


@dataclass(frozen=True, slots=True)
class Kept:
    """`chunked`: sent without saying how long it is. `hangs`: sends all but the last byte."""

    content: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    hangs: bool = False


class FileServer(Served):
    """`async with FileServer() as files: files.keep("/1.pdf", b"..."); files.url("/1.pdf")`."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.under_way = 0
        self.most = 0  # answers under way at once, the most there were
        self.arrived = asyncio.Event()
        self.gate = asyncio.Event()  # answers wait for it
        self.gate.set()
        self._kept: dict[str, Kept] = {}

    def keep(self, path: str, content: bytes = b"", **how: object) -> str:
        """Serve `content` at `path`; return its URL."""
        self._kept[path] = Kept(content, **how)  # type: ignore[arg-type]  # its own members
        return self.url(path)

    def lose(self, path: str) -> None:
        self._kept.pop(path, None)

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked[request.path] += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.arrived.set()
        try:
            await self.gate.wait()
            return await _send(request, self._kept.get(request.path, Kept(status=404)))
        finally:
            self.under_way -= 1


async def _send(request: web.BaseRequest, kept: Kept) -> web.StreamResponse:
    if not (kept.chunked or kept.hangs):
        return web.Response(status=kept.status, body=kept.content, headers=kept.headers)
    response = web.StreamResponse(status=kept.status, headers=kept.headers)
    if kept.chunked:
        response.enable_chunked_encoding()
    else:
        response.content_length = len(kept.content)
    await response.prepare(request)
    await response.write(kept.content[:-1] if kept.hangs else kept.content)
    if kept.hangs:
        await asyncio.Event().wait()
    await response.write_eof()
    return response
