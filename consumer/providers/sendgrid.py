"""Twilio SendGrid, version 3: https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send.

Our key travels as a custom argument, which every webhook event returns and Email Activity finds.
There is no idempotency key: a repeat is a second mail.

Accepted is not sent: an address that SendGrid suppresses is accepted, and an event tells of the
drop. What cannot be told for a single mail: a recipient's name with commas (see `_to`). A template
is a dynamic one; its own subject and bodies override whatever a mail would bring.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import SecretStr, model_validator

from consumer.model import KEY_FIELD, Address, Answer, Enclosed, Message, Prepared, Rejected
from consumer.providers import mime
from consumer.providers.base import account_of, prepared_json
from consumer.providers.enclosing import MEGABYTE, base64_of, files_within
from consumer.providers.fields import refuse
from consumer.providers.options import BaseUrl, Options
from consumer.providers.sendgrid_answers import read
from consumer.providers.sendgrid_search import SendGridSearch

PATH: Final = "/v3/mail/send"
EU_HOST: Final = "api.eu.sendgrid.com"  # for subusers whose region is EU
HEADERS: Final = {"Accept": "application/json", "Content-Type": "application/json"}

# https://github.com/twilio/sendgrid-oai, spec/yaml/tsg_mail_v3.yaml: `headers`. What From, To and
# the like are is refused for every provider. X-SMTPAPI is our caution: it can name recipients.
RESERVED: Final = frozenset({"dkim-signature", "received", "x-sg-eid", "x-sg-id", "x-smtpapi"})
CATEGORIES: Final = 10  # same source
# Of a mail, its files included: https://docs.sendgrid.com/api-reference/mail-send/limitations
SIZE_LIMIT: Final = 30 * MEGABYTE
_CATEGORY_LIMIT: Final = 255  # characters, ASCII: .../api-reference/mail-send/errors, "categories"
_NOT_IN_CATEGORIES: Final = re.compile(r"[^ -~]")
_SPECIALS: Final = re.compile(r"[()<>\[\]:;@\\,\"\s]+")  # RFC 5322, but for the dot


class SendGridOptions(Options):
    """[providers.X] with type = "sendgrid".

    `base_url`: https://api.eu.sendgrid.com for subusers in the EU. `activity`: this account has
    bought "additional email activity history" and its key may read it, so that a mail whose answer
    was lost can be looked for.
    """

    files_limit: ClassVar[int | None] = files_within(SIZE_LIMIT)
    template_id: ClassVar[str | None] = r"d-[A-Za-z0-9-]+"

    type: Literal["sendgrid"] = "sendgrid"
    base_url: BaseUrl = "https://api.sendgrid.com"
    api_key: SecretStr
    activity: bool = False

    @model_validator(mode="after")
    def activity_is_kept_outside_the_eu(self) -> Self:
        """What EU subusers send is not in it: their mails would all seem absent."""
        if self.activity and urlsplit(self.base_url).hostname == EU_HOST:
            raise ValueError("activity: there is none for EU subusers")
        return self


class SendGrid:
    window = 0.0  # no idempotency key

    def __init__(self, options: SendGridOptions) -> None:
        api_key = options.api_key.get_secret_value()
        base = options.base_url.rstrip("/")
        self.account = account_of("sendgrid", options.account, api_key)
        self._url = base + PATH
        self._credentials = {"Authorization": f"Bearer {api_key}"}
        self.search = SendGridSearch(base, self._credentials) if options.activity else None

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=False) or _refuse_headers(message)
        if refused is not None:
            return refused
        body = _body(message, enclosed, template)
        return prepared_json(message, self._url, body, HEADERS, enclosed)

    async def sign(self, prepared: Prepared) -> Mapping[str, str]:  # noqa: ARG002 - one key signs all
        return self._credentials

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        return read(status, headers, body)


def _refuse_headers(message: Message) -> Rejected | None:
    names = [name.casefold() for name, _ in message.headers]
    if RESERVED.intersection(names):
        return Rejected("a header that SendGrid keeps for itself")
    if len(names) > len(set(names)):
        return Rejected("a header is there twice, which SendGrid does not take")
    return None


def _body(message: Message, enclosed: Sequence[Enclosed], template: str | None) -> dict[str, Any]:
    personal: dict[str, Any] = {
        "to": [_to(message.to)],
        "custom_args": {KEY_FIELD: message.key},
    }
    body: dict[str, Any] = {
        "personalizations": [personal],
        "from": _mailbox(message.sender),
        **(_bodies(message) if template is None else {"template_id": template}),
        "headers": {"Message-ID": message.message_id, **dict(map(_ascii, message.headers))},
        "tracking_settings": _tracking(message),
    }
    if template is not None:
        personal["dynamic_template_data"] = dict(message.model)
    if enclosed:
        body["attachments"] = [_file(each) for each in enclosed]
    return body | _further(message)


def _further(message: Message) -> dict[str, Any]:
    """Say what a mail may leave out."""
    further: dict[str, Any] = {}
    if message.reply_to is not None:
        further["reply_to"] = _mailbox(message.reply_to)
    if message.tags:
        further["categories"] = _categories(message)
    if "ip_pool" in message.options:
        further["ip_pool_name"] = message.options["ip_pool"]
    return further


def _file(enclosed: Enclosed) -> dict[str, str]:
    file = enclosed.attachment
    return {
        "content": base64_of(enclosed),
        "type": file.content_type,
        "filename": file.name,
        "disposition": "attachment",
    }


def _mailbox(address: Address) -> dict[str, str]:
    named = {"name": address.name} if address.name else {}
    return {"email": address.email, **named}


def _to(address: Address) -> dict[str, str]:
    """Write the recipient, with a name that cannot be read as an address.

    "Last, First" as a name has made SendGrid mail to a part of the name instead of the address
    (https://github.com/sendgrid/sendgrid-python/issues/291). Quotes help where that is so and show
    where it was mended; a space helps in both cases.
    """
    return _mailbox(Address(address.email, _SPECIALS.sub(" ", address.name).strip()))


def _bodies(message: Message) -> dict[str, Any]:
    return {"subject": message.subject, "content": _content(message)}


def _content(message: Message) -> list[dict[str, str]]:
    """Text before HTML, and no part that is empty: both are refused otherwise."""
    parts = (("text/plain", message.text), ("text/html", message.html))
    return [{"type": kind, "value": value} for kind, value in parts if value]


def _ascii(header: tuple[str, str]) -> tuple[str, str]:
    """Encode a value that is not ASCII: SendGrid leaves that to its customers."""
    name, value = header
    encoded = value if value.isascii() else mime.unstructured(name, value).replace("\r\n", "")
    return name, encoded


def _categories(message: Message) -> list[str]:
    """Twice the same is refused, so it is once there."""
    words = (_NOT_IN_CATEGORIES.sub("_", tag)[:_CATEGORY_LIMIT] for tag in message.tags)
    return list(dict.fromkeys(word for word in words if word))[:CATEGORIES]


def _tracking(message: Message) -> dict[str, dict[str, bool]]:
    """Say all of it: what is left out is as the account's own settings have it."""
    clicks = message.track_clicks
    return {
        "click_tracking": {"enable": clicks, "enable_text": clicks},
        "open_tracking": {"enable": message.track_opens},
        "subscription_tracking": {"enable": False},
        "ganalytics": {"enable": False},
    }
