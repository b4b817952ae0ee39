"""Moments as a person types them: a time of RFC 3339, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from consumer.cli.app import StopError

_AGO: Final = re.compile(r"([1-9][0-9]{0,4})([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def moment(text: str | None, option: str) -> datetime | None:
    """Read "2026-11-30T14:02:00Z", or "2h" for two hours ago."""
    if text is None:
        return None
    if ago := _AGO.fullmatch(text):
        return datetime.now(UTC) - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        hint = 'write "2h" (ago), or a time with its offset: 2026-11-30T14:02:00Z'
        raise StopError(f"{option} {text}: {hint}", code=2)
    return found
