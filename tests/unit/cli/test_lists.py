"""Lists of another sender's mails: whatever is wrong with a line, the next one is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.cli.app import StopError
from consumer.cli.lists import Line, read_list

HEADER = "mail_type,entity,recipient,time,provider_id\n"
MEMBERS = {
    "mail_type": "order.receipt",
    "entity": "A-1",
    "recipient": "ada@example.org",
    "time": "2026-03-01T12:00:00Z",
    "provider_id": "m-1",
}
GOOD = "order.receipt,A-1,ada@example.org,2026-03-01T12:00:00Z,m-1\n"


def _read(folder: Path, content: str | bytes) -> list[Line]:
    file = folder / "sent.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_list(file))


def _refusal(folder: Path, content: str | bytes) -> str:
    with pytest.raises(StopError) as stop:
        _read(folder, content)
    assert stop.value.code == 2
    return stop.value.message.removeprefix(str(folder / "sent.csv"))


def test_csv_and_json_lines_say_the_same(tmp_path: Path) -> None:
    json = (
        '{"mail_type": "order.receipt", "entity": "A-1", "recipient": "ada@example.org",'
        ' "time": "2026-03-01T12:00:00Z", "provider_id": "m-1"}\n'
    )
    quoted = GOOD.replace("A-1", '"A-1"')
    for content in (HEADER + GOOD, "\ufeff" + HEADER + quoted, json, "\n" + json + "\n"):
        [line] = _read(tmp_path, content)
        assert line.members == MEMBERS


def test_an_entity_of_several_parts_has_a_column_for_each(tmp_path: Path) -> None:
    header = HEADER.replace("entity", "entity_1,entity_2")
    [line] = _read(tmp_path, header + GOOD.replace("A-1", "acme,7"))
    assert line.members is not None
    assert line.members["entity"] == ["acme", "7"]


def test_every_bad_line_is_named_and_no_other_is_lost(tmp_path: Path) -> None:
    """Law: also an open quote ends with its line."""
    bad = {
        'order.receipt,"A-1,ada@example.org,2026-03-01T12:00:00Z,m-1\n': "is no CSV",
        "order.receipt,A-1\n": "has 2 columns, the header has 5",
        GOOD.replace("m-1", "m-1,more"): "has 6 columns",
    }
    content = HEADER + GOOD + "".join(bad) + "\n" + GOOD
    lines = _read(tmp_path, content.encode() + b"order.receipt,\xff,a,b,c\n" + GOOD.encode())
    assert [line.place for line in lines if line.members is None] == [
        f"{tmp_path}/sent.csv:{n}" for n in (3, 4, 5, 8)
    ]
    problems = [line.problem for line in lines if line.members is None]
    for problem, expected in zip(problems, [*bad.values(), "is not UTF-8"], strict=True):
        assert problem.startswith(expected)
    assert [line.members for line in lines if line.members is not None] == [MEMBERS] * 3


def test_bad_json_lines(tmp_path: Path) -> None:
    lines = _read(tmp_path, '{"entity": 1}\nnonsense\n[]\n{"enitty": 1}\n{"time": 7}\n')
    assert [line.problem for line in lines] == [
        "",
        "is no JSON object on one line",
        "is no JSON object",
        "names 'enitty', which nobody reads; did you mean entity?",
        "",
    ]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("mail_type,entity,recipient,time", ":1: the header line has no column provider_id"),
        (HEADER.replace("entity,", ""), ":1: the header line has no column entity"),
        (HEADER.replace("entity", "order"), ":1: the header line names 'order', which nobody"),
        (HEADER.replace("entity", "entity,entity"), ":1: the header line names a column twice"),
        (HEADER.replace("entity", "entity_2,entity_1"), ":1: the header line has either entity"),
        (HEADER.replace("entity", "entity,entity_1"), ":1: the header line has either entity"),
        (
            HEADER.replace(",", ";"),
            ":1: the columns are separated by semicolons: save",
        ),
        (
            "sep=;\n" + HEADER,
            ":1: the columns are separated by semicolons: save",
        ),
        (
            HEADER.replace(",", "\t"),
            ":1: the columns are separated by tabs: save the",
        ),
        ("", ": is empty"),
    ],
)
def test_a_header_that_nobody_can_read_stops_all(tmp_path: Path, header: str, problem: str) -> None:
    assert _refusal(tmp_path, header).startswith(problem)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ((HEADER + GOOD).encode("utf-16"), "UTF-16"),
        ((HEADER + GOOD).encode("utf-16-le"), "UTF-16"),
        ((HEADER + GOOD).encode("utf-16-be"), "UTF-16"),
        ('{"entity": 1}\n'.encode("utf-16-le"), "UTF-16"),
        (b"PK\x03\x04\x14\0\0\0", "a workbook of Excel, or a ZIP archive"),
        (b"\x1f\x8b\x08\0", "compressed by gzip"),
    ],
)
def test_a_file_in_another_form_says_which(tmp_path: Path, content: bytes, found: str) -> None:
    assert _refusal(tmp_path, content) == (
        f": is {found}, and UTF-8 is read: save it as 'CSV UTF-8', or JSON lines"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StopError, match="No such file"):
        list(read_list(tmp_path / "none.csv"))
