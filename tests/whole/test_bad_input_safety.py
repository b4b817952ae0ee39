"""Outside production: whoever is not on the list gets no mail, and that is counted and told."""

from __future__ import annotations

import orjson

from tests.doubles.engine import Double
from tests.whole.events import receipt
from tests.whole.placing import work
from tests.whole.stack import Stack, Worker

PEOPLE = ("ada@example.com", "Grace@Example.COM", "ada@customer.example", "a@sub.example.com")


async def test_who_is_not_allowed_is_skipped_counted_and_gets_nothing(
    stack: Stack, double: Double
) -> None:
    """By domain, by address without case, never by a domain's end; no row is written for them."""
    stack.settings["safety"] = {"allow": ["@example.com", "ADA@customer.example"]}
    people = (*PEOPLE, "eve@customer.example", "eve@example.com.evil.example")
    await stack.publish(stack.orders, [receipt(f"A-{n}", to) for n, to in enumerate(people)])
    worker = await work(stack)
    metrics = (await worker.get("/metrics"))[1]
    await worker.stop()
    told = {one["entity_id"]: (one["status"], one["reason"]) for one in await stack.told()}
    skipped = ("skipped", "not_allowed")
    assert [told[f"A-{n}"] == skipped for n in range(6)] == [False] * 3 + [True] * 3
    _skips_are_told_in_the_log(worker, stack.orders, 3)
    counted = f'sendonce_skipped_total{{rule="not_allowed",topic="{stack.orders}"}} 3.0'
    assert counted in metrics
    assert await stack.statuses() == {"sent": 3}
    assert await stack.letters() == {}
    assert _recipients(double) == ["Grace@example.com", "ada@customer.example", "ada@example.com"]


def _skips_are_told_in_the_log(worker: Worker, topic: str, count: int) -> None:
    """So that "why did no mail come?" has an answer: the rule, the key, the record."""
    lines = [line for line in worker.lines() if line.get("event") == "skipped"]
    assert len(lines) == count
    for line in lines:
        assert (line["level"], line["rule"], line["topic"]) == ("info", "not_allowed", topic)
        assert line["mail_type"] == "order.receipt"
        assert {"key", "partition", "offset"} <= line.keys()
    assert len({line["key"] for line in lines}) == count
    assert not any("@" in str(value) for line in lines for value in line.values())


async def test_with_a_box_for_all_everybody_elses_mail_goes_there(
    stack: Stack, double: Double
) -> None:
    """Redirected, not skipped; the key stays that of the one it was meant for."""
    stack.settings["safety"] = {"allow": ["ada@example.com"], "redirect_to": "box@example.org"}
    await stack.publish(stack.orders, [receipt(f"A-{n}", to) for n, to in enumerate(PEOPLE)])
    await (await work(stack)).stop()
    assert _recipients(double) == ["ada@example.com"] + ["box@example.org"] * 3
    assert await stack.statuses() == {"sent": 4}
    rows = await stack.sql("SELECT recipient FROM sent_message WHERE recipient LIKE '%customer%'")
    assert [row["recipient"] for row in rows] == ["ada@customer.example"]


def _recipients(double: Double) -> list[str]:
    return sorted(orjson.loads(call.body)["To"] for call in double.calls)
