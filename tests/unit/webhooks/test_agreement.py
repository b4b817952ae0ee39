"""The adapters and the hooks do not know each other; this holds them to one key and one id."""

from __future__ import annotations

from typing import Any

import pytest

from consumer.model import KEY_FIELD, Accepted, Answer
from consumer.providers import (
    SesOptions,
    mailgun_answers,
    postmark,
    resend,
    sendgrid_answers,
    ses,
    ses_answers,
)
from consumer.webhooks import mailgun as mailgun_hook
from consumer.webhooks import postmark as postmark_hook
from consumer.webhooks import resend as resend_hook
from consumer.webhooks import sendgrid as sendgrid_hook
from consumer.webhooks import ses as ses_hook
from consumer.webhooks.hook import Heard, Unreadable
from tests.unit.webhooks.signing import KEY, TOPIC, dumped


def test_sess_header_has_one_name() -> None:
    assert ses_hook.KEY_HEADER == ses.KEY_HEADER


OURS: Any = {KEY_FIELD: KEY}
PAIRS = {
    "postmark": (
        postmark.read(200, {}, dumped({"ErrorCode": 0, "MessageID": "b7bc2f4a-e38e"})),
        postmark_hook.read(
            "p",
            dumped({"RecordType": "Delivery", "MessageID": "b7bc2f4a-e38e", "Metadata": OURS}),
        ),
    ),
    "resend": (
        resend.read(200, {}, dumped({"id": "49a3999c-0ce1"})),
        resend_hook.read(
            "p",
            dumped({"type": "email.sent", "data": {"email_id": "49a3999c-0ce1", "tags": OURS}}),
        ),
    ),
    "ses": (
        ses_answers.read(200, {}, dumped({"MessageId": "0100018c-000000"})),
        ses_hook.read(
            "p",
            dumped(
                {
                    "eventType": "Send",
                    "mail": {"messageId": "0100018c-000000", "tags": {KEY_FIELD: [KEY]}},
                }
            ).decode(),
        ),
    ),
    "sendgrid": (
        sendgrid_answers.read(202, {"X-Message-Id": "14c5d75ce93.dfd.64b469"}, b""),
        sendgrid_hook.read(
            "p",
            dumped(
                [
                    OURS
                    | {
                        "event": "processed",
                        "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
                    }
                ]
            ),
        ),
    ),
    "mailgun": (
        mailgun_answers.read(200, {}, dumped({"id": "<key@shop.example>", "message": "Queued."})),
        mailgun_hook.read(
            "p",
            {
                "event-data": {
                    "event": "accepted",
                    "user-variables": OURS,
                    "message": {"headers": {"message-id": "key@shop.example"}},
                }
            },
        ),
    ),
}


@pytest.mark.parametrize(("answer", "reading"), PAIRS.values(), ids=PAIRS)
def test_an_event_names_the_mail_as_the_answer_did(
    answer: Answer, reading: Heard | Unreadable
) -> None:
    """Else the guard takes one mail for two, and raises an alarm."""
    assert isinstance(answer, Accepted)
    assert isinstance(reading, Heard)
    [notice] = reading.notices
    assert notice.key == KEY
    assert notice.provider_message_id == answer.provider_message_id


def test_one_topic_may_stand_for_a_list_of_one() -> None:
    options = SesOptions.model_validate({"region": "eu-west-1", "webhook_topics": TOPIC})
    assert options.webhook_topics == (TOPIC,)
