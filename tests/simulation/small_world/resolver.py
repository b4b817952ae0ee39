"""The steps of `consumer.resolver`, `inquiry` and `sweep`: what the line could not finish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from consumer import evidence
from consumer.courses import Anew, Beside, Busy, GoOn, Inquire, Lost, Unreadable
from consumer.evidence import Ask, Case, Open, Repeat, SendAgain, SendAnew, Wait
from tests.simulation.small_world import line, states
from tests.simulation.small_world.parts import Task
from tests.simulation.small_world.states import Move, Slot, put
from tests.simulation.small_world.tables import OPEN

if TYPE_CHECKING:
    from consumer.courses import Course
    from consumer.guard.parking import Due
    from tests.simulation.small_world.parts import Seen, State
    from tests.simulation.small_world.tables import Guard

FINAL = ("sent", "failed", "expired", "discarded")


def begin(guard: Guard, state: State, slot: Slot) -> Iterator[Move]:
    """What an idle resolver may take: a due letter, an outcome to tell, a row left open."""
    for n, letter in enumerate(state.tables.letters):
        if letter.status == "parked" and letter.due:
            tables, (due, way) = guard.do(guard.take_due, state.tables, n, state.deploy)
            held = letter.record, letter.typed, letter.failures
            task = Task("take", "once", letter.record, state.deploy, letter=held, person=due.replay)
            yield from taken(guard, state._replace(tables=tables), slot, task, due, way)
    row = state.tables.row
    if row is not None and row.due and row.status in FINAL:
        _, seen = guard.do(guard.outcomes_due, state.tables)
        if seen is not None:
            yield "reads an outcome to tell", put(state, slot, Task("tell", "tell", takes=seen))


def sweep(guard: Guard, state: State) -> Iterator[Move]:
    """`Sweep`: a row left open, whose record will not be delivered again.

    At once: it names its epoch, and what came between would be refused.
    """
    row = state.tables.row
    if row is None or row.status not in OPEN or row.at is None or row.lease == 1:
        return
    place = guard.scenario.records[row.at]
    if state.committed[place.partition] <= place.offset:
        return
    _, seen = guard.do(guard.stale, state.tables)
    if seen is not None:
        work = guard.abandon if seen.status == "sending" else guard.park_too
        tables, _ = guard.do(work, state.tables, row.at, seen)
        yield "the sweep finds the row", state._replace(tables=tables)


def taken(
    guard: Guard, state: State, slot: Slot, task: Task, due: Due, way: Course
) -> Iterator[Move]:
    """`Resolver._step`."""
    match way:
        case Anew():
            at = "park" if task.variant in guard.scenario.unreadable else "look"
            anew = task._replace(at=at, kind="replay")
            yield "takes a letter, to replay it", put(state, slot, anew)
        case Inquire():
            yield from settle(guard, state, slot, task, due)
        case GoOn():
            yield "takes a letter", put(state, slot, task._replace(at="go on"))
        case Beside():
            yield "takes a letter beside the row", put(state, slot, task._replace(at="share"))
        case Lost(row):
            lost = task._replace(at="abandon", takes=guard.seen(row))
            yield "takes a letter", put(state, slot, lost)
        case Unreadable():
            yield "takes a letter it cannot read", put(state, slot, task._replace(at="deploy"))
        case Busy():
            yield "takes a letter of a row in flight", put(state, slot, None)


def go_on(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """`Line.go_on`: the next round."""
    row = state.tables.row
    if row is None or row.status != "waiting" or row.lease:
        yield "has nothing to go on with", put(state, slot, None)
        return
    _, (_, seen) = guard.do(guard.look, state.tables, task.record, task.variant, False)  # noqa: FBT003 - remembered
    yield from line.depart(guard, state, slot, task, seen, "goes on")


# ── The inquiry


def settle(guard: Guard, state: State, slot: Slot, task: Task, due: Due) -> Iterator[Move]:
    row, age = due.row, due.age
    assert row is not None
    assert age is not None
    case = Case(
        on_unknown=guard.scenario.policy,
        attempts_left=guard.scenario.cap - row.attempts,
        first_attempt_ago=age.first_attempt,
        deadline_ago=age.deadline,
        doubt_ago=age.doubt,
        same_account=True,
        same_bytes=row.body_hash == guard.scenario.body(task.record, task.variant),
        held_back=state.old,
    )
    task = task._replace(takes=guard.seen(row))
    yield from step(guard, state, slot, task, case)


def step(guard: Guard, state: State, slot: Slot, task: Task, case: Case) -> Iterator[Move]:
    """`Inquiry._act` on what comes next."""
    takes = task.takes
    assert takes is not None
    means = guard.scenario.providers[takes.provider].means
    match evidence.next_step(means, case):
        case Repeat():
            yield from _again(state, slot, task, takes, "repeat")
        case Ask():
            asks = task._replace(at="ask", does=guard.name_case(case))
            yield "takes a letter, to ask", put(state, slot, asks)
        case SendAnew():
            yield from line.depart(
                guard, state, slot, task, takes, "knows it never sent", clears=True
            )
        case Wait():
            yield "waits for a webhook", put(state, slot, task._replace(at="put off"))
        case SendAgain():
            yield from _again(state, slot, task, takes, "policy")
        case Open():
            yield "has nobody to ask", put(state, slot, task._replace(at="open"))


def _again(state: State, slot: Slot, task: Task, takes: Seen, by: str) -> Iterator[Move]:
    claims = task._replace(at="claim", provider=takes.provider, by=by, window=True, does=None)
    yield f"takes a letter, to send once more, by {by}", put(state, slot, claims)
    yield "finds the provider shut", put(state, slot, task._replace(at="put off", does=None))


def ask(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    """Ask the provider; what it says is acted on later, when it may be stale."""
    takes, row, case = task.takes, state.tables.row, guard.cases[task.does or ""]
    assert takes is not None
    assert row is not None
    provider = guard.scenario.providers[takes.provider]
    visible = provider.visible
    assert visible is not None
    sent = state.accepted[takes.provider]
    for n in range(1, sent + 1):
        proves = task._replace(at="prove", does=f"{provider.name}{n}")
        yield f"asks: found as {proves.does}", put(state, slot, proves)
    if not sent or not provider.documents or row.deadline < LOOKUP_FINDS:
        if evidence.absence_counts_in(visible, case) > 0:
            yield "asks: not found yet", put(state, slot, task._replace(at="put off", does=None))
        else:
            absent = task._replace(at="absent", does=guard.name_case(replace(case, absent=True)))
            yield "asks: absent", put(state, slot, absent)
    if case.doubt_ago < visible + evidence.ASK_PATIENCE:
        yield "asks: no answer", put(state, slot, task._replace(at="put off", does=None))
    else:
        mute = task._replace(at="absent", does=guard.name_case(replace(case, mute=True)))
        yield "asks: no answer for too long", put(state, slot, mute)


LOOKUP_FINDS = 3  # the phase of a deadline at which what arrived is surely found


def absent(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    case = guard.cases[task.does or ""]
    yield from step(guard, state, slot, task._replace(does=None), case)


def prove(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    assert task.takes is not None
    tables, _ = guard.do(guard.prove, state.tables, task.takes.provider, task.does)
    yield "writes the proof", put(state, slot, None, tables)


def put_off(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    look_in = None if task.at == "open" else 10.0
    tables, _ = guard.do(guard.put_off, state.tables, task.takes, look_in)
    what = "opens it for a person" if look_in is None else "puts it off"
    yield what, put(state, slot, None, tables)


def share(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.share_fate, state.tables, task.letter)
    yield "has it share the row's fate", put(state, slot, None, tables)


def deploy(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.wait_for_deploy, state.tables, task.letter)
    yield "leaves it for a deploy", put(state, slot, None, tables)


def replayed(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.replayed, state.tables, task.letter)
    yield "closes the replayed letter", put(state, slot, None, tables)


# ── Telling upstream


def tell(_: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    assert task.takes is not None
    if task.takes.at is not None:
        state = states.tell(state, task.takes.at, task.takes.status)
    yield f"publishes: {task.takes.status}", put(state, slot, task._replace(at="told"))


def clear(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    tables, _ = guard.do(guard.outcome_told, state.tables, task.takes)
    yield "clears the flag", put(state, slot, None, tables)
