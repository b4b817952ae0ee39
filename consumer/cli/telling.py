"""The story of a mail in sentences that a support person can read aloud, in the order of time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from consumer.cli import letters
from consumer.guard import DeadLetter, Happening, LetterStatus, Story
from consumer.guard.letters import UNCLOSED
from consumer.model import IMPORTED, Evidence, News, Row, Status

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NUMBERS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_NEAR: Final = 2 * 3600.0  # seconds; what is further apart is told by its date
_IN_SECONDS: Final = 120.0  # longer ones are told in minutes
_LINK: Final = re.compile(r"[0-9a-f]{48} (.*)", re.DOTALL)
_FRACTION: Final = re.compile(r"(:\d\d)\.\d+(?= UTC)")  # a note's, which tells its call from others
_OUR_STOP: Final = re.compile(r"\S+: called back")
_SENT_BY: Final = {
    Evidence.REPEAT: "{p}, given the same mail and key again, has it under id {id}: sent once",
    Evidence.LOOKUP: "{p}, asked, had it under id {id}: sent once",
    Evidence.WEBHOOK: "{p} reported by itself that it had taken it, under id {id}: sent once",
    Evidence.ABSENCE: "{p} took it under id {id}: sent once, since the first request never arrived",
    Evidence.POLICY: (
        "{p} took it under id {id}; by the policy of its type it was sent although the first"
        " request may have arrived as well"
    ),
    Evidence.PERSON: "a person recorded that {p} had it under id {id} ({w})",
    Evidence.LATE: "the answer of {p} came after all: it had taken it under id {id}: sent once",
}
_BY_HAND: Final = "A person recorded that {p} had it under id {id}."
_GOES_ON: Final = "its attempts go on"
_TOLD: Final = {
    "taken over": "it was taken up again ({d})",
    Status.WAITING: "it was certainly not sent ({d}), and another attempt was due",
    "parked": "its attempts were used up, none of them sent it ({d}), and a next round was set",
    Status.UNKNOWN: "the request to {p} broke off ({d}); nobody knew whether it was sent",
    Status.FAILED: "{p} would not take it ({d}): certainly not sent",
    Status.EXPIRED: "it was too old to be sent, or a rule held it back ({d}): certainly not sent",
    Status.DISCARDED: "it was given up {d}",
    "abandoned": "the worker that was sending it was gone; nobody knew whether it was sent",
    "orphaned": "its record could not be read any more ({d}); a person was asked",
    "asked": "{p} was asked ({d}), which settled nothing yet",
    "not asked": "{p} could not be asked ({d})",
    "open": "nothing was left to ask, and a person was asked to decide",
    "double": "a second mail was really accepted, by {p} under id {id}",
    News.BOUNCED: "{p} reported that it bounced ({d})",
    News.COMPLAINED: "{p} reported that the recipient complained ({d})",
    "forgotten": "the recipient was forgotten {d}",
    "replay": "it was made due again {d}",
    "resent": "it was asked for once more {n}; it went on as version {next}",
    "asked for again": "it was asked for once more {n}: this is version {v}",
}
_PUT_OFF: Final = {
    "for its webhook": "a report of {p} was waited for",
    "its provider is shut": "{p} was not reachable, so it had to wait",
    "it is paused": "a person had stopped it, so it had to wait",
}


def sentences(story: Story, recipient: str) -> list[str]:
    """Return the story; `recipient` as it may be shown."""
    told, before = [], None
    for at, text in sorted(_happened(story, recipient), key=lambda one: one[0]):
        told.append(f"{_when(at, before)} {text}.")
        before = at
    return [*told, *_stands(story), *map(_letter, _unclosed(story))]


def _happened(story: Story, recipient: str) -> Iterator[tuple[datetime, str]]:
    """What is known with its time. Lines of one moment stay in their order."""
    row = story.row
    if row.first_attempt_at is not None:
        yield row.first_attempt_at, _first(row, recipient)
    for line in story.history:
        yield line.at, _said(line, story)
    if row.sent_at is not None and not _found_by_a_person(story) and not _sent_is_told(story):
        yield row.sent_at, _accepted(row)
    if story.delivery_at is not None and story.delivery is News.DELIVERED:
        yield story.delivery_at, f"{row.provider} reported that it was delivered"


def _accepted(row: Row) -> str:
    if row.catalogue == IMPORTED:
        return (
            f"it was sent before this service was there, through {row.provider} under id"
            f" {row.provider_message_id}, as the imported list of its sender says"
        )
    return f"{row.provider} accepted it under id {row.provider_message_id}"


def _sent_is_told(story: Story) -> bool:
    return any(one.event == Status.SENT for one in story.history)


def _found_by_a_person(story: Story) -> bool:
    """Written by hand: no line of the history has it, and nobody knows when it was found."""
    return story.settled_by is Evidence.PERSON and not _sent_is_told(story)


def _first(row: Row, recipient: str) -> str:
    source = f" (record {letters.place(row.coordinates)})" if row.coordinates else ""
    return f"the mail {row.mail_type} to {recipient}{source} was first tried through {row.provider}"


def _said(line: Happening, story: Story) -> str:
    provider = line.provider or story.row.provider
    if line.event == "taken over" and line.detail == _GOES_ON and line.attempt == 1:
        text = "it was taken up"  # nothing had been tried before: its first attempt
    elif line.event == Status.SENT:
        text = _sent(line, story)
    elif line.event == Status.WAITING and line.detail in _PUT_OFF:
        text = _PUT_OFF[line.detail]
    else:
        text = _TOLD.get(line.event, f"{line.event} ({{d}})")
    detail = _aloud(line.detail) or "no reason is kept"
    said = text.format(
        p=provider, id=line.provider_message_id, d=detail, n=_LINK.sub(r"\1", detail),
        v=story.version, next=story.version + 1, w=detail.partition(": ")[2],
    )  # fmt: skip
    return said if line.times == 1 else f"{said}; {_count(line.times)} times, last {_date(line)}"


def _sent(line: Happening, story: Story) -> str:
    """By which evidence: the line's own detail begins with it."""
    by = line.detail.removeprefix("by ").partition(":")[0]
    if by in set(Evidence):
        text = _SENT_BY[Evidence(by)]
        return text if story.second_message_id is None else text.replace(": sent once", "")
    return "{p} accepted it under id {id}"


