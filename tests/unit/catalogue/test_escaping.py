"""Data is never markup: it is escaped once, and a link goes to a plain https host or nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from consumer.catalogue import Catalogue
from consumer.model import Json
from tests.unit.catalogue.shop import message_of, note, open_shop
from tests.unit.catalogue.templates import failure, rendering


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("O'Neil & Søn", "O&#39;Neil &amp; Søn"),
        ('<a href="https://evil.example">x</a>', "&lt;a href=&#34;https://evil.example&#34;&gt;"),
        ("{{ 7*7 }}{% raw %}", "{{ 7*7 }}{% raw %}"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ],
)
def test_html_is_escaped_and_text_and_subject_are_not(tmp_path: Path, name: str, html: str) -> None:
    message = message_of(open_shop(tmp_path), note(name=name))
    assert message.subject == f"Hello {name}"
    assert message.text == f"Dear {name}\n"
    assert html in message.html
    assert "<script" not in message.html
    assert "<a" not in message.html


def test_attributes_are_escaped(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, html='<p title="{{ name }}">x</p>')
    message = message_of(catalogue, note(name='" onmouseover="x'))
    assert message.html == '<p title="&#34; onmouseover=&#34;x">x</p>'


def test_macros_escape_once(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/m.html.j2": "{% macro bold(x, y='') %}<b>{{ x }}{{ y }}</b>{% endmacro %}",
        "note/body.html.j2": '{% from "_layouts/m.html.j2" import bold %}{{ bold(name, y="<") }}',
    }
    message = message_of(open_shop(tmp_path, files), note(name="<i>"))
    assert message.html == "<b>&lt;i&gt;&lt;</b>"


def test_a_macro_of_a_plain_file_is_no_html(tmp_path: Path) -> None:
    """What was printed without escaping is escaped where it comes into HTML."""
    files: dict[str, str | None] = {
        "_layouts/m.j2": "{% macro hello(x, y='!') %}Hello {{ x }}{{ y }}{% endmacro %}",
        "note/body.html.j2": '{% from "_layouts/m.j2" import hello %}{{ hello(name) }}'
        '{{ hello(name, "?") }}',
        "note/body.txt.j2": '{% from "_layouts/m.j2" import hello %}{{ hello(name, y=".") }}',
    }
    message = message_of(open_shop(tmp_path, files), note(name="<i>"))
    assert message.html == "Hello &lt;i&gt;!Hello &lt;i&gt;?"
    assert message.text == "Hello <i>.\n"


def test_macros_take_what_jinja_lets_them_take(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/m.html.j2": "{% macro box(x) %}[{{ caller(x) }}]{% endmacro %}"
        "{% macro all(x) %}{{ x }}{{ varargs | join }}{{ kwargs.z }}{% endmacro %}",
        "note/body.html.j2": '{% from "_layouts/m.html.j2" import all, box %}'
        "{% call(y) box(name) %}<b>{{ y }}</b>{% endcall %}{{ all(name, 'a', z='b') }}",
    }
    message = message_of(open_shop(tmp_path, files), note(name="&"))
    assert message.html == "[<b>&amp;</b>]&amp;ab"


GOOD_LINKS = {
    "https://shop.example/a?b=c&d=%20#e": "https://shop.example/a?b=c&amp;d=%20#e",
    "https://shop.example/größe": "https://shop.example/gr%C3%B6%C3%9Fe",
    "https://shop.example:8443/": "https://shop.example:8443/",
}
BAD_LINKS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "http://shop.example/",
    "//shop.example/",
    "/relative",
    "https:shop.example",
    "https://",
    "https://user:pw@evil.example/",
    "https://shop.example@evil.example/",
    "https://shop.example/ x",
    "https://shop.example/\nx",
    'https://shop.example/"onclick="x',
    "https://shop.example/<b>",
    "https://shop.example\\@evil.example/",
    "https://[::1",
    "https://sh\u043ep.example/",  # a Cyrillic o
    " https://shop.example/",
    500,
]


@pytest.mark.parametrize(("url", "written"), GOOD_LINKS.items())
def test_links(tmp_path: Path, url: str, written: str) -> None:
    html = '{% if extra %}<a href="{{ extra | link }}">{% endif %}{{ name }}'
    message = message_of(rendering(tmp_path, html=html), note(extra=url))
    assert message.html == f'<a href="{written}">Ada'


@pytest.fixture
def linking(tmp_path: Path) -> Catalogue:
    return rendering(
        tmp_path, html='{% if extra != "" %}<a href="{{ extra | link }}">{% endif %}{{ name }}'
    )


@pytest.mark.parametrize("url", BAD_LINKS)
def test_what_is_no_link(linking: Catalogue, url: Json) -> None:
    detail = failure(linking, extra=url)
    assert re.match(r"note/body\.html\.j2:1: not an https link to a plain host", detail)
    assert str(url) not in detail


def test_a_link_may_be_held_to_hosts(tmp_path: Path) -> None:
    link = """<a href="{{ extra | link('a.example', 'b.example') }}">"""
    catalogue = rendering(tmp_path, html="{% if extra %}" + link + "{% endif %}{{ name }}")
    message_of(catalogue, note(extra="https://b.example/x"))
    detail = failure(catalogue, extra="https://c.example/")
    assert "a host that the template does not name" in detail
