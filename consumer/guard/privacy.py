"""What the guard keeps of people, in what form and for how long: as the deployment says.

Letters are sealed unless they are known to be of a type without sensitive paths: whatever this
catalogue cannot name may hold what another release's does.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from consumer.guard.sealing import KeyRing
from consumer.model import Coordinates, Record

HASH_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a record can become a mail: after that its letter's bytes are wiped.

    Of a private mail type; where that is None, of the records of a topic that carries such types,
    whose own type is none of the catalogue's.
    """

    topic: str
    mail_type: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as its letter holds it. `sealed`: the key's id, and all of it is in `value`."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    sealed: str | None = None


@dataclass(frozen=True, slots=True)
class Privacy:
    """`plain_types`, `plain_topics`: without any sensitive path. Without keys nothing is sealed."""

    ring: KeyRing = field(default_factory=KeyRing)
    hash_key: bytes | None = field(default=None, repr=False)
    plain_types: frozenset[str] = frozenset()
    plain_topics: frozenset[str] = frozenset()
    lifetimes: Sequence[Lifetime] = ()
    blank_after: float | None = None  # seconds after a final outcome; None: recipients stay

    def keep(self, record: Record, mail_type: str | None) -> Kept:
        """Return what is written of a record, by the type that its letter names."""
        if not self._seals(record, mail_type):
            return Kept(record.key, record.value, record.headers)
        key_id, sealed = self.ring.seal(record, mail_type)
        return Kept(None, sealed, (), key_id)

    def _seals(self, record: Record, mail_type: str | None) -> bool:
        if self.ring.current is None or (record.key, record.value, record.headers) == EMPTY:
            return False
        return mail_type not in self.plain_types and record.topic not in self.plain_topics

    def record(self, values: Any, at: Coordinates, mail_type: str | None) -> Record:
        """Return the record of a letter of this type that was read. Raises `LockedError`."""
        if (key_id := values["sealed"]) is not None:
            return self.ring.open(key_id, values["record_value"], at, mail_type)
        names = [name.decode("utf-8", "surrogateescape") for name in values["header_names"]]
        return Record(
            at.topic, at.partition, at.offset, at.timestamp, values["record_key"],
            values["record_value"], tuple(zip(names, values["header_values"], strict=True)),
        )  # fmt: skip

    def hashed(self, address: str) -> bytes | None:
        """Return what stands for an address that is blanked, for whoever has the key."""
        if self.hash_key is None:
            return None
        text = b"sendonce: a recipient: " + address.lower().encode()
        return hmac.digest(self.hash_key, text, "sha256")[:HASH_BYTES]


EMPTY: Final = (None, None, ())
UNSEALED: Final = Privacy()  # where no record with anything in it is written
