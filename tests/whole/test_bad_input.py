"""Whatever stands in a topic: the right end for it, kept byte for byte, and its neighbours flow."""

from __future__ import annotations

import re
import shutil
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from consumer.keys import send_key
from consumer.model import Reason, SkipRule
from tests.doubles.engine import Double
from tests.doubles.script import Fault
from tests.whole.bad_records import (
    BY_TOPIC,
    CANARY,
    Case,
    all_cases,
    no_mail,
    unreadable,
    without_type,
)
from tests.whole.commands import answer, run
from tests.whole.events import receipt, reset
from tests.whole.stack import PARTITIONS, Stack
from tests.whole.worker import Worker

LARGE = {"max.message.bytes": str(16 << 20)}


@dataclass(frozen=True, slots=True)
class Placed:
    """A case in its topic; before and after it stands a receipt."""

    case: Case
    partition: int
    offset: int
    timestamp: int


async def test_every_record_kind_ends_as_it_must_and_its_neighbours_are_sent(
    stack: Stack, double: Double, unique: Callable[[str], str]
) -> None:
    await _large_topic(stack, unique)
    placed = await _publish(stack, all_cases())
    worker = await _work(stack)
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
    for name, said in (("log", _log(worker)), ("metrics", metrics), ("outcomes", str(told))):
        assert CANARY not in said.lower(), f"something of a record is in the {name}"
    assert _skips(metrics, stack.orders) == _expected_skips(placed)


async def test_the_command_line_tells_of_each_dead_letter(
    stack: Stack, unique: Callable[[str], str]
) -> None:
    """By `list --json`, `show --json` and `show --raw`: all of it; by `show`: no value."""
    await _large_topic(stack, unique)
    wanted = {"10 MB", "not UTF-8", "two recipients", "unknown type"}
    cases = [case for case in [*unreadable(), *no_mail()] if case.name in wanted]
    placed = {(p.partition, p.offset): p.case for p in await _publish(stack, cases)}
    await (await _work(stack)).stop()
    listed = answer(await run(stack, "dead-letters", "list", "--json"))
    assert len(listed) == len(cases) == len(wanted)
    for letter in listed:
        case = placed[letter["partition"], letter["offset"]]
        assert (letter["reason"], letter["status"]) == (case.becomes, "open")
        assert case.detail in letter["detail"]
        assert _bytes(letter) == (case.key, case.value, [list(pair) for pair in case.headers])
        shown = await run(stack, "dead-letters", "show", str(letter["id"]))
        assert letter["detail"].encode() in shown.output.replace(b"\n", b" ")
        assert CANARY.encode() not in shown.output
        assert (
            answer(await run(stack, "dead-letters", "show", str(letter["id"]), "--json")) == letter
        )
        raw = await run(stack, "dead-letters", "show", str(letter["id"]), "--raw")
        assert raw.output == case.value
    invalid = answer(await run(stack, "dead-letters", "list", "--json", "--reason", "invalid"))
    assert [letter["reason"] for letter in invalid] == ["invalid"]


async def test_a_link_with_a_token_is_shown_nowhere(stack: Stack, double: Double) -> None:
    """A reset that is sent, one refused, one that no mail comes of, and one that differs."""
    double.script.for_recipient("refused@example.com", _rejection())
    sent, refused, bad = (_reset(n) for n in ("sent", "refused", "bad"))
    bad["data"]["reset"]["expires_at"] = "canary-token"
    other = _reset("sent")
    other["data"]["reset"]["url"] += "-other"
    await stack.publish(stack.accounts, map(orjson.dumps, (sent, refused, bad)), partition=0)
    worker = await _work(stack, stack.accounts)
    await stack.publish(stack.accounts, [orjson.dumps(other)], partition=0)
    await stack.finished(stack.accounts)
    metrics = (await worker.get("/metrics"))[1]
    await worker.stop()
    assert await stack.letters() == {"rejected": 1, "invalid": 1, "conflict": 1}
    told = await stack.told()
    assert len(told) == 4
    rows = [dict(row) for row in await stack.sql("SELECT * FROM sent_message")]
    details = await stack.sql("SELECT detail FROM dead_letter")
    for said in (_log(worker), metrics, str(told), str(rows), str(details)):
        assert CANARY not in said.lower()


