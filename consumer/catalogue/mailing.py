"""An event to a mail: check, map, key, fingerprint. Pure; the record's own time is the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from consumer.catalogue.canonical import fingerprint
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.formats import known_locale, known_zone
from consumer.catalogue.instants import instant, milliseconds
from consumer.catalogue.paths import MISSING, Path, Source
from consumer.catalogue.schema import Schema
from consumer.keys import AddressError, KeyPartError, canonical_recipient, key_material, send_key
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


class _Unfit(Exception):  # noqa: N818 - not an error of ours: how one event ends, inside this file
    """No mail can come of the event."""

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail


def mail_for(rules: Rules, record: Record, event: Event) -> Mail | Bad:
    """Say what mail the event becomes, or why none can."""
    try:
        return _mail(rules, record, event)
    except _Unfit as unfit:
        return Bad(unfit.reason, unfit.detail, rules.type.name, event.carried_key)


def _mail(rules: Rules, record: Record, event: Event) -> Mail:
    says = rules.declaration
    _check(rules, event)
    recipient = _recipient(says.recipient, event)
    context = _context(says, event)
    locale, zone = _locale(says.locale, event), _zone(says.timezone, event)
    entity = _entity(says, event)
    occurred = _occurred(says, record, event)
    return Mail(
        type=rules.type,
        key=event.carried_key or _key(rules, entity, recipient),
        entity_id=":".join(map(str, entity)),
        recipient=recipient,
        fingerprint=fingerprint(
            [context, recipient, rules.type.name, locale, zone], rules.fingerprint_key
        ),
        context=context,
        occurred_at=occurred,
        locale=locale,
        timezone=zone,
        active=says.active_from is None or occurred >= says.active_from,
    )


def _check(rules: Rules, event: Event) -> None:
    version = _version(rules.declaration, event)
    schema = rules.schemas.get(version) if type(version) is int else None
    if schema is None:
        known = ", ".join(map(str, sorted(rules.schemas)))
        raise _Unfit(Reason.UNKNOWN_VERSION, f"schema version is none of: {known}")
    if fault := schema.fault(event.data):
        raise _Unfit(Reason.INVALID, f"{fault} ({schema.file})")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_VERSION


def _version(says: Declaration, event: Event) -> Json:
    if says.schema_version is None:
        return event.schema_version
    found = says.schema_version.read(event)
    if isinstance(found, str) and _is_number(found):
        return int(found)
    return None if found is MISSING else found


def _read(path: Path, event: Event) -> Json:
    found = path.read(event)
    if found is MISSING:
        raise _Unfit(Reason.INVALID, f"{path.pointer}: is absent")
    return found


def _context(says: Declaration, event: Event) -> dict[str, Json]:
    context: dict[str, Json] = {}
    for name, source in says.context.items():
        found = source.read(event)
        if found is MISSING:
            where = source.path.pointer if source.path else name
            raise _Unfit(Reason.INVALID, f"{where}: is absent")
        context[name] = found
    return context


def _recipient(path: Path, event: Event) -> str:
    try:
        return canonical_recipient(_read(path, event))
    except AddressError as error:
        raise _Unfit(Reason.INVALID, f"{path.pointer}: {error}") from None


def _entity(says: Declaration, event: Event) -> list[str | int]:
    if event.carried_id is not None:
        return [event.carried_id]
    return [_part(path, event) for path in says.entity_id]


def _part(path: Path, event: Event) -> str | int:
    found = _read(path, event)
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise _Unfit(Reason.INVALID, f"{path.pointer}: is neither a text nor an integer")
    return found


def material(rules: Rules, event: Event) -> str | None:
    """Return what the key of an event that became a mail is the hash of; None: it came with one."""
    if event.carried_key is not None:
        return None
    says = rules.declaration
    return key_material(
        rules.type.name,
        _entity(says, event),
        _recipient(says.recipient, event),
        says.version,
        case_sensitive_entity=says.case_sensitive_entity,
    )


def _key(rules: Rules, entity: list[str | int], recipient: str) -> str:
    says = rules.declaration
    try:
        return send_key(
            rules.type.name,
            entity,
            recipient,
            says.version,
            case_sensitive_entity=says.case_sensitive_entity,
        )
    except KeyPartError as error:
        raise _Unfit(Reason.INVALID, f"key: {error}") from None


def _occurred(says: Declaration, record: Record, event: Event) -> datetime:
    stored = _stored(record)
    occurred = _declared_time(says.time, event) or event.time or stored
    if occurred < EARLIEST:
        raise _Unfit(Reason.BAD_TIME, "the event's time lies before the year 2000")
    if occurred > stored + AHEAD:
        raise _Unfit(
            Reason.BAD_TIME, "the event's time lies ahead of its record's by over 5 minutes"
        )
    return occurred


def _stored(record: Record) -> datetime:
    try:
        return milliseconds(record.timestamp)
    except OverflowError:  # a broker keeps whatever number the producer gave
        raise _Unfit(Reason.BAD_TIME, "the record's timestamp lies in no year") from None


def _declared_time(path: Path | None, event: Event) -> datetime | None:
    if path is None:
        return None
    moment = instant(_read(path, event))
    if moment is None:
        raise _Unfit(
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
