"""`mail.toml` as a typed thing. What each member means: `schemas/README.md`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
)
from pydantic_core import CoreSchema, core_schema

from consumer.catalogue.keywords import did_you_mean
from consumer.catalogue.paths import Path, Source, parse_path, parse_source
from consumer.keys import RESENT, AddressError, canonical_recipient
from consumer.model import Address, OnUnknown, Priority

_DURATION = re.compile(r"(\d{1,9})(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
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


def parse_duration(value: object) -> float:
    """Return the seconds of "30s", "10m", "24h" or "30d"; ValueError for anything else."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('write a duration as "30s", "10m", "24h" or "30d"')
    return int(match[1]) * _SECONDS[match[2]]


def _paths(value: object) -> tuple[Path, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise ValueError("name at least one path")
    return tuple(parse_path(one) for one in several)


def _path_list(value: object) -> tuple[Path, ...]:
    if not isinstance(value, list):
        raise ValueError("write a list of paths")  # noqa: TRY004 - pydantic reads ValueError
    return tuple(parse_path(one) for one in value)


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


def _unique(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("named twice")
    return names


def parse_mailbox(text: str) -> Address:
    """Read `ada@example.com` or `Name <ada@example.com>`; ValueError says why not."""
    name, bracket, rest = text.rpartition("<")
    if bracket and not rest.endswith(">"):
        raise ValueError("write ada@example.com or Name <ada@example.com>")
    try:
        return Address(canonical_recipient(rest.removesuffix(">")), name.strip().strip('"'))
    except AddressError as error:
        raise ValueError(str(error)) from None


@dataclass(frozen=True, slots=True)
class _Read:
    """Marks a type that one function of ours reads, and pydantic does not look into."""

    by: Callable[[object], object]

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.by)


APath = Annotated[Path, _Read(parse_path)]
ASource = Annotated[Source, _Read(parse_source)]
Text = Annotated[str, Field(min_length=1, max_length=255)]


def _version(name: str) -> str:
    if name.lower().startswith(RESENT):
        raise ValueError(f"names that begin with {RESENT!r} are those of mails made again by hand")
    return name


class Declaration(BaseModel):
    """One `mail.toml`. Ages in seconds; whatever is left out has the default seen here."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    topic: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}$")]
    on: Text | None = None
    schema_version: APath | None = None

    entity_id: Annotated[tuple[Path, ...], _Read(_paths)]
    recipient: APath
    version: Annotated[Text, AfterValidator(_version)] = "v1"
    case_sensitive_entity: StrictBool = False

    time: APath | None = None
    max_age: Annotated[float, BeforeValidator(parse_duration)]
    active_from: AwareDatetime | None = None

    sender: Text
    reply_to: Text | None = None
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(default_factory=dict)
    locale: ASource | None = None
    timezone: ASource | None = None

    tags: Annotated[list[Annotated[str, Field(pattern=_TAG)]], AfterValidator(_unique)] = Field(
        default_factory=list, max_length=10
    )
    stream: Text | None = None
    configuration_set: Text | None = None
    ip_pool: Text | None = None
    track_opens: StrictBool = False
    track_clicks: StrictBool = False

    providers: Annotated[list[str], AfterValidator(_unique)] = Field(default_factory=list)
    priority: Priority = Priority.NORMAL
    on_unknown: OnUnknown = OnUnknown.HOLD
    sensitive: Annotated[tuple[Path, ...], _Read(_path_list)] = ()

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

    def paths(self) -> list[tuple[str, Path]]:
        """Return every path whose value must be there, with the member that names it."""
        single = [("schema_version", self.schema_version), ("recipient", self.recipient)]
        single.append(("time", self.time))
        several = [("entity_id", path) for path in self.entity_id]
        return [(name, path) for name, path in single if path is not None] + several

    def sources(self) -> list[tuple[tuple[str, ...], Source]]:
        """Return everything that may have a fallback, with the member that names it."""
        sources: list[tuple[tuple[str, ...], Source]] = [
            (("context", name), source) for name, source in self.context.items()
        ]
        for name, source in (("locale", self.locale), ("timezone", self.timezone)):
            if source is not None:
                sources.append(((name,), source))
        return sources


def said(error: dict[str, Any]) -> str:
    """Put pydantic's finding into the words of a person who edits the file."""
    match error["type"]:
        case "extra_forbidden":
            return f"unknown member{did_you_mean(str(error['loc'][-1]), Declaration.model_fields)}"
        case "missing":
            return "is missing"
        case _:
            return str(error["msg"]).removeprefix("Value error, ")
