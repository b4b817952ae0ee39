"""Plural forms are each language's own: a wrong one is told before the first mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.catalogue.formats import formats_for
from consumer.catalogue.plurals import FORMS, needed
from tests.unit.catalogue.shop import message_of, mistakes, note, open_shop
from tests.unit.catalogue.test_languages import LOCALE

ALL = {form: f"{form} #" for form in FORMS}


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("en", {0: "other", 1: "one", 2: "other", 21: "other"}),
        ("de", {0: "other", 1: "one", 2: "other", 101: "other"}),
        ("fr", {0: "one", 1: "one", 2: "other", 1_000_000: "many", 1_000_001: "other"}),
        ("ja", {0: "other", 1: "other", 2: "other"}),
        ("pl", {1: "one", 2: "few", 5: "many", 12: "many", 22: "few"}),
        (
            "ar",
            {
                0: "zero",
                1: "one",
                2: "two",
                3: "few",
                10: "few",
                11: "many",
                99: "many",
                100: "other",
                102: "other",
                103: "few",
                111: "many",
                200: "other",
            },
        ),
    ],
)
def test_the_form_that_a_number_takes(locale: str, expected: dict[int, str]) -> None:
    formats = formats_for(locale, None)
    assert {n: formats.plural(n, **ALL).split()[0] for n in expected} == expected


def test_the_forms_that_must_be_there() -> None:
    found = {locale: " ".join(needed(locale)) for locale in ("de", "fr", "ja", "ar", "cs")}
    assert found == {
        "de": "one other",
        "fr": "one many other",
        "ja": "other",
        "ar": "zero one two few many other",
        "cs": "one few other",  # its "many" is for decimals, which nobody counts in
    }


def test_the_number_is_written_as_the_language_writes_it(tmp_path: Path) -> None:
    count = '{{ name }}: {{ 12345 | plural(one="# item", other="# items") }}'
    files: dict[str, str | None] = {
        "note/mail.toml": LOCALE,
        "note/body.txt.j2": count,
        "note/de/body.txt.j2": count.replace("item", "Stück").replace("Stücks", "Stück"),
        "note/ar/body.txt.j2": '{{ name }}: {{ 3 | plural(zero="-", one="-", two="-", few="#", '
        'many="-", other="-") }}',
    }
    catalogue = open_shop(tmp_path, files)
    texts = [message_of(catalogue, note(nick=one)).text for one in ("en", "de", "ar")]
    assert texts[:2] == ["Ada: 12,345 items\n", "Ada: 12.345 Stück\n"]
    assert "3" in texts[2]


@pytest.mark.parametrize("count", ["name", "true", "1.5", "none"])
def test_only_whole_numbers_are_counted(tmp_path: Path, count: str) -> None:
    text = '{{ name }}\n{{ COUNT | plural(one="a", other="b") }}'.replace("COUNT", count)
    [line] = mistakes(tmp_path, {"note/body.txt.j2": text})
    assert line == "note/examples/one.json: invalid: note/body.txt.j2:2: only integers are counted"


MISTAKES = {
    "a form is missing": (
        "note/ar/_n.j2",
        '{% set n = 3 | plural(one="a", other="b") %}',
        'note/ar/_n.j2:1: plural: write zero="# ...", two="# ...", few="# ...", many="# ..." too',
    ),
    "none is given": (
        "note/_n.j2",
        "\n{% set n = 3 | plural %}",
        'note/_n.j2:2: plural: write one="# ...", other="# ..." too in en-GB',
    ),
    "a form of another language": (
        "note/de/_n.j2",
        '{% set n = 3 | plural(one="a", few="c", other="b") %}',
        "note/de/_n.j2:1: plural: no form few in de",
    ),
    "no form at all": (
        "note/de/_n.j2",
        '{% set n = 3 | plural(one="a", others="b", other="c") %}',
        "note/de/_n.j2:1: plural: no form others in de",
    ),
}


@pytest.mark.parametrize(("file", "text", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_wrong_form_stops_the_start(tmp_path: Path, file: str, text: str, expected: str) -> None:
    files: dict[str, str | None] = {
        "note/mail.toml": LOCALE,
        "note/_n.j2": "{% set n = 1 %}",
        "note/body.txt.j2": '{% import "note/_n.j2" as words %}{{ name }} {{ words.n }}',
    }
    assert [line for line in mistakes(tmp_path, {**files, file: text}) if expected in line]
