"""What one attempt came to: the closed set of answers.

`error` is for people and for the row: the provider's own code and the status ("postmark 406, HTTP
422"), never a provider's sentence, since those quote addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Accepted:
    provider_message_id: str


@dataclass(frozen=True, slots=True)
class TooLate:
    """Nothing left this process. `called_back`: the service stops or the partition is lost."""

    called_back: bool = False


@dataclass(frozen=True, slots=True)
class Transient:
    error: str
    retry_after: float | None = None  # seconds, as the provider said; the reader clamps it


@dataclass(frozen=True, slots=True)
class SlowDown:
    error: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    error: str


@dataclass(frozen=True, slots=True)
class Rejected:
    error: str


class Scope(StrEnum):
    """How much stands still behind a `Blocked` answer."""

    ACCOUNT = "account"
    SENDER = "sender"


@dataclass(frozen=True, slots=True)
class Blocked:
    error: str
    scope: Scope = Scope.ACCOUNT


@dataclass(frozen=True, slots=True)
class Unclear:
    error: str
    retry_after: float | None = None


Answer: TypeAlias = (
    Accepted | TooLate | Transient | SlowDown | Refused | Rejected | Blocked | Unclear
)
