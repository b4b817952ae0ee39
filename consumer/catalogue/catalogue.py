"""The catalogue as the rest of the service sees it: events in, mails and messages out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from consumer.model import Bad, Event, Mail, MailType, Message, Record, Skipped


@dataclass(frozen=True, slots=True)
class TopicRule:
    """`[topics."x"]`: event types of a topic that are passed over instead of dead-lettered."""

    ignore: frozenset[str] = frozenset()
    only_listed: bool = False  # pass over whatever no folder listens to


@dataclass(frozen=True, slots=True)
class Example:
    """A file of a folder's `examples/`: the value of a record as a producer would publish it."""

    name: str  # the file's name without ".json"
    mail_type: str
    topic: str
    value: bytes


class Catalogue:
    """All mail types of a deployment. Pure: no clock, no random, no environment."""

    @property
    def topics(self) -> frozenset[str]:
        """Every topic that a folder listens to."""
        raise NotImplementedError

    @property
    def high_topics(self) -> frozenset[str]:
        """Topics with a mail type of priority `high`."""
        raise NotImplementedError

    @property
    def types(self) -> Mapping[str, MailType]:
        """Mail types by the name of their folder."""
        raise NotImplementedError

    @property
    def examples(self) -> tuple[Example, ...]:
        """The folders' examples, sorted by mail type and name; each maps and renders."""
        raise NotImplementedError

    def read(self, record: Record, event: Event) -> Mail | Skipped | Bad:
        """Say what mail an event becomes."""
        raise NotImplementedError

    def render(self, mail: Mail) -> Message | Bad:
        """Fill the templates. The same mail gives the same message, byte for byte."""
        raise NotImplementedError
