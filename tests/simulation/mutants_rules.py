"""The rules of the guard, each removed by a small patch of the real code or of the Store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

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
from tests.simulation.small_world import flight, line, nature, resolver, states
from tests.simulation.small_world.parts import Tables
from tests.simulation.small_world.states import put
from tests.simulation.small_world.tables import Guard

Swap = tuple[object, str, object]


def swapped(owner: object, name: str, wrapper: Callable[..., Any]) -> Swap:
    """Replace a function by one that is handed the real one first."""
    real = getattr(owner, name)

    def instead(*args: Any, **kwargs: Any) -> Any:
        return wrapper(real, *args, **kwargs)

    instead.__name__ = name
    return owner, name, instead


def judged(change: Callable[[Any, Row, Any], Any]) -> list[Swap]:
    """Have the verdict of a found row changed."""

    def other(_: object, row: Row, mail: Any, at: Any, cap: int, **compared: Any) -> Any:
        return change(judge(row, mail, at, cap, **compared), row, (mail, at))

    return [swapped(courses, "judge", other)]


def decided(change: Callable[[Row, Lease, Transition], Any]) -> list[Swap]:
    return [(store_outcomes, "decide", change)]


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
    def leaves(
        real: Any, guard: Guard, state: Any, slot: Any, task: Any, due: Any, way: Any
    ) -> Any:
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
                store.db.update(row, status=Status.FAILED, doubt_since=None, doubt_provider=None)
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


def constant(owner: object, name: str, *, value: object) -> Callable[[], list[Swap]]:
    return lambda: [swapped(owner, name, lambda *_: value)]


def window_forgotten() -> list[Swap]:
    return [swapped(flight, "may_write", lambda _, task: task.held.live)]
