"""The guard as a person asks it: one connection, for as long as one command runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from consumer import __version__
from consumer.guard import (
    catalogues,
    imports,
    links,
    operators,
    reading,
    resends,
    rows,
    settling,
    shadows,
    traces,
    upkeep,
)
from consumer.guard.connections import SLOW_TIMEOUT, SLOW_TIMEOUTS
from consumer.guard.forgetting import Forgetting, Forgotten
from consumer.guard.imports import Past, Stands
from consumer.guard.lanes import TIMEOUTS, Address, Lane, Weather
from consumer.guard.letters import DeadLetter
from consumer.guard.mentions import Mentions
from consumer.guard.operators import DiscardResult, Selection, Turn
from consumer.guard.pauses import PauseTable
from consumer.guard.privacy import UNSEALED, Privacy
from consumer.guard.reading import Addressed, Story
from consumer.guard.resends import Resend, ResendResult
from consumer.guard.rows import Place
from consumer.guard.schema import check_schema
from consumer.guard.settling import SettleResult
from consumer.guard.shadows import Note
from consumer.guard.traces import Double, Trace
from consumer.model import Coordinates, Edition, Mail, Record, Row

_HEARD: Final = 60.0  # seconds since a worker's last beat, in which it may still be at work


class Desk:
    """What `replay`, `discard`, `resend` and `show` ask for. Repeats as the guard does."""

    def __init__(self, address: Address, privacy: Privacy) -> None:
        self._privacy = privacy
        self._weather = Weather()
        self._lane = Lane(address, self._weather, TIMEOUTS, "desk")
        self._slow = Lane(address, self._weather, SLOW_TIMEOUTS, "slow desk", SLOW_TIMEOUT)
        self.pauses = PauseTable(self._lane)

    @classmethod
    async def open(
        cls,
        dsn: str,
        *,
        environment: str,
        release: str = __version__,
        pgbouncer: bool = False,
        password: Callable[[], str | None] | None = None,
        privacy: Privacy = UNSEALED,
    ) -> Desk:
        """Check schema, stamp and rights as `Guard.open` does; raises `SetupError`."""
        address = Address(dsn, pgbouncer, password)
        await check_schema(address, environment=environment, release=release)
        return cls(address, privacy)

    async def close(self) -> None:
        self._weather.closed.set()
        await self._slow.close()
        await self._lane.close()

    # ── Dead letters

    async def count(self, chosen: Selection) -> int:
        return await self._lane.run(lambda c: operators.count(c, chosen))

    async def next_look(self, chosen: Selection) -> datetime | None:
        return await self._lane.run(lambda c: operators.next_look(c, chosen))

    async def ids(self, chosen: Selection, limit: int) -> list[int]:
        """Return the ids of the oldest letters of a selection."""
        return await self._lane.run(lambda c: operators.ids(c, chosen, limit))

    async def letters(self, letter_ids: Sequence[int]) -> list[DeadLetter]:
        """Return letters with their records: ask for some at a time."""
        return await self._lane.run(lambda c: operators.whole(c, letter_ids, self._privacy))

    async def letter_at(self, at: Coordinates, mail_type: str) -> DeadLetter | None:
        letter_at, privacy = operators.letter_at, self._privacy
        return await self._lane.run(lambda c: letter_at(c, at, mail_type, privacy))

    async def make_due(self, turns: Sequence[Turn], note: str) -> set[int]:
        """Have the resolver take letters; return those that stood as they were read."""
        return await self._lane.run(lambda c: operators.make_due(c, turns, note))

    # ── Rows

    async def rows(self, keys: Collection[str]) -> Mapping[str, Row]:
        return await self._lane.run(lambda c: operators.rows(c, keys))

    async def look(self, places: Sequence[Place]) -> list[Row | None]:
        """Return what a record would find at each place, as the line's own look does."""
        standings = await self._lane.run(lambda c: rows.find(c, places)) if places else []
        return [standing.row for standing in standings]

    async def traces(self, places: Sequence[Coordinates], types: Collection[str]) -> list[Trace]:
        """Return the rows and letters of records, found by their coordinates alone."""
        find = traces.traces
        return await self._lane.run(lambda c: find(c, places, types)) if places else []

    async def first_trace(self, topic: str, partition: int, types: Collection[str]) -> int | None:
        """Return the first offset of a partition of which anything is known. May read all rows."""
        return await self._slow.run(lambda c: traces.first(c, topic, partition, types))

    async def doubles(self, since: datetime, types: Collection[str]) -> list[Double]:
        """Return the keys of which a second acceptance came to light. Reads all histories."""
        return await self._slow.run(lambda c: traces.doubles(c, since, types))

    async def stands(self, keys: Collection[str]) -> Mapping[str, Stands]:
        return await self._lane.run(lambda c: imports.stands(c, keys))

    async def bring_in(self, mails: Sequence[Past], token: str) -> Mapping[str, Stands]:
        """Write another sender's mails as `sent`, where no row stands; return what stands now."""
        return await self._lane.run(lambda c: imports.bring_in(c, mails, token))

    async def edition(self, digest: str) -> Edition | None:
        return await self._lane.run(lambda c: catalogues.find(c, digest))

    async def discard_letter(self, letter_id: int, note: str) -> DiscardResult:
        return await self._lane.run(lambda c: operators.discard_letter(c, letter_id, note))

    async def discard_key(self, key: str, note: str) -> DiscardResult:
        return await self._lane.run(lambda c: operators.discard_key(c, key, note))

    async def settle(self, key: str, message_id: str, note: str) -> SettleResult:
        return await self._lane.run(lambda c: settling.settle(c, key, message_id, note))

    async def resend(self, wish: Resend) -> ResendResult:
        return await self._lane.run(lambda c: resends.resend(c, wish, self._privacy))

    async def forgotten(self, key: str) -> str | None:
        """Say so where the recipient of this key was forgotten."""
        return await self._lane.run(lambda c: resends.forgotten(c, key))

    async def story(self, key: str) -> Story | None:
        return await self._lane.run(lambda c: reading.show(c, key))

    async def family(self, key: str) -> tuple[str, ...]:
        """Return the keys of all versions of this mail, the first one first."""
        return await self._lane.run(lambda c: links.family(c, key))

    async def imported(self, after: str, limit: int) -> list[Past]:
        return await self._lane.run(lambda c: imports.page(c, after, limit))

    # ── Upkeep

    async def workers(self) -> int:
        return await self._lane.run(lambda c: upkeep.alive(c, _HEARD))

    async def prune(self, retention: float) -> int:
        """Delete some of what is past its retention. 0: none left, or a worker is at it."""
        return await self._slow.run(lambda c: upkeep.prune(c, retention, upkeep.BATCH))

    # ── Notes of a service in shadow mode

    async def notes(self, after: Coordinates, limit: int) -> list[Note]:
        return await self._lane.run(lambda c: shadows.page(c, after, limit))

    async def clear_notes(self) -> int:
        """Delete some notes; return how many. 0: there is none left."""
        return await self._lane.run(lambda c: shadows.prune(c, retention=0))

    # ── People

    async def of_address(self, who: Mentions, limit: int) -> list[Addressed]:
        """Return the newest mails of an address, also where it is blanked. Reads all rows."""
        form, hashed = who.forms[0], self._privacy.hashed(who.forms[0])
        return await self._slow.run(lambda c: reading.of_address(c, form, hashed, limit))

    async def forget(
        self, who: Mentions, note: str, reads: Callable[[Record], Mail | None]
    ) -> Forgotten:
        """Erase an address from all tables; `reads`: the mail that a record makes, if any."""
        return await Forgetting(self._slow.run, self._privacy, who, note, reads).all()
