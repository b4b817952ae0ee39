"""Laws of SendGrid's webhooks: a signature over the bytes as they came, many events at once."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from consumer.model import News
from consumer.webhooks.hook import Forged, Heard, Unreadable, WebhookSetupError
from consumer.webhooks.sendgrid import SIGNATURE, TIMESTAMP, SendgridHook
from tests.unit.webhooks.signing import ADDRESS, KEY, OTHER_KEY, SendgridSigner, dumped

OLD, NEW = SendgridSigner(), SendgridSigner()
HOOK = SendgridHook("sendgrid", (OLD.public, NEW.public))
BOUNCE: dict[str, Any] = {
    "email": ADDRESS,
    "timestamp": 1600112492,
    "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
    "event": "bounce",
    "type": "blocked",
    "status": "5.0.0",
    "reason": f"500 unknown recipient {ADDRESS}",
    "sg_event_id": "rWVYmVk90MjZJ9iohOBa3w==",
    "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
    "sendonce_key": KEY,
}


async def heard(*events: object) -> Heard:
    body = dumped(events)
    reading = await HOOK.read(NEW.sign(body), body)
    assert isinstance(reading, Heard)
    return reading


async def test_the_sample_of_sendgrids_own_library() -> None:
    """https://github.com/sendgrid/sendgrid-python, test/unit/test_eventwebhook.py: all of it."""
    public = (
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3G"
        "Rqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="
    )
    signature = (
        "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M"
        "15TluLtEZtM="
    )
    hook = SendgridHook("sendgrid", (public,))
    headers = {SIGNATURE: signature, TIMESTAMP: "1600112502"}
    body = (
        b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
        b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
        b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-'
        b'5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>",'
        b'"timestamp":1600112492}]\r\n'
    )
    assert await hook.read(headers, body) == Heard(others=1)  # well signed, and not our mail
    assert isinstance(await hook.read(headers, body.rstrip()), Forged)  # the line's end is signed
    assert isinstance(await hook.read(headers | {TIMESTAMP: "1600112503"}, body), Forged)
    assert isinstance(await HOOK.read(headers, body), Forged)


@pytest.mark.parametrize("signer", [OLD, NEW])
async def test_each_key_of_a_rotation_is_good(signer: SendgridSigner) -> None:
    body = dumped([BOUNCE])
    assert isinstance(await HOOK.read(signer.sign(body), body), Heard)


@pytest.mark.parametrize(
    "changes",
    [
        {TIMESTAMP: "1"},
        {TIMESTAMP: ""},
        {TIMESTAMP: "\udcff"},
        {SIGNATURE: ""},
        {SIGNATURE: "AAAA"},
        {SIGNATURE: "no base64"},
        {SIGNATURE: "é"},
        {SIGNATURE: "\udcff"},
    ],
)
async def test_a_changed_header_is_forged(changes: dict[str, str]) -> None:
    body = dumped([BOUNCE])
    assert isinstance(await HOOK.read(NEW.sign(body) | changes, body), Forged)


async def test_a_changed_body_and_a_strange_key_are_forged() -> None:
    body = dumped([BOUNCE])
    assert isinstance(await HOOK.read(NEW.sign(body), body.replace(b"bounce", b"deliver")), Forged)
    assert isinstance(await HOOK.read(SendgridSigner().sign(body), body), Forged)
    assert isinstance(await HOOK.read({}, body), Forged)


async def test_the_id_is_what_the_api_answered_with() -> None:
    """X-Message-Id is `sg_message_id` up to the first dot."""
    [notice] = (await heard(BOUNCE)).notices
    assert notice.provider_message_id == "14c5d75ce93"


async def test_a_bounce_tells_its_codes_and_no_address() -> None:
    [notice] = (await heard(BOUNCE)).notices
    assert (notice.key, notice.news, notice.detail) == (KEY, News.BOUNCED, "bounce/blocked/5.0.0")
    assert notice.at is not None
    assert notice.at.isoformat() == "2020-09-14T19:41:32+00:00"
    assert ADDRESS not in repr(notice)


@pytest.mark.parametrize(
    ("changes", "news"),
    [
        ({"event": "processed"}, News.ACCEPTED),
        ({"event": "deferred"}, News.ACCEPTED),
        ({"event": "delivered"}, News.DELIVERED),
        ({"event": "dropped", "reason": "Bounced Address"}, News.BOUNCED),
        ({"event": "spamreport"}, News.COMPLAINED),
        ({"event": "open"}, None),
        ({"event": "click"}, None),
        ({"event": "group_unsubscribe"}, None),
        ({"event": None}, None),
        ({"sendonce_key": None}, None),
        ({"sg_message_id": ".x"}, None),
        ({"timestamp": 10**30}, News.BOUNCED),
        ({"timestamp": "yesterday"}, News.BOUNCED),
    ],
)
async def test_news_is_what_proves_that_the_mail_was_taken(
    changes: dict[str, object], news: News | None
) -> None:
    reading = await heard(BOUNCE | changes)
    assert [notice.news for notice in reading.notices] == ([news] if news else [])


async def test_events_of_others_do_not_hide_ours() -> None:
    other = {**BOUNCE, "sendonce_key": OTHER_KEY, "event": "delivered"}
    reading = await heard(None, 7, BOUNCE, {"event": "delivered"}, [], other, {})
    assert [notice.key for notice in reading.notices] == [KEY, OTHER_KEY]
    assert reading.others == 5


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"\xff", b"<html>"])
async def test_what_is_not_as_documented_is_unreadable(body: bytes) -> None:
    assert isinstance(await HOOK.read(NEW.sign(body), body), Unreadable)


async def test_an_empty_array_says_nothing() -> None:
    assert await heard() == Heard()


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "no base64",
        base64.b64encode(b"no key").decode(),
        SendgridSigner(ec.SECP384R1()).public,
        NEW.public[:-8],
    ],
)
def test_a_key_of_another_kind_stops_the_start(secret: str) -> None:
    with pytest.raises(WebhookSetupError, match=r"providers\.mine\.webhook_secret"):
        SendgridHook("mine", (secret,))
