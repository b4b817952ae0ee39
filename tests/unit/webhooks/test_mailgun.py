"""Laws of Mailgun's webhooks: its signature, its window, and a token that keeps to its words."""

from __future__ import annotations

from typing import Any

import pytest

from consumer.model import News
from consumer.webhooks.hook import Forged, Heard, Unreadable, WebhookSetupError
from consumer.webhooks.mailgun import MAX_AGE, MailgunHook, Tokens
from tests.unit.webhooks.signing import ADDRESS, KEY, NOW, OTHER_KEY, dumped, mailgun

# https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-payloads, with our key
FAILED: dict[str, Any] = {
    "event": "failed",
    "severity": "permanent",
    "reason": "bounce",
    "id": "G9Bn5sl1TC6nu79C8C0bwg",
    "timestamp": 1521233195.375624,
    "recipient": ADDRESS,
    "delivery-status": {"code": 605, "message": f"no mailbox {ADDRESS}"},
    "message": {"headers": {"to": ADDRESS, "message-id": "key@sandbox.mailgun.org"}},
    "user-variables": {"sendonce_key": KEY},
}


def hook(*secrets: str, now: float = NOW) -> MailgunHook:
    return MailgunHook("mailgun", secrets or ("old", "new"), clock=lambda: now)


async def heard(event: object) -> Heard:
    reading = await hook().read({}, dumped(mailgun("new", event)))
    assert isinstance(reading, Heard)
    return reading


@pytest.mark.parametrize("secret", ["old", "new"])
async def test_each_secret_of_a_rotation_is_good(secret: str) -> None:
    assert isinstance(await hook().read({}, dumped(mailgun(secret, FAILED))), Heard)


async def test_a_strange_secret_is_forged() -> None:
    assert isinstance(await hook().read({}, dumped(mailgun("newer", FAILED))), Forged)


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": str(int(NOW) + 1)},
        {"timestamp": int(NOW) + 1},
        {"timestamp": True},
        {"timestamp": float(NOW)},
        {"timestamp": "9" * 5000},
        {"token": "u" * 50},
        {"token": ""},
        {"token": None},
        {"signature": "0" * 64},
        {"signature": "é"},
        {"signature": None},
    ],
)
async def test_a_changed_signature_is_forged(changes: dict[str, object]) -> None:
    request = mailgun("new", FAILED)
    request["signature"] |= changes
    assert isinstance(await hook().read({}, dumped(request)), Forged)


async def test_digits_cannot_move_from_the_token_into_the_timestamp() -> None:
    """Both are joined without a mark between; a timestamp that grew is far from now."""
    request = mailgun("new", FAILED, token="7" * 50)
    signed = request["signature"]
    moved = {"timestamp": signed["timestamp"] + "7", "token": "7" * 49}
    request["signature"] = signed | moved
    assert isinstance(await hook().read({}, dumped(request)), Forged)


@pytest.mark.parametrize("age", [MAX_AGE + 1, 86400.0, -301.0])
async def test_an_old_timestamp_and_one_of_tomorrow_are_forged(age: float) -> None:
    request = dumped(mailgun("new", FAILED, at=NOW - age))
    assert isinstance(await hook().read({}, request), Forged)


async def test_a_repeat_after_an_outage_of_hours_is_heard() -> None:
    """Mailgun repeats for 8 hours."""
    request = dumped(mailgun("new", FAILED, at=NOW - 8 * 3600))
    assert isinstance(await hook().read({}, request), Heard)


