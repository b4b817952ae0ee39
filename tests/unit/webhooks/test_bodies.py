"""Laws of what is taken out of a body: times that exist, codes that are codes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from consumer.webhooks.bodies import code, instant


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("2026-11-30T14:00:00Z", datetime(2026, 11, 30, 14, tzinfo=UTC)),
        ("2026-11-30 14:00:00", datetime(2026, 11, 30, 14, tzinfo=UTC)),
        ("2026-11-30T16:00:00.1234567+02:00", datetime(2026, 11, 30, 14, 0, 0, 123456, tzinfo=UTC)),
        (1_790_000_000, datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)),
        (1_790_000_000.5, datetime(2026, 9, 21, 14, 13, 20, 500_000, tzinfo=UTC)),
        *product(("", "soon", None, 10**30, float("inf"), -1, True), (None,)),
        *product(("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"), (None,)),
    ],
)
def test_a_time_is_read_or_there_is_none(said: object, read: datetime | None) -> None:
    assert instant(said) == read


@pytest.mark.parametrize("hours", [-14, 0, 14])
def test_every_time_that_is_read_can_be_said_in_utc(hours: int) -> None:
    sign = "+" if hours >= 0 else "-"
    for edge in ("2000-01-01T00:00:00", "2100-12-31T23:59:59"):
        at = instant(f"{edge}{sign}{abs(hours):02}:00")
        assert at is not None
        assert at.astimezone(UTC).utcoffset() == timedelta(0)


def test_a_sentence_is_no_code() -> None:
    assert code("Permanent", "no such user ada@example.org", None, "", 5, "General") == (
        "Permanent/5/General"
    )
    assert code("ada@example.org", "x" * 65) == ""
