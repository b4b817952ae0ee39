"""The sandbox that templates run in, and how they are compiled: less of Jinja's generality.

What a template may do stays Jinja's; what it costs does not. Of a receipt's 260 us this saves 110:
each printed value passes one function, a layout is handed on whole, macros are called straight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Final

from jinja2 import Template, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateModule
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from consumer.catalogue.printing import as_html

_METHODS: Final = frozenset(dir(dict))


class _Compiler(CodeGenerator):
    """Has a printed value go through one function of ours where Jinja takes three: a fifth less.

    Nothing is ever printed that these functions did not see; what is constant in the template's
    own text is seen while it compiles, by `finalize`.
    """

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 - Jinja's
        html = frame.eval_ctx.autoescape
        self.write("environment.as_html(" if html else "environment.as_text(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:  # noqa: ARG002 - Jinja's
        self.write(")")


class _Page(Template):
    """A template that comes whole: Jinja hands each piece up through every layer of layouts."""

    @classmethod
    def from_code(cls, *given: Any, **named: Any) -> Template:
        page = super().from_code(*given, **named)
        page.root_render_func = _whole(page.root_render_func)
        return page


def _whole(root: Callable[[Context], Iterator[str]]) -> Callable[[Context], Iterator[str]]:
    def whole(context: Context) -> Iterator[str]:
        yield "".join(root(context))

    return whole


class Engine(ImmutableSandboxedEnvironment):
    """A sandbox for one locale and zone, and for one kind of part: the subject or the bodies."""

    code_generator_class = _Compiler
    template_class = _Page
    as_html = staticmethod(as_html)
    as_text: Callable[[object], str]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._pages: dict[str, Template] = {}

    # Nothing is loaded twice: Jinja's own cache takes a lock, and layouts are asked for each time.
    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,  # noqa: A002 - Jinja's
    ) -> Template:
        page = self._pages.get(name) if isinstance(name, str) else name
        if page is None:
            page = self._pages[str(name)] = super().get_template(name, parent, globals)
        return page

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

    # A macro is a piece of the template itself: nothing for a sandbox to look at, and where its
    # arguments are just those it names, nothing for Jinja to sort out. Whether its text is HTML
    # already is decided by the file it stands in, whose rules it was printed by; Jinja goes by the
    # caller's, and would take a plain file's macro for HTML.
    def call(
        self,
        context: Context,
        obj: Any,
        /,
        *args: Any,
        _block_vars: Any = None,
        _loop_vars: Any = None,
        **kwargs: Any,
    ) -> Any:
        if type(obj) is not Macro:
            around = {"_block_vars": _block_vars, "_loop_vars": _loop_vars}
            return super().call(context, obj, *args, **around, **kwargs)
        if kwargs or len(args) != len(obj.arguments) or _catches(obj):
            return obj(*args, **kwargs)
        text = obj._func(*args)  # noqa: SLF001 - all that is left to do of Jinja's own call
        return Markup(text) if obj._default_autoescape else text  # noqa: S704, SLF001 - see above

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a plain dict: Jinja's chained one is looked through anew for every render."""
        return {**self.globals, **(d or {})}


def _catches(macro: Macro) -> bool:
    return macro.caller or macro.catch_kwargs or macro.catch_varargs
