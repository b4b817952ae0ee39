"""Mailgun's `POST /v3/{domain}/messages` and its events, as strict as the documentation.

https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages, .../events
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, as_json, one_mailbox
from tests.doubles.brought import Brought, File, file_of
from tests.doubles.ledger import Ledger

FORM = "multipart/form-data"
BODIES = {"text", "html"}
HOSTED = {"template", "t:variables", "t:text"}
SWITCHES = {"o:tracking", "o:tracking-opens", "o:tracking-clicks"}
ONCE = {"from", "to", "subject"}
KNOWN = ONCE | BODIES | HOSTED | SWITCHES | {"o:tag", "o:sending-ip-pool"}
HEADER = re.compile(r"[hv]:[!-9;-~]+")
MESSAGE_ID = re.compile(r"<[^<>@\s]+@[^<>@\s]+>")
MEGABYTE = 1000 * 1000


@dataclass(frozen=True, slots=True)
class Form(Mapping[str, Sequence[str]]):
    """`files`: the parts that are files, by the name of their field."""

    fields: Mapping[str, Sequence[str]]
    files: Sequence[tuple[str, File]]

    def __getitem__(self, name: str) -> Sequence[str]:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


@dataclass(frozen=True, slots=True)
class TakenHere(Taken):
    message_id: str = ""


class MailgunApi(Api):
    """`sending_key` may send and nothing else, as a domain's sending key."""

    name = "mailgun"

    def __init__(
        self, api_key: str = "key-all", sending_key: str = "key-send", domain: str = "mg.example"
    ) -> None:
        self.api_key = api_key
        self.sending_key = sending_key
        self.domain = domain
        self.credentials = {"api_key": api_key, "domain": domain, "read_events": True}

    def check(self, call: Call) -> Taken:
        self._authorised(call, self.api_key, self.sending_key)
        self._at(call, "POST", "messages")
        form = _form(call)
        recipient = _addressed(form)
        brought = _brought(form)
        _send_options(form)
        message_id = form["h:Message-Id"][0][1:-1]
        return TakenHere(form.get("v:sendonce_key", [""])[0], recipient, brought, message_id)

    def store(self, taken: Taken, ledger: Ledger) -> Reply:
        """Keep the mail's own Message-ID: two mails of one key have one id."""
        assert isinstance(taken, TakenHere)
        ledger.accept(taken.key, taken.message_id, taken.brought)
        return self.accepted(taken, taken.message_id)

    def accepted(self, taken: Taken, message_id: str) -> Reply:
        return as_json(200, {"id": f"<{message_id}>", "message": "Queued. Thank you."})

    def ask(self, call: Call, ledger: Ledger) -> Reply | None:
        """Answer with the events of one id; of all mails, where the filter holds no bare id."""
        self._authorised(call, self.api_key)
        self._at(call, "GET", "events")
        query = parse_qs(urlsplit(call.path).query)
        if query.get("ascending") not in (["yes"], ["no"]) or int(query["limit"][0]) > 300:
            raise _error(400, "ascending, limit")
        wanted = query.get("message-id", [""])[0]
        events = [
            _event(key, message_id)
            for key, ids in ledger.accepted.items()
            for message_id in ids
            if message_id == wanted or "@" not in wanted or "<" in wanted
        ]
        return as_json(200, {"items": events[: int(query["limit"][0])], "paging": {}})

    def _authorised(self, call: Call, *keys: str) -> None:
        good = {f"Basic {b64encode(f'api:{key}'.encode()).decode()}" for key in keys}
        if call.headers.get("Authorization") not in good:
            raise RefusalError(Reply(401, b"Forbidden", {"Content-Type": "text/plain"}))

    def _at(self, call: Call, method: str, door: str) -> None:
        path = urlsplit(call.path).path
        if not re.fullmatch(rf"/v3/[^/]+/{door}", path) or call.method != method:
            raise RefusalError(Reply(404, b"404 page not found"))
        if path.split("/")[2] != self.domain:
            raise _error(404, "Domain not found")


