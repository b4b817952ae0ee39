"""What upstream hears back: the outcome record, as a schema and in words."""

from __future__ import annotations

from typing import Any, Final

from consumer.model import OutcomeStatus

MEANINGS: Final = {
    OutcomeStatus.SENT: "A provider accepted the mail; its id is `provider_message_id`.",
    OutcomeStatus.FAILED: "The provider will never take this mail for this recipient "
    "(suppressed, inactive). Nobody has to act.",
    OutcomeStatus.DEAD_LETTER: "No mail came of the event; `reason` says why, and a person sees it "
    "whole. It may still be replayed.",
    OutcomeStatus.UNKNOWN: "The provider's answer was lost. Evidence is looked for; what it shows "
    "is published as another outcome.",
    OutcomeStatus.EXPIRED: "It grew too old before it could be sent.",
    OutcomeStatus.DISCARDED: "A person gave it up.",
    OutcomeStatus.SKIPPED: "A written rule: too old, not active yet, not on the allow-list of a "
    "test environment.",
    OutcomeStatus.BOUNCED: "Sent, and later returned by the receiving side.",
    OutcomeStatus.COMPLAINED: "Sent, and the recipient called it spam.",
}


def _told(kind: str, description: str, **more: object) -> dict[str, Any]:
    return {"type": [kind, "null"], "description": description, **more}


SCHEMA: Final[dict[str, Any]] = {
    "title": "outcome",
    "description": "One finished event. At least once: the same outcome may come twice.",
    "type": "object",
    "required": ["idempotency_key", "event_type", "status", "duplicate", "source"],
    "properties": {
        "idempotency_key": _told("string", "The mail's key: 48 hexadecimal digits."),
        "event_type": _told("string", "The mail type."),
        "entity_id": {
            "type": "string",
            "description": "What the mail is about; absent where that is sensitive.",
        },
        "status": {
            "type": "string",
            "enum": [status.value for status in OutcomeStatus],
            "description": "\n".join(f"* `{s}`: {text}" for s, text in MEANINGS.items()),
        },
        "duplicate": {
            "type": "boolean",
            "description": "true: this event's mail was sent before; the stored outcome is told.",
        },
        "reason": _told("string", "Why no mail came of it; a word of a closed set, or a code."),
        "provider": _told("string", "Who took the mail."),
        "provider_message_id": _told("string", "The provider's name for it."),
        "sent_at": _told("string", "When it was accepted.", format="date-time"),
        "source": {
            "type": "object",
            "description": "The record that this is about.",
            "required": ["topic", "partition", "offset"],
            "properties": {
                "topic": {"type": "string"},
                "partition": {"type": "integer"},
                "offset": {"type": "integer"},
            },
        },
    },
}

EXAMPLE: Final = {
    "idempotency_key": "83f1a1ae55d0d7ad6a9ccd2b86c0b2d45a1f5b1f2a2d9c11",
    "event_type": "order.receipt",
    "entity_id": "A-1",
    "status": "sent",
    "duplicate": False,
    "reason": None,
    "provider": "postmark",
    "provider_message_id": "0a129aee-e1cd-480d-b08d-4f48548ff48d",
    "sent_at": "2026-03-01T12:04:05.120000+00:00",
    "source": {"topic": "orders", "partition": 3, "offset": 4711},
}
