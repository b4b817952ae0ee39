"""What templates say together, before they are filled: variables, files, and what does not fit.

A mail in German is made of other files than one in English. Each file is read once; how they fit is
looked at for each language. The words of a mail stand in a module of their own (`_words.j2`), and
each language has one: a word that one of them lacks would be found by its first reader. It is
found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from consumer.catalogue.anatomy import Anatomy, Taken, dissect
from consumer.catalogue.errors import Problem
from consumer.catalogue.languages import fallbacks
from consumer.catalogue.plurals import FORMS, known, needed
from consumer.catalogue.templates import Templates

_Find: TypeAlias = Callable[[str, str | None], str]
_Read: TypeAlias = Mapping[str, Anatomy]


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a template and all that it draws in says: the variables, the files, the mistakes."""

    variables: Mapping[str, tuple[str, int]]  # name -> where it is first used
    files: frozenset[str]
    problems: tuple[Problem, ...]


class Inspection:
    """Reads templates of a catalogue, each file once."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._engine = templates.reader()
        self._known: dict[str, Anatomy] = {}

    def read(self, name: str, locale: str | None) -> Inspected:
        """Follow extends, include and import from one template on, as a mail in a locale does."""
        find = partial(self._templates.find, languages=fallbacks(locale) if locale else ())
        read: dict[str, Anatomy] = {}
        modules: set[str] = set()  # imported: they see no variables but those they set
        waiting = [(find(name, None), False)]
        while waiting:
            file, imported = waiting.pop()
            if file in read or file not in self._templates.sources:
                continue
            read[file] = one = self._anatomy(file)
            if imported:
                modules.add(file)
            waiting += [(find(to.target, file), imported or to.imported) for to in one.drawn]
        return Inspected(
            _wanted(read, modules), frozenset(read), tuple(self._faults(read, modules, find))
        )

    def plurals(self, file: str, locale: str | None) -> Iterator[Problem]:
        """Plural forms must be those of the language that a file is in, and all of them."""
        forms = known(locale) if locale else frozenset(FORMS)
        least = needed(locale) if locale else ("other",)
        where = f" in {locale}" if locale else ""
        for one in self._anatomy(file).counted:
            if strange := sorted(one.forms - forms):
                yield Problem(file, one.line, f"plural: no form {', '.join(strange)}{where}")
            if lacking := [form for form in least if form not in one.forms]:
                written = ", ".join(f'{form}="# ..."' for form in lacking)
                yield Problem(file, one.line, f"plural: write {written} too{where}")
            elif not one.named:
                yield Problem(file, one.line, 'plural: name each form: one="# item"')

    def _anatomy(self, file: str) -> Anatomy:
        if file not in self._known:
            self._known[file] = dissect(self._engine, file, self._templates.sources[file])
        return self._known[file]

    def _faults(self, read: _Read, modules: set[str], find: _Find) -> Iterator[Problem]:
        for file, one in read.items():
            yield from one.problems
            for to in one.drawn:
                if find(to.target, file) not in self._templates.sources:
                    yield Problem(file, to.line, f"there is no template {to.target!r}")
            for taken in one.taken:
                yield from _lacking(file, taken, find(taken.target, file), read)
        yield from _clashes({f: one for f, one in read.items() if f not in modules}, find)


def _wanted(read: _Read, modules: set[str]) -> dict[str, tuple[str, int]]:
    """Return the variables that must be given, each with the place of its first use."""
    shared = {name for file, one in read.items() if file not in modules for name in one.shared}
    wanted: dict[str, tuple[str, int]] = {}
    for file, one in read.items():
        set_here = one.shared if file in modules else shared
        for variable in one.wanted.keys() - set_here:
            wanted.setdefault(variable, (file, one.wanted[variable]))
    return wanted


def _lacking(file: str, taken: Taken, module: str, read: _Read) -> Iterator[Problem]:
    """What a template takes from a module must be set there, and take the values it is given."""
    if module not in read or (read[module].problems and not read[module].names):
        return  # it is not there, or cannot be read: told already
    macro = read[module].macros.get(taken.name)
    if macro is None and taken.name not in read[module].names:
        text = f"does not set {taken.name!r}, which {file}:{taken.line} takes from it"
        yield Problem(module, 0, text)
    if macro is None or taken.given is None or macro.most is None:
        return
    if not macro.least <= taken.given <= macro.most:
        wanted = f"{macro.least} to {macro.most}" if macro.least < macro.most else str(macro.most)
        text = f"takes {wanted} values, and {file}:{taken.line} gives it {taken.given}"
        yield Problem(module, macro.line, f"{taken.name} {text}")


def _clashes(read: _Read, find: _Find) -> Iterator[Problem]:
    """A mail and the layout that it extends share their names: one must not stand for two."""
    first: dict[str, tuple[str, str]] = {}
    for file, one in read.items():
        for to in one.drawn:
            if to.alias is None:
                continue
            module = find(to.target, file)
            other, where = first.setdefault(to.alias, (module, f"{file}:{to.line}"))
            if other != module:
                text = f"{to.alias} is {other} already, in {where}: give it another name"
                yield Problem(file, to.line, text)
