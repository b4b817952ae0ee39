"""Amounts: what Babel would write, with ISO 4217's decimals, never a hundred times too much."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from babel import Locale, localedata
from babel.numbers import get_currency_precision
from hypothesis import given
from hypothesis import strategies as st

from consumer.catalogue.formats import formats_for
from consumer.catalogue.money import CURRENCIES, AmountError, exponent, minus_of, money

LOCALES = sorted(localedata.locale_identifiers())
# Where CLDR's decimals for display are ISO's, Babel's own function is the measure.
AGREED = sorted(code for code in CURRENCIES if get_currency_precision(code) == exponent(code))


def by_babel(amount: int, currency: str, locale: str) -> str:
    """Write the amount as Babel does, with the space that CLDR wants after letters."""
    known = Locale.parse(locale)
    pattern = known.currency_formats["standard"]
    value = Decimal(amount).scaleb(-exponent(currency))
    text = pattern.apply(value, known, currency=currency)
    return re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])", "\xa0", text)


@given(
    st.integers(-(10**15), 10**15) | st.integers(-20_000, 20_000),
    st.sampled_from(AGREED),
    st.sampled_from(LOCALES),
)
def test_money_is_what_babel_writes(amount: int, currency: str, locale: str) -> None:
    """But for the minus from right to left, where Babel leaves out a mark that CLDR has."""
    ours = money(amount, currency, locale).replace(minus_of(Locale.parse(locale)), "-")
    assert ours == by_babel(amount, currency, locale)


@given(st.integers(-(10**15), 10**15), st.sampled_from(sorted(CURRENCIES)))
def test_no_digit_is_lost(amount: int, currency: str) -> None:
    """The digits printed are the digits given, to the last minor unit."""
    printed = money(amount, currency, "en").replace("XPF", "")
    assert int(re.sub(r"\D", "", printed)) == abs(amount)
    assert ("-" in printed) == (amount < 0)


KNOWN = [
    (1999, "EUR", "en", "€19.99"),
    (1999, "EUR", "de", "19,99\xa0€"),
    (1999, "JPY", "en", "¥1,999"),
    (1999, "KWD", "en", "KWD\xa01.999"),
    (1999, "HUF", "en", "HUF\xa019.99"),  # CLDR would show 20, or 1,999 of them
    (1999, "COP", "es_CO", "$19,99"),
    (0, "EUR", "en", "€0.00"),
    (-0, "EUR", "en", "€0.00"),
    (-500, "EUR", "en", "-€5.00"),
    (5, "EUR", "en", "€0.05"),
    (1234567, "EUR", "es", "12.345,67\xa0€"),
    (12345678900, "INR", "en_IN", "₹12,34,56,789.00"),
    (99999, "CHF", "de_CH", "CHF\xa0999.99"),
]


@pytest.mark.parametrize(("amount", "currency", "locale", "written"), KNOWN)
def test_known_amounts(amount: int, currency: str, locale: str, written: str) -> None:
    assert money(amount, currency, locale) == written


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("19.99", "EUR", 1999),
        ("-0.05", "EUR", -5),
        ("0.00", "EUR", 0),
        ("1500", "JPY", 1500),
        ("4.250", "KWD", 4250),
        ("9999999999999.99", "EUR", 999999999999999),
    ],
)
def test_an_exact_text_with_its_currencys_decimals_is_an_amount(
    text: str, currency: str, amount: int
) -> None:
    """As a producer's decimals come (Avro's become such texts)."""
    assert money(text, currency, "de") == money(amount, currency, "de")


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        (10.285, "EUR"),  # floats are refused: they are off by a cent somewhere
        (19.0, "EUR"),
        ("1999", "EUR"),
        ("19,99", "EUR"),
        ("19.990", "EUR"),  # so could 1999 be: of cents, or of euros
        ("19.9", "EUR"),
        ("1.5", "JPY"),
        ("1.50", "KWD"),
        ("+1.50", "EUR"),
        (".50", "EUR"),
        ("1.50 ", "EUR"),
        ("1e2.00", "EUR"),
        ("\u0661.50", "EUR"),
        ("9" * 19 + ".00", "EUR"),
        (True, "EUR"),
        (None, "EUR"),
        ([1], "EUR"),
        (10**18, "EUR"),
        (1999, "XXX"),
        (1999, "eur"),
        (1999, ""),
        (1999, None),
        (1999, "DEM"),  # no longer money
        (1999, "EURO"),
    ],
)
def test_what_is_not_an_amount(amount: object, currency: object) -> None:
    with pytest.raises(AmountError) as caught:
        money(amount, currency, "en")
    assert str(amount) not in str(caught.value)


@pytest.mark.parametrize("locale", ["ar", "ar_EG", "he"])
def test_a_minus_stays_before_its_number_from_right_to_left(locale: str) -> None:
    """A bare one would be shown behind it: the mark before it makes it part of the number."""
    assert "\u200e-1,999" in money(-1999, "JPY", locale)
    assert formats_for(locale.replace("_", "-"), None).number(-1999) == "\u200e-1,999"
