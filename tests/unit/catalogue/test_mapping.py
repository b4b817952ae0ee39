"""A mail is a pure function of its event and what the folder of its type says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consumer.keys import send_key
from consumer.model import Event, Json, OnUnknown, Priority
from tests.unit.catalogue.shop import (
    MAIL,
    mail_of,
    moment,
    note,
    open_shop,
    real_catalogue,
    with_mail,
)


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
