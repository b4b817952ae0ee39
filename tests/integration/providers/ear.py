"""A server that only listens: it keeps what it reads and gives a canned answer."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from consumer.model import Message, Prepared
from consumer.providers import HttpProvider, PostmarkOptions
from consumer.providers.postmark import Postmark
from tests.doubles.mails import MAIL

OK: Final = (
    b"HTTP/1.1 200 OK\r\nSet-Cookie: crumb=1; Path=/\r\nContent-Length: 19\r\n\r\n"
    b'{"MessageID": "id"}'
)
SILENCE: Final = b""


@dataclass
class Ear:
    answer: bytes = OK
    ends: bool = False  # closes after the answer, whole or not
    reads: list[bytes] = field(default_factory=list)
    connections: int = 0
    url: str = ""
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while data := await reader.read(1 << 20):
            self.reads.append(data)
            self.heard.set()
            writer.write(self.answer)
            if self.ends:
                break
        writer.close()


@asynccontextmanager
async def listening(
    tls: ssl.SSLContext | None = None, answer: bytes = OK, *, ends: bool = False
) -> AsyncIterator[Ear]:
    ear = Ear(answer, ends)
    server = await asyncio.start_server(ear, "127.0.0.1", 0, ssl=tls, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    ear.url = f"{'https' if tls else 'http'}://localhost:{port}"
    try:
        yield ear
    finally:
        server.close()


@asynccontextmanager
async def provider_for(url: str, **options: object) -> AsyncIterator[HttpProvider]:
    settings = PostmarkOptions.model_validate({"base_url": url, "token": "t", **options})
    provider = HttpProvider("postmark", settings, Postmark(settings))
    await provider.open()
    try:
        yield provider
    finally:
        await provider.close()


def prepared(provider: HttpProvider, message: Message = MAIL) -> Prepared:
    ready = provider.prepare(message)
    assert isinstance(ready, Prepared)
    return ready
