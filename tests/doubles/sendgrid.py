"""SendGrid's `POST /v3/mail/send` and its Email Activity, as strict as the documentation.

https://github.com/twilio/sendgrid-oai: spec/yaml/tsg_mail_v3.yaml, tsg_email_activity_v3.yaml;
https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, as_json
from tests.doubles.brought import Brought, File, read_file
from tests.doubles.ledger import Ledger

MAIL = "/v3/mail/send"
ACTIVITY = "/v3/messages"
FIELDS = {
    "personalizations", "from", "reply_to", "reply_to_list", "subject", "content", "attachments",
    "template_id", "headers", "categories", "custom_args", "send_at", "batch_id", "asm",
    "ip_pool_name", "mail_settings", "tracking_settings",
}  # fmt: skip
PERSONAL = {
    "from", "to", "cc", "bcc", "subject", "headers", "substitutions", "dynamic_template_data",
    "custom_args", "send_at",
}  # fmt: skip
RESERVED = {
    "x-sg-id", "x-sg-eid", "received", "dkim-signature", "content-type", "reply-to", "to", "from",
    "content-transfer-encoding", "subject", "cc", "bcc",
}  # fmt: skip
ADDRESS = re.compile(r"[!-~]+@[!-~]+")
MISREAD = re.compile(r"[()<>\[\]:;@\\,\"]")  # in a recipient's name: sendgrid-python issue 291
HEADER_NAME = re.compile(r"[!-9;-~]+")
QUERY = re.compile(r"\(unique_args\['sendonce_key'\]=\"([^\"]+)\"\)")
MEGABYTE = 1000 * 1000
MINUTE = 60.0


class SendGridApi(Api):
    """`activity`: bought, with a key that may read it. `asks`: questions a minute."""

    name = "sendgrid"

    def __init__(self, api_key: str = "SG.key", *, activity: bool = True, asks: int = 6) -> None:
        self.api_key = api_key
        self.credentials = {"api_key": api_key}
        self._activity = activity
        self._recipients: dict[str, str] = {}  # id -> address
        self._asked: deque[float] = deque([-MINUTE] * asks, maxlen=asks)

    def check(self, call: Call) -> Taken:
        self._authorised(call)
        if call.path != MAIL:
            raise _error(404, "not found")
        if call.method != "POST":
            raise _error(405, "method not allowed")
        if call.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _error(415, "content type")
        if call.headers.get("Accept") != "application/json":
            raise _error(406, "accept")
        mail = _members(call.body)
        personal = _personal(mail)
        brought = _brought(mail, personal)
        _headers(mail)
        _settings(mail)
        key = _arguments(personal).get("sendonce_key", "")
        return Taken(key, personal["to"][0]["email"], brought)

    def accepted(self, taken: Taken, message_id: str) -> Reply:
        self._recipients[message_id] = taken.recipient
        return Reply(202, b"", {"X-Message-Id": message_id})

    def ask(self, call: Call, ledger: Ledger) -> Reply | None:
        address = urlsplit(call.path)
        if address.path != ACTIVITY:
            return None
        self._authorised(call)
        self._may_ask()
        asked = parse_qs(address.query)
        query = QUERY.fullmatch(asked.get("query", [""])[0])
        if query is None or not 1 <= int(asked.get("limit", ["10"])[0]) <= 1000:
            raise _error(400, "invalid syntax")
        found = reversed(ledger.accepted.get(query[1], []))
        return as_json(200, {"messages": [self._shown(each) for each in found]})

    def _shown(self, message_id: str) -> dict[str, str]:
        to = self._recipients.get(message_id, "")
        return {"msg_id": f"{message_id}.recvd-6d48-1.0", "to_email": to, "status": "processed"}

    def _may_ask(self) -> None:
        if not self._activity:
            raise _error(403, "access forbidden")
        if monotonic() - self._asked[0] < MINUTE:
            raise _error(429, "too many requests")
        self._asked.append(monotonic())

    def _authorised(self, call: Call) -> None:
        if call.headers.get("Authorization") != f"Bearer {self.api_key}":
            raise _error(401, "The provided authorization grant is invalid, expired, or revoked")


def _error(status: int, text: str, field: str | None = None) -> RefusalError:
    error = {"message": text, "field": field, "help": None}
    return RefusalError(as_json(status, {"errors": [error]}))


def _bad(field: str, condition: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if condition:
        raise _error(400, "as documented", field)


def _members(body: bytes) -> Mapping[str, Any]:
    if len(body) > 30 * MEGABYTE:
        raise _error(413, "content too large")
    try:
        mail = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _error(400, "Bad Request") from None
    if not isinstance(mail, dict) or not set(mail) <= FIELDS:
        raise _error(400, "Bad Request")
    return mail


def _personal(mail: Mapping[str, Any]) -> Mapping[str, Any]:
    """The real API takes 1000 of them with 1000 recipients; a mail of ours has one of one."""
    personal = mail.get("personalizations")
    _bad("personalizations", not isinstance(personal, list) or len(personal) != 1)
    assert isinstance(personal, list)
    one = personal[0]
    _bad("personalizations.0", not {"to"} <= set(one) <= PERSONAL - {"cc", "bcc"})
    _bad("personalizations.0.to", len(one["to"]) != 1)
    _mailbox("personalizations.0.to.0", one["to"][0])
    _bad("personalizations.0.to.0.name", bool(MISREAD.search(one["to"][0].get("name", ""))))
    _mailbox("from", mail.get("from"))
    if "reply_to" in mail:
        _mailbox("reply_to", mail["reply_to"])
    return dict(one)


def _mailbox(field: str, box: object) -> None:
    _bad(f"{field}.email", not isinstance(box, dict) or not {"email"} <= set(box))
    assert isinstance(box, dict)
    _bad(field, not set(box) <= {"email", "name"})
    _bad(f"{field}.email", not ADDRESS.fullmatch(box["email"]) or box["email"].count("@") != 1)
    _bad(f"{field}.name", "name" in box and not _line(box["name"]))


def _line(text: object) -> bool:
    return isinstance(text, str) and text != "" and not any(char in text for char in "\r\n\0")


def _brought(mail: Mapping[str, Any], personal: Mapping[str, Any]) -> Brought:
    """A dynamic template has its own subject and bodies, and data of its own."""
    template, data = mail.get("template_id"), personal.get("dynamic_template_data")
    _bad("personalizations.0.dynamic_template_data", template is None and data is not None)
    if template is None:
        _content(mail)
        return Brought(_files(mail))
    _bad("template_id", not isinstance(template, str) or not template.startswith("d-"))
    _bad("personalizations.0.dynamic_template_data", not isinstance(data, dict))
    _bad("subject", "subject" in mail)  # it would be overridden: nobody should rely on it
    _bad("content", "content" in mail)
    return Brought(_files(mail), template, data or {})


def _files(mail: Mapping[str, Any]) -> tuple[File, ...]:
    files = []
    for one in mail.get("attachments", []):
        known = {"content", "type", "filename", "disposition", "content_id"}
        _bad("attachments.0", not {"content", "filename"} <= set(one) <= known)
        file = read_file(one["filename"], one.get("type"), one["content"])
        _bad("attachments.0.content", file is None)
        _bad("attachments.0.disposition", one.get("disposition", "attachment") != "attachment")
        files += [file] if file else []
    return tuple(files)


def _content(mail: Mapping[str, Any]) -> None:
    """RFC 1341, section 7.2, as the errors page has it: plain text, HTML, anything else."""
    _bad("subject", not _line(mail.get("subject")))
    content = mail.get("content")
    _bad("content", not isinstance(content, list) or not content)
    assert isinstance(content, list)
    _bad("content", not all(set(part) == {"type", "value"} for part in content))
    _bad("content.0.value", not all(isinstance(p["value"], str) and p["value"] for p in content))
    _bad("content.0.type", [part["type"] for part in content] not in _ORDERS)


_ORDERS = (["text/plain"], ["text/html"], ["text/plain", "text/html"])


def _headers(mail: Mapping[str, Any]) -> None:
    headers = mail.get("headers", {})
    names = [name.lower() for name in headers]
    _bad("headers", bool(RESERVED & set(names)) or len(set(names)) < len(names))
    _bad("headers", not all(HEADER_NAME.fullmatch(name) for name in names))
    _bad("headers", not all(_line(value) and value.isascii() for value in headers.values()))


def _arguments(personal: Mapping[str, Any]) -> dict[str, str]:
    """Values are strings, and there is at least one where there is the member."""
    given = personal.get("custom_args", {"none": ""})
    field = "personalizations.0.custom_args"
    _bad(field, not given or not all(isinstance(value, str) for value in given.values()))
    _bad(field, sum(len(text.encode()) for pair in given.items() for text in pair) > 10_000)
    return dict(given)


def _settings(mail: Mapping[str, Any]) -> None:
    categories = mail.get("categories", [])
    _bad("categories", len(categories) > 10 or len(set(categories)) < len(categories))
    _bad("categories", not all(c.isascii() and 0 < len(c) <= 255 for c in categories))
    _bad("ip_pool_name", not 2 <= len(mail.get("ip_pool_name", "default")) <= 64)
    for name, setting in mail.get("tracking_settings", {}).items():
        field = f"tracking_settings.{name}.enable"
        known = {"click_tracking", "open_tracking", "subscription_tracking", "ganalytics"}
        _bad(field, name not in known or not isinstance(setting.get("enable"), bool))
