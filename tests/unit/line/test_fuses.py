"""The fuses: what blows one, who waits behind it, and what puts it in again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer import fuses as subject
from consumer.fuses import LAST, MOST, Fuse, Fuses
from consumer.intake.hold import Hold
from consumer.model import (
    Accepted,
    Answer,
    Bad,
    Coordinates,
    Reason,
    Record,
    Refused,
    Rejected,
    SlowDown,
    Transient,
)

BAD = Bad(Reason.INVALID, "/total: is absent", "order.receipt", "key")


def record(offset: int, topic: str = "orders") -> Record:
    return Record(topic, 0, offset, 1, None, b"{")


async def bad(fuses: Fuses, offset: int, topic: str = "orders") -> Bad:
    fuses.see(topic)
    return await fuses.judge(record(offset, topic), BAD, Hold())


async def blown() -> Fuses:
    fuses = Fuses()
    for offset in range(MOST + 1):
        last = await bad(fuses, offset)
    assert last.reason is Reason.FUSED
    return fuses


class Guard:
    """Holds the letters of reason `fused` that are open."""

    def __init__(self) -> None:
        self.open: set[Coordinates] = set()
        self.asked = asyncio.Event()

    async def dead_letters(self, _: object) -> list[Any]:
        self.asked.set()
        return [SimpleNamespace(coordinates=at) for at in self.open]


# ── What blows it


@pytest.mark.parametrize("good_between", [0, 1, 3])
async def test_over_a_fifth_of_the_last_200_records_blows_it(good_between: int) -> None:
    fuses = Fuses()
    for offset in range(MOST):
        assert await bad(fuses, offset) == BAD
        for _ in range(good_between):
            fuses.see("orders")
    assert fuses.blown == []
    told = await bad(fuses, MOST)
    assert told == Bad(
        Reason.FUSED,
        "over 40 of the topic's last 200 records were bad, this one: invalid: /total: is absent",
        "order.receipt",
        "key",
    )
    assert [fuse.names for fuse in fuses.blown] == [{"topic": "orders"}]


async def test_a_fifth_does_not_blow_it_however_long_it_goes_on() -> None:
    fuses = Fuses()
    for offset in range(10 * LAST):
        assert await bad(fuses, offset) == BAD
        for _ in range(4):
            fuses.see("orders")


async def test_each_topic_has_its_own_and_some_have_none() -> None:
    fuses = Fuses(without={"noise"})
    for offset in range(MOST):
        await bad(fuses, offset, "orders")
        await bad(fuses, offset, "accounts")
    for offset in range(2 * LAST):
        assert await bad(fuses, offset, "noise") == BAD
    assert fuses.blown == []


# ── Who waits, and until when


async def test_behind_a_blown_one_nothing_more_is_set_aside() -> None:
    fuses = await blown()
    waiting = [asyncio.create_task(bad(fuses, 100 + n)) for n in range(30)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    assert await bad(fuses, 1, "accounts") == BAD
    for task in waiting:
        task.cancel()


async def test_who_waits_gives_up_its_place_and_can_be_called_back() -> None:
    fuses = await blown()
    standing: list[int] = []
    hold = Hold(stand=standing.append)
    task = asyncio.create_task(fuses.judge(record(100), BAD, hold))
    hold.bind(task)
    await asyncio.sleep(0)
    assert standing == [1]
    hold.recall(hard=False)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert standing == [1, -1]


async def test_closing_its_letter_puts_it_in_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited goes on, and is counted anew: still bad, they blow it again."""
    monkeypatch.setattr(subject, "LOOK", 0)
    fuses, guard = await blown(), Guard()
    at = record(MOST).coordinates
    fuses.mark_topic(at)
    guard.open.add(at)
    tending = asyncio.create_task(fuses.tend(cast("Any", guard)))
    waiting = [asyncio.create_task(bad(fuses, 100 + n)) for n in range(MOST + 5)]
    await guard.asked.wait()
    assert len(fuses.blown) == 1
    guard.open.clear()
    done, still = await asyncio.wait(waiting, timeout=0.2)
    assert [task.result() for task in done].count(BAD) == MOST
    assert (len(done), len(still)) == (MOST + 1, 4)
    for task in (tending, *still):
        task.cancel()


async def test_before_its_letter_stands_it_is_not_taken_for_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subject, "LOOK", 0)
    fuses, guard = await blown(), Guard()
    tending = asyncio.create_task(fuses.tend(cast("Any", guard)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(fuses.blown) == 1
    assert not guard.asked.is_set()
    tending.cancel()


# ── A sender at a provider


def hear(fuses: Fuses, answer: Answer, times: int, sender: str = "shop") -> list[str]:
    told = [fuses.hear("postmark", sender, answer) for _ in range(times)]
    return [one for one in told if one is not None]


@pytest.mark.parametrize("answer", [Rejected("422 code 300"), Refused("422 code 406 inactive")])
def test_one_reason_that_takes_over_blows_it(answer: Answer) -> None:
    fuses = Fuses()
    hear(fuses, Accepted("id"), LAST)
    assert hear(fuses, answer, MOST) == []
    assert fuses.stopped == frozenset()
    [told] = hear(fuses, answer, 5)
    assert told.startswith("422 code ")
    assert told.endswith("(so were over 40 of the last 200 mails of this sender)")
    assert fuses.stopped == {("postmark", "shop")}


def test_many_reasons_do_not_nor_answers_that_are_no_end() -> None:
    fuses = Fuses()
    for code in range(10):
        assert hear(fuses, Rejected(f"422 code {code}"), MOST // 2) == []
    assert hear(fuses, Transient("503"), LAST) == []
    assert hear(fuses, SlowDown("429", 1.0), LAST) == []
    assert fuses.stopped == frozenset()


def test_each_sender_has_its_own() -> None:
    fuses = Fuses()
    hear(fuses, Rejected("422"), MOST, "shop")
    hear(fuses, Rejected("422"), MOST, "accounts")
    assert fuses.stopped == frozenset()


def test_a_fuse_names_what_it_is_of() -> None:
    assert str(Fuse(provider="postmark", sender="shop")) == "provider postmark, sender shop"
