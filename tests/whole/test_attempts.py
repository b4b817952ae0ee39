"""What a provider may answer, end to end: how often it is asked, and what the guard then holds.

Sources of the answers: the error tables of https://postmarkapp.com/developer/api/overview, RFC 9110
for statuses of machines in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from consumer.keys import send_key
from tests.doubles.engine import Double
from tests.doubles.script import FINE, Fault
from tests.whole.events import receipt
from tests.whole.placing import SESSION, until, work
from tests.whole.settling import look_now, shown, wait_a_day
from tests.whole.stack import Stack
from tests.whole.worker import Worker

QUICK: dict[str, dict[str, object]] = {
    "retry": {"base": "10ms", "cap": "2s"},
    "kafka": {"commit_interval": "100ms", "session_timeout": SESSION},
}


def words(status: int, code: int, text: str = "") -> Fault:
    return Fault("status", status, f'{{"ErrorCode":{code},"Message":"{text}"}}')


@dataclass(frozen=True, slots=True)
class Row:
    """Answers to one mail, in order, and what has to stand there after them."""

    name: str
    answers: Sequence[Fault]
    status: str
    attempts: int = 1  # counted on the row
    letter: str | None = None  # its status
    accepted: int = 0  # by the ledger

    @property
    def address(self) -> str:
        return f"{self.name.replace(' ', '-')}@example.com"


NOT_YET = [
    Row("429 with seconds", [Fault("status", 429, headers={"Retry-After": "1"}), FINE], "sent", 1),
    Row("429 with nonsense", [Fault("status", 429, headers={"Retry-After": "soon"}), FINE], "sent"),
    Row("slow down in words", [words(422, 429), FINE], "sent"),
    Row("maintenance", [words(503, 100), words(503, 100), FINE], "sent", 3),
]
NEVER = [
    Row("inactive", [words(422, 406)], "failed"),
    Row("inactive as 406", [words(406, 406)], "failed"),
    Row("inactive inside a 200", [words(200, 406)], "failed"),
    Row("inactive in words", [words(200, 0, "inactive recipients")], "failed"),
    Row("invalid", [words(422, 300)], "failed", letter="open"),
    Row("too large in HTML", [Fault("status", 413, "<html>too large</html>")], "failed",
        letter="open"),
    Row("unknown code", [words(422, 999)], "failed", letter="open"),
]  # fmt: skip
FOUND = [
    Row("dropped", [Fault("drop")], "sent", letter="settled", accepted=1),
    Row("no HTTP", [Fault("garbage")], "sent", letter="settled", accepted=1),
    Row("cut", [Fault("cut")], "sent", letter="settled", accepted=1),
    Row("empty 200", [Fault("blank")], "sent", letter="settled", accepted=1),
]
NOBODY_KNOWS = [
    Row("reset", [Fault("reset")], "unknown", letter="parked"),
    Row("200 of a stranger", [Fault("status", 200, "<html>hi</html>")], "unknown", letter="parked"),
    Row("redirect", [Fault("redirect")], "unknown", letter="parked"),
    Row("bare 500", [Fault("status", 500)], "unknown", letter="parked"),
    Row("bare 503", [Fault("status", 503)], "unknown", letter="parked"),
    Row("502 in HTML", [Fault("status", 502, "<html>bad</html>")], "unknown", letter="parked"),
    Row("408 of a proxy", [Fault("status", 408)], "unknown", letter="parked"),
]


async def test_every_answer_ends_as_its_class_says(stack: Stack, double: Double) -> None:
    """Between two of them a mail goes well: no row is about what a breaker makes of the others.

    What was accepted is found there; what never was stays parked, and is asked about again.
    """
    stack.settings |= QUICK
    stack.providers = {"postmark": {**double.options, "rate": 500}}  # there is a pace to halve
    worker = await stack.worker().start().ready(60)
    async with stack._producer() as producer:
        for row in (*NOT_YET, *NEVER, *FOUND, *NOBODY_KNOWS):
            attempts, taken = _counted(double)
            double.script.then(*row.answers)
            await producer.send_and_wait(stack.orders, receipt(row.name, row.address))
            await until(partial(_has_ended, stack, row))
            accepted = row.accepted or row.answers[-1] is FINE
            assert await _stands(stack, row) == (row.status, row.attempts, row.letter), row.name
            assert _counted(double) == (attempts + len(row.answers), taken + accepted), row.name
            double.took.clear()
            await producer.send_and_wait(
                stack.orders, receipt(f"after {row.name}", "a@example.com")
            )
            await asyncio.wait_for(double.took.wait(), 30)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    assert double.ledger.summary()["accepted_twice"] == 0
    assert all("@" not in error for error in await _errors(stack))
    first, second = _attempts(worker, NOT_YET[0])
    assert second - first >= timedelta(seconds=1), "it waits as long as it was asked to"


def _counted(double: Double) -> tuple[int, int]:
    return double.ledger.attempts, double.ledger.total


def _attempts(worker: Worker, row: Row) -> list[datetime]:
    """Return when the attempts for this mail were answered, by the log."""
    key = send_key("order.receipt", row.name, row.address)
    told = [one for one in worker.lines() if one.get("event") == "attempt"]
    lines = [one for one in told if one["key"] == key]
    return [datetime.fromisoformat(line["timestamp"]) for line in lines]


async def _has_ended(stack: Stack, row: Row) -> bool:
    found = await stack.sql("SELECT status FROM sent_message WHERE recipient = $1", row.address)
    return [one["status"] for one in found] == [row.status]


async def _stands(stack: Stack, row: Row) -> tuple[str, int, str | None]:
    [found] = await stack.sql(
        """SELECT m.status, m.attempts, d.status AS letter FROM sent_message m
             LEFT JOIN dead_letter d USING (idempotency_key) WHERE m.recipient = $1""",
        row.address,
    )
    return found["status"], found["attempts"], found["letter"]


async def _errors(stack: Stack) -> list[str]:
    rows = await stack.sql("SELECT error FROM sent_message WHERE error IS NOT NULL")
    return [row["error"] for row in rows]


async def test_an_unknown_outcome_is_parked_once_and_its_repeats_share_its_fate(
    stack: Stack, double: Double
) -> None:
    """Published again, and read again by a new group: nothing is sent, every record has its end.

    A letter for each of its records, and all are settled by the one answer.
    """
    stack.settings |= QUICK
    double.script.then(Fault("drop"))
    await stack.publish(stack.orders, [receipt("A")])
    worker = await work(stack)
    await wait_a_day(stack)
    await stack.publish(stack.orders, [receipt("A"), receipt("B")])
    await stack.finished(stack.orders)
    await wait_a_day(stack)
    await worker.stop()
    stack.group += ".again"
    worker = await work(stack)
    assert double.ledger.summary()["accepted"] == 2
    assert await stack.statuses() == {"unknown": 1, "sent": 1}
    await shown(stack, ("unknown", "parked"), ("unknown", "parked"))
    await look_now(stack)
    await shown(stack, ("unknown", "settled"), ("unknown", "settled"))
    await worker.stop()
    assert await stack.statuses() == {"sent": 2}
    assert double.ledger.attempts == 2
