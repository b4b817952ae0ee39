"""Postmark, as of https://postmarkapp.com/developer/api/email-api and .../templates-api.

Our key travels as metadata, which the Messages API finds again and every webhook returns. There is
no idempotency key: a repeat is a second mail.

Open tracking that a server has switched on cannot be switched off for a mail
(https://postmarkapp.com/developer/user-guide/tracking-opens/tracking-opens-per-email): leave it off
there. Link tracking can.
"""

from __future__ import annotations

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
    Refused,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.base import account_of, prepared_json
from consumer.providers.enclosing import MEGABYTE, base64_of, files_within
from consumer.providers.fields import mailbox, refuse
from consumer.providers.options import BaseUrl, Options
from consumer.providers.postmark_search import PostmarkSearch
from consumer.providers.statuses import by_status, members, named, retry_after

TAG_LIMIT: Final = 1000  # characters, and one tag a mail; further ones travel as metadata
METADATA_LIMIT: Final = 80  # characters of a value; at most 10 fields, names of at most 20
METADATA_FIELDS: Final = 10
# Of a mail, its files included, encoded:
# https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits
SIZE_LIMIT: Final = 10 * MEGABYTE
DEFAULT_STREAM: Final = "outbound"  # the transactional stream that every server has
HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}


class PostmarkOptions(Options):
    """[providers.X] with type = "postmark". `token` is the server's, not the account's.

    A template's id is a number, or the alias that was given to it.
    """

    files_limit: ClassVar[int | None] = files_within(SIZE_LIMIT)
    template_id: ClassVar[str | None] = r"\d{1,18}|[A-Za-z][A-Za-z0-9._-]*"

    type: Literal["postmark"] = "postmark"
    base_url: BaseUrl = "https://api.postmarkapp.com"
    token: SecretStr


class Postmark:
    window = 0.0  # no idempotency key

    def __init__(self, options: PostmarkOptions) -> None:
        token = options.token.get_secret_value()
        self.account = account_of("postmark", options.account, token)
        self._url = options.base_url.rstrip("/") + "/email"
        self._credentials = {"X-Postmark-Server-Token": token}
        self.search = PostmarkSearch(options.base_url, self._credentials, DEFAULT_STREAM)

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=False)  # support is not documented
        if refused is not None:
            return refused
        url = self._url if template is None else f"{self._url}/withTemplate"
        body = _body(message, enclosed, template)
        return prepared_json(message, url, body, HEADERS, enclosed)

    async def sign(self, prepared: Prepared) -> Mapping[str, str]:  # noqa: ARG002 - one token signs all
        return self._credentials

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        return read(status, headers, body)


def _body(message: Message, enclosed: Sequence[Enclosed], template: str | None) -> dict[str, Any]:
    body = {
        "From": mailbox(message.sender),
        "To": mailbox(message.to),
        **(_bodies(message) if template is None else _hosted(message, template)),
        "Headers": [{"Name": name, "Value": value} for name, value in _headers(message)],
        "Metadata": _metadata(message),
        "MessageStream": message.options.get("stream", DEFAULT_STREAM),
        "TrackOpens": message.track_opens,
        "TrackLinks": "HtmlAndText" if message.track_clicks else "None",
    }
    if message.reply_to is not None:
        body["ReplyTo"] = mailbox(message.reply_to)
    if message.tags:
        body["Tag"] = message.tags[0][:TAG_LIMIT]
    if enclosed:
        body["Attachments"] = [_file(each) for each in enclosed]
    return body


def _bodies(message: Message) -> dict[str, Any]:
    return {"Subject": message.subject, "TextBody": message.text, "HtmlBody": message.html}


def _hosted(message: Message, template: str) -> dict[str, Any]:
    """Name a template of the server, which makes the subject too and is sent no other."""
    named = {"TemplateId": int(template)} if template.isdigit() else {"TemplateAlias": template}
    return {**named, "TemplateModel": dict(message.model)}


def _file(enclosed: Enclosed) -> dict[str, str]:
    file = enclosed.attachment
    return {"Name": file.name, "Content": base64_of(enclosed), "ContentType": file.content_type}


def _metadata(message: Message) -> dict[str, str]:
    further = message.tags[1:METADATA_FIELDS]
    tags = {f"tag_{place}": tag[:METADATA_LIMIT] for place, tag in enumerate(further, 2)}
    return {KEY_FIELD: message.key, **tags}


def _headers(message: Message) -> tuple[tuple[str, str], ...]:
    """Postmark makes a Message-ID of its own unless it is told to keep ours."""
    return (
        ("Message-ID", message.message_id),
        ("X-PM-KeepID", "true"),
        *message.headers,
    )


# ── Answers

_Reading = Callable[[str, Mapping[str, str]], Answer]


def _sender(error: str, _: Mapping[str, str]) -> Answer:
    return Blocked(error, Scope.SENDER)


def _account(error: str, _: Mapping[str, str]) -> Answer:
    return Blocked(error)


def _message(error: str, _: Mapping[str, str]) -> Answer:
    return Rejected(error)


# https://postmarkapp.com/developer/api/overview#error-codes. The code decides, not the status: 406
# comes with HTTP 422 or 406, depending on the age of the page.
CODES: Final[Mapping[int, _Reading]] = {
    10: _account,  # bad or missing server token
    100: lambda error, headers: Transient(error, retry_after(headers)),  # maintenance
    300: _message,  # invalid email request
    400: _sender,  # sender signature not found
    401: _sender,  # sender signature not confirmed
    402: _message,  # invalid JSON
    403: _message,  # incompatible JSON
    405: _account,  # out of credit, or not allowed to send
    406: lambda error, _: Refused(error),  # inactive recipient: bounced, complained, suppressed
    411: _message,  # forbidden attachment type
    412: _account,  # account pending approval
    413: _account,  # account may not send
    429: lambda error, headers: SlowDown(error, retry_after(headers)),
    701: _message,  # forbidden attachment
}


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    answer = members(body)
    code = answer.get("ErrorCode", 0)
    if isinstance(code, int) and code in CODES:
        return CODES[code](named("postmark", status, code), headers)
    if code or status != 200:  # noqa: PLR2004 - every success is documented as 200
        return by_status("postmark", status, headers, code)
    return _taken(status, answer)


def _taken(status: int, answer: Mapping[str, Any]) -> Answer:
    """Read a 200. `ErrorCode` may be missing; what proves acceptance is the id."""
    if _names_inactive(answer.get("Message")):
        return Refused(named("postmark", status, "inactive"))
    message_id = answer.get("MessageID")
    if isinstance(message_id, str) and message_id:
        return Accepted(message_id)
    return Unclear(named("postmark", status, "no-id"))


def _names_inactive(text: object) -> bool:
    """Tell whether a success says that it leaves inactive addresses out.

    A mail of ours has one recipient, so any address left out is that one. The word is looked for
    outside of addresses, because inactive@example.com may be quoted in a text that says otherwise.
    """
    said = str(text).casefold()
    if "inactive" not in said:  # nearly always
        return False
    return any(w.strip(".,:;!()\"'") == "inactive" for w in said.split() if "@" not in w)
