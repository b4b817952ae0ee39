"""The providers without an HTTP API, end to end: mails as files, and a submission server."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from consumer.keys import send_key
from tests.doubles.script import Fault
from tests.doubles.smtp import SmtpDouble
from tests.parts.kafka import Kafka
from tests.whole.events import receipt, receipts, reset
from tests.whole.placing import work
from tests.whole.settling import shown
from tests.whole.stack import deployed

MAILS = 20


async def test_mails_as_files_open_as_mails(kafka: Kafka, database: str, tmp_path: Path) -> None:
    """One .eml a key, which any mail program reads; published again, nothing is written."""
    out = tmp_path / "out"
    async with deployed(kafka, database, tmp_path, {"file": {"path": str(out)}}) as stack:
        await stack.publish(stack.orders, receipts(MAILS))
        await stack.publish(stack.orders, [receipt("Ünï", to="grace@bücher.example.com")])
        await stack.publish(stack.accounts, [reset("R1")])
        await stack.publish(stack.orders, receipts(MAILS))
        stack.settings["safety"] = {"allow": ["@example.com", "@xn--bcher-kva.example.com"]}
        worker = await work(stack)
        await stack.finished(stack.accounts)
        assert await worker.stop() == 0
        assert await stack.statuses() == {"sent": MAILS + 2}
    files = {file.stem: file.read_bytes() for file in out.iterdir()}
    assert len(files) == MAILS + 2
    key = send_key("order.receipt", "A-7", "a-7@example.com")
    mail = _opened(files[key])
    assert (mail["To"], mail["Subject"]) == ("a-7@example.com", "Your receipt for order A-7")
    assert mail["Message-ID"] == f"<{key}@shop.example>"
    assert {part.get_content_type() for part in mail.iter_parts()} == {"text/plain", "text/html"}
    other = _opened(files[send_key("order.receipt", "Ünï", "grace@bücher.example.com")])
    assert other["To"].addresses[0].domain == "xn--bcher-kva.example.com"
    assert "Ünï" in other["Subject"]


async def test_a_submission_server_takes_each_mail_once(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """With a login; one refused for good, one later, one answer lost after the final dot.

    Nobody can be asked about that one, and no webhook will tell: it is a person's turn.
    """
    async with (
        SmtpDouble(login=("shop", "open sesame")) as double,
        deployed(kafka, database, tmp_path, {"smtp": double.options}) as stack,
    ):
        stack.settings["retry"] = {"base": "10ms"}
        gone = Fault("status", 550, "5.1.1 no such user", {"at": "rcpt"})
        double.script.for_recipient("gone@example.com", gone)
        double.script.for_recipient("lost@example.com", Fault("drop"))
        double.script.then(Fault("status", 451, "4.3.0 later", {"at": "mail"}))
        people = {"gone": "gone@example.com", "lost": "lost@example.com"}
        await stack.publish(stack.orders, [receipt(*pair) for pair in people.items()])
        await stack.publish(stack.orders, receipts(MAILS))
        worker = await work(stack)
        await shown(stack, ("unknown", "open"))
        assert await worker.stop() == 0
        assert await stack.statuses() == {"sent": MAILS, "failed": 1, "unknown": 1}
        assert double.ledger.summary()["accepted"] == MAILS + 1
        assert double.ledger.summary()["accepted_twice"] == 0
        assert all(_opened(mail)["From"] == "Shop <receipts@shop.example>" for mail in double.mails)
        assert "open sesame" not in worker.log.read_text()


def _opened(content: bytes) -> EmailMessage:
    mail = message_from_bytes(content, policy=policy.SMTPUTF8)
    assert isinstance(mail, EmailMessage)
    assert mail.defects == []
    return mail
