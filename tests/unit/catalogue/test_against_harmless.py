"""`check --against` lets pass what no event on its way and no mail in flight is hurt by."""

from __future__ import annotations

import pytest

from tests.unit.catalogue.changed import FILE, Change, dangers_of, mail, schema

LATER = "2026-03-02T00:00:00Z"
LONG_AGO = "2025-12-01T00:00:00Z"
BLOCK = f'[[key]]\nsince = {LONG_AGO}\nentity_id = "place"\n'

HARMLESS = {
    "nothing": Change(mail()),
    "other words": Change(mail(), files={"note/subject.j2": "Good day, {{ name }}"}),
    "another language": Change(mail(), files={"note/de/subject.j2": "Guten Tag, {{ name }}"}),
    "another example": Change(mail(), files={"note/examples/two.json": "{}"}),
    "a key block that begins after the roll-out": Change(
        mail() + f'[[key]]\nsince = {LATER}\nentity_id = ["id", "place"]\n'
    ),
    "a key block folded away when nothing so old can come": Change(
        mail().replace('entity_id = "id"', 'entity_id = "place"'), before=mail() + BLOCK
    ),
    "a key block that has not begun, put off": Change(
        mail() + '[[key]]\nsince = 2026-03-05T00:00:00Z\nentity_id = "place"\n',
        before=mail() + f'[[key]]\nsince = {LATER}\nentity_id = "place"\n',
    ),
    "a variable with a default": Change(mail(context='nick = { path = "nick", default = "" }')),
    "a variable that every event had": Change(mail(context='place = "place"')),
    "a variable less": Change(mail(), before=mail(context='place = "place"')),
    "another default": Change(
        mail(context='nick = { path = "nick", default = "you" }'),
        before=mail(context='nick = { path = "nick", default = "" }'),
    ),
    "another age, provider and priority": Change(
        mail('priority = "high"\nproviders = ["ses"]\ntags = ["note"]').replace('"7d"', '"14d"')
    ),
    "what to do when nobody knows": Change(mail('on_unknown = "resend"')),
    "a locale": Change(mail('locale = { path = "nick", default = "en" }')),
    "a file less": Change(mail(), before=mail() + FILE),
    "an optional file more": Change(mail() + FILE),
    "a cut-over long past": Change(mail(f"active_from = {LONG_AGO}")),
    "a new version of the schema": Change(
        mail(), files={"note/v2.schema.json": schema(required=["id", "to", "name", "nick"])}
    ),
    "a new folder": Change(
        mail(), files={"letter/mail.toml": mail(), "letter/v1.schema.json": schema()}
    ),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_change_passes(change: Change) -> None:
    assert dangers_of(change) == []


WIDER = {
    "a member less required": schema(required=["id", "to", "name", "place"]),
    "one more member": schema(colour={"type": "string"}),
    "one more type": schema(other={"type": ["string", "null"]}),
    "one more value": schema(place={"enum": ["vienna", "graz", "linz"]}),
    "any value": schema(place={}),
    "a longer text": schema(name={"type": "string", "maxLength": 400}),
    "more elements": schema(items={"type": "array", "maxItems": 99}),
    "a number for an integer": schema(count={"type": "number", "maximum": 99}),
    "one more way": schema(
        at={"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}
    ),
    "a description": schema(description="A note."),
}


@pytest.mark.parametrize("wider", WIDER.values(), ids=WIDER)
def test_a_schema_that_takes_more_passes(wider: str) -> None:
    needed = mail().replace('name = "name"', 'name = "name"')
    assert dangers_of(Change(needed, files={"note/v1.schema.json": wider})) == []
