"""One connection carries mail after mail, and none that a doubt hangs on is used again."""

from __future__ import annotations

import asyncio

import pytest

from consumer.model import Accepted, Refused, Transient, Unclear
from consumer.providers.smtp import SmtpOptions, SmtpProvider
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble
from tests.integration.providers.smtp.dialogue import LATE, provider_for, send


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