def _event(key: str, message_id: str) -> dict[str, Any]:
    return {
        "event": "accepted",
        "message": {"headers": {"message-id": message_id}},
        "user-variables": {"sendonce_key": key},
    }


def _error(status: int, text: str) -> RefusalError:
    return RefusalError(as_json(status, {"message": text}))


def _form(call: Call) -> Form:
    if len(call.body) > 25 * MEGABYTE:
        raise RefusalError(Reply(413, b"<html>too large</html>"))
    kind = call.headers.get("Content-Type", "")
    if not kind.startswith(f"{FORM};"):
        raise _error(400, "from parameter is missing")  # what is no form has no fields
    form = _fields(kind, call.body)
    if not all(name in KNOWN or HEADER.fullmatch(name) for name in form):
        raise _error(400, "unknown parameter, or a header's name that is not ASCII")
    return form


def _fields(kind: str, body: bytes) -> Form:
    """Read the parts as the standard library does, which is no friend of ours."""
    whole = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body, policy=HTTP)
    form: dict[str, list[str]] = {}
    files: list[tuple[str, File]] = []
    for part in whole.iter_parts():
        name = part.get_param("name", header="content-disposition")
        value = part.get_payload(decode=True)
        assert isinstance(name, str)
        assert isinstance(value, bytes)
        if (file_name := part.get_filename()) is not None:
            files.append((name, file_of(file_name, part.get_content_type(), value)))
        else:
            form.setdefault(name, []).append(value.decode())
    return Form(form, files)


def _addressed(form: Form) -> str:
    for name in ONCE:
        if len(form.get(name, [])) != 1:
            raise _error(400, f"{name} parameter is missing")
    if one_mailbox(form["from"][0]) is None:
        raise _error(400, "'from' parameter is not a valid address. please check documentation")
    recipient = one_mailbox(form["to"][0])
    if recipient is None:
        raise _error(400, "'to' parameter is not a valid address. please check documentation")
    return recipient


def _brought(form: Form) -> Brought:
    """Bodies, or a template that has its own; files are the parts named `attachment`."""
    if any(char in form["subject"][0] for char in "\r\n\0"):
        raise _error(400, "subject")
    if not all(name == "attachment" and file.size and file.name for name, file in form.files):
        raise _error(400, "attachment")
    files = tuple(file for _, file in form.files)
    return _hosted(form, files) if "template" in form else _bodies(form, files)


def _hosted(form: Form, files: tuple[File, ...]) -> Brought:
    if BODIES & set(form) or form.get("t:text") not in (None, ["yes"]):
        raise _error(400, "beside a template")
    try:
        model = orjson.loads(form["t:variables"][0])
    except (orjson.JSONDecodeError, KeyError):
        raise _error(400, "t:variables: not valid JSON") from None
    return Brought(files, form["template"][0], model)


def _bodies(form: Form, files: tuple[File, ...]) -> Brought:
    for name in BODIES:
        if len(form.get(name, [])) != 1:
            raise _error(400, f"{name} parameter is missing")
    if not form["text"][0] or not form["html"][0]:
        raise _error(400, "Need at least one of 'text' or 'html' parameters specified")
    return Brought(files)


def _send_options(form: Form) -> None:
    options = [(name, value) for name, values in form.items() for value in values if ":" in name]
    if sum(len((name + value).encode()) for name, value in options) > 16_000:
        raise _error(400, "Send options (starting with o:, h:, or v:) are limited to 16 kB total")
    if any(char in value for _, value in options for char in "\r\n\0"):
        raise _error(400, "a line break")
    tags = form.get("o:tag", [])
    if len(tags) > 3 or not all(tag.isascii() and 0 < len(tag) <= 128 for tag in tags):
        raise _error(400, "o:tag")
    if not all(form.get(switch) in (["yes"], ["no"]) for switch in SWITCHES):
        raise _error(400, "tracking has to be said")
    if not MESSAGE_ID.fullmatch("".join(form.get("h:Message-Id", []))):
        raise _error(400, "h:Message-Id")
    if len(form.get("v:sendonce_key", [])) > 1:
        raise _error(400, "a variable has one value")
