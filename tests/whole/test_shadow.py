"""Shadow mode: everything but claiming and sending, beside the sender that is still at work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from tests.doubles.engine import Double
from tests.whole.commands import run, start
from tests.whole.former import TYPE, key_of, paid
from tests.whole.stack import Stack

pytestmark = pytest.mark.timeout(120)
MAILS = 40


def _in_shadow(stack: Stack) -> None:
    stack.group += ".shadow"
    stack.settings["safety"] = {"mode": "shadow"}


def _list(file: Path, orders: dict[str, datetime]) -> Path:
    lines = [
        {"mail_type": TYPE, "entity": order, "recipient": f"{order}@example.com",
         "time": at.isoformat(), "provider_id": f"old-{order}"}
        for order, at in orders.items()
    ]  # fmt: skip
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return file


async def test_a_shadow_says_what_it_would_do_and_does_none_of_it(
    stack: Stack, double: Double, tmp_path: Path
) -> None:
    """Law: no row, no letter, no worker, no request, no outcome; the report has each difference."""
    now = datetime.now(UTC)
    at = {f"m-{n}": now - timedelta(minutes=5 * (MAILS - n)) for n in range(MAILS)}
    _in_shadow(stack)
    events = [paid(order, moment) for order, moment in at.items()]
    old = paid("old", now - timedelta(days=8))
    strange = paid("strange@elsewhere", now)
    await stack.publish(stack.orders, [*events, events[0], b"{", old, strange])
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)

    # It is compared with a list that lacks a mail, has another one, and one at another time.
    theirs = dict(at)
    del theirs["m-10"]
    theirs["gone"] = at["m-10"]
    theirs["m-20"] = at["m-20"] + timedelta(hours=1)
    listed = _list(tmp_path / "sent.jsonl", theirs)
    told = await run(stack, "shadow-report", "--against", str(listed), "--json")
    assert told.code == 1, told.errors
    report = orjson.loads(told.output)
    compared = {
        name: report["compared"][name] for name in ("both", "more", "missing", "other_times")
    }
    assert compared == {"both": MAILS - 2, "more": 1, "missing": 1, "other_times": 1}
    [more] = report["differences"]["more"]
    [missing] = report["differences"]["missing"]
    assert (more["idempotency_key"], missing["idempotency_key"]) == (key_of("m-10"), key_of("gone"))
    counts = {(one["would_be"], one["detail"]): one["records"] for one in report["counts"]}
    assert counts["send", "postmark"] == MAILS
    assert counts["duplicate", "of an earlier record"] == 1
    assert counts["skipped", "too_old"] == 1
    assert "example.com" not in told.output.decode()

    # What is imported it would not send again.
    same = _list(tmp_path / "same.jsonl", at)
    assert (await run(stack, "import", str(same))).code == 0
    await stack.publish(stack.orders, events[:5])
    await stack.finished(stack.orders)
    told = await run(stack, "shadow-report", "--imported", "--json")
    assert told.code == 0, told.output
    assert orjson.loads(told.output)["compared"]["both"] == MAILS
    assert worker.said("in shadow: nothing is claimed, sent or published", group=stack.group)
    assert await worker.stop() == 0

    assert double.ledger.requests == 0
    assert await stack.told() == []
    assert await stack.statuses() == {"sent": MAILS}  # the imported ones
    for table in ("dead_letter", "worker", "history"):
        assert await stack.sql(f"SELECT 1 FROM {table}") == []
    assert (await run(stack, "shadow-report", "--clear")).output.startswith(b"deleted the notes of")
    assert await stack.sql("SELECT 1 FROM shadow") == []


async def test_a_shadow_is_refused_the_group_of_a_live_service(stack: Stack) -> None:
    """Law: what a shadow has read, nobody has sent: its offsets are of no use to who goes on."""
    refused = await start(stack.config(safety={"mode": "shadow"}))
    assert refused.code == 2
    assert refused.lines[0].startswith("sendonce: kafka.group_id: must end in 'shadow'")
