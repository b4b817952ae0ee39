"""Entity, recipient and version make the key; what cannot be a part of one is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.keys import send_key
from consumer.model import Json, Reason
from tests.unit.catalogue.shop import MAIL, SCHEMA, bad_of, mail_of, note, open_shop, with_mail


def test_big_integers_are_checked_and_hashed(tmp_path: Path) -> None:
    """An integer beyond 64 bits is a number like any other."""
    catalogue = open_shop(tmp_path)
    mail = mail_of(catalogue, note(id=327_267_367_867_168_100_000))
    assert mail.entity_id == "327267367867168100000"
    assert mail.key == send_key("note", 327_267_367_867_168_100_000, "ada@example.com")


def test_a_carried_key_is_taken_verbatim(tmp_path: Path) -> None:
    mail = mail_of(open_shop(tmp_path), replace(note(), carried_key="f" * 48))
    assert mail.key == "f" * 48
    assert mail.entity_id == "N1"


def test_a_carried_id_stands_for_the_entity(tmp_path: Path) -> None:
    mail = mail_of(open_shop(tmp_path), replace(note(), carried_id="Req-7"))
    assert mail.entity_id == "Req-7"
    assert mail.key == send_key("note", "Req-7", "ada@example.com")


def test_a_list_of_paths_is_a_list_of_parts(tmp_path: Path) -> None:
    """Two shops with order 1001 and one customer are two mails."""
    text = MAIL.replace('entity_id = "id"', 'entity_id = ["@source", "id"]')
    files = {
        **with_mail(text),
        "note/examples/one.json": json.dumps(
            {
                "specversion": "1.0",
                "id": "e",
                "source": "shop-1",
                "type": "note",
                "data": {"id": "1001", "to": "ada@example.com", "name": "Ada"},
            }
        ),
    }
    catalogue = open_shop(tmp_path, files)
    first = mail_of(catalogue, note(id="1001", attributes={"source": "shop-1"}))
    second = mail_of(catalogue, note(id="1001", attributes={"source": "shop-2"}))
    assert first.key != second.key
    assert first.key == send_key("note", ["shop-1", "1001"], "ada@example.com")
    assert first.entity_id == "shop-1:1001"
    bad = bad_of(catalogue, note(id="1001"))
    assert (bad.reason, bad.detail) == (Reason.INVALID, "@source: is absent")


def test_version_and_case_are_part_of_the_key(tmp_path: Path) -> None:
    text = 'version = "v2"\ncase_sensitive_entity = true\n' + MAIL
    catalogue = open_shop(tmp_path, with_mail(text))
    upper, lower = mail_of(catalogue, note(id="aB")), mail_of(catalogue, note(id="ab"))
    assert upper.key != lower.key
    assert upper.key == send_key("note", "aB", "ada@example.com", "v2", case_sensitive_entity=True)


@pytest.mark.parametrize("part", [1.5, True, None, [], {}, "", "x" * 10_000, "0" + "1" * 5_000])
def test_what_cannot_be_a_part_of_a_key(tmp_path: Path, part: Json) -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "at": {"type": "string"}}}
    loose = json.dumps(
        {**schema, "properties": {**schema["properties"], "id": {"not": {"const": 0}}}}
    )
    # The schema promises nothing here; the catalogue's own check would refuse it, so go below it.
    catalogue = open_shop(tmp_path, {"note/own.md": "this one is changed below"})
    rules = catalogue._by_event["orders", "note"]
    from consumer.catalogue.schema import compile_schema  # noqa: PLC0415 - this test alone

    weak = replace(rules, schemas={1: compile_schema(1, "v1.schema.json", json.loads(loose))})
    catalogue._by_event["orders", "note"] = weak
    assert bad_of(catalogue, note(id=part)).reason is Reason.INVALID


@pytest.mark.parametrize(
    ("written", "sent_to"),
    [
        (" ada@example.com \t", "ada@example.com"),
        ("Ada@Example.COM", "Ada@example.com"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
    ],
)
def test_the_recipient_is_canonical(tmp_path: Path, written: str, sent_to: str) -> None:
    assert mail_of(open_shop(tmp_path), note(to=written)).recipient == sent_to
