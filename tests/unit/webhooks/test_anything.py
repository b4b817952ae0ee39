"""Whatever a request holds: it is read or refused, never a crash, and no address comes out."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from consumer.keys import is_key
from consumer.webhooks import mailgun, postmark, resend, sendgrid, ses
from consumer.webhooks.hook import Heard, Unreadable
from tests.unit.webhooks.signing import ADDRESS, KEY

WORDS = st.sampled_from(
    [
        *("RecordType", "Type", "Metadata", "MessageID", "DeliveredAt", "Bounce", "HardBounce"),
        *("type", "data", "tags", "email_id", "created_at", "email.bounced", "bounce", "name"),
        *("event", "event-data", "user-variables", "message", "headers", "message-id", "failed"),
        *("sg_message_id", "timestamp", "status", "delivered", "severity", "reason", "value"),
        *("eventType", "mail", "messageId", "Delivery", "delivery-status", "code", "bounceType"),
        *("sendonce_key", KEY, ADDRESS, f"no such user {ADDRESS}", ""),
    ]
)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | WORDS | st.text()
JSON = st.recursive(
    LEAVES, lambda some: st.lists(some, max_size=4) | st.dictionaries(WORDS, some, max_size=6)
)


def hold(reading: Heard | Unreadable) -> None:
    notices = reading.notices if isinstance(reading, Heard) else ()
    for notice in notices:
        assert is_key(notice.key)
        assert "@" not in notice.detail
        assert notice.provider_message_id.isprintable()
        assert notice.at is None or notice.at.tzinfo is not None


@given(JSON)
def test_every_provider_reads_anything(value: Any) -> None:
    body = json.dumps(value).encode()
    hold(postmark.read("p", body))
    hold(resend.read("p", body))
    hold(sendgrid.read("p", body))
    hold(ses.read("p", body.decode()))
    hold(mailgun.read("p", {"event-data": value}))
    mailgun.verify((b"key",), {"signature": value}, 0.0)


@given(st.binary())
def test_every_provider_reads_any_bytes(body: bytes) -> None:
    hold(postmark.read("p", body))
    hold(resend.read("p", body))
    hold(sendgrid.read("p", body))


@given(st.dictionaries(WORDS, LEAVES))
def test_an_event_about_our_mail_is_read_whatever_else_is_in_it(more: dict[str, Any]) -> None:
    event = {**more, "RecordType": "Delivery", "MessageID": "1", "Metadata": {"sendonce_key": KEY}}
    reading = postmark.read("p", json.dumps(event).encode())
    assert isinstance(reading, Heard)
    assert len(reading.notices) == 1
    hold(reading)
