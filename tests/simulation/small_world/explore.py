"""Every state that can be reached, breadth first, each once; and whether an end is in reach."""

from __future__ import annotations

import gc
import re
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from tests.simulation.small_world import flight, folding, laws, line, nature, resolver
from tests.simulation.small_world.parts import WORKERS, State, Tables, Worker
from tests.simulation.small_world.tables import Guard

if TYPE_CHECKING:
    from tests.simulation.small_world.parts import Scenario, Task
    from tests.simulation.small_world.states import Move, Slot

# Looked up when they are taken: a mutant replaces one.
STEPS: dict[str, tuple[ModuleType, str]] = {
    "look": (line, "look"),
    "claim": (line, "claim"),
    "expire": (line, "claim"),
    "abandon": (line, "abandon"),
    "park too": (line, "park_too"),
    "park": (line, "park"),
    "refuse": (line, "refuse"),
    "flight": (flight, "fly"),
    "answer": (flight, "wait_for_answer"),
    "record": (flight, "record"),
    "again": (flight, "once_more"),
    "go on": (resolver, "go_on"),
    "ask": (resolver, "ask"),
    "absent": (resolver, "absent"),
    "prove": (resolver, "prove"),
    "put off": (resolver, "put_off"),
    "open": (resolver, "put_off"),
    "share": (resolver, "share"),
    "deploy": (resolver, "deploy"),
    "replayed": (resolver, "replayed"),
    "tell": (resolver, "tell"),
    "told": (resolver, "clear"),
}


def start(scenario: Scenario) -> State:
    free = Worker(follows=(None,) * scenario.partitions)
    owners = tuple(n % len(WORKERS) for n in range(scenario.partitions))
    return State(
        Tables(), (free, free), owners, (0,) * scenario.partitions,
        accepted=(0,) * len(scenario.providers), excuse=scenario.crashes,
    )  # fmt: skip


def moves(guard: Guard, state: State) -> Iterator[Move]:
    """All that may happen next, each with what comes of it."""
    for number, of in enumerate(WORKERS):
        for label, after in _of_worker(guard, state, number):
            yield f"{of} {label}", after
    if guard.scenario.sweeps:
        yield from resolver.sweep(guard, state)
    yield from nature.arrive(guard, state)
    yield from nature.webhook(guard, state)
    yield from nature.time(guard, state)
    yield from nature.person(guard, state)


def _of_worker(guard: Guard, state: State, number: int) -> Iterator[Move]:
    worker = state.workers[number]
    yield from nature.deliver(guard, state, number)
    yield from nature.commit(state, number)
    for slot, task in (((number, "line"), worker.line), ((number, "resolver"), worker.resolver)):
        if task is not None:
            for label, after in _steps(guard, state, slot, task):
                yield f"({slot[1]}) {label}", after
            for label, after in flight.renew(guard, state, slot, task):
                yield f"({slot[1]}) {label}", after
    if worker.resolver is None and worker.line is None:
        for label, after in resolver.begin(guard, state, (number, "resolver")):
            yield f"(resolver) {label}", after
    if guard.scenario.rebalances:
        yield from nature.rebalance(state, number)
        yield from nature.recall(guard, state, number)
    if guard.scenario.crashes:
        yield from nature.crash(state, number)


def _steps(guard: Guard, state: State, slot: Slot, task: Task) -> Iterator[Move]:
    module, name = STEPS[task.at]
    steps: Iterator[Move] = getattr(module, name)(guard, state, slot, task)
    return steps


@dataclass(slots=True)
class Explored:
    """What was found in one scenario. `broken`: the law; `story`: the shortest way to there."""

    scenario: Scenario
    states: int
    steps: int
    seconds: float
    ends: int = 0
    broken: str | None = None
    story: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = f"{self.scenario.name:<44} {self.states:>9,} states {self.steps:>10,} steps"
        told += f" {self.seconds:6.1f} s"
        if self.broken is None:
            return told
        return "\n".join([f"{told}  {self.broken}", *(f"    {one}" for one in self.story)])


