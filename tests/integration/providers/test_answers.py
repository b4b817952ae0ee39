"""Answers that are broken, endless, compressed, or somewhere else: what they still prove."""

from __future__ import annotations

import gzip

import pytest

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Rejected,
    SlowDown,
    Unclear,
    elapsed,
)
from consumer.providers.transport import ANSWER_LIMIT
from tests.doubles.mails import lease
from tests.integration.providers.ear import listening, prepared, provider_for


@pytest.mark.parametrize(
    ("status", "expected"),
    [(b"401 No", Blocked), (b"422 No", Rejected), (b"429 No", SlowDown), (b"200 OK", Unclear)],
)
async def test_a_status_whose_body_broke_off_still_says_what_it_proves(
    status: bytes, expected: type[Answer]
) -> None:
    cut = b"HTTP/1.1 %b\r\nContent-Length: 100\r\n\r\n{" % status
    async with listening(answer=cut, ends=True) as ear, provider_for(ear.url) as provider:
        assert type(await provider.attempt(prepared(provider), lease())) is expected


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed_by_any_method(status: int) -> None:
    away = b"HTTP/1.1 %d Gone\r\nLocation: /\r\nContent-Length: 0\r\n\r\n" % status
    async with listening(answer=away) as ear, provider_for(ear.url) as provider:
        assert isinstance(await provider.attempt(prepared(provider), lease()), Unclear)
        assert len(ear.reads) == 1


async def test_an_answer_without_end_is_read_up_to_a_limit() -> None:
    endless = b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n" + b"x" * ANSWER_LIMIT
    async with listening(answer=endless) as ear, provider_for(ear.url, timeout=8) as provider:
        began = elapsed()
        assert isinstance(await provider.attempt(prepared(provider), lease()), Unclear)
        assert elapsed() - began < 7


async def test_an_answer_that_comes_compressed_although_we_asked_not_to_is_read() -> None:
    packed = gzip.compress(b'{"MessageID": "id"}')
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    answer = head % len(packed) + packed
    async with listening(answer=answer) as ear, provider_for(ear.url) as provider:
        assert await provider.attempt(prepared(provider), lease()) == Accepted("id")


async def test_nothing_is_remembered_between_mails() -> None:
    """No cookies, no proxy from the environment: one mail, one plain request."""
    async with listening() as ear, provider_for(ear.url) as provider:
        for _ in range(2):
            await provider.attempt(prepared(provider), lease())
        head = ear.reads[1].partition(b"\r\n\r\n")[0]
        assert b"Cookie" not in head
        assert b"Accept-Encoding: identity" in head
        assert b"User-Agent: sendonce/" in head
        assert ear.connections == 1
