"""Resend's `POST /emails`, with idempotency keys: one key, one mail, the first answer again.

https://resend.com/docs/api-reference/emails/send-email, .../dashboard/emails/idempotency-keys
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, Work, as_json, one_mailbox
from tests.doubles.brought import Brought, File, read_file
from tests.doubles.ledger import Ledger

FIELDS = {
    "from", "to", "subject", "bcc", "cc", "scheduled_at", "reply_to", "html", "text", "headers",
    "attachments", "tags", "template", "topic_id",
}  # fmt: skip
TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
VARIABLE = re.compile(r"[A-Za-z0-9_]{1,50}")
RESERVED = {"FIRST_NAME", "LAST_NAME", "EMAIL", "UNSUBSCRIBE_URL"}
FILES_LIMIT = 40_000_000  # of all files, encoded


class ResendApi(Api):
    name = "resend"

    def __init__(self, api_key: str = "re_key") -> None:
        self.api_key = api_key
        self.credentials = {"api_key": api_key}
        self._known: dict[str, tuple[bytes, Reply | None]] = {}  # None: still running

    def check(self, call: Call) -> Taken:
        if not call.headers.get("User-Agent"):
            raise RefusalError(Reply(403, b"error code: 1010"))
        if call.headers.get("Authorization") != f"Bearer {self.api_key}":
            raise _error(401, "missing_api_key")
        if (call.method, call.path) != ("POST", "/emails"):
            raise _error(404, "not_found")
        if call.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _error(422, "invalid_parameter")
        if not 1 <= len(call.headers.get("Idempotency-Key", "x")) <= 256:
            raise _error(400, "invalid_idempotency_key")
        mail = _members(call.body)
        tags = _tags(mail)
        key = call.headers.get("Idempotency-Key", "")
        brought = _brought(mail)
        return Taken(key if tags.get("sendonce_key") == key else "", _addressed(mail), brought)

    def accepted(self, taken: Taken, message_id: str) -> Reply:
        return as_json(200, {"id": message_id})

    async def take(self, call: Call, taken: Taken, ledger: Ledger, work: Work) -> Reply:
        key = call.headers.get("Idempotency-Key")
        if key is None:
            return await super().take(call, taken, ledger, work)
        body, reply = self._known.get(key, (call.body, None))
        if body != call.body:
            raise _error(409, "invalid_idempotent_request")
        if reply is not None:
            return reply
        if key in self._known:
            raise _error(409, "concurrent_idempotent_requests", {"Retry-After": "1"})
        return await self._first(key, call, taken, ledger, work)

    async def _first(self, key: str, call: Call, taken: Taken, ledger: Ledger, work: Work) -> Reply:
        self._known[key] = (call.body, None)
        try:
            await work()
        except BaseException:
            del self._known[key]
            raise
        reply = self.store(taken, ledger)
        self._known[key] = (call.body, reply)
        return reply


def _error(status: int, name: str, headers: Mapping[str, str] | None = None) -> RefusalError:
    body = {"statusCode": status, "name": name, "message": "as documented"}
    return RefusalError(as_json(status, body, headers))


def _members(body: bytes) -> Mapping[str, Any]:
    try:
        mail = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _error(400, "validation_error") from None
    if not isinstance(mail, dict) or not set(mail) <= FIELDS:
        raise _error(422, "invalid_parameter")
    if "message-id" in {name.casefold() for name in mail.get("headers", {})}:
        raise _error(
            422, "invalid_parameter"
        )  # not documented as settable: nobody should rely on it
    return mail


def _brought(mail: Mapping[str, Any]) -> Brought:
    """No other body may stand beside a template."""
    files = _files(mail)
    needed = ("subject",) if "template" in mail else ("subject", "html")
    if not all(isinstance(mail.get(name), str) and mail[name] for name in needed):
        raise _error(422, "missing_required_field")
    if "template" not in mail:
        return Brought(files)
    template = mail["template"]
    if {"html", "text"} & set(mail) or not {"id"} <= set(template) <= {"id", "variables"}:
        raise _error(422, "validation_error")
    variables = template.get("variables", {})
    for name, value in variables.items():
        fits = isinstance(value, str | int | float) and not isinstance(value, bool)
        if not VARIABLE.fullmatch(name) or name in RESERVED or not fits:
            raise _error(422, "validation_error")
    return Brought(files, template["id"], variables)


def _files(mail: Mapping[str, Any]) -> tuple[File, ...]:
    given = mail.get("attachments", [])
    if not all({"filename", "content"} <= set(one) <= ATTACHED for one in given):
        raise _error(422, "invalid_attachment")
    if sum(len(one["content"]) for one in given) > FILES_LIMIT:
        raise _error(422, "invalid_attachment")
    found = [read_file(one["filename"], one.get("content_type"), one["content"]) for one in given]
    if not all(found):
        raise _error(422, "invalid_attachment")
    return tuple(one for one in found if one)


ATTACHED = {"filename", "content", "content_type", "content_id"}


def _addressed(mail: Mapping[str, Any]) -> str:
    if one_mailbox(mail.get("from")) is None:
        raise _error(422, "invalid_from_address")
    to = mail.get("to")
    if not isinstance(to, list) or len(to) != 1:
        raise _error(422, "missing_required_field")
    recipient = one_mailbox(to[0])
    if recipient is None or ("reply_to" in mail and one_mailbox(mail["reply_to"]) is None):
        raise _error(422, "validation_error")
    return recipient


def _tags(mail: Mapping[str, Any]) -> dict[str, str]:
    tags = {tag["name"]: tag["value"] for tag in mail.get("tags", [])}
    if not all(TAG.fullmatch(part) for pair in tags.items() for part in pair):
        raise _error(422, "validation_error")
    return tags
