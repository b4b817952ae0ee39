"""Each rule of the guard removed in turn: the proof has to notice.

`python -m tests.simulation.mutants` explores the small world of each mutant until a law breaks, and
writes the table between the markers in tests/README.md. What a small world cannot reach is held by
the test that is named, and was seen to fail with the rule removed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from consumer import evidence
from tests.simulation import mutants_rules as rules
from tests.simulation import store_claims
from tests.simulation.mutants_rules import Swap
from tests.simulation.small_world import flight, worlds
from tests.simulation.small_world.explore import Explored, explore
from tests.simulation.small_world.parts import Scenario

LIMIT = 150_000

HOLD = worlds.BASIC[0]
SMALL = replace(HOLD, cap=1, rebalances=False, sweeps=False)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule, how it is removed, and the world that shows it."""

    rule: str
    without: str
    world: Scenario
    swaps: Callable[[], list[Swap]] = list
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A rule that no small world reaches, and the test that fails without it."""

    rule: str
    without: str
    test: str
    removed: str


DOCUMENTED = replace(worlds.BASIC[6], rebalances=False, sweeps=False)
NATIVE = replace(worlds.BASIC[4], rebalances=False, sweeps=False)
WEBHOOK = replace(worlds.BASIC[2], rebalances=False, sweeps=False, cap=1)

MUTANTS = (
    Mutant("1", "doubt", replace(HOLD, policy=worlds.RESEND), rules.without_doubt),
    Mutant("4", "the deadline at the first byte", DOCUMENTED,
           rules.constant(flight, "may_write", value=True)),
    Mutant("6", "absence counts from the deadline on", DOCUMENTED,
           rules.constant(evidence, "absence_counts_in", value=0.0)),
    Mutant("7", "evidence at its epoch", replace(DOCUMENTED, folds=False), rules.without_epoch),
    Mutant("9", "discarded is closed", replace(worlds.DISCARD_REPEAT, cap=2),
           rules.discarded_is_failed),
    Mutant("11", "a token per flight", worlds.CALM,
           rules.constant(store_claims, "is_ours", value=False)),
    Mutant("12", "a replay of an unknown only looks", replace(SMALL, replays=1, cap=2),
           rules.replay_sends),
    Mutant("13", "the window is part of the deadline", NATIVE, rules.window_forgotten),
    Mutant("14", "only the same bytes repeat", worlds.DEPLOY, rules.any_bytes),
    Mutant("16", "the resolver takes dead rows", replace(SMALL, rounds=1), rules.lost_is_left),
    Mutant("17", "max_age skips no row", replace(SMALL, ages=True), rules.age_skips_all),
    Mutant("18", "own coordinates never conflict", replace(SMALL, deploys=1), rules.own_conflicts),
    Mutant("19", "the sweep", replace(worlds.UNREADABLE, sweeps=False)),
    Mutant("21", "a release sends to waiting", worlds.CALM, rules.release_is_unknown),
    Mutant("22", "state and letter in one transaction", HOLD, rules.two_transactions),
    Mutant("23", "failed is not claimed by a redelivery", worlds.CALM,
           rules.failed_again_by_itself),
    Mutant("24", "who finds unknown is parked too", worlds.REPEAT, rules.unknown_is_duplicate),
    Mutant("25", "settling settles every letter", worlds.REPEAT, rules.settles_its_own_letter),
    Mutant("26", "proof in every state", worlds.DISCARD, rules.proof_only_while_open),
    Mutant("28", "outcome_due with the settling", WEBHOOK, rules.nothing_is_due),
    Mutant("29", "attempts given back", worlds.CALM, rules.slow_down_counts),
    Mutant("34", "cap used and in doubt stays unknown", HOLD, rules.spent_is_failed),
    Mutant("35", "an older epoch's word is dropped", replace(worlds.AGES, folds=False),
           rules.older_epoch_speaks),
    Mutant("+", "the fence", replace(HOLD, folds=False), rules.no_fence),
    Mutant("+", "the outcome before the commit", HOLD, rules.commits_first),
    Mutant("+", "no retry after a read timeout", HOLD, rules.retries_unclear),
)  # fmt: skip


NAMED = (
    Named("2", "409, still running, is unknown",
          "unit/providers/test_resend.py::test_the_name_decides_before_the_status",
          "the name read as certainly not sent"),
    Named("3", "a bare 503 is unknown",
          "unit/providers/test_statuses.py::test_a_bare_status_is_read_conservatively",
          "every 5xx read as certainly not sent"),
    Named("5", "nothing is delivered behind our back",
          "integration/providers/test_wire.py::test_sockets_keep_nothing_behind_our_back",
          "SO_LINGER not set"),
    Named("8", "work is taken by moving its date",
          "integration/guard/test_outcomes.py::test_due_work_is_given_to_one_worker",
          "the date left where it was"),
    Named("10", "the owner is random per start",
          "unit/line/test_flights.py::test_no_two_flights_share_a_token",
          "tokens made of the serial only"),
    Named("15", "key rules have a history",
          "unit/catalogue/test_key_history.py"
          "::test_workers_of_both_releases_and_replays_agree_on_what_is_older",
          "the newest block, whatever the event's age"),
    Named("20", "renewed by live flight",
          "integration/guard/test_upkeep.py::test_what_was_let_go_runs_out",
          "`let_go` lets nothing go"),
    Named("27", "the flight is joined before a permit is asked for",
          "unit/line/test_flights.py::test_records_of_one_key_go_one_after_another",
          "`take` never waits"),
    Named("30", "conflict excepts failed",
          "unit/guard/test_verdict.py::test_a_row_found",
          "`failed` judged like the others"),
    Named("31", "bare ON CONFLICT",
          "integration/guard/test_claims.py::test_two_keys_for_one_record_in_one_batch_is_drift",
          "ON CONFLICT (idempotency_key)"),
    Named("32", "one resend of a row",
          "whole/test_operators_resend.py::test_what_was_seen_before_it_moved_on_is_not_resent",
          "the row not compared with what the person saw"),
    Named("33", "pruning spares what letters name",
          "integration/guard/test_upkeep.py::test_pruning_spares_what_is_open_or_named_by_a_letter",
          "the letters not asked"),
)  # fmt: skip


@contextmanager
def removed(mutant: Mutant) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, instead in mutant.swaps():
            stack.enter_context(patch.object(owner, name, instead))
        yield


def hunt(mutant: Mutant, *, limit: int = LIMIT) -> Explored:
    """Explore the mutant's world until a law breaks."""
    with removed(mutant):
        return explore(mutant.world, limit=limit)


