"""Postmark's `POST /email`, with or without a template, and its message search.

As strict as https://postmarkapp.com/developer/api/email-api, .../templates-api, .../messages-api.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, as_json, one_mailbox
from tests.doubles.brought import Brought, File, read_file
from tests.doubles.ledger import Ledger

BOTH = {
    "From", "To", "Cc", "Bcc", "Tag", "ReplyTo", "Headers", "TrackOpens", "TrackLinks", "Metadata",
    "Attachments", "MessageStream",
}  # fmt: skip
FIELDS = {
    "/email": BOTH | {"Subject", "HtmlBody", "TextBody"},
    "/email/withTemplate": BOTH | {"TemplateId", "TemplateAlias", "TemplateModel", "InlineCss"},
}
MEGABYTE = 1000 * 1000


class PostmarkApi(Api):
    name = "postmark"

    def __init__(self, token: str = "server-token") -> None:
        self.token = token
        self.credentials = {"token": token}

    def check(self, call: Call) -> Taken:
        self._authorised(call)
        if call.method != "POST" or call.path not in FIELDS:
            raise RefusalError(Reply(404))
        if call.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _error(402, "Content-Type", 415)
        if call.headers.get("Accept") != "application/json":
            raise _error(402, "Accept")
        mail = _members(call.body, FIELDS[call.path])
        recipient = _addressed(mail)
        _settings(mail)
        hosted = call.path.endswith("withTemplate")
        brought = _template(mail) if hosted else _bodies(mail)
        return Taken(_metadata(mail).get("sendonce_key", ""), recipient, brought)

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


def _members(body: bytes, known: set[str]) -> Mapping[str, Any]:
    if len(body) > 10 * MEGABYTE:
        raise RefusalError(Reply(413, b"<html>too large</html>"))
    try:
        mail = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _error(402, "not JSON") from None
    if not isinstance(mail, dict) or not set(mail) <= known:
        raise _error(403, "unknown field")
    return mail


def _addressed(mail: Mapping[str, Any]) -> str:
    sender, recipient = one_mailbox(mail.get("From")), one_mailbox(mail.get("To"))
    if sender is None or recipient is None or "Cc" in mail or "Bcc" in mail:
        raise _error(300, "From and To are one mailbox each")
    if "ReplyTo" in mail and one_mailbox(mail["ReplyTo"]) is None:
        raise _error(300, "ReplyTo")
    return recipient


def _bodies(mail: Mapping[str, Any]) -> Brought:
    bodies = [mail.get("TextBody"), mail.get("HtmlBody")]
    if not all(isinstance(body, str) and 0 < len(body.encode()) <= 5 * MEGABYTE for body in bodies):
        raise _error(300, "bodies")
    if not isinstance(mail.get("Subject"), str) or len(mail["Subject"]) > 2000:
        raise _error(300, "Subject")
    return Brought(_files(mail))


def _template(mail: Mapping[str, Any]) -> Brought:
    """Exactly one of the two names, and a model, which may be empty."""
    number, alias, model = (mail.get(f"Template{part}") for part in ("Id", "Alias", "Model"))
    if (number is None) is (alias is None) or not isinstance(model, dict):
        raise _error(1101, "TemplateId or TemplateAlias, and TemplateModel")
    if not (isinstance(alias, str) or (isinstance(number, int) and number > 0)):
        raise _error(403, "an id is a number, an alias is a text")
    return Brought(_files(mail), str(alias or number), model)


def _files(mail: Mapping[str, Any]) -> tuple[File, ...]:
    given = mail.get("Attachments", [])
    if not all({"Name", "Content", "ContentType"} >= set(one) for one in given):
        raise _error(403, "Attachments")
    found = [read_file(one["Name"], one["ContentType"], one["Content"]) for one in given]
    if not all(found):
        raise _error(300, "Attachments: not base64, without a name or a type")
    if any(one and one.name.rpartition(".")[2] in {"exe", "vbs", "bat"} for one in found):
        raise _error(411, "Forbidden attachment type")
    return tuple(one for one in found if one)


def _settings(mail: Mapping[str, Any]) -> None:
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
