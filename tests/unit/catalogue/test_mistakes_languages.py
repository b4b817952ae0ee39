"""A mistake in one language is told with file and line, before a reader of it meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.catalogue.shop import MAIL, mistakes, open_shop
from tests.unit.catalogue.test_languages import LOCALE

WORDS = '{% set bye = "Bye" %}{% macro hi(name) %}Hi {{ name }}{% endmacro %}'
FILES: dict[str, str | None] = {
    "note/mail.toml": LOCALE,
    "note/_say.j2": WORDS,
    "note/body.txt.j2": '{% import "note/_say.j2" as say %}\n{{ say.hi(name) }} {{ say.bye }}',
}
MISTAKES = {
    "unknown variable": (
        {"note/de/subject.j2": "Hallo\n{{ nmae }}"},
        "note/de/subject.j2:2: 'nmae' is not in [context] of note/mail.toml",
    ),
    "syntax": (
        {"note/de/body.txt.j2": "{% if name %}"},
        "note/de/body.txt.j2:1: Unexpected end of template",
    ),
    "no such locale": (
        {"note/german/subject.j2": "Hallo {{ name }}"},
        "note/german: a folder is named after a locale: write de/, or de-AT/",
    ),
    "another spelling": (
        {"note/de_AT/subject.j2": "Hallo {{ name }}"},
        "note/de_AT: a folder is named after a locale: did you mean de-AT/?",
    ),
    "script left out": (
        {"note/zh-TW/subject.j2": "{{ name }}"},
        "note/zh-TW: a folder is named after a locale: did you mean zh-Hant-TW/?",
    ),
    "layout of no locale": (
        {"_layouts/french/x.j2": "Salut", "_layouts/x.j2": "Hi"},
        "_layouts/french: a folder is named after a locale",
    ),
    "misspelt file": (
        {"note/de/_sya.j2": WORDS},
        "note/de/_sya.j2: stands in for nothing: there is no note/_sya.j2",
    ),
    "misspelt layout": (
        {"_layouts/de/x.j2": "Hallo"},
        "_layouts/de/x.j2: stands in for nothing: there is no _layouts/x.j2",
    ),
    "rules in a language": (
        {"note/de/mail.toml": MAIL},
        "note/de/mail.toml: is not a file that a folder has",
    ),
    "a word is missing": (
        {"note/de/_say.j2": WORDS.replace("bye", "byby")},
        "note/de/_say.j2: does not set 'bye', which note/body.txt.j2:2 takes from it",
    ),
    "a word takes other values": (
        {"note/de/_say.j2": "\n" + WORDS.replace("hi(name)", "hi(name, title)")},
        "note/de/_say.j2:2: hi takes 2 values, and note/body.txt.j2:2 gives it 1",
    ),
    "unsafe in one language": (
        {"note/de/body.html.j2": '<a href="{{ name }}">'},
        "note/de/body.html.j2:1: a link's value goes through the filter",
    ),
    "fails in one language": (
        {"note/de/subject.j2": "{{ name | number }}"},
        "note/examples/one.json: invalid: note/de/subject.j2:1: only integers are written",
    ),
    "no reader's locale": (
        {"note/mail.toml": MAIL, "note/de/subject.j2": "Hallo {{ name }}"},
        "note/mail.toml: locale: there is note/de/: name the path of the reader's locale, and the",
    ),
    "language not said": (
        {"note/mail.toml": 'locale = "nick"\n' + MAIL, "note/de/subject.j2": "{{ name }}"},
        "note/mail.toml:1: locale: there is note/de/: name the path",
    ),
}


@pytest.mark.parametrize(("changes", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(tmp_path: Path, changes: dict[str, str | None], expected: str) -> None:
    lines = mistakes(tmp_path, {**FILES, **changes})
    assert [line for line in lines if line.startswith(expected)], lines


def test_all_languages_at_once(tmp_path: Path) -> None:
    changes: dict[str, str | None] = {
        "note/de/subject.j2": "{{ nmae }}",
        "note/fr/subject.j2": "{{ nom }}",
        "note/klingon/subject.j2": "{{ name }}",
    }
    lines = mistakes(tmp_path, {**FILES, **changes})
    assert [line.partition(":")[0] for line in lines] == [
        "note/de/subject.j2",
        "note/fr/subject.j2",
        "note/klingon",
    ]


def test_one_name_does_not_stand_for_two_modules(tmp_path: Path) -> None:
    """A mail and its layout share their names: the layout's would come out where the mail's is."""
    lines = mistakes(
        tmp_path,
        {
            **FILES,
            "_layouts/l.j2": '{% import "_layouts/x.j2" as say %}{{ say.x }}'
            "{% block a %}{% endblock %}",
            "_layouts/x.j2": '{% set x = "x" %}',
            "note/body.txt.j2": '{% extends "_layouts/l.j2" %}{% import "note/_say.j2" as say %}'
            "{% block a %}{{ say.hi(name) }}{% endblock %}",
        },
    )
    assert lines == [
        "_layouts/l.j2:1: say is note/_say.j2 already, in note/body.txt.j2:1: give it another name"
    ]


def test_a_word_misspelt_in_the_folder_itself(tmp_path: Path) -> None:
    text = '{% from "note/_say.j2" import hi, by %}{{ hi(name, 1) }} {{ by }}'
    assert mistakes(tmp_path, {**FILES, "note/body.txt.j2": text}) == [
        "note/_say.j2: does not set 'by', which note/body.txt.j2:1 takes from it",
        "note/_say.j2:1: hi takes 1 values, and note/body.txt.j2:1 gives it 2",
    ]


SHARED: dict[str, str | None] = {
    **FILES,
    "_layouts/bye.j2": "Bye",
    "note/body.html.j2": '{% include "_layouts/bye.j2" %} {{ name }}',
    "note/pl/subject.j2": "Witaj {{ name }}",
}
LACKING = {
    "translated for others": (("de", "fr"), "pl", "de, fr"),
    "asked for by a region": (("de",), "pl-PL", "de"),
    "in another script": (("zh",), "zh-Hant", "zh"),
}


@pytest.mark.parametrize(("there", "mine", "others"), LACKING.values(), ids=LACKING)
def test_a_shared_file_that_lacks_the_mails_language(
    tmp_path: Path, there: tuple[str, ...], mine: str, others: str
) -> None:
    """A Polish mail is Polish through and through: no English sentence comes in by a layout."""
    files = {**SHARED, "note/pl/subject.j2": None, f"note/{mine}/subject.j2": "Witaj {{ name }}"}
    shared = {f"_layouts/{one}/bye.j2": "Tschüs" for one in there}
    why = f"note has {mine}/, and _layouts/bye.j2 is there in {others}"
    what = "translate it (a copy will do where nothing is said otherwise)"
    [line] = mistakes(tmp_path, {**files, **shared})
    assert line == f"_layouts/{mine}/bye.j2: is missing: {why}: {what}"


NOTHING_LACKS: dict[str, dict[str, str | None]] = {
    "translated for nobody": {},
    "translated": {"_layouts/de/bye.j2": "Tschüs", "_layouts/pl/bye.j2": "Pa"},
    "by the fallback chain": {
        "_layouts/pl/bye.j2": "Pa",
        "note/pl/subject.j2": None,
        "note/pl-PL/subject.j2": "Witaj {{ name }}",
    },
    "no mail in that language": {"_layouts/de/bye.j2": "Tschüs", "note/pl/subject.j2": None},
    "another variety of the own language": {
        "_layouts/de/bye.j2": "Tschüs",
        "note/pl/subject.j2": None,
        "note/en-US/subject.j2": "Hi {{ name }}",
    },
    "in a language that nobody names": {
        "_layouts/de/bye.j2": "Tschüs",
        "_layouts/en/bye.j2": "Bye",
    },
    "not drawn in": {"_layouts/de/bye.j2": "Tschüs", "note/body.html.j2": "{{ name }}"},
}


@pytest.mark.parametrize("changes", NOTHING_LACKS.values(), ids=NOTHING_LACKS)
def test_a_mail_that_lacks_no_shared_words(tmp_path: Path, changes: dict[str, str | None]) -> None:
    assert open_shop(tmp_path, {**SHARED, **changes}).types.keys() == {"note"}
