"""What happens to the workers: Kafka, the network, providers, time, deaths, and a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from consumer.model import Accepted, OnUnknown, Unclear
from tests.simulation.small_world import flight, states
from tests.simulation.small_world.parts import WORKERS, Follows, Request, Stands, Task, Worker
from tests.simulation.small_world.states import Move, put, task_of

if TYPE_CHECKING:
    from tests.simulation.small_world.parts import State
    from tests.simulation.small_world.tables import Guard


# ── Kafka


def deliver(guard: Guard, state: State, number: int) -> Iterator[Move]:
    """Hand the next record of a partition that it owns to a worker whose line is free."""
    worker, scenario = state.workers[number], guard.scenario
    if worker.line is not None or worker.resolver is not None:
        return
    for partition, owner in enumerate(state.owners):
        if owner != number:
            continue
        follows = worker.follows[partition] or Follows()
        waits = [
            (place.offset, n)
            for n, place in enumerate(scenario.records)
            if place.partition == partition
            and place.offset >= state.committed[partition] and place.offset > follows.last
        ]  # fmt: skip
        if waits:
            offset, record = min(waits)
            all_ = list(worker.follows)
            all_[partition] = handed(follows, offset)
            at = "park" if state.deploy in scenario.unreadable else "look"
            task = Task(at, "line", record, state.deploy)
            given = worker._replace(line=task, follows=tuple(all_))
            yield f"gets record {record}", states.with_worker(state, number, given)


def handed(follows: Follows, offset: int) -> Follows:
    return states.delivered(follows, offset)


def commit(state: State, number: int) -> Iterator[Move]:
    worker = state.workers[number]
    for partition, follows in enumerate(worker.follows):
        due = None if follows is None else states.due(follows)
        if follows is not None and due is not None and state.owners[partition] == number:
            all_ = list(worker.follows)
            all_[partition] = states.told(follows, due)
            committed = list(state.committed)
            committed[partition] = due
            after = states.with_worker(state, number, worker._replace(follows=tuple(all_)))
            yield f"commits {due}", after._replace(committed=tuple(committed))


def rebalance(state: State, number: int) -> Iterator[Move]:
    """A partition goes to the other worker; what this one has in hand goes on, or is recalled."""
    for partition, owner in enumerate(state.owners):
        if owner != number:
            continue
        owners = list(state.owners)
        owners[partition] = 1 - number
        worker = state.workers[number]
        follows = list(worker.follows)
        follows[partition] = None
        task = worker.line
        task = None if task is None else task._replace(tracked=False)
        loser = worker._replace(line=task, follows=tuple(follows))
        yield (
            f"loses partition {partition}",
            states.with_worker(state, number, loser)._replace(owners=tuple(owners)),
        )


def recall(guard: Guard, state: State, number: int) -> Iterator[Move]:
    """Work that holds no row is dropped at once."""
    for which in ("line", "resolver"):
        slot = number, which
        task = task_of(state, slot)
        if task is None or task.held is not None or task.tried or task.at == "told":
            continue
        if task.kind == "line" and flight.may_recall(guard, task):
            yield "lets its record go", put(state, slot, None)


def crash(state: State, number: int) -> Iterator[Move]:
    """Kill -9, and a fresh process."""
    worker = state.workers[number]
    empty = Worker(follows=tuple(None for _ in state.owners))
    if worker != empty:
        for which in ("line", "resolver"):
            state = state._replace(net=flight.detached(state, (number, which)))
        yield "dies", states.with_worker(state, number, empty)._replace(excuse=True)


# ── The network and the providers


def arrive(guard: Guard, state: State) -> Iterator[Move]:
    """A request comes to its provider's door, or is lost on the way there."""
    for request in dict.fromkeys(state.net):
        left = list(state.net)
        left.remove(request)
        gone = state._replace(net=tuple(left))
        yield from _dropped(guard, gone, request)
        taken, message_id = accepted(guard, gone, request)
        yield from _answered(guard, taken, request, message_id)
        if request.slot is not None:
            yield from _denied(guard, gone, request)


def _dropped(guard: Guard, state: State, request: Request) -> Iterator[Move]:
    if request.slot is None:
        yield "a late request is lost", state
    else:
        task = _waits(state, request)
        unclear = flight.answered(guard, state, request.slot, task, Unclear("reset"))
        yield f"the request of {states.name(request.slot)} is lost", unclear


def _answered(
    guard: Guard, state: State, request: Request, message_id: str | None
) -> Iterator[Move]:
    """Accepted as `message_id`; None: the same key came with other bytes, which says nothing."""
    what = f"accepts it as {message_id}" if message_id else "has the key with other bytes"
    if request.slot is None:
        yield f"a late request arrives; the provider {what}", state
        return
    task, of = _waits(state, request), states.name(request.slot)
    answer = Accepted(message_id) if message_id else Unclear("409")
    told = flight.answered(guard, state, request.slot, task, answer)
    yield f"the request of {of} arrives; the provider {what}", told
    lost = flight.answered(guard, state, request.slot, task, Unclear("reset"))
    yield f"the request of {of} arrives; the provider {what}; the answer is lost", lost


def _denied(guard: Guard, state: State, request: Request) -> Iterator[Move]:
    assert request.slot is not None
    task, of = _waits(state, request), states.name(request.slot)
    for what, answer in flight.REFUSALS:
        for shut in (False, True) if what == "cannot for now" else (False,):
            free = (task.by is None and (shut or what == "slows down")) or what == "slows down"
            told = flight.answered(guard, state, request.slot, task, answer, breaker_open=shut)
            told = flight.count(guard, told, -1) if free else told
            breaker = "; the breaker opens" if shut else ""
            yield f"the request of {of} arrives; the provider {what}{breaker}", told


