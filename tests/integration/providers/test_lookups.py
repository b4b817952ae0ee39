"""Asking a provider about a mail of ours: found, absent, or nothing learned."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from consumer.model import Accepted
from consumer.providers import Absent, Found, Lookup, Unasked
from consumer.providers.postmark_search import PostmarkSearch
from tests.doubles.engine import Double
from tests.doubles.mails import KEY, MAIL, mail
from tests.doubles.script import Fault
from tests.integration.providers.conftest import Stage, on_stage
from tests.integration.providers.kinds import POSTMARK


@pytest.fixture
async def postmark() -> AsyncIterator[Stage]:
    async with POSTMARK.start() as double, on_stage(POSTMARK, double) as ready:
        yield ready


def lookup(stage: Stage) -> Lookup:
    asked = stage.provider.lookup
    assert asked is not None
    return asked


async def test_a_mail_whose_answer_was_lost_is_found_under_its_id(postmark: Stage) -> None:
    postmark.double.script.then(Fault("drop"))
    await postmark.send()
    [message_id] = postmark.double.ledger.accepted[KEY]
    assert await lookup(postmark).look_up(MAIL) == Found(message_id)


async def test_a_mail_of_another_key_is_not_ours(postmark: Stage) -> None:
    assert isinstance(await postmark.send(mail(key=KEY[::-1])), Accepted)
    assert await lookup(postmark).look_up(MAIL) == Absent()


async def test_another_account_learns_nothing(postmark: Stage) -> None:
    """An empty list from another server would look like absence."""
    await postmark.send()
    async with on_stage(POSTMARK, postmark.double, token="other") as stranger:
        assert isinstance(await lookup(stranger).look_up(MAIL), Unasked)
        assert stranger.provider.account != postmark.provider.account


async def test_a_provider_out_of_reach_teaches_nothing(postmark: Stage) -> None:
    async with on_stage(POSTMARK, postmark.double, base_url="http://127.0.0.1:1") as nowhere:
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
