"""Asking a provider whether it has a mail of ours: evidence for an outcome that nobody knows.

    Sighting      what came of asking
    ├─ Found      it has the mail, under this id: proof
    ├─ Absent     it knows no such mail, as of now
    └─ Unasked    no answer that says anything: ask again later

`Absent` counts only when the asking began late enough (`visible_after`), and is proof only where
the provider documents that delay (`absence_proves`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from consumer.model import Message


@dataclass(frozen=True, slots=True)
class Found:
    provider_message_id: str


@dataclass(frozen=True, slots=True)
class Absent:
    pass


@dataclass(frozen=True, slots=True)
class Unasked:
    error: str


Sighting: TypeAlias = Found | Absent | Unasked


class Lookup(Protocol):
    """What the resolver holds. `look_up` never raises, except when cancelled."""

    @property
    def visible_after(self) -> float:
        """Seconds from acceptance until a mail is surely found."""

    @property
    def absence_proves(self) -> bool: ...

    async def look_up(self, message: Message) -> Sighting: ...


@dataclass(frozen=True, slots=True)
class Question:
    url: str
    headers: Mapping[str, str]


class Search(Protocol):
    """How one HTTP API is asked: two pure functions, as for sending."""

    visible_after: float
    absence_proves: bool

    def question(self, message: Message) -> Question: ...

    def sighting(self, message: Message, status: int, body: bytes) -> Sighting:
        """Read the answer. `message` is what was asked about: others may come with it."""
