"""Words that mails share: a mail that is in a language must find them in it.

A mail with `pl/` is Polish through and through. What it draws in from `_layouts/` has been written
for other languages; where it has not for this one, an English sentence would stand among the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from consumer.catalogue.errors import Problem
from consumer.catalogue.folder import LAYOUTS, Folder
from consumer.catalogue.languages import fallbacks, own_locale, variants_of

_TRANSLATE: Final = "translate it (a copy will do where nothing is said otherwise)"


def untranslated(
    folder: Folder, locale: str | None, drawn: Iterable[str], there: Collection[str]
) -> Iterator[Problem]:
    """Yield what a mail in a locale lacks. `drawn`: the files it is made of. `there`: all names.

    A mail without words of its own for the locale is in its own language, and lacks nothing.
    """
    own = own_locale(folder.declaration)
    variants = variants_of(folder.template_names, folder.name)
    mine = [one for one in fallbacks(locale) if one in variants] if locale else []
    if own is None or not mine or fallbacks(mine[0])[-1] == fallbacks(own)[-1]:
        return
    for file in drawn:
        shared, _, name = file.partition("/")
        if shared == LAYOUTS and (others := _others(name, mine[0], own, there)):
            why = f"{folder.name} has {mine[-1]}/, and {file} is there in {', '.join(others)}"
            yield Problem(f"{LAYOUTS}/{mine[-1]}/{name}", 0, f"is missing: {why}: {_TRANSLATE}")


def _others(name: str, locale: str, own: str, there: Collection[str]) -> list[str]:
    """Return the languages that a shared file is translated into, if not for this locale.

    A file without any translation holds no words. One that has a variant for `own` is itself in
    a language that nobody names.
    """
    has = {one for one in variants_of(there, LAYOUTS) if f"{LAYOUTS}/{one}/{name}" in there}
    if not has.isdisjoint({*fallbacks(locale), *fallbacks(own)}):
        return []
    return sorted({fallbacks(one)[-1] for one in has} - {fallbacks(locale)[-1], fallbacks(own)[-1]})
