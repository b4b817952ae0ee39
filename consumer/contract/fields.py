"""The members of an event one by one: what may stand there, and what the mail uses it for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import orjson

from consumer.catalogue.paths import MISSING
from consumer.contract.shapes import Member, members

if TYPE_CHECKING:
    from consumer.catalogue.declaration import Declaration
    from consumer.catalogue.paths import Path, Source
    from consumer.contract.kinds import Kind
    from consumer.model import Json

Steps: TypeAlias = tuple[str, ...]

EACH: Final = "[]"  # the step into the elements of a list
_LONGEST: Final = 60  # characters of an example in a table


@dataclass(frozen=True, slots=True)
class Field:
    """One member. `path`: "order.items[].name"; `uses`: what mail.toml makes of it."""

    path: str
    type: str
    required: bool
    limits: str
    meaning: str
    example: str
    uses: tuple[str, ...]


def fields(kind: Kind, version: int) -> list[Field]:
    """Return the members that a schema version names, in its own order, outer ones first."""
    uses = list(_uses(kind.rules.declaration))
    data = [sample.event.data for sample in kind.samples if sample.version == version]
    found = members(kind.rules.schemas[version].document)
    return [_field(member, uses, data) for member in found]


def _field(member: Member, uses: list[_Use], data: list[Mapping[str, Json]]) -> Field:
    return Field(
        path=_written(member.steps),
        type=member.type,
        required=member.required,
        limits=member.limits,
        meaning=member.meaning,
        example=_example(member.steps, data),
        uses=tuple(dict.fromkeys(use.text for use in uses if use.reaches(member.steps))),
    )


def _written(steps: Steps) -> str:
    return ".".join(steps).replace(f".{EACH}", EACH)


# ── What the rules make of it


@dataclass(frozen=True, slots=True)
class _Use:
    """`whole`: what lies below is used with it, or of it only the members in `pick`."""

    steps: Steps
    text: str
    whole: bool = False
    pick: tuple[str, ...] = ()

    def reaches(self, steps: Steps) -> bool:
        if steps == self.steps:
            return True
        if not self.whole or steps[: len(self.steps)] != self.steps:
            return False
        below = [step for step in steps[len(self.steps) :] if step != EACH]
        return not (self.pick and below) or below[0] in self.pick


def _uses(says: Declaration) -> Iterator[_Use]:
    rule = says.key_rules[-1]
    for path in rule.entity_id:
        yield _Use(_steps(path), "the key")
    yield _Use(_steps(rule.recipient), "the recipient, and the key")
    singles = ((says.time, "the event's age"), (says.schema_version, "the schema's version"))
    for single, text in singles:
        if single is not None:
            yield _Use(_steps(single), text)
    for secret in says.sensitive:
        yield _Use(_steps(secret), "secret: masked, never logged", whole=True)
    for place, source in says.sources():
        if source.path is not None:
            yield _of_source(str(place[0]), source, source.path)


_WORDS: Final = {
    "context": "the mail",
    "locale": "the mail's language",
    "timezone": "the mail's time zone",
    "unsubscribe": "the way off the list",
    "attachments": "an attachment",
}


def _of_source(member: str, source: Source, path: Path) -> _Use:
    text = _WORDS.get(member, member)
    if source.default is not MISSING and source.default not in (None, "", [], False):
        text += f" (without it: {_short(source.default)})"
    return _Use(_steps(path), text, whole=True, pick=source.pick)


def _steps(path: Path) -> Steps:
    """An element is one of its list: `items[0]` is told as `items[]`."""
    if path.envelope:
        return ("@", *map(str, path.steps))
    return tuple(EACH if isinstance(step, int) else step for step in path.steps)


# ── What the examples have there


def _example(steps: Steps, data: list[Mapping[str, Json]]) -> str:
    for one in data:
        for found in _at(one, steps):
            return _short(found)
    return ""


def _at(node: Json, steps: Steps) -> Iterator[Json]:
    if not steps:
        if node is not None and not isinstance(node, Mapping | list):
            yield node
    elif steps[0] == EACH and isinstance(node, list):
        for one in node:
            yield from _at(one, steps[1:])
    elif isinstance(node, Mapping) and steps[0] in node:
        yield from _at(node[steps[0]], steps[1:])


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
