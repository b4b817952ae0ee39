"""What a commit comes to: the closed set of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Committed:
    """The broker has it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The partitions are no longer ours: never repeat these offsets."""

    error: str


@dataclass(frozen=True, slots=True)
class Late:
    """Not known to have landed; may be repeated while the ownership lasts."""

    error: str


CommitAnswer: TypeAlias = Committed | Lost | Late
