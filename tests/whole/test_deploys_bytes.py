"""A repeat is the same mail byte for byte, or it is not made: whatever was deployed in between."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import orjson
import pytest

from tests.doubles.engine import Fault
from tests.whole.conftest import At
from tests.whole.events import receipt, reset
from tests.whole.placing import work
from tests.whole.reckoning import reckon
from tests.whole.releases import changed
from tests.whole.settling import (
    key_of,
    look_now,
    row_of,
    settled_by,
    shown,
    stands,
    wait_a_day,
)
from tests.whole.stack import Stack
from tests.whole.worker import Worker

LONG_AGO = "2020-01-01T00:00:00Z"  # the new key holds for every event: a change in place

# Another template engine: it ends each line in another way.
OTHER_ENGINE = """
import sys
from pathlib import Path
from consumer.catalogue import press
html = press._html
press._html = lambda rendered: html(rendered).replace("\\n", "\\n ")
from consumer.cli import main
sys.argv[0] = "sendonce"
sys.exit(main())
"""


async def _in_doubt(stack: Stack) -> None:
    """A mail is accepted, its answer lost, and its worker gone before anybody asks."""
    await stack.publish(stack.orders, [receipt("A")])
    worker = await work(stack)
    await wait_a_day(stack)
    assert await worker.stop() == 0
    assert await stack.statuses() == {"unknown": 1}


@pytest.mark.parametrize("deploy", ["words, context and key", "the folder taken away"])
async def test_a_mail_in_doubt_is_repeated_as_it_was_made(at: At, deploy: str) -> None:
    """The provider refuses other bytes under a key that it knows, and takes these for the first."""
    async with at("resend") as (stack, double):
        double.script.then(Fault("drop"))
        await _in_doubt(stack)
        schemas = stack.folder / "schemas"
        if deploy == "the folder taken away":
            shutil.rmtree(schemas / "order.receipt")
        else:
            changed(schemas, LONG_AGO)
        await stack.publish(stack.accounts, [reset("R1")])
        worker = await work(stack, stack.accounts)
        await look_now(stack)
        await shown(stack, ("unknown", "settled"))
        assert await worker.stop() == 0
        assert await settled_by(stack) == {"repeat": 1}
        assert (await row_of(stack, key_of("A")))["status"] == "sent"
        assert double.ledger.summary()["accepted_twice"] == 0


async def test_another_template_engine_repeats_nothing_with_other_bytes(at: At) -> None:
    """The files are the first one's and the bytes are not, so evidence goes on, to a person."""
    async with at("resend") as (stack, double):
        double.script.then(Fault("drop"))
        await _in_doubt(stack)
        worker = _of_other_engine(stack.worker())
        await worker.start().ready(60)
        await look_now(stack)
        await shown(stack, ("unknown", "open"))
        assert await worker.stop() == 0
        assert double.ledger.attempts == 1

        await stack.sql("UPDATE dead_letter SET status = 'parked', next_check_at = now()")
        worker = await stack.worker().start().ready(60)  # taken back
        await shown(stack, ("unknown", "settled"))
        assert await worker.stop() == 0
        assert await settled_by(stack) == {"repeat": 1}


def _of_other_engine(worker: Worker) -> Worker:
    worker.command = [sys.executable, "-c", OTHER_ENGINE, *worker.command[3:]]
    return worker


async def test_what_only_new_workers_know_is_sent_without_a_person(at: At) -> None:
    """An old worker meets an event of a new folder, and one of a new schema version."""
    async with at("postmark") as (stack, double):
        old = stack.write_catalogue(name="old")
        shutil.rmtree(old / "password.reset")
        listening = (old / "order.receipt/mail.toml").read_text()
        two = stack.folder / "old/second"
        shutil.copytree(old / "order.receipt", two)  # so that the old one reads the topic at all
        (two / "mail.toml").write_text(
            f'on = "second"\n{listening}'.replace(stack.orders, stack.accounts)
        )
        shutil.rmtree(two / "examples")
        _example(two, "second")
        stack.settings["catalogue"] = {"path": str(old)}
        newer = orjson.loads(receipt("V2")) | {"dataschema": "https://shop.example/receipt/2"}
        await stack.publish(stack.orders, [receipt("V1"), orjson.dumps(newer)])
        await stack.publish(stack.accounts, [reset("R1")])
        before = await work(stack, stack.orders, stack.accounts)
        await shown(stack, ("unknown_type", "open"), ("unknown_version", "open"))

        new = stack.write_catalogue(name="new")
        shutil.copy(new / "order.receipt/v1.schema.json", new / "order.receipt/v2.schema.json")
        worker = await stack.worker(catalogue={"path": str(new)}).start().ready(60)
        await stands(stack, sent=3)
        await shown(stack, ("unknown_type", "settled"), ("unknown_version", "settled"))
        assert [await one.stop() for one in (before, worker)] == [0, 0]
        assert worker.said("newly known")
        found = await reckon(stack, double.ledger.accepted, stack.orders, stack.accounts)
        found.in_order()
        assert found.told["sent", False] == 3


def _example(folder: Path, event_type: str) -> None:
    (folder / "examples").mkdir()
    event = orjson.loads(receipt("X")) | {"type": event_type}
    (folder / "examples/one.json").write_bytes(orjson.dumps(event))
