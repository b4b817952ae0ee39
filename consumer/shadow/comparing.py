"""The notes of a shadow, summed up, and against a list of what the other sender sent.

    both            would be sent, and is in the list, at about the same time
    other times     in both, further apart than they may be
    more            would be sent, and is not in the list: a second mail, or one that was missed
    missing         in the list, and would not be sent: nobody would mail it any more

Compared is the time that both cover: a list of a year says nothing of a shadow of two days. Lines
within `apart` of its edges may lie on either side, so only what is in both counts there.

Holds the keys of list and notes in memory: about 200 bytes a mail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from consumer.guard.shadows import Note, Would

if TYPE_CHECKING:
    from consumer.guard.imports import Past

# A mail of the other sender, which the shadow would not have sent again: the row of an import.
_MAILS = (Would.SEND, Would.DUPLICATE)


@dataclass(frozen=True, slots=True)
class Mailed:
    """A mail of either side. `place`: the record, or the line."""

    mail_type: str
    key: str
    at: datetime
    place: str


@dataclass(frozen=True, slots=True)
class Difference:
    """`why`: what the shadow would have done instead, or how far apart they are."""

    mail: Mailed
    why: str


@dataclass(slots=True)
class Notes:
    """All notes, summed up. A key's first record makes its mail; further ones repeat it."""

    counts: Counter[tuple[str, Would, str]] = field(default_factory=Counter)
    mails: dict[str, Mailed] = field(default_factory=dict)
    others: dict[str, Note] = field(default_factory=dict)  # by key: what would make no mail
    drifts: list[Mailed] = field(default_factory=list)  # a key's second record means another mail
    _prints: dict[tuple[str, str | None], str | None] = field(default_factory=dict)

    def add(self, note: Note) -> None:
        if note.key is None or note.occurred_at is None:
            self._count(note, note.detail)
            return
        first = self._prints.setdefault((note.key, note.catalogue), note.fingerprint)
        if note.would not in _MAILS:
            self.others[note.key] = note
            self._count(note, note.detail)
        elif note.key not in self.mails:
            self.mails[note.key] = _mailed(note, note.key, note.occurred_at)
            self._count(note, note.detail)
        else:
            self._repeat(note, note.key, note.occurred_at, same=first == note.fingerprint)

    def _repeat(self, note: Note, key: str, at: datetime, *, same: bool) -> None:
        """A service that sends has a row by now: the second record of a key finds it."""
        self.mails[key] = min(self.mails[key], _mailed(note, key, at), key=lambda mail: mail.at)
        if same:
            self.counts[note.mail_type or "-", Would.DUPLICATE, "of an earlier record"] += 1
        else:
            self.counts[note.mail_type or "-", Would.REFUSED, "conflict"] += 1
            self.drifts.append(_mailed(note, key, at))

    def _count(self, note: Note, detail: str) -> None:
        self.counts[note.mail_type or "-", note.would, detail] += 1


@dataclass(frozen=True, slots=True)
class Window:
    """What both cover. Empty: they have no time in common."""

    begin: datetime
    end: datetime

    def holds(self, at: datetime, within: timedelta) -> bool:
        return self.begin + within <= at <= self.end - within


@dataclass(slots=True)
class Comparison:
    window: Window | None
    both: int = 0
    outside: int = 0  # of either side, beyond the window or at its edges
    other_times: list[Difference] = field(default_factory=list)
    more: list[Difference] = field(default_factory=list)
    missing: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not (self.other_times or self.more or self.missing)


def compare(notes: Notes, listed: Mapping[str, Mailed], apart: timedelta) -> Comparison:
    """Say how what would have been sent differs from what was. `listed`: by key."""
    window = _window(notes.mails.values(), listed.values())
    found = Comparison(window)
    for key, mail in listed.items():
        ours = notes.mails.get(key)
        if ours is not None:
            _both(found, ours, mail, apart)
        elif window is not None and window.holds(mail.at, apart):
            found.missing.append(Difference(mail, _instead(notes.others.get(key))))
        else:
            found.outside += 1
    for key, mail in notes.mails.items():
        if key in listed:
            continue
        if window is not None and window.holds(mail.at, apart):
            found.more.append(Difference(mail, "is not in the list"))
        else:
            found.outside += 1
    return found


def listed(past: Past, place: str) -> Mailed:
    return Mailed(past.mail_type, past.key, past.sent_at, place)


def _both(found: Comparison, ours: Mailed, theirs: Mailed, apart: timedelta) -> None:
    difference = abs(ours.at - theirs.at)
    if difference <= apart:
        found.both += 1
    else:
        text = f"{difference.total_seconds():.0f} s apart from {theirs.place}"
        found.other_times.append(Difference(ours, text))


def _instead(note: Note | None) -> str:
    if note is None:
        return "no record makes it"
    return f"{note.would}: {note.detail} ({_place(note)})"


def _window(ours: Iterable[Mailed], theirs: Iterable[Mailed]) -> Window | None:
    one, other = [mail.at for mail in ours], [mail.at for mail in theirs]
    if not one or not other:
        return None
    begin, end = max(min(one), min(other)), min(max(one), max(other))
    return Window(begin, end) if begin <= end else None


def _mailed(note: Note, key: str, at: datetime) -> Mailed:
    return Mailed(note.mail_type or "-", key, at, _place(note))


def _place(note: Note) -> str:
    at = note.at
    return f"{at.topic}/{at.partition}@{at.offset}"
