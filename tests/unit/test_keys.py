"""One mail has one key, for ever and everywhere; two mails never share one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consumer.keys import (
    KEY_LENGTH,
    MAX_PART,
    KeyPartError,
    canonical_recipient,
    is_key,
    key_material,
    send_key,
)

VECTORS = json.loads(Path(__file__).with_name("vectors").joinpath("send_key.json").read_text())
ADA = "ada@example.com"

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
)
# Parts in which everything that could go wrong is frequent.
tricky = st.text(":\\aAb@.", min_size=1, max_size=6)
parts = st.one_of(tricky, texts, st.integers())
entities = st.one_of(parts, st.lists(parts, min_size=1, max_size=3))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["law"])
def test_known_answers(case: dict[str, Any]) -> None:
    arguments = {name: case[name] for name in ("mail_type", "entity_id", "recipient", "version")}
    exact = case["case_sensitive_entity"]
    assert key_material(**arguments, case_sensitive_entity=exact) == case["material"]
    assert send_key(**arguments, case_sensitive_entity=exact) == case["key"]


@pytest.mark.parametrize("case", VECTORS["refused"])
def test_what_no_key_can_be_made_of_is_refused_by_name_and_not_repeated(
    case: dict[str, Any],
) -> None:
    arguments = {name: case[name] for name in ("mail_type", "entity_id", "recipient", "version")}
    with pytest.raises(KeyPartError) as refused:
        send_key(**arguments)
    assert refused.value.part == case["part"]
    assert str(refused.value).startswith(f"{case['part']} ")
    assert ADA not in str(refused.value)


def test_a_recipient_must_be_text() -> None:
    for value in (None, 5, ["a@example.com"], True):
        with pytest.raises(KeyPartError, match=r"^recipient "):
            send_key("t", "1", value)  # type: ignore[arg-type] # what JSON may hold


@pytest.mark.parametrize("character", ["a", "\u00e9", "9"])
def test_long_parts_are_refused_whatever_they_are_made_of(character: str) -> None:
    assert send_key("t", character * MAX_PART, ADA)
    with pytest.raises(KeyPartError, match="longer than 1000 characters"):
        send_key("t", character * (MAX_PART + 1), ADA)


def test_long_integers_are_refused_before_python_refuses_to_print_them() -> None:
    assert send_key("t", 10 ** (MAX_PART - 1), ADA)
    for digits in (MAX_PART, 5_000, 50_000):
        with pytest.raises(KeyPartError, match="longer than 1000 characters"):
            send_key("t", 10**digits, ADA)


def _fold(text: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in text)


def _identity(mail_type: str, entity: Any, recipient: str) -> tuple[Any, ...]:
    """Everything that makes a mail itself, in a form in which nothing can run together."""
    listed = entity if isinstance(entity, list) else [entity]
    return (
        _fold(mail_type),
        tuple(_fold(str(part)) for part in listed),
        _fold(recipient.strip(" \t\r\n\v\f")),
    )


@given(tricky, entities, tricky, tricky, entities, tricky)
@example("t", ["a", "b"], "c", "t", "a:b", "c")
@example("t", "a\\", "b", "t", "a", "\\b")
@example("t", "A:b@example.com", "c", "t", "A", "b@example.com:c")
def test_two_mails_never_share_a_material(
    t1: str, e1: Any, r1: str, t2: str, e2: Any, r2: str
) -> None:
    same = _identity(t1, e1, r1) == _identity(t2, e2, r2)
    assert (key_material(t1, e1, r1) == key_material(t2, e2, r2)) == same


@given(st.text("abcXYZ019-_./", min_size=1), st.text("abcXYZ019-_./", min_size=1))
def test_plain_parts_keep_the_plain_value(mail_type: str, entity: str) -> None:
    plain = f"v1:{mail_type}:{entity}:{ADA}".lower()
    expected = hashlib.sha256(plain.encode()).hexdigest()[:KEY_LENGTH]
    assert send_key(mail_type, entity, ADA) == expected


@given(texts, entities, texts.filter(lambda text: text.strip(" \t\r\n\v\f")), st.booleans())
def test_a_key_can_be_made_of_any_text(
    mail_type: str,
    entity: Any,
    recipient: str,
    exact: bool,  # noqa: FBT001 - drawn
) -> None:
    key = send_key(mail_type, entity, recipient, case_sensitive_entity=exact)
    assert is_key(key)
    assert key == send_key(mail_type, entity, recipient, case_sensitive_entity=exact)


def test_case_counts_where_the_type_says_so() -> None:
    keys = {send_key("t", token, ADA, case_sensitive_entity=True) for token in ("aB", "Ab", "ab")}
    assert len(keys) == 3


def test_an_address_and_its_canonical_form_have_one_key() -> None:
    for text in ("Ada@B\u00fccher.example", " ada@xn--bcher-kva.example"):
        assert send_key("t", 1, text) == send_key("t", 1, canonical_recipient(text))
    assert send_key("t", 1, "ada@b\u00fccher.example") == send_key(
        "t", 1, "ada@xn--bcher-kva.example"
    )


def test_subclasses_of_text_and_integers_are_what_they_hold() -> None:
    class Loud(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "LOUD"

    class Number(int):
        def __str__(self) -> str:
            return "LOUD"

    assert send_key("t", Loud("a"), ADA) == send_key("t", "a", ADA)
    assert send_key("t", Number(5), ADA) == send_key("t", 5, ADA)


@pytest.mark.parametrize("text", ["", "a" * 47, "a" * 49, "A" * 48, "g" * 48, "a" * 48 + "\n"])
def test_only_48_lower_case_hex_digits_are_a_key(text: str) -> None:
    assert not is_key(text)
    assert is_key("0123456789abcdef" * 3)
