"""Dead letters as an operator sees them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from tests.doubles.engine import Double
from tests.whole.bad_records import no_mail, unreadable
from tests.whole.commands import answer, run
from tests.whole.events import receipt, receipts
from tests.whole.placing import large_topic, publish, work
from tests.whole.shapes import CANARY
from tests.whole.stack import Stack


async def test_the_command_line_tells_of_each_dead_letter(
    stack: Stack, unique: Callable[[str], str]
) -> None:
    """By `list --json`, `show --json` and `show --raw`: all of it; by `show`: no value."""
    await large_topic(stack, unique)
    wanted = {"10 MB", "not UTF-8", "two recipients", "unknown type"}
    cases = [case for case in [*unreadable(), *no_mail()] if case.name in wanted]
    placed = {(p.partition, p.offset): p.case for p in await publish(stack, cases)}
    await (await work(stack)).stop()
    listed = answer(await run(stack, "dead-letters", "list", "--json"))
    assert len(listed) == len(cases) == len(wanted)
    for letter in listed:
        case = placed[letter["partition"], letter["offset"]]
        assert (letter["reason"], letter["status"]) == (case.becomes, "open")
        assert case.detail in letter["detail"]
        assert _bytes(letter) == (case.key, case.value, [list(pair) for pair in case.headers])
    await _shown(stack, listed[0])
    invalid = answer(await run(stack, "dead-letters", "list", "--json", "--reason", "invalid"))
    assert [letter["reason"] for letter in invalid] == ["invalid"]


async def test_a_dead_letter_that_is_read_again_is_counted_not_doubled(stack: Stack) -> None:
    """A group that starts over finds its letters; one that a person gave up stays given up."""
    bad = [case.value for case in unreadable() if case.name in {"null", "NaN"}]
    await stack.publish(stack.orders, bad, partition=0)
    await (await work(stack)).stop()
    await stack.sql("UPDATE dead_letter SET status = 'discarded' WHERE detail LIKE '%NaN%'")
    stack.group += ".again"
    await (await work(stack)).stop()
    letters = await stack.sql("SELECT failures, status FROM dead_letter ORDER BY status")
    assert [tuple(letter) for letter in letters] == [(2, "discarded"), (2, "open")]


async def test_a_header_whose_name_is_no_text_stops_nothing(stack: Stack, double: Double) -> None:
    """The client cannot read such a record: it is sent all the same, or kept byte for byte."""
    bad = '{"a": NaN}'
    for value in (receipt("odd").decode(), bad):
        await asyncio.to_thread(_publish_oddly, stack, value)
    await stack.publish(stack.orders, receipts(3), partition=0)
    worker = await work(stack)
    assert await worker.stop() == 0
    assert double.ledger.total == 4
    [letter] = await stack.sql("SELECT * FROM dead_letter")
    assert (letter["reason"], letter["record_value"]) == ("malformed", bad.encode())
    assert (letter["header_names"], letter["header_values"]) == ([b"\xffname"], [b"v"])
    [listed] = answer(await run(stack, "dead-letters", "list", "--json"))
    assert listed["record_headers"] == [["\\xffname", "dg=="]]


_ODD_PRODUCER = """
import asyncio, sys
from aiokafka import AIOKafkaProducer

class Name(str):
    def encode(self, *how):
        return b"\\xffname"

async def publish(bootstrap, topic, value):
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        headers = [(Name("x"), b"v")]
        await producer.send_and_wait(topic, value.encode(), partition=0, headers=headers)

asyncio.run(publish(*sys.argv[1:]))
"""


def _publish_oddly(stack: Stack, value: str) -> None:
    """Publish as a producer in another language may; ours only does so without its extensions."""
    subprocess.run(
        [sys.executable, "-c", _ODD_PRODUCER, stack.kafka.bootstrap, stack.orders, value],
        env={**os.environ, "AIOKAFKA_NO_EXTENSIONS": "1"},
        check=True,
    )


async def _shown(stack: Stack, letter: dict[str, Any]) -> None:
    number = str(letter["id"])
    told, facts, raw = await asyncio.gather(
        *(run(stack, "dead-letters", "show", number, *how) for how in ([], ["--json"], ["--raw"]))
    )
    assert letter["reason"].encode() in told.output
    assert CANARY.encode() not in told.output
    assert answer(facts) == letter
    assert raw.output == b64decode(letter["record_value"])


def _bytes(letter: dict[str, Any]) -> tuple[bytes | None, bytes | None, list[list[Any]]]:
    """Return key, value and headers of a letter's JSON document."""
    return (
        _decoded(letter["record_key"]),
        _decoded(letter["record_value"]),
        [[name, _decoded(value)] for name, value in letter["record_headers"]],
    )


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
