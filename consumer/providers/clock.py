"""The clock that permits go by, and its alarm: the running event loop, unless a test brings one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Alarm(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """What is needed of an event loop. Seconds, monotonic."""

    def time(self) -> float: ...
    def call_at(self, when: float, callback: Callable[[], object], /) -> Alarm: ...
