"""What the start made is not looked through again for every few mails."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from consumer import collector


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_is_there_is_set_aside_and_cycles_are_still_found() -> None:
    collector.settle()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == collector.THRESHOLDS
    assert gc.isenabled()
