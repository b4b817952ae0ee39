"""What arrives is what was prepared: every line, every address and every header as they are."""

from __future__ import annotations

from consumer.model import Accepted, Address, Prepared, Rejected
from tests.doubles.mails import KEY, MAIL, lease, mail
from tests.doubles.smtp import SmtpDouble
from tests.doubles.smtp_mails import parsed
from tests.integration.providers.smtp.dialogue import provider_for, send


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
