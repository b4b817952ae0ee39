"""What is refused is named by its place and rule; no value of the event is repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consumer.model import Reason
from tests.unit.catalogue.shop import LEFT_OUT, SCHEMA, bad_of, note, open_shop

SECRET = "s3cret@example.com"


def test_an_invalid_event_names_pointer_and_keyword_but_no_value(tmp_path: Path) -> None:
    text = json.dumps(
        {
            **SCHEMA,
            "properties": {
                **SCHEMA["properties"],
                "name": {"type": "string", "maxLength": 5},
                "nick": {"type": "string", "format": "email"},
                "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        }
    )
    catalogue = open_shop(tmp_path, {"note/v1.schema.json": text})
    details = {
        "/name: maxLength (5) (v1.schema.json)": note(name=SECRET),
        "/nick: format (email) (v1.schema.json)": note(nick="s3cret"),
        "/: required (name is absent) (v1.schema.json)": note(name=LEFT_OUT),
        # A member name that the sender chose may itself be an address.
        "/extra/*: type (integer) (v1.schema.json)": note(extra={SECRET: SECRET}),
    }
    for detail, event in details.items():
        bad = bad_of(catalogue, event)
        assert (bad.reason, bad.detail, bad.event_type) == (Reason.INVALID, detail, "note")


@pytest.mark.parametrize(
    "written",
    [
        "a@example.com,b@example.com",
        '"spy@evil.example x"@shop.example',
        "Ada <ada@example.com>",
        "ada @example.com",
        "ada\u200b@example.com",
        "ada",
        "",
    ],
)
def test_what_is_not_one_address_is_refused_without_repeating_it(
    tmp_path: Path, written: str
) -> None:
    bad = bad_of(open_shop(tmp_path), note(to=written))
    assert bad.reason is Reason.INVALID
    assert bad.detail.startswith("/to: ")
    assert not written or written not in bad.detail
