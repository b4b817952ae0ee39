"""An event to a mail: versions, keys, times, recipients; and why none can come of one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from consumer.catalogue import TopicRule
from consumer.keys import send_key
from consumer.model import Bad, Event, Json, OnUnknown, Priority, Reason, Skipped, SkipRule
from tests.unit.catalogue.shop import (
    LEFT_OUT,
    MAIL,
    NOW,
    SCHEMA,
    bad_of,
    mail_of,
    moment,
    note,
    open_shop,
    real_catalogue,
    record,
)

SECRET = "s3cret@example.com"


def with_mail(text: str) -> dict[str, str | None]:
    return {"note/mail.toml": text}


def test_a_mail(tmp_path: Path) -> None:
    mail = mail_of(open_shop(tmp_path), note())
    assert mail.key == send_key("note", "N1", "ada@example.com")
    assert (mail.entity_id, mail.recipient) == ("N1", "ada@example.com")
    assert mail.context == {"name": "Ada"}
    assert mail.occurred_at == moment("2026-03-01T12:00:00Z")
    assert mail.active


def test_what_a_type_says(tmp_path: Path) -> None:
    text = 'priority = "high"\non_unknown = "resend"\nproviders = ["file"]\n' + MAIL
    catalogue = open_shop(tmp_path, with_mail(text))
    kind = catalogue.types["note"]
    assert (kind.priority, kind.on_unknown) == (Priority.HIGH, OnUnknown.RESEND)
    assert (kind.topic, kind.sender, kind.max_age) == ("orders", "shop", 7 * 86_400.0)
    assert kind.providers == ("file",)
    assert catalogue.topics == catalogue.high_topics == {"orders"}


def test_without_providers_all_of_them_in_their_order(tmp_path: Path) -> None:
    assert open_shop(tmp_path).types["note"].providers == ("postmark", "file")


# ── Which folder, which version


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


def two_versions(text: str = MAIL) -> dict[str, str | None]:
    second = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"const": "Two"}}}
    return {"note/v2.schema.json": json.dumps(second), "note/mail.toml": text}


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


# ── What the schema refuses


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


def test_big_integers_are_checked_and_hashed(tmp_path: Path) -> None:
    """An integer beyond 64 bits is a number like any other."""
    catalogue = open_shop(tmp_path)
    mail = mail_of(catalogue, note(id=327_267_367_867_168_100_000))
    assert mail.entity_id == "327267367867168100000"
    assert mail.key == send_key("note", 327_267_367_867_168_100_000, "ada@example.com")


# ── The key


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


# ── The recipient


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


# ── Times


def test_the_time_is_the_types_path_else_the_envelopes_else_the_records(tmp_path: Path) -> None:
    plain = open_shop(tmp_path / "a")
    early = moment("2026-02-01T00:00:00Z")
    assert mail_of(plain, note()).occurred_at == moment("2026-03-01T12:00:00Z")
    assert mail_of(plain, replace(note(), time=early)).occurred_at == early
    named = timed(tmp_path / "b")
    event = replace(note(at="2026-01-01T00:00:00+01:00"), time=early)
    assert mail_of(named, event).occurred_at == moment("2025-12-31T23:00:00Z")


def timed(root: Path):  # type: ignore[no-untyped-def] # noqa: ANN201 - the catalogue of one test
    schema = {**SCHEMA, "required": [*SCHEMA["required"], "at"]}
    schema["properties"] = {**SCHEMA["properties"], "at": {"type": ["string", "integer"]}}
    example = {"type": "note", "id": "1", "to": "a@b.example", "name": "A", "at": NOW}
    return open_shop(
        root,
        {
            "note/mail.toml": 'time = "at"\n' + MAIL,
            "note/v1.schema.json": json.dumps(schema),
            "note/examples/one.json": json.dumps(example),
        },
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (NOW, "2026-03-01T12:00:00Z"),
        ("2026-03-01T12:00:00z", "2026-03-01T12:00:00Z"),
        ("2026-03-01t12:00:00.123456789Z", "2026-03-01T12:00:00.123456Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2026-03-01T12:04:59Z", "2026-03-01T12:04:59Z"),
        ("2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"),
    ],
)
def test_times_that_are_read(tmp_path: Path, written: Json, read: str) -> None:
    assert mail_of(timed(tmp_path), note(at=written)).occurred_at == moment(read)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("2026-03-01T12:00:00", Reason.INVALID),  # no offset: another moment in every place
        ("2026-03-01", Reason.INVALID),
        ("2026-02-30T12:00:00Z", Reason.INVALID),
        ("yesterday", Reason.INVALID),
        (-1, Reason.INVALID),
        (10**30, Reason.INVALID),
        (NOW // 1000, Reason.BAD_TIME),  # seconds where milliseconds are meant: 1970
        ("1999-12-31T23:59:59Z", Reason.BAD_TIME),
        ("2026-03-01T12:05:01Z", Reason.BAD_TIME),  # over five minutes ahead of the record
        ("9999-12-31T23:59:59Z", Reason.BAD_TIME),
        ("0001-01-01T00:00:00+14:00", Reason.INVALID),
    ],
)
def test_times_that_are_refused(tmp_path: Path, written: Json, reason: Reason) -> None:
    bad = bad_of(timed(tmp_path), note(at=written))
    assert bad.reason is reason
    assert str(written) not in bad.detail


def test_before_active_from_a_mail_is_not_active(tmp_path: Path) -> None:
    text = "active_from = 2026-03-01T12:00:00Z\n" + MAIL
    catalogue = open_shop(tmp_path, with_mail(text))
    start = moment("2026-03-01T12:00:00Z")
    assert mail_of(catalogue, replace(note(), time=start)).active
    assert not mail_of(catalogue, replace(note(), time=start - timedelta(microseconds=1))).active
    assert start.tzinfo == UTC


# ── The context


def test_a_fallback_stands_for_absent_and_null(tmp_path: Path) -> None:
    text = MAIL + 'nick = { path = "nick", default = "friend" }\nyear = { value = 2026 }\n'
    files = {**with_mail(text), "note/body.txt.j2": "{{ name }} {{ nick }} {{ year }}"}
    catalogue = open_shop(tmp_path, files)
    for event, nick in ((note(), "friend"), (note(nick=None), "friend"), (note(nick=""), "")):
        assert mail_of(catalogue, event).context == {"name": "Ada", "nick": nick, "year": 2026}


def test_pick_takes_named_members_only() -> None:
    """What no template prints is not in the context, so it cannot raise a conflict."""
    catalogue = real_catalogue()
    items = [one for one in catalogue.examples if one.name == "cloudevent"]
    body = json.loads(next(one.value for one in items if one.mail_type == "order.receipt"))
    mail = mail_of(catalogue, Event("order.receipt", body["data"]))
    assert all("sku" not in item for item in mail.context["items"])  # type: ignore[operator,union-attr] # Json
    assert "sku" in body["data"]["order"]["items"][0]


@pytest.mark.parametrize(
    ("locale", "known"),
    [
        ("de-AT", "de-AT"),
        ("de_AT", "de-AT"),
        ("de-XX", "de"),
        ("xx", "fr"),
        ("../etc", "fr"),
        (7, "fr"),
    ],
)
def test_the_nearest_known_locale(tmp_path: Path, locale: Json, known: str) -> None:
    text = 'locale = { path = "place", default = "fr" }\n' + MAIL
    assert mail_of(open_shop(tmp_path, with_mail(text)), note(place=locale)).locale == known


@pytest.mark.parametrize(
    ("zone", "known"),
    [("Europe/Berlin", "Europe/Berlin"), ("Europe", None), ("../x", None), ("", None), (7, None)],
)
def test_an_unknown_zone_costs_no_mail(tmp_path: Path, zone: Json, known: str | None) -> None:
    text = 'timezone = "place"\n' + MAIL
    assert mail_of(open_shop(tmp_path, with_mail(text)), note(place=zone)).timezone == known


def test_an_entity_below_a_sensitive_path_makes_the_type_sensitive(tmp_path: Path) -> None:
    plain = open_shop(tmp_path / "a", with_mail('sensitive = ["name"]\n' + MAIL))
    secret = open_shop(tmp_path / "b", with_mail('sensitive = ["id"]\n' + MAIL))
    assert not plain.types["note"].sensitive
    assert secret.types["note"].sensitive
