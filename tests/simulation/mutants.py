"""Each rule of the guard removed in turn: does the proof notice?

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
from typing import Any
from unittest.mock import patch

from consumer import courses, evidence, rounds
from consumer.guard import transitions
from consumer.guard.transitions import Stands, Write, decide, proven
from consumer.guard.verdict import AlsoParked, Conflict, Duplicate, TakeOver, judge
from consumer.model import (
    Lease,
    MarkUnknown,
    MarkWaiting,
    Row,
    SlowDown,
    Status,
    Transition,
    Unclear,
)
from consumer.rounds import Standing
from tests.simulation import store_claims, store_letters, store_outcomes
from tests.simulation.small_world import flight, line, nature, resolver, states, worlds
from tests.simulation.small_world.explore import Explored, explore
from tests.simulation.small_world.parts import Scenario, Tables
from tests.simulation.small_world.states import put
from tests.simulation.small_world.tables import Guard

Swap = tuple[object, str, object]
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
    """A rule that a small world cannot reach, the test that fails without it, and how it was removed."""

    rule: str
    without: str
    test: str
    removed: str


def swapped(owner: object, name: str, wrapper: Callable[..., Any]) -> Swap:
    """Replace a function by one that is handed the real one first."""
    real = getattr(owner, name)

    def instead(*args: Any, **kwargs: Any) -> Any:
        return wrapper(real, *args, **kwargs)

    instead.__name__ = name
    return owner, name, instead


def judged(change: Callable[[Any, Row, Any], Any]) -> list[Swap]:
    """Have the verdict of a found row changed."""

    def other(_: object, row: Row, mail: Any, at: Any, cap: int) -> Any:
        return change(judge(row, mail, at, cap), row, (mail, at))

    return [swapped(courses, "judge", other)]


def decided(change: Callable[[Row, Lease, Transition], Any]) -> list[Swap]:
    return [(store_outcomes, "decide", change)]


# ── The rules, removed


def without_doubt() -> list[Swap]:
    def forgets(row: Row | None, lease: Lease, transition: Transition) -> Any:
        return decide(row and replace(row, in_doubt=False), lease, transition)

    def plainly(_: object, answer: Any, provider: str, *__: object) -> Transition:
        standing = Standing(2, 0, 0.0, breaker_open=False, probe=False)
        return rounds.after(answer, provider, lambda: standing, 2)

    return [(store_outcomes, "decide", forgets), swapped(rounds, "after_in_doubt", plainly)]


def without_epoch() -> list[Swap]:
    def at_any(real: Any, db: Any, item: Any, terms: Any, **new: Any) -> bool:
        row = db.rows.get(item.mail.key)
        if row is not None and item.takes is not None:
            now = replace(item.takes, epoch=row.epoch, attempts=row.attempts)
            item = replace(item, takes=now)
        return bool(real(db, item, terms, **new))

    return [swapped(store_claims, "_take_over", at_any)]


def without_attempts() -> list[Swap]:
    def with_any(real: Any, db: Any, item: Any, terms: Any, **new: Any) -> bool:
        row = db.rows.get(item.mail.key)
        if row is not None and item.takes is not None:
            item = replace(item, takes=replace(item.takes, attempts=row.attempts))
        return bool(real(db, item, terms, **new))

    return [swapped(store_claims, "_take_over", with_any)]


def discarded_is_failed() -> list[Swap]:
    def open_again(found: Any, row: Row, _: object) -> Any:
        return TakeOver(row) if row.status is Status.DISCARDED else found

    def may(real: Any, row: Any, *args: Any) -> bool:
        return row.status is Status.DISCARDED or bool(real(row, *args))

    return [*judged(open_again), swapped(store_claims, "_may_be_taken", may)]


def replay_sends() -> list[Swap]:
    def sends(real: Any, guard: Guard, state: Any, slot: Any, task: Any, due: Any) -> Any:
        if task.person:
            return line.depart(guard, state, slot, task, guard.seen(due.row), "sends it")
        return real(guard, state, slot, task, due)

    return [swapped(resolver, "settle", sends)]


def any_bytes() -> list[Swap]:
    def alike(real: Any, means: Any, case: Any) -> Any:
        return real(means, replace(case, same_bytes=True))

    return [swapped(evidence, "next_step", alike)]


def lost_is_left() -> list[Swap]:
    def leaves(real: Any, guard: Guard, state: Any, slot: Any, task: Any, due: Any, way: Any) -> Any:
        if isinstance(way, courses.Lost):
            return iter([("leaves it", put(state, slot, None))])
        return real(guard, state, slot, task, due, way)

    return [swapped(resolver, "taken", leaves)]


def age_skips_all() -> list[Swap]:
    def skips(_: object, guard: Guard, state: Any, slot: Any, task: Any, __: object) -> Any:
        return line.end(guard, state, slot, task, "skipped")

    return [swapped(line, "too_old", skips)]


def own_conflicts() -> list[Swap]:
    def strict(found: Any, row: Row, of: Any) -> Any:
        differs = row.fingerprint != of[0].fingerprint and row.status is not Status.FAILED
        return Conflict(row) if differs else found

    return judged(strict)


def release_is_unknown() -> list[Swap]:
    def unknown(_: object, guard: Guard, task: Any) -> Any:
        provider = guard.scenario.providers[task.provider].name
        return task._replace(at="record", does=guard.name(MarkUnknown("called back", provider)))

    return [swapped(flight, "released", unknown)]


def two_transactions() -> list[Swap]:
    def half(real: Any, guard: Guard, state: Any, slot: Any, task: Any) -> Iterator[Any]:
        for label, after in real(guard, state, slot, task):
            if "answer is lost" in label:
                tables = Tables(after.tables.row, state.tables.letters)
                yield f"{label}; its letter is not written yet", after._replace(tables=tables)
            else:
                yield label, after

    return [swapped(flight, "record", half)]


def failed_again_by_itself() -> list[Swap]:
    return judged(lambda found, row, _: TakeOver(row) if row.status is Status.FAILED else found)


def unknown_is_duplicate() -> list[Swap]:
    def duplicate(found: Any, row: Row, of: Any) -> Any:
        parked = isinstance(found, AlsoParked) and row.status is Status.UNKNOWN
        return Duplicate(row) if parked and row.coordinates != of[1] else found

    return judged(duplicate)


def settles_its_own_letter() -> list[Swap]:
    def own(letter: Any, row: Any) -> bool:
        return bool(letter.at == row.at)

    return [(store_letters, "_is_settled_with", own)]


def proof_only_while_open() -> list[Swap]:
    def picky(row: Row, proof: Any) -> Any:
        return Stands(None) if row.status is Status.DISCARDED else proven(row, proof)

    return [(store_outcomes, "proven", picky)]


def nothing_is_due() -> list[Swap]:
    def silent(row: Row, proof: Any) -> Any:
        decision = proven(row, proof)
        return replace(decision, due=False) if isinstance(decision, Write) else decision

    return [(store_outcomes, "proven", silent), *marks_nothing()]


def marks_nothing() -> list[Swap]:
    def unmarked(real: Any, *args: Any, **kwargs: Any) -> Any:
        return {**real(*args, **kwargs), "outcome_due": False}

    return [swapped(store_claims, "_as_taken", unmarked)]


def slow_down_counts() -> list[Swap]:
    def counts(real: Any, answer: Any, *args: Any) -> Transition:
        if isinstance(answer, SlowDown):
            return MarkWaiting(answer.error)
        return real(answer, *args)  # type: ignore[no-any-return] # the real one's own

    return [swapped(rounds, "after", counts)]


def spent_is_failed() -> list[Swap]:
    def gives_up(real: Any, guard: Guard, store: Any, takes: Any, look_in: Any) -> Any:
        done = real(guard, store, takes, look_in)
        for row in store.rows():
            if done and look_in is None:
                store.db.update(
                    row, status=Status.FAILED, doubt_since=None, doubt_provider=None
                )
        return done

    return [swapped(Guard, "put_off", gives_up)]


def older_epoch_speaks() -> list[Swap]:
    def speaks(row: Row | None, lease: Lease, transition: Transition) -> Any:
        if row is not None and not isinstance(transition, MarkUnknown) and row.lease_live:
            lease = replace(lease, epoch=row.epoch, token=row.token, attempts=row.attempts)
        return decide(row, lease, transition)

    return decided(speaks)


def no_fence() -> list[Swap]:
    def always(*_: object) -> bool:
        return True

    return [(transitions, "_is_flight", always), (transitions, "_is_attempt", always)]


def commits_first() -> list[Swap]:
    def first(real: Any, follows: Any, offset: int) -> Any:
        return states.finished(real(follows, offset), offset)

    return [swapped(nature, "handed", first)]


def retries_unclear() -> list[Swap]:
    def retries(real: Any, answer: Any, *args: Any) -> Transition:
        if isinstance(answer, Unclear):
            return MarkWaiting(answer.error)
        return real(answer, *args)  # type: ignore[no-any-return] # the real one's own

    return [swapped(rounds, "after", retries)]


def _constant(owner: object, name: str, value: object) -> Callable[[], list[Swap]]:
    return lambda: [swapped(owner, name, lambda *_: value)]


def _window_forgotten() -> list[Swap]:
    return [swapped(flight, "may_write", lambda _, task: task.held.live)]


DOCUMENTED = replace(worlds.BASIC[6], rebalances=False, sweeps=False)
NATIVE = replace(worlds.BASIC[4], rebalances=False, sweeps=False)
WEBHOOK = replace(worlds.BASIC[2], rebalances=False, sweeps=False, cap=1)

MUTANTS = (
    Mutant("1", "doubt", replace(HOLD, policy=worlds.RESEND), without_doubt),
    Mutant("4", "the deadline at the first byte", DOCUMENTED, _constant(flight, "may_write", True)),
    Mutant("6", "absence counts from the deadline on", DOCUMENTED,
           _constant(evidence, "absence_counts_in", 0.0)),
    Mutant("7", "evidence at its epoch", replace(DOCUMENTED, folds=False), without_epoch),
    Mutant("7a", "a takeover with the attempts it was judged by",
           replace(worlds.ROUNDS, crashes=False), without_attempts),
    Mutant("9", "discarded is closed", replace(worlds.DISCARD_REPEAT, cap=2), discarded_is_failed),
    Mutant("11", "a token per flight", worlds.CALM, _constant(store_claims, "is_ours", False)),
    Mutant("12", "a replay of an unknown only looks", replace(SMALL, replays=1, cap=2),
           replay_sends),
    Mutant("13", "the window is part of the deadline", NATIVE, _window_forgotten),
    Mutant("14", "only the same bytes repeat", worlds.DEPLOY, any_bytes),
    Mutant("16", "the resolver takes dead rows", replace(SMALL, rounds=1), lost_is_left),
    Mutant("17", "max_age skips no row", replace(SMALL, ages=True), age_skips_all),
    Mutant("18", "own coordinates never conflict", replace(SMALL, deploys=1), own_conflicts),
    Mutant("19", "the sweep", replace(worlds.UNREADABLE, sweeps=False)),
    Mutant("21", "a release sends to waiting", worlds.CALM, release_is_unknown),
    Mutant("22", "state and letter in one transaction", HOLD, two_transactions),
    Mutant("23", "failed is not claimed by a redelivery", worlds.CALM, failed_again_by_itself),
    Mutant("24", "who finds unknown is parked too", worlds.REPEAT, unknown_is_duplicate),
    Mutant("25", "settling settles every letter", worlds.REPEAT, settles_its_own_letter),
    Mutant("26", "proof in every state", worlds.DISCARD, proof_only_while_open),
    Mutant("28", "outcome_due with the settling", WEBHOOK, nothing_is_due),
    Mutant("29", "attempts given back", worlds.CALM, slow_down_counts),
    Mutant("34", "cap used and in doubt stays unknown", HOLD, spent_is_failed),
    Mutant("35", "an older epoch's word is dropped", replace(worlds.AGES, folds=False),
           older_epoch_speaks),
    Mutant("+", "the fence", replace(HOLD, folds=False), no_fence),
    Mutant("+", "the outcome before the commit", HOLD, commits_first),
    Mutant("+", "no retry after a read timeout", HOLD, retries_unclear),
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
          "whole/test_operators_resend.py::test_two_clicks_make_one_mail",
          "no look at what it was made again as, nor at epoch and status"),
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
