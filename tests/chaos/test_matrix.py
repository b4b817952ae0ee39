"""A corner of the kill matrix; the whole is made by `make chaos ARGS=--matrix`."""

from __future__ import annotations

import pytest

from tests.chaos.matrix import Cell, matrix, violations

CORNER = ("answered, not recorded", "recorded, not committed")


@pytest.mark.timeout(300)
async def test_a_corner_of_the_kill_matrix() -> None:
    """The answer died with its worker: proved by a repeat, by asking, or shown; never sent anew."""
    cells = await matrix(CORNER, ("postmark", "resend", "smtp"))
    assert violations(cells) == []
    ends = {
        place: (cell.status, cell.settled_by, cell.accepted)
        for place, cell in cells.items()
        if isinstance(cell, Cell)
    }
    unrecorded, uncommitted = CORNER
    assert ends == {
        ("postmark", unrecorded): ("sent", "lookup", 1),
        ("resend", unrecorded): ("sent", "repeat", 1),
        ("smtp", unrecorded): ("shown", "", 1),
        ("postmark", uncommitted): ("sent", "", 1),
        ("resend", uncommitted): ("sent", "", 1),
        ("smtp", uncommitted): ("sent", "", 1),
    }
