"""The record headers that mean something to us; all others are opaque and never looked into.

Names are compared without case. A header that stands twice must say the same both times. A null
value is an absent header, except in the two that carry a key: losing one would be a second mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from consumer.keys import is_key
from consumer.model import Bad, Reason

KEY: Final = "sendonce-key"
ID: Final = "idempotency-key"
CLOUD: Final = "ce_"

_OURS = frozenset({"type", "content-type", KEY, ID})
_OUTBOX = frozenset({"id", "eventtype"})  # Debezium's; many others call theirs `id` too
_SCHEMA = "__value_schema_id"
_CARRIERS = frozenset({KEY, ID})
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHOWN = re.compile(r"[a-z0-9_-]{1,40}")
_MAX_TYPE = 255

_Beside: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Headers:
    type: str | None = None
    media_type: str | None = None  # of content-type (or ce_datacontenttype): lower case, bare
    key: str | None = None
    id: str | None = None
    cloud: Mapping[str, str] = field(default_factory=dict)  # `ce_*`, without the prefix
    outbox_id: str | None = None  # `id`, as Debezium's outbox event router sets it
    outbox_types: tuple[str, ...] = ()  # `eventType`, as its documentation places it
    names_schema: bool = False  # Confluent's serializers may put the schema's id here

    @property
    def says_structured(self) -> bool:
        return (self.media_type or "").startswith("application/cloudevents")


_NO_HEADERS = Headers()


def read_headers(headers: Iterable[tuple[str, bytes | None]]) -> Headers | Bad:
    if not headers:
        return _NO_HEADERS
    collected = _collect(headers)
    if isinstance(collected, Bad):
        return collected
    beside = _beside(headers)
    if not collected and not beside:
        return _NO_HEADERS
    texts = _texts(collected)
    return texts if isinstance(texts, Bad) else _checked(texts, beside)


def type_problem(event_type: str) -> str | None:
    """Say why this is no name of an event type; it becomes a label, a log word, a column."""
    if not event_type or event_type != event_type.strip():
        return "is empty or has white space around it"
    if len(event_type) > _MAX_TYPE:
        return f"is longer than {_MAX_TYPE} characters"
    return None if event_type.isprintable() else "holds a character that cannot be printed"


def _collect(headers: Iterable[tuple[str, bytes | None]]) -> dict[str, bytes | None] | Bad:
    collected: dict[str, bytes | None] = {}
    for name, value in headers:
        lower = name.lower()
        if (lower in _OURS or lower.startswith(CLOUD)) and (
            collected.setdefault(lower, value) != value
        ):
            return _bad(lower, "stands twice and differs")
    return collected


def _beside(headers: Iterable[tuple[str, bytes | None]]) -> _Beside:
    """Collect what may be Debezium's or Confluent's; what is no text is somebody else's."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in _OUTBOX and value and (text := _text(value)):
            found[lower] = (*found.get(lower, ()), text)
        elif lower == _SCHEMA:
            found[lower] = ()  # what it is, nobody asks
    return found


def _texts(collected: Mapping[str, bytes | None]) -> dict[str, str] | Bad:
    texts: dict[str, str] = {}
    for name, value in collected.items():
        if value is None and name not in _CARRIERS:
            continue
        text = _text(value)
        if text is None:
            return _bad(name, "is null, not UTF-8, or holds a control character")
        texts[name] = text
    return texts


def _text(value: bytes | None) -> str | None:
    try:
        text = (value or b"\0").decode() if value != b"" else ""
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def _checked(texts: Mapping[str, str], beside: _Beside) -> Headers | Bad:
    if (key := texts.get(KEY)) is not None and not is_key(key):
        return _bad(KEY, "is not 48 lower-case hexadecimal digits")
    if (carried := texts.get(ID)) is not None and not _VISIBLE_ASCII.fullmatch(carried):
        return _bad(ID, "is not 1 to 255 visible ASCII characters")
    for name in ("type", "ce_type"):
        if name in texts and (problem := type_problem(texts[name])):
            return _bad(name, problem)
    return _headers(texts, beside)


def _headers(texts: Mapping[str, str], beside: _Beside) -> Headers:
    media_type = texts.get("content-type") or texts.get("ce_datacontenttype")
    return Headers(
        type=texts.get("type"),
        media_type=media_type and media_type.partition(";")[0].strip().lower(),
        key=texts.get(KEY),
        id=texts.get(ID),
        cloud={n.removeprefix(CLOUD): text for n, text in texts.items() if n.startswith(CLOUD)},
        outbox_id=next(iter(beside.get("id", ())), None),
        outbox_types=beside.get("eventtype", ()),
        names_schema=_SCHEMA in beside,
    )


def _bad(name: str, problem: str) -> Bad:
    shown = name if _SHOWN.fullmatch(name) else "of CloudEvents (ce_)"
    return Bad(Reason.MALFORMED, f"header {shown} {problem}")
