"""Rendering: a mail to a message. The same mail gives the same message, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Final

from jinja2.exceptions import SecurityError, UndefinedError

from consumer.catalogue.engine import Engine
from consumer.catalogue.folder import HTML, SUBJECT, TEXT
from consumer.catalogue.formats import MomentError, formats_for
from consumer.catalogue.mailing import Rules
from consumer.catalogue.money import AmountError
from consumer.catalogue.printing import PrintError, readable
from consumer.catalogue.templates import Templates
from consumer.model import Address, Bad, Json, Mail, Message, Reason

LONGEST_SUBJECT: Final = 255  # characters; a longer one is a body in the wrong place
AUTO_SUBMITTED: Final = ("Auto-Submitted", "auto-generated")  # RFC 3834: robots do not answer it

_SPACES = re.compile(r"[ \t\r\n]+")


class _NotAMail(ValueError):  # noqa: N818 - how one rendering ends, inside this file
    """The rendered parts do not make a mail; the text holds no value."""


@dataclass(frozen=True, slots=True)
class _Voice:
    """The templates in one locale and zone."""

    given: Mapping[str, Json]  # what templates know beside the context: `lang`, `dir`
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
        self._voice = lru_cache(maxsize=256)(self._make_voice)

    def render(self, rules: Rules, mail: Mail) -> Message | Bad:
        """Fill the templates; a failure names file and line, and no value."""
        try:
            return self._message(rules, mail)
        except Exception as error:  # noqa: BLE001 - a template may fail in any way that Python can
            return Bad(Reason.INVALID, self._why(mail.type.name, error), mail.type.name, mail.key)

    def _message(self, rules: Rules, mail: Mail) -> Message:
        says, voice = rules.declaration, self._voice(mail.locale, mail.timezone)
        subject, text, html = _parts(voice, mail)
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
            headers=_headers(says.headers),
            tags=tuple(says.tags),
            options=says.options,
            track_opens=says.track_opens,
            track_clicks=says.track_clicks,
        )

    def _make_voice(self, locale: str | None, zone: str | None) -> _Voice:
        formats = formats_for(locale, zone)
        return _Voice(
            {"lang": formats.lang, "dir": formats.direction},
            self._templates.engine(formats, subject=True),
            self._templates.engine(formats),
        )

    def _why(self, name: str, error: Exception) -> str:
        file, line = _place(error.__traceback__, self._templates.sources)
        lines = self._templates.sources.get(file, "").split("\n")
        where = f"{file}:{line}" if file else name
        return f"{where}: {_said(error, ''.join(lines[line - 1 : line]))}"


def _parts(voice: _Voice, mail: Mail) -> tuple[str, str, str]:
    name = mail.type.name
    context: dict[str, Json] = {**readable(mail.context), **voice.given}
    subject = _subject(voice.subject(name, context))
    context["subject"] = subject
    return subject, _text(voice.body(name, TEXT, context)), _html(voice.body(name, HTML, context))


def _headers(written: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    default = () if any(n.lower() == "auto-submitted" for n in written) else (AUTO_SUBMITTED,)
    return (*default, *written.items())


def _subject(rendered: str) -> str:
    """Take the template's own line breaks out; those of values were refused where they stood."""
    subject = rendered.strip()
    if not subject.isprintable() or "  " in subject:
        subject = _SPACES.sub(" ", subject)
    if not subject:
        raise _NotAMail("the subject is empty")
    if len(subject) > LONGEST_SUBJECT:
        raise _NotAMail(f"the subject is longer than {LONGEST_SUBJECT} characters")
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
        raise _NotAMail("the text part is empty")
    return text + "\n"


def _html(rendered: str) -> str:
    if not rendered.strip():
        raise _NotAMail("the HTML part is empty")
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
    if isinstance(error, PrintError | AmountError | MomentError | _NotAMail):
        return str(error)
    if isinstance(error, SecurityError):
        return "not allowed in a template"
    if isinstance(error, UndefinedError):
        named = re.findall(r"'([^']*)'", str(error))
        known = named[-1] if named and named[-1] in source else "a member"
        return f"'{known}' is undefined"
    return f"failed with {type(error).__name__}"
