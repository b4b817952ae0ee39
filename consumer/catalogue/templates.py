"""Templates: compiled once, bound to one locale and zone at a time, in a sandbox.

What a template cannot do: reach Python, change a value, draw at random, print a value that is
missing or null, or switch the escaping of HTML off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from jinja2 import BytecodeCache, FunctionLoader, StrictUndefined, nodes
from jinja2.bccache import Bucket
from jinja2.environment import TemplateModule
from jinja2.exceptions import TemplateSyntaxError
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from consumer.catalogue.errors import Problem
from consumer.catalogue.formats import Formats
from consumer.catalogue.printing import FILTERS, printable

_WITHHELD_FILTERS: Final = ("safe", "random", "xmlattr", "tojson", "urlize", "pprint")
_WITHHELD_GLOBALS: Final = ("lipsum",)
_METHODS: Final = frozenset(dir(dict))


class _Compiled(BytecodeCache):
    """The compiled code of each template, shared by all environments of a catalogue."""

    def __init__(self) -> None:
        self._codes: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key] = bucket.code


class Engine(ImmutableSandboxedEnvironment):
    """A sandbox for one locale and zone; `formats` is what its filters write with."""

    formats: Formats | None

    # `x.name` of a JSON object is its member: looked up first, which saves a third of a render
    # and lets an order have `items`. Plain dicts of JSON values have nothing unsafe to reach.
    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict:
            if attribute in obj:
                return obj[attribute]
            if attribute not in _METHODS:
                return self.undefined(obj=obj, name=attribute)
        elif type(obj) is TemplateModule and attribute in obj.__dict__ and attribute[0] != "_":
            return obj.__dict__[attribute]
        return super().getattr(obj, attribute)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a plain dict: Jinja's chained one is looked through anew for every render."""
        return {**self.globals, **(d or {})}


@dataclass(frozen=True, slots=True)
class Templates:
    """All template sources of a catalogue, by name ("order.receipt/subject.j2")."""

    sources: Mapping[str, str]
    compiled: _Compiled

    def engine(
        self, formats: Formats | None, last_check: Callable[[object], object] = printable
    ) -> Engine:
        engine = Engine(
            loader=FunctionLoader(self._load),
            undefined=StrictUndefined,
            autoescape=lambda name: name is not None and name.endswith(".html.j2"),
            finalize=last_check,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            bytecode_cache=self.compiled,
        )
        engine.formats = formats
        engine.filters.update(FILTERS)
        for name in _WITHHELD_FILTERS:
            del engine.filters[name]
        for name in _WITHHELD_GLOBALS:
            del engine.globals[name]
        return engine

    def _load(self, name: str) -> tuple[str, str, Callable[[], bool]] | None:
        source = self.sources.get(name)
        return None if source is None else (source, name, lambda: True)


def templates_of(sources: Mapping[str, str]) -> Templates:
    return Templates(sources, _Compiled())


@dataclass(frozen=True, slots=True)
class Reading:
    """What a template and all that it draws in says: the variables, the files, the mistakes."""

    variables: Mapping[str, tuple[str, int]]  # name -> where it is first used
    files: frozenset[str]
    problems: tuple[Problem, ...]


def inspect(templates: Templates, name: str) -> Reading:
    """Follow extends, include and import from one template on."""
    engine = templates.engine(None)
    variables: dict[str, tuple[str, int]] = {}
    seen: dict[str, tuple[Problem, ...]] = {}
    given: set[str] = set()
    waiting = [name]
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        parsed = _parse(engine, templates, file)
        if isinstance(parsed, Problem):
            seen[file] = (parsed,)
            continue
        seen[file] = tuple(_faults(templates, file, parsed))
        given |= set(_set_at_top(parsed))
        waiting += [
            ref for ref in find_referenced_templates(parsed) if ref and ref in templates.sources
        ]
        for variable in find_undeclared_variables(parsed):
            variables.setdefault(variable, (file, _first_use(parsed, variable)))
    wanted = {v: place for v, place in variables.items() if v not in given}
    problems = tuple(problem for several in seen.values() for problem in several)
    return Reading(wanted, frozenset(seen), problems)


def _parse(engine: Engine, templates: Templates, file: str) -> nodes.Template | Problem:
    try:
        parsed = engine.parse(templates.sources[file], file, file)
        engine.get_template(file)  # compiles: unknown filters and tests come out here
    except TemplateSyntaxError as error:
        return Problem(error.filename or file, error.lineno, error.message or "not a template")
    return parsed


def _faults(templates: Templates, file: str, parsed: nodes.Template) -> Iterator[Problem]:
    for node in parsed.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
        target = getattr(node, "template", None)
        if not isinstance(target, nodes.Const):
            yield Problem(file, node.lineno, "name the template in quotes: no variable there")
        elif target.value not in templates.sources:
            yield Problem(file, node.lineno, f"there is no template {target.value!r}")
    for escape in parsed.find_all(nodes.EvalContextModifier):
        yield Problem(file, escape.lineno, "the escaping cannot be switched")


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
