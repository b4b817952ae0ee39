"""What makes no difference is left out of a state, so that equals meet.

* Epochs, tokens and failures are only ever compared for equality. A row's epoch is CURRENT, as is
  what is held of it, and all older ones are STALE; a token that no task holds is GONE.
* Who writes at a stale epoch is refused, unless it is proof, and looks again: the task is there
  already. That the refusal is sure is itself held, at each fold (`refused`).
* Workers are equal: A is who owns the first partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumer.model import MarkSent
from tests.simulation.small_world import line, states
from tests.simulation.small_world.parts import WORKERS, Held, Seen, State, Tables, Task, Worker
from tests.simulation.small_world.states import CURRENT, GONE, STALE

if TYPE_CHECKING:
    from tests.simulation.small_world.parts import Stands
    from tests.simulation.small_world.states import Slot
    from tests.simulation.small_world.tables import Guard

NOTHING_SEEN = Seen("unknown", CURRENT, 0, 0, None)


class NotRefusedError(AssertionError):
    """A write at a stale epoch took effect."""


def settle(guard: Guard, state: State) -> tuple[State, bool]:
    """Make the state canonical. True: A and B have changed their names."""
    row = state.tables.row
    if row is not None and row.epoch != CURRENT:
        state = _epochs(state, row.epoch)
        row = row._replace(epoch=CURRENT)
        state = state._replace(tables=state.tables._replace(row=row))
    state = _tasks(guard, state)
    if row is not None and row.token != GONE and not _holds(state, row.token):
        row = row._replace(token=GONE)
        state = state._replace(tables=state.tables._replace(row=row))
    if state.tables.letters:
        state = _failures(state)
    return (_swapped(state), True) if state.owners[0] == 1 else (state, False)


# ── Epochs


def _epochs(state: State, now: int) -> State:
    workers = tuple(
        Worker(_of_epoch(it.line, now), _of_epoch(it.resolver, now), it.follows)
        for it in state.workers
    )
    return state._replace(workers=workers)


def _of_epoch(task: Task | None, now: int) -> Task | None:
    if task is None:
        return None
    if task.held is not None:
        epoch = CURRENT if task.held.epoch == now else STALE
        task = task._replace(held=task.held._replace(epoch=epoch))
    if task.takes is not None:
        epoch = CURRENT if task.takes.epoch == now else STALE
        task = task._replace(takes=task.takes._replace(epoch=epoch))
    return task


def _holds(state: State, token: str) -> bool:
    number, which = token.split(".")
    task = states.task_of(state, (WORKERS.index(number), which))
    return task is not None and (task.held is not None or task.tried)


# ── Tasks


def _tasks(guard: Guard, state: State) -> State:
    for number, worker in enumerate(state.workers):
        if worker.line is not None:
            folded = _folded(guard, state, (number, "line"), worker.line)
            if folded is not worker.line:
                state = states.put(state, (number, "line"), folded)
        if worker.resolver is not None:
            folded = _folded(guard, state, (number, "resolver"), worker.resolver)
            if folded is not worker.resolver:
                state = states.put(state, (number, "resolver"), folded)
    return state


def _folded(guard: Guard, state: State, slot: Slot, task: Task) -> Task | None:
    if task.held is not None:
        return _in_flight(guard, state, slot, task, task.held)
    row, takes = state.tables.row, task.takes
    if takes is None or row is None:
        return task
    if task.at == "park too":
        return task if takes == NOTHING_SEEN else task._replace(takes=NOTHING_SEEN)
    if takes.epoch == STALE and guard.scenario.folds:
        return _stale(task, row, states.name(slot))
    return task


def _stale(task: Task, row: Stands, token: str) -> Task | None:
    """What it saw is over: a takeover, or a note about it, is refused."""
    if task.at in ("claim", "expire"):
        mine = task.tried and row.token == token
        return task if mine else line.again(task)
    if task.at == "abandon":
        return line.again(task)
    return None if task.at in ("put off", "open", "told") else task


def _in_flight(guard: Guard, state: State, slot: Slot, task: Task, held: Held) -> Task | None:
    if held.epoch == STALE and guard.scenario.folds and _will_be_refused(guard, task, held):
        refused(guard, state, slot, task)
        return line.again(task)
    if task.at == "flight" or held.live:
        return task
    return task._replace(held=held._replace(live=True))  # asked only at the first byte


def _will_be_refused(guard: Guard, task: Task, held: Held) -> bool:
    match task.at:
        case "record":
            return not isinstance(guard.transitions[task.does or ""], MarkSent)
        case "flight":
            return not held.live
        case "again":
            return not task.tried  # its next attempt may stand already, the answer lost
        case _:
            return False


def refused(guard: Guard, state: State, slot: Slot, task: Task) -> None:
    """Hold that nothing this flight may write takes effect, proof excepted."""
    for does, transition in list(guard.transitions.items()):
        if not isinstance(transition, MarkSent):
            for attempts in range(guard.scenario.cap + 1):
                held = Held(STALE, attempts, 0)
                asked = states.name(slot), held, task.record, task.variant, does
                tables, done = guard.do(guard.record, state.tables, *asked)
                if done is not None or tables != state.tables:
                    raise NotRefusedError(f"a stale {type(transition).__name__} was written")


# ── Letters


def _failures(state: State) -> State:
    """Renumber failures: by rank among those that are held, 1 where nobody holds the letter."""
    held = [it.resolver.letter for it in state.workers if it.resolver and it.resolver.letter]
    if not held and all(letter.failures == 1 for letter in state.tables.letters):
        return state
    ranks: dict[tuple[int, bool, int], tuple[int, bool, int]] = {}
    letters = []
    for letter in state.tables.letters:
        of = [it for it in held if it[:2] == (letter.record, letter.typed)]
        known = sorted({it[2] for it in of} | {letter.failures})
        ranks |= {it: (*it[:2], known.index(it[2]) + 1) for it in of}
        letters.append(letter._replace(failures=known.index(letter.failures) + 1))
    workers = tuple(
        it._replace(resolver=it.resolver._replace(letter=ranks.get(it.resolver.letter)))
        if it.resolver and it.resolver.letter
        else it
        for it in state.workers
    )
    return state._replace(tables=Tables(state.tables.row, tuple(letters)), workers=workers)


# ── Workers


def _swapped(state: State) -> State:
    row = state.tables.row
    if row is not None and row.token != GONE:
        number, which = row.token.split(".")
        token = f"{WORKERS[1 - WORKERS.index(number)]}.{which}"
        tables = state.tables._replace(row=row._replace(token=token))
    else:
        tables = state.tables
    net = (
        one if one.slot is None else one._replace(slot=(1 - one.slot[0], one.slot[1]))
        for one in state.net
    )
    return state._replace(
        tables=tables, workers=state.workers[::-1], owners=tuple(1 - n for n in state.owners),
        net=states.under_way(net),
    )  # fmt: skip
