"""What one template file says, whoever draws it in and in whatever language: read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from consumer.catalogue.bidi import PrintError
from consumer.catalogue.engine import Engine
from consumer.catalogue.errors import Problem
from consumer.catalogue.safety import unsafe


@dataclass(frozen=True, slots=True)
class Drawn:
    """Another template that this one extends, includes or imports. `alias`: its name here."""

    target: str
    line: int
    imported: bool
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A name out of an imported template. `given`: with how many values it is called, if it is."""

    target: str
    name: str
    line: int
    given: int | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """How many values a macro takes. `most` None: any number."""

    least: int
    most: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A use of the filter `plural`. `named`: its forms are given by their names, as they must."""

    line: int
    forms: frozenset[str]
    named: bool


@dataclass(frozen=True, slots=True)
class Anatomy:
    """The parts of a template; of one that cannot be read, its problem alone."""

    problems: tuple[Problem, ...] = ()
    wanted: Mapping[str, int] = field(default_factory=dict)  # variable -> line of its first use
    shared: frozenset[str] = frozenset()  # set for its blocks, and for the layout it extends
    names: frozenset[str] = frozenset()  # set anywhere in it
    macros: Mapping[str, Shape] = field(default_factory=dict)
    drawn: tuple[Drawn, ...] = ()
    taken: tuple[Taken, ...] = ()
    counted: tuple[Counted, ...] = ()


def dissect(engine: Engine, file: str, source: str) -> Anatomy:
    """Read a template; mistakes that lie in it alone are among its parts."""
    try:
        parsed = engine.parse(source, file, file)
        engine.get_template(file)  # compiles: unknown filters and tests come out here
    except TemplateSyntaxError as error:
        text = error.message or "not a template"
        return Anatomy((Problem(error.filename or file, error.lineno, text),))
    except PrintError as error:  # found while compiling: a constant that cannot be printed
        return Anatomy((Problem(file, 0, str(error)),))
    drawn = tuple(_drawn(parsed))
    return Anatomy(
        problems=tuple(unsafe(file, source, parsed)),
        wanted={
            name: _first(parsed, name)
            for name in find_undeclared_variables(parsed) - frozenset(_set_somewhere(parsed))
        },
        shared=frozenset(_set_at_top(parsed)),
        names=frozenset(_named(parsed)),
        macros={macro.name: _shape(macro) for macro in parsed.find_all(nodes.Macro)},
        drawn=drawn,
        taken=tuple(_taken(parsed, {one.alias: one.target for one in drawn if one.alias})),
        counted=tuple(_counted(parsed)),
    )


def _set_somewhere(parsed: nodes.Template) -> Iterator[str]:
    """Names that the template gives itself, if only in a branch: Jinja asks for these as well."""
    alone = [one.target for one in parsed.find_all(nodes.Assign)]
    around = [one.target for one in parsed.find_all(nodes.AssignBlock)]
    for target in (*alone, *around):
        for name in (target, *target.find_all(nodes.Name)):
            if isinstance(name, nodes.Name):
                yield name.name


_IMPORTS: Final = (nodes.Import, nodes.FromImport)
_DRAWS: Final = (nodes.Extends, nodes.Include, *_IMPORTS)


def _target(node: nodes.Node) -> str | None:
    target = getattr(node, "template", None)
    return str(target.value) if isinstance(target, nodes.Const) else None


def _drawn(parsed: nodes.Template) -> Iterator[Drawn]:
    for node in parsed.find_all(_DRAWS):
        if (target := _target(node)) is not None:
            alias = node.target if isinstance(node, nodes.Import) else None
            yield Drawn(target, node.lineno, isinstance(node, _IMPORTS), alias)


def _pairs(node: nodes.FromImport) -> list[tuple[str, str]]:
    """Return (name there, name here)."""
    return [(one, one) if isinstance(one, str) else one for one in node.names]


def _taken(parsed: nodes.Template, modules: Mapping[str, str]) -> Iterator[Taken]:
    single: dict[str, tuple[str, str]] = {}  # name here -> template, name there
    for origin in parsed.find_all(nodes.FromImport):
        if (target := _target(origin)) is not None:
            single |= {here: (target, there) for there, here in _pairs(origin)}
            yield from (Taken(target, there, origin.lineno) for there, _ in _pairs(origin))
    for node in parsed.find_all((nodes.Getattr, nodes.Call)):
        match node:
            case nodes.Getattr(node=nodes.Name(name=alias), attr=name) if alias in modules:
                yield Taken(modules[alias], name, node.lineno)
            case nodes.Call(node=nodes.Getattr(node=nodes.Name(name=alias), attr=name)) if (
                alias in modules
            ):
                yield Taken(modules[alias], name, node.lineno, _values(node))
            case nodes.Call(node=nodes.Name(name=here)) if here in single:
                yield Taken(*single[here], node.lineno, _values(node))
            case _:
                pass


def _values(call: nodes.Call) -> int | None:
    if call.dyn_args or call.dyn_kwargs:
        return None
    return len(call.args) + len(call.kwargs)


def _shape(macro: nodes.Macro) -> Shape:
    least, most = len(macro.args) - len(macro.defaults), len(macro.args)
    any_number = any(one.name in ("varargs", "kwargs") for one in macro.find_all(nodes.Name))
    return Shape(least, None if any_number else most, macro.lineno)


def _counted(parsed: nodes.Template) -> Iterator[Counted]:
    for node in parsed.find_all(nodes.Filter):
        if node.name == "plural":
            yield Counted(
                node.lineno, frozenset(str(pair.key) for pair in node.kwargs), not node.args
            )


def _named(parsed: nodes.Template) -> Iterator[str]:
    yield from (one.name for one in parsed.find_all(nodes.Name) if one.ctx == "store")
    yield from (one.name for one in parsed.find_all(nodes.Macro))
    yield from (one.target for one in parsed.find_all(nodes.Import))
    for origin in parsed.find_all(nodes.FromImport):
        yield from (here for _, here in _pairs(origin))


def _set_at_top(parsed: nodes.Template) -> Iterator[str]:
    """Names that a template defines for its blocks and for the layout it extends."""
    for node in parsed.body:
        match node:
            case nodes.Assign(target=nodes.Name(name=name)) | nodes.Macro(name=name):
                yield name
            case nodes.AssignBlock(target=nodes.Name(name=name)) | nodes.Import(target=name):
                yield name
            case nodes.FromImport():
                yield from (here for _, here in _pairs(node))
            case _:
                pass


def _first(parsed: nodes.Template, variable: str) -> int:
    return min((n.lineno for n in parsed.find_all(nodes.Name) if n.name == variable), default=0)
