"""What is taken out of a webhook's body, and in which form it may go further."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from consumer.keys import is_key
from consumer.model import News, Notice
from consumer.webhooks.hook import Heard

_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MESSAGE_ID: Final = re.compile(r"[!-~]{1,255}")
FIRST_YEAR, LAST_YEAR = 2000, 2100  # every zone's reading of them is a time that can be stored
_SECONDS: Final = re.compile(r"[0-9]{1,12}")


def as_sent(header: str) -> bytes:
    """Return a header's bytes as they came: aiohttp keeps what is no UTF-8 in surrogates."""
    return header.encode("utf-8", "surrogateescape")


def epoch_seconds(said: str) -> int | None:
    return int(said) if _SECONDS.fullmatch(said) else None


def members(body: bytes | str) -> Mapping[str, Any] | None:
    """Return the members of a JSON object; None: it is something else, or no JSON."""
    value = anything(body)
    return value if isinstance(value, dict) else None


def anything(body: bytes | str) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def inside(value: object, *path: str) -> Any:
    """Return what stands at `path`; None where the way ends early."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text(value: object, *path: str) -> str:
    found = inside(value, *path)
    return found if isinstance(found, str) else ""


def instant(value: object) -> datetime | None:
    """Read RFC 3339 text, or seconds since the epoch. What is neither, or absurd, is no time."""
    try:
        match value:
            case str():
                read = datetime.fromisoformat(value)
            case int() | float():
                read = datetime.fromtimestamp(value, UTC)
            case _:
                return None
    except (ValueError, OverflowError, OSError):
        return None
    if not FIRST_YEAR <= read.year <= LAST_YEAR:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def code(*parts: object) -> str:
    """Join what looks like a code: "Permanent/General". Sentences quote addresses: left out."""
    words = map(str, filter(None, parts))
    return "/".join(word for word in words if _CODE.fullmatch(word))


def about(
    provider: str,
    key: object,
    message_id: str,
    news: News | None,
    at: datetime | None,
    detail: str = "",
) -> Notice | None:
    """Make a notice; None: no news, not a mail of ours, or a mail without its id."""
    if news is None or not isinstance(key, str) or not is_key(key):
        return None
    if not _MESSAGE_ID.fullmatch(message_id):
        return None
    return Notice(key, provider, message_id, news, at, detail)


def heard(notices: Iterable[Notice | None]) -> Heard:
    found = list(notices)
    ours = tuple(notice for notice in found if notice is not None)
    return Heard(ours, others=len(found) - len(ours))
