"""The closed sets behind the labels of the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.breaker import State

ANSWERS: Final[Mapping[type[Answer], str]] = {
    Accepted: "accepted",
    TooLate: "too_late",
    Transient: "transient",
    SlowDown: "slow_down",
    Refused: "refused",
    Rejected: "rejected",
    Blocked: "blocked",
    Unclear: "unclear",
}

# What becomes of a record, in one word; each `Ending.result` is one of them.
RESULTS: Final = (
    "sent",
    "duplicate",
    "redelivery",
    "failed",
    "dead_letter",
    "parked",
    "unknown",
    "expired",
    "skipped",
    "let_go",
)

BREAKERS: Final[Mapping[State, int]] = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}
