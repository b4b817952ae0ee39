"""Templates: compiled once, bound to one locale and zone at a time, in a sandbox.

What a template cannot do: reach Python, change a value, draw at random, print a value that is
missing or null, or switch the escaping of HTML off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Final

from jinja2 import BytecodeCache, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket

from consumer.catalogue.engine import Engine
from consumer.catalogue.formats import Formats
from consumer.catalogue.printing import as_line, as_text, filters, printable

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

    def engine(self, formats: Formats | None, *, subject: bool = False) -> Engine:
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
        engine.as_text = as_line if subject else as_text
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
