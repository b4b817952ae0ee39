"""A template ends: neither its own text nor a number out of an event makes a render endless."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from consumer.catalogue.endless import stopping_endless
from consumer.catalogue.templates import templates_of
from consumer.cli import commands, printing
from tests.unit.catalogue.shop import mistakes
from tests.unit.catalogue.templates import failure, rendering
from tests.unit.catalogue.test_engine import text

HUGE = 10**9  # what an event may say, in `extra`
TOO_LARGE = {
    "{{ 9 ** 99999999 }}": "** takes too long: the number has more than 1,000 digits",
    "{{ extra ** extra }}": "** takes too long: the number has more than 1,000 digits",
    "{{ 10 ** 1000 * 10 ** 1000 }}": "* takes too long: the number has more than 1,000 digits",
    '{{ "x" * 10**10 }}': "* makes more than 100,000 characters or items",
    '{{ "x" * 10000000000 }}': "* makes more than 100,000 characters or items",
    "{{ extra * 'x' }}": "* makes more than 100,000 characters or items",
    "{{ ([1] * extra) | length }}": "* makes more than 100,000 characters or items",
    "{% for i in range(10**9) %}{% endfor %}": "range() has more than 100,000 numbers",
    "{% for i in range(extra) %}{% endfor %}": "range() has more than 100,000 numbers",
    "{{ 'x' | center(extra) }}": "a width, or a number of places, over 1,000",
    "{{ 'x' | indent(width=extra) }}": "a width, or a number of places, over 1,000",
    "{{ 5 | round(-extra) }}": "a width, or a number of places, over 1,000",
    "{{ [1] | batch(extra, 0) | list | length }}": "a width, or a number of places, over 1,000",
    "{{ [1] | slice(1000000000) | list | length }}": "a width, or a number of places, over 1,000",
    "{{ name.ljust(extra) }}": "a width, or a number of places, over 1,000",
    "{{ name['zfill'](extra) }}": "a width, or a number of places, over 1,000",
    "{{ '%999999999d' % 5 }}": "a format with a width over 999, or with one that a value gives",
    "{{ '%*d' | format(extra, 5) }}": "a format with a width over 999, or with one that a value",
    "{{ '{:>{}}'.format(5, extra) }}": "a format with a width over 999, or with one that a value",
    "{% include 'note/body.txt.j2' %}": "never ends: it includes or calls itself",
}


@pytest.mark.parametrize(("template", "said"), TOO_LARGE.items())
def test_what_would_not_end_is_refused(tmp_path: Path, template: str, said: str) -> None:
    """Law: before it is computed, with file and line, and as one event's failure."""
    catalogue = rendering(tmp_path, text="{{ name }}\n{% if extra %}" + template + "{% endif %}")
    assert failure(catalogue, extra=HUGE).startswith(f"note/body.txt.j2:2: {said}")


def test_check_tells_it_of_an_example(tmp_path: Path) -> None:
    [line] = mistakes(tmp_path, {"note/body.txt.j2": "{{ name }}\n{{ 9 ** 99999999 }}"})
    assert line.startswith("note/examples/one.json: invalid: note/body.txt.j2:2: ** takes too long")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{{ name }}{{ '-' * 40 }}", "Ada" + "-" * 40),
        ("{{ name }}{{ 2 ** 10 }} {{ 4 ** 0.5 }} {{ 7 % 4 }} {{ 1.5 * 2 }}", "Ada1024 2.0 3 3.0"),
        ("{{ '%5.1f|%s' % (2.25, name) }}", "  2.2|Ada"),
        ("{{ '%s of %d' | format(name, 12345) }}", "Ada of 12345"),
        ("{{ '{:,} {}: 12345'.format(12345, name) }}", "12,345 Ada: 12345"),
        ("{{ name | center(7) }}|{{ name.rjust(5) }}", "  Ada  |  Ada"),
        ("{{ name }}{{ 1234567.891 | round(1) }}", "Ada1234567.9"),
        ("{{ name }}{% for i in range(3) %}{{ i }}{% endfor %}", "Ada012"),
    ],
)
def test_what_a_mail_needs_is_computed_as_ever(tmp_path: Path, body: str, said: str) -> None:
    assert text(tmp_path, {"note/body.txt.j2": body}) == f"{said}\n"


DEEP = {
    "parentheses": "{{ " + "(" * 5000 + "name" + ")" * 5000 + " }}",
    "members": "{{ name" + ".a" * 120 + " }}",
    "a long sum": "{{ name" + " + name" * 3000 + " }}",
    "a chain of not, which Jinja compiles in the cube of its length": "{{ "
    + "not " * 300
    + "name }}",
    "loops": "{% for a in name %}" * 25 + "{% endfor %}" * 25,
    "conditions": "{% if name %}" * 120 + "{% endif %}" * 120,
    "branches": "{% if name %}" + "{% elif name %}" * 4000 + "{% endif %}",
}


@pytest.mark.parametrize("template", DEEP.values(), ids=DEEP.keys())
def test_a_template_without_bottom_is_a_mistake_of_its_file(tmp_path: Path, template: str) -> None:
    """Law: no stack of Python's or Jinja's own ends a check."""
    [line] = mistakes(tmp_path, {"note/body.txt.j2": "{{ name }}\n" + template})
    assert line in {
        "note/body.txt.j2:2: is too deeply nested",
        "note/body.txt.j2: is too deeply nested",
    }


def test_what_only_python_objects_to_has_a_line(tmp_path: Path) -> None:
    body = "{{ name }}\n\n{{ dict(a=1, a=2) | length }}"
    [line] = mistakes(tmp_path, {"note/body.txt.j2": body})
    assert line == "note/body.txt.j2:3: keyword argument repeated: a"


def test_a_repeated_constant_costs_no_mail_anything() -> None:
    """The shipped layout pads its preheader: not by a call in each mail."""
    source = "{{ '-' * 40 }}{{ name * 2 }}"
    code = templates_of({}).reader().compile(source, raw=True)
    assert "-" * 40 in code
    assert code.count("call_binop") == 1


@pytest.mark.parametrize("condition", ["", " if b == 'none'"])
def test_a_loop_in_a_loop_is_stopped(tmp_path: Path, condition: str) -> None:
    """Law: an event with long lists costs its worker seconds, and then itself alone."""
    loops = "{% for a in extra %}{% for b in extra" + condition + " %}{% endfor %}{% endfor %}"
    catalogue = rendering(tmp_path, text="{{ name }}" + loops)
    with stopping_endless(0.06):
        detail = failure(catalogue, extra=["x"] * 50_000)
    assert detail.startswith("note/body.txt.j2:1: takes too long")


def test_every_command_stops_what_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves no timer behind: it would kill a Python that ends, whose handlers go first."""
    armed: list[float] = []
    monkeypatch.setattr(printing, "outlive_readers", lambda: None)
    timer = signal.ITIMER_VIRTUAL
    monkeypatch.setattr(commands, "_run", lambda: armed.append(signal.getitimer(timer)[1]))
    commands.run()
    assert (armed, signal.getitimer(timer)) == ([1.0], (0.0, 0.0))
