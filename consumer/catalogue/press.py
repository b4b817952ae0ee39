"""Rendering: a mail to a message. The same mail gives the same message, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Final
from urllib.parse import quote

from jinja2.exceptions import SecurityError, UndefinedError

from consumer.catalogue.bidi import (
    PrintError,
    from_right_to_left,
    readable,
    without_marks_in_tags,
)
from consumer.catalogue.blocks import Unsubscribe
from consumer.catalogue.declaration import Declaration
from consumer.catalogue.engine import Engine
from consumer.catalogue.folder import HTML, SUBJECT, TEXT
from consumer.catalogue.formats import MomentError, formats_for
from consumer.catalogue.languages import own_locale, spoken, variants_of
from consumer.catalogue.mailing import Rules
from consumer.catalogue.money import AmountError
from consumer.catalogue.templates import Templates
from consumer.model import Address, Bad, Json, Mail, Message, Reason

LONGEST_SUBJECT: Final = 255  # characters; a longer one is a body in the wrong place
AUTO_SUBMITTED: Final = ("Auto-Submitted", "auto-generated")  # RFC 3834: robots do not answer it

LONGEST_LINK: Final = 900  # characters: a header's line holds 998, and a link is never broken
_OF_LINKS: Final = "!#$%&'()*+,/:;=?@[]~-._"  # what a link in a header may hold as it is
_SPACES = re.compile(r"[ \t\r\n]+")


class _NoMailError(ValueError):
    """The rendered parts do not make a mail; the text holds no value."""


@dataclass(frozen=True, slots=True)
class _Voice:
    """The templates in one locale and zone."""

    given: Mapping[str, Json]  # what templates know beside the context: `lang`, `dir`
    turned: bool  # written from right to left
    subjects: Engine
    bodies: Engine

    def subject(self, name: str, context: Mapping[str, Json]) -> str:
        return self.subjects.fill(f"{name}/{SUBJECT}", context)

    def body(self, name: str, part: str, context: Mapping[str, Json]) -> str:
        return self.bodies.fill(f"{name}/{part}", context)


class Press:
    """Fills templates. Keeps one set of them for each locale and zone in use."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._locale = lru_cache(maxsize=4096)(self._spoken)
        self._voice = lru_cache(maxsize=256)(self._make_voice)

    def render(self, rules: Rules, mail: Mail) -> Message | Bad:
        """Fill the templates; a failure names file and line, and no value."""
        try:
            return self._message(rules, mail)
        except Exception as error:  # noqa: BLE001 - a template may fail in any way that Python can
            return Bad(Reason.INVALID, self._why(mail.type.name, error), mail.type.name, mail.key)

    def languages(self, name: str) -> tuple[str, ...]:
        """Return the locales that a folder has variants for."""
        return variants_of(self._templates.sources, name)

    def _message(self, rules: Rules, mail: Mail) -> Message:
        says = rules.declaration
        locale = self._locale(mail.type.name, own_locale(says), mail.locale)
        voice = self._voice(locale, mail.timezone)
        context = readable(mail.context)
        subject, text, html = self._parts(voice, mail.type.name, context)
        if voice.turned or context is not mail.context:  # only then has anything been isolated
            html = without_marks_in_tags(html)
        return Message(
            key=mail.key,
            mail_type=mail.type.name,
            sender=rules.sender,
            to=Address(mail.recipient),
            subject=subject,
            text=text,
            html=html,
            message_id=f"<{mail.key}@{rules.sender.email.rpartition('@')[2]}>",
            reply_to=rules.reply_to,
            headers=_headers(says, mail),
            tags=tuple(says.tags),
            options=says.options,
            track_opens=says.track_opens,
            track_clicks=says.track_clicks,
            attachments=mail.attachments,
            templates=says.template,
            model={**context, **voice.given, "subject": subject} if says.template else {},
        )

    def _parts(self, voice: _Voice, name: str, context: Mapping[str, Json]) -> tuple[str, str, str]:
        """Fill subject, text and HTML; where providers keep the bodies, a folder may have none."""
        subject = _subject(voice.subject(name, context))
        given = {**context, "subject": subject}
        there = self._templates.sources
        text = _text(voice.body(name, TEXT, given)) if f"{name}/{TEXT}" in there else ""
        html = _html(voice.body(name, HTML, given)) if f"{name}/{HTML}" in there else ""
        return subject, from_right_to_left(text) if voice.turned else text, html

    def _spoken(self, name: str, own: str | None, wanted: str | None) -> str | None:
        return spoken(wanted, self.languages(name), own)

    def _make_voice(self, locale: str | None, zone: str | None) -> _Voice:
        formats = formats_for(locale, zone)
        return _Voice(
            {"lang": formats.lang, "dir": formats.direction},
            formats.direction == "rtl",
            self._templates.engine(formats, subject=True),
            self._templates.engine(formats),
        )

    def _why(self, name: str, error: Exception) -> str:
        file, line = _place(error.__traceback__, self._templates.sources)
        lines = self._templates.sources.get(file, "").split("\n")
        where = f"{file}:{line}" if file else name
        return f"{where}: {_said(error, ''.join(lines[line - 1 : line]))}"


