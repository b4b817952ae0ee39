"""What the webhooks are made from, tried out while the settings are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from consumer import webhooks
from consumer.providers import AnyOptions, SesOptions


def source(name: str, options: AnyOptions) -> webhooks.Source:
    secrets = tuple(secret.get_secret_value() for secret in options.webhook_secret)
    topics = options.webhook_topics if isinstance(options, SesOptions) else ()
    return webhooks.Source(name, options.type, secrets, topics)


def unusable(providers: Mapping[str, AnyOptions]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place and the reason of each hook that could not be made; no secret is said."""
    for name, options in providers.items():
        try:
            webhooks.build([source(name, options)])
        except webhooks.WebhookSetupError as error:
            place, _, text = str(error).removeprefix(f"providers.{name}").partition(": ")
            yield ("providers", name, *filter(None, place.split("."))), text
