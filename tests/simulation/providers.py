"""Providers: what they take, what they say about it, what they tell when asked, or by themselves.

    Company   a provider, the same for all workers: it decides when a request arrives
    Ledger    the mails that really exist: what the laws believe

A worker's side of it is `adapters.py`.

Its classes are the catalogue's: native key, lookup with or without a documented delay, webhook
only, nothing at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Prepared,
    Refused,
    Rejected,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.lookups import Absent, Found, Sighting, Unasked
from tests.simulation.network import Network, deliver

TIMEOUT = 8.0  # seconds, one attempt
IN_TRANSIT = 55.0  # seconds that a request whose client is gone may still be under way


@dataclass(frozen=True, slots=True)
class Kind:
    """What a class of providers can prove. Times in seconds."""

    name: str
    window: float = 0.0
    visible_after: float | None = None
    absence_proves: bool = False
    pushes: bool = False


KINDS = (
    Kind("native", window=1200.0),
    Kind("documented", visible_after=30.0, absence_proves=True),
    Kind("undocumented", visible_after=30.0),
    Kind("webhook", pushes=True),
    Kind("nothing"),
    Kind("asked-and-pushes", visible_after=60.0, absence_proves=True, pushes=True),
)


@dataclass(frozen=True, slots=True)
class Taken:
    """A mail that exists."""

    id: str
    key: str
    provider: str
    account: str
    body_hash: bytes
    at: float
    visible_at: float


@dataclass(slots=True)
class Moods:
    """How often a request meets each of them; the rest is accepted and answered."""

    dropped: float = 0.0  # accepted, the connection is reset
    silent: float = 0.0  # accepted, no answer at all
    broken: float = 0.0  # a bare 5xx, accepted or not
    gone: float = 0.0  # the request never arrives
    late: float = 0.0  # it arrives when the client has given up
    refuses_connections: float = 0.0
    busy: float = 0.0  # a 503 in its own words
    slow_down: float = 0.0
    blocked: float = 0.0
    rejected: float = 0.0
    suppressed: float = 0.0
    unasked: float = 0.0  # of lookups


@dataclass(slots=True)
class Ledger:
    mails: list[Taken] = field(default_factory=list)

    def of(self, key: str) -> list[Taken]:
        return [mail for mail in self.mails if mail.key == key]


class Company:
    """One provider, as the world has it."""

    def __init__(
        self, name: str, kind: Kind, network: Network, ledger: Ledger,
        push: Callable[[Taken], None],
    ) -> None:  # fmt: skip
        self.name, self.kind, self.moods = name, kind, Moods()
        self._network, self._ledger, self._push = network, ledger, push
        self._running: set[str] = set()  # keys whose request is being worked on
        self._suppressed: set[str] = set()

    def request(self, prepared: Prepared, account: str) -> asyncio.Future[Answer]:
        """Take the first byte: from here on the request is the world's."""
        loop, random, moods = self._network.loop, self._network.random, self.moods
        answer: asyncio.Future[Answer] = loop.create_future()
        self._tell("first byte", prepared.message.key)
        fate = random.random()
        if fate < moods.gone:
            loop.later(random.uniform(0, TIMEOUT), deliver, answer, Unclear("reset"))
        elif fate < moods.gone + moods.late:
            late = random.uniform(0, TIMEOUT + IN_TRANSIT)
            loop.later(late, self._arrive, prepared, account, answer)
        else:
            loop.later(self._network.travel(), self._arrive, prepared, account, answer)
        return answer

    def _arrive(self, prepared: Prepared, account: str, answer: asyncio.Future[Answer]) -> None:
        key, random = prepared.message.key, self._network.random
        if self.kind.window and key in self._running:
            self._say(answer, key, Unclear("409: the same key is still running"))
            return
        if self.kind.window and random.random() < self._network.faults.slow:
            self._running.add(key)
            self._network.loop.later(random.uniform(0, 5), self._decide, prepared, account, answer)
            return
        self._decide(prepared, account, answer)

    def _decide(self, prepared: Prepared, account: str, answer: asyncio.Future[Answer]) -> None:
        key = prepared.message.key
        self._running.discard(key)
        refusal = self._refusal(key)
        if refusal is not None:
            self._say(answer, key, refusal)
            return
        before = self._known(key, account)
        if before is not None and before.body_hash != prepared.body_hash:
            self._say(answer, key, Unclear("409: the same key with another body"))
            return
        taken = before or self._take(prepared, account)
        self._answer_acceptance(answer, taken)

    def _refusal(self, key: str) -> Answer | None:
        moods, random = self.moods, self._network.random
        if key in self._suppressed:
            return Refused("suppressed")
        if random.random() < moods.suppressed:
            self._suppressed.add(key)
            return Refused("suppressed")
        drawn = random.random()
        for often, refusal in (
            (moods.busy, Transient("503")),
            (moods.slow_down, SlowDown("429", random.choice((None, 1.0, 20.0)))),
            (moods.blocked, Blocked("401")),
            (moods.rejected, Rejected("422")),
            (moods.broken / 2, Unclear("502, not accepted")),
        ):
            if drawn < often:
                return refusal
            drawn -= often
        return None

    def _known(self, key: str, account: str) -> Taken | None:
        since = self._network.loop.now - self.kind.window
        for mail in self._ledger.of(key):
            same = (mail.provider, mail.account) == (self.name, account)
            if self.kind.window and mail.at > since and same:
                return mail
        return None

    def _take(self, prepared: Prepared, account: str) -> Taken:
        now, random = self._network.loop.now, self._network.random
        delay = random.uniform(0, self.kind.visible_after or 0)
        taken = Taken(
            f"id-{len(self._ledger.mails) + 1}", prepared.message.key, self.name, account,
            prepared.body_hash, now, now + delay,
        )  # fmt: skip
        self._ledger.mails.append(taken)
        self._tell("ACCEPTED", taken.key, taken.id)
        if random.random() < 0.1 * self._network.faults.slow:
            self._suppressed.add(taken.key)  # it bounced: from now on the address is suppressed
        if self.kind.pushes:
            self._push(taken)
        return taken

    def _answer_acceptance(self, answer: asyncio.Future[Answer], taken: Taken) -> None:
        moods, drawn = self.moods, self._network.random.random()
        if drawn < moods.dropped:
            self._say(answer, taken.key, Unclear("reset"))
        elif drawn < moods.dropped + moods.broken / 2:
            self._say(answer, taken.key, Unclear("500"))
        elif drawn >= moods.dropped + moods.broken / 2 + moods.silent:
            self._say(answer, taken.key, Accepted(taken.id))

    def _say(self, answer: asyncio.Future[Answer], key: str, what: Answer) -> None:
        self._tell("answers", key, what)
        self._network.loop.later(self._network.travel(), deliver, answer, what)

    def look_up(self, key: str, account: str) -> Sighting:
        now = self._network.loop.now
        if self._network.random.random() < self.moods.unasked:
            return Unasked("500")
        for mail in self._ledger.of(key):
            if (mail.provider, mail.account) == (self.name, account) and mail.visible_at <= now:
                return Found(mail.id)
        return Absent()

    def _tell(self, what: str, *about: Any) -> None:
        self._network.story.tell(self._network.loop.now, self.name, what, *about)