def _headers(says: Declaration, mail: Mail) -> tuple[tuple[str, str], ...]:
    written = says.headers
    default = () if any(n.lower() == "auto-submitted" for n in written) else (AUTO_SUBMITTED,)
    leaving = _leaving(says.unsubscribe, mail.unsubscribe) if says.unsubscribe else ()
    return (*default, *written.items(), *leaving)


def _leaving(rule: Unsubscribe, link: str | None) -> Iterator[tuple[str, str]]:
    """Say how to leave the list (RFC 2369), and that one click will do (RFC 8058)."""
    ways = [] if link is None else [f"<{quote(link, safe=_OF_LINKS)}>"]
    if ways and len(ways[0]) > LONGEST_LINK:
        raise _NoMailError(f"the link to unsubscribe is longer than {LONGEST_LINK} characters")
    ways += [] if rule.mailto is None else [f"<mailto:{quote(rule.mailto, safe='@+')}>"]
    if ways:
        yield "List-Unsubscribe", ", ".join(ways)
    if rule.one_click and link is not None:
        yield "List-Unsubscribe-Post", "List-Unsubscribe=One-Click"


def _subject(rendered: str) -> str:
    """Take the template's own line breaks out; those of values were refused where they stood."""
    subject = rendered.strip()
    if not subject.isprintable() or "  " in subject:
        subject = _SPACES.sub(" ", subject)
    if not subject:
        raise _NoMailError("the subject is empty")
    if len(subject) > LONGEST_SUBJECT:
        raise _NoMailError(f"the subject is longer than {LONGEST_SUBJECT} characters")
    return subject


def _text(rendered: str) -> str:
    text = rendered
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if " \n" in text or "\t" in text:
        text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    text = text.strip("\n").rstrip()
    if not text or text.isspace():
        raise _NoMailError("the text part is empty")
    return text + "\n"


def _html(rendered: str) -> str:
    if not rendered.strip():
        raise _NoMailError("the HTML part is empty")
    return rendered


def _place(trace: TracebackType | None, sources: Mapping[str, str]) -> tuple[str, int]:
    """Find the innermost template and line that the error went through."""
    file, line = "", 0
    while trace is not None:
        if (name := trace.tb_frame.f_code.co_filename) in sources:
            file, line = name, trace.tb_lineno
        trace = trace.tb_next
    return file, line


def _said(error: Exception, source: str) -> str:
    """Say what failed. Jinja's own words may quote a value: only names in the template pass."""
    if isinstance(error, PrintError | AmountError | MomentError | _NoMailError):
        return str(error)
    if isinstance(error, SecurityError):
        return "not allowed in a template"
    if isinstance(error, RecursionError):
        return "never ends: it includes or calls itself"
    if isinstance(error, MemoryError):
        return "makes more than the memory holds"
    if isinstance(error, UndefinedError):
        named = re.findall(r"'([^']*)'", str(error))
        known = named[-1] if named and named[-1] in source else "a member"
        return f"'{known}' is undefined"
    return f"failed with {type(error).__name__}"
