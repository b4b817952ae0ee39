"""The catalogue as the rest of the service sees it: events in, mails and messages out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from consumer.catalogue.checks import House
from consumer.catalogue.former import Former, former
from consumer.catalogue.mailing import Rules, mail_for, material
from consumer.catalogue.press import Press
from consumer.model import (
    Bad,
    Edition,
    Event,
    Mail,
    MailType,
    Message,
    Priority,
    Reason,
    Record,
    Skipped,
    SkipRule,
)

_LONGEST: Final = 100  # characters of an event type, where a person reads it


def _cut(event_type: str) -> str:
    shown = event_type if len(event_type) <= _LONGEST else event_type[: _LONGEST - 1] + "…"
    return repr(shown)  # an event type is whatever a producer wrote: control characters escaped


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
    """All mail types of a deployment. Pure: no clock, no random, no environment.

    types        mail types by the name of their folder
    topics       every topic that a folder listens to
    events       every event type that a folder listens to, on whatever topic
    high_topics  those with a mail type of priority `high`
    examples     the folders' examples, by mail type and name; each maps and renders
    editions     the folders as they are, to be kept: see `former`
    """

    def __init__(
        self,
        rules: Mapping[tuple[str, str], Rules],
        press: Press,
        topic_rules: Mapping[str, TopicRule],
        examples: tuple[Example, ...],
        editions: tuple[Edition, ...],
        house: House,
    ) -> None:
        self._by_event = dict(rules)  # (topic, event type) -> rules
        self._by_name = {one.type.name: one for one in rules.values()}
        self._press = press
        self._topic_rules = dict(topic_rules)
        types = [one.type for one in rules.values()]
        self.types: Final[Mapping[str, MailType]] = {one.name: one for one in types}
        self.topics: Final = frozenset(one.topic for one in types)
        self.events: Final = frozenset(event for _, event in rules)
        self.high_topics: Final = frozenset(t.topic for t in types if t.priority is Priority.HIGH)
        self.examples: Final = examples
        self.editions: Final = editions
        self._basis = {one.digest: one.fingerprints for one in editions}
        self._house = house

    def read(self, record: Record, event: Event) -> Mail | Skipped | Bad:
        """Say what mail an event becomes."""
        rules = self._by_event.get((record.topic, event.type))
        if rules is not None:
            return mail_for(rules, record, event)
        if self._passed_over(record.topic, event.type):
            return Skipped(SkipRule.IGNORED, event.type)
        return Bad(
            Reason.UNKNOWN_TYPE,
            f"no folder of the catalogue listens to {_cut(event.type)} on topic {record.topic}",
            event.type,
            event.carried_key,
        )

    def rules(self, mail_type: str) -> Rules:
        """Return all that a folder decides, for whoever explains it. KeyError: no such folder."""
        return self._by_name[mail_type]

    def key_material(self, mail: Mail, event: Event) -> str | None:
        """Return the text that this mail's key is the hash of; None where the record carried it."""
        return material(self._by_name[mail.type.name], mail, event)

    def render(self, mail: Mail) -> Message | Bad:
        """Fill the templates. The same mail gives the same message, byte for byte."""
        return self._press.render(self._by_name[mail.type.name], mail)

    def former(self, edition: Edition) -> Former | None:
        """Return the maker of a former edition's mails; None: it cannot be read here."""
        return former(edition, self._house, self.types)

    def basis(self, digest: str) -> str | None:
        """Return what the fingerprints of today's edition depend on; None: it is not today's."""
        return self._basis.get(digest)

    def languages(self, mail_type: str) -> tuple[str, ...]:
        """Return the locales that the folder has variants for, beside its own language."""
        return self._press.languages(mail_type)

    def _passed_over(self, topic: str, event_type: str) -> bool:
        rule = self._topic_rules.get(topic)
        return rule is not None and (rule.only_listed or event_type in rule.ignore)
