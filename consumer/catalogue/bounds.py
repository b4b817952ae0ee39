"""How much a template may ask for at once: what is wanted is a mail, not all memory or for ever.

A number out of an event may be any. What would multiply a text, a list or a number's digits by it
is held against these bounds before it is computed, and fails like anything that cannot be printed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import partial, wraps
from types import BuiltinMethodType, MethodType
from typing import Any, Final

from consumer.catalogue.bidi import PrintError
from consumer.catalogue.showing import hold_printable

MOST: Final = 100_000  # characters, items, rounds of a loop
_WIDEST: Final = 1_000  # columns, places, decimals
_BITS: Final = 4_096  # of a whole number: over a thousand digits

_FORMATS: Final = frozenset({"format", "format_map"})
_PADDING: Final = frozenset({"center", "expandtabs", "ljust", "rjust", "to_bytes", "zfill"})
_PADDING_FILTERS: Final = ("batch", "center", "indent", "round", "slice")
# A width that is too large, or that a value gives: in `%05d`, and in `{:05d}`.
_PERCENT_WIDTH = re.compile(r"%(?:\([^)]*\))?[-+ #.\d]*(?:\d{4}|\*)")
_BRACE_WIDTH = re.compile(r"\{[^{}]*:[^{}]*(?:\d{4}|\{)")


def times(left: Any, right: Any) -> Any:
    """`left * right`, as long as a mail could hold it."""
    for many, once in ((left, right), (right, left)):
        if isinstance(once, int) and hasattr(many, "__len__") and len(many) * once > MOST:
            raise PrintError(f"* makes more than {MOST:,} characters or items")
    if isinstance(left, int) and isinstance(right, int):
        _limit_bits(left.bit_length() + right.bit_length(), "*")
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _limit_bits(left.bit_length() * right, "**")
    return left**right


def _limit_bits(bits: int, sign: str) -> None:
    if bits > _BITS:
        raise PrintError(f"{sign} takes too long: the number has more than 1,000 digits")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        _limit_format(_PERCENT_WIDTH, left)
        hold_printable(*(right if isinstance(right, tuple) else (right,)))
    return operator.mod(left, right)


OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "*": times,
    "**": _power,
    "%": _modulo,
}


def numbers(*limits: int) -> range:
    """Stand in for `range`."""
    found = range(*limits)
    if len(found) > MOST:
        raise PrintError(f"range() has more than {MOST:,} numbers")
    return found


def method(value: object) -> Callable[..., Any] | None:
    """Return what stands in for a method that pads or formats; None: it is none of these."""
    if not isinstance(value, BuiltinMethodType | MethodType) or value.__name__ not in _PADDING:
        return None
    return partial(_padded, value)


def formatting(text: str, fill: Callable[..., str]) -> Callable[..., str]:
    """Stand in for a text's method `format`."""

    def bounded(*given: Any, **named: Any) -> str:
        _limit_format(_BRACE_WIDTH, text)
        hold_printable(*given, *named.values())
        return fill(*given, **named)

    return bounded


def filters(theirs: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return what stands in for those of Jinja's filters that pad or format."""
    return {"format": _format(theirs["format"])} | {
        name: _padding(theirs[name]) for name in _PADDING_FILTERS
    }


def _padding(filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)
    def bounded(value: Any, *given: Any, **named: Any) -> Any:
        return _padded(partial(filter_, value), *given, **named)

    return bounded


def _format(filter_: Callable[..., str]) -> Callable[..., str]:
    @wraps(filter_)
    def bounded(value: Any, *given: Any, **named: Any) -> str:
        _limit_format(_PERCENT_WIDTH, str(value))
        hold_printable(value, *given, *named.values())
        return filter_(value, *given, **named)

    return bounded


def _padded(pad: Callable[..., Any], *given: Any, **named: Any) -> Any:
    if any(isinstance(one, int) and abs(one) > _WIDEST for one in (*given, *named.values())):
        raise PrintError(f"a width, or a number of places, over {_WIDEST:,}")
    return pad(*given, **named)


def _limit_format(widths: re.Pattern[str], text: str) -> None:
    if widths.search(text):
        raise PrintError("a format with a width over 999, or with one that a value gives")
