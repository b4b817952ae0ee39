"""A mail goes with its file or not at all: by the whole service, from a server that fails."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.doubles.engine import Double, Fault
from tests.doubles.filing import FileServer
from tests.whole.commands import answer, run
from tests.whole.conftest import At
from tests.whole.events import receipt, receipts, reset
from tests.whole.placing import until, work
from tests.whole.settling import key_of, key_of_reset, row_of, settled_by, stands
from tests.whole.stack import Stack
from tests.whole.test_attempts import QUICK

MAILS = 60
SHOP = r"^https://files\\.shop\\.example/"  # as the schema has it
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 4000  # a megabyte


@pytest.fixture
async def files() -> AsyncIterator[FileServer]:
    async with FileServer() as server:
        yield server


def invoiced(order: str, url: str, content: bytes = PDF) -> bytes:
    return receipt(order, invoice={"url": url, "sha256": hashlib.sha256(content).hexdigest()})


def listed(stack: Stack, files: FileServer) -> None:
    """List the server among the hosts of the receipt's file, and let a round be short."""
    mail = stack.folder / "schemas/order.receipt/mail.toml"
    text = mail.read_text()
    assert 'hosts = ["' in text
    mail.write_text(text.replace('hosts = ["', f'hosts = ["{files.host}", "'))
    schema = mail.with_name("v1.schema.json")
    text = schema.read_text()
    assert SHOP in text
    schema.write_text(text.replace(SHOP, "^http"))
    stack.settings |= QUICK
    stack.settings["retry"] = {"max_attempts": 2, "base": "10ms", "cap": "20ms"}


async def test_each_mail_goes_with_its_own_file(
    stack: Stack, double: Double, files: FileServer
) -> None:
    """A megabyte each, sixty at once, beside as many mails that bring none."""
    listed(stack, files)
    mails = []
    for number in range(MAILS):
        content = PDF + str(number).encode()
        mails.append(invoiced(f"F-{number}", files.keep(f"/{number}.pdf", content), content))
    await stack.publish(stack.orders, [*mails, *receipts(MAILS)])
    worker = await work(stack)
    await stands(stack, sent=2 * MAILS)
    assert await worker.stop() == 0
    assert double.ledger.summary()["accepted_twice"] == 0
    assert double.ledger.total == 2 * MAILS
    for number in range(MAILS):
        [file] = double.ledger.brought[key_of(f"F-{number}")].files
        content = PDF + str(number).encode()
        assert (file.name, file.kind) == ("invoice.pdf", "application/pdf")
        assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert len(double.ledger.brought) == MAILS
    assert set(files.asked.values()) == {1}
    log = worker.log.read_text()
    assert files.host not in log
    assert ".pdf" not in log


async def test_a_file_that_is_not_there_uses_up_rounds_and_the_reason_can_be_read(
    stack: Stack, double: Double, files: FileServer
) -> None:
    """The provider is not asked. A person who sees to the file has the mail go by a replay."""
    listed(stack, files)
    url = files.url("/late.pdf")
    await stack.publish(stack.orders, [invoiced("L", url), receipt("OTHER")])
    worker = await work(stack)
    for failures in range(1, 4):
        await until(partial(_parked, stack, failures))
        [letter] = await stack.sql("SELECT * FROM dead_letter")
        assert (letter["reason"], letter["status"]) == ("exhausted", "parked")
        assert letter["detail"] == "attachment 1: HTTP 404"
        await stack.sql("UPDATE dead_letter SET next_check_at = now()")
    await until(partial(_opened, stack))
    assert await worker.stop() == 0
    row = await row_of(stack, key_of("L"))
    assert (row["status"], row["error"]) == ("failed", "exhausted: attachment 1: HTTP 404")
    assert files.asked["/late.pdf"] == 8  # four rounds of two
    assert double.ledger.attempts == 1

    assert await _foretold(stack) == [("still_bad", "attachment 1: HTTP 404")]
    files.keep("/late.pdf", PDF)
    assert await _foretold(stack) == [("send", "through postmark")]
    await stack.sql(
        "UPDATE dead_letter SET status = 'parked', replay = true, next_check_at = now()"
    )
    worker = await stack.worker().start().ready(60)
    await stands(stack, sent=2)
    assert await worker.stop() == 0
    assert len(double.ledger.brought[key_of("L")].files) == 1
    assert double.ledger.attempts == 2


