"""Key rules have a history: an event makes its key as it did when it was new."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from consumer.keys import send_key
from consumer.model import Mail
from tests.unit.catalogue.shop import MAIL, mistakes, moment, note, open_shop, record, with_mail

SINCE = "2026-02-01T00:00:00Z"
LATER = "2026-03-01T00:00:00Z"
BEFORE, AFTER = moment("2026-01-31T23:59:59.999+00:00"), moment(SINCE)
BLOCK = f'\n[[key]]\nsince = {SINCE}\nentity_id = ["id", "place"]\n'


def mail_at(root: Path, at: datetime, text: str) -> Mail:
    stored = record(timestamp=int(at.timestamp() * 1000))
    mail = open_shop(root, with_mail(text) | _PLACED).read(
        stored, note(place="vienna", cc="eve@example.com")
    )
    assert isinstance(mail, Mail), mail
    return mail


# The small folder, with a member more that every event has.
_PLACED = {
    "note/v1.schema.json": (
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",'
        ' "required": ["id", "to", "name", "place", "cc"], "properties": {"id": {"type": "string"},'
        ' "to": {"type": "string"}, "cc": {"type": "string"}, "name": {"type": "string"},'
        ' "place": {"type": "string"}}}'
    ),
    "note/examples/one.json": (
        '{"type": "note", "id": "N1", "to": "ada@example.com", "cc": "eve@example.com",'
        ' "name": "Ada", "place": "graz"}'
    ),
}


def test_an_event_that_is_older_than_a_block_uses_the_one_before(tmp_path: Path) -> None:
    to = "ada@example.com"
    assert mail_at(tmp_path, BEFORE, MAIL + BLOCK).key == send_key("note", ["N1"], to)
    assert mail_at(tmp_path, AFTER, MAIL + BLOCK).key == send_key("note", ["N1", "vienna"], to)


def test_workers_of_both_releases_and_replays_agree_on_what_is_older(tmp_path: Path) -> None:
    """GUARD 15. r1 claims a key and r2 is its duplicate: r2's place in the topic stands nowhere.

    The key rule changes, offsets rewind, and r2 must meet r1's row again, not make another mail.
    """
    old, new = mail_at(tmp_path, BEFORE, MAIL), mail_at(tmp_path, BEFORE, MAIL + BLOCK)
    assert new.key == old.key
    assert new.fingerprint == old.fingerprint


def test_what_a_block_leaves_out_stays_as_it_was(tmp_path: Path) -> None:
    text = f'{MAIL}{BLOCK}\n[[key]]\nsince = 2026-02-02T00:00:00Z\nversion = "v2"\n'
    text += (
        'case_sensitive_entity = true\n\n[[key]]\nsince = 2026-02-03T00:00:00Z\nversion = "v3"\n'
    )
    to, entity = "ada@example.com", ["N1", "vienna"]
    second = send_key("note", entity, to, "v2", case_sensitive_entity=True)
    third = send_key("note", entity, to, "v3", case_sensitive_entity=True)
    assert mail_at(tmp_path, moment("2026-02-02T12:00:00+00:00"), text).key == second
    assert mail_at(tmp_path, moment("2026-02-04T12:00:00+00:00"), text).key == third


def test_the_events_own_time_decides_not_its_records(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path, with_mail(MAIL + BLOCK) | _PLACED)
    event = replace(note(place="vienna", cc="eve@example.com"), time=BEFORE)
    mail = catalogue.read(record(), event)  # stored a month later
    assert isinstance(mail, Mail)
    assert mail.key == send_key("note", ["N1"], "ada@example.com")
    assert catalogue.key_material(mail, event) == "v1:note:n1:ada@example.com"


def test_the_recipient_too_is_read_as_it_was(tmp_path: Path) -> None:
    text = f'{MAIL}\n[[key]]\nsince = {SINCE}\nrecipient = "cc"\n'
    catalogue = open_shop(tmp_path, with_mail(text) | _PLACED)
    mail = catalogue.read(record(), note(place="x", cc="eve@example.com"))
    assert isinstance(mail, Mail)
    assert mail.recipient == "eve@example.com"
    assert mail_at(tmp_path, BEFORE, text).recipient == "ada@example.com"


MISTAKES = {
    "a block without a beginning": ('[[key]]\nversion = "v2"\n', "key.0.since: is missing"),
    "a block that changes nothing": (f"[[key]]\nsince = {SINCE}\n", "says nothing beside since"),
    "a beginning without an offset": (
        '[[key]]\nsince = 2026-02-01T00:00:00\nversion = "v2"\n', "key.0.since",
    ),
    "blocks out of order": (
        f'{BLOCK}[[key]]\nsince = 2026-01-01T00:00:00Z\nversion = "v2"\n', "begins later than",
    ),
    "a member that it has not": (
        f'[[key]]\nsince = {SINCE}\nentity = "id"\n',
        "key.0.entity: unknown member; did you mean entity_id?",
    ),
    "a path that leads nowhere": (
        f'[[key]]\nsince = {SINCE}\nentity_id = "nowhere"\n',
        "key.0.entity_id: unknown path 'nowhere'",
    ),
    "a path that may lead nowhere": (
        f'[[key]]\nsince={SINCE}\nversion="v2"\n\n[[key]]\nsince={LATER}\nrecipient="nick"\n',
        "key.1.recipient: 'nick' may be absent",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("block", "told"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_a_block_are_told_with_their_line(
    tmp_path: Path, block: str, told: str
) -> None:
    [found] = [one for one in mistakes(tmp_path, with_mail(MAIL + block)) if "key" in one]
    assert told in found
    assert int(found.split(":")[1]) > MAIL.count("\n")


def test_a_sensitive_entity_is_sensitive_in_every_block(tmp_path: Path) -> None:
    text = MAIL.replace("max_age", 'sensitive = ["place"]\nmax_age') + BLOCK
    catalogue = open_shop(tmp_path, with_mail(text) | _PLACED)
    assert catalogue.types["note"].sensitive
