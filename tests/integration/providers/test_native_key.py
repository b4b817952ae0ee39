"""Providers with an idempotency key: a repeat of the same bytes is the same mail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from consumer.model import Accepted, Unclear
from tests.doubles.mails import KEY, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage, on_stage
from tests.integration.providers.kinds import RESEND


@pytest.fixture
async def resend() -> AsyncIterator[Stage]:
    async with RESEND.start() as double, on_stage(RESEND, double) as ready:
        yield ready


@pytest.mark.parametrize("word", ["drop", "garbage", "cut", "blank"])
async def test_a_repeat_after_a_lost_answer_is_the_same_mail(resend: Stage, word: str) -> None:
    resend.double.script.then(Fault(word))
    assert isinstance(await resend.send(), Unclear)
    [message_id] = resend.double.ledger.accepted[KEY]
    assert await resend.send() == Accepted(message_id)
    assert resend.double.ledger.total == 1


async def test_other_bytes_under_a_used_key_prove_nothing(resend: Stage) -> None:
    """The first mail may be out, or may have been refused: not to be told from here."""
    await resend.send()
    assert isinstance(await resend.send(mail(text="other")), Unclear)
    assert resend.double.ledger.total == 1


async def test_while_the_first_is_running_the_second_comes_back_later(resend: Stage) -> None:
    resend.double.script.then(Fault("delay", seconds=0.2))
    first = asyncio.create_task(resend.send())
    await resend.double.arrived.wait()
    second = await resend.send()
    assert isinstance(second, Unclear)
    assert second.retry_after == 1
    assert isinstance(await first, Accepted)
    assert resend.double.ledger.total == 1
    assert resend.provider.window == 24 * 3600
