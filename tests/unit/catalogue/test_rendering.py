"""Rendering: escaping per part, nothing evaluated, nothing left blank, nothing let through."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consumer.catalogue import Catalogue
from consumer.model import Address, Bad, Json, Message, Reason
from tests.unit.catalogue.shop import MAIL, mail_of, message_of, note, open_shop

EXTRA = MAIL + 'extra = { path = "extra", default = "" }\n'
USES_EXTRA = "{{ name }}{% if false %}{{ extra }}{% endif %}"


def rendering(root: Path, **parts: str) -> Catalogue:
    """Open the small shop with other templates; `extra` is in the context."""
    files: dict[str, str | None] = {
        "note/mail.toml": EXTRA,
        "note/body.txt.j2": USES_EXTRA,
        "note/v1.schema.json": LOOSE,
    }
    names = {"subject": "subject.j2", "text": "body.txt.j2", "html": "body.html.j2"}
    return open_shop(root, {**files, **{f"note/{names[p]}": t for p, t in parts.items()}})


LOOSE = """{
  "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
  "required": ["id", "to", "name"],
  "properties": {"id": {"type": "string"}, "to": {"type": "string"}, "name": {"type": "string"},
                 "extra": {}}
}"""


def failure(catalogue: Catalogue, **changes: Any) -> str:
    mail = mail_of(catalogue, note(**changes))
    bad = catalogue.render(mail)
    assert isinstance(bad, Bad), bad
    assert bad.reason is Reason.INVALID
    assert (bad.event_type, bad.idempotency_key) == ("note", mail.key)
    return bad.detail


def test_a_message(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path)
    message = message_of(catalogue, note())
    assert message == Message(
        key=message.key,
        mail_type="note",
        sender=Address("hello@shop.example", "Shop"),
        to=Address("ada@example.com"),
        subject="Hello Ada",
        text="Dear Ada\n",
        html="<p>Dear Ada</p>",
        message_id=f"<{message.key}@shop.example>",
        headers=(("Auto-Submitted", "auto-generated"),),
    )


def test_what_a_type_adds(tmp_path: Path) -> None:
    text = (
        'reply_to = "Help Desk <help@shop.example>"\ntags = ["a", "b"]\nstream = "receipts"\n'
        'ip_pool = "one"\ntrack_opens = true\n' + MAIL + '[headers]\nX-Kind = "note"\n'
    )
    message = message_of(open_shop(tmp_path, {"note/mail.toml": text}), note())
    assert message.reply_to == Address("help@shop.example", "Help Desk")
    assert message.tags == ("a", "b")
    assert message.options == {"stream": "receipts", "ip_pool": "one"}
    assert (message.track_opens, message.track_clicks) == (True, False)
    assert message.headers == (("Auto-Submitted", "auto-generated"), ("X-Kind", "note"))


def test_a_type_may_say_auto_submitted_itself(tmp_path: Path) -> None:
    text = MAIL + '[headers]\nauto-submitted = "no"\n'
    message = message_of(open_shop(tmp_path, {"note/mail.toml": text}), note())
    assert message.headers == (("auto-submitted", "no"),)


def test_the_same_mail_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two catalogues of one folder are two workers: their messages are equal."""
    first = open_shop(tmp_path, {"note/one.md": "first"})
    second = open_shop(tmp_path, {"note/one.md": "second"})
    assert first is not second

    @given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=BREAKERS)))
    @settings(max_examples=60, deadline=None)
    def same(name: str) -> None:
        event = note(name=name)
        assert first.render(mail_of(first, event)) == second.render(mail_of(second, event))

    same()


BREAKERS = "\u2028\u2029"


# ── Escaping


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


def test_layouts_blocks_and_includes(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/f.html.j2": "<p>{% block a %}A{{ name }}{% endblock %}</p>{{ self.a() }}",
        "_layouts/i.html.j2": "<i>{{ name }}</i>",
        "note/body.html.j2": '{% extends "_layouts/f.html.j2" %}{% block a %}{{ super() }}'
        '{% include "_layouts/i.html.j2" %}{% endblock %}',
    }
    message = message_of(open_shop(tmp_path, files), note(name="&"))
    once = "A&amp;<i>&amp;</i>"
    assert message.html == f"<p>{once}</p>{once}"


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


# ── The sandbox

