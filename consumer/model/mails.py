"""What an event becomes: a mail, its rendered message, and the bytes of one provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from consumer.model.records import Json

# Our key's name in metadata, in tags and in what webhooks bring back; Postmark allows 20 letters.
KEY_FIELD: Final = "sendonce_key"


class Priority(StrEnum):
    NORMAL = "normal"
    HIGH = "high"


class OnUnknown(StrEnum):
    """What to do when all evidence about an unknown outcome is spent."""

    HOLD = "hold"
    RESEND = "resend"


@dataclass(frozen=True, slots=True)
class MailType:
    """A folder of the catalogue, as the rest of the service sees it: what to do with its mails."""

    name: str
    topic: str
    providers: tuple[str, ...]  # names of [providers.X]: first choice, then failover
    sender: str  # name of a [senders.X]
    max_age: float  # seconds
    priority: Priority = Priority.NORMAL
    on_unknown: OnUnknown = OnUnknown.HOLD
    digest: str = ""  # of the folder's content; names what a row was first claimed with
    sensitive: bool = False  # entity_id may not appear in outcome records
    private: bool = False  # has sensitive paths: its letters are sealed, its words not shown


@dataclass(frozen=True, slots=True)
class Edition:
    """A mail type's folder as it was at one digest, kept to make the same bytes later.

    `fingerprints`: names what a fingerprint depends on; two editions that share it can be compared.
    """

    digest: str
    mail_type: str
    fingerprints: str
    snapshot: bytes = field(repr=False)  # of its files, as the catalogue packs them


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that an event points to; fetched, and held against its digest, before the mail goes.

    `hosts`: "files.example" or "files.example:8443"; no other one is asked for it. Where to and
    under which digest is the event's to say, all else the mail type's.
    """

    name: str  # as the reader sees it
    content_type: str  # "application/pdf"
    sha256: str  # 64 hex characters, lower case
    url: str
    max_size: int  # bytes
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enclosed:
    """An attachment with its bytes, which are what its digest says."""

    attachment: Attachment
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mail:
    """What the catalogue makes of an event, before anything is rendered. Pure."""

    type: MailType
    key: str  # 48 hex characters, see `keys.send_key`
    entity_id: str
    recipient: str  # one strict address, domain folded to ASCII lower case
    fingerprint: str  # hex digest over the canonical context, recipient and mail type
    context: Mapping[str, Json]
    occurred_at: datetime  # aware; ages are counted from here
    locale: str | None = None
    timezone: str | None = None
    active: bool = True  # False: before the type's `active_from`
    attachments: tuple[Attachment, ...] = ()
    unsubscribe: str | None = None  # the link by which this reader leaves the list


@dataclass(frozen=True, slots=True)
class Address:
    """A mailbox; the name travels apart from the address and is never parsed out of it again."""

    email: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A rendered email with one recipient. Rendering is deterministic: same mail, same bytes.

    `templates`: the id of the template that a provider, by its name, keeps for this mail and fills
    with `model`; the others send `text` and `html`, which are "" where every provider has its own.
    """

    key: str
    mail_type: str
    sender: Address
    to: Address
    subject: str
    text: str
    html: str
    message_id: str  # "<key@sender-domain>", angle brackets included
    reply_to: Address | None = None
    headers: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)  # stream, configuration_set, ip_pool
    track_opens: bool = False
    track_clicks: bool = False
    attachments: tuple[Attachment, ...] = ()
    templates: Mapping[str, str] = field(default_factory=dict)
    model: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a configured provider can take along, as far as its own rules tell beforehand.

    `files`: bytes of a mail's attachments, all of them; None: no limit is known. `template`: a
    pattern that the whole id of a template that it keeps matches; None: it keeps none.
    """

    files: int | None = None
    template: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """The bytes that one provider will be sent for one message, the same at every repeat."""

    message: Message
    body: bytes = field(repr=False)
    body_hash: bytes  # SHA-256 of body, 32 bytes
    headers: Mapping[str, str] = field(default_factory=dict)  # what depends on the message (keys)
    url: str = ""
