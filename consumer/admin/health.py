"""What the cluster asks of a process: whether it lives, and whether it can do its work.

The two are kept apart on purpose. Liveness knows only what a restart can mend: the poll loop, the
event loop, the tasks that this process owns. A broker, a database or a provider that is down is
told by readiness and by alerts; a restart storm mends no outage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from consumer.model import elapsed

# None: all is well. Else one sentence that says what is not, for a person; no addresses.
Check: TypeAlias = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Health:
    """Named checks. They are asked in the event loop: each must answer at once, from memory."""

    alive: Mapping[str, Check] = field(default_factory=dict)  # poll loop, event loop, owned tasks
    ready: Mapping[str, Check] = field(default_factory=dict)  # kafka, postgres, assignment, breaker


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks said: by name, None or what is wrong."""

    answers: Mapping[str, str | None]

    @property
    def well(self) -> bool:
        return not any(self.answers.values())


def ask(checks: Mapping[str, Check]) -> Report:
    return Report({name: _ask_one(check) for name, check in checks.items()})


def _ask_one(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a check that breaks is a check that fails
        return f"the check itself failed: {type(error).__name__}"


class Heartbeat:
    """A check for a loop that must come round: `beat()` in each round, asked as a check."""

    def __init__(self, limit: float) -> None:
        """`limit`: seconds without a beat from which on the check fails."""
        self._limit = limit
        self._last = elapsed()

    def beat(self) -> None:
        self._last = elapsed()

    def __call__(self) -> str | None:
        silent = elapsed() - self._last
        if silent <= self._limit:
            return None
        return f"no sign of life for {silent:.1f} s (limit {self._limit:g} s)"
