"""The fingerprint: equal where the mail would be equal, different where it would not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from consumer.catalogue.canonical import canonical, fingerprint
from consumer.model import Json
from tests.unit.catalogue.shop import KEY, MAIL, SCHEMA, mail_of, moment, note, open_shop

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), below, max_size=4)
    ),
    max_leaves=12,
)


def shuffled(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: shuffled(value[name]) for name in reversed(value)}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


@given(values)
def test_member_order_does_not_matter(value: Json) -> None:
    assert canonical(value) == canonical(shuffled(value))


@given(values)
def test_the_canonical_form_says_the_value_again(value: Json) -> None:
    """Nothing is lost on the way, so two values that differ have two forms."""
    assert json.loads(canonical(value)) == value


def test_array_order_matters() -> None:
    assert canonical(["a", "b"]) != canonical(["b", "a"])


def test_known_forms() -> None:
    """The written rules: numbers as written, accents as written, big integers whole."""
    assert canonical({"b": 1, "a": [1.0, True, None]}) == b'{"a":[1.0,true,null],"b":1}'
    assert canonical([10**20, -1]) == b"[100000000000000000000,-1]"
    assert canonical("\u00e9") != canonical("e\u0301")
    assert canonical(1) != canonical(1.0)


def test_a_key_changes_the_print() -> None:
    assert fingerprint(["x"], None) != fingerprint(["x"], KEY) != fingerprint(["x"], KEY[::-1])
    assert len(fingerprint(["x"], KEY)) == 64


def test_what_cannot_reach_the_mail_does_not_change_it(tmp_path: Path) -> None:
    catalogue = open_shop(tmp_path)
    first = mail_of(catalogue, note())
    others = [
        note(extra={"trace": 1}),
        replace(note(), attributes={"id": "other"}),
        replace(note(), time=moment("2026-02-28T00:00:00Z")),
        replace(note(), carried_key="a" * 48),
        note(to=" ada@EXAMPLE.com "),
        note(to="Ada@example.com"),  # the key takes it so, and one key is one mail
    ]
    assert {mail_of(catalogue, event).fingerprint for event in others} == {first.fingerprint}


def test_what_can_reach_the_mail_does(tmp_path: Path) -> None:
    text = 'locale = "place"\ntimezone = "nick"\n' + MAIL
    catalogue = open_shop(tmp_path, {"note/mail.toml": text})
    events = [
        note(),
        note(name="Eve"),
        note(to="eve@example.com"),
        note(place="de"),
        note(nick="Europe/Berlin"),
    ]
    assert len({mail_of(catalogue, event).fingerprint for event in events}) == len(events)


def test_two_types_never_share_a_print(tmp_path: Path) -> None:
    one = mail_of(open_shop(tmp_path / "a"), note())
    text = 'on = "note"\n' + MAIL
    renamed: dict[str, str | None] = {"note/" + name: None for name in ("mail.toml", "subject.j2")}
    files = {
        "memo/mail.toml": text,
        "memo/v1.schema.json": json.dumps(SCHEMA),
        "memo/subject.j2": "{{ name }}",
        "memo/body.txt.j2": "{{ name }}",
        "memo/body.html.j2": "{{ name }}",
        "memo/examples/one.json": json.dumps(note().data),
    }
    del renamed
    from tests.unit.catalogue.shop import FILES  # noqa: PLC0415 - to leave every one of them out

    other = mail_of(open_shop(tmp_path / "b", {**dict.fromkeys(FILES), **files}), note())
    assert one.fingerprint != other.fingerprint
    assert one.key != other.key


def test_a_sensitive_type_is_hashed_under_the_key(tmp_path: Path) -> None:
    """A hash over a guessable token could be tried out by whoever reads the database."""
    text = {"note/mail.toml": 'sensitive = ["name"]\n' + MAIL}
    plain = mail_of(open_shop(tmp_path / "a"), note()).fingerprint
    keyed = mail_of(open_shop(tmp_path / "b", text), note()).fingerprint
    other = mail_of(open_shop(tmp_path / "c", text, fingerprint_key=KEY[::-1]), note()).fingerprint
    assert len({plain, keyed, other}) == 3


def test_the_digest_names_the_folders_content_and_its_layouts(tmp_path: Path) -> None:
    layout = {"_layouts/a.j2": "{{ name }}", "note/body.txt.j2": '{% include "_layouts/a.j2" %}'}
    first = open_shop(tmp_path / "a", layout).types["note"].digest
    again = open_shop(tmp_path / "b", layout).types["note"].digest
    unused = open_shop(tmp_path / "c", {**layout, "_layouts/b.j2": "x"}).types["note"].digest
    used = (
        open_shop(tmp_path / "d", {**layout, "_layouts/a.j2": "{{ name }}!"}).types["note"].digest
    )
    text = open_shop(tmp_path / "e", {**layout, "note/subject.j2": "x {{ name }}"})
    assert first == again == unused
    assert len({first, used, text.types["note"].digest}) == 3
