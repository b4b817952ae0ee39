"""What one provider's double must bring: how it reads a request, and how it answers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import orjson

from tests.doubles.brought import NOTHING, Brought
from tests.doubles.ledger import Ledger

Work = Callable[[], Awaitable[None]]  # what the provider does between taking and answering


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str  # with its query
    headers: Mapping[str, str]  # looked up without regard to case
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """The request is not what the real API takes."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that the real API would take."""

    key: str  # ours, from where the adapter is to put it; "" if it is not there
    recipient: str
    brought: Brought = NOTHING


class Api(ABC):
    """Strict: what is not as documented is refused, so that the adapter's tests fail."""

    name: str
    credentials: Mapping[str, object]  # what goes beside `base_url` into [providers.X]

    @abstractmethod
    def check(self, call: Call) -> Taken:
        """Read a request, or raise `RefusalError`."""

    @abstractmethod
    def accepted(self, taken: Taken, message_id: str) -> Reply:
        """Make the answer to an accepted mail."""

    async def take(self, call: Call, taken: Taken, ledger: Ledger, work: Work) -> Reply:
        await work()
        return self.store(taken, ledger)

    def store(self, taken: Taken, ledger: Ledger) -> Reply:
        message_id = str(uuid4())
        ledger.accept(taken.key, message_id, taken.brought)
        return self.accepted(taken, message_id)

    def ask(self, call: Call, ledger: Ledger) -> Reply | None:
        """Answer a GET, where the provider can be asked."""
        return None


def as_json(status: int, body: object, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(
        status, orjson.dumps(body), {"Content-Type": "application/json", **(headers or {})}
    )


_ADDRESS: Final = r"[^\s\"(),:;<>@\[\\\]]+@[^\s\"(),:;<>@\[\\\]]+"
_NAME: Final = r"(?:\"(?:[^\"\\]|\\.)*\"|[\w .-]+)"  # quoted, or nothing that needs it
_MAILBOX: Final = re.compile(rf"(?P<bare>{_ADDRESS})|{_NAME} <(?P<named>{_ADDRESS})>")


def one_mailbox(text: object) -> str | None:
    """Return the address if `text` is exactly one mailbox, its name quoted where it must be."""
    if not isinstance(text, str) or any(char in text for char in "\r\n\0"):
        return None
    found = _MAILBOX.fullmatch(text)
    return found and (found["bare"] or found["named"])
