"""Snapshots of the terminal application."""

from __future__ import annotations

import pytest

from py2048.app.session import Session
from py2048.app.terminal.app import GameApp
from py2048.core.board import Board
from py2048.core.rules import get_rules

FULL = "2 4 8 16\n32 64 128 256\n512 1024 2048 4096\n8192 65536 131072 ."


@pytest.mark.parametrize(
    ("theme", "size"), [("dark", (80, 24)), ("colour-blind", (40, 24)), ("high-contrast", (20, 10))]
)
def test_every_arrangement_looks_as_it_did(snap_compare, theme, size):
    """Each arrangement matches its snapshot, each in a different theme."""
    session = Session()
    session.start(get_rules("classic"), board=Board.parse(FULL), seed=7)
    app = GameApp(session, theme=theme, reduced_motion=True)
    assert snap_compare(app, terminal_size=size)
