"""A killed worker's records are soon in other hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.takeover import LIMIT, takeovers
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres

MUCH_LATER = 4 * LIMIT  # seconds: by the session and the lease, however busy the machine is


@pytest.mark.timeout(150)
async def test_a_killed_workers_records_are_taken_over_and_none_goes_twice(
    kafka: Kafka, postgres: Postgres, tmp_path: Path
) -> None:
    """With mails in the air; how soon is measured by `make chaos ARGS="--takeover 50"`."""
    found = [each async for each in takeovers((kafka, postgres), tmp_path, times=3, seed=1)]
    assert [each for each in found if each.seconds > MUCH_LATER or each.twice] == []
    assert sum(each.in_the_air for each in found) > 0  # else nothing was in its hands
