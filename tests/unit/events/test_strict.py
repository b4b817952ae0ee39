"""JSON that two readers could read in two ways is refused, and its place is named."""

from __future__ import annotations

import json
import math
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consumer.events import strict
from consumer.events.strict import MAX_DEPTH, MAX_DIGITS, Unreadable, read_json

MARK = b"\xef\xbb\xbf"


def refused(text: str | bytes) -> str:
    result = read_json(text if isinstance(text, bytes) else text.encode())
    assert isinstance(result, Unreadable), result
    return result.at("value")


def nested(levels: int) -> bytes:
    return (
        b'{"a":' * (levels // 2)
        + b"[" * (levels % 2)
        + b"[" * (levels // 2)
        + b"1"
        + (b"]" * (levels // 2) + b"]" * (levels % 2) + b"}" * (levels // 2))
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        # Members that stand twice.
        ('{"recipient":"a","recipient":"b"}', "value has the member recipient twice"),
        ('{"recipient":"a","recipient":"a"}', "value has the member recipient twice"),
        ('{"recipient" : "a", "recipient" : "b"}', "value has the member recipient twice"),
        ('{"recipient":"a","\\u0072ecipient":"b"}', "value has the member recipient twice"),
        ('{"d":{"l":[{},{"x":1,"x":2}]}}', "value.d.l[1] has the member x twice"),
        ('{"a@example.com":1,"a@example.com":2}', "value has the member ? twice"),
        ('{"a":1,"a":2,"b":"\\":"}', "value has the member a twice"),
        ('{"a":1e5,"a":2}', "value has the member a twice"),
        ('{"":1,"":2}', "value has the member ? twice"),
        # Numbers.
        ('{"total":NaN}', "value.total is NaN or Infinity, which is not JSON"),
        ('{"total":-Infinity}', "value.total is NaN or Infinity, which is not JSON"),
        ('{"total":1e400}', "value.total is a number beyond the range of a double"),
        ('{"total":-1e400}', "value.total is a number beyond the range of a double"),
        (f'{{"id":{"9" * 5000}}}', "value.id is an integer of more than 1000 digits"),
        ('{"a":01}', "value is not JSON (character 6)"),
        ('{"a":+1}', "value is not JSON (character 5)"),
        ('{"a":.5}', "value is not JSON (character 5)"),
        ('{"a":\u0661}', "value is not JSON (character 5)"),
        # Strings.
        ('{"a":"x\\u0000"}', "value.a holds a NUL character"),
        ('{"a\\u0000":1}', "value.? holds a NUL character"),
        ('{"a":["\\ud800"]}', "value.a[0] holds a lone surrogate"),
        ('{"\\udc00":1}', "value.? holds a lone surrogate"),
        ('{"a":"\n"}', "value is not JSON (character 6)"),
        # Syntax.
        ('{"a":1', "value is not JSON (character 6)"),
        ('{"a":1}x', "value is not JSON (character 7)"),
        ("{'a':1}", "value is not JSON (character 1)"),
        ('{"a":1,}', "value is not JSON (character 7)"),
        ('{"a":1/**/}', "value is not JSON (character 6)"),
        ("\u00a0{}", "value is not JSON (character 0)"),
    ],
)
def test_refused_with_its_place(text: str, why: str) -> None:
    assert refused(text) == why


def test_only_utf8_is_read() -> None:
    assert refused(b'{"a":"\xff"}') == "value is not UTF-8 (byte 6)"
    assert refused(b'{"a":"\xed\xa0\x80"}') == "value is not UTF-8 (byte 6)"
    assert refused('{"a":1}'.encode("utf-16")).startswith("value is not UTF-8")


def test_one_byte_order_mark_is_dropped_and_no_second() -> None:
    assert read_json(MARK + b'{"a":1}') == {"a": 1}
    assert refused(MARK + MARK + b'{"a":1}') == "value is not JSON (character 0)"


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH])
def test_deep_is_read(levels: int) -> None:
    assert not isinstance(read_json(nested(levels)), Unreadable)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 200, 1_000, 1_100, 150_000])
def test_too_deep_is_refused(levels: int) -> None:
    assert refused(nested(levels)).endswith(f"is nested deeper than {MAX_DEPTH} levels")
    assert refused(b"[" * levels + b"]" * levels).endswith("levels")


