"""Which of two rows a record is told of: its key's, or the one that has its coordinates."""

from __future__ import annotations

import pytest

from consumer.guard.rows import Standing
from consumer.model import Coordinates, Row, Status

HERE = Coordinates("orders", 0, 1, 0)


def row(key: str, status: Status, version: int = 1) -> Row:
    return Row(
        key, "order.receipt", status, "f", "c", "file", "account", 1, 0, 1, "owner", "token",
        lease_live=False, in_doubt=False, coordinates=HERE, version=version,
    )  # fmt: skip


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.FAILED])
def test_a_failed_key_whose_record_is_spoken_for_is_no_invitation(status: Status) -> None:
    """The takeover could never get the coordinates: the record would be tried for ever."""
    mine, other = row("mine", Status.FAILED), row("other", status)
    assert Standing(mine, other).row is other


def test_a_failed_row_elsewhere_gives_way_unless_a_person_asked_for_it() -> None:
    mine = row("mine", Status.FAILED)
    assert Standing(mine, row("other", Status.FAILED)).row is mine
    asked_for = row("other", Status.FAILED, version=2)
    assert Standing(mine, asked_for).row is asked_for


def test_else_the_key_decides() -> None:
    mine, other = row("mine", Status.SENT), row("other", Status.SENT)
    assert Standing(mine, other).row is mine
    assert Standing(None, other).row is other
