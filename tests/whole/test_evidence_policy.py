"""Nothing left to ask: the type's own policy, at the same provider, and never beyond its cap."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.doubles import APIS
from tests.doubles.engine import Double, Fault
from tests.doubles.smtp import SmtpDouble
from tests.parts.kafka import Kafka
from tests.whole.commands import answer, run
from tests.whole.events import receipt, reset
from tests.whole.placing import until, work
from tests.whole.settling import (
    happened,
    key_of,
    key_of_reset,
    pass_by,
    row_of,
    shown,
    stands,
    told,
)
from tests.whole.stack import Stack, deployed

CAP = 3
LATE = timedelta(minutes=45)  # absence counts by then
MAINTENANCE = Fault("status", 503, '{"ErrorCode":100,"Message":"maintenance"}')


async def test_a_submission_server_that_loses_its_answers(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """Nobody to ask, no webhook. `hold`: a person at once, who looks, and says what is there.

    `resend`: within the attempts left.
    """
    async with (
        SmtpDouble() as double,
        deployed(kafka, database, tmp_path, {"smtp": double.options}) as stack,
    ):
        stack.settings["retry"] = {"max_attempts": CAP}
        held, once, always = key_of("HELD"), key_of_reset("ONCE"), key_of_reset("ALWAYS")
        for name in ("held", "always"):
            double.script.for_recipient(f"{name}@example.com", Fault("drop"))
        await stack.publish(stack.orders, [receipt("HELD")])
        await stack.publish(stack.accounts, [reset("ALWAYS")])
        worker = await work(stack, stack.orders, stack.accounts)
        await until(lambda: _due_until_open(stack, letters=2))
        double.script.then(Fault("drop"))
        await stack.publish(stack.accounts, [reset("ONCE")])
        await told(stack, once, "unknown", "sent")
        [id_of_held] = double.ledger.accepted[held]
        words = ("--by", "ada", "--why", "seen in the log of the server", "--json")
        [settled] = answer(await run(stack, "settle", f"{held}={id_of_held}", *words))
        assert (settled["was"], settled["provider"]) == ("unknown", "smtp")
        await told(stack, held, "unknown", "sent")
        assert await worker.stop() == 0

        assert {key: len(ids) for key, ids in double.ledger.accepted.items()} == {
            held: 1,
            once: 2,
            always: CAP,
        }
        row = await row_of(stack, once)
        assert (row["settled_by"], row["attempts"]) == ("policy", 2)
        assert row["provider_message_id"]
        row = await row_of(stack, always)
        assert (row["status"], row["attempts"]) == ("unknown", CAP)
        assert (await happened(stack, always))[-1] == "open"
        row = await row_of(stack, held)
        assert (row["status"], row["settled_by"], row["attempts"]) == ("sent", "person", 1)
        await shown(stack, ("unknown", "open"), *[("unknown", "settled")] * 2)


async def test_in_doubt_there_is_no_second_provider(
    kafka: Kafka, database: str, tmp_path: Path
) -> None:
    """The second is well and the first in maintenance: other mails turn to it, this one does not.

    Its repeats were certainly not sent, which says nothing about the first attempt; and as the
    breaker's probes they use none of its attempts up: when the first is well again, it goes there.
    """
    async with (
        Double(APIS["postmark"]()) as first,
        Double(APIS["resend"]()) as second,
        deployed(
            kafka, database, tmp_path, {"postmark": first.options, "resend": second.options}
        ) as stack,
    ):
        stack.settings["retry"] = {"max_attempts": CAP, "base": "10ms"}
        stack.write_catalogue(["postmark", "resend"])
        first.script.then(Fault("reset"))
        await stack.publish(stack.accounts, [reset("R")])
        worker = await work(stack, stack.accounts)
        await stands(stack, unknown=1)
        first.script.always(MAINTENANCE)
        await stack.publish(stack.orders, [receipt("A")])
        await told(stack, key_of("A"), "sent")
        assert second.ledger.accepted.keys() == {key_of("A")}

        await until(lambda: _tried(stack, first, requests=6))
        row = await row_of(stack, key_of_reset("R"))
        assert (row["provider"], row["doubt_provider"]) == ("postmark", "postmark")
        assert row["attempts"] < CAP
        assert first.ledger.total == 0
        first.script.clear()
        await until(lambda: _tried(stack, first, requests=first.ledger.requests, accepted=1))
        assert first.ledger.accepted.keys() == {key_of_reset("R")}
        assert second.ledger.accepted.keys() == {key_of("A")}
        await told(stack, key_of_reset("R"), "unknown", "sent")
        assert await worker.stop() == 0


async def _tried(stack: Stack, double: Double, requests: int, accepted: int = 0) -> bool:
    """Let the time pass after which absence counts, until so much has come to the provider."""
    if double.ledger.requests >= requests and double.ledger.total >= accepted:
        return True
    await pass_by(stack, LATE)
    return False


async def _due_until_open(stack: Stack, letters: int) -> bool:
    """Let the time pass after which absence counts, again and again, until it is a person's turn.

    Each attempt is one more that may be on its way.
    """
    found = await stack.sql("SELECT status FROM dead_letter")
    if [letter["status"] for letter in found] == ["open"] * letters:
        return True
    await pass_by(stack, LATE)
    return False
