"""Topic, type and version find one folder and one schema; what finds none is told why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.catalogue import TopicRule
from consumer.model import Bad, Json, Reason, Skipped, SkipRule
from tests.unit.catalogue.shop import (
    LEFT_OUT,
    MAIL,
    SCHEMA,
    bad_of,
    mail_of,
    note,
    open_shop,
    record,
)


def two_versions(text: str = MAIL) -> dict[str, str | None]:
    second = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"const": "Two"}}}
    return {"note/v2.schema.json": json.dumps(second), "note/mail.toml": text}


def test_an_unknown_type_is_a_dead_letter(tmp_path: Path) -> None:
    bad = bad_of(open_shop(tmp_path), replace(note(), type="other", carried_key="a" * 48))
    assert bad.reason is Reason.UNKNOWN_TYPE
    assert (bad.event_type, bad.idempotency_key) == ("other", "a" * 48)
    assert bad.detail == "no folder of the catalogue listens to 'other' on topic orders"


def test_an_unknown_type_is_named_at_a_sane_length_and_harmlessly(tmp_path: Path) -> None:
    bad = bad_of(open_shop(tmp_path), replace(note(), type="\x00\x1b\ud800" + "x" * 1000))
    assert r"'\x00\x1b\ud800xx" in bad.detail
    assert len(bad.detail) < 200


def test_the_same_type_on_another_topic_is_unknown(tmp_path: Path) -> None:
    bad = open_shop(tmp_path).read(record("elsewhere"), note())
    assert isinstance(bad, Bad)
    assert bad.reason is Reason.UNKNOWN_TYPE


@pytest.mark.parametrize(
    "rule", [TopicRule(ignore=frozenset({"order.viewed"})), TopicRule(only_listed=True)]
)
def test_a_topic_may_pass_types_over(tmp_path: Path, rule: TopicRule) -> None:
    catalogue = open_shop(tmp_path, topics={"orders": rule})
    skipped = catalogue.read(record(), replace(note(), type="order.viewed"))
    assert skipped == Skipped(SkipRule.IGNORED, "order.viewed")
    mail_of(catalogue, note())


def test_ignoring_one_type_leaves_the_others_unknown(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path, topics={"orders": TopicRule(ignore=frozenset({"a"}))})
    assert bad_of(catalogue, replace(note(), type="b")).reason is Reason.UNKNOWN_TYPE


def test_the_event_names_its_schema_version(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path, two_versions())
    mail_of(catalogue, replace(note(name="Two"), schema_version=2))
    assert bad_of(catalogue, replace(note(), schema_version=2)).reason is Reason.INVALID
    bad = bad_of(catalogue, replace(note(), schema_version=3))
    assert (bad.reason, bad.detail) == (Reason.UNKNOWN_VERSION, "schema version is none of: 1, 2")


@pytest.mark.parametrize(
    ("version", "known"),
    [
        (1, True),
        ("1", True),
        (3, False),
        (1.0, False),
        (True, False),
        (None, False),
        (LEFT_OUT, False),
    ],
)
def test_the_schema_version_may_stand_in_the_data(
    tmp_path: Path, version: Json, *, known: bool
) -> None:
    text = 'schema_version = "v"\n' + MAIL
    required = {**SCHEMA, "required": [*SCHEMA["required"], "v"]}
    required["properties"] = {**SCHEMA["properties"], "v": {"type": ["integer", "string"]}}
    example = json.dumps({"type": "note", "id": "1", "to": "a@b.example", "name": "A", "v": 1})
    files: dict[str, str | None] = {
        "note/mail.toml": text,
        "note/v1.schema.json": json.dumps(required),
        "note/examples/one.json": example,
    }
    outcome = open_shop(tmp_path, files).read(record(), note(v=version))
    if known:
        assert not isinstance(outcome, Bad | Skipped)
    else:
        assert isinstance(outcome, Bad)
        assert outcome.reason is Reason.UNKNOWN_VERSION
