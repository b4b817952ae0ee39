"""Mailgun at the wire: a form that says it is one, and the events of a mail in doubt."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from consumer.model import Accepted, Blocked
from consumer.providers import Absent, Found, Lookup, Unasked
from tests.doubles.engine import Double
from tests.doubles.mails import KEY, MAIL, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage, on_stage
from tests.integration.providers.kinds import MAILGUN

ID = MAIL.message_id[1:-1]


@pytest.fixture
async def mailgun() -> AsyncIterator[Stage]:
    async with MAILGUN.start() as double, on_stage(MAILGUN, double) as ready:
        yield ready


def lookup(stage: Stage) -> Lookup:
    asked = stage.provider.lookup
    assert asked is not None
    return asked


async def test_a_mail_says_once_that_it_is_a_form(mailgun: Stage) -> None:
    assert await mailgun.send() == Accepted(ID)
    assert isinstance(mailgun.double, Double)
    given = mailgun.double.calls[-1].headers
    types = [value for name, value in given.items() if name.casefold() == "content-type"]
    assert [value.partition(";")[0] for value in types] == ["multipart/form-data"]


async def test_a_mail_whose_answer_was_lost_is_found_under_the_id_of_its_answer(
    mailgun: Stage,
) -> None:
    mailgun.double.script.then(Fault("drop"))
    await mailgun.send()
    assert mailgun.double.ledger.accepted == {KEY: [ID]}
    assert await lookup(mailgun).look_up(MAIL) == Found(ID)


async def test_a_mail_of_another_key_is_not_ours(mailgun: Stage) -> None:
    other = mail(key=KEY[::-1], message_id=f"<{KEY[::-1]}@shop.example>")
    assert isinstance(await mailgun.send(other), Accepted)
    assert await lookup(mailgun).look_up(MAIL) == Absent()


async def test_a_sending_key_sends_and_learns_nothing(mailgun: Stage) -> None:
    async with on_stage(MAILGUN, mailgun.double, api_key="key-send") as sender:
        assert await sender.send() == Accepted(ID)
        assert isinstance(await lookup(sender).look_up(MAIL), Unasked)
    async with on_stage(MAILGUN, mailgun.double, api_key="key-send", read_events=False) as sender:
        assert sender.provider.lookup is None


@pytest.mark.parametrize("wrong", [{"api_key": "other"}, {"domain": "other.example"}], ids=str)
async def test_a_stranger_is_stopped_and_learns_nothing(
    mailgun: Stage, wrong: dict[str, object]
) -> None:
    await mailgun.send()
    async with on_stage(MAILGUN, mailgun.double, **wrong) as stranger:
        assert isinstance(await stranger.send(), Blocked)
        assert isinstance(await lookup(stranger).look_up(MAIL), Unasked)
    assert mailgun.double.ledger.accepted == {KEY: [ID]}