class _Search:
    """The states met so far, in the order in which they were met."""

    def __init__(self, scenario: Scenario) -> None:
        self.guard = Guard(scenario)
        first = start(scenario)
        self.known: dict[State, int] = {first: 0}
        self.states: list[State] = [first]
        self.parents = array("l", [-1])
        self.labels: list[str] = ["begins"]
        self.swaps = bytearray(1)
        self.edges = array("l")  # pairs: to, from

    def run(self, limit: int | None) -> str | None:
        """Search to closure, or to the first law that is broken."""
        number = 0
        while number < len(self.states):
            try:
                law = self._step(number)
            except AssertionError as broken:  # a CHECK of the table, a fence that does not hold
                self._end_at(number)
                return f"{type(broken).__name__}: {str(broken)[:40]}"
            if law is not None:
                return law
            number += 1
            if limit is not None and len(self.states) > limit:
                return f"not closed after {limit:,} states"
        return None

    def _step(self, number: int) -> str | None:
        state = self.states[number]
        for label, raw in moves(self.guard, state):
            law = self._meet(number, label, state, raw)
            if law is not None:
                return law
        return None

    def _end_at(self, number: int) -> None:
        """Have the story end in this state."""
        self.states.append(self.states[number])
        self.parents.append(number)
        self.labels.append("and the next step")
        self.swaps.append(0)

    def _meet(self, number: int, label: str, state: State, raw: State) -> str | None:
        after, swaps = folding.settle(self.guard, raw)
        to = self.known.get(after)
        if to is None:
            to = self.known[after] = len(self.states)
            self.states.append(after)
            self.parents.append(number)
            self.labels.append(label)
            self.swaps.append(swaps)
            self.edges.extend((to, number))
            return laws.broken(self.guard.scenario, state, raw)
        self.edges.extend((to, number))
        return None

    def stuck(self) -> tuple[int | None, int]:
        """Return the first state from which no end is in reach, and how many ends there are."""
        ends = [n for n, it in enumerate(self.states) if laws.is_end(self.guard.scenario, it)]
        into: list[array[int] | None] = [None] * len(self.states)
        for n in range(0, len(self.edges), 2):
            to, by = self.edges[n], self.edges[n + 1]
            sources = into[to]
            if sources is None:
                into[to] = array("l", [by])
            else:
                sources.append(by)
        reached = bytearray(len(self.states))
        todo = list(ends)
        for n in ends:
            reached[n] = 1
        while todo:
            for source in into[todo.pop()] or ():
                if not reached[source]:
                    reached[source] = 1
                    todo.append(source)
        first = reached.find(0)
        return (None if first < 0 else first), len(ends)

    def story(self, number: int) -> list[str]:
        """Tell the way to a state, with the names that the workers had in the beginning."""
        way = []
        while number > 0:
            way.append(number)
            number = self.parents[number]
        told, swapped = [], False
        for step in reversed(way):
            told.append(_renamed(self.labels[step]) if swapped else self.labels[step])
            swapped ^= bool(self.swaps[step])
        return told


def _renamed(label: str) -> str:
    return re.sub(r"\b[AB]\b", lambda it: "B" if it[0] == "A" else "A", label)


def explore(scenario: Scenario, *, limit: int | None = None) -> Explored:
    """Visit every state of the scenario. `limit`: give up after so many."""
    began = time.process_time()
    search = _Search(scenario)
    gc.disable()  # nothing is let go of before the end, and millions of tuples would be walked
    try:
        return _closed(search, limit, began)
    finally:
        gc.enable()


def _closed(search: _Search, limit: int | None, began: float) -> Explored:
    scenario = search.guard.scenario
    law, last, ends = search.run(limit), len(search.states) - 1, 0
    if law is None:
        first, ends = search.stuck()
        if first is not None:
            law, last = "stuck: no end is in reach any more", first
    steps, seconds = len(search.edges) // 2, time.process_time() - began
    found = Explored(scenario, len(search.states), steps, seconds, ends, law)
    found.story = [] if law is None else [*search.story(last), _ending(search.states[last])]
    return found


def _ending(state: State) -> str:
    row, letters = state.tables
    stands = "no row" if row is None else f"row {row.status}, attempts {row.attempts}"
    of = ", ".join(f"{it.record}: {it.reason} {it.status}" for it in letters) or "none"
    return f"[{stands}; letters {of}; accepted {state.accepted}; told {state.told}]"
