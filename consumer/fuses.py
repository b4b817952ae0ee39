"""Fuses: a topic that turns bad, and a sender that a provider turns down, stand still and say so.

    topic               over a fifth of its last 200 records became dead letters
    provider, sender    over a fifth of its last 200 answers turned a mail down, for one reason

The record that blows a fuse gets the last dead letter, of the reason `fused`: it lies where people
look, and closing it (replay, discard) puts the fuse in again. Until then the topic's bad records
wait in hand, their partitions stop behind them, and nothing goes out by that way. A new process
begins with whole fuses, since a deploy may have mended what was wrong.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog

from consumer.guard import LetterStatus, Query
from consumer.model import Accepted, Reason, Refused, Rejected

if TYPE_CHECKING:
    from consumer.guard import Guard
    from consumer.intake.hold import Hold
    from consumer.model import Answer, Bad, Coordinates, Record

log = structlog.get_logger("fuses")

LAST: Final = 200  # records, or answers, that are looked at
MOST: Final = LAST // 5  # of them may be bad; one more blows the fuse
LOOK: Final = 2.0  # seconds between two looks whether a blown one's letter was closed


class Fuse:
    """One fuse. Pure; `names`: what it is of, as metrics label it."""

    def __init__(self, **names: str) -> None:
        self.names = names
        self.blown = False
        self.mark: Coordinates | None = None  # of the letter that tells of it, once it is written
        self._seen = 0
        self._bad: deque[tuple[int, str]] = deque()  # (place among all that were seen, why)
        self._counts: Counter[str] = Counter()

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.names.items())

    def see(self) -> None:
        """Count one more, good or bad."""
        self._seen += 1

    def bad(self, why: str) -> bool:
        """Say that the one seen was bad; True: by this it blows."""
        self._bad.append((self._seen, why))
        self._counts[why] += 1
        while self._bad[0][0] <= self._seen - LAST:
            self._counts[self._bad.popleft()[1]] -= 1
        if self.blown or self._counts[why] <= MOST:
            return False
        self.blown = True
        return True

    def mend(self) -> None:
        """Put it in again: what was before is forgotten."""
        self.blown, self.mark, self._seen = False, None, 0
        self._bad.clear()
        self._counts.clear()


class Fuses:
    """All fuses of a worker.

    `without`: topics that have none. `block`: told all ways that are out (provider, sender), when
    that changes.
    """

    def __init__(
        self,
        without: Collection[str] = (),
        block: Callable[[Collection[tuple[str, str]]], None] = lambda _: None,
    ) -> None:
        self._without = without
        self._block = block
        self._topics: dict[str, Fuse] = {}
        self._ways: dict[tuple[str, str], Fuse] = {}
        self._some = asyncio.Event()
        self._changed = asyncio.Event()

    @property
    def blown(self) -> list[Fuse]:
        return [one for one in (*self._topics.values(), *self._ways.values()) if one.blown]

    # ── Topics

    def see(self, topic: str) -> None:
        """Count a record that came from Kafka, whatever becomes of it."""
        self._topic(topic).see()

    async def judge(self, record: Record, bad: Bad, hold: Hold) -> Bad:
        """Say as what a bad record is set aside; while its topic's fuse is blown, do not say it."""
        if record.topic in self._without:
            return bad
        fuse = self._topic(record.topic)
        while fuse.blown:
            with hold.standing():
                await self._changed.wait()
        if not fuse.bad(""):
            return bad
        self._blew(fuse, bad.reason)
        text = f"over {MOST} of the topic's last {LAST} records were bad, this one"
        return replace(bad, reason=Reason.FUSED, detail=f"{text}: {bad.reason}: {bad.detail}")

    def mark_topic(self, at: Coordinates) -> None:
        """Say that the letter of this record tells of its topic's fuse."""
        self._topic(at.topic).mark = at

    def _topic(self, topic: str) -> Fuse:
        fuse = self._topics.get(topic)
        if fuse is None:
            fuse = self._topics[topic] = Fuse(topic=topic)
        return fuse

    # ── Ways: a sender at a provider

    def hear(self, provider: str, sender: str, answer: Answer) -> str | None:
        """Count an answer that is final; where it blows the fuse, return what to tell of it."""
        match answer:
            case Accepted():
                self._way(provider, sender).see()
                return None
            case Refused(error) | Rejected(error):
                return self._turned_down(self._way(provider, sender), error)
            case _:
                return None

    def _turned_down(self, fuse: Fuse, error: str) -> str | None:
        fuse.see()
        if not fuse.bad(error):
            return None
        self._blew(fuse, error)
        return f"{error} (so were over {MOST} of the last {LAST} mails of this sender)"

    def mark_way(self, provider: str, sender: str, at: Coordinates) -> None:
        self._way(provider, sender).mark = at

    @property
    def stopped(self) -> frozenset[tuple[str, str]]:
        """The ways that are out."""
        return frozenset(way for way, fuse in self._ways.items() if fuse.blown)

    def _way(self, provider: str, sender: str) -> Fuse:
        fuse = self._ways.get((provider, sender))
        if fuse is None:
            fuse = self._ways[provider, sender] = Fuse(provider=provider, sender=sender)
        return fuse

    # ── Blown and mended

    def _blew(self, fuse: Fuse, why: str) -> None:
        log.error("fuse blown", **fuse.names, why=why, bad=MOST + 1, last=LAST, alert="fuse")
        self._some.set()
        self._block(self.stopped)

    async def tend(self, guard: Guard) -> None:
        """Mend, for ever, what is blown and whose letter a person has closed."""
        while True:
            await self._some.wait()
            await asyncio.sleep(LOOK)
            for fuse in self.blown:
                if fuse.mark is not None and not await _stands(guard, fuse.mark):
                    self._mend(fuse)
            if not self.blown:
                self._some.clear()

    def _mend(self, fuse: Fuse) -> None:
        fuse.mend()
        log.warning("fuse mended", **fuse.names)
        self._changed.set()
        self._changed = asyncio.Event()
        self._block(self.stopped)


async def _stands(guard: Guard, at: Coordinates) -> bool:
    open_ones = Query((LetterStatus.OPEN,), (Reason.FUSED,), topic=at.topic, limit=1000)
    return any(letter.coordinates == at for letter in await guard.dead_letters(open_ones))
