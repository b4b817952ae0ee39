"""What templates say before they are filled: variables, files, and what they may not do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from consumer.catalogue.bidi import PrintError
from consumer.catalogue.borrowing import Find, borrowing_faults, clashes
from consumer.catalogue.engine import Engine
from consumer.catalogue.errors import Problem
from consumer.catalogue.languages import fallbacks
from consumer.catalogue.plurals import FORMS, known, needed
from consumer.catalogue.templates import Templates


@dataclass(frozen=True, slots=True)
class Reading:
    """What a template and all that it draws in says: the variables, the files, the mistakes."""

    variables: Mapping[str, tuple[str, int]]  # name -> where it is first used
    files: frozenset[str]
    problems: tuple[Problem, ...]


def inspect(templates: Templates, name: str, locale: str | None = None) -> Reading:
    """Follow extends, include and import from one template on, as a mail in that locale does."""
    engine = templates.reader()
    find = partial(templates.find, languages=fallbacks(locale) if locale else ())
    parsed: dict[str, nodes.Template | Problem] = {}
    modules: set[str] = set()  # imported: they see no variables but those they set
    waiting = [(find(name, None), False)]
    while waiting:
        file, imported = waiting.pop()
        if file in parsed or file not in templates.sources:
            continue
        parsed[file] = template = _parse(engine, templates, file)
        if imported:
            modules.add(file)
        if isinstance(template, nodes.Template):
            drawn = [(find(to, file), kind) for kind, to in _drawn(template)]
            waiting += [(to, imported or kind in _IMPORTS) for to, kind in drawn]
    read = {file: one for file, one in parsed.items() if isinstance(one, nodes.Template)}
    problems = [one for one in parsed.values() if isinstance(one, Problem)]
    for file, template in read.items():
        problems += _faults(templates, file, template, find)
        problems += borrowing_faults(file, template, read, find)
    sharing = {file: one for file, one in read.items() if file not in modules}
    problems += clashes(sharing, find)
    return Reading(_wanted(read, modules), frozenset(parsed), tuple(problems))


_IMPORTS: Final = (nodes.Import, nodes.FromImport)
_DRAWS: Final = (nodes.Extends, nodes.Include, *_IMPORTS)


def _drawn(template: nodes.Template) -> Iterator[tuple[type[nodes.Node], str]]:
    for node in template.find_all(_DRAWS):
        target = getattr(node, "template", None)
        if isinstance(target, nodes.Const) and isinstance(target.value, str):
            yield type(node), target.value


def _wanted(read: Mapping[str, nodes.Template], modules: set[str]) -> dict[str, tuple[str, int]]:
    """Return the variables that must be given, each with the place of its first use."""
    shared = {name for file in read if file not in modules for name in _set_at_top(read[file])}
    wanted: dict[str, tuple[str, int]] = {}
    for file, template in read.items():
        set_here = set(_set_at_top(template)) if file in modules else shared
        for variable in find_undeclared_variables(template) - set_here:
            wanted.setdefault(variable, (file, _first_use(template, variable)))
    return wanted


def _parse(engine: Engine, templates: Templates, file: str) -> nodes.Template | Problem:
    try:
        parsed = engine.parse(templates.sources[file], file, file)
        engine.get_template(file)  # compiles: unknown filters and tests come out here
    except TemplateSyntaxError as error:
        return Problem(error.filename or file, error.lineno, error.message or "not a template")
    except PrintError as error:  # found while compiling: a constant that cannot be printed
        return Problem(file, 0, str(error))
    return parsed


def _faults(
    templates: Templates, file: str, parsed: nodes.Template, find: Find
) -> Iterator[Problem]:
    for node in parsed.find_all(_DRAWS):
        target = getattr(node, "template", None)
        if not isinstance(target, nodes.Const):
            yield Problem(file, node.lineno, "name the template in quotes: no variable there")
        elif find(target.value, file) not in templates.sources:
            yield Problem(file, node.lineno, f"there is no template {target.value!r}")
    for escape in parsed.find_all(nodes.EvalContextModifier):
        yield Problem(file, escape.lineno, "the escaping cannot be switched")
    if file.endswith(".html.j2"):
        yield from _active(file, templates.sources[file])
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


def _set_at_top(parsed: nodes.Template) -> Iterator[str]:
    """Names that a template defines for its blocks and for the layout it extends."""
    for node in parsed.body:
        match node:
            case nodes.Assign(target=nodes.Name(name=name)) | nodes.Macro(name=name):
                yield name
            case nodes.AssignBlock(target=nodes.Name(name=name)) | nodes.Import(target=name):
                yield name
            case nodes.FromImport(names=names):
                yield from (name if isinstance(name, str) else name[1] for name in names)
            case _:
                pass


def _first_use(parsed: nodes.Template, variable: str) -> int:
    return min((n.lineno for n in parsed.find_all(nodes.Name) if n.name == variable), default=0)


def plural_faults(templates: Templates, file: str, locale: str | None) -> Iterator[Problem]:
    """Plural forms must be those that the language has, and all of them."""
    try:
        parsed = templates.reader().parse(templates.sources[file])
    except TemplateSyntaxError:
        return  # told already
    for node in parsed.find_all(nodes.Filter):
        if node.name != "plural":
            continue
        forms = {str(pair.key) for pair in node.kwargs}
        if foreign := sorted(forms - (known(locale) if locale else {*FORMS})):
            yield Problem(file, node.lineno, f"plural: {locale} has no form {', '.join(foreign)}")
        lacking = [form for form in (needed(locale) if locale else ["other"]) if form not in forms]
        if lacking or node.args:
            wanted = ", ".join(f'{form}="# ..."' for form in lacking)
            yield Problem(file, node.lineno, f"plural: write {wanted} too ({locale})")
