"""What a change of the catalogue would do to events and mails that are on their way.

Two states of the same files are held against each other, of a pull request and of what runs. Told
is what would mail somebody twice, and what would set events aside or leave them unread. Words,
layouts, policies and new folders are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from consumer.catalogue.blocks import KeyRule
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.errors import Problem
from consumer.catalogue.folder import Findings, Folder, folder_of
from consumer.catalogue.keying import rule_at
from consumer.catalogue.narrowing import narrowed
from consumer.catalogue.paths import MISSING, Path, Source
from consumer.catalogue.schema import Known

LEAD: Final = timedelta(hours=1)  # a roll-out is over by then
# Attributes of an envelope that are others at each publication of the same event.
_NEVER_TWICE: Final = frozenset({"id", "time", "traceparent", "tracestate", "sequence"})

_AGAIN = "events that were mailed under the former key would be mailed again"
_BLOCK = (
    "leave what stands, and write a [[key]] block with since = a time after the roll-out,"
    " an hour from now or later"
)


@dataclass(frozen=True, slots=True)
class _Change:
    """One folder, before and after. `now`: aware."""

    old: Folder
    new: Folder
    now: datetime

    @property
    def says(self) -> tuple[Declaration, Declaration]:
        return self.old.declaration, self.new.declaration

    def problem(self, text: str, *place: str | int) -> Problem:
        return Problem(f"{self.new.name}/mail.toml", self.new.line(*place), text)


def dangers(old: Mapping[str, bytes], new: Mapping[str, bytes], now: datetime) -> list[Problem]:
    """Return what must not be deployed as it is. `old`, `new`: files by their paths below.

    What cannot be read of `old` is a danger too: nothing can be held against it.
    """
    findings = Findings()
    before, after = _folders(old, findings), _folders(new, Findings())
    found = [_unread(one) for one in findings.problems if one.file.endswith(_COMPARED)]
    for name, folder in before.items():
        if name in after:
            found += _changed(_Change(folder, after[name], now))
        else:
            found.append(_gone(folder, after))
    return sorted(set(found))


_COMPARED: Final = ("/mail.toml", ".schema.json")


def _unread(problem: Problem) -> Problem:
    text = f"{problem.text}: as it was, it cannot be read, and nothing can be held against it"
    return Problem(f"OLD:{problem.file}", problem.line, text)


def _folders(files: Mapping[str, bytes], findings: Findings) -> dict[str, Folder]:
    """Read the mail types that can be read; whether they are sound is for `check` alone to say."""
    inside: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        name, slash, file = path.partition("/")
        if slash and name[0] not in "._":
            inside.setdefault(name, {})[file] = content
    mails = {name: own for name, own in inside.items() if "mail.toml" in own}
    read = {name: folder_of(name, own, findings) for name, own in mails.items()}
    return {name: folder for name, folder in read.items() if folder is not None}


def _gone(folder: Folder, after: Mapping[str, Folder]) -> Problem:
    says = folder.declaration
    heirs = [
        n for n, one in after.items() if (one.declaration.topic, one.on) == (says.topic, folder.on)
    ]
    if heirs:
        text = f"is called {heirs[0]} by now, and the name is part of the key: {_AGAIN}"
    else:
        text = f"is gone: its events {folder.on!r} would become dead letters, or stay unread"
    return Problem(folder.name, 0, text)


def _changed(change: _Change) -> Iterator[Problem]:
    for rule in (_listening, _keys, _times, _ages, _versions, _schemas, _needs, _files, _context):
        yield from rule(change)


def _listening(change: _Change) -> Iterator[Problem]:
    old, new = change.says
    if old.topic != new.topic:
        text = f"topic: events that lie on {old.topic} would stay unread"
        yield change.problem(text, "topic")
    if change.old.on != change.new.on:
        text = f"on: events {change.old.on!r} on their way would become dead letters"
        yield change.problem(text, "on")


def _keys(change: _Change) -> Iterator[Problem]:
    """Hold both histories against each other, as far back as events can still become mails.

    What is older is skipped by its age, so a block that only such events fall under may go.
    """
    old, new = change.says
    first = change.now - timedelta(seconds=max(old.max_age, new.max_age))
    begin = [rule.since for rule in (*old.key_rules, *new.key_rules) if rule.since]
    moments = [first, *sorted(at for at in begin if first < at <= change.now + LEAD)]
    for moment in moments:
        before, after = rule_at(old, moment), rule_at(new, moment)
        if members := _differing(before, after):
            yield _key_problem(change, members, after)
            return


def _differing(before: KeyRule, after: KeyRule) -> list[str]:
    names = ("entity_id", "recipient", "version", "case_sensitive_entity")
    return [name for name in names if getattr(before, name) != getattr(after, name)]


def _key_problem(change: _Change, members: list[str], after: KeyRule) -> Problem:
    old, new = change.says
    named = " and ".join(members)
    if after.since is None or after.since in {block.since for block in old.key}:
        numbers = [n for n, block in enumerate(new.key) if block.since == after.since]
        place = ("key", numbers[0], members[0]) if numbers else (members[0],)
        return change.problem(f"{named}: changed in place: {_AGAIN}: {_BLOCK}", *place)
    number = [block.since for block in new.key].index(after.since)
    text = f"key: begins too early: workers of before make other keys, and {_AGAIN}: {_BLOCK}"
    return change.problem(text, "key", number, "since")


def _times(change: _Change) -> Iterator[Problem]:
    """By its moment an event is too old or young enough, and falls under one [[key]] or another."""
    old, new = change.says
    if old.time != new.time:
        text = "time: events would be of another moment: skipped as too old, or dead letters"
        key = f"; it decides which [[key]] holds, too: {_AGAIN}" if old.key or new.key else ""
        yield change.problem(f"{text} (bad_time){key}", "time")


def _ages(change: _Change) -> Iterator[Problem]:
    """The cut-over says from when on events are ours."""
    old, new = change.says
    if old.active_from == new.active_from:
        return
    reach = change.now - timedelta(seconds=new.max_age)
    before, after = old.active_from or reach, new.active_from or reach
    if after < before and before > reach:
        text = "active_from: events before it are a former sender's, and would be mailed again"
        yield change.problem(text, "active_from")
    if after > before and after > reach:
        text = "active_from: events before it that are not mailed yet would never be"
        yield change.problem(text, "active_from")


def _versions(change: _Change) -> Iterator[Problem]:
    old, new = change.says
    if old.schema_version != new.schema_version:
        text = "schema_version: events on their way would be read as of another version"
        yield change.problem(text, "schema_version")


def _schemas(change: _Change) -> Iterator[Problem]:
    for version, schema in change.old.schemas.items():
        file = f"{change.new.name}/{schema.file}"
        after = change.new.schemas.get(version)
        if after is None:
            text = f"is gone: events of version {version} on their way would become dead letters"
            yield Problem(file, 0, text)
            continue
        for what in narrowed(schema.document, after.document):
            text = f"{what}: events that were valid would become dead letters: write a new version"
            yield Problem(file, 0, text)


def _needs(change: _Change) -> Iterator[Problem]:
    """What is needed by now must have been promised before, in the versions that there were."""
    old, new = change.says
    asked = {path.text for _, path in old.paths()} | {
        s.path.text for _, s in _needed_of(old) if s.path
    }
    wanted = [(place, path) for place, path in new.paths() if place[0] != "key"]
    wanted += [(place, source.path) for place, source in _needed_of(new) if source.path]
    for place, path in wanted:
        if path.text not in asked and not path.envelope and not _promised(change.old, path):
            name = ".".join(map(str, place))
            text = f"{name}: events on their way may lack {path.text}, and {_remedy(place)}"
            yield change.problem(text, *place)


def _remedy(place: tuple[str | int, ...]) -> str:
    advice = ": give it a default" if place[0] == "context" else ""
    return f"would become dead letters{advice}"


def _needed_of(says: Declaration) -> list[tuple[tuple[str | int, ...], Source]]:
    """Return the sources that have no fallback. A locale or zone always has one."""
    sources = [(place, one) for place, one in says.sources() if one.default is MISSING]
    return [(place, one) for place, one in sources if place[0] in ("context", "unsubscribe")]


def _promised(folder: Folder, path: Path) -> bool:
    return all(one.knows(path.steps) is Known.ALWAYS for one in folder.schemas.values())


def _files(change: _Change) -> Iterator[Problem]:
    """A file that an event names must still be one that the mail may take along."""
    old, new = change.says
    now = {rule.url.text: (number, rule) for number, rule in enumerate(new.attachments)}
    for before in old.attachments:
        number, after = now.get(before.url.text, (0, before))
        for host in sorted(set(before.hosts) - set(after.hosts)):
            text = f"attachments: events with a file on {host} would become dead letters"
            yield change.problem(text, "attachments", number, "hosts")
        if after.max_size < before.max_size:
            text = "attachments: mails on their way with a larger file would never go out"
            yield change.problem(text, "attachments", number, "max_size")


def _context(change: _Change) -> Iterator[Problem]:
    """A value that differs each time an event is published makes a conflict of each repetition."""
    old, new = change.says
    for name, source in new.context.items():
        before = old.context.get(name)
        if _is_new_each_time(source) and before != source:
            text = f"context.{name}: is another at each publication: every duplicate would become"
            yield change.problem(f"{text} a conflict, a dead letter", "context", name)
        if before is not None and before.path == source.path and before.pick and not source.pick:
            text = f"context.{name}: without pick, members that no template prints would make"
            yield change.problem(f"{text} conflicts of duplicates", "context", name)


def _is_new_each_time(source: Source) -> bool:
    path = source.path
    return path is not None and path.envelope and path.steps[0] in _NEVER_TWICE
