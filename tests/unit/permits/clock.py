"""A clock that stands still until it is told, with the two calls that `Permits` needs of a loop."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count


class Alarm:
    def __init__(self, callback: Callable[[], object]) -> None:
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None


class StandingClock:
    def __init__(self) -> None:
        self._now = 1000.0
        self._order = count()
        self._alarms: list[tuple[float, int, Alarm]] = []

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], object]) -> Alarm:
        alarm = Alarm(callback)
        heapq.heappush(self._alarms, (when, next(self._order), alarm))
        return alarm

    def advance(self, seconds: float) -> None:
        """Let time pass; alarms ring on the way, in their order."""
        end = self._now + seconds
        while self._alarms and self._alarms[0][0] <= end:
            when, _, alarm = heapq.heappop(self._alarms)
            self._now = max(self._now, when)
            if alarm.callback is not None:
                alarm.callback()
        self._now = end

    @property
    def armed(self) -> int:
        return sum(alarm.callback is not None for _, _, alarm in self._alarms)
