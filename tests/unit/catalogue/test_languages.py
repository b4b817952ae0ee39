"""A mail is in its reader's language where the folder has it, file by file, else in its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.catalogue import Catalogue
from consumer.catalogue.languages import fallbacks, spoken, stands_in
from tests.unit.catalogue.shop import MAIL, mail_of, message_of, note, open_shop

LOCALE = 'locale = { path = "nick", default = "en-GB" }\n' + MAIL


@pytest.mark.parametrize(
    ("locale", "chain"),
    [
        ("de-AT", "de-AT de"),
        ("de", "de"),
        ("es-MX", "es-MX es-419 es"),
        ("en-AU", "en-AU en-001 en"),
        ("pt-AO", "pt-AO pt-PT pt"),
        ("nb-NO", "nb-NO nb no"),
        ("zh-Hant-TW", "zh-Hant-TW zh-Hant"),
        ("zh-Hans-CN", "zh-Hans-CN zh-Hans zh"),
        ("sr-Latn-RS", "sr-Latn-RS sr-Latn"),
    ],
)
def test_whose_words_will_do(locale: str, chain: str) -> None:
    """CLDR's order; a language in another script is another language."""
    assert fallbacks(locale) == tuple(chain.split())


@pytest.mark.parametrize(
    ("wanted", "variants", "own", "written"),
    [
        ("de-AT", {"de"}, "en-GB", "de-AT"),  # German words, Austrian January
        ("en-US", {"de"}, "en-GB", "en-US"),  # the folder's words are English too
        ("pl-PL", {"de"}, "en-GB", "en-GB"),  # no Polish dates in an English mail
        ("zh-Hant-TW", {"zh"}, "en-GB", "en-GB"),
        ("pl-PL", set(), "en-GB", "en-GB"),
        ("pl-PL", set(), None, "pl-PL"),  # a folder that does not say what it is written in
        (None, {"de"}, "en-GB", None),
    ],
)
def test_what_a_mail_is_really_written_in(
    wanted: str | None, variants: set[str], own: str | None, written: str | None
) -> None:
    assert spoken(wanted, variants, own) == written


def test_a_file_that_names_what_it_stands_in_for_means_the_next_one() -> None:
    there = {"x/a.j2", "x/de/a.j2", "x/de-AT/a.j2"}
    chain = ("de-AT", "de")
    assert stands_in("x/a.j2", None, chain, there) == "x/de-AT/a.j2"
    assert stands_in("x/a.j2", "x/de-AT/a.j2", chain, there) == "x/de/a.j2"
    assert stands_in("x/a.j2", "x/de/a.j2", chain, there) == "x/a.j2"
    assert stands_in("x/a.j2", "x/a.j2", chain, there) == "x/de-AT/a.j2"
    assert stands_in("x/b.j2", None, chain, there) == "x/b.j2"
    assert stands_in("./a.j2", "x/de/b.j2", chain, there) == "x/de-AT/a.j2"
    assert stands_in("./a.j2", "x/de-AT/a.j2", chain, there) == "x/de/a.j2"
    assert stands_in("./a.j2", "y/b.j2", chain, there) == "y/a.j2"


FILES: dict[str, str | None] = {
    "note/mail.toml": LOCALE,
    "note/de/subject.j2": "Hallo {{ name }}",
    "note/body.txt.j2": '{% include "note/_hi.j2" %} {{ name }} {{ lang }}',
    "note/_hi.j2": "Hi",
    "note/de-AT/_hi.j2": "Servus",
    "note/fr/_hi.j2": "Salut",
}


def shop(root: Path, **more: str) -> Catalogue:
    return open_shop(root, FILES | {name.replace("__", "/"): text for name, text in more.items()})


def test_each_file_falls_back_by_itself(tmp_path: Path) -> None:
    """de-AT, de, the folder's own: subject, bodies and partials, each where it is nearest."""
    catalogue = shop(tmp_path)
    found = {
        locale: (message_of(catalogue, event).subject, message_of(catalogue, event).text)
        for locale in ("de-AT", "de-CH", "fr", "en-US", "pl", "xx-XX")
        for event in [note(nick=locale)]
    }
    assert found == {
        "de-AT": ("Hallo Ada", "Servus Ada de-AT\n"),
        "de-CH": ("Hallo Ada", "Hi Ada de-CH\n"),
        "fr": ("Hello Ada", "Salut Ada fr\n"),
        "en-US": ("Hello Ada", "Hi Ada en-US\n"),
        "pl": ("Hello Ada", "Hi Ada en-GB\n"),
        "xx-XX": ("Hello Ada", "Hi Ada en-GB\n"),
    }


