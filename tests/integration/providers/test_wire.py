"""What is true of the bytes themselves: when they leave, in how many writes, and to whom."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Enclosed,
    Message,
    Prepared,
    Rejected,
    TooLate,
    Transient,
    Unclear,
    elapsed,
)
from consumer.providers import PostmarkOptions, ResendOptions, build
from consumer.providers.oneshot import PastDeadlineError
from consumer.providers.postmark import Postmark
from consumer.providers.sockets import provider_socket
from consumer.providers.transport import Heard, _loss
from tests.doubles.mails import MAIL, lease, mail
from tests.integration.providers.ear import SILENCE, Ear, listening, prepared, provider_for
from tests.integration.providers.paper import Paper, one_shot


async def test_headers_and_body_leave_in_one_write() -> None:
    """Nothing can come between: a process frozen half way has sent all or nothing."""
    async with listening() as ear, provider_for(ear.url) as provider:
        ready = prepared(provider, mail(html="x" * 5000))
        assert await provider.attempt(ready, lease()) == Accepted("id")
        assert len(ear.reads) == 1
        assert ear.reads[0].startswith(b"POST /email ")
        assert ear.reads[0].endswith(ready.body)


async def test_the_lease_is_read_at_the_moment_of_writing() -> None:
    """A lease that is lost (or renewed) while the connection is being made counts."""
    async with listening() as ear, provider_for(ear.url) as provider:
        held = lease()
        sending = asyncio.create_task(provider.attempt(prepared(provider), held))
        await asyncio.sleep(0)
        held.ends_at = 0.0
        assert await sending == TooLate()
        assert ear.reads == []


async def test_a_write_that_was_called_back_never_happens() -> None:
    """The writer is a task of its own before Python 3.12, and may come after the answer."""
    body = one_shot()
    body.revoke()
    with pytest.raises(PastDeadlineError):
        await body.write_with_length(Paper(), None)
    assert not body.fired


async def test_a_body_leaves_at_most_once() -> None:
    """Whatever the library would like to repeat."""
    body, wire = one_shot(), Paper()
    await body.write_with_length(wire, None)
    with pytest.raises(PastDeadlineError):
        await body.write_with_length(wire, None)
    assert wire.written == [b"mail"]


async def test_an_attempt_that_was_answered_cannot_write_any_more() -> None:
    """The answer "nothing left" is kept, however late the writer's task comes."""
    body = one_shot()
    assert _loss(Signing(None), Heard(), body, TooLate(), "called back") == TooLate()
    with pytest.raises(PastDeadlineError):
        await body.write_with_length(Paper(), None)


async def test_sockets_keep_nothing_behind_our_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an attempt is given up, the kernel neither delivers its bytes nor repeats them."""
    made: list[socket.socket] = []

    def noted(address: tuple[Any, ...]) -> socket.socket:
        made.append(provider_socket(address))
        return made[-1]

    monkeypatch.setattr("consumer.providers.transport.provider_socket", noted)
    async with listening() as ear, provider_for(ear.url) as provider:
        await provider.attempt(prepared(provider), lease())
        linger = made[-1].getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
        assert struct.unpack("ii", linger) == (1, 0)
        assert made[-1].getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > 200_000
        assert made[-1].getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000


def https(ear: Ear) -> str:
    return ear.url.replace("http:", "https:")


async def test_an_unknown_certificate_gets_no_byte(server_tls: ssl.SSLContext) -> None:
    async with listening(server_tls) as ear, provider_for(ear.url) as provider:
        assert isinstance(await provider.attempt(prepared(provider), lease()), Transient)
        assert ear.reads == []


@pytest.mark.usefixtures("trusting")
async def test_the_deadline_holds_over_tls(server_tls: ssl.SSLContext) -> None:
    async with listening(server_tls) as ear, provider_for(ear.url) as provider:
        assert await provider.attempt(prepared(provider), lease()) == Accepted("id")
        assert await provider.attempt(prepared(provider), lease(1)) == TooLate()
        assert len(ear.reads) == 1


async def test_a_connection_that_never_comes_about_is_certainly_not_sent() -> None:
    """A server that accepts and never shakes hands: the connect timeout, not the whole one."""
    hasty = {"timeout": 5, "connect_timeout": 0.2}
    async with listening(answer=SILENCE) as ear, provider_for(https(ear), **hasty) as provider:
        began = elapsed()
        assert isinstance(await provider.attempt(prepared(provider), lease()), Transient)
        assert elapsed() - began < 4


async def test_called_back_while_connecting_sent_nothing() -> None:
    async with listening(answer=SILENCE) as ear, provider_for(https(ear)) as provider:
        sending = asyncio.create_task(provider.attempt(prepared(provider), lease()))
        await ear.heard.wait()  # the first message of a TLS handshake, and no mail
        sending.cancel()
        assert await sending == TooLate(called_back=True)


async def test_credentials_that_fail_are_an_answer_and_no_request() -> None:
    async with listening() as ear, provider_for(ear.url) as provider:
        for refusal in (Blocked("no credentials"), Transient("not now")):
            provider.renew(Signing(refusal))
            assert await provider.attempt(prepared(provider), lease()) == refusal
        assert ear.connections == 0


async def test_called_back_while_credentials_are_fetched_sent_nothing() -> None:
    async with listening() as ear, provider_for(ear.url) as provider:
        signing = Signing(None)
        provider.renew(signing)
        sending = asyncio.create_task(provider.attempt(prepared(provider), lease()))
        await signing.asked.wait()
        sending.cancel()
        assert await sending == TooLate(called_back=True)
        assert ear.connections == 0


async def test_renewed_credentials_are_used_from_the_next_attempt_on() -> None:
    async with listening() as ear, provider_for(ear.url) as provider:
        ready = prepared(provider)
        await provider.attempt(ready, lease())
        provider.renew(Postmark(PostmarkOptions.model_validate({"token": "new"})))
        await provider.attempt(ready, lease())
        tokens = [b"Token: t\r\n" in ear.reads[0], b"Token: new\r\n" in ear.reads[1]]
        assert tokens == [True, True]


async def test_a_provider_that_is_not_open_sends_nothing() -> None:
    provider = build("p", ResendOptions.model_validate({"api_key": "k"}))
    ready = provider.prepare(MAIL)
    assert isinstance(ready, Prepared)
    assert isinstance(await provider.attempt(ready, lease()), Transient)


async def test_a_reader_that_breaks_is_a_doubt_not_a_crash() -> None:
    async with listening() as ear, provider_for(ear.url) as provider:
        provider.renew(Signing(None, fails=True, url=ear.url))
        assert isinstance(await provider.attempt(prepared(provider), lease()), Unclear)


@dataclass
class Signing:
    """Postmark, with a hook of the test's own. `answer` None: credentials never come."""

    answer: Blocked | Transient | None
    fails: bool = False
    url: str = "http://localhost:1"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    account: str = "test:1"
    window: float = 0.0
    search: None = None

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        options = PostmarkOptions.model_validate({"token": "t", "base_url": self.url})
        return Postmark(options).request(message, enclosed, template)

    async def sign(self, prepared: Prepared) -> Mapping[str, str] | Transient | Blocked:
        self.asked.set()
        if self.answer is None and not self.fails:
            await asyncio.Event().wait()
        return {} if self.answer is None else self.answer

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        raise ZeroDivisionError