async def test_a_token_with_other_words_is_forged_and_with_its_own_a_repeat() -> None:
    """The body is not signed: who saw one request could put other words under its signature."""
    mine = hook()
    assert isinstance(await mine.read({}, dumped(mailgun("new", FAILED))), Heard)
    other = FAILED | {"user-variables": {"sendonce_key": OTHER_KEY}}
    assert isinstance(await mine.read({}, dumped(mailgun("new", other))), Forged)
    delivered = FAILED | {"event": "delivered"}
    assert isinstance(await mine.read({}, dumped(mailgun("new", delivered))), Forged)
    same = dict(reversed(FAILED.items()))  # in another order: said the same
    assert isinstance(await mine.read({}, dumped(mailgun("new", same))), Heard)
    fresh = mailgun("new", delivered, token="v" * 50)
    assert isinstance(await mine.read({}, dumped(fresh)), Heard)


async def test_the_timestamp_may_be_a_number() -> None:
    request = mailgun("new", FAILED)
    request["signature"] |= {"timestamp": int(NOW)}
    assert isinstance(await hook().read({}, dumped(request)), Heard)


async def test_a_subaccounts_events_are_signed_by_its_parent_too() -> None:
    """https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks."""
    request = mailgun("the subaccount's", FAILED)
    parent = mailgun("new", FAILED)["signature"]["signature"]
    request["signature"] |= {"parent-signature": parent}
    assert isinstance(await hook().read({}, dumped(request)), Heard)


async def test_only_a_token_that_was_signed_is_remembered() -> None:
    """Else anybody could bind tokens, or push the true ones out of memory."""
    mine = hook()
    await mine.read({}, dumped(mailgun("wrong", {"event": "opened"})))
    assert isinstance(await mine.read({}, dumped(mailgun("new", FAILED))), Heard)


def test_the_memory_for_tokens_has_a_bound() -> None:
    tokens = Tokens(room=3)
    assert all(tokens.bound_to(str(token), b"words") for token in range(100))
    assert not tokens.bound_to("99", b"other words")
    assert len(tokens._words) == 3


async def test_a_failure_tells_its_codes_and_no_address() -> None:
    [notice] = (await heard(FAILED)).notices
    assert (notice.key, notice.news, notice.detail) == (KEY, News.BOUNCED, "permanent/bounce/605")
    assert notice.at is not None
    assert notice.at.year == 2018
    assert ADDRESS not in repr(notice)


@pytest.mark.parametrize("message_id", ["key@sandbox.mailgun.org", "<key@sandbox.mailgun.org>"])
async def test_the_id_is_bare_as_the_adapter_keeps_it(message_id: str) -> None:
    event = FAILED | {"message": {"headers": {"message-id": message_id}}}
    [notice] = (await heard(event)).notices
    assert notice.provider_message_id == "key@sandbox.mailgun.org"


@pytest.mark.parametrize(
    ("changes", "news"),
    [
        ({"event": "accepted"}, News.ACCEPTED),
        ({"event": "delivered"}, News.DELIVERED),
        ({"event": "complained"}, News.COMPLAINED),
        ({"severity": "temporary"}, News.ACCEPTED),
        ({"event": "rejected"}, None),  # a request that was not taken
        ({"event": "opened"}, None),
        ({"event": "stored"}, None),
        ({"user-variables": {}}, None),
        ({"user-variables": []}, None),
        ({"message": {}}, None),
    ],
)
async def test_news_is_what_proves_that_the_mail_was_taken(
    changes: dict[str, object], news: News | None
) -> None:
    reading = await heard(FAILED | changes)
    assert [notice.news for notice in reading.notices] == ([news] if news else [])


@pytest.mark.parametrize("event", [None, [], {}, {"event": 1}, "delivered"])
async def test_what_is_not_as_documented_is_unreadable(event: object) -> None:
    assert isinstance(await hook().read({}, dumped(mailgun("new", event))), Unreadable)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b"timestamp=1&token=2&signature=3"])
async def test_what_carries_no_signature_is_forged(body: bytes) -> None:
    assert isinstance(await hook().read({}, body), Forged)


def test_an_empty_secret_stops_the_start() -> None:
    with pytest.raises(WebhookSetupError, match=r"providers\.mine\.webhook_secret"):
        MailgunHook("mine", ("",))
