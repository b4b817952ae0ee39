"""Dead letters as facts: for the tables, the stories and the JSON documents of several commands."""

from __future__ import annotations

from base64 import b64encode

from consumer.guard import DeadLetter
from consumer.model import Coordinates, Record


def facts(letter: DeadLetter) -> dict[str, object]:
    """Return the contract's members; the record's bytes in Base64, where the record is there."""
    at = letter.coordinates
    return {
        "id": letter.id,
        "idempotency_key": letter.idempotency_key,
        "event_type": letter.event_type,
        "reason": letter.reason,
        "detail": letter.detail,
        "status": letter.status,
        "topic": at.topic,
        "partition": at.partition,
        "offset": at.offset,
        "record_timestamp": at.timestamp,
        **(_record(letter.record) if letter.record else {}),
        "failures": letter.failures,
        "first_failed_at": letter.first_failed_at,
        "last_failed_at": letter.last_failed_at,
        "next_check_at": letter.next_check_at,
        "replay": letter.replay,
        "note": letter.note,
        **_keeping(letter),
    }


def _record(record: Record) -> dict[str, object]:
    return {
        "record_key": _base64(record.key),
        "record_value": _base64(record.value),
        "record_headers": [[_shown(name), _base64(value)] for name, value in record.headers],
    }


def _shown(name: str) -> str:
    """Write a header's name that is no UTF-8 with escapes, so that JSON can hold it."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _base64(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _keeping(letter: DeadLetter) -> dict[str, object]:
    """Say how its record is kept, where it is not simply there."""
    how = {"sealed": letter.sealed, "wiped_at": letter.wiped_at, "locked": letter.locked}
    return {name: value for name, value in how.items() if value is not None}


def gone(letter: DeadLetter) -> str | None:
    """Say why nothing of its record can be shown or sent, if so."""
    if letter.wiped_at is not None:
        return f"nothing of its record is kept since {letter.wiped_at:%Y-%m-%d %H:%M:%S} UTC"
    return letter.locked


def place(at: Coordinates) -> str:
    return f"{at.topic}/{at.partition}@{at.offset}"
