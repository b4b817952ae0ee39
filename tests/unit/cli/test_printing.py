"""Laws of printing: tables on a terminal, columns in a pipe, and no terminal is steered."""

from __future__ import annotations

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.cli import printing


@given(st.text())
def test_no_control_character_gets_through(text: str) -> None:
    shown = printing.printable(text)
    assert all(c.isprintable() or c in "\t\u00a0" or c.isspace() for c in shown)
    assert not set(shown) & {"\x1b", "\r", "\n", "\x07", "\u202e", "\u2028"}


def test_columns_in_a_pipe_are_split_by_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    printing.table(("id", "detail"), [(1, "a\tb"), (2, None), (3, "x" * 500), (4, "[red]x")])
    assert capsys.readouterr().out == f"id\tdetail\n1\ta b\n2\t-\n3\t{'x' * 500}\n4\t[red]x\n"


def test_a_terminal_gets_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    printing.table(("id", "detail"), [(1, "\x1b[31mred")])
    shown = capsys.readouterr().out
    assert "\t" not in shown
    assert "\\x1b[31mred" in shown


def test_pairs_leave_out_what_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    printing.pairs([("key", "00ff"), ("sent", None), ("attempts", 2)])
    assert capsys.readouterr().out == "  key       00ff\n  attempts  2\n"


@pytest.mark.parametrize("buffered", [True, False])
def test_what_nobody_reads_any_more_is_dropped(*, buffered: bool) -> None:
    """Law: `| head` ends nothing: the command goes on, to its end and its own exit code."""
    reading, writing = os.pipe()
    os.close(reading)
    pipe = printing.Pipe(writing, "w")
    with io.BufferedWriter(pipe) if buffered else pipe as out:
        for _ in range(3):
            assert out.write(b"x" * 9000) == 9000
