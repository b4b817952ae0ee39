"""What comes in: records, events, and the two ways in which no mail comes of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where a record sits. The timestamp tells a topic from a later one of the same name."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # milliseconds since the epoch, as Kafka stores it


@dataclass(frozen=True, slots=True)
class Record:
    """What Kafka handed over. Key, value and headers are opaque bytes until `events` reads them."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # milliseconds since the epoch
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def coordinates(self) -> Coordinates:
        return Coordinates(self.topic, self.partition, self.offset, self.timestamp)


@dataclass(frozen=True, slots=True)
class Schema:
    """What a schema registry holds under an id, which never changes.

    `references`: the texts of what the schema refers to, each after those that it refers to itself.
    """

    kind: str  # "AVRO", "JSON" or "PROTOBUF"
    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoSchema:
    """The registry answered that it holds none under the id."""


@dataclass(frozen=True, slots=True)
class NeedsSchema:
    """The record can be read once this schema of the registry is known: ask, and decode again."""

    id: int


@dataclass(frozen=True, slots=True)
class Event:
    """A decoded record. `attributes` are the envelope's own: CloudEvents id, source, subject."""

    type: str
    data: Mapping[str, Json]
    attributes: Mapping[str, str] = field(default_factory=dict)
    time: datetime | None = None  # the envelope's; aware
    schema_version: int = 1  # from CloudEvents `dataschema`
    carried_key: str | None = None  # header `sendonce-key`: taken verbatim as the key
    carried_id: str | None = None  # header `idempotency-key`: stands in the place of entity_id


class Reason(StrEnum):
    """Why a dead letter exists: the closed set of the contract."""

    MALFORMED = "malformed"
    UNSUPPORTED_FORMAT = "unsupported_format"
    UNKNOWN_TYPE = "unknown_type"
    UNKNOWN_VERSION = "unknown_version"
    INVALID = "invalid"
    BAD_TIME = "bad_time"
    CONFLICT = "conflict"
    KEY_DRIFT = "key_drift"
    REJECTED = "rejected"
    EXHAUSTED = "exhausted"
    UNKNOWN = "unknown"
    FUSED = "fused"
    ORPHANED = "orphaned"


class SkipRule(StrEnum):
    """The written rules by which a record makes no mail (promise 5)."""

    TOMBSTONE = "tombstone"
    TOO_OLD = "too_old"
    FORGOTTEN = "forgotten"  # a replay of what is as old as what the guard forgets
    BEFORE_ACTIVE_FROM = "before_active_from"
    IGNORED = "ignored"
    NOT_ALLOWED = "not_allowed"


@dataclass(frozen=True, slots=True)
class Bad:
    """No mail can come of this record. `detail` says what and where, and holds no value from it."""

    reason: Reason
    detail: str
    event_type: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A written rule says that no mail comes of this record."""

    rule: SkipRule
    event_type: str | None = None
