"""What SendGrid answers, and what it proves: by the status, and by the field that an error names.

Sources: https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors (each field, 400),
.../api-reference/how-to-use-the-sendgrid-v3-api/responses (403, 406), .../rate-limits (429), and
https://support.sendgrid.com/hc/en-us/articles/18322114821403 (401). There are no error codes.

No page says what a 500 or a 503 leaves behind, with or without an error in it: both are unclear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Final

from consumer.model import Accepted, Answer, Blocked, Refused, Rejected, Scope, SlowDown, Unclear
from consumer.providers.statuses import by_status, members, named, retry_after

TAKEN: Final = 202  # the one success: 200 is the answer to a sandbox that we never ask for
_RECIPIENT: Final = re.compile(r"personalizations\.\d+\.to(\..*)?")
_CONFIGURED: Final = re.compile(r"from(\..*)?|ip_pool_name")  # of every mail of a sender the same
_IDENTITY: Final = "verified sender identity"
_CREDITS: Final = "credits exceeded"
_INSTANT: Final = re.compile(r"\d{10}")  # seconds since 1970


@dataclass(frozen=True, slots=True)
class _Said:
    """The fields that the errors name, and their sentences: looked at, never passed on."""

    fields: tuple[str, ...]
    sentences: str


_Reading = Callable[[int, Mapping[str, str], _Said], Answer]


def _invalid(status: int, _: Mapping[str, str], said: _Said) -> Answer:
    """Read a 400: one status for a bad address, a bad sender and a bad message."""
    error = named("sendgrid", status, next(iter(said.fields), None))
    if any(map(_CONFIGURED.fullmatch, said.fields)):
        return Blocked(error, Scope.SENDER)
    if said.fields and all(map(_RECIPIENT.fullmatch, said.fields)):
        return Refused(error)
    return Rejected(error)


def _unauthorized(status: int, _: Mapping[str, str], said: _Said) -> Answer:
    """A bad key, or "Maximum credits exceeded": the same to us, but not to who mends it."""
    return Blocked(named("sendgrid", status, "credits" if _CREDITS in said.sentences else None))


def _forbidden(status: int, _: Mapping[str, str], said: _Said) -> Answer:
    """A sender that is not verified; else a key without the right, or "too many bad requests"."""
    if any(map(_CONFIGURED.fullmatch, said.fields)) or _IDENTITY in said.sentences:
        return Blocked(named("sendgrid", status, "from"), Scope.SENDER)
    return Blocked(named("sendgrid", status))


def _account(status: int, _: Mapping[str, str], __: _Said) -> Answer:
    return Blocked(named("sendgrid", status))


def _slow_down(status: int, headers: Mapping[str, str], _: _Said) -> Answer:
    return SlowDown(named("sendgrid", status), _wait(headers))


STATUSES: Final[Mapping[int, _Reading]] = {
    400: _invalid,
    401: _unauthorized,
    403: _forbidden,
    404: _account,  # the path is ours, not the mail's
    405: _account,
    406: _account,  # no Accept header: of every request the same
    415: _account,  # likewise the Content-Type
    429: _slow_down,
}


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    if status == TAKEN:
        return _taken(headers)
    if status in STATUSES:
        return STATUSES[status](status, headers, _said(members(body)))
    return by_status("sendgrid", status, headers)


def _taken(headers: Mapping[str, str]) -> Answer:
    """Read a 202, which has no body: what proves acceptance is the id."""
    message_id = base_id(headers.get("X-Message-Id", ""))
    return Accepted(message_id) if message_id else Unclear(named("sendgrid", TAKEN, "no-id"))


def base_id(said: str) -> str:
    """Return the part of an id that sending, searching and webhooks have in common.

    Sending answers "abc"; the others say "abc.recvd-6d48-1.0":
    https://support.sendgrid.com/hc/en-us/articles/35804743679259
    """
    return said.strip().partition(".")[0]


def _said(answer: Mapping[str, Any]) -> _Said:
    errors = answer.get("errors")
    found = [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []
    fields = [each.get("field") for each in found]
    given = tuple(field for field in fields if isinstance(field, str) and field != "null")
    return _Said(given, " ".join(str(each.get("message")) for each in found).casefold())


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the limit is renewed: by the answer's own clock, not by ours."""
    reset = headers.get("X-RateLimit-Reset", "").strip()
    if "Retry-After" in headers or not _INSTANT.fullmatch(reset):
        return retry_after(headers)
    then = formatdate(int(reset), usegmt=True)
    return retry_after({"Retry-After": then, "Date": headers.get("Date", "")})