async def test_another_file_under_its_url_is_never_sent(
    stack: Stack, double: Double, files: FileServer
) -> None:
    listed(stack, files)
    url = files.keep("/1.pdf", PDF[:-1] + b"!")
    await stack.publish(stack.orders, [invoiced("W", url)])
    worker = await work(stack)
    await until(partial(_parked, stack, 1))
    [letter] = await stack.sql("SELECT * FROM dead_letter")
    assert letter["detail"] == f"attachment 1: {len(PDF)} bytes came, whose SHA-256 is another"
    assert double.ledger.requests == 0
    files.keep("/1.pdf", PDF)
    await stack.sql("UPDATE dead_letter SET next_check_at = now()")
    await stands(stack, sent=1)
    assert await worker.stop() == 0
    assert [one["status"] for one in await stack.sql("SELECT * FROM dead_letter")] == ["settled"]


async def test_a_file_server_that_hangs_keeps_no_mail_without_files(
    stack: Stack, double: Double, files: FileServer
) -> None:
    """More mails wait for it than there is room in hand, or permits; others go out meanwhile."""
    listed(stack, files)
    stack.providers = {"postmark": {**double.options, "concurrency": 1}}
    stack.settings["kafka"] = {**QUICK["kafka"], "max_in_flight": 40}
    files.gate.clear()
    url = files.keep("/1.pdf", PDF)
    await stack.publish(stack.orders, [invoiced(f"H-{n}", url) for n in range(100)])
    worker = await stack.worker().start().ready(60)
    await until(partial(_under_way, files))
    await stack.publish(stack.accounts, [reset(f"R{n}") for n in range(5)])
    await stack.publish(stack.orders, receipts(5, "P"))
    await stands(stack, sent=10)
    others = {key_of_reset(f"R{n}") for n in range(5)} | {key_of(f"P-{n}") for n in range(5)}
    assert set(double.ledger.accepted) == others
    assert await worker.stop() == 0, "what waits for files is let go of at once"
    worker = await stack.worker().start().ready(60)
    files.gate.set()
    await stands(stack, sent=110)
    assert await worker.stop() == 0
    assert double.ledger.summary()["accepted_twice"] == 0


async def test_a_repeat_fetches_again_and_is_the_same_mail(at: At, files: FileServer) -> None:
    """Its file is away when it is first looked for: the repeat waits, and nothing else is sent."""
    async with at("resend") as (stack, double):
        listed(stack, files)
        url = files.keep("/1.pdf", PDF)
        double.script.then(Fault("drop"))
        double.ledger.on_accept = lambda _key, _id: files.lose("/1.pdf")
        await stack.publish(stack.orders, [invoiced("A", url)])
        worker = await work(stack)
        await until(partial(_asked, files, 2))
        double.ledger.on_accept = lambda _key, _id: None
        assert await stack.statuses() == {"unknown": 1}
        files.keep("/1.pdf", PDF)
        await stands(stack, sent=1)
        assert await worker.stop() == 0
        assert await settled_by(stack) == {"repeat": 1}
        assert double.ledger.summary()["accepted_twice"] == 0
        assert double.ledger.attempts == 2


async def _foretold(stack: Stack) -> list[tuple[str, str]]:
    """Ask what a replay would do; it fetches the file to say so, and does nothing else."""
    told = answer(await run(stack, "replay", "--json"))
    return [(one["what"], one["detail"]) for one in told["forecast"]]


async def _parked(stack: Stack, failures: int) -> bool:
    letters = await stack.sql("SELECT * FROM dead_letter")
    return [(one["status"], one["failures"]) for one in letters] == [("parked", failures)]


async def _opened(stack: Stack) -> bool:
    return [one["status"] for one in await stack.sql("SELECT * FROM dead_letter")] == ["open"]


async def _under_way(files: FileServer) -> bool:
    return files.under_way > 10


async def _asked(files: FileServer, times: int) -> bool:
    return files.asked["/1.pdf"] >= times
