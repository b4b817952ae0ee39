"""A folder before and after a change, as `check --against` sees them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from consumer.catalogue.against import dangers
from consumer.catalogue.errors import Problem

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AGAIN = "mailed again"
LOST = "would become dead letters"

_MAIL = """\
topic = "orders"
entity_id = "id"
recipient = "to"
max_age = "7d"
sender = "shop"
{more}
[context]
name = "name"
{context}
"""

# An attachment that a mail may go without.
FILE = """
[[attachments]]
name = "note.pdf"
content_type = "application/pdf"
url = "url"
sha256 = "digest"
max_size = "5MB"
hosts = ["a.example", "b.example"]
optional = true
"""

_MEMBERS: dict[str, Any] = {
    "id": {"type": ["string", "integer"]},
    "to": {"type": "string", "maxLength": 320},
    "name": {"type": "string", "maxLength": 200},
    "nick": {"type": ["string", "null"]},
    "place": {"enum": ["vienna", "graz"]},
    "other": {"type": "string"},
    "count": {"type": "integer", "maximum": 99},
    "items": {"type": "array", "maxItems": 20, "items": {"type": "object"}},
    "at": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
}
_RULES = ("required", "additionalProperties", "if", "then", "description")


def mail(more: str = "", context: str = "") -> str:
    """Return a mail.toml, with more members or a longer context."""
    return _MAIL.format(more=more, context=context)


def schema(**changes: Any) -> str:
    """Return a schema with other members, or other rules of the whole."""
    rules = {name: value for name, value in changes.items() if name in _RULES}
    members = {name: value for name, value in changes.items() if name not in _RULES}
    return json.dumps(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["id", "to", "name", "place", "other"],
            "properties": {**_MEMBERS, **members},
            **rules,
        }
    )


@dataclass(frozen=True)
class Change:
    """`after`: the new mail.toml; None: the folder has another name. `told`: in the reason."""

    after: str | None
    told: str = ""
    before: str = field(default_factory=mail)
    files: Mapping[str, str | None] = field(default_factory=dict)  # other changes; None: gone


def _files(name: str, declared: str, changes: Mapping[str, str | None]) -> dict[str, bytes]:
    files = {
        f"{name}/mail.toml": declared,
        f"{name}/v1.schema.json": schema(),
        f"{name}/subject.j2": "Hello {{ name }}",
        **changes,
    }
    return {path: content.encode() for path, content in files.items() if content is not None}


def dangers_of(change: Change) -> list[Problem]:
    old = _files("note", change.before, {})
    if change.after is None:
        return dangers(old, _files("letter", mail('on = "note"'), change.files), NOW)
    return dangers(old, _files("note", change.after, change.files), NOW)
