"""A slice of `make chaos`: its seed is new each time, and told."""

from __future__ import annotations

import secrets

import pytest

from tests.chaos.printing import printed
from tests.chaos.storm import Plan, storm


@pytest.mark.timeout(400)
async def test_nothing_is_lost_and_nothing_sent_twice_whatever_breaks() -> None:
    plan = Plan(events=1000, minutes=0.5, seed=secrets.randbelow(1 << 31), patience=120)
    report = await storm(plan)
    assert report.in_order, "\n".join(printed(report))
    assert sum(evidence.unknown for evidence in report.tally.evidence.values()) > 0
