"""What Mailgun answers, and what it proves: it has sentences and statuses, and no codes.

Sources: https://documentation.mailgun.com/docs/mailgun/quickstart-guide/responses (A), the examples
of the API's own description (mailgun/mailgun-mcp-server, src/openapi.yaml) (B), and answers in
public issues.

A suppressed recipient is no error: Mailgun takes the mail, and an event tells that it failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from consumer.model import Accepted, Answer, Blocked, Refused, Rejected, Scope, SlowDown, Unclear
from consumer.providers.statuses import by_status, members, named, retry_after

# 429 (A, B), and 420 for a domain's own limit (mailgun/mailgun-java issue 50). When to come again
# stands in the sentence: "try again after 120 seconds", or after a date. No page names a header.
_SLOW: Final = frozenset({420, 429})
_AGAIN: Final = re.compile(r"try again after (\d+(?= second)|.{1,40})")


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """Read an answer: the sentence of a 400, the status of all others.

    401 is the bare text "Forbidden" (B). 404 is a wrong domain, a wrong region, or, rarely, a
    domain that is not yet known everywhere (A): like 402 and 403 it stands for the whole account,
    and goes away by itself or by a person. Retrying a 500 is recommended (A), but nowhere is it
    said that nothing was taken: nobody knows.
    """
    answer = members(body)
    if status == HTTPStatus.OK:  # the one success (B)
        return _taken(answer)
    sentence = _sentence(answer)
    if status == HTTPStatus.BAD_REQUEST:
        return _invalid(sentence)
    if status in _SLOW:
        return SlowDown(named("mailgun", status), _wait(headers, sentence))
    return by_status("mailgun", status, headers)


def bare(message_id: str) -> str:
    """Write an id without the angle brackets, as events and webhooks do and answers do not."""
    return message_id.strip().removeprefix("<").removesuffix(">")


def _taken(answer: Mapping[str, Any]) -> Answer:
    given = answer.get("id")
    message_id = bare(given) if isinstance(given, str) else ""
    return Accepted(message_id) if message_id else Unclear(named("mailgun", 200, "no-id"))


def _sentence(answer: Mapping[str, Any]) -> str:
    """Only looked at, never passed on: it quotes addresses."""
    return str(answer.get("message", "")).replace("'", "").casefold()


def _invalid(sentence: str) -> Answer:
    """Read a 400: an address, the domain's standing, or whatever else is wrong with the mail."""
    if sentence.startswith("to parameter is not a valid address"):  # B
        return Refused(named("mailgun", 400, "to"))
    if sentence.startswith("from parameter is not a valid address"):  # fastlane/fastlane issue 8568
        return Blocked(named("mailgun", 400, "from"), Scope.SENDER)
    if "is not allowed to send" in sentence:  # in older answers; today with 403, 420 or 429
        return Blocked(named("mailgun", 400, "domain"))
    return Rejected(named("mailgun", 400))


def _wait(headers: Mapping[str, str], sentence: str) -> float | None:
    said = _AGAIN.search(sentence)
    if said is None or "Retry-After" in headers:
        return retry_after(headers)
    return retry_after({"Retry-After": said[1], "Date": headers.get("Date", "")})
