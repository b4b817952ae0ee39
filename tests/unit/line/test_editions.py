"""An open row is made as it was made first; fingerprints of two contexts say nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from consumer.editions import Editions
from consumer.model import (
    IMPORTED,
    OPEN,
    Bad,
    Edition,
    Mail,
    MailType,
    Reason,
    Record,
    Row,
    Status,
)

OCCURRED = datetime(2026, 3, 1, tzinfo=UTC)
RECORD = Record("orders", 0, 1, 1, None, b"{}")


def mail(digest: str, key: str = "k", said: str = "") -> Mail:
    kind = MailType("receipt", "orders", ("p",), "shop", 60.0, digest=digest)
    return Mail(kind, key, "1", "a@b.example", said, {"said": said}, OCCURRED)


def row(status: Status = Status.WAITING, *, catalogue: str = "old", key: str = "row's own") -> Row:
    return Row(
        key, "receipt", status, "", catalogue, "p", "", attempts=1, round=0, epoch=1, owner="",
        token="", lease_live=False, in_doubt=False, coordinates=RECORD.coordinates,
    )  # fmt: skip


TODAY = mail("new", "today's key", "today")


@dataclass
class Making:
    """Today's catalogue, which can read one former edition."""

    readable: bool = True
    formers: dict[str, Any] = field(default_factory=dict)

    @property
    def catalogue(self) -> Any:
        return self

    def former(self, edition: Edition) -> object | None:
        return edition if self.readable else None

    def basis(self, digest: str) -> str | None:
        return "a" if digest == "new" else None

    def read_as(self, former: Edition, _: Record) -> Mail | Bad:
        if former.digest == "unreadable":
            return Bad(Reason.INVALID, "")
        return mail(former.digest, "its old key", "then")


@dataclass
class Shelf:
    asked: list[str] = field(default_factory=list)

    async def find(self, digest: str) -> Edition | None:
        self.asked.append(digest)
        basis = {"old": "a", "older": "b", "unreadable": "a"}.get(digest)
        return None if basis is None else Edition(digest, "receipt", basis, b"")


def editions(making: Making | None = None) -> tuple[Editions, Shelf]:
    shelf = Shelf()
    made: Any = making or Making()
    return Editions(made, shelf.find), shelf


@pytest.mark.parametrize("status", OPEN)
async def test_an_open_row_is_made_as_it_was_under_its_own_key(status: Status) -> None:
    made, _ = editions()
    assert await made.as_claimed(TODAY, row(status), RECORD) == mail("old", "row's own", "then")


@pytest.mark.parametrize("status", sorted(set(Status) - set(OPEN)))
async def test_a_closed_row_takes_todays(status: Status) -> None:
    """What failed is claimed anew, and a mended template is why it is tried again."""
    made, shelf = editions()
    assert await made.as_claimed(TODAY, row(status), RECORD) is TODAY
    assert shelf.asked == []


@pytest.mark.parametrize("catalogue", ["new", "never kept", "unreadable", IMPORTED])
async def test_without_a_former_edition_it_is_todays(catalogue: str) -> None:
    made, _ = editions()
    assert await made.as_claimed(TODAY, row(catalogue=catalogue), RECORD) is TODAY


async def test_what_today_cannot_read_is_made_by_the_edition_that_could() -> None:
    made, _ = editions()
    bad = Bad(Reason.UNKNOWN_TYPE, "")
    assert await made.as_claimed(bad, row(), RECORD) == mail("old", "row's own", "then")


async def test_an_edition_of_a_newer_release_is_todays_business() -> None:
    made, _ = editions(Making(readable=False))
    assert await made.as_claimed(TODAY, row(), RECORD) is TODAY


async def test_an_edition_is_read_once() -> None:
    made, shelf = editions()
    for _ in range(3):
        await made.as_claimed(TODAY, row(), RECORD)
        await made.comparable(row(), TODAY)
        await made.comparable(row(catalogue="never kept"), TODAY)
    assert shelf.asked == ["old", "never kept"]


@pytest.mark.parametrize(
    ("catalogue", "comparable"),
    [("new", True), ("old", True), ("older", False), ("never kept", False), (IMPORTED, False)],
)
async def test_fingerprints_compare_where_they_depend_on_the_same(
    catalogue: str, *, comparable: bool
) -> None:
    made, _ = editions()
    assert await made.comparable(row(catalogue=catalogue), TODAY) is comparable
