"""Waiting at the start: for what may come, aloud, and not for ever."""

from __future__ import annotations

import pytest

from consumer import patience
from consumer.patience import GaveUpError, patiently


class NotYetError(Exception):
    pass


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)


async def test_what_comes_in_time_is_used() -> None:
    answers: list[Exception | str] = [NotYetError("no"), NotYetError("no"), "here"]
    tries = iter(answers)

    async def attempt() -> str:
        answer = next(tries)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert await patiently("it", attempt, NotYetError, 5) == "here"


async def test_what_does_not_come_ends_the_wait_with_its_own_words() -> None:
    async def attempt() -> None:
        raise NotYetError("nobody there")

    with pytest.raises(GaveUpError, match=r"it: nobody there; gave up after 0\.01 s"):
        await patiently("it", attempt, NotYetError, 0.01)


async def test_what_waiting_does_not_mend_is_not_waited_for() -> None:
    async def attempt() -> None:
        raise PermissionError("never")

    with pytest.raises(PermissionError):
        await patiently("it", attempt, NotYetError, 60)
