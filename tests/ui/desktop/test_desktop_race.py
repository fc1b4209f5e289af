"""A race in the window."""

from __future__ import annotations

import json
from pathlib import Path
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


@pytest.mark.parametrize("width", [480, 1100])
def test_a_race_leaves_the_window_its_width(open_desk: Any, tmp_path: Path, width: int) -> None:
    """Also where the screen is too narrow for both, and for the next time the window opens."""
    desk = open_desk(state_file=tmp_path / "desktop.json")
    desk.root.geometry(f"{width}x600+0+0")
    desk.until(lambda: desk.root.winfo_width() == width)
    desk.session.race(RecordedRival(record(60)))
    desk.until(lambda: desk.root.winfo_width() > width)
    desk.session.start(seed=1)
    desk.until(lambda: desk.root.winfo_width() == width)
    desk.session.race(RecordedRival(record(60)))
    desk.until(lambda: desk.root.winfo_width() > width)
    desk.running.close()
    remembered = json.loads((tmp_path / "desktop.json").read_text())["geometry"]
    assert remembered.startswith(f"{width}x600+")


def test_a_window_made_narrow_in_a_race_keeps_the_least_width(
    open_desk: Any, tmp_path: Path
) -> None:
    """The race takes back no more than there is, and the next window opens as wide."""
    desk = open_desk(state_file=tmp_path / "desktop.json")
    least, _ = desk.root.minsize()
    for _ in range(2):
        desk.session.race(RecordedRival(record(60)))
        desk.until(lambda: desk.root.winfo_width() > 2 * least)
        desk.root.geometry(f"{least + 10}x600+0+0")
        desk.until(lambda: desk.root.winfo_width() == least + 10)
        desk.session.start(seed=1)
        desk.until(lambda: desk.root.winfo_width() == least)
    desk.session.race(RecordedRival(record(60)))
    desk.root.geometry(f"{least + 10}x600+0+0")
    desk.until(lambda: desk.root.winfo_width() == least + 10)
    desk.running.close()
    remembered = json.loads((tmp_path / "desktop.json").read_text())["geometry"]
    assert remembered == f"{least}x600+0+0"
