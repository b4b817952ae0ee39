"""`mail.toml` as a typed thing. What each member means: `schemas/README.md`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
)

from consumer.catalogue.blocks import AttachmentRule, KeyBlock, KeyRule, Unsubscribe
from consumer.catalogue.keywords import did_you_mean
from consumer.catalogue.paths import Path, Source
from consumer.catalogue.values import (
    APath,
    ASource,
    Duration,
    OneOrMorePaths,
    PathList,
    Text,
    Version,
    unique,
)
from consumer.model import OnUnknown, Priority

Place = tuple[str | int, ...]  # a member: ("context", "name"), ("key", 0, "recipient")

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,76}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,898}[\x21-\x7e])?")
_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
_TAG = r"^[A-Za-z0-9_.:-]{1,50}$"

# Written by the service or the provider itself; a mail type may not say otherwise.
_RESERVED = frozenset(
    {"from", "to", "cc", "bcc", "subject", "date", "message-id", "reply-to", "sender"}
)
_TRACE = frozenset({"sender", "return-path", "received", "mime-version", "dkim-signature"})
_OURS = ("content-", "x-ses-", "x-pm-", "x-mailgun-", "x-smtpapi")
# What every template sees without asking, besides its own context.
PROVIDED = frozenset({"lang", "dir", "subject"})


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ValueError(f"header {name!r}: plain ASCII on one line only")
        if name.lower() in _RESERVED | _TRACE or name.lower().startswith(_OURS):
            raise ValueError(f"header {name!r} is written by the service itself")
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header is named twice")
    return headers


def _context(context: dict[str, Source]) -> dict[str, Source]:
    for name in context:
        if not re.fullmatch(_NAME, name):
            raise ValueError(f"{name!r} cannot be a template's variable: use letters, digits and _")
        if name in PROVIDED:
            raise ValueError(f"{name!r} is given to every template: choose another name")
    return context


def _key_blocks(blocks: list[KeyBlock]) -> list[KeyBlock]:
    since = [block.since for block in blocks]
    if since != sorted(set(since)):
        raise ValueError("each block begins later than the one before")
    return blocks


class Declaration(BaseModel):
    """One `mail.toml`. Ages in seconds; whatever is left out has the default seen here."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
    on: Text | None = None
    schema_version: APath | None = None

    entity_id: OneOrMorePaths
    recipient: APath
    version: Version = "v1"
    case_sensitive_entity: StrictBool = False
    key: Annotated[list[KeyBlock], AfterValidator(_key_blocks)] = Field(default_factory=list)

    time: APath | None = None
    max_age: Duration
    active_from: AwareDatetime | None = None

    sender: Text
    reply_to: Text | None = None
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(default_factory=dict)
    locale: ASource | None = None
    timezone: ASource | None = None

    tags: Annotated[list[Annotated[str, Field(pattern=_TAG)]], AfterValidator(unique)] = Field(
        default_factory=list, max_length=10
    )
    stream: Text | None = None
    configuration_set: Text | None = None
    ip_pool: Text | None = None
    track_opens: StrictBool = False
    track_clicks: StrictBool = False

    providers: Annotated[list[str], AfterValidator(unique)] = Field(default_factory=list)
    priority: Priority = Priority.NORMAL
    on_unknown: OnUnknown = OnUnknown.HOLD
    sensitive: PathList = ()

    attachments: list[AttachmentRule] = Field(default_factory=list, max_length=10)
    unsubscribe: Unsubscribe | None = None
    template: dict[str, Text] = Field(default_factory=dict)  # provider -> its template's id

    context: Annotated[dict[str, ASource], AfterValidator(_context)] = Field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """What a provider may be told beside the message: only what is written."""
        named = {
            "stream": self.stream,
            "configuration_set": self.configuration_set,
            "ip_pool": self.ip_pool,
        }
        return {name: value for name, value in named.items() if value is not None}

    @cached_property
    def key_rules(self) -> tuple[KeyRule, ...]:
        """Return what keys are made of: the members at the top, then each `[[key]]`."""
        first = KeyRule(
            None, self.entity_id, self.recipient, self.version, self.case_sensitive_entity
        )
        rules = [first]
        for block in self.key:
            rules.append(block.after(rules[-1]))
        return tuple(rules)

    def paths(self) -> list[tuple[Place, Path]]:
        """Return every path whose value must be there, with the member that names it."""
        paths: list[tuple[Place, Path | None]] = [
            (("schema_version",), self.schema_version),
            (("recipient",), self.recipient),
            (("time",), self.time),
            *((("entity_id",), path) for path in self.entity_id),
        ]
        for number, block in enumerate(self.key):
            paths.append((("key", number, "recipient"), block.recipient))
            paths += [(("key", number, "entity_id"), path) for path in block.entity_id or ()]
        for number, attachment in enumerate(self.attachments):
            if not attachment.optional:
                paths += [(("attachments", number, *name), at) for name, at in attachment.paths()]
        return [(place, path) for place, path in paths if path is not None]

    def sources(self) -> list[tuple[Place, Source]]:
        """Return everything that may have a fallback, with the member that names it."""
        sources: list[tuple[Place, Source | None]] = [
            *((("context", name), source) for name, source in self.context.items()),
            (("locale",), self.locale),
            (("timezone",), self.timezone),
            (("unsubscribe", "url"), self.unsubscribe.url if self.unsubscribe else None),
        ]
        for number, attachment in enumerate(self.attachments):
            if attachment.optional:
                named = [(("attachments", number, *name), at) for name, at in attachment.paths()]
                sources += [(place, Source(path)) for place, path in named]
        return [(place, source) for place, source in sources if source is not None]


_BLOCKS: Final[dict[str, type[BaseModel]]] = {
    "key": KeyBlock,
    "attachments": AttachmentRule,
    "unsubscribe": Unsubscribe,
}


_PLAIN: Final = {"topic": 249, "tags": 50}  # characters


def said(error: dict[str, Any]) -> str:
    """Put pydantic's finding into the words of a person who edits the file."""
    match error["type"]:
        case "extra_forbidden":
            around = _BLOCKS.get(str(error["loc"][0]), Declaration)
            return f"unknown member{did_you_mean(str(error['loc'][-1]), around.model_fields)}"
        case "missing":
            return "is missing"
        case "string_pattern_mismatch" if error["loc"][0] in _PLAIN:
            return f"write 1 to {_PLAIN[error['loc'][0]]} letters, digits, dots, dashes or _"
        case "string_type":
            return "is a text: write it in quotes"
        case "list_type":
            return 'is a list: write ["..."]'
        case "bool_type":
            return "is true or false, without quotes"
        case "timezone_aware":
            return "needs its offset: 2026-03-01T00:00:00Z"
        case _:
            return str(error["msg"]).removeprefix("Value error, ") + misplaced(error["loc"])


def misplaced(place: Place) -> str:
    """Say more of a wrong source: TOML takes what stands below [context] for a part of it."""
    if place[:-1] != ("context",) or place[-1] not in Declaration.model_fields:
        return ""
    return f"; {place[-1]} is a member of the file: write it above [context]"
