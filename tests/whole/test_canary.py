"""What may tell on a person is told nowhere, in whatever way a record, a mail or a part fails."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.doubles.engine import Double
from tests.integration.guard.everywhere import found_in
from tests.whole.canaries import (
    BY_RECIPIENT,
    HOOK,
    IN_TURN,
    Collector,
    a_reset,
    asked,
    called_back,
    collecting,
    key_of,
    publish,
    songs,
)
from tests.whole.commands import run
from tests.whole.placing import SESSION, until
from tests.whole.shapes import CANARY, address
from tests.whole.stack import Stack, Worker

GUARDED = "ALTER TABLE sent_message ADD CONSTRAINT odd CHECK (recipient !~ 'unwritable') NOT VALID"


@pytest.mark.timeout(300)
async def test_no_canary_sings(stack: Stack, double: Double, database: str) -> None:
    """Law (must show 8): no log line, metric, outcome, answer, span, command, `error` or `detail`.

    In the database it stands where it may: the recipient of a row. Letters are sealed.
    """
    _settle_in(stack, double)
    async with collecting() as collector:
        worker = await _worker(stack, collector)
        await publish(stack)
        await stack.finished(stack.accounts)
        double.script.then(*IN_TURN)
        await stack.publish(stack.accounts, [a_reset("fast"), a_reset("barred")], partition=0)
        await stack.finished(stack.accounts)
        [mail] = double.ledger.accepted[key_of("sent")]
        assert await called_back(worker, mail) == [200, 401, 200]
        answers = await asked(worker)
        await _told_of_the_bounce(stack)
        assert await worker.stop() == 0
        broken = await _that_breaks_on_a_row(stack, collector)
    said = {
        "log": worker.log.read_text(),
        "log of a crash": broken.log.read_text(),
        "admin": answers,
        "outcomes": str(await stack.told()),
        "commands": await _commands(stack),
        "spans": b"".join(collector.bodies).decode("utf-8", "replace"),
    }
    _is_worth_searching(said)
    assert songs(said) == {}
    assert await found_in(database, CANARY) == [("sent_message", "recipient")]
    assert len(await stack.letters()) >= 7


def _settle_in(stack: Stack, double: Double) -> None:
    stack.providers["postmark"] = {**double.options, "webhook_secret": [HOOK]}
    stack.settings |= {
        "kafka": {"session_timeout": SESSION},
        "webhooks": {"host": "127.0.0.1", "port": 0},
        "admin": {"token": "canary-admin"},
        "retry": {"base": "50ms", "max_attempts": 2},
    }
    for name, fault in BY_RECIPIENT.items():
        double.script.for_recipient(address(name), fault)


async def _worker(stack: Stack, collector: Collector) -> Worker:
    worker = stack.worker()
    worker.environ = collector.environ()
    return await worker.start().ready(60)


async def _told_of_the_bounce(stack: Stack) -> None:
    async def so() -> bool:
        return "bounced" in {one["status"] for one in await stack.told()}

    await until(so)


async def _that_breaks_on_a_row(stack: Stack, collector: Collector) -> Worker:
    """Postgres refuses a row, and quotes it: a defect, which ends the worker loudly."""
    await stack.sql(GUARDED)
    await stack.publish(stack.accounts, [a_reset("unwritable")], partition=0)
    worker = stack.worker()
    worker.environ = collector.environ()
    assert await worker.start().ended(60) == 1
    assert "SQLSTATE 23514" in worker.log.read_text()
    await stack.sql("ALTER TABLE sent_message DROP CONSTRAINT odd")
    return worker


async def _commands(stack: Stack) -> str:
    """Return what people are shown: stories, lists, letters, forecasts, the preview of a resend."""
    keys = [key_of(name) for name in ("sent", "rejected", "bare error", "unwritable")]
    letters = await stack.sql("SELECT id FROM dead_letter")
    ran = await asyncio.gather(
        *(run(stack, "show", key, "--json") for key in keys),
        run(stack, "show", keys[0]),
        run(stack, "dead-letters", "list", "--limit", "1000"),
        run(stack, "dead-letters", "show", str(letters[0]["id"])),
        run(stack, "replay", *(str(one["id"]) for one in letters), "--json"),
        run(stack, "resend", key_of("sent"), "--by", "ada", "--why", "asked"),
    )
    return "\n".join((one.output + one.errors).decode() for one in ran)


def _is_worth_searching(said: dict[str, str]) -> None:
    """Everything spoke, and of what it was meant to speak of."""
    answers = ("Refused", "Rejected", "Blocked", "SlowDown", "Transient", "Unclear", "Accepted")
    assert [word for word in (*answers, "breaker", "skipped") if word not in said["log"]] == []
    assert "sendonce.result" in said["spans"]
    assert "sendonce_dead_letters" in said["admin"]
    told = set(re.findall(r"'status': '(\w+)'", said["outcomes"]))
    assert {"sent", "failed", "dead_letter", "unknown", "skipped", "bounced"} <= told
    for shown in ("sensitive: --reveal shows it", '"what": "send"', '"sealed": "guard.fing'):
        assert shown in said["commands"]
