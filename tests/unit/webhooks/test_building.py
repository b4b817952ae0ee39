"""Laws of the start: who gets a webhook, and what a person is told where it cannot be had."""

from __future__ import annotations

import pytest

from consumer.webhooks import Source, build
from tests.unit.webhooks.signing import TOPIC, SendgridSigner, whsec

ALL = (
    Source("pm", "postmark", ("user:password",)),
    Source("mg", "mailgun", ("key",)),
    Source("rs", "resend", (whsec(),)),
    Source("sg", "sendgrid", (SendgridSigner().public,)),
    Source("aws", "ses", (), (TOPIC,)),
)


def test_every_provider_that_calls_has_a_hook_under_its_configured_name() -> None:
    hooks = build(ALL)
    assert list(hooks) == ["pm", "mg", "rs", "sg", "aws"]
    assert [each.name for each in hooks.values()] == list(hooks)


@pytest.mark.parametrize("kind", ["postmark", "mailgun", "resend", "sendgrid", "ses"])
def test_without_a_secret_there_is_no_webhook(kind: str) -> None:
    assert build([Source("mine", kind)]) == {}


@pytest.mark.parametrize("kind", ["smtp", "file"])
def test_what_calls_nobody_has_no_webhook(kind: str) -> None:
    assert build([Source("mine", kind, ("secret",))]) == {}


def test_topics_and_not_secrets_make_the_webhook_of_ses() -> None:
    assert build([Source("mine", "ses", ("secret",))]) == {}
