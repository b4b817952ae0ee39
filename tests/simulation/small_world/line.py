"""The steps of `consumer.line`, `takeoff` and `aside`: one record, looked at before each step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from consumer.model import MarkExpired
from tests.simulation.small_world import states
from tests.simulation.small_world.parts import Task
from tests.simulation.small_world.states import Move, Slot, put

if TYPE_CHECKING:
    from tests.simulation.small_world.parts import Held, Seen, State, Tables
    from tests.simulation.small_world.tables import Guard

EXPIRED = MarkExpired("held back: too_old")


def again(task: Task) -> Task | None:
    """Look again, with empty hands. What the resolver flies by itself ends instead."""
    if task.kind not in ("line", "replay"):
        return None
    kept = task.kind, task.record, task.variant, task.tracked, task.letter, task.person
    return Task("look", *kept)


def end(
    guard: Guard, state: State, slot: Slot, task: Task, told: str | None = None,
    tables: Tables | None = None,
) -> State:  # fmt: skip
    """An ending: the record is finished, or its letter's replay is."""
    match task.kind:
        case "line":
            return finish(guard, put(state, slot, None, tables), slot, task, told)
        case "replay":
            kept = task.kind, task.record, task.variant, task.tracked, task.letter, task.person
            return put(state, slot, Task("replayed", *kept), tables)
        case _:
            return put(state, slot, None, tables)


def finish(guard: Guard, state: State, slot: Slot, task: Task, told: str | None) -> State:
    """Publish the outcome; then the offset may be committed, if its ownership still stands."""
    if told is not None and told != "unknown":
        state = states.tell(state, task.record, told)
    worker = state.workers[slot[0]]
    if not task.tracked:
        return state
    place = guard.scenario.records[task.record]
    follows = list(worker.follows)
    before = follows[place.partition]
    assert before is not None
    follows[place.partition] = states.finished(before, place.offset)
    return states.with_worker(state, slot[0], worker._replace(follows=tuple(follows)))


def spared(task: Task) -> bool:
    """A person asked for it, so its age does not matter."""
    return task.kind == "replay" or task.person


def look(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    _, (verdict, seen) = guard.do(
        guard.look, state.tables, task.record, task.variant, task.kind == "replay"
    )
    label = f"looks: {verdict}"
    match verdict:
        case "Nothing" | "TakeOver":
            yield from depart(guard, state, slot, task, seen, label)
        case "Wait":
            return
        case "Redelivery" | "Duplicate":
            yield label, end(guard, state, slot, task, seen.status)
        case "Abandoned":
            yield label, put(state, slot, task._replace(at="abandon", takes=seen))
        case "AlsoParked":
            yield label, put(state, slot, task._replace(at="park too", takes=seen))
        case "Conflict" | "KeyDrift":
            does = "conflict" if verdict == "Conflict" else "key_drift"
            yield label, put(state, slot, task._replace(at="refuse", does=does))
        case _:
            raise AssertionError(verdict)


def depart(
    guard: Guard, state: State, slot: Slot, task: Task, takes: Seen | None, label: str,
    *, clears: bool = False,
) -> Iterator[Move]:  # fmt: skip
    """`Line.send` up to the claim."""
    if state.old and not spared(task):
        yield f"{label}; too old", too_old(guard, state, slot, task, takes)
        return
    for n, _ in enumerate(guard.scenario.providers):
        claims = task._replace(at="claim", takes=takes, clears=clears, provider=n, does=None)
        yield label, put(state, slot, claims)


def too_old(guard: Guard, state: State, slot: Slot, task: Task, takes: Seen | None) -> State:
    if takes is None:
        return end(guard, state, slot, task, "skipped")
    expires = task._replace(
        at="expire", takes=takes, clears=True, provider=takes.provider, does=None
    )
    return put(state, slot, expires)


def claim(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """Claim; for a row that got too old, only to end it."""
    tables, held = guard.do(
        guard.claim, state.tables, states.name(slot), task.record, task.variant, task.provider,
        task.takes, task.clears, spared(task),
    )  # fmt: skip
    if tables != state.tables:
        lost = put(state, slot, task._replace(tried=True), tables)
        yield "claims, and the answer is lost", lost
    if held is None:
        yield "claims in vain", put(state, slot, again(task), tables)
        return
    anew = task.takes is not None and task.takes.status == "failed" and not own(task)
    state = state._replace(counted=0) if anew else state
    held = believed(held, tables)
    task = task._replace(held=held, tried=False, takes=None, clears=False)
    if task.at == "expire":
        yield (
            "claims, to end it",
            put(state, slot, task._replace(at="record", does=guard.name(EXPIRED)), tables),
        )
    else:
        yield "claims", put(state, slot, task._replace(at="flight"), tables)


def own(task: Task) -> bool:
    """A record comes to its own row again, and nobody asked for that."""
    return task.kind == "line" and task.takes is not None and task.takes.at == task.record


def believed(held: Held, tables: Tables) -> Held:
    """A lease counts from before the first try went out: it may be over when the answer comes."""
    return held._replace(live=tables.row is not None and tables.row.lease == 1)


def end_or_look(
    guard: Guard, state: State, slot: Slot, task: Task, tables: Tables, *, done: bool
) -> State:
    if done:
        return end(guard, state, slot, task, tables=tables)
    return put(state, slot, again(task), tables)


def abandon(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, done = guard.do(guard.abandon, state.tables, task.record, task.takes)
    if tables != state.tables:
        yield "makes it unknown, and the answer is lost", put(state, slot, task, tables)
    yield "makes it unknown", end_or_look(guard, state, slot, task, tables, done=done)


def park_too(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, done = guard.do(guard.park_too, state.tables, task.record, task.takes)
    if tables != state.tables:
        yield "parks it too, and the answer is lost", put(state, slot, task, tables)
    yield "parks it too", end_or_look(guard, state, slot, task, tables, done=done)


def refuse(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.refuse, state.tables, task.record, task.does)
    yield f"refuses it: {task.does}", end(guard, state, slot, task, tables=tables)


def park(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.park, state.tables, task.record)
    yield "cannot read it: a dead letter", end(guard, state, slot, task, "dead_letter", tables)
