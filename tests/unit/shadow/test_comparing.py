"""What a shadow would have sent, against what another sender sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from consumer.guard.shadows import Note, Would
from consumer.model import Coordinates
from consumer.shadow.comparing import Comparison, Mailed, Notes, compare

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
APART = timedelta(minutes=1)


def _at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def _note(key: str, minute: float, would: Would = Would.SEND, **more: Any) -> Note:
    at = Coordinates("orders", 0, round(minute * 100), 0)
    values = {"detail": "postmark", "fingerprint": "f1", "catalogue": "d1", **more}
    return Note(at, would, mail_type="order.receipt", key=key, occurred_at=_at(minute), **values)


def _notes(*notes: Note) -> Notes:
    summed = Notes()
    for note in notes:
        summed.add(note)
    return summed


def _compared(notes: Notes, **listed: float) -> Comparison:
    """Compare with a list of keys and their minutes."""
    mails = {
        key: Mailed("order.receipt", key, _at(minute), f"sent.csv:{n}")
        for n, (key, minute) in enumerate(listed.items(), 2)
    }
    return compare(notes, mails, APART)


# A list and notes that cover the same hour.
EDGES = (_note("first", 0), _note("last", 60))
SAME = {"first": 0, "last": 60}


def test_the_same_mails_at_the_same_times_are_no_difference() -> None:
    found = _compared(_notes(*EDGES, _note("a", 30.5)), **SAME, a=30)
    assert (found.both, found.outside) == (3, 0)
    assert found.same


def test_more_missing_and_other_times() -> None:
    found = _compared(
        _notes(*EDGES, _note("more", 30), _note("late", 32)), **SAME, gone=30, late=30
    )
    assert [one.mail.key for one in found.more] == ["more"]
    assert [one.mail.key for one in found.missing] == ["gone"]
    assert [one.mail.key for one in found.other_times] == ["late"]
    assert found.missing[0].why == "no record makes it"
    assert found.other_times[0].why == "120 s apart from sent.csv:5"
    assert not found.same


def test_a_missing_mail_says_what_its_record_would_become() -> None:
    dead = _note("bad", 30, Would.DEAD_LETTER, detail="invalid: /total: is absent")
    found = _compared(_notes(*EDGES, dead), **SAME, bad=30)
    assert found.missing[0].why == "dead_letter: invalid: /total: is absent (orders/0@3000)"


def test_only_the_time_that_both_cover_is_compared() -> None:
    """A list of a year says nothing about a shadow of an hour, nor the other way round."""
    found = _compared(_notes(*EDGES, _note("ours", -500)), **SAME, theirs=500, edge=59.5)
    assert found.same
    assert (found.both, found.outside) == (2, 3)
    apart = _compared(_notes(*EDGES), later=500)
    assert apart.window is None
    assert apart.same


def test_what_an_import_made_a_duplicate_is_a_mail_of_both() -> None:
    found = _compared(_notes(*EDGES, _note("a", 30, Would.DUPLICATE)), **SAME, a=30)
    assert found.both == 3


def test_a_second_record_of_a_key_repeats_it_or_says_another_mail() -> None:
    """Law: a drift is a conflict only between fingerprints of one edition of the folder."""
    notes = _notes(
        _note("a", 1),
        _note("a", 0),
        _note("a", 2, fingerprint="f2"),
        _note("a", 3, fingerprint="f3", catalogue="d2"),
    )
    assert notes.mails["a"].at == NOON
    assert [mail.place for mail in notes.drifts] == ["orders/0@200"]
    assert notes.counts == {
        ("order.receipt", Would.SEND, "postmark"): 1,
        ("order.receipt", Would.DUPLICATE, "of an earlier record"): 2,
        ("order.receipt", Would.REFUSED, "conflict"): 1,
    }


def test_records_without_a_key_are_counted() -> None:
    at = Coordinates("orders", 0, 1, 0)
    notes = _notes(
        Note(at, Would.SKIPPED, "tombstone"), Note(at, Would.DEAD_LETTER, "malformed: x")
    )
    assert notes.counts == {
        ("-", Would.SKIPPED, "tombstone"): 1,
        ("-", Would.DEAD_LETTER, "malformed: x"): 1,
    }
