"""The reckoning of a chaos: what the ledgers hold against what was published and what is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.chaos.kinds import CLASSES, KINDS
from tests.chaos.world import World
from tests.whole.commands import run
from tests.whole.reckoning import reckon

RESENDS = {kind.name for kind in KINDS if kind.on_unknown == "resend"}
ATTEMPTS = 4  # of a round: as many copies at most
DOUBTED = "SELECT DISTINCT idempotency_key FROM history WHERE event IN ('unknown', 'abandoned')"
STORIES = """
    SELECT h.* FROM history h WHERE idempotency_key = ANY($1::text[]) ORDER BY idempotency_key, id
"""
SHOWN = 5  # stories of violations that are told


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one class of providers: outcomes that were unknown for a time, and what settled them."""

    unknown: int
    by: Mapping[str, int]
    shown: int  # still unknown, with an open letter


@dataclass(frozen=True, slots=True)
class Tally:
    records: int
    mails: int
    accepted: int
    statuses: Mapping[str, int]
    letters: Mapping[str, int]
    lost: Mapping[str, Sequence[object]]  # what is wrong -> where; empty: nothing
    twice: Sequence[str]  # keys accepted more than once, against the law
    allowed: int  # copies beyond the first that a type's policy allowed
    told_double: int  # of these and the others, rows that say so
    evidence: Mapping[str, Evidence]
    stories: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def in_order(self) -> bool:
        return not self.twice and not any(self.lost.values())


async def tally(world: World) -> Tally:
    """Count; call it when the workers have stopped."""
    accepted = await world.accepted()
    found = await reckon(world.stack, accepted, *world.topics.values())
    rows = {r["idempotency_key"]: r for r in await world.stack.sql("SELECT * FROM sent_message")}
    doubted = {r["idempotency_key"] for r in await world.stack.sql(DOUBTED)}
    many = {key: ids for key, ids in accepted.items() if len(ids) > 1}
    fine = {key for key, ids in many.items() if _may(rows.get(key), key in doubted, len(ids))}
    twice = sorted(set(many) - fine)
    problems: dict[str, Sequence[object]] = {
        name: list(what) for name, what in found.problems.items() if what
    }
    problems.pop("accepted twice", None)
    if missed := await _missed(world, found.records):
        problems["audit"] = missed
    suspects = [*twice, *(k for what in problems.values() for k in what if isinstance(k, str))]
    return Tally(
        records=found.records,
        mails=len(rows),
        accepted=found.accepted,
        statuses=dict(found.statuses),
        letters={f"{reason} {status}": n for (reason, status), n in found.letters.items()},
        lost=problems,
        twice=twice,
        allowed=sum(len(many[key]) - 1 for key in fine),
        told_double=sum(row["second_message_id"] is not None for row in rows.values()),
        evidence=_evidence(rows, doubted),
        stories=[dict(r) for r in await world.stack.sql(STORIES, suspects[:SHOWN])],
    )


async def _missed(world: World, records: int) -> list[str]:
    """Ask the service's own audit as well; it has to come to the same."""
    ran = await run(world.stack, "audit", "--since", "1d", "--json")
    told = orjson.loads(ran.output)
    untold = [f"{told['records']} records"] if told["records"] != records else []
    named = [*told["lost"], *told["untraced"], *told["accepted_twice"]]
    return [*untold, *map(str, named)]


def _may(row: Any, doubted: bool, copies: int) -> bool:  # noqa: FBT001 - one caller
    """A type may allow a copy, after a doubt, within the attempts of a round."""
    return row is not None and row["event_type"] in RESENDS and doubted and copies <= ATTEMPTS


def _evidence(rows: Mapping[str, Any], doubted: set[str]) -> dict[str, Evidence]:
    found = {}
    for name in dict.fromkeys(CLASSES.values()):
        ours = [rows[k] for k in doubted if k in rows and CLASSES[rows[k]["provider"]] == name]
        by = Counter(
            row["settled_by"] or row["status"] for row in ours if row["status"] != "unknown"
        )
        shown = sum(row["status"] == "unknown" for row in ours)
        found[name] = Evidence(len(ours), dict(by), shown)
    return found