ESCAPES = [
    "{{ name.__class__.__mro__ }}",
    "{{ ''.__class__ }}",
    "{{ name.__init__.__globals__ }}",
    "{{ self.__init__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ (name.format)('{0.__class__}', name) }}{{ '{0.__class__.__mro__}'.format(name) }}",
    "{{ extra.append(1) }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ range(10000000) | list }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_the_sandbox_holds(tmp_path: Path, template: str) -> None:
    html = "{{ name }}{% if extra %}" + template + "{% endif %}"
    detail = failure(rendering(tmp_path, html=html), extra=["x"])
    assert detail.startswith("note/body.html.j2:1: ")


def test_nothing_random_nothing_timed(tmp_path: Path) -> None:
    """What a template could vary by is not there."""
    for name in ("lipsum", "now", "random", "uuid"):
        with pytest.raises(Exception, match="not in"):
            rendering(tmp_path / name, html="{{ name }}{{ " + name + "() }}")


# ── Nothing blank, nothing missing


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "Hi friend"),
        (True, "a boolean cannot be printed"),
        ([], "a list cannot be printed"),
        ({"a": 1}, "a dict cannot be printed"),
    ],
)
def test_no_python_in_a_mail(tmp_path: Path, value: Json, said: str) -> None:
    """None of None, True, [] and {} is ever printed."""
    text = MAIL + 'extra = { path = "extra", default = "friend" }\n'
    files: dict[str, str | None] = {
        "note/mail.toml": text,
        "note/v1.schema.json": LOOSE,
        "note/body.txt.j2": "{{ name }}\nHi {{ extra }}",
    }
    catalogue = open_shop(tmp_path, files)
    rendered = catalogue.render(mail_of(catalogue, note(extra=value)))
    if isinstance(rendered, Bad):
        assert rendered.detail == f"note/body.txt.j2:2: {said}"
    else:
        assert said in rendered.text


def test_null_inside_an_object_is_not_printed(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}\n{{ extra.a }}{% endif %}")
    assert failure(catalogue, extra={"a": None}) == "note/body.txt.j2:2: null cannot be printed"


def test_a_missing_member_names_file_and_line(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}\n\n{{ extra.nmae }}{% endif %}")
    assert failure(catalogue, extra={"a": 1}) == "note/body.txt.j2:3: 'nmae' is undefined"


def test_a_missing_member_that_the_event_chose_is_not_named(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, text='{{ name }}{% if extra %}{{ {"a": 1}[extra] }}{% endif %}')
    assert failure(catalogue, extra="s3cret") == "note/body.txt.j2:1: 'a member' is undefined"


def test_a_failure_inside_a_layout_names_the_layout(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/part.j2": "x\n{{ extra.a.b }}",
        "note/mail.toml": EXTRA,
        "note/v1.schema.json": LOOSE,
        "note/body.txt.j2": '{{ name }}{% if extra %}{% include "_layouts/part.j2" %}{% endif %}',
    }
    assert failure(open_shop(tmp_path, files), extra={"b": 1}) == (
        "_layouts/part.j2:2: 'a' is undefined"
    )


def test_any_other_failure_names_its_kind_only(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}{{ 1 // extra.n }}{% endif %}")
    detail = failure(catalogue, extra={"n": 0})
    assert detail == "note/body.txt.j2:1: failed with ZeroDivisionError"


def test_money_and_dates_fail_by_line_without_values(tmp_path: Path) -> None:
    uses = "\n{{ extra.n | money(extra.c) }}\n{{ extra.d | date }}"
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}" + uses + "{% endif %}")
    assert failure(catalogue, extra={"n": 19.99, "c": "EUR", "d": "2026-03-01"}) == (
        "note/body.txt.j2:2: an amount is an integer of minor units, not a float"
    )
    detail = failure(catalogue, extra={"n": 1, "c": "s3cret", "d": "2026-03-01"})
    assert detail == "note/body.txt.j2:2: the currency is not a current ISO 4217 code"
    detail = failure(catalogue, extra={"n": 1, "c": "EUR", "d": "s3cret"})
    assert detail.startswith("note/body.txt.j2:3: a time is RFC 3339")


def test_one_bad_event_leaves_the_others(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}{{ extra.a.b }}{% endif %}")
    failure(catalogue, extra={"x": 1})
    message_of(catalogue, note())


def test_a_member_named_like_a_method_is_the_member(tmp_path: Path) -> None:
    loop = "{% for one in extra.items %}[{{ one.keys }}]{% endfor %}"
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}" + loop + "{% endif %}")
    message = message_of(catalogue, note(extra={"items": [{"keys": "k"}]}))
    assert message.text == "Ada[k]\n"


