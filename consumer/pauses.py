"""What stands still because a person said so, or a fuse blew, and who waits for it to go on.

    asked before a permit is taken, when it was got, and at the last step before the wire

What is paused keeps its offsets: its records wait in hand, a few of each partition, and the rest in
Kafka. A mail type with another provider goes on through that one while one of them is paused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from consumer.guard.pauses import Pause, Scope, Target

if TYPE_CHECKING:
    from consumer.model import MailType


class Pauses:
    """What is paused, as this worker knows it. `any`: something is; nearly always nothing.

    `types`: all mail types there are. `tell`: called with a word and what was stopped, or goes on.
    """

    def __init__(
        self,
        types: Collection[MailType] = (),
        tell: Callable[[str, Target], None] = lambda _word, _target: None,
    ) -> None:
        self.types = types
        self._tell = tell
        self.standing: Mapping[Target, Pause] = {}
        self._fused: frozenset[tuple[str, str]] = frozenset()  # mail type and provider
        self.any = False
        self._changed = asyncio.Event()

    def take(self, pauses: Iterable[Pause]) -> None:
        """Obey exactly these from now on; who waits looks again."""
        before, self.standing = self.standing, {pause.target: pause for pause in pauses}
        self.any = bool(self.standing or self._fused)
        if before.keys() == self.standing.keys():
            return
        for target in self.standing.keys() - before.keys():
            self._tell("paused", target)
        for target in before.keys() - self.standing.keys():
            self._tell("resumed", target)
        self._look_again()

    def block(self, ways: Collection[tuple[str, str]]) -> None:
        """Let nothing out by exactly these from now on (provider, sender): their fuses are out."""
        self._fused = frozenset(
            (one.name, provider)
            for provider, sender in ways
            for one in self.types
            if one.sender == sender
        )
        self.any = bool(self.standing or self._fused)
        self._look_again()

    def _look_again(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def stops(self, mail_type: str, provider: str) -> bool:
        """Tell whether a mail of this type must not go out through this provider now."""
        return self.any and (
            (mail_type, provider) in self._fused
            or not self.standing.keys().isdisjoint(
                (_ALL, Target(Scope.TYPE, mail_type), Target(Scope.PROVIDER, provider))
            )
        )

    def holds(self, mail_type: MailType) -> bool:
        """Tell whether mails of this type can go nowhere now."""
        return self.any and all(self.stops(mail_type.name, name) for name in mail_type.providers)

    def stands_still(self) -> bool:
        """Tell whether nothing at all goes out."""
        return self.any and all(map(self.holds, self.types))

    async def lifted(self, mail_type: MailType) -> None:
        """Return as soon as mails of this type may go somewhere."""
        while self.holds(mail_type):
            await self._changed.wait()


_ALL = Target(Scope.ALL)


@dataclass(frozen=True, slots=True)
class Effect:
    """What stops with the pauses that stand; all by name of the mail type."""

    stopped: tuple[str, ...]
    behind: tuple[str, ...]  # go on, but their topic is shared with a stopped one: they get stuck
    elsewhere: Mapping[str, str]  # go on through another provider than their first
    parked: int  # next rounds and unknown outcomes of the stopped ones


def effect(pauses: Pauses, parked: Mapping[str, int]) -> Effect:
    """Say what stops. `parked`: how many letters wait for the service, by mail type."""
    stopped = [one for one in pauses.types if pauses.holds(one)]
    names, topics = {one.name for one in stopped}, {one.topic for one in stopped}
    others = [one for one in pauses.types if one.name not in names]
    return Effect(
        tuple(sorted(names)),
        tuple(sorted(one.name for one in others if one.topic in topics)),
        {one.name: through for one in others if (through := _through(pauses, one)) is not None},
        sum(parked.get(name, 0) for name in names),
    )


def _through(pauses: Pauses, mail_type: MailType) -> str | None:
    """Name the provider that takes over from a paused first one."""
    free = [name for name in mail_type.providers if not pauses.stops(mail_type.name, name)]
    return None if free[0] == mail_type.providers[0] else free[0]


def facts(pauses: Pauses, parked: Mapping[str, int]) -> Mapping[str, Any]:
    """Return what is paused and what stops with it, as the API and `--json` tell it."""
    stood = [_pause_facts(pause) for pause in pauses.standing.values()]
    return {"paused": stood, "stops": asdict(effect(pauses, parked))}


def _pause_facts(pause: Pause) -> Mapping[str, Any]:
    return {
        "scope": pause.target.scope,
        "name": pause.target.name or None,
        "by": pause.by,
        "why": pause.why,
        "since": pause.since,
    }


def unknown(target: Target, pauses: Pauses) -> str | None:
    """Say what there is instead of a name that nothing has: a slip would stop nothing."""
    known = {
        Scope.ALL: {""},
        Scope.TYPE: {one.name for one in pauses.types},
        Scope.PROVIDER: {name for one in pauses.types for name in one.providers},
    }[target.scope]
    if target.name in known:
        return None
    return f"there is no {target}; there are {', '.join(sorted(known)) or 'none'}"
