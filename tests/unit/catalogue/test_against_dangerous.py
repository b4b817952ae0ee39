"""`check --against` catches what would mail somebody twice, or set events aside on their way."""

from __future__ import annotations

import pytest

from tests.unit.catalogue.changed import AGAIN, FILE, LOST, Change, dangers_of, mail, schema

SOON = "2026-03-01T12:30:00Z"  # half an hour from "now": a roll-out may still be on its way
AGED = "skipped as too old, or dead letters (bad_time)"
PAST = "2026-02-27T00:00:00Z"
BLOCK = f'[[key]]\nsince = {PAST}\nentity_id = "place"\n'

DANGEROUS = {
    "the entity of the key changed in place": Change(
        mail().replace('entity_id = "id"', 'entity_id = ["id", "place"]'), AGAIN
    ),
    "the recipient's path changed in place": Change(
        mail().replace('recipient = "to"', 'recipient = "other"'), AGAIN
    ),
    "the version raised in place": Change(mail('version = "v2"'), AGAIN),
    "the case of the entity told apart in place": Change(
        mail("case_sensitive_entity = true"), AGAIN
    ),
    "a key block that begins before the roll-out is over": Change(
        mail() + f'[[key]]\nsince = {SOON}\nentity_id = "place"\n', AGAIN
    ),
    "a key block edited after it began": Change(
        mail() + BLOCK.replace('"place"', '"other"'), AGAIN, mail() + BLOCK
    ),
    "a key block taken away while its events can come": Change(mail(), AGAIN, mail() + BLOCK),
    "another time, by which key blocks are chosen": Change(
        mail('time = "at"') + BLOCK, AGAIN, mail() + BLOCK
    ),
    "a time named, where the envelope's was taken": Change(mail('time = "at"'), AGED),
    "the time taken away": Change(mail(), AGED, mail('time = "at"')),
    "another time": Change(mail('time = "at"'), AGED, mail('time = "other"')),
    "the folder renamed": Change(None, AGAIN),
    "the cut-over moved back": Change(
        mail(f"active_from = {PAST}".replace("27", "20")), AGAIN, mail(f"active_from = {PAST}")
    ),
    "another topic": Change(mail().replace('topic = "orders"', 'topic = "notes"'), "stay unread"),
    "another event type": Change(mail('on = "note.written"'), LOST),
    "another place for the schema's version": Change(mail('schema_version = "v"'), "as of another"),
    "a cut-over later than before": Change(
        mail("active_from = 2026-03-02T00:00:00Z"), "would never be"
    ),
    "a variable that old events may lack": Change(
        mail(context='nick = "nick"'), "give it a default"
    ),
    "a default taken away": Change(
        mail(context='nick = "nick"'), "give it a default",
        mail(context='nick = { path = "nick", default = "" }'),
    ),
    "a variable that differs at each publication": Change(mail(context='run = "@id"'), "conflict"),
    "a host less to fetch files from": Change(
        mail() + FILE.replace(', "b.example"', ""), LOST, mail() + FILE
    ),
    "smaller files": Change(mail() + FILE.replace("5MB", "1MB"), "never go out", mail() + FILE),
    "a file that every event must have": Change(
        mail() + FILE.replace("optional = true\n", ""), LOST, mail() + FILE
    ),
    "pick taken away": Change(
        mail(context='items = "items"'), "conflict",
        mail(context='items = { path = "items", pick = ["title"] }'),
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", DANGEROUS.values(), ids=DANGEROUS)
def test_a_dangerous_change_is_refused_and_the_reason_told(change: Change) -> None:
    found = dangers_of(change)
    assert any(change.told in one.text for one in found), found
    assert {one.file.partition("/")[0] for one in found} == {"note"}


NARROWER = {
    "a member required": schema(required=["id", "to", "name", "place", "other", "nick"]),
    "a type less": schema(nick={"type": "string"}),
    "a value less": schema(place={"enum": ["vienna"]}),
    "a shorter text": schema(name={"type": "string", "maxLength": 100}),
    "a pattern": schema(to={"type": "string", "pattern": "^[a-z]+$"}),
    "another format": schema(to={"type": "string", "format": "email"}),
    "a smaller number": schema(count={"type": "integer", "maximum": 9}),
    "fewer elements": schema(items={"type": "array", "maxItems": 10}),
    "elements that are less": schema(
        items={"type": "array", "items": {"type": "object", "required": ["title"]}}
    ),
    "no other members": schema(additionalProperties=False),
    "a condition": schema(**{"if": {"required": ["nick"]}, "then": {"required": ["at"]}}),
    "a way less": schema(at={"anyOf": [{"type": "string"}]}),
}


@pytest.mark.parametrize("narrower", NARROWER.values(), ids=NARROWER)
def test_a_schema_that_refuses_more_is_refused(narrower: str) -> None:
    [first, *_] = dangers_of(Change(mail(), LOST, files={"note/v1.schema.json": narrower}))
    assert LOST in first.text
    assert first.file == "note/v1.schema.json"


def test_a_schema_version_taken_away_is_refused() -> None:
    files = {"note/v1.schema.json": None, "note/v2.schema.json": schema()}
    [found] = dangers_of(Change(mail(), LOST, files=files))
    assert LOST in found.text


def test_a_folder_taken_away_is_refused() -> None:
    gone = {f"note/{name}": None for name in ("mail.toml", "v1.schema.json")}
    [found] = dangers_of(Change(mail(), LOST, files=gone))
    assert LOST in found.text
