"""A text made of a value shows it as much as printing does: null is no word, in whatever way.

`{{ name | upper }}` and `{{ "Hi " ~ name }}` are held to the rule of `{{ name }}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Final

from jinja2.filters import make_attrgetter
from jinja2.nodes import EvalContext
from jinja2.runtime import markup_join, str_join

from consumer.catalogue.printing import printable

# Jinja's filters that make a text of anything.
_TEXTS: Final = (
    "capitalize",
    "center",
    "e",
    "escape",
    "forceescape",
    "indent",
    "lower",
    "replace",
    "string",
    "striptags",
    "title",
    "trim",
    "truncate",
    "upper",
    "urlencode",
    "wordcount",
    "wordwrap",
)


def filters(theirs: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return what stands in for those of Jinja's filters that make a text."""
    return {name: _showing(theirs[name]) for name in _TEXTS} | {"join": _joining(theirs["join"])}


def hold_printable(*values: object) -> None:
    """Raise `PrintError` where one of them cannot be printed."""
    for one in values:
        printable(one)


def join_text(parts: Iterable[object]) -> str:
    """Stand in for `~` in a plain part."""
    return str_join(map(printable, parts))


def join_html(parts: Iterable[object]) -> str:
    """Stand in for `~` in the HTML part: what is not markup yet is escaped."""
    return markup_join(map(printable, parts))


def _showing(filter_: Callable[..., Any]) -> Callable[..., Any]:
    first = int(hasattr(filter_, "jinja_pass_arg"))  # before it stands what Jinja itself passes

    @wraps(filter_)
    def shown(*given: Any, **named: Any) -> Any:
        if not isinstance(given[first], Mapping):  # a link's query, by `urlencode`
            printable(given[first])
        hold_printable(*(one for one in given[first + 1 :] if one is None))
        return filter_(*given, **named)

    return shown


def _joining(filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)
    def joined(
        context: EvalContext, value: Iterable[Any], d: str = "", attribute: Any = None
    ) -> Any:
        if attribute is not None:
            value = map(make_attrgetter(context.environment, attribute), value)
        return filter_(context, [printable(one) for one in value], printable(d))

    return joined
