"""Laws of moments: a time with its offset, or how long ago; everything else is asked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from consumer.cli.app import StopError
from consumer.cli.moments import moment


def test_a_time_is_taken_with_its_offset() -> None:
    found = moment("2026-11-30T15:02:00+01:00", "--since")
    assert found == datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
    assert moment("2026-11-30T14:02:00Z", "--since") == found
    assert moment(None, "--since") is None


@pytest.mark.parametrize(
    ("text", "ago"),
    [("90s", timedelta(seconds=90)), ("5m", timedelta(minutes=5)), ("99999d", timedelta(99999))],
)
def test_how_long_ago_is_counted_from_now(text: str, ago: timedelta) -> None:
    found = moment(text, "--since")
    assert found is not None
    assert timedelta() <= datetime.now(UTC) - ago - found < timedelta(minutes=1)


@pytest.mark.parametrize("text", ["", "2", "0h", "-2h", "999999d", "2026-11-30", "soon", "1y"])
def test_what_is_neither_is_refused_with_the_option(text: str) -> None:
    with pytest.raises(StopError, match="--since"):
        moment(text, "--since")
