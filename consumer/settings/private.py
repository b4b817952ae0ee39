"""[privacy]: under which keys dead letters are sealed, and how long addresses stay."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field, SecretStr

from consumer.settings.values import Duration, Secret, Section, Text

_KEY_BYTES: Final = 32
_HOW: Final = "must be 32 random bytes in Base64: openssl rand -base64 32"


def _key(value: SecretStr) -> SecretStr:
    decoded(value)
    return value


def decoded(value: SecretStr) -> bytes:
    """Return the key's bytes. Raises `ValueError`, which quotes nothing."""
    try:
        key = base64.b64decode(value.get_secret_value().strip(), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(_HOW) from None
    if len(key) != _KEY_BYTES:
        raise ValueError(_HOW)
    return key


KeyId: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,40}$")]  # as variables spell it
SealingKey: TypeAlias = Annotated[Secret, AfterValidator(_key)]


class Privacy(Section):
    """`keys`: by id; `current` seals what is new, the others open what is old.

    Without keys, one that is made of guard.fingerprint_key stands in. `blank_recipients_after`:
    after a final outcome; None: an address stays as long as its row.
    """

    keys: Mapping[KeyId, SealingKey] = {}
    current: Text | None = None
    blank_recipients_after: Duration | None = None
