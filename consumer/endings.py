"""How a record ends, and what upstream hears of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

import orjson

from consumer.model import (
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Outcome,
    OutcomeStatus,
    Reason,
    Status,
)

if TYPE_CHECKING:
    from datetime import datetime

    from consumer.guard import NewsDue
    from consumer.model import Bad, Coordinates, Mail, Record, Row, Skipped, Transition


@dataclass(frozen=True, slots=True)
class Ended:
    """The record is finished: its offset may be committed, once `outcome` is published."""

    outcome: Outcome | None
    result: str  # one word for the metrics: sent, duplicate, redelivery, dead_letter ...


@dataclass(frozen=True, slots=True)
class LetGo:
    """The record was called back before it ended; it will be delivered again."""

    result: str = "let_go"


Ending: TypeAlias = Ended | LetGo


def skipped(record: Record, skip: Skipped, mail: Mail | None = None) -> Ended:
    outcome = Outcome(
        OutcomeStatus.SKIPPED,
        record.coordinates,
        idempotency_key=mail.key if mail else None,
        event_type=skip.event_type,
        entity_id=_entity(mail),
        reason=skip.rule.value,
    )
    return Ended(outcome, "skipped")


def dead_letter(record: Record, bad: Bad) -> Ended:
    outcome = Outcome(
        OutcomeStatus.DEAD_LETTER,
        record.coordinates,
        idempotency_key=bad.idempotency_key,
        event_type=bad.event_type,
        reason=bad.reason.value,
    )
    return Ended(outcome, "dead_letter")


def stored(record: Record, mail: Mail, row: Row, *, duplicate: bool) -> Ended:
    """Tell the outcome that stands on the row; a parked one has none yet."""
    result = "duplicate" if duplicate else "redelivery"
    outcome = _stands(row, record.coordinates)
    if outcome is None:
        return Ended(None, result)
    return Ended(replace(outcome, entity_id=_entity(mail), duplicate=duplicate), result)


def told(row: Row, mail: Mail | None) -> Ended:
    """Tell what a row settled to, long after its record was finished."""
    assert row.coordinates is not None
    outcome = _stands(row, row.coordinates)
    return Ended(outcome and replace(outcome, entity_id=_entity(mail)), row.status)


def news(heard: NewsDue) -> Ended:
    """Tell of a bounce or a complaint, which a provider told by itself."""
    row, status = heard.row, OutcomeStatus(heard.news)
    if row.coordinates is None:
        return Ended(None, status)  # a record that nobody can name any more
    outcome = Outcome(
        status,
        row.coordinates,
        idempotency_key=row.key,
        event_type=row.mail_type,
        reason=heard.detail or None,
        provider=heard.provider,
        provider_message_id=heard.provider_message_id,
        sent_at=row.sent_at,
    )
    return Ended(outcome, status)


def _stands(row: Row, source: Coordinates) -> Outcome | None:
    status, reason = _STORED.get(row.status), row.error
    if status is None:
        return None
    kind = (row.error or "").partition(":")[0]
    if status is OutcomeStatus.FAILED and kind in _OPENED:
        status, reason = OutcomeStatus.DEAD_LETTER, kind  # as it was told the first time
    return Outcome(
        status,
        source,
        idempotency_key=row.key,
        event_type=row.mail_type,
        reason=reason,
        provider=row.provider,
        provider_message_id=row.provider_message_id,
        sent_at=row.sent_at,
    )


def landed(
    record: Record, mail: Mail, transition: Transition, provider: str, sent_at: datetime | None
) -> Ended:
    """Tell what was just written on the row."""
    status, reason, message_id = _told(transition)
    if status is None:
        return Ended(None, "parked")
    outcome = Outcome(
        status,
        record.coordinates,
        idempotency_key=mail.key,
        event_type=mail.type.name,
        entity_id=_entity(mail),
        reason=reason,
        provider=provider,
        provider_message_id=message_id,
        sent_at=sent_at,
    )
    return Ended(outcome, status.value)


def _told(transition: Transition) -> tuple[OutcomeStatus | None, str | None, str | None]:
    match transition:
        case MarkSent(_, provider_message_id):
            return OutcomeStatus.SENT, None, provider_message_id
        case MarkFailed(error, None):
            return OutcomeStatus.FAILED, error, None
        case MarkFailed(_, reason):
            return OutcomeStatus.DEAD_LETTER, reason, None
        case MarkUnknown(error):
            return OutcomeStatus.UNKNOWN, error, None
        case MarkExpired(error):
            return OutcomeStatus.EXPIRED, error, None
        case MarkWaiting() | MarkParked():
            return None, None, None
        case _:
            assert_never(transition)


_OPENED = (Reason.REJECTED, Reason.EXHAUSTED, Reason.FUSED)  # a failure that has a dead letter
_STORED = {
    Status.SENT: OutcomeStatus.SENT,
    Status.FAILED: OutcomeStatus.FAILED,
    Status.UNKNOWN: OutcomeStatus.UNKNOWN,
    Status.DISCARDED: OutcomeStatus.DISCARDED,
    Status.EXPIRED: OutcomeStatus.EXPIRED,
}


def _entity(mail: Mail | None) -> str | None:
    return None if mail is None or mail.type.sensitive else mail.entity_id


def encode(outcome: Outcome) -> tuple[bytes | None, bytes]:
    """The outcome record's key and JSON value (DESIGN: outcome record)."""
    source = outcome.source
    value = {
        "idempotency_key": outcome.idempotency_key,
        "event_type": outcome.event_type,
        "entity_id": outcome.entity_id,
        "status": outcome.status,
        "duplicate": outcome.duplicate,
        "reason": outcome.reason,
        "provider": outcome.provider,
        "provider_message_id": outcome.provider_message_id,
        "sent_at": outcome.sent_at,
        "source": {
            "topic": source.topic,
            "partition": source.partition,
            "offset": source.offset,
        },
    }
    if outcome.entity_id is None:
        del value["entity_id"]
    key = outcome.idempotency_key
    return key.encode() if key else None, orjson.dumps(value)
