"""Law of event files: every event comes out byte for byte as it stands in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consumer.cli.app import StopError
from consumer.cli.files import read_pieces

objects = st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.text())
layouts = st.sampled_from(["array", "lines", "one"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events=st.lists(objects, min_size=1, max_size=5),
    layout=layouts,
    space=st.sampled_from(["", " ", "\n"]),
)
def test_every_event_comes_out_as_it_stands(
    tmp_path: Path,
    events: list[dict[str, object]],
    layout: str,
    space: str,
) -> None:
    texts = [json.dumps(event) for event in events]
    if layout == "one":
        texts = texts[:1]
    joined = f",{space}".join(texts) if layout == "array" else f"{space}\n".join(texts)
    file = tmp_path / "events.json"
    file.write_text(f"{space}[{space}{joined}{space}]" if layout == "array" else joined)
    assert [piece.value.decode() for piece in read_pieces(file)] == texts


def test_digits_and_broken_bytes_are_kept(tmp_path: Path) -> None:
    raw = b'{"amount": 1.10, "id": 123456789012345678901234567890, "x": "\xff"}'
    file = tmp_path / "events.json"
    file.write_bytes(b"[" + raw + b"]")
    assert [piece.value for piece in read_pieces(file)] == [raw]


def test_a_piece_knows_its_line(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"a": 1}\n\n{\n"b": 2}\n')
    assert [piece.line for piece in read_pieces(file)] == [1, 3]


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"a":', 1), ('{"a": 1}\n{', 2), ("[{}\n{}]", 2), ("[{}] x", 1), ("[{},", 1)],
)
def test_what_is_no_json_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    file = tmp_path / "events.json"
    file.write_text(text)
    with pytest.raises(StopError, match=rf"events.json:{line}: no JSON") as stop:
        read_pieces(file)
    assert stop.value.code == 2


@pytest.mark.parametrize("text", ["", "  \n", "[]"])
def test_an_empty_file_is_a_mistake(tmp_path: Path, text: str) -> None:
    file = tmp_path / "events.json"
    file.write_text(text)
    with pytest.raises(StopError, match="holds no event"):
        read_pieces(file)


def test_a_missing_file_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(StopError, match="No such file"):
        read_pieces(tmp_path / "none.json")
