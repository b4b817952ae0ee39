"""A folder's examples: each is an event of its folder, and becomes a mail in every language."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeAlias

from consumer.catalogue.catalogue import Catalogue, Example
from consumer.catalogue.endless import ENDLESS
from consumer.catalogue.folder import Findings, Folder
from consumer.model import Bad, Event, Mail, Record, Skipped

Decode: TypeAlias = Callable[[Record], Event | Skipped | Bad]

# Examples are published in no particular year: their records are stored in one that is later.
_STORED: Final = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)


def examples_of(folder: Folder) -> tuple[Example, ...]:
    topic = folder.declaration.topic
    return tuple(Example(name, folder.name, topic, value) for name, value in folder.example_files())


def is_strange(folder: Folder, names: frozenset[str], decode: Decode, findings: Findings) -> bool:
    """Tell of a folder that listens to none of its examples: all that follows comes of that.

    `names`: of all folders; a copy of another one is no renamed folder.
    """
    events = [decode(_record(example)) for example in examples_of(folder)]
    theirs = sorted({event.type for event in events if isinstance(event, Event)})
    if not theirs or folder.on in theirs:
        return False
    if folder.declaration.on is not None:
        told = _MISTYPED
    else:
        told = _COPIED if names.intersection(theirs) else _RENAMED
    text = told.format(on=folder.on, theirs=theirs[0], all=" and ".join(map(repr, theirs)))
    findings.add(f"{folder.name}/mail.toml", folder.line("on"), text)
    return True


_MISTYPED: Final = "on: says {on!r}, and the folder's examples are events of {all}: mend either"
_COPIED: Final = (
    "the folder listens to its own name, {on!r}, and its examples are events of {all}:"
    ' mend their "type"'
)
_RENAMED: Final = (
    "was the folder renamed? It listens to its own name, {on!r}, and its examples are events of"
    " {all}. Name it {theirs} again: its name is part of every key, and under another one mails go"
    ' out twice. For a new mail write on = "{theirs}" here, or mend the "type" of the examples'
)


def try_examples(catalogue: Catalogue, folder: Folder, decode: Decode, findings: Findings) -> None:
    """Try a folder's examples. What several have in common is told once, of the first of them."""
    found: dict[tuple[int, str], list[str]] = {}
    for name, line, text in _problems(catalogue, folder, decode):
        found.setdefault((line, text), []).append(name)
    for (line, text), (first, *others) in found.items():
        also = f" (the same in {', '.join(others)})" if others else ""
        findings.add(f"{folder.name}/examples/{first}.json", line, text + also)


def _problems(
    catalogue: Catalogue, folder: Folder, decode: Decode
) -> Iterator[tuple[str, int, str]]:
    for example in examples_of(folder):
        for line, text in _wrong(catalogue, folder, example, decode):
            yield example.name, line, text
            if ENDLESS in text:
                return  # whoever waits has waited long enough


def _wrong(
    catalogue: Catalogue, folder: Folder, example: Example, decode: Decode
) -> Iterator[tuple[int, str]]:
    """An example must decode, be of its own folder, map and render."""
    record = _record(example)
    event = decode(record)
    if isinstance(event, Bad):
        yield _unread(event, example.value)
        return
    mail = catalogue.read(record, event) if isinstance(event, Event) else event
    if isinstance(event, Event) and event.type != folder.on:
        named = ' (it has no "type": the topic is taken)' if event.type == example.topic else ""
        yield 0, f"is an event of {event.type!r}{named}, and the folder listens to {folder.on!r}"
    elif isinstance(mail, Skipped):
        yield 0, f"is skipped: {mail.rule}"
    elif isinstance(mail, Bad):
        yield 0, f"{mail.reason}: {mail.detail}"
    else:
        yield from ((0, text) for text in _unprinted(catalogue, mail))


def _unread(bad: Bad, value: bytes) -> tuple[int, str]:
    """Say where in the file it is, for whom the file is open in an editor."""
    try:
        json.loads(value)
    except json.JSONDecodeError as error:
        return error.lineno, f"not JSON: {error.msg}"
    except (ValueError, RecursionError):
        pass
    return 0, f"{bad.reason}: {bad.detail}"


def _unprinted(catalogue: Catalogue, mail: Mail) -> Iterator[str]:
    """Render as the example asks, then in each other language that the folder is in."""
    outcome = catalogue.render(mail)
    if isinstance(outcome, Bad):
        yield f"{outcome.reason}: {outcome.detail}"
        return  # the other languages most often fail of the same
    for locale in catalogue.languages(mail.type.name):
        outcome = catalogue.render(replace(mail, locale=locale, timezone=None))
        if isinstance(outcome, Bad):
            yield f"{outcome.reason}: {outcome.detail} (in {locale})"


def _record(example: Example) -> Record:
    return Record(example.topic, 0, 0, _STORED, None, example.value)
