"""The idempotency key: what makes two events the same mail."""

from __future__ import annotations

import hashlib

KEY_LENGTH = 48  # hex characters kept of the SHA-256; 192 bits


def send_key(
    mail_type: str,
    entity_id: str | int,
    recipient: str,
    version: str = "v1",
    *,
    case_sensitive_entity: bool = False,
) -> str:
    """Return the 48 hex characters that stand for one mail, for ever."""
    material = key_material(
        mail_type, entity_id, recipient, version, case_sensitive_entity=case_sensitive_entity
    )
    return hashlib.sha256(material.encode()).hexdigest()[:KEY_LENGTH]


def key_material(
    mail_type: str,
    entity_id: str | int,
    recipient: str,
    version: str = "v1",
    *,
    case_sensitive_entity: bool = False,
) -> str:
    raise NotImplementedError
