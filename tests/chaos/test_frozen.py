"""A worker that slept past its lease believes that no time has passed: and sends nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.frozen import freezes
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres


@pytest.mark.timeout(150)
async def test_a_worker_frozen_past_its_lease_sends_nothing_on_waking(
    kafka: Kafka, postgres: Postgres, tmp_path: Path
) -> None:
    found = [each async for each in freezes((kafka, postgres), tmp_path, times=3, seed=1)]
    assert [each for each in found if each.sent_on_waking or each.twice] == []
    assert min(each.held for each in found) > 0  # else nothing was to be sent
