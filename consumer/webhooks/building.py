"""From what is configured to the hooks that listen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from consumer.webhooks.hook import Hook, Source, WebhookSetupError
from consumer.webhooks.mailgun import MailgunHook
from consumer.webhooks.postmark import PostmarkHook
from consumer.webhooks.resend import ResendHook


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
            return _sendgrid(source)
        case "ses" if source.topics:
            return _ses(source)
        case _:
            return None


def _sendgrid(source: Source) -> Hook:
    _need_cryptography(source)
    from consumer.webhooks.sendgrid import SendgridHook  # noqa: PLC0415 - needs an extra

    return SendgridHook(source.name, source.secrets)


def _ses(source: Source) -> Hook:
    _need_cryptography(source)
    from consumer.webhooks.ses import SesHook  # noqa: PLC0415 - needs an extra

    return SesHook(source.name, source.topics)


def _need_cryptography(source: Source) -> None:
    if find_spec("cryptography") is None:
        raise WebhookSetupError(
            f"providers.{source.name}: its webhooks are verified with cryptography, which is not"
            ' installed: pip install "sendonce[webhooks]"'
        )
