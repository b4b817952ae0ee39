"""The key of a mail that another sender sent, from what its list says of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from consumer.catalogue.keying import rule_at
from consumer.catalogue.mailing import Rules
from consumer.keys import KeyPartError, send_key


def listed_key(
    rules: Rules, entity: Sequence[str | int], recipient: str, occurred: datetime
) -> str:
    """Return the key that the mail's event has here: by the key rule of its own time.

    `entity`: its parts in the order of the type's `entity_id`. Raises `KeyPartError`.
    """
    rule = rule_at(rules.declaration, occurred)
    if len(entity) != len(rule.entity_id):
        wanted = len(rule.entity_id)
        raise KeyPartError("entity", f"has {len(entity)} parts, the type's key has {wanted}")
    fold = rule.case_sensitive_entity
    parts = entity[0] if len(entity) == 1 else entity  # the same key, and a plainer refusal
    return send_key(rules.type.name, parts, recipient, rule.version, case_sensitive_entity=fold)
