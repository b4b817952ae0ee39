"""What an HTTP answer proves when the provider's own words do not: the conservative reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final

import orjson

from consumer.model import Answer, Blocked, Rejected, SlowDown, Unclear

RETRY_AFTER_CAP: Final = 3600.0  # seconds; whoever asks for more is asked again after an hour
_SECONDS: Final = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")
_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SLOW: Final = frozenset({420, HTTPStatus.TOO_MANY_REQUESTS})  # 420: Mailgun, SparkPost
_STANDSTILL: Final = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,  # no such door: a wrong base_url hits every mail
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
        HTTPStatus.GONE,
    }
)
_NOBODY_KNOWS: Final = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,  # of a proxy that may have passed the request on
        HTTPStatus.CONFLICT,  # of something that runs or ran under our name
        499,  # nginx: "the client went away", while the provider worked
    }
)


def by_status(who: str, status: int, headers: Mapping[str, str], code: object = None) -> Answer:
    """Read an answer by its status alone.

    Only a 4xx says "not taken". Redirects are never followed, and no provider documents one: what
    stands behind the redirecting machine may have the mail, so a 3xx is unclear, as every 2xx
    without an id and every 5xx is.
    """
    error = named(who, status, code)
    if status in _SLOW:
        return SlowDown(error, retry_after(headers))
    if status in _STANDSTILL:
        return Blocked(error)
    if status in _NOBODY_KNOWS or not 400 <= status < 500:  # noqa: PLR2004 - the 4xx class
        return Unclear(error, retry_after(headers))
    return Rejected(error)


def named(who: str, status: int, code: object = None) -> str:
    """Return "postmark 406, HTTP 422": a code only where it is one, never a sentence."""
    text = str(code) if isinstance(code, str | int) else ""
    return f"{who} {text}, HTTP {status}" if _CODE.fullmatch(text) else f"{who} HTTP {status}"


def members(body: bytes) -> Mapping[str, Any]:
    """Return the members of a JSON object; of anything else (HTML, cut short, empty) none."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks for, in [0, RETRY_AFTER_CAP]; None: nothing said.

    A date is compared with the answer's own `Date`, never with our clock, which may be wrong.
    """
    said = headers.get("Retry-After", "").strip()
    wanted = float(said) if _SECONDS.fullmatch(said) else _until(said, headers.get("Date", ""))
    return None if wanted is None else min(max(wanted, 0.0), RETRY_AFTER_CAP)


def _until(then: str, now: str) -> float | None:
    end, start = _instant(then), _instant(now)
    return None if end is None or start is None else (end - start).total_seconds()


def _instant(text: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
