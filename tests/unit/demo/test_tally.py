"""Laws of the demo's figures: each record is counted once, under what it is now."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from consumer.demo import show
from consumer.demo.tally import Tally, tally
from consumer.guard.counts import CountedLetter, Counts
from consumer.guard.letters import LetterStatus
from consumer.model import Coordinates, Reason, Status

SETTLED, PARKED, OPEN = LetterStatus.SETTLED, LetterStatus.PARKED, LetterStatus.OPEN
MAIL, REPEAT = 0, 1  # offsets: the mail whose answer was lost, and the same event again


def at(offset: int) -> Coordinates:
    return Coordinates("orders", 0, offset, 1)


def letter(
    offset: int, status: LetterStatus, reason: Reason = Reason.UNKNOWN, *, beside: bool = False
) -> CountedLetter:
    return CountedLetter(reason, status, at(offset), beside)


def outcome(status: str, *, duplicate: bool = False) -> dict[str, Any]:
    return {"status": status, "duplicate": duplicate}


def guard(
    rows: dict[Status, int], *letters: CountedLetter, found: int = 0, also: tuple[int, ...] = ()
) -> Counts:
    seen = frozenset({*(one.at for one in letters), *map(at, also)})
    return Counts(rows, {"lookup": found} if found else {}, letters, seen)


def told(counts: Counts, outcomes: dict[int, dict[str, Any]], records: int) -> Tally:
    places = {("orders", 0, offset): value for offset, value in outcomes.items()}
    ledger = {"accepted": 1, "accepted_twice": 0}
    return tally({("orders", 0): records}, places, counts, ledger, 0, 1.0)


def adds_up(one: Tally) -> bool:
    return one.records == one.sent + one.duplicates + one.dead_letters + one.skipped


@pytest.mark.parametrize("status", [PARKED, OPEN])
def test_a_lost_answer_and_its_repeat_are_two_dead_letters(status: LetterStatus) -> None:
    counts = guard({Status.UNKNOWN: 1}, letter(MAIL, status), letter(REPEAT, status, beside=True))
    one = told(counts, {MAIL: outcome("unknown"), REPEAT: outcome("unknown")}, 2)
    assert (one.sent, one.duplicates, one.dead_letters, one.lost) == (0, 0, 2, 0)
    assert adds_up(one)


def test_found_again_it_is_sent_and_its_repeat_a_duplicate() -> None:
    """A settled letter is no dead letter any more: its record is counted as what it became."""
    counts = guard(
        {Status.SENT: 1}, letter(MAIL, SETTLED), letter(REPEAT, SETTLED, beside=True), found=1
    )
    one = told(counts, {MAIL: outcome("sent"), REPEAT: outcome("unknown")}, 2)
    assert (one.sent, one.duplicates, one.dead_letters, one.lost) == (1, 1, 0, 0)
    assert adds_up(one)


def test_a_repeat_that_was_told_as_duplicate_as_well_counts_once() -> None:
    counts = guard({Status.SENT: 1}, letter(REPEAT, SETTLED, beside=True), also=(MAIL,))
    one = told(counts, {MAIL: outcome("sent"), REPEAT: outcome("sent", duplicate=True)}, 2)
    assert (one.sent, one.duplicates) == (1, 1)
    assert adds_up(one)


def test_all_kinds_beside_each_other_add_up() -> None:
    counts = guard(
        {Status.SENT: 2, Status.UNKNOWN: 1},
        letter(1, SETTLED),
        letter(2, PARKED),
        letter(3, OPEN, Reason.CONFLICT, beside=True),
        letter(4, OPEN, Reason.MALFORMED),
        found=1,
        also=(0,),
    )
    outcomes = {
        0: outcome("sent"),
        1: outcome("sent"),
        3: outcome("dead_letter"),
        4: outcome("dead_letter"),
        5: outcome("sent", duplicate=True),
        6: outcome("skipped"),
    }
    one = told(counts, outcomes, 7)
    assert (one.sent, one.duplicates, one.dead_letters, one.skipped) == (2, 1, 3, 1)
    assert adds_up(one)
    lines = table(one, counts)
    assert "1 among them lost answers, found again by lookup" in lines
    assert "1 unknown: the provider's answer was lost; not sent again on a guess" in lines
    assert "1 conflict: a key that was used before, with other content" in lines
    assert not any("parked beside" in line for line in lines)


def test_what_nobody_knows_is_lost_and_not_made_to_add_up() -> None:
    one = told(guard({Status.SENT: 1}, also=(0,)), {0: outcome("sent")}, 2)
    assert (one.lost, one.kept_the_promise) == (1, False)
    assert not adds_up(one)


def test_a_repeat_beside_an_open_question_has_a_line_of_its_own() -> None:
    counts = guard({Status.UNKNOWN: 1}, letter(MAIL, PARKED), letter(REPEAT, PARKED, beside=True))
    lines = table(told(counts, {}, 2), counts)
    assert "1 unknown: a repeat of an event whose answer was lost, parked beside it" in lines
    assert not any("found again" in line for line in lines)


def table(one: Tally, counts: Counts) -> list[str]:
    console = Console(width=120)
    with console.capture() as printed:
        show.result(console, one, counts, files=0)
    return [" ".join(line.split()) for line in printed.get().splitlines()]
