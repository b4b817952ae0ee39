"""A template reaches its context alone, and its failure is told by file and line alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.model import Bad, Json
from tests.unit.catalogue.shop import MAIL, mail_of, message_of, note, open_shop
from tests.unit.catalogue.templates import EXTRA, LOOSE, failure, rendering

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
