"""SMTP in front of a real server's dialogue: what leaves, when, and over which connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from pydantic import ValidationError

from consumer.model import (
    Accepted,
    Address,
    Answer,
    Blocked,
    Lease,
    Message,
    Prepared,
    Refused,
    Rejected,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.smtp import SmtpOptions, SmtpProvider
from consumer.providers.smtp_connection import Connection
from tests.doubles.mails import KEY, MAIL, lease, mail
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble, parsed

LATE = Fault("status", status=550, body="5.1.1 nobody", headers={"at": "rcpt"})


@asynccontextmanager
async def provider_for(double: SmtpDouble, **options: object) -> AsyncIterator[SmtpProvider]:
    provider = SmtpProvider("smtp", SmtpOptions.model_validate({**double.options, **options}))
    await provider.open()
    try:
        yield provider
    finally:
        await provider.close()


async def send(
    provider: SmtpProvider, message: Message = MAIL, held: Lease | None = None
) -> Answer:
    ready = provider.prepare(message)
    assert isinstance(ready, Prepared)
    return await provider.attempt(ready, held or lease())


@pytest.fixture
async def double() -> AsyncIterator[SmtpDouble]:
    async with SmtpDouble() as running:
        yield running


# ── The mail


async def test_the_message_id_is_the_keys_and_the_date_is_the_sendings(double: SmtpDouble) -> None:
    async with provider_for(double) as provider:
        ready = provider.prepare(MAIL)
        assert isinstance(ready, Prepared)
        assert b"Date:" not in ready.body
        await provider.attempt(ready, lease())
    seen = parsed(double.mails[0])
    assert seen["Message-ID"] == f"<{KEY}@shop.example>"
    assert seen["Date"].datetime.tzinfo is not None
    assert double.envelopes == [("receipts@shop.example", "ada@example.com")]


async def test_a_line_with_a_dot_comes_through_as_it_is(double: SmtpDouble) -> None:
    text = ".\r\n..\r\n.a dot\r\nQUIT\r\n"
    async with provider_for(double) as provider:
        assert isinstance(await send(provider, mail(text=text)), Accepted)
        assert isinstance(await send(provider), Accepted)
    part = parsed(double.mails[0]).get_body(("plain",))
    assert part is not None
    assert part.get_content().replace("\r\n", "\n") == text.replace("\r\n", "\n")


async def test_a_header_that_cannot_be_folded_is_refused() -> None:
    provider = SmtpProvider("smtp", SmtpOptions(host="localhost"))
    message = mail(message_id=f"<{'k' * 1000}@shop.example>")
    assert isinstance(provider.prepare(message), Rejected)


async def test_an_address_outside_ascii_is_never_rewritten() -> None:
    """Without SMTPUTF8 on the other side it cannot be said, and nothing is sent."""
    async with SmtpDouble(smtputf8=False) as double, provider_for(double) as provider:
        answer = await send(provider, mail(to=Address("jörg@example.com")))
        assert answer == Rejected("smtp: the server takes no address outside ASCII")
        assert double.ledger.requests == 0
        assert isinstance(await send(provider), Accepted)


async def test_a_long_plain_header_is_folded_and_never_encoded(double: SmtpDouble) -> None:
    """An encoded word in a `List-Unsubscribe` is no address that anybody could unsubscribe at."""
    link = f"<https://shop.example/u/{'x' * 200}>, <mailto:leave@shop.example>"
    subject = "words " * 40 + "end"
    async with provider_for(double) as provider:
        message = mail(subject=subject, headers=(("List-Unsubscribe", link),))
        assert isinstance(await send(provider, message), Accepted)
    assert f"<https://shop.example/u/{'x' * 200}>,\r\n <mailto:".encode() in double.mails[0]
    seen = parsed(double.mails[0])
    assert (seen["Subject"], seen["List-Unsubscribe"]) == (subject, link)


# ── The deadline and the recall


async def test_the_deadline_is_read_right_before_the_first_byte(
    double: SmtpDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that is lost while the envelope is being said: the server said "go on", and waits."""
    held = lease()
    say = Connection._say

    async def losing(self: Connection, *words: object) -> None:
        await say(self, *words)  # type: ignore[arg-type]  # passed through
        held.ends_at = 0.0

    monkeypatch.setattr(Connection, "_say", losing)
    async with provider_for(double) as provider:
        assert await send(provider, held=held) == TooLate()
    assert double.ledger.requests == 1
    assert double.mails == []


