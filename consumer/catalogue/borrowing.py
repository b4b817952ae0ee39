"""What templates take from the modules that they import: it must be there, in each language.

The words of a mail stand in a module of their own (`_words.j2`), and each language has one. A word
that one of them lacks would be found by the first reader of that language. It is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from jinja2 import nodes

from consumer.catalogue.errors import Problem

Find: TypeAlias = Callable[[str, str | None], str]
_Borrowed: TypeAlias = tuple[str, str, nodes.Node]  # the module's file, the name in it, where used


def borrowing_faults(
    file: str, template: nodes.Template, read: Mapping[str, nodes.Template], find: Find
) -> Iterator[Problem]:
    """Name what a template takes and its module does not set, or takes other values for."""
    for module, name, node in _borrowed(file, template, find):
        if module not in read:
            continue
        macros = {macro.name: macro for macro in read[module].find_all(nodes.Macro)}
        if name not in macros and name not in _set_in(read[module]):
            text = f"does not set {name!r}, which {file}:{node.lineno} takes from it"
            yield Problem(module, 0, text)
        elif isinstance(node, nodes.Call) and name in macros:
            yield from _call_faults(file, node, module, macros[name])


def clashes(read: Mapping[str, nodes.Template], find: Find) -> Iterator[Problem]:
    """A mail and the layout that it extends share their names: one must not stand for two."""
    first: dict[str, tuple[str, str]] = {}
    for file, template in read.items():
        for node in template.find_all(nodes.Import):
            if not isinstance(node.template, nodes.Const):
                continue
            module = find(str(node.template.value), file)
            other, where = first.setdefault(node.target, (module, f"{file}:{node.lineno}"))
            if other != module:
                text = f"{node.target} is {other} already, in {where}: give it another name"
                yield Problem(file, node.lineno, text)


def _borrowed(file: str, template: nodes.Template, find: Find) -> Iterator[_Borrowed]:
    whole: dict[str, str] = {}  # import "x" as name
    single: dict[str, tuple[str, str]] = {}  # from "x" import it as name
    for node in template.find_all(nodes.Import):
        if isinstance(node.template, nodes.Const):
            whole[node.target] = find(str(node.template.value), file)
    for origin in template.find_all(nodes.FromImport):
        if isinstance(origin.template, nodes.Const):
            module = find(str(origin.template.value), file)
            pairs = [(one, one) if isinstance(one, str) else one for one in origin.names]
            single |= {alias: (module, name) for name, alias in pairs}
            yield from ((module, name, origin) for name, _ in pairs)
    yield from _members(template, whole)
    yield from _calls(template, whole, single)


def _members(template: nodes.Template, whole: Mapping[str, str]) -> Iterator[_Borrowed]:
    for node in template.find_all(nodes.Getattr):
        if isinstance(node.node, nodes.Name) and node.node.name in whole:
            yield whole[node.node.name], node.attr, node


def _calls(
    template: nodes.Template, whole: Mapping[str, str], single: Mapping[str, tuple[str, str]]
) -> Iterator[_Borrowed]:
    for call in template.find_all(nodes.Call):
        match call.node:
            case nodes.Getattr(node=nodes.Name(name=alias), attr=name) if alias in whole:
                yield whole[alias], name, call
            case nodes.Name(name=alias) if alias in single:
                yield *single[alias], call
            case _:
                pass


def _set_in(module: nodes.Template) -> frozenset[str]:
    names = {one.name for one in module.find_all(nodes.Name) if one.ctx == "store"}
    imported = {one.target for one in module.find_all(nodes.Import)}
    for node in module.find_all(nodes.FromImport):
        imported |= {one if isinstance(one, str) else one[1] for one in node.names}
    return frozenset(names | imported)


def _call_faults(file: str, call: nodes.Call, module: str, macro: nodes.Macro) -> Iterator[Problem]:
    given = len(call.args) + len(call.kwargs)
    most, least = len(macro.args), len(macro.args) - len(macro.defaults)
    if call.dyn_args or call.dyn_kwargs or least <= given <= most or _takes_any(macro):
        return
    wanted = str(most) if least == most else f"{least} to {most}"
    text = f"{macro.name} takes {wanted} values, and {file}:{call.lineno} gives it {given}"
    yield Problem(module, macro.lineno, text)


def _takes_any(macro: nodes.Macro) -> bool:
    return any(one.name in ("varargs", "kwargs") for one in macro.find_all(nodes.Name))
