"""A mistake in a mail.toml stops the start, with the line of the member that it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.catalogue.shop import MAIL, mistakes

MAIL_TOML = {
    "not TOML": (MAIL + "x = = 1\n", "note/mail.toml:9: not TOML"),
    "written twice": (
        'topic = "notes"\n' + MAIL,
        "note/mail.toml:2: not TOML: Cannot overwrite a value (at line 2, column 17); it is writ",
    ),
    "unknown member": (
        MAIL.replace("sender", "sendr"),
        "note/mail.toml:5: sendr: unknown member; did you mean sender?",
    ),
    "missing member": (
        MAIL.replace('max_age = "7d"\n', ""),
        "note/mail.toml: max_age: is missing",
    ),
    "duration": (MAIL.replace("7d", "a week"), "note/mail.toml:4: max_age: write a duration"),
    "path": (MAIL.replace('"id"', '"a..b"'), "note/mail.toml:2: entity_id: not a path: 'a..b'"),
    "unknown path": (
        MAIL.replace('name = "name"', 'name = "nmae"'),
        "note/mail.toml:8: context.name: unknown path 'nmae': v1.schema.json does not have it",
    ),
    "path of the recipient": (
        MAIL.replace('"to"', '"nick"'),
        "note/mail.toml:3: recipient: 'nick' may be absent or null (v1.schema.json): require it",
    ),
    "nullable without fallback": (
        MAIL.replace('name = "name"', 'name = "nick"'),
        'null (v1.schema.json): require it there, or write { path = "...", default = ... } here',
    ),
    "odd source": (
        MAIL.replace('"name"', '{ paht = "name" }'),
        'note/mail.toml:8: context.name: write "path"',
    ),
    "unused": (
        MAIL + 'nick = { path = "nick", default = "" }\n',
        "note/mail.toml:9: context.nick: no template prints it",
    ),
    "reserved name": (MAIL + 'lang = "name"\n', "note/mail.toml:7: context: 'lang' is given"),
    "odd name": (MAIL + 'my-name = "name"\n', "note/mail.toml:7: context: 'my-name' cannot be"),
    "unknown sender": (
        MAIL.replace('sender = "shop"', 'sender = "spam"'),
        "note/mail.toml:5: there is no [senders.spam]",
    ),
    "unknown provider": (
        'providers = ["pigeon"]\n' + MAIL,
        "note/mail.toml:1: there is no [providers.pigeon]",
    ),
    "provider twice": (
        'providers = ["file", "file"]\n' + MAIL,
        "note/mail.toml:1: providers: named",
    ),
    "reply_to": ('reply_to = "nobody"\n' + MAIL, "note/mail.toml:1: reply_to: there is no"),
    "reply_to address": ('reply_to = "a b@x.y"\n' + MAIL, "note/mail.toml:1: reply_to:"),
    "priority": ('priority = "urgent"\n' + MAIL, "note/mail.toml:1: priority: Input should be"),
    "active_from": (
        "active_from = 2026-01-01T00:00:00\n" + MAIL,
        "note/mail.toml:1: active_from: needs its offset: 2026-03-01T00:00:00Z",
    ),
    "header of ours": (
        MAIL + '[headers]\nSubject = "x"\n',
        "note/mail.toml:9: headers: header 'Subject' is written by the service itself",
    ),
    "header injection": (
        MAIL + '[headers]\nX-A = "x\\r\\nBcc: y"\n',
        "note/mail.toml:9: headers: header 'X-A': plain ASCII on one line only",
    ),
    "tracking": ('track_opens = "no"\n' + MAIL, "note/mail.toml:1: track_opens: is true or"),
    "tag": ('tags = ["a b"]\n' + MAIL, "note/mail.toml:1: tags.0: write 1 to 50"),
    "locale": ('locale = { value = "xx" }\n' + MAIL, "note/mail.toml:1: locale: there is no 'xx'"),
    "zone": (
        'timezone = { path = "nick", default = "Mars/Olympus" }\n' + MAIL,
        "note/mail.toml:1: timezone: there is no 'Mars/Olympus'",
    ),
    "sensitive envelope": (
        'sensitive = ["@subject"]\n' + MAIL,
        "note/mail.toml:1: @subject: only data can be",
    ),
    "sensitive path": (
        'sensitive = ["secret"]\n' + MAIL,
        "note/mail.toml:1: sensitive: unknown path 'secret'",
    ),
    "pick": (
        MAIL.replace('"name"', '{ path = "name", pick = ["first"] }'),
        "note/mail.toml:8: context.name: picks 'first', which no schema has below 'name'",
    ),
    "reserved version": (
        'version = "Resend 2"\n' + MAIL,
        "note/mail.toml:1: version: names that begin with 'resend' are those of mails made again",
    ),
    "a key that changes nothing": (
        MAIL + "[[key]]\nsince = 1\n",
        "note/mail.toml:9: key.0: says nothing beside since: name what changes",
    ),
}


@pytest.mark.parametrize(("text", "expected"), MAIL_TOML.values(), ids=MAIL_TOML.keys())
def test_mail_toml(tmp_path: Path, text: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {"note/mail.toml": text}) if expected in line]


BELOW = {
    "a text": ('on_unknown = "resend"', "unknown path 'resend': v1.schema.json does not have it"),
    "no text": (
        "track_opens = true",
        'write "path", { path = "...", default = ..., pick = [...] }',
    ),
}


@pytest.mark.parametrize(("member", "what"), BELOW.values(), ids=BELOW)
def test_a_member_below_the_context_is_told_alone(tmp_path: Path, member: str, what: str) -> None:
    """TOML has no way back to the top: what stands below [context] is taken for a part of it."""
    name, _, _ = member.partition(" ")
    [line] = mistakes(tmp_path, {"note/mail.toml": MAIL + member})
    assert line.startswith(f"note/mail.toml:9: context.{name}: {what}")
    assert line.endswith(f"; {name} is a member of the file: write it above [context]")
