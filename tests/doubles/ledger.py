"""What a double accepted, counted by our key: the only judge of "exactly one"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.doubles.brought import NOTHING, Brought


@dataclass(slots=True)
class Ledger:
    requests: int = 0  # seen on the wire, mails or not
    asked: int = 0  # of these, questions about mails
    accepted: dict[str, list[str]] = field(default_factory=dict)  # our key -> the provider's ids
    brought: dict[str, Brought] = field(default_factory=dict)  # our key -> with its last mail
    on_accept: Callable[[str, str], None] = lambda _key, _id: None  # a webhook's beginning

    def accept(self, key: str, message_id: str, brought: Brought | None = None) -> None:
        self.accepted.setdefault(key, []).append(message_id)
        if brought is not None and brought != NOTHING:
            self.brought[key] = brought
        self.on_accept(key, message_id)

    @property
    def attempts(self) -> int:
        return self.requests - self.asked

    @property
    def total(self) -> int:
        return sum(len(ids) for ids in self.accepted.values())

    @property
    def accepted_twice(self) -> list[str]:
        return [key for key, ids in self.accepted.items() if len(ids) > 1]

    def summary(self) -> dict[str, object]:
        return {
            "requests": self.requests,
            "accepted": self.total,
            "distinct_keys": len(self.accepted),
            "accepted_twice": len(self.accepted_twice),
            "twice": self.accepted_twice[:100],
        }

    def clear(self) -> None:
        self.requests = self.asked = 0
        self.accepted.clear()
        self.brought.clear()
