"""Which language a mail is really written in, and which file stands in for which.

A folder's own files are in one language. `de/subject.j2` below it stands in for `subject.j2` where
the mail is German; what `de/` does not have is taken from the folder itself. The order of the
folders is CLDR's: de-AT, de, own; es-MX, es-419, es, own. Traditional Chinese never takes the words
of `zh/`, which are in the other script.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from functools import lru_cache
from typing import Final

from babel.core import get_global

from consumer.catalogue.declaration import Declaration
from consumer.catalogue.formats import known_locale

ROOT: Final = "root"
_DEPTH: Final = 3  # folder/locale/file
_SCRIPT: Final = 4  # letters, as in Hant


@lru_cache(maxsize=1024)
def fallbacks(locale: str) -> tuple[str, ...]:
    """Return the locale and those whose words will do for it, nearest first: de-AT, de."""
    chain = [locale]
    while (parent := _parent(chain[-1])) != ROOT:
        chain.append(parent)
    return tuple(chain)


def _parent(locale: str) -> str:
    exception = get_global("parent_exceptions").get(locale.replace("-", "_"))
    if exception:
        return str(exception).replace("_", "-")
    shorter, _, last = locale.rpartition("-")
    if not shorter or (len(last) == _SCRIPT and not _usual_script(shorter, last)):
        return ROOT
    return shorter


def _usual_script(language: str, script: str) -> bool:
    likely = str(get_global("likely_subtags").get(language, ""))
    return script in likely.split("_")


def variants_of(names: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return the locales that a folder's templates ("order.receipt/de/subject.j2") are there in."""
    below = [name for name in names if name.startswith(f"{folder}/")]
    return tuple(sorted({locale for name in below if (locale := language_of(name))}))


def language_of(name: str) -> str | None:
    """Return the locale of a file's folder; None: it is a folder's own file."""
    parts = name.split("/")
    return parts[1] if len(parts) == _DEPTH else None


def stands_in(name: str, asking: str | None, chain: Sequence[str], there: Container[str]) -> str:
    """Return the file that is taken for `name` along the chain of locales.

    A file that names what it stands in for itself (`de/body.html.j2` extends `body.html.j2`) means
    the next one: it may change one block of it, and keep the others. `./_words.j2` lies in the
    mail's own folder, whatever its name.
    """
    folder, slash, file = name.partition("/")
    if folder == "." and asking is not None:
        folder = asking.partition("/")[0]
        name = f"{folder}/{file}"
    named = [*(f"{folder}/{locale}/{file}" for locale in chain if slash), name]
    after = named[named.index(asking) + 1 :] if asking in named[:-1] else named
    return next((one for one in after if one in there), name)


def spoken(wanted: str | None, variants: Collection[str], own: str | None) -> str | None:
    """Return the locale that a mail is really written in.

    That is the wanted one where its words are there: in a variant, or in the folder's own files,
    whose language is that of `own`. Else it is `own`: an English mail has no Japanese dates. A
    folder that does not say its own language is taken to speak whatever is wanted.
    """
    if wanted is None or own is None:
        return wanted
    chain = fallbacks(wanted)
    same = chain[-1] == fallbacks(own)[-1]
    return wanted if same or any(locale in variants for locale in chain) else own


def own_locale(says: Declaration) -> str | None:
    """Return the locale of a folder's own files, which is the default of `locale`."""
    default = says.locale.default if says.locale is not None else None
    return known_locale(default) if isinstance(default, str) else None
