"""Outcomes that nobody knew: waiting until they are known, and moving the time that it takes.

Nothing of it calls us, so these look at the database: the service's own clock is its clock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from consumer.keys import send_key
from tests.whole.placing import until
from tests.whole.stack import Stack

MINUTE = timedelta(minutes=1)


async def settled(stack: Stack, accepted: Collection[str], seconds: float = 90) -> None:
    """Wait until nothing that the provider has taken is unknown any more."""

    async def known() -> bool:
        rows = await stack.sql("SELECT idempotency_key FROM sent_message WHERE status = 'unknown'")
        return not any(row["idempotency_key"] in accepted for row in rows)

    await until(known, seconds)


async def stands(stack: Stack, **statuses: int) -> None:
    """Wait until the guard's rows are counted so by status."""

    async def so() -> bool:
        return await stack.statuses() == statuses

    await until(so)


async def shown(stack: Stack, *letters: tuple[str, str], seconds: float = 60) -> None:
    """Wait until these are all letters there are: (reason, status)."""

    async def so() -> bool:
        return await _letters(stack) == sorted(letters)

    await until(so, seconds)


async def told(stack: Stack, key: str, *words: str) -> list[dict[str, Any]]:
    """Wait until so many outcome records of a key are published, and return them, in order."""

    async def enough() -> bool:
        return len(await _outcomes(stack, key)) >= len(words)

    await until(enough)
    found = await _outcomes(stack, key)
    assert [one["status"] for one in found] == list(words)
    return found


async def told_by_key(stack: Stack) -> Mapping[str, Sequence[str]]:
    """Return what upstream heard of each key, in order: a key's records are in one partition."""
    words: dict[str, list[str]] = defaultdict(list)
    for one in await stack.told():
        words[one["idempotency_key"]].append(one["status"])
    return words


async def settled_by(stack: Stack) -> dict[str, int]:
    """Count the rows of which something was in doubt, by what settled them."""
    rows = await stack.sql("SELECT settled_by FROM sent_message WHERE settled_by IS NOT NULL")
    return Counter(row["settled_by"] for row in rows)


async def happened(stack: Stack, key: str) -> list[str]:
    """Return the events in a key's history, in order."""
    rows = await stack.sql("SELECT event FROM history WHERE idempotency_key = $1 ORDER BY id", key)
    return [row["event"] for row in rows]


async def row_of(stack: Stack, key: str) -> Any:
    [row] = await stack.sql("SELECT * FROM sent_message WHERE idempotency_key = $1", key)
    return row


async def wait_a_day(stack: Stack) -> None:
    """Nothing parked is due for now."""
    await _due_in(stack, timedelta(days=1))


async def look_now(stack: Stack) -> None:
    """Whatever is parked is due."""
    await _due_in(stack, timedelta())


async def pass_by(stack: Stack, time: timedelta) -> None:
    """Let that much time go by for all that is unknown; what is parked is due then."""
    await stack.sql(
        """UPDATE sent_message
              SET first_attempt_at = first_attempt_at - $1::interval,
                  attempt_deadline = attempt_deadline - $1::interval,
                  doubt_since = doubt_since - $1::interval
            WHERE status = 'unknown'""",
        time,
    )
    await look_now(stack)


async def set_back(stack: Stack, order: str, status: str) -> None:
    """Let a row be as its worker left it that died, twenty minutes ago.

    And let no sweep have been since: none passes a row that is open.
    """
    await stack.sql("UPDATE sweep SET done_until = '2000-01-01', next_from = '2000-01-01'")
    await stack.sql(
        """UPDATE sent_message
              SET status = $2, provider_message_id = NULL, sent_at = NULL, error = NULL,
                  claimed_at = now() - interval '20 min', outcome_due = false,
                  first_attempt_at = now() - interval '20 min',
                  attempt_deadline = now() - interval '19 min',
                  lease_until = now() - interval '19 min'
            WHERE idempotency_key = $1""",
        key_of(order),
        status,
    )


async def _due_in(stack: Stack, time: timedelta) -> None:
    await stack.sql(
        "UPDATE dead_letter SET next_check_at = now() + $1::interval WHERE status = 'parked'", time
    )


async def _letters(stack: Stack) -> list[tuple[str, str]]:
    found = await stack.sql("SELECT reason, status FROM dead_letter")
    return sorted((letter["reason"], letter["status"]) for letter in found)


async def _outcomes(stack: Stack, key: str) -> list[dict[str, Any]]:
    return [one for one in await stack.told() if one["idempotency_key"] == key]


def key_of(order: str) -> str:
    """Return the key of `receipt(order)`."""
    return send_key("order.receipt", order, f"{order.lower()}@example.com")


def key_of_reset(request: str) -> str:
    """Return the key of `reset(request)`."""
    to = f"{request.lower()}@example.com"
    return send_key("password.reset", request, to, case_sensitive_entity=True)
