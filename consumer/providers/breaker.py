"""The breaker: when a provider (or one sender at it) is not worth asking, and when to ask again.

Pure: it is told what time it is, in seconds on one monotonic clock.

    closed ──FAILURES in a row, or one "blocked"──> open ──its time is over──> half-open
    half-open ──exactly one probe goes: it fails──> open, twice as long
              ├─it succeeds──> closed
              └─it made no attempt──> half-open, free for the next
    open, blocked ──other credentials──> half-open at once

Every passage out of one state into another starts a new generation, and an answer counts only in
the generation its permit was given in: what was under way when the breaker opened cannot close it.
"""

from __future__ import annotations

import math
from enum import StrEnum

FAILURES = 3  # in a row; fewer than the attempts of a round (4), so that a lone mail opens it first
FIRST = 1.0  # seconds open after failures: a restart of the provider's front end takes about that
FIRST_BLOCKED = 10.0  # a person has to act, or a quota to pass: asking at once tells nothing new
CAP = 30.0  # seconds; how long mail still waits after the provider is back


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """One breaker. `ready_at` says all about admission: past (go), future (open), inf (probing)."""

    __slots__ = ("_failures", "_openings", "_until", "blocked", "error", "generation", "ready_at")

    def __init__(self, generation: int = 0) -> None:
        self.generation = generation
        self.ready_at = -math.inf
        self.error = ""
        self.blocked = False  # what opened it: an answer that says so, or mere failures
        self._failures = 0
        self._openings = 0
        self._until = -math.inf

    @property
    def closed(self) -> bool:
        return self._until == -math.inf

    @property
    def cause(self) -> str:
        """What to tell a person: "" when closed. Failures differ from probe to probe: one word."""
        if self.closed:
            return ""
        return self.error if self.blocked else "failing"

    def state(self, now: float) -> State:
        if self.closed:
            return State.CLOSED
        return State.OPEN if now < self._until else State.HALF_OPEN

    def admits(self, now: float) -> bool:
        return now >= self.ready_at

    def let_in(self) -> int:
        """Return the generation that the answer brings back. Where it is not closed: a probe."""
        if not self.closed:
            self.generation += 1
            self.ready_at = math.inf
        return self.generation

    def leave(self, generation: int) -> None:
        """No attempt was made, or it told nothing: a probe leaves the breaker free."""
        if generation == self.generation and self.ready_at == math.inf:
            self.ready_at = self._until

    def succeed(self, generation: int) -> None:
        """The provider is alive: it took the mail, or refused just this one."""
        if generation != self.generation:
            return
        self._failures = 0
        if not self.closed:
            self._close()

    def fail(self, generation: int, now: float, error: str) -> None:
        """No answer that a living provider gives."""
        if generation != self.generation:
            return
        self._failures += 1
        if self._failures >= FAILURES or not self.closed:
            self.blocked = False
            self._open(now, FIRST, error)

    def block(self, generation: int, now: float, error: str) -> None:
        """Nothing goes out until something changes over there: open at once, and for longer."""
        if generation == self.generation:
            self.blocked = True
            self._open(now, FIRST_BLOCKED, error)

    def renew(self, now: float) -> None:
        """Other credentials: what answers the former ones counts no more, and a block may be over.

        Mere failures have other causes: they keep their time.
        """
        self.generation += 1
        if self.blocked:
            self._openings = 0
            self.ready_at = self._until = now
        elif self.ready_at == math.inf:  # its probe's answer counts no more
            self.ready_at = self._until

    def _open(self, now: float, first: float, error: str) -> None:
        self.generation += 1
        self.error = error
        self.ready_at = self._until = now + min(CAP, first * 2**self._openings)
        self._openings = min(self._openings + 1, 16)

    def _close(self) -> None:
        self.generation += 1
        self._openings = self._failures = 0
        self.error, self.blocked = "", False
        self.ready_at = self._until = -math.inf
