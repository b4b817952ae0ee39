"""Tables of `mail.toml` that have members of their own: key rules, attachments, unsubscribing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    model_validator,
)

from consumer.catalogue.paths import Path
from consumer.catalogue.values import (
    APath,
    ASource,
    OneOrMorePaths,
    Size,
    Text,
    Version,
    parse_mailbox,
    unique,
)

_HOST = r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$"
_CONTENT_TYPE = r"^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$"
_FILE_NAME = r"^[^\x00-\x1f\x7f/\\\"<>:|?*]{1,100}$"


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


@dataclass(frozen=True, slots=True)
class KeyRule:
    """What the key of an event is made of, from an instant on (None: since ever)."""

    since: datetime | None
    entity_id: tuple[Path, ...]
    recipient: Path
    version: str
    case_sensitive_entity: bool


class KeyBlock(_Block):
    """`[[key]]`: how events from `since` on make their key. What is left out stays as it was."""

    since: AwareDatetime
    entity_id: OneOrMorePaths | None = None
    recipient: APath | None = None
    version: Version | None = None
    case_sensitive_entity: StrictBool | None = None

    @model_validator(mode="after")
    def _changes(self) -> Self:
        if self.model_fields_set <= {"since"}:
            raise ValueError("says nothing beside since: name what changes")
        return self

    def after(self, before: KeyRule) -> KeyRule:
        """Return the rule from here on."""
        fold = self.case_sensitive_entity
        return KeyRule(
            self.since,
            self.entity_id or before.entity_id,
            self.recipient or before.recipient,
            self.version or before.version,
            before.case_sensitive_entity if fold is None else fold,
        )


class AttachmentRule(_Block):
    """`[[attachments]]`: a file that is fetched before the mail goes out. `max_size` in bytes.

    `optional`: a mail whose event has no `url` (absent or null) goes without it.
    """

    name: Annotated[str, Field(pattern=_FILE_NAME)]
    content_type: Annotated[str, Field(pattern=_CONTENT_TYPE)]
    url: APath
    sha256: APath
    max_size: Size
    hosts: Annotated[list[Annotated[str, Field(pattern=_HOST)]], AfterValidator(unique)] = Field(
        min_length=1
    )
    optional: StrictBool = False

    def paths(self) -> tuple[tuple[tuple[str], Path], ...]:
        """Return the paths, each with the member that names it."""
        return ((("url",), self.url), (("sha256",), self.sha256))


def _mailbox(text: str) -> str:
    return parse_mailbox(text).email


class Unsubscribe(_Block):
    """`[unsubscribe]`: how to leave the list. `one_click`: `url` takes a POST (RFC 8058)."""

    url: ASource | None = None
    mailto: Annotated[Text, AfterValidator(_mailbox)] | None = None
    one_click: StrictBool = False

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.url is None and self.mailto is None:
            raise ValueError("name url, mailto, or both")
        if self.one_click and self.url is None:
            raise ValueError("one_click needs a url")
        return self
