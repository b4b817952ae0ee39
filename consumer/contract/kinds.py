"""A mail type as upstream meets it: what to publish, what makes two events one mail, how long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from consumer.events import decode
from consumer.model import Event, Mail, Message, Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consumer.catalogue import Catalogue
    from consumer.catalogue.catalogue import Example
    from consumer.catalogue.mailing import Rules
    from consumer.catalogue.paths import Path

# Examples are published in no particular year: their records are stored in one that is later.
_STORED: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True)
class Sample:
    """An example of a folder, as the service reads it, and the mail that comes of it."""

    name: str
    value: bytes
    version: int  # of the schema
    event: Event
    mail: Mail
    message: Message

    @property
    def enveloped(self) -> bool:
        """Tell whether it is a CloudEvent; else it is plain JSON."""
        return bool(self.event.attributes)


@dataclass(frozen=True, slots=True)
class Kind:
    """One mail type. `event`: the event type that it answers on its topic."""

    rules: Rules
    samples: tuple[Sample, ...]

    @property
    def name(self) -> str:
        return self.rules.type.name

    @property
    def topic(self) -> str:
        return self.rules.type.topic

    @property
    def event(self) -> str:
        return self.rules.declaration.on or self.name

    @property
    def versions(self) -> list[int]:
        return sorted(self.rules.schemas)

    @property
    def summary(self) -> str:
        """What the newest schema says of itself."""
        newest = self.rules.schemas[self.versions[-1]].document
        return str(newest.get("description") or newest.get("title") or f"Becomes {self.name}.")

    @property
    def entity(self) -> list[str]:
        """The paths that stand for what the mail is about, as new events have them."""
        return [path.text for path in self.rules.declaration.key_rules[-1].entity_id]

    @property
    def recipient(self) -> str:
        return self.rules.declaration.key_rules[-1].recipient.text

    @property
    def waits(self) -> str:
        return lasting(self.rules.type.max_age)

    def is_plain(self, version: int) -> bool:
        """Tell whether plain JSON can be an event of this version: it has no envelope to read."""
        says = self.rules.declaration
        named = says.schema_version is not None or version == 1
        return named and not self.attributes

    @property
    def attributes(self) -> list[str]:
        """The attributes of the envelope that must be there."""
        return sorted({str(p.steps[0]) for p in _needed(self) if p.envelope})

    def closed(self, version: int) -> bool:
        """Tell whether the schema forbids a member `type`: then a header names the type."""
        shape = self.rules.schemas[version].document
        members = shape.get("properties")
        listed = isinstance(members, dict) and "type" in members
        words = ("additionalProperties", "unevaluatedProperties")
        return not listed and any(shape.get(word) is False for word in words)


def _needed(kind: Kind) -> Iterable[Path]:
    return (path for _, path in kind.rules.declaration.paths())


def kinds(catalogue: Catalogue) -> list[Kind]:
    """Return every mail type of a catalogue, by name; of the examples, the plain one first."""
    return [
        Kind(catalogue.rules(name), tuple(sorted(_samples(catalogue, name), key=_order)))
        for name in sorted(catalogue.types)
    ]


def _order(sample: Sample) -> tuple[bool, str]:
    return sample.name != "plain", sample.name


def _samples(catalogue: Catalogue, name: str) -> Iterable[Sample]:
    for example in catalogue.examples:
        if example.mail_type == name:
            yield _sample(catalogue, example)


def _sample(catalogue: Catalogue, example: Example) -> Sample:
    """Read an example; a catalogue whose examples make no mails was refused when it was loaded."""
    record = Record(example.topic, 0, 0, _STORED, None, example.value)
    event = decode(record)
    assert isinstance(event, Event), example.name
    mail = catalogue.read(record, event)
    assert isinstance(mail, Mail), example.name
    message = catalogue.render(mail)
    assert isinstance(message, Message), example.name
    version = _version(catalogue.rules(example.mail_type), event)
    return Sample(example.name, example.value, version, event, mail, message)


def _version(rules: Rules, event: Event) -> int:
    path = rules.declaration.schema_version
    return event.schema_version if path is None else int(str(path.read(event)))


def lasting(seconds: float) -> str:
    """Say how long that is: "7 days", "90 minutes"."""
    for size, word in _UNITS:
        if seconds >= size and seconds % size == 0:
            count = int(seconds / size)
            return f"{count} {word}" if count == 1 else f"{count} {word}s"
    return f"{seconds:g} seconds"
