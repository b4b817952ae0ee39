"""What became of every record, counted where it can be seen and never assumed.

records                 the topics' end offsets
sent                    rows of the guard; what was in doubt and was found again is among them
dead letters            letters of the guard that are open or parked, not those that are settled
duplicates              outcome records, as upstream reads them; and what was parked beside another
                        record's mail, once that mail is found
skipped                 outcome records
accepted                the provider's own ledger, and files on disk
lost                    records that none of these knows
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from consumer.guard.counts import CountedLetter, Counts
from consumer.guard.letters import LetterStatus
from consumer.model import Status

Place: TypeAlias = tuple[str, int, int]  # topic, partition, offset
Outcomes: TypeAlias = Mapping[Place, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Tally:
    """The members are those of the demo's last line, in its order."""

    records: int
    sent: int
    duplicates: int
    dead_letters: int
    skipped: int
    accepted_by_provider: int
    accepted_twice: int
    lost: int
    seconds: float

    @property
    def kept_the_promise(self) -> bool:
        return self.lost == 0 and self.accepted_twice == 0


def tally(
    ends: Mapping[tuple[str, int], int],
    outcomes: Outcomes,
    guard: Counts,
    ledger: Mapping[str, int],
    files: int,
    seconds: float,
) -> Tally:
    published = {(*place, n) for place, end in ends.items() for n in range(end)}
    known = {(seen.topic, seen.partition, seen.offset) for seen in guard.seen} | outcomes.keys()
    return Tally(
        records=len(published),
        sent=guard.rows.get(Status.SENT, 0),
        duplicates=len(_duplicates(outcomes, guard)),
        dead_letters=sum(letter.stands for letter in guard.letters),
        skipped=kinds(outcomes)["skipped"],
        accepted_by_provider=ledger["accepted"] + files,
        accepted_twice=ledger["accepted_twice"],
        lost=len(published - known),
        seconds=round(seconds, 1),
    )


def _duplicates(outcomes: Outcomes, guard: Counts) -> set[Place]:
    """Return the records whose mail is another record's, each once; never a dead letter."""
    told = {place for place, outcome in outcomes.items() if outcome["duplicate"]}
    found = {
        _place(letter)
        for letter in guard.letters
        if letter.status is LetterStatus.SETTLED and letter.beside
    }
    return (told | found) - {_place(letter) for letter in guard.letters if letter.stands}


def _place(letter: CountedLetter) -> Place:
    return letter.at.topic, letter.at.partition, letter.at.offset


def kinds(outcomes: Outcomes) -> Counter[str]:
    """Count outcome records by what a person would call them."""
    return Counter(_kind(outcome) for outcome in outcomes.values())


def _kind(outcome: Mapping[str, Any]) -> str:
    if outcome["duplicate"]:
        return "duplicates"
    return "dead letters" if outcome["status"] in {"dead_letter", "unknown"} else outcome["status"]
