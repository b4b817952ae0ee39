"""Amounts in minor units, written as the locale writes them.

How many decimals a minor unit has is ISO 4217's word, not CLDR's: CLDR rounds forints, pesos and
rupiahs to whole ones for display, and 1999 of them would read a hundred times too much.

Babel needs 18 us an amount. The pieces around the digits are learnt from Babel once per (locale,
currency) and tried against it on probes; where they do not fit, Babel writes every amount itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Final

from babel import Locale
from babel.core import get_global
from babel.numbers import NumberPattern, get_minus_sign_symbol, parse_pattern

_NO_MINOR: Final = frozenset(
    {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV"}
) | {"XAF", "XOF", "XPF"}
_THOUSANDTHS: Final = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
# CLDR wants a space between a code of letters and the digits ("CHF 10.00"); Babel leaves it out.
_TIGHT: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_EXACT: Final = re.compile(r"(-?)([0-9]{1,18})(?:\.([0-9]{1,3}))?")
_MOST: Final = 10**18  # what a decimal of Python's default precision holds with room to spare
_GROUPED: Final = 1_000  # the first whole amount that is grouped
_PROBES: Final = (0, 1, 9, 10, 99, 100, 1_000, 99_999, 100_000, 123_456, 1_234_567, 999_999_999)


def _current() -> frozenset[str]:
    used = get_global("territory_currencies").values()
    return frozenset(code for uses in used for code, _, end, tender in uses if tender and not end)


CURRENCIES: Final = _current()  # legal tender somewhere today, as CLDR knows it


class AmountError(ValueError):
    """Not an amount that may be printed; the text holds no value."""


def money(amount: object, currency: object, locale: str) -> str:
    """Write an integer of minor units: 1999, "EUR" in "de" is "19,99 €". No arithmetic.

    Or an exact text with just the decimals of its currency, as Avro's decimals become: "19.99".
    """
    if type(currency) is not str:
        raise AmountError(_NO_CURRENCY)
    if type(amount) is str:
        return _written(_minor_units(amount, currency), currency, locale)
    if type(amount) is not int:  # nor a bool, which is one to Python
        raise AmountError(f"an amount is an integer of minor units, not {_kind(amount)}")
    return _written(amount, currency, locale)


def _minor_units(text: str, currency: str) -> int:
    """Take the point out. With other decimals than the currency's it could mean two amounts."""
    match = _EXACT.fullmatch(text)
    if match is None or len(match[3] or "") != exponent(currency):
        raise AmountError("an amount in a text has exactly the decimals of its currency")
    return int(match[1] + match[2] + (match[3] or ""))


_NO_CURRENCY: Final = "the currency is not a current ISO 4217 code"


# A mail says its amounts twice, in text and HTML.
@lru_cache(maxsize=4096)
def _written(amount: int, currency: str, locale: str) -> str:
    if not -_MOST < amount < _MOST:
        raise AmountError("the amount is too large to be true")
    if currency not in CURRENCIES:
        raise AmountError(_NO_CURRENCY)
    return _writer(locale, currency)(amount)


def exponent(currency: str) -> int:
    """Return the decimals of the minor unit (ISO 4217): 0, 2 or 3."""
    return 0 if currency in _NO_MINOR else 3 if currency in _THOUSANDTHS else 2


def _kind(value: object) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


@lru_cache(maxsize=4096)
def _writer(locale_id: str, currency: str) -> Callable[[int], str]:
    by_babel = _babel_writer(Locale.parse(locale_id), currency)
    learnt = _learn(by_babel, exponent(currency))
    if learnt is None or any(learnt(n) != by_babel(n) for p in _PROBES for n in (p, -p)):
        return by_babel
    return learnt


def minus_of(locale: Locale) -> str:
    """Return the minus that stays before its number: from right to left a bare one goes behind."""
    return get_minus_sign_symbol(locale) if locale.text_direction == "rtl" else "-"


def _babel_writer(locale: Locale, currency: str) -> Callable[[int], str]:
    digits = exponent(currency)
    pattern: NumberPattern = parse_pattern(locale.currency_formats["standard"].pattern)
    pattern.frac_prec = (digits, digits)
    minus = minus_of(locale)

    def write(amount: int) -> str:
        value = Decimal(amount).scaleb(-digits)
        text = str(pattern.apply(value, locale, currency=currency, currency_digits=False))
        return _TIGHT.sub("\N{NO-BREAK SPACE}", text).replace("-", minus)

    return write


def _learn(write: Callable[[int], str], digits: int) -> Callable[[int], str] | None:
    """Find what stands around and between the digits of 1,234,567.89, above and below zero."""
    sample = 1_234_567 * 10**digits + int("890"[:digits] or "0")
    cents = r"(\D+)" + "890"[:digits] if digits else "()"
    shape = re.compile(rf"(\D*)1(?P<group>\D+)234(?P=group)567{cents}(\D*)")
    above, below = shape.fullmatch(write(sample)), shape.fullmatch(write(-sample))
    if above is None or below is None or above.groups()[1:3] != below.groups()[1:3]:
        return None
    head, group, point, tail = above.groups()
    minus_head, _, _, minus_tail = below.groups()

    scale = 10**digits
    minors = [f"{point}{cents:0{digits}d}" for cents in range(scale)] if digits else [""]

    def fast(amount: int) -> str:
        whole, cents = divmod(abs(amount), scale)
        units = f"{whole:,}".replace(",", group) if whole >= _GROUPED else str(whole)
        if amount < 0:
            return f"{minus_head}{units}{minors[cents]}{minus_tail}"
        return f"{head}{units}{minors[cents]}{tail}"

    return fast
