"""A duplicate or a conflict, when a deploy lies between two records of one key.

No Kafka: one worker's line in this process, on a real guard, and the line of the release after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from consumer import parts, settings
from consumer.endings import Ended
from consumer.intake.hold import Hold
from consumer.line import Line
from consumer.model import Bad, Mail, Reason
from consumer.telemetry.tracing import tracing
from tests.whole.letters import between_rounds
from tests.whole.operating import Office, again, office, record

Changes: TypeAlias = Mapping[str, str | tuple[str, str]]  # new text, or a text and its successor

WORDS: Changes = {"subject.j2": "We have your order {{ number }}"}
CONTEXT: Changes = {
    "mail.toml": ("[context]", '[context]\nto = "email"'),
    "subject.j2": "We have the order {{ number }} of {{ to }}",
}


async def deployed(at: Office, changes: Changes) -> Line:
    """Return the line of a worker with a changed catalogue, beside the one that runs."""
    await at.guard.shelf.keep(at.making.catalogue.editions)
    folder = at.config.parent / "schemas/order.receipt"
    for name, change in changes.items():
        text = change if isinstance(change, str) else (folder / name).read_text().replace(*change)
        (folder / name).write_text(text)
    found = settings.load(at.config, {})
    catalogue = parts.open_catalogue(found)
    await at.guard.shelf.keep(catalogue.editions)
    reading = parts.reading(lambda: found, catalogue)
    return Line(reading, at.guard, at.line._takeoff, tracing())


async def result(line: Line, *orders: str) -> list[str]:
    endings = [await line.handle(record(order), Hold()) for order in orders]
    assert all(isinstance(ending, Ended) for ending in endings)
    return [ending.result for ending in endings]


async def incomparable(line: Line) -> float:
    found = line._metrics.registry.get_sample_value("sendonce_fingerprint_incomparable_total")
    return found or 0.0


async def test_after_other_words_a_conflict_is_still_found(database: str, tmp_path: Path) -> None:
    async with office(database, tmp_path) as at:
        assert await result(at.line, "A-1") == ["sent"]
        new = await deployed(at, WORDS)
        assert await result(new, "A-1", "a-1") == ["duplicate", "dead_letter"]
        assert await incomparable(new) == 0
        [letter] = await at.guard.dead_letters()
        assert letter.reason is Reason.CONFLICT


async def test_after_another_context_what_comes_again_is_a_duplicate(
    database: str, tmp_path: Path
) -> None:
    """Law: a deploy never turns redelivered mail into conflicts. On either side of it, counted."""
    async with office(database, tmp_path) as at:
        assert await result(at.line, "A-1") == ["sent"]
        new = await deployed(at, CONTEXT)
        assert await result(new, "A-1", "B-2", "B-2") == ["duplicate", "sent", "duplicate"]
        assert await result(at.line, "B-2") == ["duplicate"]  # the old worker, beside the new one
        assert await incomparable(new) == 2
        assert await result(new, "b-2") == ["dead_letter"]  # made with the new one: comparable
        assert len(at.sent()) == 2


async def test_what_could_not_be_made_is_made_with_todays(database: str, tmp_path: Path) -> None:
    """The common repair: the template is mended, and a person has the letter go again."""
    async with office(database, tmp_path) as at:
        first = record("A-1")
        await at.guard.park(first, Bad(Reason.INVALID, "", "order.receipt", at.mail(first).key))
        new = await deployed(at, CONTEXT)
        ended = await new.handle(again(first), Hold(), parked=True, replay=True)
        assert isinstance(ended, Ended)
        assert ended.result == "sent"
        [mail] = at.mails.glob("*.eml")
        assert b"of ada@example.org" in mail.read_bytes()


async def test_a_row_between_rounds_goes_on_as_it_was_made(database: str, tmp_path: Path) -> None:
    """Whoever comes: its own letter, or another record of the same event."""
    async with office(database, tmp_path) as at:
        await between_rounds(at, "A-1")
        new = await deployed(at, CONTEXT)
        [letter] = await at.guard.dead_letters()
        whole = await at.guard.dead_letter(letter.id)
        assert whole is not None
        assert whole.record is not None
        row = await at.row(letter.idempotency_key or "")
        today = new.making.read(whole.record)
        assert isinstance(today, Mail)
        made = await new.editions.as_claimed(today, row, whole.record)
        assert isinstance(made, Mail)
        assert (made.fingerprint, made.type.digest) == (row.fingerprint, row.catalogue)
