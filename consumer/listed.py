"""A line of another sender's list, and the mail of the past that it tells of. Pure.

    mail_type, entity, recipient, time, provider_id, provider

`entity` is one part or a list of them, in the order of the type's `entity_id`. `time` is the
event's own, by which the key rule is chosen; where a type has one rule, the time of sending does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from consumer.catalogue.instants import instant
from consumer.catalogue.listing import listed_key
from consumer.catalogue.mailing import AHEAD, EARLIEST
from consumer.guard.imports import Past
from consumer.keys import AddressError, KeyPartError, canonical_recipient

if TYPE_CHECKING:
    from consumer.catalogue import Catalogue

NEEDED: Final = ("mail_type", "entity", "recipient", "time", "provider_id")
MEMBERS: Final = (*NEEDED, "provider")
SOMEBODY: Final = "imported"  # the provider of a line that names none

_DIGITS: Final = re.compile(r"\d{1,15}")
_SQL_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\S+)")  # as databases print it
_SHORT_OFFSET: Final = re.compile(r"[+-]\d\d$")
_LONGEST: Final = 255  # characters of an id or a name


class UnusableError(Exception):
    """No row can be made of this line. The text names the member and holds no value."""


@dataclass(frozen=True, slots=True)
class PastReader:
    """How lines are read. `now`: aware; nothing of the past lies ahead of it."""

    catalogue: Catalogue
    now: datetime

    def past(self, members: Mapping[str, object]) -> Past:
        """Return the mail that a line tells of. Raises `UnusableError`."""
        mail_type = _text(members, "mail_type")
        recipient = _recipient(members.get("recipient"))
        at = self._time(members.get("time"))
        return Past(
            self._key(mail_type, members.get("entity"), recipient, at),
            mail_type,
            recipient,
            _text(members, "provider") if members.get("provider") else SOMEBODY,
            _text(members, "provider_id"),
            at,
        )

    def is_pointless(self, past: Past, retention: float) -> bool:
        """Tell whether its event is too old to become a mail, whatever the guard remembers."""
        return past.sent_at < self.now - timedelta(seconds=retention)

    def _key(self, mail_type: str, entity: object, recipient: str, at: datetime) -> str:
        if mail_type not in self.catalogue.types:
            raise UnusableError("mail_type: the catalogue has no folder of this name")
        parts: list[Any] = entity if isinstance(entity, list) else [entity]
        try:
            return listed_key(self.catalogue.rules(mail_type), parts, recipient, at)
        except KeyPartError as error:
            raise UnusableError(str(error).replace("entity_id", "entity", 1)) from None

    def _time(self, value: object) -> datetime:
        at = _instant(value)
        if at < EARLIEST:
            raise UnusableError("time: lies before the year 2000 (integers are milliseconds)")
        if at > self.now + AHEAD:
            raise UnusableError("time: lies in the future")
        return at


def _instant(value: object) -> datetime:
    if isinstance(value, str):
        value = int(value) if _DIGITS.fullmatch(value) else _as_rfc3339(value)
    at = instant(value) if isinstance(value, str | int) else None
    if at is None:
        raise UnusableError("time: is neither a time with offset nor milliseconds since 1970")
    return at


def _as_rfc3339(text: str) -> str:
    text = _SQL_TIME.sub(r"\1T\2", text)
    return f"{text}:00" if _SHORT_OFFSET.search(text) else text


def _recipient(value: object) -> str:
    try:
        return canonical_recipient(value)
    except AddressError as error:
        raise UnusableError(f"recipient: {error}") from None


def _text(members: Mapping[str, object], name: str) -> str:
    value = members.get(name)
    if value is None or value == "":
        raise UnusableError(f"{name}: is missing")
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or len(text) > _LONGEST or not text.isprintable():
        raise UnusableError(f"{name}: is no plain text of at most {_LONGEST} characters")
    return text
