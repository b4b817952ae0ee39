"""The sandbox that templates run in, and how they are compiled: less of Jinja's generality.

What a template may do stays Jinja's; what it costs does not. Of a receipt's 260 us this saves half:
each printed value passes one function, pieces are collected, macros are called straight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache, partial
from types import CodeType
from typing import Any, Final

from jinja2 import Template, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateModule
from jinja2.exceptions import TemplateSyntaxError
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from consumer.catalogue import bounds, showing
from consumer.catalogue.printing import as_html
from consumer.model import Json

_DEEPEST: Final = 64  # nodes within each other; Python's own limits lie below a hundred too
_TOO_DEEP: Final = "is too deeply nested"
_METHODS: Final = frozenset(dir(dict))
_html: Final = partial(str.__new__, Markup)  # `Markup(text)`, less its look for `__html__`


class _Compiler(CodeGenerator):
    """Writes leaner Python than Jinja does, of the same meaning.

    A printed value passes one function of ours where Jinja takes three. Nothing is ever printed
    that it did not see; what is constant in the template's own text is seen while it compiles, by
    `finalize`. Each template and block collects its pieces and yields them whole, where Jinja
    hands every piece up through all layers of layouts.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._modules: set[str] = set()  # names of what the template imports

    def write_commons(self) -> None:
        super().write_commons()
        self.writeline("as_html, as_text = environment.as_html, environment.as_text")
        self.writeline("member, module = environment.getattr, environment.module")

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        if frame.parent is None:
            self.buffer(frame)

    def leave_frame(self, frame: Frame, *given: Any, **named: Any) -> None:
        if frame.parent is None:
            self.writeline(f"yield concat({frame.buffer})")
        super().leave_frame(frame, *given, **named)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:  # noqa: N802 - Jinja calls it by this name
        if not node.with_context:  # the one piece that Jinja never collects: what is before it goes
            self.writeline(f"yield concat({frame.buffer})")
            self.writeline(f"{frame.buffer}.clear()")
        super().visit_Include(node, frame)

    def visit_Import(self, node: nodes.Import, frame: Frame) -> None:  # noqa: N802 - Jinja calls it by this name
        self._modules.add(node.target)
        super().visit_Import(node, frame)

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802 - Jinja calls it by this name
        name = repr(node.attr)
        module = isinstance(node.node, nodes.Name) and node.node.name in self._modules
        if module and not node.attr.startswith("_"):
            kind, members = "module", "it.__dict__"
        else:
            kind, members = "dict", "it"
        self.write(f"({members}[{name}] if type(it := ")
        self.visit(node.node, frame)
        self.write(f") is {kind} and {name} in {members} else member(it, {name}))")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja calls it by this name
        kind = "html" if frame.eval_ctx.autoescape else "text"
        self.write(f"environment.join_{kind}((")
        for one in node.nodes:
            self.visit(one, frame)
            self.write(", ")
        self.write("))")

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.Mul):  # `"-" * 40`: once, not in each mail
            given = [one.as_const(frame.eval_ctx) for one in (node.left, node.right)]
            node = nodes.Const(bounds.times(*given), lineno=node.lineno)
        return super()._output_child_to_const(node, frame, finalize)

    def _output_child_pre(self, _node: nodes.Expr, frame: Frame, _finalize: Any) -> None:
        self.write("as_html(" if frame.eval_ctx.autoescape else "as_text(")

    def _output_child_post(self, _node: nodes.Expr, _frame: Frame, _finalize: Any) -> None:
        self.write(")")


class _Page(Template):
    """A template whose module, where it is imported, is made once: nothing is given to it."""

    def _get_default_module(self, _ctx: Context | None = None) -> TemplateModule:
        if self._module is None:
            self._module = self.make_module()
        return self._module

    def get_corresponding_lineno(self, lineno: int | None) -> int:
        """Bear that Python knows no line of a jump, where a render that never ends is stopped."""
        return super().get_corresponding_lineno(lineno or 0)