def _aloud(detail: str) -> str:
    return _OUR_STOP.sub("the service stopped", _FRACTION.sub(r"\1", detail))


def _stands(story: Story) -> Iterator[str]:
    """How it stands now, where the last thing that happened does not say it."""
    row = story.row
    if _found_by_a_person(story):
        yield _BY_HAND.format(p=row.provider, id=row.provider_message_id)
    if story.second_message_id is not None:
        yield f"It was sent twice: the second mail has id {story.second_message_id}."
    if row.status is Status.UNKNOWN or (row.status is Status.DISCARDED and row.in_doubt):
        yield "Nobody knows to this day whether it was sent."
    if row.status is Status.WAITING:
        yield "It has not been sent yet; the service will try again."
    if row.status is Status.SENDING and row.lease_live:
        yield "It is being sent at this moment."
    if row.status is Status.SENDING and not row.lease_live:
        yield "Its worker is gone; the service will find out what became of it."


def _unclosed(story: Story) -> list[DeadLetter]:
    return [one for one in story.letters if one.status in UNCLOSED]


def _letter(letter: DeadLetter) -> str:
    if letter.status is LetterStatus.OPEN:
        return f"Dead letter {letter.id} ({letter.reason}) is open: a person has to decide."
    due = letter.next_check_at
    when = f", next on {_day(due)} at {due.astimezone(UTC):%H:%M:%S} UTC" if due else ""
    return f"Dead letter {letter.id} ({letter.reason}) is parked: the service is at it{when}."


def _when(at: datetime, before: datetime | None) -> str:
    gap = None if before is None else (at - before).total_seconds()
    if gap is None or gap >= _NEAR:
        return f"On {_day(at)} at {at.astimezone(UTC):%H:%M:%S} UTC"
    if gap < 1:
        return "At once"
    return f"{_ago(gap)} later".capitalize()


def _ago(seconds: float) -> str:
    if seconds < _IN_SECONDS:
        return _unit(round(seconds), "second")
    return _unit(round(seconds / 60), "minute")


def _unit(number: int, name: str) -> str:
    return f"{_count(number)} {name}{'' if number == 1 else 's'}"


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _day(at: datetime) -> str:
    day = at.astimezone(UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _date(line: Happening) -> str:
    return f"on {_day(line.last_at)} at {line.last_at.astimezone(UTC):%H:%M:%S} UTC"
