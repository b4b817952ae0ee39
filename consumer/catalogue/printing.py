"""What may be printed into a mail, and how: the filters, the last check of every printed value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final, TypeAlias
from urllib.parse import quote

from jinja2 import pass_context
from jinja2.runtime import Context, Undefined
from markupsafe import Markup, escape

from consumer.catalogue.bidi import PrintError, bare, kept_together
from consumer.catalogue.formats import Formats
from consumer.catalogue.money import money

# ── The last check before a value is printed

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


_PLAIN: Final = frozenset({str, int, Markup})
_TEXTS: Final = (str, Undefined)


def printable(value: object) -> object:
    """Let text and numbers through; null, true, a list printed as such are a template's mistake."""
    if type(value) in _PLAIN or isinstance(value, _TEXTS):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    name = {type(None): "null", bool: "a boolean"}.get(type(value), f"a {type(value).__name__}")
    raise PrintError(f"{name} cannot be printed")


def printable_on_one_line(value: object) -> object:
    """The same for the subject, where a line break would begin another header."""
    if isinstance(value, str) and _BREAKS.search(value):
        raise PrintError("a line break or control character in the subject")
    return printable(value)


# What stands around every printed value in the compiled templates. Nearly all are plain text.


def as_text(value: object) -> str:
    """Print into the text part."""
    return value if type(value) is str else str(printable(value))


def as_html(value: object) -> str:
    """Print into the HTML part, escaped; `Markup`, such as a macro's, is so already."""
    if type(value) is str:
        # Five searches for one letter each take a quarter of the time of one for five letters.
        if "&" in value or "<" in value or ">" in value or '"' in value or "'" in value:
            return str(escape(value))
        return value
    return value if type(value) is Markup else str(escape(printable(value)))


def as_line(value: object) -> str:
    """Print into the subject."""
    return str(printable_on_one_line(value))


Writer: TypeAlias = Callable[[object], str]


def from_right_to_left(write: Writer) -> Writer:
    """Print into a mail that is written from right to left. Markup is text that was printed."""

    def writer(value: object) -> str:
        return write(kept_together(value) if type(value) is str else value)

    return writer


# ── Filters

# Scheme, a host name of plain letters without user or password, and nothing that could end the
# attribute that the link stands in.
_LINK = re.compile(
    r"https://([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::[1-9][0-9]{0,4})?"
    r"(?:[/?#][^\s\"'<>\\^`{|}\x00-\x20\x7f]*)?"
)
_KEPT: Final = "!#$%&()*+,/:;=?@[]~-._"


def link(url: object, *hosts: str) -> str:
    """Let an https link through, written in ASCII; where hosts are named, to one of them only."""
    found = _LINK.fullmatch(_bare(url)) if isinstance(url, str) else None
    if found is None:
        raise PrintError("not an https link to a plain host")
    if hosts and found[1].lower() not in hosts:
        raise PrintError("the link leads to a host that the template does not name")
    return found[0] if found[0].isascii() else quote(found[0], safe=_KEPT)


def _bare(url: str) -> str:
    return url if url.isascii() else bare(url)


def _lines(text: object) -> object:
    """Break a text where it has line breaks: `<br>` in HTML."""
    if not isinstance(text, str):
        raise PrintError("only text has lines")
    return Markup("<br>").join(text.splitlines())


_LOCAL: Final[Mapping[str, Callable[[Formats], Callable[..., str]]]] = {
    "money": lambda formats: _money(formats.name),
    "number": lambda formats: _at_run_time(formats.number),
    "date": lambda formats: _at_run_time(formats.day),
    "time": lambda formats: _at_run_time(formats.clock),
    "datetime": lambda formats: _at_run_time(formats.moment),
    "plural": lambda formats: _at_run_time(formats.plural),
}
FILTERS: Final = frozenset({*_LOCAL, "link", "lines"})


def filters(formats: Formats | None) -> Mapping[str, Callable[..., object]]:
    """Return our filters in one locale and zone; None: they are only looked at, never called."""
    local = {name: of(formats) if formats else _unused for name, of in _LOCAL.items()}
    return {**local, "link": link, "lines": _lines}


def _at_run_time(write: Callable[..., str]) -> Callable[..., str]:
    """Keep Jinja from working a filter out when it compiles, once for all locales."""

    @pass_context
    def filter_(_: Context, *given: object, **named: object) -> str:
        return write(*given, **named)

    return filter_


def _money(locale: str) -> Callable[..., str]:
    """Do the same for amounts, with no call in between: a receipt prints twenty of them."""

    @pass_context
    def filter_(_: Context, amount: object, currency: object) -> str:
        return money(amount, currency, locale)

    return filter_


_unused = pass_context(lambda *_: "")
