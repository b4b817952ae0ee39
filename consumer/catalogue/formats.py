"""Numbers, dates and times in one locale and one time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime
from functools import lru_cache
from typing import Final, Literal, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale, UnknownLocaleError
from babel.dates import (
    format_date,
    format_time,
    get_datetime_format,
    get_timezone_gmt,
    get_timezone_name,
)
from babel.numbers import format_decimal

from consumer.catalogue.instants import instant
from consumer.catalogue.money import minus_of, money
from consumer.catalogue.plurals import COUNT, form_of
from consumer.model import Json

Style: TypeAlias = Literal["short", "medium", "long", "full"]

DEFAULT_LOCALE: Final = "en"
DEFAULT_ZONE: Final = "UTC"

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNGROUPED: Final = range(100)  # no locale groups two digits
_ZONES: Final = frozenset(available_timezones())


class MomentError(ValueError):
    """Not a time that may be printed; the text holds no value."""


@lru_cache(maxsize=1024)
def known_locale(tag: str) -> str | None:
    """Return the nearest locale that CLDR knows ("de-XX" is "de"), as BCP 47; None: no such one."""
    if not _TAG.fullmatch(tag):
        return None
    parts = tag.replace("_", "-").split("-")
    while parts:
        try:
            return str(Locale.parse("-".join(parts), sep="-")).replace("_", "-")
        except (UnknownLocaleError, ValueError):
            parts.pop()
    return None


def known_zone(name: str) -> str | None:
    """Return the name of the time zone if there is one."""
    return name if name in _ZONES else None


@dataclass(frozen=True, slots=True, eq=False)
class Formats:
    """How one locale and zone write things. Pure: the host's locale and zone play no part."""

    name: str  # the locale's, as Babel writes it: "de_AT"
    locale: Locale
    zone: ZoneInfo

    @property
    def lang(self) -> str:
        return self.name.replace("_", "-")

    @property
    def direction(self) -> str:
        return str(self.locale.text_direction)

    def money(self, amount: object, currency: object) -> str:
        return money(amount, currency, self.name)

    def number(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int):
            raise MomentError("only integers are written as numbers")
        return str(value) if value in _UNGROUPED else _number(value, self.name)

    def plural(self, count: object, **forms: str) -> str:
        """Choose the form that the language has for so many, and put the number in for `#`."""
        if isinstance(count, bool) or not isinstance(count, int):
            raise MomentError("only integers are counted")
        chosen = forms.get(form_of(count, self.name), forms["other"])
        return chosen.replace(COUNT, self.number(count))

    def day(self, value: Json, style: Style = "long") -> str:
        """Write the day: of an instant, the day it is in the zone; a plain date as it is."""
        return _day(self, _key(value), style)

    def clock(self, value: Json, style: Style = "short") -> str:
        """Write the time of day, and the zone it is in."""
        return _clock(self, _key(value), style)

    def moment(self, value: Json, style: Style = "long") -> str:
        """Write day, time of day and zone."""
        return _day_and_clock(self, _key(value), style)


def _key(value: Json) -> str | int:
    """Let through what can be a time at all: the rest could not even be looked up."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    raise MomentError(_NO_MOMENT)


# A mail says its dates twice or thrice (text, HTML, preview), and Babel takes 25 us for each.
@lru_cache(maxsize=1024)
def _day(formats: Formats, value: str | int, style: Style) -> str:
    if isinstance(value, str) and _DAY.fullmatch(value):
        day = _plain_day(value)
    else:
        day = _moment(value).astimezone(formats.zone).date()
    return str(format_date(day, format=style, locale=formats.locale))


@lru_cache(maxsize=1024)
def _clock(formats: Formats, value: str | int, style: Style) -> str:
    moment = _moment(value).astimezone(formats.zone)
    clock = format_time(moment, format=style, tzinfo=formats.zone, locale=formats.locale)
    return f"{clock}\N{NO-BREAK SPACE}{_zone_name(moment, formats.locale)}"


@lru_cache(maxsize=1024)
def _day_and_clock(formats: Formats, value: str | int, style: Style) -> str:
    both = str(get_datetime_format(style, locale=formats.locale)).replace("'", "")
    return both.replace("{0}", formats.clock(value)).replace("{1}", formats.day(value, style))


_NO_MOMENT: Final = "a time is RFC 3339 with its offset, or milliseconds since the epoch"


def _moment(value: Json) -> datetime:
    """Read a time; the years at both ends of the calendar leave room for any zone."""
    moment = instant(value)
    if moment is None or not MINYEAR < moment.year < MAXYEAR:
        raise MomentError(_NO_MOMENT)
    return moment


def _plain_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise MomentError("there is no such day") from None


@lru_cache(maxsize=1024)
def _number(value: int, locale: str) -> str:
    minus = minus_of(Locale.parse(locale))
    return str(format_decimal(value, locale=locale)).replace("-", minus)


def _zone_name(moment: datetime, locale: Locale) -> str:
    """Return CET where the locale uses such a name, else GMT+01:00: never a bare +0100."""
    if str(moment.tzinfo) == DEFAULT_ZONE:
        return DEFAULT_ZONE
    name = str(get_timezone_name(moment, "short", locale=locale))
    if name[0] in "+-" or " " in name:
        return str(get_timezone_gmt(moment, "long", locale=locale))
    return name


def formats_for(locale: str | None, zone: str | None) -> Formats:
    """Return the formats of a locale and zone that `known_locale` and `known_zone` have named."""
    known = Locale.parse(locale or DEFAULT_LOCALE, sep="-")
    return Formats(str(known), known, ZoneInfo(zone or DEFAULT_ZONE))
