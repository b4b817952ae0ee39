"""Webhooks: what providers tell by themselves, verified and read, on a listener of its own.

A file a provider; how each is set up is in deploy/README.md.
"""

from consumer.webhooks.building import build
from consumer.webhooks.hook import Hook, Source, WebhookSetupError
from consumer.webhooks.server import NO_NEWS, UNKNOWN_KEY, Counts, Result, WebhookReceiver

__all__ = [
    "NO_NEWS",
    "UNKNOWN_KEY",
    "Counts",
    "Hook",
    "Result",
    "Source",
    "WebhookReceiver",
    "WebhookSetupError",
    "build",
]
