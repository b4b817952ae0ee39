"""Laws of Resend's webhooks: Svix's signature within its window, and the news in them."""

from __future__ import annotations

import pytest

from consumer.model import News
from consumer.webhooks.hook import Forged, Heard, Unreadable, WebhookSetupError
from consumer.webhooks.resend import ResendHook, verify
from tests.unit.webhooks.signing import ADDRESS, KEY, NOW, dumped, svix, whsec

OLD, NEW = whsec(b"an old secret, 24 bytes."), whsec(b"a new secret, 24 bytes..")
HOOK = ResendHook("resend", (OLD, NEW), clock=lambda: NOW)
# https://resend.com/docs/webhooks/emails/bounced, with our tag
BOUNCE = {
    "type": "email.bounced",
    "created_at": "2026-11-22T23:41:12.126Z",
    "data": {
        "created_at": "2026-11-22T23:41:11.894719+00:00",
        "email_id": "56761188-7520-42d8-8898-ff6fc54ce618",
        "to": [ADDRESS],
        "subject": "Your order",
        "bounce": {
            "message": f"{ADDRESS} does not exist",
            "subType": "Suppressed",
            "type": "Permanent",
        },
        "tags": {"sendonce_key": KEY, "tag_1": "orders"},
    },
}


async def heard(event: object) -> Heard:
    body = dumped(event)
    reading = await HOOK.read(svix(NEW, body), body)
    assert isinstance(reading, Heard)
    return reading


def test_the_sample_that_svix_documents() -> None:
    """https://docs.svix.com/receiving/verifying-payloads/how-manual: secret, headers and body."""
    hook = ResendHook(
        "resend", ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",), clock=lambda: 1614265330.0
    )
    headers = {
        "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "svix-timestamp": "1614265330",
        "svix-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secrets, body = hook._secrets, b'{"test": 2432232314}'
    assert verify(secrets, headers, body, 1614265330.0) is None
    assert verify(secrets, headers, b'{"test": 2432232315}', 1614265330.0) == Forged(
        "wrong signature"
    )


@pytest.mark.parametrize("secret", [OLD, NEW])
async def test_each_secret_of_a_rotation_is_good(secret: str) -> None:
    body = dumped(BOUNCE)
    assert isinstance(await HOOK.read(svix(secret, body), body), Heard)


async def test_one_right_signature_among_several_is_enough() -> None:
    body = dumped(BOUNCE)
    headers = svix(NEW, body)
    headers["svix-signature"] = f"v1,AAAA v1a,{'B' * 44} {headers['svix-signature']} v2,CCCC"
    assert isinstance(await HOOK.read(headers, body), Heard)


@pytest.mark.parametrize("seconds", [-301, 301, -86400, 86400])
async def test_an_old_request_and_one_of_tomorrow_are_forged(seconds: float) -> None:
    body = dumped(BOUNCE)
    assert isinstance(await HOOK.read(svix(NEW, body, at=NOW + seconds), body), Forged)


@pytest.mark.parametrize("seconds", [-299, 0, 299])
async def test_clocks_may_differ_by_five_minutes(seconds: float) -> None:
    body = dumped(BOUNCE)
    assert isinstance(await HOOK.read(svix(NEW, body, at=NOW + seconds), body), Heard)


@pytest.mark.parametrize(
    "changes",
    [
        {"svix-id": "msg_2"},
        {"svix-timestamp": str(int(NOW) + 1)},
        {"svix-timestamp": ""},
        {"svix-timestamp": "soon"},
        {"svix-timestamp": "9" * 5000},
        {"svix-timestamp": "١٧٩"},
        {"svix-signature": ""},
        {"svix-signature": "v1,"},
        {"svix-signature": "v1,\udcff"},
        {"svix-signature": "v2," + "A" * 44},
    ],
)
async def test_a_changed_header_is_forged(changes: dict[str, str]) -> None:
    body = dumped(BOUNCE)
    assert isinstance(await HOOK.read(svix(NEW, body) | changes, body), Forged)


async def test_a_changed_body_and_a_strange_secret_are_forged() -> None:
    body = dumped(BOUNCE)
    assert isinstance(await HOOK.read(svix(NEW, body), body + b" "), Forged)
    assert isinstance(await HOOK.read(svix(whsec(), body), body), Forged)
    assert isinstance(await HOOK.read({}, body), Forged)


async def test_a_bounce_tells_its_codes_and_no_address() -> None:
    [notice] = (await heard(BOUNCE)).notices
    assert (notice.key, notice.news, notice.detail) == (KEY, News.BOUNCED, "Permanent/Suppressed")
    assert notice.provider_message_id == "56761188-7520-42d8-8898-ff6fc54ce618"
    assert ADDRESS not in repr(notice)


@pytest.mark.parametrize(
    ("kind", "news"),
    [
        ("email.sent", News.ACCEPTED),
        ("email.delivery_delayed", News.ACCEPTED),
        ("email.delivered", News.DELIVERED),
        ("email.suppressed", News.BOUNCED),
        ("email.complained", News.COMPLAINED),
        ("email.failed", None),  # also told of requests that were refused
        ("email.opened", None),
        ("email.clicked", None),
        ("domain.created", None),
    ],
)
async def test_news_is_what_proves_that_the_mail_was_taken(kind: str, news: News | None) -> None:
    reading = await heard(BOUNCE | {"type": kind})
    assert [notice.news for notice in reading.notices] == ([news] if news else [])


async def test_tags_as_the_list_of_pairs_that_one_page_describes() -> None:
    data = {"email_id": "1", "tags": [{"name": "sendonce_key", "value": KEY}]}
    assert len((await heard({"type": "email.sent", "data": data})).notices) == 1


@pytest.mark.parametrize("tags", [None, {}, [], ["sendonce_key"], {"sendonce_key": [KEY]}, "x"])
async def test_mails_of_others_are_nothing_of_ours(tags: object) -> None:
    event = {"type": "email.sent", "data": {"email_id": "1", "tags": tags}}
    assert await heard(event) == Heard(others=1)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"null", b'{"type": null}'])
async def test_what_is_not_as_documented_is_unreadable(body: bytes) -> None:
    assert isinstance(await HOOK.read(svix(NEW, body), body), Unreadable)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
def test_a_secret_of_another_kind_stops_the_start(secret: str) -> None:
    with pytest.raises(WebhookSetupError, match=r"providers\.mine\.webhook_secret"):
        ResendHook("mine", (secret,))
