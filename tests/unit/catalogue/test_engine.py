"""The engine writes other Python than Jinja does: what a template means stays the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.catalogue.shop import message_of, note, open_shop

ITEMS = "{% set all = [{'a': 1}, {'a': 2}] %}"


def text(root: Path, files: dict[str, str | None]) -> str:
    """Render the text part of the small shop's mail to Ada with other files."""
    return message_of(open_shop(root, files), note()).text


def test_pieces_come_in_the_order_in_which_they_stand(tmp_path: Path) -> None:
    """Includes without context too, which Jinja hands on where all else is collected."""
    piece = "{% include '_layouts/piece.j2' without context %}"
    files: dict[str, str | None] = {
        "_layouts/piece.j2": "piece",
        "_layouts/named.j2": "<{{ name }}>",
        "_layouts/frame.j2": "1{% block a %}2{% endblock %}3" + piece + "5",
        "note/body.txt.j2": "{% extends '_layouts/frame.j2' %}{% block a %}[{{ name }}"
        + piece
        + "|{% include '_layouts/named.j2' %}]{% endblock %}",
    }
    assert text(tmp_path, files) == "1[Adapiece|<Ada>]3piece5\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{% for c in name recursive %}{{ c }}{{ loop([]) }}{% endfor %}", "Ada"),
        ("{% filter upper %}{{ name }}{% endfilter %}", "ADA"),
        ("{% set x %}<{{ name }}>{% endset %}{{ x }}{{ x }}", "<Ada><Ada>"),
        ("{% with x = {'a': {'b': name}} %}{{ x.a.b }}{% endwith %}", "Ada"),
        ("{{ 'y' if {'a': 1}.b is defined else name }}", "Ada"),
        ("{{ {'a': 1}.b | default(name) }}", "Ada"),
        ("{% set n = namespace(x=1) %}{% set n.x = name %}{{ n.x }}", "Ada"),
        ("{% macro m(x=name) %}({{ x }}){% endmacro %}{{ m() }}{{ m('b') }}", "(Ada)(b)"),
        ("{{ {'keys': {'items': name}}.keys.items }}{{ name.upper() }}", "AdaADA"),
        (ITEMS + "{% for x in all if x.a > 1 %}{{ x.a }}{{ name }}{% endfor %}", "2Ada"),
        (ITEMS + "{{ all | map(attribute='a') | join }}{{ name }}", "12Ada"),
        ("{% block a scoped %}{{ name }}{% endblock %}{{ self.a() }}", "AdaAda"),
        ("{% set name = 'Eve' %}{% block a %}{{ name }}{% endblock %}", "Eve"),
    ],
)
def test_a_template_says_what_jinja_reads(tmp_path: Path, body: str, said: str) -> None:
    assert text(tmp_path, {"note/body.txt.j2": body}) == f"{said}\n"
