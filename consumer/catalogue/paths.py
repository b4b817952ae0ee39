"""The path language: where in an event a value lies.

order.id            a member of the event's data, and a member of that
items[0].sku        the first element of a list
"odd name"."a.b"    members whose names are not plain words are quoted
@source             an attribute of the envelope (CloudEvents `source`, `subject`, `id`, ...)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from consumer.model import Event, Json


class Missing(Enum):
    """Nothing lies at a path; not the same as null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
Found: TypeAlias = "Json | Literal[Missing.MISSING]"

_ENVELOPE = re.compile(r"@([a-z0-9]+)")
_MEMBER = re.compile(r'(?:([^\W\d][\w$-]*)|"([^"]+)")((?:\[\d{1,6}\])*)')
_INDEX = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Path:
    """`steps` are member names and list indexes; of an envelope path: the attribute alone."""

    text: str
    steps: tuple[str | int, ...]
    envelope: bool = False

    def read(self, event: Event) -> Found:
        """Return what lies there. Never raises."""
        # Decoded events are plain dicts and lists; asking for a Mapping would cost 20 us a mail.
        here: Any = event.attributes if self.envelope else event.data
        for step in self.steps:
            if isinstance(here, dict):
                here = here.get(step, MISSING)
            elif isinstance(here, list) and isinstance(step, int) and step < len(here):
                here = here[step]
            else:
                return MISSING
        found: Found = here
        return found

    @property
    def pointer(self) -> str:
        """The place as people write it in messages: a JSON pointer, or the attribute."""
        return self.text if self.envelope else "/" + "/".join(map(str, self.steps))


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value of the context comes from: a path, a constant, or a path with a fallback.

    `pick`: of an object, or of each object of a list, only these members.
    """

    path: Path | None
    default: Found = MISSING
    pick: tuple[str, ...] = ()

    def read(self, event: Event) -> Found:
        """Return the value; the default stands in for what is absent or null."""
        if self.path is None:
            return self.default
        found = self.path.read(event)
        if found is MISSING or found is None:
            return self.default
        return _picked(found, self.pick) if self.pick else found


def _picked(value: Json, members: tuple[str, ...]) -> Json:
    if isinstance(value, list):
        return [_picked(one, members) for one in value]
    if not isinstance(value, dict):
        return value
    picked = {}
    for name in members:  # a loop: setting up a comprehension costs as much as going through it
        if name in value:
            picked[name] = value[name]
    return picked


def parse_path(text: object) -> Path:
    """Read a path; ValueError says what is wrong with it."""
    match text:
        case str() if envelope := _ENVELOPE.fullmatch(text):
            return Path(text, (envelope[1],), envelope=True)
        case str():
            return Path(text, _steps(text))
        case _:
            raise ValueError("a path is a text such as order.id")


def _steps(text: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    at = 0
    while member := _MEMBER.match(text, at):
        steps += [member[1] or member[2], *(int(index) for index in _INDEX.findall(member[3]))]
        at = member.end()
        if at == len(text):
            return tuple(steps)
        if text[at] != ".":
            break
        at += 1
    raise ValueError(f"not a path: {text!r} (write order.id, items[0].sku or @source)")


_FORMS: Final = ({"path"}, {"path", "default"}, {"path", "pick"}, {"path", "default", "pick"})


def parse_source(value: object) -> Source:
    """Read `"path"`, `{ path = "...", default = ..., pick = [...] }` or `{ value = ... }`."""
    if isinstance(value, str):
        return Source(_path_or_advice(value))
    if isinstance(value, dict) and value.keys() == {"value"}:
        return Source(None, value["value"])
    if isinstance(value, dict) and value.keys() in _FORMS:
        path = parse_path(value["path"])
        return Source(path, value.get("default", MISSING), _members(value.get("pick", [])))
    raise ValueError(
        'write "path", { path = "...", default = ..., pick = [...] } or { value = ... }'
    )


def _path_or_advice(text: str) -> Path:
    try:
        return parse_path(text)
    except ValueError as error:
        raise ValueError(f"{error}; what never changes is {{ value = ... }}") from None


def _members(pick: object) -> tuple[str, ...]:
    if not isinstance(pick, list) or not all(isinstance(name, str) and name for name in pick):
        raise ValueError("pick is a list of member names")
    return tuple(pick)
