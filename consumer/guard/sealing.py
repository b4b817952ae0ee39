"""Records that no database may read: encrypted before they are written, opened with the key.

    record_value = format, nonce, AES-256-GCM(key, value and headers)      sealed = the key's id
    authenticated beside it: coordinates and mail type, so no letter's bytes pass for another's

Nonces are random, 96 bits: a key may seal four thousand million letters (NIST SP 800-38D, 8.3).
"""

from __future__ import annotations

import hmac
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from consumer.model import Coordinates, Record

FORMAT: Final = b"\x01"
NONCE_BYTES: Final = 12
_LENGTH: Final = struct.Struct(">I")
_NULL: Final = 0xFFFFFFFF  # the length of what is null


class LockedError(Exception):
    """These bytes cannot be opened here; nothing is lost. The text names the key's id."""


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Keys of 32 bytes by id. New letters are sealed under `current`; None: nothing is sealed."""

    keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    current: str | None = None

    def seal(self, record: Record, mail_type: str | None) -> tuple[str, bytes]:
        """Return the key's id, and the record's key, value and headers as one ciphertext."""
        assert self.current is not None, "asked of a ring that seals"
        nonce = secrets.token_bytes(NONCE_BYTES)
        beside = _beside(record.coordinates, mail_type)
        sealed = AESGCM(self.keys[self.current]).encrypt(nonce, _packed(record), beside)
        return self.current, FORMAT + nonce + sealed

    def open(self, key_id: str, sealed: bytes, at: Coordinates, mail_type: str | None) -> Record:
        """Return the record as it was. Raises `LockedError`."""
        key = self.keys.get(key_id)
        if key is None:
            raise LockedError(
                f"sealed under the key {key_id}, which is not in privacy.keys: put it back"
            )
        try:
            return _unpacked(_decrypted(key, sealed, _beside(at, mail_type)), at)
        except ValueError:
            raise LockedError(
                f"cannot be opened with the key {key_id}: that id once named another key, or its"
                " bytes were changed"
            ) from None


def derived(secret: bytes) -> bytes:
    """Return the key that stands in where no ring is configured: made of guard.fingerprint_key."""
    return hmac.digest(secret, b"sendonce: the key of dead letters", "sha256")


def _decrypted(key: bytes, sealed: bytes, beside: bytes) -> bytes:
    if not sealed.startswith(FORMAT):
        raise ValueError("another format")
    nonce, text = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    try:
        return AESGCM(key).decrypt(nonce, text, beside)
    except InvalidTag as error:
        raise ValueError("not its key, or not its bytes") from error


def _beside(at: Coordinates, mail_type: str | None) -> bytes:
    return orjson.dumps([at.topic, at.partition, at.offset, at.timestamp, mail_type])


# ── One text of many: each part behind its length


def _packed(record: Record) -> bytes:
    parts = [record.key, record.value]
    for name, value in record.headers:
        parts += [name.encode("utf-8", "surrogateescape"), value]
    return b"".join(map(_behind_its_length, parts))


def _behind_its_length(part: bytes | None) -> bytes:
    return _LENGTH.pack(_NULL) if part is None else _LENGTH.pack(len(part)) + part


def _unpacked(text: bytes, at: Coordinates) -> Record:
    parts: list[bytes | None] = []
    place = 0
    while place < len(text):
        (length,) = _LENGTH.unpack_from(text, place)
        place += _LENGTH.size
        parts.append(None if length == _NULL else text[place : place + length])
        place += 0 if length == _NULL else length
    key, value, *headers = parts
    names = [(name or b"").decode("utf-8", "surrogateescape") for name in headers[::2]]
    return Record(
        at.topic, at.partition, at.offset, at.timestamp, key, value,
        tuple(zip(names, headers[1::2], strict=True)),
    )  # fmt: skip