def _waits(state: State, request: Request) -> Task:
    assert request.slot is not None
    task = task_of(state, request.slot)
    assert task is not None
    return task


def accepted(guard: Guard, state: State, request: Request) -> tuple[State, str | None]:
    """Add to the ledger; a provider that keeps our key knows a repeat for what it is."""
    provider, n = guard.scenario.providers[request.provider], request.provider
    if provider.native and state.remembers is not None:
        same = request.variant == state.remembers
        if not same and guard.scenario.policy is OnUnknown.HOLD:
            raise AssertionError("another mail was sent under the same key")
        return state, f"{provider.name}{state.accepted[n]}" if same else None
    ledger = list(state.accepted)
    ledger[n] = min(ledger[n] + 1, 3)
    keeps = request.variant if provider.native else state.remembers
    state = state._replace(accepted=tuple(ledger), remembers=keeps)
    return state, f"{provider.name}{ledger[n]}"


def webhook(guard: Guard, state: State) -> Iterator[Move]:
    for n, provider in enumerate(guard.scenario.providers):
        if provider.pushes:
            for mail in range(1, state.accepted[n] + 1):
                told = f"{provider.name}{mail}"
                tables, known = guard.do(guard.hear, state.tables, n, told)
                after = state._replace(tables=tables, heard=True)
                if known and after != state:
                    yield f"a webhook tells of {told}", after


# ── Time


def time(guard: Guard, state: State) -> Iterator[Move]:
    row = state.tables.row
    if row is not None:
        yield from _lease_dies(guard, state, row)
        yield from _deadline(guard, state, row)
        yield from _window(guard, state, row)
        yield from _doubt(guard, state, row)
    letters = state.tables.letters
    for n, letter in enumerate(letters):
        if letter.status == "parked" and not letter.due:
            due = (*letters[:n], letter._replace(due=True), *letters[n + 1 :])
            tables = state.tables._replace(letters=due)
            yield f"the letter of record {letter.record} is due", state._replace(tables=tables)
    if guard.scenario.ages and not state.old:
        yield "the event is too old by now", state._replace(old=True)
    if state.deploy < guard.scenario.deploys:
        yield "a deploy", state._replace(deploy=state.deploy + 1)


def _lease_dies(guard: Guard, state: State, row: Stands) -> Iterator[Move]:
    """Its holder believes it over before the database does."""
    if row.lease != 1:
        return
    visible = guard.scenario.providers[row.provider].visible
    dead = row._replace(lease=0, deadline=0 if visible is None else 1)
    state = state._replace(tables=state.tables._replace(row=dead))
    for number in range(len(WORKERS)):
        for which in ("line", "resolver"):
            task = task_of(state, (number, which))
            if task is not None and states.name((number, which)) == row.token:
                held = None if task.held is None else task.held._replace(live=False)
                late = task._replace(held=held)
                state = put(state, (number, which), late)._replace(excuse=True)
    yield "the lease dies", state


def _deadline(guard: Guard, state: State, row: Stands) -> Iterator[Move]:
    if guard.scenario.providers[row.provider].visible is None or row.lease == 1:
        return
    if row.deadline == 0 or (row.deadline == 1 and not state.net) or row.deadline == 2:
        on = row._replace(deadline=row.deadline + 1)
        what = ("the deadline is past", "nothing is under way any more", "a lookup would find it")
        yield what[row.deadline], state._replace(tables=state.tables._replace(row=on))


def _window(guard: Guard, state: State, row: Stands) -> Iterator[Move]:
    if not guard.scenario.providers[row.provider].native:
        return
    if row.first == 0:
        on = row._replace(first=1)
        after = state._replace(tables=state.tables._replace(row=on))
        for number in range(len(WORKERS)):
            for which in ("line", "resolver"):
                task = task_of(after, (number, which))
                if task is not None and task.by == "repeat" and task.window:
                    after = put(after, (number, which), task._replace(window=False))
        yield "the window is about to close", after
    elif row.first == 1 and not state.net:
        on = row._replace(first=2)
        yield (
            "the provider forgets the key",
            state._replace(tables=state.tables._replace(row=on), remembers=None),
        )


def _doubt(guard: Guard, state: State, row: Stands) -> Iterator[Move]:
    if row.doubt is None or row.status != "unknown":
        return
    provider = guard.scenario.providers[row.provider]
    if row.doubt == 0 and provider.pushes:
        on = row._replace(doubt=1)
        yield "the webhook was waited for", state._replace(tables=state.tables._replace(row=on))
    elif row.doubt < 2 and provider.visible is not None:
        on = row._replace(doubt=2)
        yield "it was asked about for long", state._replace(tables=state.tables._replace(row=on))


# ── A person


def person(guard: Guard, state: State) -> Iterator[Move]:
    scenario, row = guard.scenario, state.tables.row
    if state.replays < scenario.replays:
        for n, letter in enumerate(state.tables.letters):
            if letter.status in ("open", "parked"):
                tables, _ = guard.do(guard.make_due, state.tables, n)
                yield (
                    f"a person replays record {letter.record}",
                    state._replace(tables=tables, replays=state.replays + 1),
                )
    if state.discards < scenario.discards and row is not None:
        tables, _ = guard.do(guard.discard, state.tables)
        if tables != state.tables:
            yield "a person gives it up", state._replace(tables=tables, discards=state.discards + 1)
