"""Laws of Postmark's webhooks: user and password, and nothing but what proves acceptance."""

from __future__ import annotations

import pytest

from consumer.model import News
from consumer.webhooks.hook import Forged, Heard, Unreadable, WebhookSetupError
from consumer.webhooks.postmark import PostmarkHook
from tests.unit.webhooks.signing import ADDRESS, KEY, basic, dumped

HOOK = PostmarkHook("postmark", ("hook:old pass:word", "hook:new"))
# https://postmarkapp.com/developer/webhooks/bounce-webhook, with our metadata
BOUNCE = {
    "RecordType": "Bounce",
    "ID": 42,
    "Type": "HardBounce",
    "TypeCode": 1,
    "Name": "Hard bounce",
    "MessageID": "883953f4-6105-42a2-a16a-77a8eac79483",
    "Details": f"550 no such user {ADDRESS}",
    "Email": ADDRESS,
    "BouncedAt": "2014-08-01T13:28:10.2735393-04:00",
    "Metadata": {"sendonce_key": KEY},
}
DELIVERY = {
    "RecordType": "Delivery",
    "MessageID": "883953f4-6105-42a2-a16a-77a8eac79483",
    "Recipient": ADDRESS,
    "DeliveredAt": "2014-08-01T13:28:10Z",
    "Metadata": {"sendonce_key": KEY},
}


async def heard(event: object) -> Heard:
    reading = await HOOK.read(basic("hook", "new"), dumped(event))
    assert isinstance(reading, Heard)
    return reading


@pytest.mark.parametrize(("user", "password"), [("hook", "old pass:word"), ("hook", "new")])
async def test_each_secret_of_a_rotation_is_good(user: str, password: str) -> None:
    """Only the first colon parts user and password: RFC 7617."""
    reading = await HOOK.read(basic(user, password), dumped(DELIVERY))
    assert isinstance(reading, Heard)
    assert len(reading.notices) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        basic("hook", "newer"),
        basic("hook", "ne"),
        basic("other", "new"),
        basic("", ""),
        {"Authorization": "Basic"},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic \udcff"},
        {"Authorization": "Bearer hook:new"},
        {"Authorization": "hook:new"},
    ],
)
async def test_anybody_else_is_told_so(headers: dict[str, str]) -> None:
    assert isinstance(await HOOK.read(headers, dumped(DELIVERY)), Forged)
    assert HOOK.challenge == 'Basic realm="webhooks"'


async def test_a_delivery_says_so_under_the_id_that_the_api_gave() -> None:
    [notice] = (await heard(DELIVERY)).notices
    assert (notice.key, notice.provider) == (KEY, "postmark")
    assert notice.provider_message_id == "883953f4-6105-42a2-a16a-77a8eac79483"
    assert notice.news is News.DELIVERED
    assert notice.at is not None
    assert notice.at.isoformat() == "2014-08-01T13:28:10+00:00"


async def test_a_bounce_tells_its_code_and_no_address() -> None:
    [notice] = (await heard(BOUNCE)).notices
    assert (notice.news, notice.detail) == (News.BOUNCED, "HardBounce")
    assert notice.at is not None
    assert ADDRESS not in repr(notice)


@pytest.mark.parametrize(
    ("changes", "news"),
    [
        ({"Type": "SoftBounce"}, News.BOUNCED),
        ({"Type": "Blocked"}, News.BOUNCED),
        ({"Type": "A type of next year"}, News.BOUNCED),
        ({"Type": "Transient"}, News.ACCEPTED),
        ({"Type": "AutoResponder"}, News.ACCEPTED),
        ({"RecordType": "SpamComplaint", "Type": "SpamComplaint"}, News.COMPLAINED),
        ({"Type": "SMTPApiError"}, None),
        ({"Type": "TemplateRenderingFailed"}, None),
        ({"RecordType": "Open"}, None),
        ({"RecordType": "Click"}, None),
        ({"RecordType": "SubscriptionChange"}, None),
        ({"RecordType": "Inbound"}, None),
        ({"Metadata": {}}, None),
        ({"Metadata": {"sendonce_key": "order-1"}}, None),
        ({"Metadata": None}, None),
        ({"MessageID": ""}, None),
        ({"MessageID": "a\x00b"}, None),
    ],
)
async def test_news_is_what_proves_that_the_mail_was_taken(
    changes: dict[str, object], news: News | None
) -> None:
    reading = await heard(BOUNCE | changes)
    assert [notice.news for notice in reading.notices] == ([news] if news else [])
    assert reading.others == (0 if news else 1)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"RecordType": 1}', b"<html>"])
async def test_what_is_not_as_documented_is_unreadable(body: bytes) -> None:
    assert isinstance(await HOOK.read(basic("hook", "new"), body), Unreadable)


@pytest.mark.parametrize("secret", ["hook", "hook:", ""])
def test_a_secret_without_a_password_stops_the_start(secret: str) -> None:
    with pytest.raises(WebhookSetupError, match=r"providers\.mine\.webhook_secret") as error:
        PostmarkHook("mine", (secret,))
    assert not secret or f'"{secret}"' not in str(error.value)