def test_depth_is_not_the_number_of_brackets() -> None:
    many: Any = {"a": [{}] * 100, "b": "[[" * 100}
    assert read_json(json.dumps(many).encode()) == many


def test_size_has_a_limit() -> None:
    text = json.dumps({"a": "x" * 100}).encode()
    assert read_json(text, max_bytes=len(text)) == {"a": "x" * 100}
    assert read_json(text, max_bytes=len(text) - 1) == Unreadable(
        f"is longer than {len(text) - 1} bytes"
    )
    assert refused(b'{"a":"' + b"x" * 10_000_000 + b'"}') == "value is longer than 1048576 bytes"


@pytest.mark.parametrize(
    "number",
    [0, -1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1,
     327267367867168100000, -327267367867168100000, 10 ** (MAX_DIGITS - 1)],
)  # fmt: skip
def test_integers_are_exact(number: int) -> None:
    read = read_json(f'{{"id": {number}}}'.encode())
    assert read == {"id": number}
    assert isinstance(read, dict)
    assert type(read["id"]) is int


def test_many_members_of_which_one_stands_twice_take_no_time() -> None:
    """The work grows with the text, not with its square."""
    members = ",".join(f'"m{n}":{n}' for n in range(60_000))
    assert refused(f'{{{members},"m59999":1}}') == "value has the member m59999 twice"


# ── Both readers say the same

json_text = st.text(
    st.one_of(st.sampled_from(' :"\\{}[],'), st.characters(exclude_categories=["Cs"])),
    max_size=8,
)
trees = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        json_text,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(json_text, inner, max_size=4)
    ),
    max_leaves=20,
)
layouts = st.sampled_from(
    [
        {},
        {"separators": (",", ":")},
        {"indent": 2},
        {"ensure_ascii": False},
        {"ensure_ascii": False, "separators": (",", ":")},
        {"separators": (" ,\t", " \r\n: ")},
    ]
)


def _has_nul(tree: Any) -> bool:
    match tree:
        case str():
            return "\0" in tree
        case list():
            return any(map(_has_nul, tree))
        case dict():
            return any(map(_has_nul, (*tree, *tree.values())))
        case _:
            return False


@given(trees, layouts)
def test_what_was_written_is_what_is_read(tree: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(tree, **layout).encode()
    read = read_json(text)
    if _has_nul(tree):
        assert isinstance(read, Unreadable)
    else:
        assert repr(read) == repr(tree)  # 1, 1.0, True and -0.0 are four things


@given(trees, layouts)
def test_both_readers_agree(tree: Any, layout: dict[str, Any]) -> None:
    """Whether the quick reader is trusted, doubted or broken makes no difference."""
    text = json.dumps(tree, **layout).encode()
    with patch.object(strict, "_is_exact", lambda *_: False):
        careful = read_json(text)
    assert repr(read_json(text)) == repr(careful)


members = st.lists(
    st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"', '"a "', '"\\":"', '":"', '" :"']),
              st.sampled_from(['"\\":"', '":"', '" :"', '"\\u003a"', "1e5", "1", '{"a":1}', "[]",
                               '"\\u0022:"'])),
    max_size=5,
)  # fmt: skip


@given(members, st.sampled_from([":", " :", ": ", "\n:\t"]))
@example([('"a"', '"\\u0022:"'), ('"a"', "1")], ":")
def test_no_member_that_stands_twice_gets_through(
    written: list[tuple[str, str]], colon: str
) -> None:
    """Texts made to look as if they had as many members as the quick reader saw."""
    text = "{" + ",".join(f"{name}{colon}{value}" for name, value in written) + "}"
    names = [json.loads(name) for name, _ in written]
    is_refused = isinstance(read_json(text.encode()), Unreadable)
    assert is_refused == (len(set(names)) < len(names))


@given(
    st.one_of(
        st.binary(),
        st.text('{}[]":,\\ue0aN\0 1-+.\ud800').map(
            lambda text: text.encode("utf-8", "surrogatepass")
        ),
    )
)
def test_reading_never_raises_and_never_yields_what_json_cannot_say(value: bytes) -> None:
    read = read_json(value)
    assert repr(read) == repr(read_json(value))
    if isinstance(read, float):
        assert math.isfinite(read)
