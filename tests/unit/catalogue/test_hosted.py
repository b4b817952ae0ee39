"""A provider may keep a mail's template: the context is its model, and bodies may be absent."""

from __future__ import annotations

from pathlib import Path

from tests.unit.catalogue.shop import MAIL, message_of, mistakes, note, open_shop
from tests.unit.catalogue.test_languages import LOCALE

BOTH = '[template]\npostmark = "receipt-2"\nfile = "f"\n'
ONE = '[template]\npostmark = "receipt-2"\n'
NO_BODIES: dict[str, str | None] = {"note/body.txt.j2": None, "note/body.html.j2": None}


def test_the_context_is_the_model(tmp_path: Path) -> None:
    """With what templates of ours are given too; nothing that the folder does not name."""
    rules = f'{MAIL}nick = {{ path = "nick", default = "" }}\n{BOTH}'
    catalogue = open_shop(tmp_path, {"note/mail.toml": rules, **NO_BODIES})
    message = message_of(catalogue, note(extra="unseen"))
    assert message.templates == {"postmark": "receipt-2", "file": "f"}
    assert message.model == {
        "name": "Ada",
        "nick": "",
        "lang": "en",
        "dir": "ltr",
        "subject": "Hello Ada",
    }
    assert (message.text, message.html) == ("", "")


def test_who_has_no_template_of_its_own_sends_the_folders_bodies(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path / "a", {"note/mail.toml": MAIL + ONE})
    message = message_of(catalogue, note())
    assert message.templates == {"postmark": "receipt-2"}
    assert message.text == "Dear Ada\n"
    lines = mistakes(tmp_path / "b", {"note/mail.toml": MAIL + ONE, **NO_BODIES})
    assert lines == [
        "note/body.html.j2: is missing, and file has no template of its own",
        "note/body.txt.j2: is missing, and file has no template of its own",
    ]


def test_the_subject_is_always_ours(tmp_path: Path) -> None:
    """Operators see it, and some providers take it with the template."""
    changes: dict[str, str | None] = {"note/mail.toml": MAIL + BOTH, **NO_BODIES}
    assert mistakes(tmp_path, {**changes, "note/subject.j2": None}) == [
        "note/subject.j2: is missing"
    ]


def test_a_template_is_for_a_provider_of_the_mail(tmp_path: Path) -> None:
    text = 'providers = ["file"]\n' + MAIL + BOTH
    [line] = mistakes(tmp_path, {"note/mail.toml": text})
    assert line == "note/mail.toml:11: template.postmark: is none of the providers of this mail"


def test_a_mail_of_ours_carries_no_model(tmp_path: Path) -> None:
    message = message_of(open_shop(tmp_path), note())
    assert (message.templates, message.model) == ({}, {})


def test_the_model_says_which_language_it_is_in(tmp_path: Path) -> None:
    """So that one template of the provider can hold them all; the subject is in it already."""
    files: dict[str, str | None] = {"note/ar/subject.j2": "مرحبا {{ name }}", **NO_BODIES}
    catalogue = open_shop(tmp_path, {"note/mail.toml": LOCALE + BOTH, **files})
    arabic = message_of(catalogue, note(nick="ar-KW"))
    assert (arabic.model["lang"], arabic.model["dir"]) == ("ar-KW", "rtl")
    assert arabic.model["subject"] == arabic.subject == "مرحبا Ada"
    assert message_of(catalogue, note(nick="ja")).model["lang"] == "en-GB"
