"""The key of an event's mail, by the rule that held when the event happened.

A change of key rules is a new `[[key]]` block with an instant. An event that is older makes its key
as it did when it was new, so workers of two releases, redeliveries and replays agree on it.
"""

from __future__ import annotations

from datetime import datetime

from consumer.catalogue.blocks import KeyRule
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.paths import Path
from consumer.catalogue.unfit import UnfitError, demanded
from consumer.keys import AddressError, KeyPartError, canonical_recipient, key_material, send_key
from consumer.model import Event, Reason


def rule_at(says: Declaration, occurred: datetime) -> KeyRule:
    """Return the newest rule that is not newer than the event."""
    for rule in reversed(says.key_rules):
        if rule.since is None or rule.since <= occurred:
            return rule
    raise AssertionError("the first rule holds since ever")


def recipient_of(rule: KeyRule, event: Event) -> str:
    try:
        return canonical_recipient(demanded(rule.recipient, event))
    except AddressError as error:
        raise UnfitError(Reason.INVALID, f"{rule.recipient.pointer}: {error}") from None


def entity_of(rule: KeyRule, event: Event) -> list[str | int]:
    if event.carried_id is not None:
        return [event.carried_id]
    return [_part(path, event) for path in rule.entity_id]


def key_of(name: str, rule: KeyRule, entity: list[str | int], recipient: str) -> str:
    """Return the key of a mail of the type `name`."""
    fold = rule.case_sensitive_entity
    try:
        return send_key(name, entity, recipient, rule.version, case_sensitive_entity=fold)
    except KeyPartError as error:
        raise UnfitError(Reason.INVALID, f"key: {error}") from None


def material_of(name: str, rule: KeyRule, event: Event) -> str | None:
    """Return what the key of an event that became a mail is the hash of; None: it came with one."""
    if event.carried_key is not None:
        return None
    entity, recipient = entity_of(rule, event), recipient_of(rule, event)
    fold = rule.case_sensitive_entity
    return key_material(name, entity, recipient, rule.version, case_sensitive_entity=fold)


def _part(path: Path, event: Event) -> str | int:
    found = demanded(path, event)
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise UnfitError(Reason.INVALID, f"{path.pointer}: is neither a text nor an integer")
    return found