class Engine(ImmutableSandboxedEnvironment):
    """A sandbox for one locale and zone, and for one kind of part: the subject or the bodies."""

    code_generator_class = _Compiler
    template_class = _Page
    module = TemplateModule
    as_html: Callable[[object], str] = staticmethod(as_html)
    as_text: Callable[[object], str]
    join_html: Callable[..., str] = staticmethod(showing.join_html)
    join_text: Callable[..., str] = staticmethod(showing.join_text)
    find: Callable[[str, str | None], str]  # the file that is taken for a name, asked for by a file
    intercepted_binops = frozenset(bounds.OPERATORS)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.binop_table.update(bounds.OPERATORS)
        self.globals["range"] = bounds.numbers
        self.filters.update(bounds.filters(self.filters))
        self.filters.update(showing.filters(self.filters))
        self._pages: dict[tuple[str, str | None], Template] = {}
        # What is not there is the same for every object: templates name only so many members.
        self._absent = lru_cache(1024)(lambda name: self.undefined(obj={}, name=name))

    def fill(self, name: str, given: Mapping[str, Json]) -> str:
        """Render a template, as Jinja's `render` does, with one copy of what is given for three."""
        page = self.get_template(name)
        context = Context(self, {**page.globals, **given}, name, page.blocks)
        try:
            return "".join(page.root_render_func(context))
        except Exception:  # noqa: BLE001 - raised again, with the template's lines for the code's
            self.handle_exception()

    # Nothing is loaded twice: Jinja's own cache takes a lock, and layouts are asked for each time.
    # Which file it is depends on the locale, and on who asks.
    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,
        *given: Any,
        **named: Any,
    ) -> Template:
        if not isinstance(name, str):
            return name
        page = self._pages.get((name, parent))
        if page is None:
            file = self.find(name, parent)
            page = self._pages[name, parent] = super().get_template(file, None, *given, **named)
        return page

    # `x.name` of a JSON object is its member: looked up first, which saves a third of a render
    # and lets an order have `items`. Plain dicts of JSON values have nothing unsafe to reach.
    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict:
            if attribute in obj:
                return obj[attribute]
            if attribute not in _METHODS:
                return self._absent(attribute)
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
        return _html(text) if obj._default_autoescape else text  # noqa: SLF001 - whose rules it was printed by; nothing public tells

    # What is nested without bottom takes for ever to compile, or ends in a stack of Python's own.
    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parser = Parser(self, source, name, filename)
        try:
            parsed = parser.parse()
        except RecursionError:
            parser.fail(_TOO_DEEP)
        for deep in _below(parsed, _DEEPEST):
            parser.fail(_TOO_DEEP, deep.lineno)
        return parsed

    def _compile(self, source: str, filename: str) -> CodeType:
        try:
            return super()._compile(source, filename)
        except SyntaxError as error:
            text = _TOO_DEEP if "too many" in error.msg else error.msg
            line = _line_of(source, error.lineno or 0)
            raise TemplateSyntaxError(text, line, filename, filename) from None
        except (MemoryError, RecursionError):
            raise TemplateSyntaxError(_TOO_DEEP, 0, filename, filename) from None

    # Jinja asks this of whatever method is taken from a value.
    def wrap_str_format(self, value: Any) -> Callable[..., Any] | None:
        fill = super().wrap_str_format(value)
        return bounds.method(value) if fill is None else bounds.formatting(value.__self__, fill)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a plain dict: Jinja's chained one is looked through anew for every render."""
        return {**self.globals, **(d or {})}


def _below(parsed: nodes.Node, depth: int) -> list[nodes.Node]:
    """Return the nodes that lie so deep; without recursion, of which there may be no end."""
    level: list[nodes.Node] = [parsed]
    for _ in range(depth):
        level = [inner for node in level for inner in node.iter_child_nodes()]
    return level


def _line_of(code: str, line: int) -> int:
    """Return the template's line of a line of its code, where Jinja has noted them last."""
    noted = re.findall(r"(\d+)=(\d+)", code.rpartition("debug_info = ")[2])
    return max((int(own) for own, written in noted if int(written) <= line), default=0)


def _catches(macro: Macro) -> bool:
    return macro.caller or macro.catch_kwargs or macro.catch_varargs
