"""No byte of a mail leaves after its lease; what was called back before is certainly not sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from consumer.model import Accepted, TooLate, Unclear
from consumer.providers.smtp_connection import Connection
from tests.doubles.mails import lease
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.smtp.dialogue import provider_for, send


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
