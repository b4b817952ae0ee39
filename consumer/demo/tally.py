"""What became of every record, counted where it can be seen and never assumed.

records                 the topics' end offsets
sent, dead letters      rows of the guard
duplicates, skipped     outcome records, as upstream reads them
accepted                the provider's own ledger, and files on disk
lost                    records that none of these knows
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from consumer.guard.counts import Counts
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
    ends_as = kinds(outcomes)
    return Tally(
        records=len(published),
        sent=guard.rows.get(Status.SENT, 0),
        duplicates=ends_as["duplicates"],
        dead_letters=sum(guard.dead_letters.values()),
        skipped=ends_as["skipped"],
        accepted_by_provider=ledger["accepted"] + files,
        accepted_twice=ledger["accepted_twice"],
        lost=len(published - known),
        seconds=round(seconds, 1),
    )


def kinds(outcomes: Outcomes) -> Counter[str]:
    """Count outcome records by what a person would call them."""
    return Counter(_kind(outcome) for outcome in outcomes.values())


def _kind(outcome: Mapping[str, Any]) -> str:
    if outcome["duplicate"]:
        return "duplicates"
    return "dead letters" if outcome["status"] in {"dead_letter", "unknown"} else outcome["status"]
