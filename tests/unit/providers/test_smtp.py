"""What an SMTP adapter is told and what it can fold, before any server is spoken to."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from consumer.model import Rejected
from consumer.providers.smtp import SmtpOptions, SmtpProvider
from tests.doubles.mails import mail


async def test_a_header_that_cannot_be_folded_is_refused() -> None:
    provider = SmtpProvider("smtp", SmtpOptions(host="localhost"))
    message = mail(message_id=f"<{'k' * 1000}@shop.example>")
    assert isinstance(provider.prepare(message), Rejected)


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
