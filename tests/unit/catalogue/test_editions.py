"""Editions of a folder: kept with its digest, and made again byte for byte after any deploy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.catalogue import Catalogue, Former
from consumer.catalogue.snapshot import pack, unpack
from consumer.model import Edition, Mail
from tests.unit.catalogue.shop import (
    FILES,
    MAIL,
    SENDERS,
    message_of,
    note,
    open_shop,
    record,
    with_mail,
)

LAYOUT = "_layouts/f.txt.j2"
FRAMED = {LAYOUT: "== {% block it %}{% endblock %} ==\n"}
USES = {
    "note/body.txt.j2": '{% extends "_layouts/f.txt.j2" %}{% block it %}{{ name }}{% endblock %}'
}
SENSITIVE = MAIL.replace("max_age", 'sensitive = ["name"]\nmax_age')


def edition(catalogue: Catalogue) -> Edition:
    [found] = catalogue.editions
    return found


def former(now: Catalogue, then: Edition) -> Former:
    found = now.former(then)
    assert found is not None
    return found


CHANGES: Mapping[str, Mapping[str, str | None]] = {
    "words": {"note/body.txt.j2": "Good day {{ name }}\n"},
    "a layout": {LAYOUT: "-- {% block it %}{% endblock %} --\n"},
    "the context": with_mail(MAIL.replace('name = "name"', 'name = { value = "you" }')),
    "a locale": with_mail(MAIL.replace("max_age", 'locale = { value = "de" }\nmax_age')),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_former_edition_makes_the_same_bytes(
    tmp_path: Path, change: Mapping[str, str | None]
) -> None:
    """The law: a repeat of an open row is the same mail, whatever was deployed in between."""
    old = open_shop(tmp_path / "old", {**FRAMED, **USES})
    new = open_shop(tmp_path / "new", {**FRAMED, **USES, **change})
    then = former(new, edition(old))
    mail = then.read(record(), note())
    assert isinstance(mail, Mail)
    assert then.render(mail) == message_of(old, note())
    assert mail == old.read(record(), note())


def test_policies_are_todays(tmp_path: Path) -> None:
    text = MAIL.replace('"7d"', '"1d"').replace("max_age", 'on_unknown = "resend"\nmax_age')
    old, new = open_shop(tmp_path / "old"), open_shop(tmp_path / "new", with_mail(text))
    mail = former(new, edition(old)).read(record(), note())
    assert isinstance(mail, Mail)
    assert mail.type == replace(new.types["note"], digest=old.types["note"].digest)


def test_a_mail_type_that_is_gone_or_not_here_yet_is_as_it_was(tmp_path: Path) -> None:
    old = open_shop(tmp_path / "old")
    renamed = {name.replace("note/", "letter/"): text for name, text in FILES.items()}
    new = open_shop(tmp_path / "new", {**dict.fromkeys(FILES), **_lettered(renamed)})
    mail = former(new, edition(old)).read(record(), note())
    assert isinstance(mail, Mail)
    assert mail.type == old.types["note"]


def _lettered(files: Mapping[str, str]) -> dict[str, str | None]:
    return {name: text.replace('"note"', '"letter"') for name, text in files.items()}


def test_what_cannot_be_read_here_is_told(tmp_path: Path) -> None:
    """A roll-back meets editions of the release after it."""
    now = open_shop(tmp_path)
    then = edition(now)
    files = unpack(then.snapshot)
    newer = files["note/mail.toml"] + b'\n[hologram]\nsize = "3m"\n'
    elsewhere = files["note/mail.toml"].replace(b'"shop"', b'"gone"')
    for snapshot in (
        b"no archive",
        pack({"note/subject.j2": b"\xff"}),
        pack({}),
        pack({**files, "note/mail.toml": newer}),
        pack({**files, "note/mail.toml": elsewhere}),
    ):
        assert now.former(replace(then, snapshot=snapshot)) is None


def test_an_edition_holds_what_its_bytes_are_made_of_and_no_more(tmp_path: Path) -> None:
    """No examples, and of other folders nothing."""
    names = set(unpack(edition(open_shop(tmp_path, {**FRAMED, **USES})).snapshot))
    own = {name for name in FILES if "/examples/" not in name}
    assert names == own | {LAYOUT}


def test_the_same_files_are_the_same_edition(tmp_path: Path) -> None:
    here, there = (
        open_shop(tmp_path / "a"),
        open_shop(tmp_path / "b", {"note/README.md": "A note."}),
    )
    assert edition(here) == edition(there)
    assert pack({"b": b"2", "a": b"1"}) == pack({"a": b"1", "b": b"2"})


SINCE = "2026-02-01T00:00:00Z"
NOT_COMPARABLE = {
    "another path in the context": with_mail(MAIL.replace('name = "name"', 'name = "to"')),
    "another entity": with_mail(MAIL.replace('"id"', '["id", "to"]')),
    "another key for what is older": with_mail(
        MAIL.replace('"id"', '"to"') + f'[[key]]\nsince = {SINCE}\nentity_id = "id"\n'
    ),
    "another version": with_mail(MAIL.replace("max_age", 'version = "v2"\nmax_age')),
    "a key block": with_mail(MAIL + '[[key]]\nsince = 2026-02-01T00:00:00Z\nversion = "v2"\n'),
    "a locale": with_mail(MAIL.replace("max_age", 'locale = "nick"\nmax_age')),
    "a zone": with_mail(MAIL.replace("max_age", 'timezone = "nick"\nmax_age')),
}


@pytest.mark.parametrize("change", NOT_COMPARABLE.values(), ids=NOT_COMPARABLE)
def test_another_context_or_key_rule_cannot_be_compared(
    tmp_path: Path, change: dict[str, str | None]
) -> None:
    here, there = open_shop(tmp_path / "a"), open_shop(tmp_path / "b", change)
    assert edition(here).fingerprints != edition(there).fingerprints


COMPARABLE: Mapping[str, Mapping[str, str | None]] = {
    "words": {"note/subject.j2": "Good day {{ name }}\n"},
    "policies": with_mail(MAIL.replace('"7d"', '"1d"').replace("max_age", 'tags = ["a"]\nmax_age')),
    "an example": {"note/examples/two.json": FILES["note/examples/one.json"]},
}


@pytest.mark.parametrize("change", COMPARABLE.values(), ids=COMPARABLE)
def test_other_words_and_policies_can_be_compared(
    tmp_path: Path, change: Mapping[str, str | None]
) -> None:
    here, there = open_shop(tmp_path / "a"), open_shop(tmp_path / "b", change)
    assert edition(here).digest != edition(there).digest
    assert edition(here).fingerprints == edition(there).fingerprints


def test_another_key_of_the_configuration_is_another_edition(tmp_path: Path) -> None:
    """Or its rotation would turn every duplicate into a conflict; where fingerprints are keyed."""
    keyed = [
        edition(open_shop(tmp_path / str(n), with_mail(SENSITIVE), fingerprint_key=bytes([n]) * 32))
        for n in (1, 2)
    ]
    assert keyed[0].digest != keyed[1].digest
    assert keyed[0].fingerprints != keyed[1].fingerprints
    plain = [open_shop(tmp_path / f"p{n}", fingerprint_key=bytes([n]) * 32) for n in (1, 2)]
    assert edition(plain[0]) == edition(plain[1])


def test_the_sender_is_who_it_was(tmp_path: Path) -> None:
    now = open_shop(tmp_path)
    assert former(now, edition(now)).rules.sender == SENDERS["shop"]
