"""From a state to the next: tasks put in their slots, and the real tracker, thawed and frozen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from consumer.intake.offsets import Tracker
from tests.simulation.small_world.parts import (
    WORKERS,
    Follows,
    Request,
    State,
    Tables,
    Task,
    Worker,
)

STALE, CURRENT = 1, 2
GONE = "gone"

Move: TypeAlias = tuple[str, State]
Slot: TypeAlias = tuple[int, str]  # worker, "line" or "resolver"


def name(slot: Slot) -> str:
    return f"{WORKERS[slot[0]]}.{slot[1]}"


def task_of(state: State, slot: Slot) -> Task | None:
    worker = state.workers[slot[0]]
    return worker.line if slot[1] == "line" else worker.resolver


def put(state: State, slot: Slot, task: Task | None, tables: Tables | None = None) -> State:
    """Put a task in its slot, and the tables as its statement left them."""
    old = state.workers[slot[0]]
    worker = old._replace(line=task) if slot[1] == "line" else old._replace(resolver=task)
    return with_worker(state, slot[0], worker)._replace(tables=tables or state.tables)


def with_worker(state: State, number: int, worker: Worker) -> State:
    workers = list(state.workers)
    workers[number] = worker
    return state._replace(workers=tuple(workers))


def tell(state: State, record: int, status: str) -> State:
    """Upstream hears of a record's end."""
    return state._replace(told=tuple(sorted({*state.told, f"{record} {status}"})))


def under_way(requests: Iterable[Request]) -> tuple[Request, ...]:
    """All in one order: which was written first makes no difference at the door."""
    return tuple(sorted(requests, key=repr))


# ── The real tracker, thawed and frozen


def delivered(follows: Follows, offset: int) -> Follows:
    tracker = _tracker(follows)
    assert tracker.deliver(offset), "delivered twice in one ownership"
    return _follows(tracker)


def finished(follows: Follows, offset: int) -> Follows:
    tracker = _tracker(follows)
    tracker.finish(offset)
    return _follows(tracker)


def due(follows: Follows) -> int | None:
    return _tracker(follows).due()


def told(follows: Follows, offset: int) -> Follows:
    tracker = _tracker(follows)
    tracker.committed(offset)
    return _follows(tracker)


def _tracker(it: Follows) -> Tracker:
    tracker = Tracker(0)
    tracker._open.extend(it.open)
    tracker._done.update(it.done)
    tracker._last, tracker._prefix, tracker._committed = it.last, it.prefix, it.committed
    return tracker


def _follows(tracker: Tracker) -> Follows:
    return Follows(
        tuple(tracker._open), tuple(sorted(tracker._done)), tracker._last, tracker._prefix,
        tracker._committed,
    )  # fmt: skip
