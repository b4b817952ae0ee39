"""Resend, as of https://resend.com/docs/api-reference/emails/send-email.

Our key is Resend's idempotency key: within its window a repeat of the same bytes is the same mail.
It travels as a tag too, which the webhooks return. What it cannot do for a single mail: carry our
Message-ID (it makes its own), switch tracking (a setting of the domain, off unless switched on:
https://resend.com/docs/dashboard/domains/tracking).

A template's variables are texts and numbers (https://resend.com/docs/dashboard/templates): a mail
with a list or an object in its context cannot use one. A null is left out, for the fallback that
the template names. The subject is ours, also where the template has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import SecretStr

from consumer.model import (
    KEY_FIELD,
    Accepted,
    Answer,
    Blocked,
    Enclosed,
    Message,
    Prepared,
    Rejected,
    Scope,
    SlowDown,
    Unclear,
)
from consumer.providers.base import account_of, prepared_json
from consumer.providers.enclosing import MEGABYTE, base64_of, files_within
from consumer.providers.fields import mailbox, refuse
from consumer.providers.options import BaseUrl, Options
from consumer.providers.statuses import by_status, members, named, retry_after

KEY_WINDOW: Final = 24 * 3600.0  # s; https://resend.com/docs/dashboard/emails/idempotency-keys
_NOT_IN_TAGS: Final = re.compile(r"[^A-Za-z0-9_-]")  # a tag's alphabet
_TAG_LIMIT: Final = 256  # characters, of a name and of a value
# Of all files, encoded: https://resend.com/docs/api-reference/emails/send-email, `attachments`
SIZE_LIMIT: Final = 40 * MEGABYTE
_VARIABLE: Final = re.compile(r"[A-Za-z0-9_]{1,50}")  # a variable's name; same source, `template`
_NOT_VARIABLES: Final = frozenset({"FIRST_NAME", "LAST_NAME", "EMAIL", "UNSUBSCRIBE_URL"})


class ResendOptions(Options):
    """[providers.X] with type = "resend"."""

    files_limit: ClassVar[int | None] = files_within(SIZE_LIMIT)
    template_id: ClassVar[str | None] = r"[!-~]+"

    type: Literal["resend"] = "resend"
    base_url: BaseUrl = "https://api.resend.com"
    api_key: SecretStr


class Resend:
    window = KEY_WINDOW
    search = None  # none by tag or key; none needed inside the window

    def __init__(self, options: ResendOptions) -> None:
        api_key = options.api_key.get_secret_value()
        self.account = account_of("resend", options.account, api_key)
        self._url = options.base_url.rstrip("/") + "/emails"
        self._credentials = {"Authorization": f"Bearer {api_key}"}

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=False)  # support is not documented
        if refused is None and template is not None:
            refused = _refuse_variables(message)
        if refused is not None:
            return refused
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.key}
        body = _body(message, enclosed, template)
        return prepared_json(message, self._url, body, headers, enclosed)

    async def sign(self, prepared: Prepared) -> Mapping[str, str]:  # noqa: ARG002 - one key signs all
        return self._credentials

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        return read(status, headers, body)


def _refuse_variables(message: Message) -> Rejected | None:
    for name, value in message.model.items():
        if not _VARIABLE.fullmatch(name) or name in _NOT_VARIABLES:
            return Rejected(f"{name} is no name for a variable of Resend")
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            return Rejected(f"{name} is neither a text nor a number, which Resend's variables are")
    return None


def _body(message: Message, enclosed: Sequence[Enclosed], template: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "from": mailbox(message.sender),
        "to": [mailbox(message.to)],
        "subject": message.subject,
        **(_bodies(message) if template is None else _hosted(message, template)),
        "headers": dict(message.headers),
        "tags": [{"name": name, "value": value} for name, value in _tags(message)],
    }
    if message.reply_to is not None:
        body["reply_to"] = mailbox(message.reply_to)
    if enclosed:
        body["attachments"] = [_file(each) for each in enclosed]
    return body


def _bodies(message: Message) -> dict[str, Any]:
    return {"text": message.text, "html": message.html}


def _hosted(message: Message, template: str) -> dict[str, Any]:
    variables = {name: value for name, value in message.model.items() if value is not None}
    return {"template": {"id": template, "variables": variables}}


def _file(enclosed: Enclosed) -> dict[str, str]:
    file = enclosed.attachment
    return {
        "filename": file.name,
        "content": base64_of(enclosed),
        "content_type": file.content_type,
    }


def _tags(message: Message) -> list[tuple[str, str]]:
    """Resend's tags are pairs, ours are words: a word becomes `tag_1`, `tag_2`, in its alphabet."""
    words = [_NOT_IN_TAGS.sub("_", tag)[:_TAG_LIMIT] for tag in message.tags]
    return [
        (KEY_FIELD, message.key),
        *((f"tag_{number}", word) for number, word in enumerate(words, 1) if word),
    ]


# ── Answers

_Reading = Callable[[str, Mapping[str, str]], Answer]


def _account(error: str, _: Mapping[str, str]) -> Answer:
    return Blocked(error)


def _sender(error: str, _: Mapping[str, str]) -> Answer:
    return Blocked(error, Scope.SENDER)


def _message(error: str, _: Mapping[str, str]) -> Answer:
    return Rejected(error)


def _unclear(error: str, headers: Mapping[str, str]) -> Answer:
    return Unclear(error, retry_after(headers))


# https://resend.com/docs/api-reference/errors
NAMES: Final[Mapping[str, _Reading]] = {
    "missing_api_key": _account,
    "invalid_api_key": _account,
    "restricted_api_key": _account,
    "daily_quota_exceeded": _account,  # a 429 that waiting a second does not mend
    "monthly_quota_exceeded": _account,
    # A path, or (unconfirmed) a template that is not there: a setting, and not one mail's fault.
    "not_found": _sender,
    "method_not_allowed": _account,
    "invalid_from_address": _sender,
    "invalid_idempotency_key": _message,
    "missing_required_field": _message,
    "invalid_attachment": _message,
    "invalid_parameter": _message,
    "security_error": _message,
    "rate_limit_exceeded": lambda error, headers: SlowDown(error, retry_after(headers)),
    "concurrent_idempotent_requests": _unclear,  # the first one with our key is still running
    "invalid_idempotent_request": _unclear,  # our key was taken, with other bytes
    "application_error": _unclear,  # a 500; a repeat with the key settles it
    "internal_server_error": _unclear,
}


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    answer = members(body)
    name = answer.get("name")
    error = named("resend", status, name)
    if name == "validation_error":
        return _validation(error, status)
    if isinstance(name, str) and name in NAMES:
        return NAMES[name](error, headers)
    if status != 200:  # noqa: PLR2004 - every success is documented as 200
        return by_status("resend", status, headers, name)
    message_id = answer.get("id")
    if isinstance(message_id, str) and message_id:
        return Accepted(message_id)
    return Unclear(named("resend", status, "no-id"))


def _validation(error: str, status: int) -> Answer:
    """One name, two meanings: with 403 the sender's domain is not verified (or in test mode)."""
    return Blocked(error, Scope.SENDER) if status == 403 else Rejected(error)  # noqa: PLR2004 - HTTP