# ── The table

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- mutants: begin -->", "<!-- mutants: end -->"


def table(found: list[tuple[Mutant, Explored]]) -> str:
    """The rules, where the loss of each is seen, and the shortest story of it."""
    lines = [
        "| rule | removed | caught by | states | law, and the shortest story |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {it.rule} | {it.without} | small world: {it.world.name} | {seen.states:,} |"
        f" {seen.broken}: {'; '.join(seen.story[:-1])} |"
        for it, seen in found
    ]
    lines += [f"| {it.rule} | {it.without} | `{it.test}` | | {it.removed} |" for it in NAMED]
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the table between its markers."""
    readme = README.read_text()
    if BEGIN in readme:
        head, rest = readme.split(BEGIN, 1)
        README.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}")


def main() -> int:
    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or mutant.rule in sys.argv[1:]]
    found = []
    for mutant in chosen:
        seen = hunt(mutant)
        found.append((mutant, seen))
        print(f"{mutant.rule} without: {mutant.without}", seen, sep="\n", flush=True)  # noqa: T201 - a command
    alive = [mutant.rule for mutant, seen in found if not caught(seen)]
    if not sys.argv[1:]:
        write(table(found))
    print(f"{len(found) - len(alive)} killed, {len(NAMED)} named, alive: {alive or 'none'}")  # noqa: T201 - a command
    return 1 if alive else 0


def caught(seen: Explored) -> bool:
    """A world too large for its limit has shown nothing."""
    return seen.broken is not None and not seen.broken.startswith("not closed")


if __name__ == "__main__":
    raise SystemExit(main())
