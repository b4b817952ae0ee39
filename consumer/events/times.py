"""RFC 3339 times."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from consumer.model import Bad, Reason

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):(\d\d)(?:(\.\d{1,6})\d*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_MAX_LENGTH = 64  # a time has 35 characters at most, to the nanosecond
_NOT_A_TIME = Bad(Reason.BAD_TIME, "CloudEvents attribute time is not RFC 3339 with an offset")


def read_time(text: str) -> datetime | Bad:
    """Read an RFC 3339 time as UTC, to the microsecond. A leap second is the one before it."""
    match = _RFC3339.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return _NOT_A_TIME
    day, minute, second, fraction, offset = match.groups("")
    second = "59" if second == "60" else second
    try:
        read = datetime.fromisoformat(f"{day}T{minute}:{second}{fraction}{offset.upper()}")
        return read.astimezone(UTC)
    except (ValueError, OverflowError):
        return _NOT_A_TIME