async def test_after_a_late_mail_the_next_one_has_a_connection_of_its_own(
    double: SmtpDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one stands in the middle of a mail: what came next would be that mail's text."""
    async with provider_for(double) as provider:
        with monkeypatch.context() as patch:
            patch.setattr("consumer.providers.smtp.Flight.late", property(_second_time()))
            assert await send(provider) == TooLate()
        assert provider._idle == []
        assert isinstance(await send(provider), Accepted)
    assert double.connections == 2
    assert double.ledger.total == 1


def _second_time() -> Callable[[object], bool]:
    """Return a `late` that is true when it is asked again: before connecting no, at DATA yes."""
    answers = iter((False, True))
    return lambda _: next(answers)


@pytest.mark.parametrize("place", ["mail", "rcpt", "data"])
async def test_called_back_before_the_first_byte_sent_nothing(
    double: SmtpDouble, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    reached = asyncio.Event()
    say = Connection._say

    async def hanging(self: Connection, at: str, *words: object) -> None:
        if place.upper() == str(at):
            reached.set()
            await asyncio.Event().wait()
        await say(self, at, *words)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(Connection, "_say", hanging)
    async with provider_for(double) as provider:
        sending = asyncio.create_task(send(provider))
        await reached.wait()
        sending.cancel()
        assert await sending == TooLate(called_back=True)
    assert double.mails == []


async def test_the_whole_attempt_has_one_timeout(double: SmtpDouble) -> None:
    double.script.then(Fault("timeout"))
    async with provider_for(double, timeout=0.2, connect_timeout=0.1) as provider:
        assert await send(provider) == Unclear("smtp: TimeoutError")
    assert double.ledger.total == 1


# ── Connections


async def test_one_connection_carries_one_mail_after_another(double: SmtpDouble) -> None:
    async with provider_for(double) as provider:
        for _ in range(3):
            assert isinstance(await send(provider), Accepted)
    assert double.connections == 1


async def test_a_refusal_does_not_cost_the_connection(double: SmtpDouble) -> None:
    double.script.then(LATE)
    async with provider_for(double) as provider:
        assert isinstance(await send(provider), Refused)
        assert isinstance(await send(provider), Accepted)
    assert double.connections == 1


async def test_a_connection_that_died_meanwhile_is_no_failure(double: SmtpDouble) -> None:
    async with provider_for(double) as provider:
        await send(provider)
        double.close_idle()
        assert isinstance(await send(provider), Accepted)
    assert double.connections == 2


async def test_a_connection_that_was_idle_for_long_is_not_trusted(
    double: SmtpDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands between may have forgotten it without a word: the reply would never come."""
    monkeypatch.setattr("consumer.providers.smtp_connection.IDLE", -1.0)
    async with provider_for(double) as provider:
        await send(provider)
        assert isinstance(await send(provider), Accepted)
    assert double.connections == 2


async def test_a_doubt_costs_the_connection(double: SmtpDouble) -> None:
    double.script.then(Fault("garbage"))
    async with provider_for(double) as provider:
        assert isinstance(await send(provider), Unclear)
        assert isinstance(await send(provider), Accepted)
    assert double.connections == 2


async def test_a_connection_broken_before_the_mail_is_certainly_not_sent(
    double: SmtpDouble,
) -> None:
    double.script.then(Fault("reset"))
    async with provider_for(double) as provider:
        assert isinstance(await send(provider), Transient)
    assert double.ledger.total == 0


async def test_nobody_there_is_certainly_not_sent(double: SmtpDouble) -> None:
    async with provider_for(double, port=1) as provider:
        assert isinstance(await send(provider), Transient)


async def test_a_server_that_never_greets_is_left_after_the_connect_timeout() -> None:
    async def silence(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await asyncio.start_server(silence, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    options = SmtpOptions(host="127.0.0.1", port=port, tls="none", connect_timeout=0.1)
    provider = SmtpProvider("smtp", options)
    await provider.open()
    assert isinstance(await send(provider), Transient)
    server.close()


async def test_a_provider_that_is_not_open_sends_nothing(double: SmtpDouble) -> None:
    provider = SmtpProvider("smtp", SmtpOptions.model_validate(double.options))
    assert isinstance(await send(provider), Transient)
    assert double.connections == 0


# ── Before any mail: TLS, login, and a server that says no


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.mark.parametrize("implicit", [False, True])
async def test_mail_and_password_travel_over_tls(
    server_tls: ssl.SSLContext, ca_file: Path, *, implicit: bool
) -> None:
    login = ("shop", "secret")
    async with SmtpDouble(context=server_tls, implicit=implicit, login=login) as double:
        async with provider_for(double, ca_file=ca_file) as provider:
            assert isinstance(await send(provider), Accepted)
        async with provider_for(double, ca_file=ca_file, password="other") as provider:
            answer = await send(provider)
            assert isinstance(answer, Blocked)
            assert answer.error.startswith("smtp 535")
        assert double.ledger.total == 1


@pytest.mark.parametrize("implicit", [False, True])
async def test_an_unknown_certificate_gets_no_byte_of_a_mail(
    server_tls: ssl.SSLContext, *, implicit: bool
) -> None:
    async with SmtpDouble(context=server_tls, implicit=implicit) as double:
        async with provider_for(double) as provider:
            assert isinstance(await send(provider), Transient)
        assert double.ledger.requests == 0


async def test_renewed_credentials_are_used_from_the_next_mail_on() -> None:
    login = ("shop", "new")
    async with SmtpDouble(login=login) as double, provider_for(double, password="old") as provider:
        assert isinstance(await send(provider), Blocked)
        await provider.renew(SmtpOptions.model_validate(double.options))
        assert isinstance(await send(provider), Accepted)


async def test_without_starttls_nothing_goes_on_in_the_clear(double: SmtpDouble) -> None:
    async with provider_for(double, tls="starttls") as provider:
        assert await send(provider) == Blocked("smtp: the server offers no STARTTLS")
    assert double.ledger.requests == 0


@pytest.mark.parametrize(
    ("place", "reply", "expected"),
    [
        ("greeting", "554 5.3.2 no service here", Blocked),
        ("greeting", "421 4.3.2 too busy", Transient),
        ("ehlo", "550 5.7.1 go away", Blocked),
        ("auth", "454 4.7.0 not now", Transient),
        ("auth", "535 5.7.8 who?", Blocked),
    ],
)
async def test_a_no_before_any_mail_is_about_all_of_them(
    place: str, reply: str, expected: type[Answer]
) -> None:
    async with SmtpDouble(login=("shop", "secret")) as double, provider_for(double) as provider:
        double.instead[place] = reply
        assert type(await send(provider)) is expected
        double.instead.clear()
        assert isinstance(await send(provider), Accepted)


# ── Settings


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"username": "shop"}, "go together"),
        ({"username": "shop", "password": "s", "tls": "none"}, "needs tls"),
    ],
)
def test_a_password_is_whole_and_encrypted(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        SmtpOptions.model_validate({"host": "smtp.example.com", **options})


@pytest.mark.parametrize(("tls", "port"), [("none", 25), ("starttls", 587), ("implicit", 465)])
async def test_the_port_follows_from_tls(tls: str, port: int) -> None:
    given = {"host": "localhost", "tls": tls, "hello": "client"}
    provider = SmtpProvider("smtp", SmtpOptions.model_validate(given))
    await provider.open()
    assert provider._server is not None
    assert provider._server.port == port


def test_the_account_is_named_without_its_password() -> None:
    given = {"host": "smtp.example.com", "username": "shop", "password": "secret"}
    provider = SmtpProvider("smtp", SmtpOptions.model_validate(given))
    assert provider.account == "smtp:shop@smtp.example.com"
