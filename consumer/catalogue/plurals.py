"""Plural forms, as each language has them: `{{ n | plural(one="# item", other="# items") }}`.

The names of the forms are CLDR's. English and German have two, Japanese one, Arabic six.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from babel import Locale

FORMS: Final = ("zero", "one", "two", "few", "many", "other")
COUNT: Final = "#"  # where the number stands, written as the language writes it
# Rules go by the last two digits, some by millions; decimals, for which Czech has "many", not here.
_PROBES: Final = (*range(201), 1_000, 100_000, 1_000_000)


@lru_cache(maxsize=4096)
def form_of(count: int, locale: str) -> str:
    """Name the form that a whole number takes, in "de-AT" or "de_AT"."""
    return str(Locale.parse(locale.replace("-", "_")).plural_form(abs(count)))


@lru_cache(maxsize=256)
def needed(locale: str) -> tuple[str, ...]:
    """Return the forms that whole numbers take in a language, in CLDR's order."""
    taken = {form_of(count, locale) for count in _PROBES} | {"other"}
    return tuple(form for form in FORMS if form in taken)


@lru_cache(maxsize=256)
def known(locale: str) -> frozenset[str]:
    """Return every form that the language has, of decimals too."""
    return frozenset({*Locale.parse(locale, sep="-").plural_form.tags, "other"})
