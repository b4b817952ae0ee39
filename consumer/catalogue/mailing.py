"""An event to a mail: check, map, key, fingerprint. Pure; the record's own time is the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from consumer.catalogue.canonical import fingerprint
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.enclosing import attachments_of, unsubscribe_of
from consumer.catalogue.formats import known_locale, known_zone
from consumer.catalogue.instants import instant, milliseconds
from consumer.catalogue.keying import entity_of, key_of, material_of, recipient_of, rule_at
from consumer.catalogue.paths import MISSING, Path, Source
from consumer.catalogue.schema import Schema
from consumer.catalogue.unfit import UnfitError, demanded
from consumer.keys import fold
from consumer.model import Address, Bad, Event, Json, Mail, MailType, Reason, Record

AHEAD: Final = timedelta(minutes=5)  # what clocks of honest producers differ by, and no more
_LONGEST_VERSION: Final = 6  # digits; "999999" is a version, a longer number something else
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)  # before it: seconds for milliseconds, or zero


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that a folder decides, ready to be applied."""

    type: MailType
    declaration: Declaration
    schemas: Mapping[int, Schema]
    sender: Address
    reply_to: Address | None
    fingerprint_key: bytes | None


def mail_for(rules: Rules, record: Record, event: Event) -> Mail | Bad:
    """Say what mail the event becomes, or why none can."""
    try:
        return _mail(rules, record, event)
    except UnfitError as unfit:
        return Bad(unfit.reason, unfit.detail, rules.type.name, event.carried_key)


def _mail(rules: Rules, record: Record, event: Event) -> Mail:
    says, name = rules.declaration, rules.type.name
    _check(rules, event)
    occurred = _occurred(says, record, event)
    rule = rule_at(says, occurred)
    recipient, entity = recipient_of(rule, event), entity_of(rule, event)
    context = _context(says, event)
    locale, zone = _locale(says.locale, event), _zone(says.timezone, event)
    attachments = attachments_of(says, event) if says.attachments else ()
    unsubscribe = unsubscribe_of(says.unsubscribe, event)
    reaches: list[Json] = [context, fold(recipient), name, locale, zone]  # as the key takes it
    if attachments or unsubscribe:  # a mail that has neither keeps the fingerprint it always had
        reaches += [[one.sha256 for one in attachments], unsubscribe]
    return Mail(
        type=rules.type,
        key=event.carried_key or key_of(name, rule, entity, recipient),
        entity_id=":".join(map(str, entity)),
        recipient=recipient,
        fingerprint=fingerprint(reaches, rules.fingerprint_key),
        context=context,
        occurred_at=occurred,
        locale=locale,
        timezone=zone,
        active=says.active_from is None or occurred >= says.active_from,
        attachments=attachments,
        unsubscribe=unsubscribe,
    )


def _check(rules: Rules, event: Event) -> None:
    version = _version(rules.declaration, event)
    schema = rules.schemas.get(version) if type(version) is int else None
    if schema is None:
        known = ", ".join(map(str, sorted(rules.schemas)))
        raise UnfitError(Reason.UNKNOWN_VERSION, f"schema version is none of: {known}")
    if fault := schema.fault(event.data):
        raise UnfitError(Reason.INVALID, f"{fault} ({schema.file})")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_VERSION


def _version(says: Declaration, event: Event) -> Json:
    if says.schema_version is None:
        return event.schema_version
    found = says.schema_version.read(event)
    if isinstance(found, str) and _is_number(found):
        return int(found)
    return None if found is MISSING else found


def _context(says: Declaration, event: Event) -> dict[str, Json]:
    context: dict[str, Json] = {}
    for name, source in says.context.items():
        found = source.read(event)
        if found is MISSING:
            where = source.path.pointer if source.path else name
            raise UnfitError(Reason.INVALID, f"{where}: is absent")
        context[name] = found
    return context


def material(rules: Rules, mail: Mail, event: Event) -> str | None:
    """Return what this mail's key is the hash of; None: the record came with the key."""
    return material_of(rules.type.name, rule_at(rules.declaration, mail.occurred_at), event)


def _occurred(says: Declaration, record: Record, event: Event) -> datetime:
    stored = _stored(record)
    occurred = _declared_time(says.time, event) or event.time or stored
    if occurred < EARLIEST:
        raise UnfitError(Reason.BAD_TIME, "the event's time lies before the year 2000")
    if occurred > stored + AHEAD:
        raise UnfitError(
            Reason.BAD_TIME, "the event's time lies ahead of its record's by over 5 minutes"
        )
    return occurred


def _stored(record: Record) -> datetime:
    try:
        return milliseconds(record.timestamp)
    except OverflowError:  # a broker keeps whatever number the producer gave
        raise UnfitError(Reason.BAD_TIME, "the record's timestamp lies in no year") from None


def _declared_time(path: Path | None, event: Event) -> datetime | None:
    if path is None:
        return None
    moment = instant(demanded(path, event))
    if moment is None:
        raise UnfitError(
            Reason.INVALID,
            f"{path.pointer}: is neither an RFC 3339 time with offset nor milliseconds",
        )
    return moment


# A locale or zone that nobody knows costs the reader a comma for a point, not the mail: the
# default stands in, and every printed time names its zone.
def _locale(source: Source | None, event: Event) -> str | None:
    return _known(source, event, known_locale)


def _zone(source: Source | None, event: Event) -> str | None:
    return _known(source, event, known_zone)


def _known(source: Source | None, event: Event, look_up: Callable[[str], str | None]) -> str | None:
    for name in (source.read(event), source.default) if source else ():
        if isinstance(name, str) and (known := look_up(name)):
            return known
    return None
