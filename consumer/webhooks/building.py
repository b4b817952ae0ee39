"""From what is configured to the hooks that listen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from consumer.webhooks.hook import Hook, Source
from consumer.webhooks.mailgun import MailgunHook
from consumer.webhooks.postmark import PostmarkHook
from consumer.webhooks.resend import ResendHook
from consumer.webhooks.sendgrid import SendgridHook
from consumer.webhooks.ses import SesHook


def build(sources: Iterable[Source]) -> Mapping[str, Hook]:
    """Make the hooks, by the provider's name. Raises WebhookSetupError.

    A provider without a secret (SES: without topics), or of a type that calls nobody, has none.
    """
    made = {source.name: _hook(source) for source in sources if source.secrets or source.topics}
    return {name: hook for name, hook in made.items() if hook is not None}


def _hook(source: Source) -> Hook | None:
    name, secrets = source.name, source.secrets
    match source.type:
        case "postmark" if secrets:
            return PostmarkHook(name, secrets)
        case "mailgun" if secrets:
            return MailgunHook(name, secrets)
        case "resend" if secrets:
            return ResendHook(name, secrets)
        case "sendgrid" if secrets:
            return SendgridHook(name, secrets)
        case "ses" if source.topics:
            return SesHook(name, source.topics)
        case _:
            return None
