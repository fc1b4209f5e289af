"""A race in the window."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ui.test_race import record

from py2048.session import RecordedRival
from py2048.ui.desktop.style import font

pytestmark = pytest.mark.gui


def test_the_window_grows_by_the_rivals_game(desk: Any) -> None:
    """By its board and the splits; it shrinks again with the next game, and keys still play."""
    game = record(60)
    width = desk.root.winfo_width()
    desk.session.race(RecordedRival(game, "your best game"))
    desk.until(lambda: desk.root.winfo_width() > width + 100)
    pane = desk.app.race
    for direction, _ in list(game.steps)[:40]:
        desk.key(str(direction).capitalize())
    assert desk.session.game.ply == 40
    rows = [pane.splits.item(row, "text") for row in pane.splits.get_children()]
    assert rows[:2] == ["16", "32"]
    texts = [child.cget("text") for child in pane.winfo_children() if "text" in child.configure()]
    assert "your best game" in texts
    assert any("after 40 moves\nLevel." in text for text in texts)
    assert pane.splits.column("#0", "width") > 20 + desk.root.tk.call(
        "font", "measure", font(desk.root, 13), "move 10,000"
    )
    desk.app.controller.set_theme("dark")
    desk.session.start(seed=1)
    desk.until(lambda: desk.root.winfo_width() == width)
    assert desk.app.race is None
