"""Templates: compiled once, bound to one locale and zone at a time, in a sandbox.

What is compiled is shared by all locales. Which file is taken for a name is decided as it is run.

What a template cannot do: reach Python, change a value, draw at random, print a value that is
missing or null, or switch the escaping of HTML off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Final

from jinja2 import BytecodeCache, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket

from consumer.catalogue.engine import Engine
from consumer.catalogue.formats import Formats
from consumer.catalogue.languages import fallbacks, stands_in
from consumer.catalogue.printing import (
    as_html,
    as_line,
    as_text,
    filters,
    from_right_to_left,
    printable,
)

_WITHHELD_FILTERS: Final = ("safe", "random", "xmlattr", "tojson", "urlize", "pprint")
_WITHHELD_GLOBALS: Final = ("lipsum",)


class _Compiled(BytecodeCache):
    """The compiled code of each template, shared by all environments of a catalogue."""

    def __init__(self) -> None:
        self._codes: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._codes[bucket.key] = bucket.code


@dataclass(frozen=True, slots=True)
class Templates:
    """All template sources of a catalogue, by name ("order.receipt/subject.j2")."""

    sources: Mapping[str, str]
    compiled: _Compiled

    def engine(self, formats: Formats, *, subject: bool = False) -> Engine:
        """Return what fills templates in one locale and zone: the subject, or the bodies."""
        engine = self._engine(formats, fallbacks(formats.lang))
        engine.globals.update(lang=formats.lang, dir=formats.direction)
        engine.as_text = as_line if subject else as_text
        if formats.direction == "rtl":
            engine.as_text = from_right_to_left(engine.as_text)
            engine.as_html = from_right_to_left(as_html)
        return engine

    def reader(self) -> Engine:
        """Return what compiles templates, to be looked at."""
        return self._engine(None, ())

    def find(self, name: str, asking: str | None, languages: Sequence[str]) -> str:
        """Name the file that is taken for `name`, wanted by the file `asking`."""
        return stands_in(name, asking, languages, self.sources)

    def _engine(self, formats: Formats | None, languages: Sequence[str]) -> Engine:
        engine = Engine(
            loader=FunctionLoader(self._load),
            undefined=StrictUndefined,
            autoescape=lambda name: name is not None and name.endswith(".html.j2"),
            finalize=printable,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            bytecode_cache=self.compiled,
        )
        engine.find = partial(self.find, languages=languages)
        engine.filters.update(filters(formats))
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
