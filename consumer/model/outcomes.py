"""What is published when an event is finished."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from consumer.model.records import Coordinates


class OutcomeStatus(StrEnum):
    SENT = "sent"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    DISCARDED = "discarded"
    SKIPPED = "skipped"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished event, as upstream hears of it (topic `outcomes`)."""

    status: OutcomeStatus
    source: Coordinates
    idempotency_key: str | None = None
    event_type: str | None = None
    entity_id: str | None = None
    duplicate: bool = False
    reason: str | None = None
    provider: str | None = None
    provider_message_id: str | None = None
    sent_at: datetime | None = None


class News(StrEnum):
    """What a provider tells of a mail by itself. Each of them proves that it was accepted."""

    ACCEPTED = "accepted"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


@dataclass(frozen=True, slots=True)
class Notice:
    """One event of a webhook whose signature was verified."""

    key: str
    provider: str  # the configured name
    provider_message_id: str
    news: News
    at: datetime | None = None  # the provider's own time
    detail: str = ""  # its code for what happened; never an address, never its sentence
