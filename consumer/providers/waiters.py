"""Who waits for a permit: first come, first served among those that a breaker does not hold."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Group(NamedTuple):
    """Waiters that the same things hold up. Patient ones wait for a breaker, others leave then."""

    high: bool
    sender: str
    patient: bool


@dataclass(frozen=True, slots=True, eq=False)
class Waiter(Generic[T]):
    number: int  # order of arrival
    group: Group
    future: asyncio.Future[T | None]


class Waiters(Generic[T]):
    """A queue for each group. There are few groups, so the eldest is found by looking at all."""

    def __init__(self) -> None:
        self._queues: dict[Group, deque[Waiter[T]]] = {}
        self._arrived = 0

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._queues.values())

    def __bool__(self) -> bool:
        return bool(self._queues)

    def groups(self) -> Iterator[Group]:
        return iter(tuple(self._queues))

    def add(self, group: Group) -> Waiter[T]:
        self._arrived += 1
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        waiter = Waiter(self._arrived, group, future)
        self._queues.setdefault(group, deque()).append(waiter)
        return waiter

    def eldest(self, admits: Callable[[Group], bool]) -> Waiter[T] | None:
        """The one that came first among the groups that may go now."""
        eldest: Waiter[T] | None = None
        for group in self.groups():
            head = self._head(group) if admits(group) else None
            if head is not None and (eldest is None or head.number < eldest.number):
                eldest = head
        return eldest

    def remove(self, waiter: Waiter[T]) -> None:
        queue = self._queues.get(waiter.group)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            if not queue:
                del self._queues[waiter.group]

    def dismiss(self, group: Group) -> None:
        """All of them leave with nothing."""
        for waiter in self._queues.pop(group, ()):
            if not waiter.future.done():
                waiter.future.set_result(None)

    def _head(self, group: Group) -> Waiter[T] | None:
        queue = self._queues[group]
        while queue and queue[0].future.done():  # cancelled; its task has not run since
            queue.popleft()
        if queue:
            return queue[0]
        del self._queues[group]
        return None
