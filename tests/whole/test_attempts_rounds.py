"""A round used up: parked with the date of the next one, flown by the resolver, told at its end."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tests.doubles.engine import Double
from tests.whole.events import receipt
from tests.whole.placing import until, work
from tests.whole.stack import Stack
from tests.whole.test_attempts import QUICK, words

ADDRESS = "parked@example.com"
MAINTENANCE = words(503, 100)
ATTEMPTS = 2  # fewer than the failures that open a breaker: an outage exhausts nothing
ROUNDS = 4


async def test_the_next_round_is_flown_when_it_is_due_and_settles_the_letter(
    stack: Stack, double: Double
) -> None:
    double.script.for_recipient(ADDRESS, MAINTENANCE)
    await _parked(stack)
    [letter] = await _letters(stack)
    assert (letter["reason"], letter["status"], letter["failures"]) == ("exhausted", "parked", 1)
    ahead = letter["next_check_at"] - datetime.now(UTC)
    assert timedelta(minutes=4) < ahead <= timedelta(minutes=5)
    assert await stack.statuses() == {"waiting": 1}
    assert await stack.told() == [], "it has no outcome yet"
    double.script.clear()
    await _make_due(stack)
    await until(lambda: _told(stack, 1))
    assert await stack.statuses() == {"sent": 1}
    assert [letter["status"] for letter in await _letters(stack)] == ["settled"]
    [told] = await stack.told()
    assert (told["status"], told["duplicate"]) == ("sent", False)
    assert told["provider_message_id"]
    assert double.ledger.requests == ATTEMPTS + 1


async def test_the_last_round_used_up_is_a_persons_turn(stack: Stack, double: Double) -> None:
    """After 5, 30 and 120 minutes: `failed`, and an open letter; upstream hears of it once."""
    double.script.for_recipient(ADDRESS, MAINTENANCE)
    await _parked(stack)
    minutes = []
    for _ in range(1, ROUNDS):
        [letter] = await _letters(stack)
        ahead = letter["next_check_at"] - datetime.now(UTC)
        minutes.append(round(ahead.total_seconds() / 60))
        await _a_mail_goes_well(stack)
        await _make_due(stack)
        await until(partial(_failed_again, stack, letter["failures"]))
    assert minutes == [5, 30, 120]
    [row] = await stack.sql("SELECT * FROM sent_message WHERE recipient = $1", ADDRESS)
    assert (row["status"], row["round"], row["attempts"]) == ("failed", ROUNDS - 1, ATTEMPTS)
    [letter] = await _letters(stack)
    assert (letter["reason"], letter["status"]) == ("exhausted", "open")
    assert (letter["next_check_at"], letter["failures"]) == (None, ROUNDS)
    await until(lambda: _told(stack, len(minutes) + 1))
    about = [one for one in await stack.told() if one["status"] != "sent"]
    assert [(one["status"], one["duplicate"]) for one in about] == [("dead_letter", False)]
    assert about[0]["reason"] == "exhausted"


async def _parked(stack: Stack) -> None:
    """Start a worker, and let it use up the first round of one mail."""
    stack.settings |= QUICK
    stack.settings["retry"] = {"max_attempts": ATTEMPTS, "base": "10ms", "cap": "2s"}
    await stack.publish(stack.orders, [receipt("parked", ADDRESS)])
    await work(stack)


async def _a_mail_goes_well(stack: Stack) -> None:
    """Failures in a row open the breaker; this is the end of a row."""
    await stack.publish(stack.orders, [receipt(f"well-{time.monotonic_ns()}")])
    await stack.finished(stack.orders)


async def _make_due(stack: Stack) -> None:
    await stack.sql("UPDATE dead_letter SET next_check_at = now() WHERE status = 'parked'")


async def _letters(stack: Stack) -> list[Any]:
    return await stack.sql("SELECT * FROM dead_letter")


async def _failed_again(stack: Stack, failures: int) -> bool:
    return all(letter["failures"] > failures for letter in await _letters(stack))


async def _told(stack: Stack, count: int) -> bool:
    return len(await stack.told()) == count
