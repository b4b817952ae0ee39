"""A killed worker's records are soon in other hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.takeover import LIMIT, takeovers
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres


@pytest.mark.timeout(150)
async def test_a_killed_workers_records_are_taken_over_within_lease_and_session(
    kafka: Kafka, postgres: Postgres, tmp_path: Path
) -> None:
    """Within lease + session timeout + 2 s, with mails in the air, and nothing twice."""
    found = [each async for each in takeovers((kafka, postgres), tmp_path, times=3, seed=1)]
    assert [each for each in found if each.seconds > LIMIT or each.twice] == []
    assert sum(each.in_the_air for each in found) > 0  # else nothing was in its hands
