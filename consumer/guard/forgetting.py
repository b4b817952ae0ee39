"""One person's address, erased wherever the guard has it; the keys stay, and refuse a second mail.

    rows      recipient and its hash emptied; what was still open, or failed, is given up
    letters   emptied, and closed unless another person's open row needs them
    texts     the address is cut out of every detail, note and error

Step by step, each a short transaction, all of it safe to repeat. A mail in flight is left alone: it
is told of, and forgotten by the next run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from consumer.guard import erasing, history
from consumer.guard.letters import DeadLetter
from consumer.guard.mentions import Mentions
from consumer.guard.privacy import Privacy
from consumer.guard.reading import LETTER, RECORD, letter_of
from consumer.model import Mail, Record

T = TypeVar("T")

SOME: Final = 50  # letters read at once: each may hold a megabyte
PASSES: Final = 5  # over the rows, until one finds none: a row may move while it is looked for

LETTERS = f"""
    SELECT {LETTER}, {RECORD} FROM dead_letter d
     WHERE d.id > $1 AND d.wiped_at IS NULL ORDER BY d.id LIMIT $2
"""  # noqa: S608 - the columns are ours


class Run(Protocol):
    """A lane's `run`: repeats while Postgres is away."""

    def __call__(self, work: Callable[[Any], Awaitable[T]]) -> Awaitable[T]: ...


@dataclass(slots=True)
class Forgotten:
    """How much was erased. `in_flight`: keys that were left alone; `locked`: letters, unread."""

    rows: int = 0
    closed: int = 0  # of the rows, how many might still have been sent
    letters: int = 0
    texts: int = 0
    in_flight: set[str] = field(default_factory=set)
    locked: dict[int, str] = field(default_factory=dict)  # why, by id


@dataclass(slots=True)
class Forgetting:
    """`reads`: the mail that a record makes, if any: it may be encoded in ways unknown here."""

    run: Run
    privacy: Privacy
    who: Mentions
    note: str
    reads: Callable[[Record], Mail | None]
    done: Forgotten = field(default_factory=Forgotten)

    async def all(self) -> Forgotten:
        self.note = self.who.cut_from(history.plain(self.note))
        for _ in range(PASSES):
            if not await self._rows():
                break
        await self._letters()
        await self._texts()
        return self.done

    async def _rows(self) -> bool:
        """Go through all rows once; tell whether any was erased."""
        before = self.done.rows
        blocks = await self.run(partial(erasing.last_of, "sent_message"))
        for first in range(0, blocks + 1, erasing.BLOCKS):
            await self.run(partial(self._some_rows, first))
        return self.done.rows > before

    async def _some_rows(self, first: int, connection: Any) -> None:
        address = self.who.forms[0]
        hashed = self.privacy.hashed(address)
        keys = await erasing.addressed(connection, first, address, hashed)
        if not keys:
            return
        erased = await erasing.erase(connection, keys, self.note)
        self.done.in_flight = (self.done.in_flight - set(keys)) | erased.flying
        self.done.rows += erased.rows
        self.done.closed += erased.closed
        self.done.letters += erased.letters

    async def _letters(self) -> None:
        after = 0
        while found := await self.run(partial(_letters_after, after)):
            after = found[-1]["id"]
            letters = [letter_of(values, self.privacy) for values in found]
            hits = [letter.id for letter in letters if await self._is_theirs(letter)]
            self.done.letters += await self.run(partial(erasing.wipe, hits, self.note))

    async def _is_theirs(self, letter: DeadLetter) -> bool:
        if letter.idempotency_key in self.done.in_flight:
            return False
        if letter.record is None:
            self.done.locked[letter.id] = letter.locked or ""
            return False
        record, mail = letter.record, self.reads(letter.record)
        if mail is None or mail.recipient.lower() != self.who.forms[0]:
            return self.who.in_record(record)
        await self.run(partial(erasing.take, mail, record, self.note))
        return True

    async def _texts(self) -> None:
        for form in self.who.forms:
            lasts = {name: await self._last(name) for name in erasing.searched()}
            for statement in erasing.texts(lasts):
                self.done.texts += await self.run(partial(erasing.cut, statement, form))

    async def _last(self, table: str) -> int:
        return await self.run(partial(erasing.last_of, table))


async def _letters_after(after: int, connection: Any) -> list[Any]:
    return list(await connection.fetch(LETTERS, after, SOME))
