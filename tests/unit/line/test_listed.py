"""A line of another sender's list has the key that its mail's event has here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consumer.keys import send_key
from consumer.listed import SOMEBODY, PastReader, UnusableError
from tests.unit.catalogue.shop import MAIL, mail_of, note, open_shop, with_mail

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LINE: dict[str, object] = {
    "mail_type": "note",
    "entity": "N1",
    "recipient": "ada@example.com",
    "time": "2026-03-01T12:00:00Z",
    "provider_id": "m-1",
}


def _reading(root: Path, mail: str = MAIL) -> PastReader:
    return PastReader(open_shop(root, with_mail(mail)), NOW)


def _refusal(root: Path, **changes: object) -> str:
    with pytest.raises(UnusableError) as unusable:
        _reading(root).past({**LINE, **changes})
    return str(unusable.value)


def test_a_line_becomes_a_mail_of_the_past(tmp_path: Path) -> None:
    past = _reading(tmp_path).past({**LINE, "recipient": " Ada@EXAMPLE.com ", "provider": "old"})
    assert past.key == send_key("note", "N1", "ada@example.com")
    assert (past.mail_type, past.recipient) == ("note", "Ada@example.com")
    assert (past.provider, past.provider_message_id) == ("old", "m-1")
    assert past.sent_at == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert _reading(tmp_path).past({**LINE, "provider_id": 7}).provider == SOMEBODY


SINCE = datetime(2026, 3, 1, 12, tzinfo=UTC)
HISTORY = MAIL.replace(
    "[context]",
    """
[[key]]
since = 2026-03-01T12:00:00Z
version = "v2"
case_sensitive_entity = true

[context]""",
)


@pytest.mark.parametrize("mail", [MAIL, f'version = "v7"\n{MAIL}', HISTORY])
@pytest.mark.parametrize("at", [SINCE - timedelta(microseconds=1), SINCE])
def test_the_key_is_the_one_that_the_event_has(tmp_path: Path, mail: str, at: datetime) -> None:
    """Law: list and event agree on the key, under every rule that the type has or had."""
    reading = _reading(tmp_path, mail)
    event = replace(note(id="Ab:C", to="ada@example.com"), time=at)
    listed = {**LINE, "entity": "Ab:C", "time": at.isoformat()}
    assert reading.past(listed).key == mail_of(reading.catalogue, event).key


def test_parts_are_counted(tmp_path: Path) -> None:
    mail = MAIL.replace('entity_id = "id"', 'entity_id = ["id", "name"]')
    reading = _reading(tmp_path, mail)
    past = reading.past({**LINE, "entity": ["N1", "Ada"]})
    assert past.key == mail_of(reading.catalogue, replace(note(), time=SINCE)).key
    with pytest.raises(UnusableError, match="entity has 1 parts, the type's key has 2"):
        reading.past(LINE)


@pytest.mark.parametrize(
    "time",
    ["2026-03-01T13:00:00+01:00", "2026-03-01 12:00:00+00", "2026-03-01 12:00:00.0+00:00",
     "1772366400000", 1772366400000],
)  # fmt: skip
def test_times_as_databases_print_them(tmp_path: Path, time: object) -> None:
    assert _reading(tmp_path).past({**LINE, "time": time}).sent_at == SINCE


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"mail_type": "nota"}, "mail_type: the catalogue has no folder of this name"),
        ({"mail_type": ""}, "mail_type: is missing"),
        ({"entity": ""}, "entity is empty"),
        ({"entity": None}, "entity is a NoneType, not a string or an integer"),
        ({"entity": 1.5}, "entity is a float, not a string or an integer"),
        ({"recipient": "ada@example.com, bob@example.com"}, "recipient: holds a space"),
        ({"recipient": None}, "recipient: is not a string"),
        ({"time": "2026-03-01T12:00:00"}, "time: is neither a time with offset nor"),
        ({"time": 1.5}, "time: is neither"),
        ({"time": 1772366400}, "time: lies before the year 2000"),
        ({"time": "2026-03-02T00:05:01Z"}, "time: lies in the future"),
        ({"provider_id": None}, "provider_id: is missing"),
        ({"provider_id": "a\0b"}, "provider_id: is no plain text"),
        ({"provider": "x" * 256}, "provider: is no plain text"),
    ],
)
def test_lines_that_nothing_can_be_made_of(
    tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    """Law: the reason names the member, and repeats no value."""
    refusal = _refusal(tmp_path, **changes)
    assert refusal.startswith(problem)
    assert "ada" not in refusal


def test_what_is_older_than_the_guard_remembers_is_pointless(tmp_path: Path) -> None:
    reading = _reading(tmp_path)
    past = reading.past(LINE)
    assert not reading.is_pointless(past, 12 * 3600.0)
    assert reading.is_pointless(past, 12 * 3600.0 - 1)
