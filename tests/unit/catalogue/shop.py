"""A catalogue of one small folder, written to disk with whatever a test changes in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from consumer.catalogue import Catalogue, CatalogueError, TopicRule, load
from consumer.events import decode
from consumer.model import Address, Bad, Event, Json, Mail, Message, Record

SENDERS = {"shop": Address("hello@shop.example", "Shop")}
DAY = 86_400.0
KEY = b"0123456789abcdef0123456789abcdef"
ROOT = Path(__file__).parents[3]

MAIL = """\
topic = "orders"
entity_id = "id"
recipient = "to"
max_age = "7d"
sender = "shop"

[context]
name = "name"
"""

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["id", "to", "name"],
    "properties": {
        "id": {"type": ["string", "integer"]},
        "to": {"type": "string"},
        "name": {"type": "string"},
        "nick": {"type": ["string", "null"]},
        "at": {},
        "extra": {},
        "place": {"type": ["string", "integer"]},
    },
}

EXAMPLE: dict[str, Json] = {"type": "note", "id": "N1", "to": "ada@example.com", "name": "Ada"}

FILES: dict[str, str] = {
    "note/mail.toml": MAIL,
    "note/v1.schema.json": json.dumps(SCHEMA),
    "note/subject.j2": "Hello {{ name }}\n",
    "note/body.txt.j2": "Dear {{ name }}\n",
    "note/body.html.j2": "<p>Dear {{ name }}</p>\n",
    "note/examples/one.json": json.dumps(EXAMPLE),
}


def write(root: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    """Write the folder; None leaves a file out."""
    for name, content in {**FILES, **(changes or {})}.items():
        if content is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
    return root


def with_mail(text: str) -> dict[str, str | None]:
    return {"note/mail.toml": text}


_OPENED: dict[object, Catalogue] = {}


def open_shop(
    root: Path,
    changes: Mapping[str, str | None] | None = None,
    *,
    topics: Mapping[str, TopicRule] | None = None,
    fingerprint_key: bytes | None = KEY,
    retention: float = 30 * DAY,
) -> Catalogue:
    """Write and load; a catalogue that was loaded before is the same: it is pure.

    But not where something else lies in the folder already.
    """
    alone = not root.exists() or not any(root.iterdir())
    asked = repr((sorted((changes or {}).items()), topics, fingerprint_key, retention))
    if alone and asked in _OPENED:
        return _OPENED[asked]
    opened = load(
        write(root, changes),
        senders=SENDERS,
        providers=["postmark", "file"],
        retention=retention,
        fingerprint_key=fingerprint_key,
        decode=decode,
        topics=topics,
    )
    return _OPENED.setdefault(asked, opened) if alone else opened


def mistakes(root: Path, changes: dict[str, str | None], **options: Any) -> list[str]:
    with pytest.raises(CatalogueError) as caught:
        open_shop(root, changes, **options)
    return [str(problem) for problem in caught.value.problems]


@cache
def real_catalogue() -> Catalogue:
    """Load the folders that the repository ships."""
    return load(
        ROOT / "schemas",
        senders=SENDERS,
        providers=["postmark"],
        retention=30 * DAY,
        fingerprint_key=KEY,
        decode=decode,
    )


NOW = 1_772_366_400_000  # 2026-03-01T12:00:00Z


def record(topic: str = "orders", *, timestamp: int = NOW, value: bytes = b"{}") -> Record:
    return Record(topic, 0, 7, timestamp, None, value)


LEFT_OUT: Any = object()


def note(*, attributes: Mapping[str, str] | None = None, **changes: Json) -> Event:
    """Make an event of the small folder, with other members; `LEFT_OUT` leaves one out."""
    data = {k: v for k, v in {**EXAMPLE, **changes}.items() if v is not LEFT_OUT}
    return Event("note", data, attributes or {})


def mail_of(catalogue: Catalogue, event: Event) -> Mail:
    mail = catalogue.read(record(), event)
    assert isinstance(mail, Mail), mail
    return mail


def bad_of(catalogue: Catalogue, event: Event) -> Bad:
    bad = catalogue.read(record(), event)
    assert isinstance(bad, Bad), bad
    return bad


def message_of(catalogue: Catalogue, event: Event) -> Message:
    message = catalogue.render(mail_of(catalogue, event))
    assert isinstance(message, Message), message
    return message


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
