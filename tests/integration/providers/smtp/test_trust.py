"""Before any mail: TLS that is checked, a login, and a no that is about all mails."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from consumer.model import Accepted, Answer, Blocked, Prepared, Transient
from consumer.providers.smtp import SmtpOptions
from tests.doubles.mails import KEY, lease
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.enclosures import PDF, arrived, enclosed, with_files
from tests.integration.providers.smtp.dialogue import provider_for, send


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
async def test_so_do_files_whole(
    server_tls: ssl.SSLContext, ca_file: Path, *, implicit: bool
) -> None:
    file = enclosed("scan.pdf", PDF * 8000)
    async with SmtpDouble(context=server_tls, implicit=implicit) as double:
        async with provider_for(double, ca_file=ca_file) as provider:
            ready = provider.prepare(with_files(file), (file,))
            assert isinstance(ready, Prepared)
            assert isinstance(await provider.attempt(ready, lease()), Accepted)
        assert double.ledger.brought[KEY].files == arrived(file)


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
