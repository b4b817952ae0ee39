"""Mails, records and claims as short as a test wants them."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from datetime import UTC, datetime
from typing import Any

from consumer.model import Claim, Granted, Mail, MailType, Record, Row

_OFFSETS = itertools.count(1)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def key_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:48]


def mail(name: str = "one", *, fingerprint: str = "f1", digest: str = "d1") -> Mail:
    kind = MailType("order.receipt", "orders", ("file",), "shop", 3600.0, digest=digest)
    return Mail(kind, key_of(name), name, "ada@example.org", fingerprint, {}, _NOW)


def record(offset: int | None = None, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "topic": "orders", "partition": 0, "timestamp": 1_700_000_000_000,
        "key": b"k", "value": b'{"a":1}', "headers": (("type", b"order.receipt"), ("x", None)),
    }  # fmt: skip
    return Record(offset=next(_OFFSETS) if offset is None else offset, **{**values, **changes})


def claim(
    name: str = "one",
    at: Record | None = None,
    *,
    takes: Row | None = None,
    fingerprint: str = "f1",
    token: str | None = None,
    provider: str = "file",
    **more: bool,
) -> Claim:
    return Claim(
        mail(name, fingerprint=fingerprint), at or record(), token or secrets.token_hex(8),
        provider, "account", b"h" * 32, takes, **more,
    )  # fmt: skip


def granted(result: object) -> Granted:
    assert isinstance(result, Granted), result
    return result