def test_formats_are_those_of_the_language_that_is_written(tmp_path: Path) -> None:
    body = "{{ name }} {{ 1234567 | number }} {{ '2026-01-05' | date }}"
    catalogue = open_shop(tmp_path, {**FILES, "note/body.txt.j2": body})
    assert message_of(catalogue, note(nick="de-AT")).text == "Ada 1.234.567 5. Jänner 2026\n"
    assert message_of(catalogue, note(nick="pl-PL")).text == "Ada 1,234,567 5 January 2026\n"


def test_layouts_and_imports_have_languages_too(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/frame.html.j2": '{% import "_layouts/say.j2" as say %}'
        "<i>{{ say.bye }}</i>{% block a %}{% endblock %}",
        "_layouts/say.j2": '{% set bye = "Bye" %}',
        "_layouts/de/say.j2": '{% set bye = "Tschüs" %}',
        "_layouts/fr/say.j2": '{% set bye = "Au revoir" %}',
        "_layouts/ja/say.j2": '{% set bye = "では" %}',
        "note/body.html.j2": '{% extends "_layouts/frame.html.j2" %}'
        "{% block a %}{{ name }}{% endblock %}",
    }
    catalogue = open_shop(tmp_path, FILES | files)
    assert message_of(catalogue, note(nick="de")).html == "<i>Tschüs</i>Ada"
    assert message_of(catalogue, note(nick="fr")).html == "<i>Au revoir</i>Ada"
    # A layout in Japanese makes no Japanese mail: the words of the mail itself are English.
    assert message_of(catalogue, note(nick="ja")).html == "<i>Bye</i>Ada"


def test_a_variant_may_change_one_block_and_keep_the_rest(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "note/body.html.j2": "{% block a %}a{% endblock %}{% block b %}{{ name }}{% endblock %}",
        "note/de/body.html.j2": '{% extends "note/body.html.j2" %}{% block a %}ä{% endblock %}',
        "note/de-AT/body.html.j2": '{% extends "note/body.html.j2" %}'
        "{% block b %}[{{ super() }}]{% endblock %}",
    }
    catalogue = open_shop(tmp_path, FILES | files)
    written = [message_of(catalogue, note(nick=one)).html for one in ("en", "de", "de-AT", "en")]
    assert written == ["aAda", "äAda", "ä[Ada]", "aAda"]


def test_variants_are_part_of_the_digest(tmp_path: Path) -> None:
    """A row names what it was rendered with: another word in one language is another edition."""

    def digest(root: Path, **changes: str | None) -> str:
        return open_shop(root, FILES | LAYOUT | changes).types["note"].digest

    first = digest(tmp_path / "a")
    assert digest(tmp_path / "b", **{"note/de/subject.j2": "Hallo, {{ name }}"}) != first
    assert digest(tmp_path / "c", **{"_layouts/fr/hi.j2": "Allô"}) != first
    assert digest(tmp_path / "d", **{"_layouts/ja/hi.j2": "では"}) == first  # no mail of it is ja


def test_a_former_edition_has_the_words_of_its_languages(tmp_path: Path) -> None:
    """A repeat of an open row is the same mail byte for byte, in German too."""
    first = open_shop(tmp_path / "a", FILES | LAYOUT)
    changes = {"note/de/subject.j2": "Neu, {{ name }}", "_layouts/fr/hi.j2": "Neuf"}
    second = open_shop(tmp_path / "b", FILES | LAYOUT | changes)
    [edition] = first.editions
    before = second.former(edition)
    assert before is not None
    for locale in ("de", "fr", "en"):
        mail = mail_of(first, note(nick=locale))
        assert before.render(mail) == first.render(mail)
    german = mail_of(first, note(nick="de"))
    assert second.render(german) != first.render(german)


LAYOUT: dict[str, str | None] = {
    "_layouts/hi.j2": "Hi",
    "_layouts/de/hi.j2": "Hallo",
    "_layouts/fr/hi.j2": "Salut",
    "note/body.html.j2": '{% include "_layouts/hi.j2" %} {{ name }}',
}


def test_the_language_that_is_asked_for_reaches_the_fingerprint(tmp_path: Path) -> None:
    catalogue = shop(tmp_path)
    german, austrian = (mail_of(catalogue, note(nick=one)) for one in ("de", "de-AT"))
    assert german.fingerprint != austrian.fingerprint
    assert catalogue.languages("note") == ("de", "de-AT", "fr")
