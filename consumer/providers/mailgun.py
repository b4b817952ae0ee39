"""Mailgun, as of https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages.

Our key travels as the variable `sendonce_key`, which every event and webhook returns; the recipient
can read it in the header X-Mailgun-Variables. Our Message-ID is kept, and is what a mail is found
by. There is no idempotency key: a repeat is a second mail, and since it has the same Message-ID,
Mailgun's ids do not tell the two apart.

A template's variables count as send options, which are 16 kB in all: a receipt with many lines does
not fit into one, and its mail is refused here, before it is tried. The subject is ours, also where
the template has one.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field, SecretStr

from consumer.model import KEY_FIELD, Answer, Enclosed, Message, Prepared, Rejected
from consumer.providers.base import json_of, prepared
from consumer.providers.enclosing import MEGABYTE, files_within
from consumer.providers.fields import mailbox, refuse
from consumer.providers.form import multipart
from consumer.providers.mailgun_answers import read
from consumer.providers.mailgun_events import MailgunEvents
from consumer.providers.options import BaseUrl, Options

# https://documentation.mailgun.com/docs/mailgun/user-manual/tracking-messages/track-tagging
TAGS: Final = 3  # of a mail
TAG_LIMIT: Final = 128  # characters, ASCII
# "parameters starting with o:, h:, v:, or t: are limited to 16KB total": of the page on messages.
# Read as 16,000 bytes and with the names counted, which is the least that it can mean.
SEND_OPTIONS_LIMIT: Final = 16_000
# Of a mail, its files included: of the user manual, "sending messages".
SIZE_LIMIT: Final = 25 * MEGABYTE
REGIONS: Final = {"us": "https://api.mailgun.net", "eu": "https://api.eu.mailgun.net"}
_NOT_IN_TAGS: Final = re.compile(r"[^ -~]")

Pairs: TypeAlias = list[tuple[str, str]]
Domain = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$")]


class MailgunOptions(Options):
    """[providers.X] with type = "mailgun".

    `domain` is the sending domain; `region` is where it was made, and no other one knows it.
    `read_events`: the key may read events, which a domain's sending key may not. `account`:
    whatever tells this account from another one that is or was used under the same name; default:
    the region and the domain.
    """

    files_limit: ClassVar[int | None] = files_within(SIZE_LIMIT)
    template_id: ClassVar[str | None] = r"[!-~]+"

    type: Literal["mailgun"] = "mailgun"
    api_key: SecretStr
    domain: Domain
    region: Literal["us", "eu"] = "us"
    base_url: BaseUrl | None = None
    read_events: bool = False


class Mailgun:
    window = 0.0  # no idempotency key

    def __init__(self, options: MailgunOptions) -> None:
        base = (options.base_url or REGIONS[options.region]).rstrip("/")
        door = f"{base}/v3/{options.domain}"
        self.account = f"mailgun:{options.account or f'{options.region}/{options.domain}'}"
        self._url = f"{door}/messages"
        self._credentials = {"Authorization": _basic(options.api_key)}
        events = MailgunEvents(f"{door}/events", self._credentials)
        self.search = events if options.read_events else None

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=False)  # support is not documented
        if refused is not None:
            return refused
        content = _bodies(message) if template is None else _hosted(message, template)
        if isinstance(content, Rejected):
            return content
        fields = [*_addressed(message), *content, *_send_options(message)]
        size = sum(len((name + value).encode()) for name, value in fields if name[1] == ":")
        if size > SEND_OPTIONS_LIMIT:
            return Rejected(f"send options of {size} bytes, Mailgun takes {SEND_OPTIONS_LIMIT}")
        body, kind = multipart(fields, [("attachment", each) for each in enclosed])
        return prepared(message, self._url, body, {"Content-Type": kind}, enclosed)

    async def sign(self, prepared: Prepared) -> Mapping[str, str]:  # noqa: ARG002 - one key signs all
        return self._credentials

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        return read(status, headers, body)


def _basic(api_key: SecretStr) -> str:
    pair = f"api:{api_key.get_secret_value()}"
    return f"Basic {b64encode(pair.encode()).decode('ascii')}"


def _addressed(message: Message) -> Pairs:
    return [
        ("from", mailbox(message.sender)),
        ("to", mailbox(message.to)),
        ("subject", message.subject),
    ]


def _bodies(message: Message) -> Pairs:
    return [("text", message.text), ("html", message.html)]


def _hosted(message: Message, template: str) -> Pairs | Rejected:
    """Name a template of the domain; Mailgun makes the text part of it as well."""
    variables = json_of(dict(message.model))
    if variables is None:
        return Rejected("it holds what JSON cannot say")
    return [("template", template), ("t:text", "yes"), ("t:variables", variables.decode())]


def _send_options(message: Message) -> Pairs:
    pairs = [(f"v:{KEY_FIELD}", message.key), ("h:Message-Id", message.message_id)]
    if message.reply_to is not None:
        pairs.append(("h:Reply-To", mailbox(message.reply_to)))
    pairs += [(f"h:{name}", value) for name, value in message.headers]
    pairs += [("o:tag", tag) for tag in _tags(message)]
    if "ip_pool" in message.options:
        pairs.append(("o:sending-ip-pool", message.options["ip_pool"]))
    return pairs + _tracking(message)


def _tags(message: Message) -> list[str]:
    fitting = (_NOT_IN_TAGS.sub("_", tag)[:TAG_LIMIT] for tag in message.tags[:TAGS])
    return [tag for tag in fitting if tag]


def _tracking(message: Message) -> Pairs:
    """Say it always: what a mail leaves out, the domain's own setting decides."""
    opens, clicks = message.track_opens, message.track_clicks
    return [
        ("o:tracking", _yes(opens or clicks)),
        ("o:tracking-opens", _yes(opens)),
        ("o:tracking-clicks", _yes(clicks)),
    ]


def _yes(wanted: bool) -> str:  # noqa: FBT001 - it is about the value
    return "yes" if wanted else "no"
