"""Progress of commands on stderr."""

from __future__ import annotations

import io
import sys

import pytest
from tests.processes import python

from py2048.presentation import streams

PROGRAM = """
import time
from py2048.presentation import streams
streams.QUIET_S, streams.POLL_S, streams.PIPE_PERIOD_S = 0, 0.01, {period_s}
with streams.StatusLine() as line:
    for number in range(20):
        line.tell({news})
        time.sleep(0.05)
"""


@pytest.mark.parametrize(("period_s", "news"), [(0, "'the same'"), (60, "number")])
def test_a_pipe_gets_new_progress_once_in_a_while(period_s, news):
    """A line is written at most once a period, and only if there is progress."""
    done = python("-c", PROGRAM.format(period_s=period_s, news=news), check=True)
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize(
    ("encoding", "term", "expected"),
    [("utf-8", "xterm", False), ("utf-8", "dumb", True), ("iso8859-1", "xterm", True)],
)
def test_a_terminal_without_blocks_is_dumb(encoding, term, expected, monkeypatch):
    """A terminal whose encoding lacks block characters is treated as dumb."""
    monkeypatch.setattr(sys, "__stderr__", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    monkeypatch.setenv("TERM", term)
    assert streams.is_dumb() is expected


def test_input_without_a_file_has_no_moves(monkeypatch):
    """Input that a program replaced is not played."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("left"))
    assert not streams.has_moves()
