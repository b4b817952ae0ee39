"""A provider that keeps our key: a repeat of the same bytes is the same mail, and its id comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doubles.engine import Fault
from tests.parts.kafka import Kafka
from tests.whole.conftest import At
from tests.whole.events import receipt, receipts, reset
from tests.whole.placing import work
from tests.whole.reckoning import reckon
from tests.whole.settling import (
    happened,
    key_of,
    key_of_reset,
    look_now,
    row_of,
    set_back,
    settled_by,
    shown,
    stands,
    told,
    told_by_key,
    wait_a_day,
)
from tests.whole.stack import Stack, deployed

MAILS = 500
RUNNING = Fault(
    "status",
    409,
    '{"statusCode":409,"name":"concurrent_idempotent_requests","message":"as documented"}',
    {"Retry-After": "1"},
)


@pytest.mark.timeout(200)
async def test_every_lost_answer_is_settled_by_a_repeat(at: At) -> None:
    """One mail each by the ledger, under the id that the lost answer held."""
    async with at("resend") as (stack, double):
        double.script.at_rates({"drop": 0.1}, seed=11)
        await stack.publish(stack.orders, receipts(MAILS))
        worker = await work(stack)
        double.script.clear()
        await stands(stack, sent=MAILS)
        assert await worker.stop() == 0
        found = await reckon(stack, double.ledger.accepted)
        found.in_order()  # each row's id is the one that the provider gave
        lost = found.told["unknown", False]
        assert 25 < lost < 100
        assert found.accepted == MAILS
        assert double.ledger.attempts >= MAILS + lost
        assert await settled_by(stack) == {"repeat": lost}
        assert found.letters == {("unknown", "settled"): lost}
        heard = list((await told_by_key(stack)).values())
        assert heard.count(["unknown", "sent"]) == lost
        assert heard.count(["sent"]) == MAILS - lost


async def test_a_repeat_that_meets_the_first_still_running_is_repeated(at: At) -> None:
    """409: another request with our key is alive. Nothing is known by it, so the doubt goes on."""
    async with at("resend") as (stack, double):
        double.script.then(Fault("drop"), RUNNING)
        await stack.publish(stack.orders, [receipt("A")])
        worker = await work(stack)
        await told(stack, key_of("A"), "unknown", "sent")
        assert await worker.stop() == 0
        row = await row_of(stack, key_of("A"))
        assert (row["status"], row["settled_by"], row["attempts"]) == ("sent", "repeat", 3)
        assert double.ledger.accepted == {key_of("A"): [row["provider_message_id"]]}
        assert double.ledger.attempts == 3


async def test_other_bytes_are_never_sent_under_the_key_of_the_first(at: At) -> None:
    """Its edition is nowhere to be read any more, and today's makes another mail: a person decides.

    With the bytes of the first the same letter, made due again, is settled by a repeat.
    """
    async with at("resend") as (stack, double):
        double.script.then(Fault("drop"))
        await stack.publish(stack.orders, [receipt("A")])
        worker = await work(stack)
        await wait_a_day(stack)
        assert await worker.stop() == 0
        subject = stack.folder / "schemas/order.receipt/subject.j2"
        before = _reworded(subject)
        await _forget_editions(stack)
        worker = await work(stack)
        await look_now(stack)
        await shown(stack, ("unknown", "open"))
        assert await worker.stop() == 0
        assert await stack.statuses() == {"unknown": 1}
        assert double.ledger.attempts == 1
        assert worker.said("unknown", key=key_of("A"), provider="resend")

        subject.write_text(before)
        await _made_due(stack)
        worker = await work(stack)
        await shown(stack, ("unknown", "settled"))
        assert await worker.stop() == 0
        assert await settled_by(stack) == {"repeat": 1}
        assert double.ledger.summary()["accepted_twice"] == 0


async def test_with_other_bytes_the_policy_sends_a_mail_of_its_own(at: At) -> None:
    """`resend`: the provider refuses other bytes under a key, and says so; then a person's turn."""
    async with at("resend") as (stack, double):
        stack.settings["retry"] = {"max_attempts": 2}
        double.script.then(Fault("drop"))
        await stack.publish(stack.accounts, [reset("R1")])
        worker = await work(stack, stack.accounts)
        await wait_a_day(stack)
        assert await worker.stop() == 0
        _reworded(stack.folder / "schemas/password.reset/subject.j2")
        await _forget_editions(stack)
        worker = await work(stack, stack.accounts)
        await look_now(stack)
        await shown(stack, ("unknown", "parked"))
        await stands(stack, unknown=1)
        await look_now(stack)
        await shown(stack, ("unknown", "open"))
        assert await worker.stop() == 0
        row = await row_of(stack, key_of_reset("R1"))
        assert (row["status"], row["attempts"]) == ("unknown", 2)
        assert double.ledger.total == 1
        assert (await happened(stack, row["idempotency_key"]))[-1] == "open"


async def test_a_mail_as_a_file_is_its_own_key(kafka: Kafka, database: str, tmp_path: Path) -> None:
    """Its writer died before it could say so: the repeat, a day later, finds what is there."""
    out = tmp_path / "out"
    async with deployed(kafka, database, tmp_path, {"file": {"path": str(out)}}) as stack:
        await stack.publish(stack.orders, [receipt("WRITTEN"), receipt("NOT")])
        assert await (await work(stack)).stop() == 0
        written, never = out / f"{key_of('WRITTEN')}.eml", out / f"{key_of('NOT')}.eml"
        before = written.stat()
        never.unlink()
        for order in ("WRITTEN", "NOT"):
            await set_back(stack, order, "sending")
        worker = await stack.worker().start().ready(60)
        await stands(stack, sent=2)
        assert await worker.stop() == 0
        assert await settled_by(stack) == {"repeat": 2}
        assert {file.name for file in out.iterdir()} == {written.name, never.name}
        after = written.stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def _reworded(subject: Path) -> str:
    """Change a mail's subject; return what stood there."""
    before = subject.read_text()
    subject.write_text(f"Again: {before}")
    return before


async def _forget_editions(stack: Stack) -> None:
    """As if a release that kept none had claimed the rows."""
    await stack.sql("DELETE FROM catalogue_version")


async def _made_due(stack: Stack) -> None:
    """As `sendonce replay` does."""
    await stack.sql(
        "UPDATE dead_letter SET status = 'parked', replay = true, next_check_at = now()"
        " WHERE status = 'open'"
    )
