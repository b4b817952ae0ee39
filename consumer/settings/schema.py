"""Which sections there are, and what each is read as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from consumer.settings.kafka import Kafka
from consumer.settings.private import Privacy
from consumer.settings.sections import (
    Admin,
    Catalogue,
    Guard,
    Outcomes,
    Postgres,
    Registry,
    Retry,
    Safety,
    Sender,
    Topic,
    Webhooks,
)
from consumer.settings.values import Section

SECTIONS: Final[Mapping[str, type[Section]]] = {
    "kafka": Kafka,
    "postgres": Postgres,
    "catalogue": Catalogue,
    "guard": Guard,
    "retry": Retry,
    "outcomes": Outcomes,
    "safety": Safety,
    "privacy": Privacy,
    "admin": Admin,
    "webhooks": Webhooks,
    "registry": Registry,
}
OPTIONAL: Final = frozenset({"webhooks", "registry"})  # absent: off
# Sections of sections, by a name that people choose; providers are read by their type.
NAMED: Final[Mapping[str, type[Section] | None]] = {
    "topics": Topic,
    "senders": Sender,
    "providers": None,
}
