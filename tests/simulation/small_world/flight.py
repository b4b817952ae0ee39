"""The steps of `consumer.flight`: attempt, answer, write, and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from consumer import rounds
from consumer.model import (
    Evidence,
    MarkExpired,
    MarkFailed,
    MarkSent,
    MarkWaiting,
    Refused,
    Rejected,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.rounds import Standing
from tests.simulation.small_world import line, states
from tests.simulation.small_world.parts import Request
from tests.simulation.small_world.states import Move, Slot, put

if TYPE_CHECKING:
    from consumer.model import Answer, Transition
    from tests.simulation.small_world.parts import State, Task
    from tests.simulation.small_world.tables import Guard

NEXT_ROUND_FITS = 400.0  # seconds: room for the first of the further rounds, and no other
LOOK_IN = 10.0
REFUSALS: tuple[tuple[str, Answer], ...] = (
    ("cannot for now", Transient("503")),
    ("slows down", SlowDown("429")),
    ("refuses the recipient", Refused("406")),
    ("rejects the message", Rejected("422")),
)


def fly(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """The first byte: the deadline is compared at this very moment."""
    if may_write(task):
        flying = state._replace(
            net=states.under_way((*state.net, Request(task.provider, task.variant, slot))),
            excuse=True,
        )  # fmt: skip
        yield "sends", put(count(guard, flying, 1), slot, task._replace(at="answer"))
    yield "is past its deadline, sends nothing", answered(guard, state, slot, task, TooLate())
    for open_ in (False, True):
        shut = "; the breaker opens" if open_ else ""
        tried = state if open_ else count(guard, state, 1)
        after = answered(guard, tried, slot, task, Transient("connect"), breaker_open=open_)
        yield f"cannot connect{shut}", after
    if may_recall(guard, task):
        yield "is called back", put(state, slot, released(guard, task))


def count(guard: Guard, state: State, by: int) -> State:
    return state._replace(counted=min(state.counted + by, 9)) if guard.scenario.counts else state


def may_write(task: Task) -> bool:
    return task.held is not None and task.held.live and task.window


def may_recall(guard: Guard, task: Task) -> bool:
    return guard.scenario.rebalances and (task.kind != "line" or not task.tracked)


def released(guard: Guard, task: Task) -> Task:
    release = MarkWaiting("called back", give_back=task.at == "flight", release=True)
    return task._replace(at="record", does=guard.name(release))


def answered(
    guard: Guard, state: State, slot: Slot, task: Task, answer: Answer,
    *, breaker_open: bool = False,
) -> State:  # fmt: skip
    """What is decided about the answer, to be written next."""
    transition = decide(guard, task, answer, breaker_open=breaker_open)
    decided = task._replace(at="record", does=guard.name(transition))
    return put(state, slot, decided)


def decide(guard: Guard, task: Task, answer: Answer, *, breaker_open: bool) -> Transition:
    provider = guard.scenario.providers[task.provider].name
    if task.by is not None:
        return rounds.after_in_doubt(answer, provider, Evidence(task.by), LOOK_IN)
    held = task.held
    assert held is not None

    def standing() -> Standing:
        fits = NEXT_ROUND_FITS if held.round < guard.scenario.rounds else 0.0
        return Standing(held.attempts, held.round, fits, breaker_open, probe=False)

    return rounds.after(answer, provider, standing, guard.scenario.cap)


def wait_for_answer(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """No answer, and no more patience: the request may still be under way."""
    late = state._replace(net=detached(state, slot))
    yield "gives up waiting", answered(guard, late, slot, task, Unclear("timeout"))


def detached(state: State, slot: Slot) -> tuple[Request, ...]:
    """Nobody waits for this answer any more."""
    return states.under_way(
        one._replace(slot=None) if one.slot == slot else one for one in state.net
    )


def record(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    assert task.does is not None
    tables, held = guard.do(
        guard.record, state.tables, states.name(slot), task.held, task.record, task.variant,
        task.does,
    )  # fmt: skip
    transition = guard.transitions[task.does]
    what = type(transition).__name__
    if tables != state.tables:
        yield f"writes {what}, and the answer is lost", put(state, slot, task, tables)
    if held is None:
        yield f"writes {what}: fenced out", put(state, slot, line.again(task), tables)
        return
    match transition:
        case MarkWaiting(release=True):
            after = put(state, slot, None, tables)
        case MarkWaiting():
            after = put(state, slot, task._replace(at="again", does=None, held=held), tables)
        case _:
            after = line.end(guard, state, slot, task, _TOLD.get(type(transition)), tables)
    yield f"writes {what}", after


_TOLD: Mapping[type, str] = {MarkSent: "sent", MarkFailed: "failed", MarkExpired: "expired"}


def once_more(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """Between two attempts."""
    if not task.tried:
        if may_recall(guard, task):
            yield "is called back", put(state, slot, released(guard, task))
        if state.old and not line.spared(task):
            ends = task._replace(at="record", does=guard.name(line.EXPIRED))
            yield "finds it too old", put(state, slot, ends)
            return
    everywhere = range(len(guard.scenario.providers))
    for n in (task.provider,) if task.tried else everywhere:
        yield from _next(guard, state, slot, task._replace(provider=n))


def _next(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, held = guard.do(
        guard.next_attempt, state.tables, states.name(slot), task.held, task.record, task.variant,
        task.provider,
    )  # fmt: skip
    if tables != state.tables:
        lost = put(state, slot, task._replace(tried=True), tables)
        yield "counts one more attempt, and the answer is lost", lost
    if held is None:
        yield "cannot go on: fenced out", put(state, slot, line.again(task), tables)
    else:
        held = line.believed(held, tables)
        flies = task._replace(at="flight", held=held, tried=False)
        yield "counts one more attempt", put(state, slot, flies, tables)


def renew(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """The lease of a live flight is renewed, or known to be lost."""
    if task.held is None or task.at not in ("flight", "answer", "record", "again"):
        return
    tables, ours = guard.do(guard.renew, state.tables, states.name(slot), task.held)
    renewed = task._replace(held=task.held._replace(live=ours))
    if tables != state.tables or renewed != task:
        yield "renews its lease" if ours else "loses its lease", put(state, slot, renewed, tables)
