"""A mail written from right to left keeps what is written from left to right together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from consumer.catalogue import Catalogue
from consumer.catalogue.bidi import kept_together, without_marks_in_tags
from consumer.model import Message
from tests.unit.catalogue.shop import message_of, note, open_shop
from tests.unit.catalogue.templates import EXTRA, LOOSE

ARABIC = 'locale = { value = "ar" }\n' + EXTRA
RLM, FSI, PDI = "\u200f", "\u2068", "\u2069"


def arabic(root: Path, **files: str) -> Catalogue:
    files["text"] = files.get("text", "{{ name }}") + "{% if false %}{{ extra }}{% endif %}"
    names = {"subject": "subject.j2", "text": "body.txt.j2", "html": "body.html.j2"}
    changes = {f"note/{names[part]}": text for part, text in files.items()}
    return open_shop(
        root,
        {
            "note/mail.toml": ARABIC,
            "note/v1.schema.json": LOOSE,
            **changes,
        },
    )


def written(catalogue: Catalogue, **values: Any) -> Message:
    return message_of(catalogue, note(**values))


@pytest.mark.parametrize(
    ("text", "isolated"),
    [
        ("A-1001", True),
        ("Field notebook (dotted, A5)", True),
        ("1.234", True),
        ("KNET", False),  # one word turns nothing
        ("حقيبة جلدية", False),  # runs with the rest
        ("https://shop.example/a", False),  # would be part of the link where it is copied
        (f"{FSI}حقيبة A-1{PDI}", False),  # isolated already
        ("", False),
        ("— · —", False),
    ],
)
def test_what_is_isolated(text: str, isolated: bool) -> None:  # noqa: FBT001 - one of a table's columns
    assert kept_together(text) == (f"{FSI}{text}{PDI}" if isolated else text)


def test_values_are_isolated_in_every_part(tmp_path: Path) -> None:
    catalogue = arabic(
        tmp_path, subject="طلب {{ name }}", html="<b>{{ name }}</b> {{ 5 | number }}"
    )
    message = written(catalogue, name="A-1001 & co.")
    assert message.subject == f"طلب {FSI}A-1001 & co.{PDI}"
    assert message.text == f"{RLM}{FSI}A-1001 & co.{PDI}\n"
    assert message.html == f"<b>{FSI}A-1001 &amp; co.{PDI}</b> {FSI}5{PDI}"


def test_templates_compare_what_the_event_says(tmp_path: Path) -> None:
    text = "{{ name }}{% if extra == 'bank transfer 2' %}: OK{% endif %}"
    assert ": OK" in written(arabic(tmp_path, text=text), extra="bank transfer 2").text


def test_no_mark_gets_into_a_tag(tmp_path: Path) -> None:
    """A link that stands behind a fixed beginning leads where it should, in either direction."""
    html = '<a href="https://shop.example/{{ name }}" title="{{ name }}">{{ name }}</a>'
    message = written(arabic(tmp_path / "a", html=html), name="A-1")
    assert message.html == f'<a href="https://shop.example/A-1" title="A-1">{FSI}A-1{PDI}</a>'
    english = open_shop(tmp_path / "b", {"note/body.html.j2": html})
    assert 'href="https://shop.example/طلب"' in message_of(english, note(name="طلب")).html
    assert without_marks_in_tags("<p>a</p>") == "<p>a</p>"


def test_a_link_with_letters_from_right_to_left_is_a_link(tmp_path: Path) -> None:
    html = '<a href="{{ name | link }}">x</a>'
    catalogue = open_shop(
        tmp_path,
        {
            "note/body.html.j2": html,
            "note/examples/one.json": (
                '{"type": "note", "id": "N1", "to": "a@example.com", "name": "https://shop.example/"}'
            ),
        },
    )
    found = message_of(catalogue, note(name="https://shop.example/طلب")).html
    assert found == '<a href="https://shop.example/%D8%B7%D9%84%D8%A8">x</a>'


def test_every_line_of_the_text_runs_from_right_to_left(tmp_path: Path) -> None:
    """But a link: a mark before it would be copied with it."""
    text = "{{ name }}\n\nhttps://shop.example/\n  * x\n\n"
    assert written(arabic(tmp_path, text=text), name="Ada").text == (
        f"{RLM}Ada\n\nhttps://shop.example/\n{RLM}  * x\n"
    )


def test_macros_of_words_are_isolated_once(tmp_path: Path) -> None:
    text = "{% macro hi(a) %}أهلا {{ a }}!{% endmacro %}{{ hi(name) }}"
    assert written(arabic(tmp_path, text=text), name="A 1").text == f"{RLM}أهلا {FSI}A 1{PDI}!\n"


def test_a_mail_from_left_to_right_has_no_marks(tmp_path: Path) -> None:
    message = message_of(open_shop(tmp_path), note(name="A-1001 (x)"))
    assert FSI not in message.subject + message.text + message.html
