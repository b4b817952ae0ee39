"""Templates: compiled once, bound to one locale and zone at a time, in a sandbox.

What a template cannot do: reach Python, change a value, draw at random, print a value that is
missing or null, or switch the escaping of HTML off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from jinja2 import BytecodeCache, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from jinja2.environment import TemplateModule
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

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

    # A macro is a piece of the template itself: nothing for a sandbox to look at.
    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        if type(obj) is not Macro:
            return super().call(context, obj, *args, **kwargs)
        kwargs.pop("_block_vars", None)
        kwargs.pop("_loop_vars", None)
        return obj(context.eval_ctx, *args, **kwargs)

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
