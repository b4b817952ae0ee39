"""Somebody is forgotten, by the command; then all that was ever published comes by once more."""

from __future__ import annotations

import asyncio
from pathlib import Path

from consumer.intake.hold import Hold
from consumer.model import MarkFailed, MarkParked, MarkUnknown, Reason, Record, Transition
from tests.integration.guard.everywhere import found_in
from tests.whole.commands import answer, sendonce
from tests.whole.letters import bad
from tests.whole.operating import Office, again, office, record

ADA = "ada@example.org"
EVE = "eve@example.org"
ENDS: dict[str, Transition] = {
    "rejected": MarkFailed("file 1, too large", Reason.REJECTED),
    "failed": MarkFailed("file 2, no such mailbox"),
    "parked": MarkParked("busy", 3600),
    "unknown": MarkUnknown("reset", "file"),
}


async def _flown(at: Office, name: str, ending: Transition) -> Record:
    first = record(name)
    lease = await at.claim(first)
    await at.guard.record(lease, ending, at.mail(first), first)
    return first


async def _published(at: Office) -> list[Record]:
    """Records of one person in every state, and one of another's."""
    ours = [record("sent"), *[await _flown(at, name, end) for name, end in ENDS.items()]]
    await at.line.handle(ours[0], Hold())
    await at.guard.park(mended := record("mended"), bad())
    await at.guard.park(broken := record("", value=b'{"to": "ADA@example.org", '), bad())
    await at.guard.park(bought := record("eves", to=EVE), bad())
    return [*ours, mended, broken, bought]


async def test_who_is_forgotten_gets_no_mail_whatever_is_read_again(
    database: str, tmp_path: Path
) -> None:
    """Law (must show 7): nowhere in the database, and every key refuses, before and after."""
    async with office(database, tmp_path) as at:
        published = await _published(at)
        assert await found_in(database, ADA)
        words = ("forget", "Ada@EXAMPLE.org", "--by", "grace", "--why", f"{ADA} asked", "--json")
        config = ("--config", str(at.config))
        assert (await sendonce(*words, *config)).code == 2  # nobody can be asked
        assert await found_in(database, ADA)
        done = answer(await sendonce(*words, "--yes", *config))
        assert (done["rows"], done["given_up"], done["dead_letters"]) == (5, 4, 5)
        assert await found_in(database, ADA) == []
        before = at.sent()
        for one in published[:-2]:
            for other in (one, again(one)):
                await at.line.handle(other, Hold())
        assert at.sent() == before
        assert len(before) == 1
        await at.line.handle(published[-1], Hold())
        assert at.sent() > before, "another person's mail goes its way"
        assert await found_in(database, ADA) == []
        story, nobody = await asyncio.gather(
            sendonce("show", at.mail(published[0]).key, *config), sendonce("show", ADA, *config)
        )
        assert b"the recipient was forgotten by grace" in story.output
        assert nobody.code == 1
