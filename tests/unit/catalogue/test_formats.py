"""Dates, times and numbers: the zone of the event, printed; never that of the host."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from babel import Locale
from babel.localedata import locale_identifiers
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st

from consumer.catalogue.formats import MomentError, formats_for
from consumer.catalogue.money import minus_of
from consumer.model import Json


@pytest.fixture(params=["UTC", "Pacific/Auckland"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


KNOWN = [
    # Near midnight: the day is that of the zone.
    ("2026-03-01T23:30:00Z", "de", "Europe/Berlin", "2. März 2026, 00:30 MEZ"),
    ("2026-03-01T23:30:00Z", "en-US", "America/New_York", "March 1, 2026, 6:30\u202fPM EST"),
    # The hour that is there twice, told apart by the zone's name; the hour that is not there.
    ("2026-10-25T00:30:00Z", "en-GB", "Europe/Berlin", "25 October 2026, 02:30 CEST"),
    ("2026-10-25T01:30:00Z", "en-GB", "Europe/Berlin", "25 October 2026, 02:30 CET"),
    ("2026-03-29T01:00:00Z", "en-GB", "Europe/Berlin", "29 March 2026, 03:00 CEST"),
    # Without a zone: UTC, said so. With one that the locale has no name for: the offset.
    ("2026-03-01T12:00:00+02:00", "en-GB", None, "1 March 2026, 10:00 UTC"),
    ("2026-03-01T12:00:00Z", "en", "Asia/Kolkata", "March 1, 2026, 5:30\u202fPM GMT+05:30"),
    (1_772_366_400_000, "en-GB", None, "1 March 2026, 12:00 UTC"),
    ("2016-12-31T23:59:60Z", "en-GB", None, "31 December 2016, 23:59 UTC"),
]


@pytest.mark.usefixtures("host_zone")
@pytest.mark.parametrize(("moment", "locale", "zone", "written"), KNOWN)
def test_moments(moment: Json, locale: str, zone: str | None, written: str) -> None:
    assert formats_for(locale, zone).moment(moment).replace("\xa0", " ") == written


def test_day_and_clock() -> None:
    formats = formats_for("en-GB", "Asia/Tokyo")
    assert formats.day("2026-03-01T20:00:00Z") == "2 March 2026"
    assert formats.day("2026-03-01") == "1 March 2026"  # a plain day is that day everywhere
    assert formats.day("2026-03-01", "short") == "01/03/2026"
    assert formats.clock("2026-03-01T20:00:00Z") == "05:00\xa0GMT+09:00"


@pytest.mark.parametrize(
    "moment",
    ["2026-03-01T12:00:00", "2026-02-30", "noon", "", None, True, 1.5, -1, 10**20, [], {}],
)
def test_what_is_not_a_moment(moment: Json) -> None:
    with pytest.raises(MomentError):
        formats_for("en", None).day(moment)


@given(st.integers(-2_000, 2_000), st.sampled_from(sorted(locale_identifiers())))
def test_numbers_are_what_babel_writes(number: int, locale: str) -> None:
    tag = locale.replace("_", "-")
    ours = formats_for(tag, None).number(number).replace(minus_of(Locale.parse(locale)), "-")
    assert ours == format_decimal(number, locale=locale)


def test_numbers_and_direction() -> None:
    assert formats_for("de", None).number(1_234_567) == "1.234.567"
    assert (formats_for("he", None).direction, formats_for("de", None).direction) == ("rtl", "ltr")
    with pytest.raises(MomentError):
        formats_for("de", None).number(1.5)
