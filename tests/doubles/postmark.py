"""Postmark's `POST /email` and its message search, as strict as the documentation.

https://postmarkapp.com/developer/api/email-api, .../messages-api
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, as_json, one_mailbox
from tests.doubles.ledger import Ledger

FIELDS = {
    "From", "To", "Cc", "Bcc", "Subject", "Tag", "HtmlBody", "TextBody", "ReplyTo", "Headers",
    "TrackOpens", "TrackLinks", "Metadata", "Attachments", "MessageStream",
}  # fmt: skip
MEGABYTE = 1024 * 1024


class PostmarkApi(Api):
    name = "postmark"

    def __init__(self, token: str = "server-token") -> None:
        self.token = token
        self.credentials = {"token": token}

    def check(self, call: Call) -> Taken:
        self._authorised(call)
        if (call.method, call.path) != ("POST", "/email"):
            raise RefusalError(Reply(404))
        if call.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _error(402, "Content-Type", 415)
        if call.headers.get("Accept") != "application/json":
            raise _error(402, "Accept")
        mail = _members(call.body)
        recipient = _addressed(mail)
        _content(mail)
        return Taken(_metadata(mail).get("sendonce_key", ""), recipient)

    def accepted(self, taken: Taken, message_id: str) -> Reply:
        return as_json(
            200,
            {
                "ErrorCode": 0,
                "Message": "OK",
                "MessageID": message_id,
                "SubmittedAt": datetime.now(UTC).isoformat(),
                "To": taken.recipient,
            },
        )

    def ask(self, call: Call, ledger: Ledger) -> Reply | None:
        self._authorised(call)
        address = urlsplit(call.path)
        query = parse_qs(address.query)
        if address.path != "/messages/outbound" or not {"count", "offset"} <= set(query):
            return None
        found = ledger.accepted.get(query.get("metadata_sendonce_key", [""])[0], [])
        messages = [{"MessageID": each, "Status": "Sent"} for each in found]
        return as_json(200, {"TotalCount": len(messages), "Messages": messages})

    def _authorised(self, call: Call) -> None:
        if call.headers.get("X-Postmark-Server-Token") != self.token:
            raise _error(10, "No Account or Server API tokens were supplied", 401)


def _error(code: int, text: str, status: int = 422) -> RefusalError:
    return RefusalError(as_json(status, {"ErrorCode": code, "Message": text}))


def _members(body: bytes) -> Mapping[str, Any]:
    if len(body) > 10 * MEGABYTE:
        raise RefusalError(Reply(413, b"<html>too large</html>"))
    try:
        mail = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _error(402, "not JSON") from None
    if not isinstance(mail, dict) or not set(mail) <= FIELDS:
        raise _error(403, "unknown field")
    return mail


def _addressed(mail: Mapping[str, Any]) -> str:
    sender, recipient = one_mailbox(mail.get("From")), one_mailbox(mail.get("To"))
    if sender is None or recipient is None or "Cc" in mail or "Bcc" in mail:
        raise _error(300, "From and To are one mailbox each")
    if "ReplyTo" in mail and one_mailbox(mail["ReplyTo"]) is None:
        raise _error(300, "ReplyTo")
    return recipient


def _content(mail: Mapping[str, Any]) -> None:
    bodies = [mail.get("TextBody"), mail.get("HtmlBody")]
    if not all(isinstance(body, str) and 0 < len(body.encode()) <= 5 * MEGABYTE for body in bodies):
        raise _error(300, "bodies")
    if not isinstance(mail.get("Subject"), str) or len(mail["Subject"]) > 2000:
        raise _error(300, "Subject")
    if not isinstance(mail.get("Tag", ""), str) or len(mail.get("Tag", "")) > 1000:
        raise _error(300, "Tag")
    if mail.get("TrackLinks") not in {"None", "HtmlAndText", "HtmlOnly", "TextOnly"}:
        raise _error(300, "TrackLinks")
    if not isinstance(mail.get("TrackOpens"), bool) or not mail.get("MessageStream"):
        raise _error(300, "TrackOpens, MessageStream")
    if not all(set(header) == {"Name", "Value"} for header in mail.get("Headers", [])):
        raise _error(300, "Headers")


def _metadata(mail: Mapping[str, Any]) -> Mapping[str, str]:
    metadata = mail.get("Metadata", {})
    fits = all(
        len(name) <= 20 and isinstance(value, str) and len(value) <= 80
        for name, value in metadata.items()
    )
    if not fits or len(metadata) > 10:
        raise _error(300, "Metadata")
    return dict(metadata)
