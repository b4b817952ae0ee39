"""Every mistake in a catalogue stops the start, with file and line, all of them at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from consumer.catalogue import CatalogueErrors, TopicRule
from tests.unit.catalogue.shop import DAY, EXAMPLE, MAIL, SCHEMA, open_shop
from tests.unit.catalogue.shop import FILES as SHOP


def mistakes(root: Path, changes: dict[str, str | None], **options: Any) -> list[str]:
    with pytest.raises(CatalogueErrors) as caught:
        open_shop(root, changes, **options)
    return [str(problem) for problem in caught.value.problems]


def schema(**properties: Any) -> str:
    return json.dumps({**SCHEMA, "properties": {**SCHEMA["properties"], **properties}})


MAIL_TOML = {
    "not TOML": (MAIL + "x = = 1\n", "note/mail.toml:9: not TOML"),
    "unknown member": (
        MAIL.replace("sender", "sendr"),
        "note/mail.toml:5: sendr: unknown member; did you mean sender?",
    ),
    "missing member": (
        MAIL.replace('max_age = "7d"\n', ""),
        "note/mail.toml: max_age: is missing",
    ),
    "duration": (MAIL.replace("7d", "a week"), "note/mail.toml:4: max_age: write a duration"),
    "path": (MAIL.replace('"id"', '"a..b"'), "note/mail.toml:2: entity_id: not a path: 'a..b'"),
    "unknown path": (
        MAIL.replace('name = "name"', 'name = "nmae"'),
        "note/mail.toml:8: context.name: unknown path 'nmae': v1.schema.json does not have it",
    ),
    "path of the recipient": (
        MAIL.replace('"to"', '"nick"'),
        "note/mail.toml:3: recipient: 'nick' may be absent or null (v1.schema.json): require it",
    ),
    "nullable without fallback": (
        MAIL.replace('name = "name"', 'name = "nick"'),
        'null (v1.schema.json): require it there, or write { path = "...", default = ... } here',
    ),
    "odd source": (
        MAIL.replace('"name"', '{ paht = "name" }'),
        'note/mail.toml:8: context.name: write "path"',
    ),
    "unused": (
        MAIL + 'nick = { path = "nick", default = "" }\n',
        "note/mail.toml:9: context.nick: no template prints it",
    ),
    "reserved name": (MAIL + 'lang = "name"\n', "note/mail.toml:7: context: 'lang' is given"),
    "odd name": (MAIL + 'my-name = "name"\n', "note/mail.toml:7: context: 'my-name' cannot be"),
    "unknown sender": (
        MAIL.replace('sender = "shop"', 'sender = "spam"'),
        "note/mail.toml:5: there is no [senders.spam]",
    ),
    "unknown provider": (
        'providers = ["pigeon"]\n' + MAIL,
        "note/mail.toml:1: there is no [providers.pigeon]",
    ),
    "provider twice": (
        'providers = ["file", "file"]\n' + MAIL,
        "note/mail.toml:1: providers: named",
    ),
    "reply_to": ('reply_to = "nobody"\n' + MAIL, "note/mail.toml:1: reply_to: there is no"),
    "reply_to address": ('reply_to = "a b@x.y"\n' + MAIL, "note/mail.toml:1: reply_to:"),
    "priority": ('priority = "urgent"\n' + MAIL, "note/mail.toml:1: priority: Input should be"),
    "active_from": (
        "active_from = 2026-01-01T00:00:00\n" + MAIL,
        "note/mail.toml:1: active_from: Input should have timezone info",
    ),
    "header of ours": (
        MAIL + '[headers]\nSubject = "x"\n',
        "note/mail.toml:9: headers: header 'Subject' is written by the service itself",
    ),
    "header injection": (
        MAIL + '[headers]\nX-A = "x\\r\\nBcc: y"\n',
        "note/mail.toml:9: headers: header 'X-A': plain ASCII on one line only",
    ),
    "tracking": ('track_opens = "no"\n' + MAIL, "note/mail.toml:1: track_opens: Input should be"),
    "tag": ('tags = ["a b"]\n' + MAIL, "note/mail.toml:1: tags.0: String should match"),
    "locale": ('locale = { value = "xx" }\n' + MAIL, "note/mail.toml:1: locale: there is no 'xx'"),
    "zone": (
        'timezone = { path = "nick", default = "Mars/Olympus" }\n' + MAIL,
        "note/mail.toml:1: timezone: there is no 'Mars/Olympus'",
    ),
    "sensitive envelope": (
        'sensitive = ["@subject"]\n' + MAIL,
        "note/mail.toml:1: @subject: only data can be",
    ),
    "sensitive path": (
        'sensitive = ["secret"]\n' + MAIL,
        "note/mail.toml:1: sensitive: unknown path 'secret'",
    ),
    "pick": (
        MAIL.replace('"name"', '{ path = "name", pick = ["first"] }'),
        "note/mail.toml:8: context.name: picks 'first', which no schema has below 'name'",
    ),
    "not yet: key history": (
        MAIL + "[[key]]\nsince = 1\n",
        "note/mail.toml:9: key: unknown member",
    ),
}


@pytest.mark.parametrize(("text", "expected"), MAIL_TOML.values(), ids=MAIL_TOML.keys())
def test_mail_toml(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {"note/mail.toml": text}) if expected in line]


SCHEMAS = {
    "not JSON": ('{\n "type": \n', "note/v1.schema.json:3: not JSON"),
    "not an object": ('{"type": "array"}', 'it says "type": "object"'),
    "other dialect": (
        '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}',
        '"$schema" must be',
    ),
    "unknown type": (
        schema(name={"type": "text"}),
        "note/v1.schema.json: at /properties/name/type",
    ),
    "unknown format": (schema(name={"format": "emial"}), "at /properties/name/format"),
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
    "not JSON": ("{", f"{ONE}: malformed: "),
    "invalid": (json.dumps({**EXAMPLE, "name": 5}), f"{ONE}: invalid: /name: type (string)"),
    "recipient": (json.dumps({**EXAMPLE, "to": "ada"}), f"{ONE}: invalid: /to: "),
    "another type": (json.dumps({**EXAMPLE, "type": "x"}), f"{ONE}: unknown_type: "),
    "does not render": (
        json.dumps({**EXAMPLE, "name": "a\nb"}),
        f"{ONE}: invalid: note/subject.j2:1",
    ),
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_examples(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {ONE: text}) if line.startswith(expected)]


FILES = {
    "note/mail.toml": "note/mail.toml: is missing",
    "note/subject.j2": "note/subject.j2: is missing",
    "note/body.txt.j2": "note/body.txt.j2: is missing",
    "note/body.html.j2": "note/body.html.j2: is missing",
    "note/v1.schema.json": "note/v1.schema.json: is missing",
    "note/examples/one.json": "note/examples: is empty",
}


@pytest.mark.parametrize(("file", "expected"), FILES.items())
def test_missing_files(tmp_path: Path, file: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {file: None}) if line.startswith(expected)]


@pytest.mark.parametrize("file", ["note/body.htm.j2", "note/v0.schema.json", "note/de/subject.j2"])
def test_a_file_that_no_folder_has(tmp_path: Path, file: str) -> None:
    """A misspelt file is told, not passed over."""
    assert any(line.startswith(f"{file}: is not a file") for line in mistakes(tmp_path, {file: ""}))


def test_notes_and_hidden_files_do_not_matter(tmp_path: Path) -> None:
    open_shop(tmp_path, {"note/README.md": "x", "note/.swp": "x", "note/mail.toml~": "x"})


def test_max_age_leaves_a_day_of_retention(tmp_path: Path) -> None:
    """What the guard has forgotten is too old to send: else a rewind mails again."""
    open_shop(tmp_path / "a", retention=8 * DAY)
    [line] = mistakes(tmp_path / "b", {}, retention=8 * DAY - 1)
    assert line.startswith("note/mail.toml:4: max_age: at most the guard's retention less one day")


def test_sensitive_types_need_a_key(tmp_path: Path) -> None:
    text = 'sensitive = ["name"]\n' + MAIL
    [line] = mistakes(tmp_path, {"note/mail.toml": text}, fingerprint_key=None)
    assert line == "note/mail.toml:1: sensitive: needs fingerprint_key in [guard]"


def test_one_folder_for_one_event(tmp_path: Path) -> None:
    """Two folders on one topic and event type would be two mails for one event."""
    twin: dict[str, str | None] = {
        name.replace("note/", "twin/"): text for name, text in SHOP.items()
    }
    lines = mistakes(tmp_path, {**twin, "twin/mail.toml": 'on = "note"\n' + MAIL})
    assert "twin/mail.toml:1: note/ listens to 'note' on this topic already" in lines


def test_topic_rules_that_contradict_the_folders(tmp_path: Path) -> None:
    rules = {"orders": TopicRule(ignore=frozenset({"note"})), "odrers": TopicRule()}
    assert mistakes(tmp_path, {}, topics=rules) == [
        'configuration: [topics."odrers"]: no folder listens to it',
        "configuration: [topics.\"orders\"] ignores 'note', which a folder listens to",
    ]


def test_what_a_module_sets_is_its_own(tmp_path: Path) -> None:
    """A layout that imports `name` from elsewhere neither uses nor hides the mail's own `name`."""
    module = '{% set name = "Shop" %}{% macro hello() %}{{ name }}{% endmacro %}'
    text = '{% import "_layouts/m.j2" as m %}{{ m.hello() }}'
    parts = dict.fromkeys(("note/subject.j2", "note/body.txt.j2", HTML), text)
    [line] = mistakes(tmp_path / "a", {"_layouts/m.j2": module, **parts})
    assert line.startswith("note/mail.toml:8: context.name: no template prints it")
    files = {"_layouts/m.j2": module, HTML: text, "_layouts/x.j2": "{{ oops }}"}
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


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """One start tells everything: nobody mends a catalogue one error a time."""
    changes: dict[str, str | None] = {
        "note/mail.toml": MAIL.replace('"shop"', '"spam"').replace('"to"', '"ot"'),
        "note/subject.j2": "{{ oops }}",
        "note/body.txt.j2": None,
        "note/body.html.j2": "{{ name | shout }}",
    }
    assert [line.split(" ")[0] for line in mistakes(tmp_path, changes)] == [
        "note/body.html.j2:1:",
        "note/body.txt.j2:",
        "note/mail.toml:3:",
        "note/mail.toml:5:",
        "note/subject.j2:1:",
    ]


def test_an_empty_catalogue(tmp_path: Path) -> None:
    with pytest.raises(CatalogueErrors, match="holds no mail type"):
        open_shop(tmp_path, dict.fromkeys(SHOP))


def test_no_catalogue(tmp_path: Path) -> None:
    with pytest.raises(CatalogueErrors, match="is not a folder"):
        open_shop(tmp_path / "none", dict.fromkeys(SHOP))
