"""What goes wrong at a double: one fault a request, from a list or at a rate.

Faults that happen after the mail was accepted (it is in the ledger):
    drop        the connection is closed without an answer
    timeout     no answer ever comes
    garbage     bytes come that are not HTTP
    cut         the answer breaks off in the middle of its body
    slow        the answer's body comes byte by byte
    blank       the status of a success, and an empty body
Faults in place of accepting it:
    reset       the connection is reset before the body is read
    status      an answer of the test's choice: `status`, `body`, `headers`
    redirect    307 to the same door
Both:
    delay       the provider's own work takes `seconds`; then all goes well
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

AFTER_ACCEPTING: Final = frozenset({"drop", "timeout", "garbage", "cut", "slow", "blank"})
INSTEAD: Final = frozenset({"reset", "status", "redirect"})
WORDS: Final = AFTER_ACCEPTING | INSTEAD | {"delay", "ok"}


@dataclass(frozen=True, slots=True)
class Fault:
    word: str = "ok"
    status: int = 500
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.05

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"no such fault: {self.word}")


FINE: Final = Fault()
ERROR: Final = Fault("status", status=503)  # what rate "error" means: bare, so nobody knows


class Script:
    """First the listed faults, then those of a recipient, then a draw by rates."""

    def __init__(self, seed: int = 0) -> None:
        self._next: deque[Fault] = deque()
        self._by_recipient: dict[str, Fault] = {}
        self._rates: dict[str, float] = {}
        self._always = FINE
        self._random = random.Random(seed)

    def then(self, *faults: Fault) -> None:
        self._next.extend(faults)

    def always(self, fault: Fault) -> None:
        self._always = fault

    def for_recipient(self, address: str, fault: Fault) -> None:
        self._by_recipient[address] = fault

    def at_rates(self, rates: Mapping[str, float], seed: int | None = None) -> None:
        """`rates`: word (or "error") -> probability; the rest goes well."""
        self._rates = dict(rates)
        if seed is not None:
            self._random = random.Random(seed)

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]  # the same object is held by the server

    def draw(self, *, asked: bool = False) -> Fault:
        """`asked`: about a mail. The list is for mails alone, in their order."""
        if self._next and not asked:
            return self._next.popleft()
        return self._by_rate() if self._rates else self._always

    def of(self, recipient: str, drawn: Fault) -> Fault:
        return self._by_recipient.get(recipient, drawn)

    def _by_rate(self) -> Fault:
        drawn = self._random.random()
        for word, rate in self._rates.items():
            drawn -= rate
            if drawn < 0:
                return ERROR if word == "error" else Fault(word)
        return self._always


def faults(items: Iterable[Mapping[str, object]]) -> list[Fault]:
    """Read the control endpoint's JSON."""
    return [Fault(**item) for item in items]  # type: ignore[arg-type]  # a wrong one is a TypeError
