"""Points in time as events write them, read by one rule everywhere."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from consumer.model import Json

_RFC3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_300_799_999  # ms; the last moment of the year 9999


def instant(value: Json) -> datetime | None:
    """Read an RFC 3339 time with its offset, or an integer: milliseconds since the epoch.

    None for everything else: a time without offset is a different moment in every place. A leap
    second counts as the second before it, as most clocks do it.
    """
    if isinstance(value, str):
        return _written(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LATEST:
        return milliseconds(value)
    return None


def milliseconds(value: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=value)


def _written(text: str) -> datetime | None:
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    day, minute, second, fraction, offset = match.groups()
    second = "59" if second == "60" else second
    zone = "+00:00" if offset in "Zz" else offset
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}:{second}.{(fraction or '0'):0<6.6}{zone}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
