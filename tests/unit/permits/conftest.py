"""A clock of the test's own."""

from __future__ import annotations

import pytest

from tests.unit.permits.clock import StandingClock


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()