# ── The subject


BREAKS = ["\r", "\n", "\r\n", "\t", "\u2028", "\u2029", "\x85", "\x1c"]


@pytest.mark.parametrize("character", BREAKS)
def test_a_line_break_from_data_is_refused_in_the_subject(tmp_path: Path, character: str) -> None:
    detail = failure(open_shop(tmp_path), name=f"a{character}Bcc: eve@example.com")
    assert re.match(r"note(/subject\.j2:1)?: .*control character", detail)
    assert "eve" not in detail


def test_the_templates_own_line_breaks_are_spaces(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, subject="\n Hello\n   {{ name }}\t!\n\n")
    assert message_of(catalogue, note()).subject == "Hello Ada !"


def test_a_long_subject_is_refused_not_cut(tmp_path: Path) -> None:
    """Cutting would break a family emoji apart; a subject this long is a body in its place."""
    catalogue = open_shop(tmp_path)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert message_of(catalogue, note(name=family * 40)).subject.endswith(family)
    assert failure(catalogue, name=family * 60) == "note: the subject is longer than 255 characters"


@pytest.mark.parametrize("part", ["subject", "text", "html"])
def test_an_empty_part_is_no_mail(tmp_path: Path, part: str) -> None:
    templates = {"text": USES_EXTRA, part: "{% if not extra %}" + USES_EXTRA + "{% endif %} \n"}
    assert "empty" in failure(rendering(tmp_path, **templates), extra="x")


# ── Direction and control characters


@pytest.mark.parametrize("control", ["\u202e", "\u202a", "\u2066", "\u2069", "\u200f", "\u061c"])
def test_overrides_of_the_writing_direction_are_taken_out(tmp_path: Path, control: str) -> None:
    """An override in a name would turn the rest of the receipt around."""
    catalogue = open_shop(tmp_path)
    message = message_of(catalogue, note(name=f"{control}adA"))
    assert (message.subject, message.text, message.html) == (
        "Hello adA",
        "Dear adA\n",
        "<p>Dear adA</p>",
    )
    assert mail_of(catalogue, note(name=f"{control}adA")).context["name"] == f"{control}adA"


def test_what_runs_from_right_to_left_is_isolated(tmp_path: Path) -> None:
    message = message_of(open_shop(tmp_path), note(name="نورة"))
    assert message.subject == "Hello \u2068نورة\u2069"
    assert message.html == "<p>Dear \u2068نورة\u2069</p>"


def test_the_language_and_direction_of_the_mail(tmp_path: Path) -> None:
    text = 'locale = "nick"\n' + MAIL
    html = "{{ lang }} {{ dir }} {{ subject }} {{ name }}"
    catalogue = open_shop(tmp_path, {"note/mail.toml": text, "note/body.html.j2": html})
    assert message_of(catalogue, note(nick="he-IL")).html == "he-IL rtl Hello Ada Ada"
    assert message_of(catalogue, note()).html == "en ltr Hello Ada Ada"


@pytest.mark.parametrize("control", ["\x00", "\x07", "\x1b", "\x7f", "\x9f"])
def test_control_characters_are_refused_everywhere(tmp_path: Path, control: str) -> None:
    catalogue = rendering(tmp_path, subject="x")
    assert failure(catalogue, name=f"a{control}b") == "note: the context holds a control character"


def test_emoji_and_accents_pass(tmp_path: Path) -> None:
    name = "Zoë 👩🏽\u200d💻 e\u0301"
    message = message_of(open_shop(tmp_path), note(name=name))
    assert name in message.subject
    assert name in message.text
    assert name in message.html


def test_text_reads_well(tmp_path: Path) -> None:
    """Loops and conditions leave no gaps; line ends are those of one system."""
    catalogue = rendering(tmp_path, text="\n\n{{ name }}  \n\n\n\n\n{{ extra }}\n\n")
    assert message_of(catalogue, note(extra="a\r\nb\rc")).text == "Ada\n\na\nb\nc\n"
