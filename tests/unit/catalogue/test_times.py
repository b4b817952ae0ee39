"""The time of a mail is one moment: the type's path, else the envelope's, else the record's."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from consumer.model import Json, Reason
from tests.unit.catalogue.shop import (
    MAIL,
    NOW,
    SCHEMA,
    bad_of,
    mail_of,
    moment,
    note,
    open_shop,
    with_mail,
)


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


def test_the_time_is_the_types_path_else_the_envelopes_else_the_records(tmp_path: Path) -> None:
    plain = open_shop(tmp_path / "a")
    early = moment("2026-02-01T00:00:00Z")
    assert mail_of(plain, note()).occurred_at == moment("2026-03-01T12:00:00Z")
    assert mail_of(plain, replace(note(), time=early)).occurred_at == early
    named = timed(tmp_path / "b")
    event = replace(note(at="2026-01-01T00:00:00+01:00"), time=early)
    assert mail_of(named, event).occurred_at == moment("2025-12-31T23:00:00Z")


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