def _reset(name: str) -> dict[str, Any]:
    made: dict[str, Any] = orjson.loads(reset(f"id-{name}", f"{name}@example.com"))
    made["data"]["reset"]["url"] = "https://accounts.shop.example/reset?token=canary-token"
    return made


def _rejection() -> Fault:
    return Fault("status", 422, '{"ErrorCode":300,"Message":"canary-token is refused"}')


# ── What goes in


async def _large_topic(stack: Stack, unique: Callable[[str], str]) -> None:
    """Take a topic that a record of 10 MB fits into, and a folder for the type named like it."""
    stack.orders = unique("large")
    await stack.kafka.create_topic(stack.orders, PARTITIONS, LARGE)
    schemas = stack.write_catalogue()
    shutil.copytree(schemas / "order.receipt", schemas / BY_TOPIC)
    for example in (schemas / BY_TOPIC / "examples").iterdir():
        example.unlink()
    (schemas / BY_TOPIC / "examples/one.json").write_bytes(without_type("one"))
    file = schemas / BY_TOPIC / "mail.toml"
    file.write_text(f'on = "{stack.orders}"\n{file.read_text()}')
    stack.settings[f'topics."{stack.orders}"'] = {"ignore": ["order.viewed"]}


async def _publish(stack: Stack, cases: Sequence[Case]) -> list[Placed]:
    """Publish each case between two receipts, in one partition after the other."""
    now = int(time.time() * 1000)
    placed = []
    async with stack._producer() as producer:
        for number, case in enumerate(cases):
            partition = number % PARTITIONS
            await producer.send(stack.orders, receipt(f"before-{number}"), partition=partition)
            stamp = now - int(case.age * 1000) if case.timestamp is None else case.timestamp
            sending = await producer.send(
                stack.orders, case.value, case.key, partition, stamp, list(case.headers)
            )
            await producer.send(stack.orders, receipt(f"after-{number}"), partition=partition)
            placed.append((case, sending, stamp))
        return [Placed(c, (d := await s).partition, d.offset, at) for c, s, at in placed]


async def _work(stack: Stack, *topics: str) -> Worker:
    worker = await stack.worker().start().ready(60)
    await stack.finished(*(topics or [stack.orders]))
    return worker


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
        _case_at(placed, row).name: (
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
    said = {_case_at(placed, row): row["detail"] for row in rows}
    return {
        case.name: detail
        for case, detail in said.items()
        if case.detail not in detail or CANARY in detail.lower()
    }


def _case_at(placed: Sequence[Placed], at: Any) -> Case:
    """Return the case that stands there; a neighbour is none."""
    found = [p for p in placed if (p.partition, p.offset) == (at["partition"], at["offset"])]
    return found[0].case if found else Case("a neighbour", b"", "")


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
        _case_at(placed, one["source"]).name: (one["status"], one["reason"])
        for one in told
        if one["duplicate"] is False
    }


def _expected_skips(placed: Sequence[Placed]) -> dict[str, float]:
    rules = Counter(p.case.becomes for p in placed if isinstance(p.case.becomes, SkipRule))
    return {rule.value: count for rule, count in rules.items()}


def _skips(metrics: str, topic: str) -> dict[str, float]:
    found = re.findall(rf'sendonce_skipped_total{{rule="(\w+)",topic="{topic}"}} (\S+)', metrics)
    return {rule: float(count) for rule, count in found}


def _log(worker: Worker) -> str:
    return worker.log.read_text("utf-8", "replace")


def _bytes(letter: dict[str, Any]) -> tuple[bytes | None, bytes | None, list[list[Any]]]:
    """Return key, value and headers of a letter's JSON document."""
    return (
        _decoded(letter["record_key"]),
        _decoded(letter["record_value"]),
        [[name, _decoded(value)] for name, value in letter["record_headers"]],
    )


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
