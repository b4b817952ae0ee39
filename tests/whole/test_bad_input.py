"""Whatever stands in a topic: the right end for it, kept byte for byte, and its neighbours flow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from consumer.keys import send_key
from consumer.model import Reason, SkipRule
from tests.doubles.engine import Double
from tests.whole.bad_records import Case, all_cases
from tests.whole.placing import Placed, case_at, large_topic, publish, work
from tests.whole.shapes import CANARY
from tests.whole.stack import Stack


async def test_every_record_kind_ends_as_it_must_and_its_neighbours_are_sent(
    stack: Stack, double: Double, unique: Callable[[str], str]
) -> None:
    await large_topic(stack, unique)
    placed = await publish(stack, all_cases())
    worker = await work(stack)
    metrics = (await worker.get("/metrics"))[1]
    assert await worker.stop() == 0
    assert await _letters(stack, placed) == _expected_letters(placed)
    assert await _details(stack, placed) == {}
    assert await _keys(stack) == _expected_keys(placed)
    assert double.ledger.summary()["accepted"] == len(_expected_keys(placed))
    assert double.ledger.summary()["accepted_twice"] == 0
    told = await stack.told()
    assert _outcomes(told, placed) == _expected_outcomes(placed)
    assert len(told) == 3 * len(placed)
    for name, said in (
        ("log", worker.log.read_text("utf-8", "replace")),
        ("metrics", metrics),
        ("outcomes", str(told)),
    ):
        assert CANARY not in said.lower(), f"something of a record is in the {name}"
    assert _skips(metrics, stack.orders) == _expected_skips(placed)


# ── What has to come of it, and what came


def _expected_letters(placed: Sequence[Placed]) -> dict[str, object]:
    return {
        one.case.name: (
            (one.case.becomes, "open"),
            (one.timestamp, one.case.key, one.case.value, list(one.case.headers)),
        )
        for one in placed
        if isinstance(one.case.becomes, Reason)
    }


async def _letters(stack: Stack, placed: Sequence[Placed]) -> dict[str, object]:
    """Return the dead letters by case: the verdict, and the record as it was kept."""
    rows = await stack.sql("SELECT * FROM dead_letter")
    return {
        case_at(placed, row).name: (
            (row["reason"], row["status"]),
            (row["record_timestamp"], row["record_key"], row["record_value"], _headers(row)),
        )
        for row in rows
    }


def _headers(row: Any) -> list[tuple[str, bytes | None]]:
    names = [name.decode() for name in row["header_names"]]
    return list(zip(names, row["header_values"], strict=True))


async def _details(stack: Stack, placed: Sequence[Placed]) -> dict[str, str]:
    """Return the details that do not say what they should."""
    rows = await stack.sql("SELECT * FROM dead_letter")
    said = {case_at(placed, row): row["detail"] for row in rows}
    return {
        case.name: detail
        for case, detail in said.items()
        if case.detail not in detail or CANARY in detail.lower()
    }


def _expected_keys(placed: Sequence[Placed]) -> set[str]:
    neighbours = (f"{at}-{number}" for at in ("before", "after") for number in range(len(placed)))
    keys = {send_key("order.receipt", one, f"{one}@example.com") for one in neighbours}
    return keys | {p.case.becomes for p in placed if _is_sent(p.case)}


async def _keys(stack: Stack) -> set[str]:
    """Return the keys of all rows, which must all be sent."""
    rows = await stack.sql("SELECT idempotency_key, status FROM sent_message")
    assert {row["status"] for row in rows} == {"sent"}
    return {row["idempotency_key"] for row in rows}


def _is_sent(case: Case) -> bool:
    return not isinstance(case.becomes, Reason | SkipRule)


def _expected_outcomes(placed: Sequence[Placed]) -> dict[str, tuple[str, str | None]]:
    return {p.case.name: _told_of(p.case) for p in placed} | {"a neighbour": ("sent", None)}


def _told_of(case: Case) -> tuple[str, str | None]:
    match case.becomes:
        case Reason():
            return "dead_letter", case.becomes.value
        case SkipRule():
            return "skipped", case.becomes.value
        case _:
            return "sent", None


def _outcomes(
    told: Sequence[dict[str, Any]], placed: Sequence[Placed]
) -> dict[str, tuple[str, str | None]]:
    return {
        case_at(placed, one["source"]).name: (one["status"], one["reason"])
        for one in told
        if one["duplicate"] is False
    }


def _expected_skips(placed: Sequence[Placed]) -> dict[str, float]:
    rules = Counter(p.case.becomes for p in placed if isinstance(p.case.becomes, SkipRule))
    return {rule.value: count for rule, count in rules.items()}


def _skips(metrics: str, topic: str) -> dict[str, float]:
    found = re.findall(rf'sendonce_skipped_total{{rule="(\w+)",topic="{topic}"}} (\S+)', metrics)
    return {rule: float(count) for rule, count in found if float(count)}
