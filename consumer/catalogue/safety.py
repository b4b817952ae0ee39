"""What a template may not do in any mail, seen in its text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

from consumer.catalogue.errors import Problem


def unsafe(file: str, source: str, parsed: nodes.Template) -> Iterator[Problem]:
    """Name what is dangerous, or cannot be told to be harmless."""
    for node in parsed.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
        if not isinstance(getattr(node, "template", None), nodes.Const):
            yield Problem(file, node.lineno, "name the template in quotes: no variable there")
    for escape in parsed.find_all(nodes.EvalContextModifier):
        text = "the escaping cannot be switched: leave autoescape out, HTML is always escaped"
        yield Problem(file, escape.lineno, text)
    if file.endswith(".html.j2"):
        yield from _active(file, source)
        yield from _links(file, parsed)


# What mail clients drop, filters distrust, and attackers want.
_ACTIVE = re.compile(r"<(script|iframe|object|embed|form|base)\b|\son[a-z]+\s*=", re.IGNORECASE)
# Text that ends inside an attribute that leads somewhere, with what is written of it so far.
_OPEN_LINK = re.compile(
    r"\b(?:href|src|action|background|poster)\s*=\s*(?:\"([^\"]*)|'([^']*)|([^\s\"'>]*))$",
    re.IGNORECASE,
)
_SAFE_START: Final = re.compile(r"https://[A-Za-z0-9.-]+/|mailto:|tel:|cid:|#")


def _active(file: str, source: str) -> Iterator[Problem]:
    for number, line in enumerate(source.splitlines(), start=1):
        if found := _ACTIVE.search(line):
            yield Problem(file, number, f"{found[0].strip()!r} has no place in a mail")


def _links(file: str, parsed: nodes.Template) -> Iterator[Problem]:
    """Where a value decides where a link leads, it goes through the filter `link`."""
    for output in parsed.find_all(nodes.Output):
        for text, value in zip(output.nodes, [*output.nodes[1:], None], strict=True):
            if not isinstance(text, nodes.TemplateData):
                continue
            link = _OPEN_LINK.search(text.data)
            if link is None or _SAFE_START.match("".join(part or "" for part in link.groups())):
                continue
            if not _is_linked(value):
                line = value.lineno if value else text.lineno + text.data.count("\n")
                yield Problem(file, line, "a link's value goes through the filter: {{ x | link }}")


def _is_linked(value: nodes.Node | None) -> bool:
    return isinstance(value, nodes.Filter) and value.name == "link"
