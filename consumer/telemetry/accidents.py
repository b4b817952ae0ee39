"""Exceptions as the log tells them: where and of which kind, in no words but our own.

What others say of a failure quotes what they were given: Postgres the row, a parser the text. So a
message is told only of what is raised by this service, or by the system (an errno's own words).
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any, Final

_OURS: Final = "consumer."
_CAUSE: Final = "the direct cause of:"
_DURING: Final = "while this was handled:"


def traced(exc_info: Any) -> str | None:
    """Return the traces of an exception and of those behind it; None: there is none.

    `exc_info` as the standard library has it: an exception, its triple, or True for the current.
    """
    error = _error(exc_info)
    return None if error is None else "\n".join(_chain(error, set()))


def kind_of(error: BaseException) -> str:
    """Name an error, with what may be said of it."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else _full(kind)
    state = getattr(error, "sqlstate", None)
    words = f"SQLSTATE {state}" if state else _words(error)
    return f"{name}: {words}" if words else name


def _full(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _words(error: BaseException) -> str:
    if type(error).__module__.startswith(_OURS):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return ""


def _chain(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before, link = error.__cause__, _CAUSE
    if before is None and not error.__suppress_context__:
        before, link = error.__context__, _DURING
    if before is not None and id(before) not in seen:
        yield from _chain(before, seen)
        yield link
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__)) + kind_of(error)
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _chain(one, seen)


def _error(exc_info: Any) -> BaseException | None:
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        found: BaseException | None = exc_info[1]
        return found
    return sys.exc_info()[1] if exc_info else None
