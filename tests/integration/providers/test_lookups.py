"""Asking a provider about a mail of ours: found, absent, or nothing learned."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest

from consumer.model import Accepted
from consumer.providers import Absent, Found, Lookup, Unasked
from consumer.providers.postmark_search import PostmarkSearch
from tests.doubles.engine import Double
from tests.doubles.mails import KEY, MAIL, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage, on_stage
from tests.integration.providers.kinds import POSTMARK, SENDGRID, Kind


@dataclass(frozen=True, slots=True)
class Askable:
    """A kind that can be asked, with the settings that it takes."""

    kind: Kind
    stranger: Mapping[str, object]  # another account's credentials
    settings: Mapping[str, object] = field(default_factory=dict)


ASKABLE = (
    Askable(POSTMARK, {"token": "other"}),
    Askable(SENDGRID, {"api_key": "SG.other"}, {"activity": True}),
)


@pytest.fixture(params=ASKABLE, ids=lambda askable: askable.kind.name)
def askable(request: pytest.FixtureRequest) -> Askable:
    chosen: Askable = request.param
    return chosen


@pytest.fixture
async def asked(askable: Askable) -> AsyncIterator[Stage]:
    kind = askable.kind
    async with kind.start() as double, on_stage(kind, double, **askable.settings) as ready:
        yield ready


@pytest.fixture
async def postmark() -> AsyncIterator[Stage]:
    async with POSTMARK.start() as double, on_stage(POSTMARK, double) as ready:
        yield ready


def lookup(stage: Stage) -> Lookup:
    asked = stage.provider.lookup
    assert asked is not None
    return asked


async def test_a_mail_whose_answer_was_lost_is_found_under_its_id(asked: Stage) -> None:
    asked.double.script.then(Fault("drop"))
    await asked.send()
    [message_id] = asked.double.ledger.accepted[KEY]
    assert await lookup(asked).look_up(MAIL) == Found(message_id)


async def test_what_is_found_is_what_the_answer_would_have_said(asked: Stage) -> None:
    """Or the proof of one mail would look like a second one."""
    answer = await asked.send()
    assert isinstance(answer, Accepted)
    assert await lookup(asked).look_up(MAIL) == Found(answer.provider_message_id)


async def test_a_mail_of_another_key_is_not_ours(asked: Stage) -> None:
    other = mail(key=KEY[::-1], message_id=f"<{KEY[::-1]}@shop.example>")
    assert isinstance(await asked.send(other), Accepted)
    assert await lookup(asked).look_up(MAIL) == Absent()


async def test_another_account_learns_nothing(asked: Stage, askable: Askable) -> None:
    """An empty list from another account would look like absence."""
    await asked.send()
    settings = {**askable.settings, **askable.stranger}
    async with on_stage(asked.kind, asked.double, **settings) as stranger:
        assert isinstance(await lookup(stranger).look_up(MAIL), Unasked)
        assert stranger.provider.account != asked.provider.account


async def test_a_provider_out_of_reach_teaches_nothing(asked: Stage, askable: Askable) -> None:
    settings = {**askable.settings, "base_url": "http://127.0.0.1:1"}
    async with on_stage(asked.kind, asked.double, **settings) as nowhere:
        assert isinstance(await lookup(nowhere).look_up(MAIL), Unasked)


async def test_the_stream_is_always_named(postmark: Stage) -> None:
    """Without it, only the default stream may be searched."""
    assert isinstance(postmark.double, Double)
    await lookup(postmark).look_up(mail(options={"stream": "receipts"}))
    assert "messagestream=receipts" in postmark.double.calls[-1].path


@pytest.mark.parametrize("body", ["", "{}", '{"Messages": null}', '{"Messages": [{}]}', "[]"])
def test_an_answer_that_says_nothing_is_not_absence(body: str) -> None:
    search = PostmarkSearch("http://any", {}, "outbound")
    assert isinstance(search.sighting(MAIL, 200, body.encode()), Unasked)
    assert isinstance(search.sighting(MAIL, 500, b'{"Messages": []}'), Unasked)


async def test_too_many_questions_are_no_absence() -> None:
    """SendGrid takes six a minute; the seventh learns nothing, and is asked again later."""
    settings = {"activity": True}
    async with SENDGRID.start() as double, on_stage(SENDGRID, double, **settings) as stage:
        sightings = [await lookup(stage).look_up(MAIL) for _ in range(7)]
        assert sightings[:6] == [Absent()] * 6
        assert isinstance(sightings[6], Unasked)
