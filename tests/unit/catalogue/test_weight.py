"""What is sent with every mail is kept small, and what is escaped is what MarkupSafe escapes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from consumer.catalogue.printing import as_html
from consumer.events import decode
from consumer.model import Event, Mail, Message
from tests.unit.catalogue.shop import real_catalogue, record

MOST = {"order.receipt/cloudevent": 8_300, "order.receipt/plain": 5_800}
MOST |= {"password.reset/cloudevent": 5_900, "password.reset/plain": 5_800}


def html_of(name: str) -> str:
    catalogue = real_catalogue()
    [one] = [e for e in catalogue.examples if f"{e.mail_type}/{e.name}" == name]
    event = decode(record(one.topic, value=one.value))
    assert isinstance(event, Event)
    mail = catalogue.read(record(one.topic), event)
    assert isinstance(mail, Mail)
    message = catalogue.render(mail)
    assert isinstance(message, Message)
    return message.html


@pytest.mark.parametrize(("name", "most"), MOST.items())
def test_the_html_is_light(name: str, most: int) -> None:
    """Bytes, of which each is rendered, hashed, sent and clipped at 102 kB; no line is indented."""
    html = html_of(name)
    assert len(html.encode()) <= most
    assert not re.search(r"\n[ \t]|\n\n", html)


@given(st.text() | st.text("&<>'\"a€"))
def test_html_is_escaped_as_markupsafe_does(text: str) -> None:
    assert as_html(text) == str(escape(text))
    assert type(as_html(text)) is str
    assert as_html(Markup(text)) == text
