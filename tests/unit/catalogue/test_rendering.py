"""A message holds what its type says and reads well; the same mail gives the same bytes."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from consumer.model import Address, Message
from tests.unit.catalogue.shop import MAIL, mail_of, message_of, note, open_shop
from tests.unit.catalogue.templates import rendering


def test_a_message(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path)
    message = message_of(catalogue, note())
    assert message == Message(
        key=message.key,
        mail_type="note",
        sender=Address("hello@shop.example", "Shop"),
        to=Address("ada@example.com"),
        subject="Hello Ada",
        text="Dear Ada\n",
        html="<p>Dear Ada</p>",
        message_id=f"<{message.key}@shop.example>",
        headers=(("Auto-Submitted", "auto-generated"),),
    )


def test_what_a_type_adds(tmp_path: Path) -> None:
    text = (
        'reply_to = "Help Desk <help@shop.example>"\ntags = ["a", "b"]\nstream = "receipts"\n'
        'ip_pool = "one"\ntrack_opens = true\n' + MAIL + '[headers]\nX-Kind = "note"\n'
    )
    message = message_of(open_shop(tmp_path, {"note/mail.toml": text}), note())
    assert message.reply_to == Address("help@shop.example", "Help Desk")
    assert message.tags == ("a", "b")
    assert message.options == {"stream": "receipts", "ip_pool": "one"}
    assert (message.track_opens, message.track_clicks) == (True, False)
    assert message.headers == (("Auto-Submitted", "auto-generated"), ("X-Kind", "note"))


def test_a_type_may_say_auto_submitted_itself(tmp_path: Path) -> None:
    text = MAIL + '[headers]\nauto-submitted = "no"\n'
    message = message_of(open_shop(tmp_path, {"note/mail.toml": text}), note())
    assert message.headers == (("auto-submitted", "no"),)


def test_the_same_mail_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two catalogues of one folder are two workers: their messages are equal."""
    first = open_shop(tmp_path, {"note/one.md": "first"})
    second = open_shop(tmp_path, {"note/one.md": "second"})
    assert first is not second

    @given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=BREAKERS)))
    @settings(deadline=None)
    def same(name: str) -> None:
        event = note(name=name)
        assert first.render(mail_of(first, event)) == second.render(mail_of(second, event))

    same()


BREAKERS = "\u2028\u2029"


def test_layouts_blocks_and_includes(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "_layouts/f.html.j2": "<p>{% block a %}A{{ name }}{% endblock %}</p>{{ self.a() }}",
        "_layouts/i.html.j2": "<i>{{ name }}</i>",
        "note/body.html.j2": '{% extends "_layouts/f.html.j2" %}{% block a %}{{ super() }}'
        '{% include "_layouts/i.html.j2" %}{% endblock %}',
    }
    message = message_of(open_shop(tmp_path, files), note(name="&"))
    once = "A&amp;<i>&amp;</i>"
    assert message.html == f"<p>{once}</p>{once}"


def test_a_member_named_like_a_method_is_the_member(tmp_path: Path) -> None:
    loop = "{% for one in extra.items %}[{{ one.keys }}]{% endfor %}"
    catalogue = rendering(tmp_path, text="{{ name }}{% if extra %}" + loop + "{% endif %}")
    message = message_of(catalogue, note(extra={"items": [{"keys": "k"}]}))
    assert message.text == "Ada[k]\n"


def test_the_language_and_direction_of_the_mail(tmp_path: Path) -> None:
    text = 'locale = "nick"\n' + MAIL
    html = '<p lang="{{ lang }}" dir="{{ dir }}" title="{{ subject }}">{{ name }}</p>'
    catalogue = open_shop(tmp_path, {"note/mail.toml": text, "note/body.html.j2": html})
    assert message_of(catalogue, note(nick="he-IL")).html == (
        '<p lang="he-IL" dir="rtl" title="Hello Ada">Ada</p>'
    )
    assert '<p lang="en" dir="ltr"' in message_of(catalogue, note()).html


def test_emoji_and_accents_pass(tmp_path: Path) -> None:
    name = "Zoë 👩🏽\u200d💻 e\u0301"
    message = message_of(open_shop(tmp_path), note(name=name))
    assert name in message.subject
    assert name in message.text
    assert name in message.html


def test_text_reads_well(tmp_path: Path) -> None:
    """Loops and conditions leave no gaps; line ends are those of one system."""
    catalogue = rendering(tmp_path, text="\n\n{{ name }}  \n\n\n\n\n{{ extra }}\n\n")
    assert message_of(catalogue, note(extra="a\r\nb\rc")).text == "Ada\n\na\nb\nc\n"
