"""What no worker knew is taken by one whose catalogue does, without a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from consumer.guard import DeadLetter, Due, LetterStatus
from consumer.model import Bad, NeedsSchema, Reason, Record, Skipped, SkipRule
from consumer.newcomers import PAGE, TOGETHER, Newcomers

AT = datetime(2026, 3, 1, tzinfo=UTC)


def letter(number: int, value: bytes = b"new") -> DeadLetter:
    record = Record("orders", 0, number, 1, None, value)
    return DeadLetter(
        number, None, "order.receipt", Reason.UNKNOWN_TYPE, "", LetterStatus.OPEN,
        record.coordinates, 1, AT, AT, None, record,
    )  # fmt: skip


@dataclass
class Desk:
    """Letters by id, and what was asked for."""

    open: dict[int, DeadLetter]
    read: list[int] = field(default_factory=list)

    async def ids(self, after: int, limit: int) -> list[int]:
        return [number for number in sorted(self.open) if number > after][:limit]

    async def letters(self, ids: Sequence[int]) -> list[DeadLetter]:
        self.read += ids
        return [self.open[number] for number in ids]

    async def take(self, ids: Sequence[int]) -> list[Due]:
        taken = [self.open.pop(number) for number in ids]
        return [Due(one, one.record, None) for one in taken if one.record is not None]


class Reading:
    async def glance(self, record: Record) -> Any:
        match record.value:
            case b"strange":
                return Bad(Reason.UNKNOWN_TYPE, "")
            case b"strange version":
                return Bad(Reason.UNKNOWN_VERSION, "")
            case b"needs a schema":
                return NeedsSchema(7)
            case b"invalid":
                return Bad(Reason.INVALID, "")
            case _:
                return Skipped(SkipRule.IGNORED)


def made(*letters: DeadLetter) -> tuple[Newcomers, Desk, list[int]]:
    desk, done = Desk({one.id: one for one in letters}), list[int]()

    async def work(due: Due) -> None:
        done.append(due.letter.id)

    parts: Any = (desk, Reading(), work)
    return Newcomers(*parts), desk, done


async def test_what_is_known_is_taken_whatever_becomes_of_it() -> None:
    newcomers, desk, done = made(letter(1), letter(2, b"invalid"), letter(3))
    await newcomers.look()
    assert done == [1, 2, 3]
    assert desk.open == {}


async def test_what_is_strange_stays_and_is_read_once() -> None:
    newcomers, desk, done = made(letter(1, b"strange"), letter(2, b"strange version"))
    for _ in range(3):
        await newcomers.look()
    assert (done, sorted(desk.open), desk.read) == ([], [1, 2], [1, 2])


async def test_what_cannot_be_read_at_the_moment_is_read_again() -> None:
    newcomers, desk, done = made(letter(1, b"needs a schema"))
    for _ in range(2):
        await newcomers.look()
    assert (done, desk.read) == ([], [1, 1])


async def test_many_are_taken_a_few_at_a_time_and_none_is_passed_over() -> None:
    many = [letter(n, b"strange" if n % 2 else b"new") for n in range(1, 2 * PAGE + TOGETHER)]
    newcomers, desk, done = made(*many)
    for _ in range(4):
        await newcomers.look()
    assert done == [one.id for one in many if one.id % 2 == 0]
    assert len(desk.open) == len(many) - len(done)
