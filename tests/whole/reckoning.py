"""The reckoning after a bad day: the log, the guard, the letters, what upstream heard, the ledger.

Counted from all sides, never from what a client was answered: the provider's ledger says what was
accepted, the topic's offsets say what came in, and each record must stand somewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.whole.stack import Stack

Place: TypeAlias = tuple[str, int, int]  # topic, partition, offset
Accepted: TypeAlias = Mapping[str, Sequence[str]]  # key -> the ids that the provider gave for it

OPEN = ("sending", "waiting")
AT_WORK = ("open", "parked")  # a person's turn, or the service's own


@dataclass(frozen=True, slots=True)
class Reckoning:
    """How things stand; `problems` is empty when nothing was lost and nothing sent twice."""

    records: int
    statuses: Mapping[str, int]  # the guard's rows
    letters: Mapping[tuple[str, str], int]  # (reason, status) of the dead letters
    told: Mapping[tuple[str, bool], int]  # (status, duplicate) of the outcome records
    accepted: int
    problems: Mapping[str, Sequence[object]]

    @property
    def unknown(self) -> int:
        return self.statuses.get("unknown", 0)

    def in_order(self) -> None:
        """Law: each record in one visible state, no key accepted twice, no row left open."""
        wrong = {name: [len(found), found[:5]] for name, found in self.problems.items() if found}
        assert not wrong, (wrong, self)

    def all_sent(self, mails: int) -> None:
        """The same, and every mail was sent: no outcome is unknown, no letter was written."""
        self.in_order()
        assert self.statuses == {"sent": mails}, self
        assert self.letters == {}, self
        assert self.accepted == mails, self


async def reckon(stack: Stack, accepted: Accepted, *topics: str) -> Reckoning:
    """Look from all sides; call it when every offset is committed."""
    rows = await stack.sql("SELECT * FROM sent_message")
    letters = await stack.sql("SELECT * FROM dead_letter")
    told = await stack.told()
    log = await _log(stack, topics or (stack.orders,))
    standing = {_place(row) for row in [*rows, *letters]}
    heard = {_place(outcome["source"]) for outcome in told}
    return Reckoning(
        records=len(log),
        statuses=Counter(row["status"] for row in rows),
        letters=Counter((letter["reason"], letter["status"]) for letter in letters),
        told=Counter((outcome["status"], outcome["duplicate"]) for outcome in told),
        accepted=sum(map(len, accepted.values())),
        problems={
            "accepted twice": [key for key, ids in accepted.items() if len(ids) > 1],
            "in no visible state": sorted(log - standing - heard),
            "not told to upstream": sorted(log - heard),
            "told of no record": sorted(heard - log),
            "left open": [row["idempotency_key"] for row in rows if row["status"] in OPEN],
            "accepted, and no row says so": _unguarded(rows, accepted),
            "sent, and the provider knows nothing": _misnamed(rows, accepted),
            "unknown, and nobody is told": _hidden(rows, letters),
            "settled, and still shown": _overtaken(rows, letters),
        },
    )


async def _log(stack: Stack, topics: Sequence[str]) -> set[Place]:
    ends = {topic: await stack.kafka.end_offsets(topic) for topic in topics}
    return {
        (topic, partition, offset)
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
        for offset in range(end)
    }


def _place(source: Any) -> Place:
    return source["topic"], source["partition"], source["offset"]


def _unguarded(rows: Sequence[Any], accepted: Accepted) -> list[str]:
    may_be = {row["idempotency_key"] for row in rows if row["status"] in {"sent", "unknown"}}
    return sorted(accepted.keys() - may_be)


def _misnamed(rows: Sequence[Any], accepted: Accepted) -> list[str]:
    """Return sent rows whose id is not the one that the provider gave."""
    return [
        row["idempotency_key"]
        for row in rows
        if row["status"] == "sent"
        and row["provider_message_id"] not in accepted.get(row["idempotency_key"], ())
    ]


def _hidden(rows: Sequence[Any], letters: Sequence[Any]) -> list[str]:
    """Return unknown rows that no person sees and that the service does not look after."""
    shown = {
        letter["idempotency_key"]
        for letter in letters
        if letter["reason"] in {"unknown", "orphaned"} and letter["status"] in AT_WORK
    }
    unknown = {row["idempotency_key"] for row in rows if row["status"] == "unknown"}
    return sorted(unknown - shown)


def _overtaken(rows: Sequence[Any], letters: Sequence[Any]) -> list[str]:
    """Return sent rows whose doubt a letter still tells of."""
    doubted = {
        letter["idempotency_key"]
        for letter in letters
        if letter["reason"] == "unknown" and letter["status"] in AT_WORK
    }
    return sorted(doubted & {row["idempotency_key"] for row in rows if row["status"] == "sent"})
