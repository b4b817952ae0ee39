"""Null makes no text, whatever a template makes texts with: no mail says "Hi None"."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.catalogue.templates import failure, rendering
from tests.unit.catalogue.test_engine import text

WAYS = [
    "{{ extra.it | upper }}",
    "{{ extra.it | trim }}",
    "{{ extra.it | string }}",
    "{{ extra.it | e }}",
    "{{ extra.it | title }}",
    "{{ extra.it | truncate(20) }}",
    "{{ extra.it | urlencode }}",
    "{{ extra.it | wordwrap(20) }}",
    "{{ 'Hi ' ~ extra.it }}",
    "{{ [name, extra.it] | join(', ') }}",
    "{{ [{'a': extra.it}] | join(', ', attribute='a') }}",
    "{{ 'Hi %s' % extra.it }}",
    "{{ 'Hi %s %s' % (name, extra.it) }}",
    "{{ 'Hi %s' | format(extra.it) }}",
    "{{ 'Hi {}'.format(extra.it) }}",
    "{% set greeting = 'Hi ' ~ extra.it %}{{ greeting }}",
]


@pytest.mark.parametrize("template", WAYS)
@pytest.mark.parametrize("value", [None, True, [1]], ids=["null", "true", "a list"])
def test_what_cannot_be_printed_makes_no_text(tmp_path: Path, template: str, value: object) -> None:
    for_eve = "{% if name == 'Eve' %}" + template + "{% endif %}"  # the example is Ada's
    catalogue = rendering(tmp_path, text="{{ name }}" + for_eve)
    assert "cannot be printed" in failure(catalogue, name="Eve", extra={"it": value})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "{% set nobody = '' %}{{ nobody | default('nobody', true) | upper }}{{ name }}",
            "NOBODYAda",
        ),
        ("{% if name %}{% set it = name ~ '!' %}{{ it }}{% endif %}", "Ada!"),
        ("{{ 'Hi ' ~ name ~ ', ' ~ 5 }}", "Hi Ada, 5"),
        ("{{ [name, 5] | join('-') }}", "Ada-5"),
        ("{{ [{'a': name}, {'a': 2}] | join('-', attribute='a') }}", "Ada-2"),
        ("{{ name | replace('A', 'E') | upper | truncate(2, true, '', 0) }}", "ED"),
        ("{{ {'q': name} | urlencode }}", "q=Ada"),
        ("{{ '%s, %05.1f' % (name, 2.25) }}", "Ada, 002.2"),
    ],
)
def test_everything_else_is_as_it_was(tmp_path: Path, body: str, said: str) -> None:
    assert text(tmp_path, {"note/body.txt.j2": body}) == said + "\n"


def test_null_is_put_in_the_place_of_nothing(tmp_path: Path) -> None:
    replacing = "{% if name == 'Eve' %}{{ name | replace('Eve', extra.it) }}{% endif %}"
    catalogue = rendering(tmp_path, text="{{ name }}" + replacing)
    assert failure(catalogue, name="Eve", extra={"it": None}).endswith("null cannot be printed")
