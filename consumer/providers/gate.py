"""The breakers in front of one provider: its own, and one for each sender that was ever blocked.

Failures of every sender are counted once, for the provider. A sender's breaker opens only when the
provider says that this sender may not send.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.breaker import Breaker, State

OnChange = Callable[[str, str | None, State, str], None]


@dataclass(frozen=True, slots=True)
class Pass:
    """Let in: the generations that the answer has to bring back, and whether it is a probe."""

    sender: str
    generation: int
    own_generation: int
    probe: bool


class Gate:
    """Lets mails in, hears what came of them, and tells when that changes something.

    `on_change(provider, sender or None, state, error)` is called when a breaker opens, when what
    blocks it changes, and when it closes; not at every probe.
    """

    def __init__(self, provider: str, on_change: OnChange) -> None:
        self._provider, self._on_change = provider, on_change
        self._breaker = Breaker()
        self._senders: dict[str, Breaker] = {}
        self._told: dict[str | None, str] = {}
        self._renewals = 0  # where the generations of a breaker begin that is made after them

    @property
    def error(self) -> str:
        return self._breaker.error

    def state(self, now: float) -> State:
        return self._breaker.state(now)

    def senders(self, now: float) -> Mapping[str, State]:
        return {name: breaker.state(now) for name, breaker in self._senders.items()}

    def admits(self, sender: str, now: float) -> bool:
        own = self._senders.get(sender)
        return self._breaker.admits(now) and (own is None or own.admits(now))

    def ready_at(self, sender: str) -> float:
        """When a mail of `sender` could go; inf while a probe is out."""
        own = self._senders.get(sender)
        here = self._breaker.ready_at
        return here if own is None else max(here, own.ready_at)

    def let_in(self, sender: str) -> Pass:
        """Let a mail go. Only where `admits` said yes."""
        own = self._senders.get(sender)
        probe = not (self._breaker.closed and (own is None or own.closed))
        own_generation = self._renewals if own is None else own.let_in()
        return Pass(sender, self._breaker.let_in(), own_generation, probe)

    def hear(self, let: Pass, answer: Answer, now: float) -> None:
        """Learn what came of a mail that was let in."""
        match answer:
            case Accepted() | Refused() | Rejected():
                self._alive(let)
            case Transient(error) | Unclear(error):
                self._failed(let, now, error)
            case Blocked(error, Scope.SENDER):
                self._blocked_sender(let, now, error)
            case Blocked(error):
                self._blocked(let, now, error)
            case SlowDown() | TooLate():
                self._told_nothing(let)
            case _:
                assert_never(answer)

    def renew(self, now: float) -> None:
        """Other credentials are in use from now on."""
        self._renewals += 1
        for breaker in (self._breaker, *self._senders.values()):
            breaker.renew(now)

    def _alive(self, let: Pass) -> None:
        self._breaker.succeed(let.generation)
        if let.probe:
            self._own(let).succeed(let.own_generation)
            self._tell(let)

    def _failed(self, let: Pass, now: float, error: str) -> None:
        self._breaker.fail(let.generation, now, error)
        self._fail_own_probe(let, now, error)
        self._tell(let)

    def _blocked(self, let: Pass, now: float, error: str) -> None:
        self._breaker.block(let.generation, now, error)
        self._fail_own_probe(let, now, error)
        self._tell(let)

    def _blocked_sender(self, let: Pass, now: float, error: str) -> None:
        self._breaker.succeed(let.generation)
        own = self._senders.setdefault(let.sender, Breaker(self._renewals))
        own.block(let.own_generation, now, error)
        self._tell(let)

    def _fail_own_probe(self, let: Pass, now: float, error: str) -> None:
        if let.probe and not self._own(let).closed:
            self._own(let).fail(let.own_generation, now, error)

    def _told_nothing(self, let: Pass) -> None:
        if let.probe:
            self._breaker.leave(let.generation)
            self._own(let).leave(let.own_generation)

    def _own(self, let: Pass) -> Breaker:
        """The sender's breaker; one that was never blocked has none, and a new one is closed."""
        return self._senders.get(let.sender) or Breaker()

    def _tell(self, let: Pass) -> None:
        self._tell_of(None, self._breaker)
        self._tell_of(let.sender, self._own(let))

    def _tell_of(self, sender: str | None, breaker: Breaker) -> None:
        if breaker.cause == self._told.get(sender, ""):
            return
        self._told[sender] = breaker.cause
        state = State.CLOSED if breaker.closed else State.OPEN
        self._on_change(self._provider, sender, state, breaker.error)
