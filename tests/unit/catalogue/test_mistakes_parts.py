"""A mistake in a schema, a template or an example stops the start, and is told by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.catalogue.shop import EXAMPLE, SCHEMA, mistakes, open_shop


def schema(**properties: Any) -> str:
    return json.dumps({**SCHEMA, "properties": {**SCHEMA["properties"], **properties}})


SCHEMAS = {
    "not JSON": ('{\n "type": \n', "note/v1.schema.json:3: not JSON"),
    "bottomless": ("[" * 100_000, "note/v1.schema.json: is nested too deeply"),
    "not an object": ('{"type": "array"}', 'it says "type": "object"'),
    "other dialect": (
        '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}',
        '"$schema" must be',
    ),
    "unknown type": (
        schema(name={"type": "text"}),
        'at /properties/name/type: "text" is no type: write string, integer, number, boolean',
    ),
    "unknown format": (
        schema(name={"format": "emial"}),
        "at /properties/name/format: Unknown format: 'emial'; write date, date-time, email, uri",
    ),
    "misspelt keyword": (
        schema(name={"minLenght": 1}),
        "/name/minLenght: JSON Schema 2020-12 has no such keyword; did you mean minLength?",
    ),
    "misspelt further down": (
        schema(extra={"type": "object", "allOf": [{"items": {"requird": []}}]}),
        "at /properties/extra/allOf/0/items/requird: ",
    ),
    "bad pattern": (schema(name={"pattern": "("}), "at /properties/name/pattern"),
    "reference elsewhere": (schema(name={"$ref": "https://x.example/y"}), "Retrieval is disabled"),
}


@pytest.mark.parametrize(("text", "expected"), SCHEMAS.values(), ids=SCHEMAS.keys())
def test_schemas(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {"note/v1.schema.json": text}) if expected in line]


def test_what_only_looks_like_a_keyword_is_none(tmp_path: Path) -> None:
    """Names of members, values that are listed, and notes of one's own."""
    loose = {"type": "object", "properties": {"minLenght": {}}, "x-owner": "shop"}
    text = schema(extra={**loose, "enum": [{"requird": 1}], "examples": [{"tipe": 1}]})
    open_shop(tmp_path, {"note/v1.schema.json": text})


HTML = "note/body.html.j2"
TEMPLATES = {
    "unknown variable": ("\n{{ nmae }}{{ name }}", f"{HTML}:2: 'nmae' is not in [context] of note"),
    "syntax": ("\n\n{% if name %}", f"{HTML}:3: Unexpected end of template"),
    "unknown filter": ("\n{{ name | shout }}", f"{HTML}:2: No filter named 'shout'."),
    "withheld filter": ("{{ name | safe }}", f"{HTML}:1: No filter named 'safe'."),
    "random filter": ("{{ name | random }}", f"{HTML}:1: No filter named 'random'."),
    "escaping off": (
        "{% autoescape false %}{{ name }}{% endautoescape %}",
        f"{HTML}:1: the escaping cannot be switched",
    ),
    "no such layout": (
        '{{ name }}\n{% include "_layouts/x.j2" %}',
        f"{HTML}:2: there is no template '_layouts/x.j2'",
    ),
    "dynamic include": ("{% include name %}", f"{HTML}:1: name the template in quotes"),
    "script": ("{{ name }}\n<script>", f"{HTML}:2: '<script' has no place in a mail"),
    "handler": ('{{ name }}<p onclick="x">', f"{HTML}:1: 'onclick=' has no place in a mail"),
    "unchecked link": ('<a href="{{ name }}">', f"{HTML}:1: a link's value goes through"),
    "unchecked link, unquoted": ("<a href={{ name }}>", f"{HTML}:1: a link's value goes through"),
    "unchecked image": ("\n<img src='{{ name }}'>", f"{HTML}:2: a link's value goes through"),
    "half a link": ('<a href="java{{ name }}">', f"{HTML}:1: a link's value goes through"),
    "link in a branch": (
        '<a href="{% if name %}{{ name }}{% endif %}">',
        f"{HTML}:1: a link's value goes through",
    ),
    "host from data": ('<a href="https://{{ name }}">', f"{HTML}:1: a link's value goes through"),
}


@pytest.mark.parametrize(("text", "expected"), TEMPLATES.values(), ids=TEMPLATES.keys())
def test_templates(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {HTML: text}) if expected in line]


ONE = "note/examples/one.json"
EXAMPLES = {
    "not JSON": ("{\n\n?", f"{ONE}:3: not JSON: "),
    "no object": ("7", f"{ONE}: malformed: "),
    "invalid": (json.dumps({**EXAMPLE, "name": 5}), f"{ONE}: invalid: /name: type (string)"),
    "recipient": (json.dumps({**EXAMPLE, "to": "ada"}), f"{ONE}: invalid: /to: "),
    "does not render": (
        json.dumps({**EXAMPLE, "name": "a\nb"}),
        f"{ONE}: invalid: note/subject.j2:1",
    ),
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_examples(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {ONE: text}) if line.startswith(expected)]


def test_what_a_module_sets_is_its_own(tmp_path: Path) -> None:
    """A layout that imports `name` from elsewhere neither uses nor hides the mail's own `name`."""
    module = '{% set name = "Shop" %}{% macro hello() %}{{ name }}{% endmacro %}'
    text = '{% import "_layouts/m.j2" as m %}{{ m.hello() }}'
    parts = dict.fromkeys(("note/subject.j2", "note/body.txt.j2", HTML), text)
    [line] = mistakes(tmp_path / "a", {"_layouts/m.j2": module, **parts})
    assert line.startswith("note/mail.toml:8: context.name: no template prints it")
    files = {"_layouts/m.j2": module, HTML: text, "_layouts/x.j2": "{{ oops }}{% set y = 1 %}"}
    open_shop(tmp_path / "b", files)
    used = '{% from "_layouts/x.j2" import y %}{{ name }}'
    assert "_layouts/x.j2:1: 'oops' is not in" in mistakes(tmp_path / "c", {**files, HTML: used})[0]


def test_a_template_may_set_what_its_layout_prints(tmp_path: Path) -> None:
    layout = "{{ title }} {% block body %}{% endblock %}"
    text = (
        '{% extends "_layouts/l.j2" %}{% set title = name %}'
        "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}"
        "{% block body %}{{ twice(title) }}{% endblock %}"
    )
    open_shop(tmp_path, {"_layouts/l.j2": layout, "note/body.txt.j2": text})


def test_a_path_must_hold_in_every_version(tmp_path: Path) -> None:
    second = json.dumps({**SCHEMA, "required": ["id", "to"]})
    [line] = mistakes(tmp_path, {"note/v2.schema.json": second})
    assert line.startswith(
        "note/mail.toml:8: context.name: 'name' may be absent or null (v2.schema"
    )
