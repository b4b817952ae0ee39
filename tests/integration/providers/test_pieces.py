"""A mail with files leaves in several writes: it is in the world with the last one, or never."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from consumer.model import (
    Accepted,
    Attachment,
    Enclosed,
    Lease,
    Prepared,
    Rejected,
    TooLate,
    Transient,
    elapsed,
)
from consumer.providers import HttpProvider, build
from consumer.providers.deadline import PIECE, Deadline, pieces
from consumer.providers.oneshot import PastDeadlineError
from tests.doubles.mails import lease, mail
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.conftest import OPTIONS
from tests.integration.providers.ear import OK, provider_for
from tests.integration.providers.paper import Paper, one_shot

LARGE = bytes(range(256)) * (8 << 10)  # 2 MiB
FILE = Attachment("scan.bin", "image/tiff", "0" * 64, "https://files.example/", 1 << 24)


@pytest.mark.parametrize("size", [1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE, 5 * PIECE + 7])
async def test_a_body_is_cut_and_nothing_of_it_is_lost(size: int) -> None:
    body, wire = bytes(i % 251 for i in range(size)), Paper()
    await one_shot(body).write_with_length(wire, None)
    assert b"".join(wire.written) == body
    assert len(wire.written) == (size + PIECE - 1) // PIECE
    assert all(wire.written)


def test_an_empty_body_has_a_piece_too() -> None:
    assert [bytes(piece) for piece in pieces(b"")] == [b""]


async def test_it_is_in_the_world_with_its_last_piece() -> None:
    seen: list[bool] = []
    body = one_shot(bytes(3 * PIECE))
    await body.write_with_length(Paper(lambda: seen.append(body.fired)), None)
    assert seen == [False, False, True]


async def test_past_the_deadline_the_last_piece_is_withheld() -> None:
    """However far it was: what is incomplete is no mail."""
    held = lease()
    body = one_shot(bytes(3 * PIECE), held)

    def lose() -> None:
        if len(wire.written) == 2:
            held.ends_at = 0.0

    wire = Paper(lose)
    with pytest.raises(PastDeadlineError):
        await body.write_with_length(wire, None)
    assert (len(wire.written), body.fired, body.late) == (2, False, True)


async def test_what_was_called_back_half_way_is_never_completed() -> None:
    body = one_shot(bytes(3 * PIECE))
    wire = Paper(body.revoke)
    with pytest.raises(PastDeadlineError):
        await body.write_with_length(wire, None)
    assert (len(wire.written), body.fired) == (1, False)


def test_the_deadline_is_read_at_the_moment_of_asking() -> None:
    held = lease(5)
    deadline = Deadline(held, float("inf"), timeout=10)
    assert deadline.passed
    held.ends_at += 60
    assert not deadline.passed


class Deaf:
    """A server that reads the beginning of a request, and nothing more until it is let."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.got = b""
        self.ended = asyncio.Event()
        self.url = ""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.got = await reader.read(1000)
        self.begun.set()
        await self.go_on.wait()
        with suppress(ConnectionResetError):
            while more := await reader.read(1 << 16):
                self.got += more
        writer.close()
        self.ended.set()


@asynccontextmanager
async def uploading() -> AsyncIterator[tuple[Deaf, HttpProvider, Prepared]]:
    deaf = Deaf()
    server = await asyncio.start_server(deaf, "127.0.0.1", 0, limit=1 << 10)
    deaf.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with provider_for(deaf.url) as provider:
            ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, LARGE * 3),))
            assert isinstance(ready, Prepared)
            yield deaf, provider, ready
    finally:
        deaf.go_on.set()
        server.close()


async def test_called_back_in_the_middle_of_an_upload_sent_nothing() -> None:
    async with uploading() as (deaf, provider, ready):
        sending = asyncio.create_task(provider.attempt(ready, lease()))
        await deaf.begun.wait()
        sending.cancel()
        assert await sending == TooLate(called_back=True)
        deaf.go_on.set()
        await deaf.ended.wait()
        assert len(deaf.got) < len(ready.body)
        assert not deaf.got.endswith(ready.body[-20:])


async def test_a_lease_that_is_lost_in_the_middle_of_an_upload_sends_nothing() -> None:
    held = lease()
    async with uploading() as (deaf, provider, ready):
        sending = asyncio.create_task(provider.attempt(ready, held))
        await deaf.begun.wait()
        held.ends_at = 0.0
        deaf.go_on.set()
        assert await sending == TooLate()
        await deaf.ended.wait()
        assert not deaf.got.endswith(ready.body[-20:])


async def test_a_connection_that_breaks_in_the_middle_of_an_upload_sent_nothing() -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.transport.abort()

    server = await asyncio.start_server(breaks, "127.0.0.1", 0, limit=1 << 10)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with provider_for(url) as provider:
        ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, LARGE * 3),))
        assert isinstance(ready, Prepared)
        assert isinstance(await provider.attempt(ready, lease()), Transient)
    server.close()


async def test_after_an_answer_that_came_too_early_nothing_completes_the_request() -> None:
    """The next mail goes by another connection: on this one it would be read as the rest."""
    heads: list[bytes] = []
    kept: list[asyncio.StreamWriter] = []

    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept.append(writer)
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}")

    server = await asyncio.start_server(refuses, "127.0.0.1", 0, limit=1 << 14)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with provider_for(url) as provider:
        ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, LARGE * 3),))
        assert isinstance(ready, Prepared)
        for _ in range(2):
            assert isinstance(await provider.attempt(ready, lease()), Rejected)
    assert [head[:12] for head in heads] == [b"POST /email "] * 2
    for writer in kept:
        writer.transport.abort()
    server.close()


@pytest.mark.usefixtures("trusting")
async def test_over_tls_it_arrives_whole(server_tls: ssl.SSLContext) -> None:
    """Pieces are cut anew for TLS, and no smaller buffer loses one."""
    got = bytearray()

    async def reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        got.extend(await reader.readexactly(length))
        writer.write(OK)
        writer.close()

    server = await asyncio.start_server(reads, "127.0.0.1", 0, ssl=server_tls)
    url = f"https://localhost:{server.sockets[0].getsockname()[1]}"
    async with provider_for(url) as provider:
        ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, LARGE * 3),))
        assert isinstance(ready, Prepared)
        assert await provider.attempt(ready, lease()) == Accepted("id")
    server.close()
    assert bytes(got) == ready.body


class Fading(Lease):
    """A lease that is lost after so many looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        super().__init__("k", 1, "t", 0.0)

    def __getattribute__(self, name: str) -> Any:
        if name != "ends_at":
            return super().__getattribute__(name)
        self.looks -= 1
        return elapsed() + 60 if self.looks >= 0 else 0.0


async def test_smtp_withholds_the_final_dot() -> None:
    """The lease is lost while the mail is on its way: the server is left with half of it."""
    async with SmtpDouble() as double:
        provider = build("smtp", OPTIONS.validate_python(double.options))
        await provider.open()
        ready = provider.prepare(mail(attachments=(FILE,)), (Enclosed(FILE, LARGE),))
        assert isinstance(ready, Prepared)
        assert await provider.attempt(ready, Fading(looks=10)) == TooLate()
        assert (double.ledger.requests, double.ledger.total) == (1, 0)
        assert isinstance(await provider.attempt(ready, lease()), Accepted)
        await provider.close()
