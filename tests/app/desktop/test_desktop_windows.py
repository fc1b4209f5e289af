"""Dialogs and windows: rules, board editor, viewer, files, statistics and help."""

from __future__ import annotations

import gc
import tkinter as tk
from pathlib import Path
from tkinter import filedialog
from typing import Any

import pytest
from PIL import Image
from tests.core.game.foreign_games import new_text, played

from py2048.app.desktop import launch
from py2048.app.desktop.style import text_width
from py2048.app.session import open_session
from py2048.core.board import Board
from py2048.core.game import Record
from py2048.core.rules import Merging, get_rules
from py2048.players import make_player

pytestmark = pytest.mark.gui


@pytest.fixture
def choose_file(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that sets the file chosen in system dialogs."""

    def choose(path: Path | str) -> None:
        for name in ("askopenfilename", "asksaveasfilename"):
            monkeypatch.setattr(filedialog, name, lambda **_: str(path))

    return choose


def seen(desk: Any) -> Any:
    """Wait until the open dialog is visible and focused, and return it."""
    dialog = desk.until(lambda: desk.dialog)
    desk.until(dialog.winfo_viewable)
    desk.until(lambda: str(desk.root.focus_get()).startswith(str(dialog)))
    return dialog


def test_every_dialog_opens_and_escape_closes_it(desk):
    """Escape closes the dialog of every action and returns the focus to the board."""
    desk.play(3)
    for name in ("new", "seed", "rules", "edit", "replay", "player", "help", "statistics"):
        desk.app.controller.do(name)
        seen(desk).event_generate("<Escape>")
        desk.pump()
        assert desk.dialog is None, name
        desk.until(lambda: desk.root.focus_get() is desk.board)


def test_custom_rules(desk):
    """The form shows errors immediately and starts a game with valid rules."""
    desk.app.open_rules_form()
    dialog = seen(desk)
    desk.type(dialog.fields["spawn"], "3:1")
    assert "3 is not a tile" in dialog.message.text
    assert dialog.button.instate(["disabled"])
    dialog.accept()
    assert dialog.winfo_exists()
    desk.type(dialog.fields["spawn"], "2:1+8:1")
    desk.type(dialog.fields["rows"], "3")
    dialog.fields["merging"].set("merged tiles merge again")
    dialog.fields["target"].set("512")
    assert not dialog.ends.instate(["selected"])
    dialog.ends.invoke()
    dialog.check()
    assert "3x4" in dialog.message.text
    dialog.button.invoke()
    rules = desk.session.rules
    assert (rules.shape, rules.merging, rules.target) == ((3, 4), Merging.CASCADE, 512)
    assert rules.ends_at_target
    assert rules.spawn_weights.tiles == (2, 8)


def test_a_seed_gives_the_same_game(desk):
    """A valid seed starts a game with this seed; an invalid one keeps the dialog open."""
    desk.app.controller.do("seed")
    dialog = seen(desk)
    entry = desk.root.focus_get()
    desk.type(entry, "many")
    dialog.event_generate("<Return>")
    desk.pump()
    assert dialog.winfo_exists()
    desk.type(entry, "1234")
    dialog.event_generate("<Return>")
    desk.pump()
    assert desk.session.game.seed == 1234
    assert not dialog.winfo_exists()


def test_the_board_can_be_set_up(desk):
    """Clicks and keys change tiles, and the game starts from the board with the same rules."""
    desk.key("e")
    dialog = seen(desk)
    dialog.clear()
    dialog.accept()
    assert dialog.winfo_exists()  # the board is empty
    desk.settle()
    desk.until(lambda: dialog.view.cells)
    place = dialog.view.cells.middle(1, 2)
    desk.click(*place, widget=dialog.view)
    desk.click(*place, widget=dialog.view)
    desk.click(*place, widget=dialog.view)
    desk.click(*place, widget=dialog.view, button=3)
    assert dialog.editor.board[1, 2] == 4
    for key in ("Left", "9", "Up", "plus", "plus", "minus", "Right", "Right", "1", "Delete"):
        desk.focus(dialog.view)
        dialog.view.event_generate(f"<KeyPress-{key}>")
        desk.pump()
    assert dialog.editor.board[1, 1] == 512
    assert dialog.editor.board[0, 1] == 2
    board = dialog.editor.board
    dialog.accept()
    assert desk.session.game.board == board
    assert desk.session.rules == get_rules("classic")


def test_the_editor_changes_the_size(desk):
    """Resizing keeps the tiles that fit, and the game is played on the new size."""
    desk.key("e")
    dialog = seen(desk)
    board = dialog.editor.board
    fault = "Rows and columns are whole numbers, such as 4."
    for typed, said in (("", fault), ("1", ""), ("10", "")):
        desk.type(dialog.sides[0], typed)
        assert str(dialog.fault.cget("text")) == said
    assert dialog.editor.board.rows[:4] == board.rows
    dialog.sides[0].set(2)
    dialog.sides[1].set(6)
    dialog.resize()
    dialog.editor.put(3)
    dialog.accept()
    assert desk.session.game.board.shape == (2, 6)
    assert desk.board.cells.shape == (2, 6)


def test_a_window_may_close_while_the_clipboard_is_read(desk, monkeypatch):
    """Closing the window while Tk waits for the clipboard raises no error."""

    def close_meanwhile() -> str:
        desk.running.close()
        raise tk.TclError("application has been destroyed")

    monkeypatch.setattr(desk.root, "clipboard_get", close_meanwhile)
    desk.app.paste()


def test_boards_and_games_go_through_the_clipboard(desk):
    """Copied boards can be pasted and played; pasted games open in the viewer."""
    desk.put("2 4 8 16/. . . ./. . . ./32 . . 64")
    board = desk.session.game.board
    for key in ("Control-c", "y"):
        desk.root.clipboard_clear()
        desk.key(key)
        assert Board.parse(desk.root.clipboard_get()) == board
    desk.show(desk.session.start())
    desk.key("Control-v")
    assert desk.session.game.board == board
    desk.root.clipboard_clear()
    desk.root.clipboard_append(f"Look:\n{new_text(played('classic', 5, 20))}")
    desk.key("Control-v")
    assert len(desk.dialog.replay) == 20
    desk.dialog.close()


def test_a_name_without_extension_replaces_no_file_without_confirmation(
    desk, choose_file, tmp_path
):
    """If the typed name has no extension, an existing file is only replaced after a question."""
    path = tmp_path / "game.2048.json"
    choose_file(tmp_path / "game")
    desk.key("Control-s")
    assert Record.load(path).plies == 0
    desk.play(1)
    desk.key("Control-s")
    desk.key("y", widget=seen(desk))
    assert Record.load(path).plies == 1


def test_the_game_is_exported_as_png_and_gif(desk, choose_file, tmp_path):
    """Exports run in the background; a write error is shown."""
    desk.play(10)
    choose_file(tmp_path / "board")
    desk.key("Control-e")
    desk.until(lambda: desk.message == f"Written to {tmp_path / 'board.png'}.")
    with Image.open(tmp_path / "board.png") as picture:
        assert picture.width > 500
    choose_file(tmp_path / "game.gif")
    desk.app.controller.do("animated_gif")
    desk.play(1)
    desk.until(lambda: desk.message == f"Written to {tmp_path / 'game.gif'}.")
    with Image.open(tmp_path / "game.gif") as film:
        assert film.n_frames == 11
    choose_file(tmp_path / "missing" / "game.gif")
    desk.app.controller.do("animated_gif")
    desk.until(lambda: "cannot write" in desk.message)


def test_the_viewer_plays_back_a_game(desk):
    """Keys, slider and playback reach every position of a record."""
    desk.play(30)
    positions = [position.board for position in desk.session.game.positions()]
    desk.app.watch(desk.session.record())
    viewer = seen(desk)
    view = viewer.view
    desk.focus(view)
    assert view.board == positions[0]
    places = ("Right", 1), ("End", 30), ("Prior", 20), ("Left", 19), ("Next", 29), ("Home", 0)
    for key, index in places:
        view.event_generate(f"<KeyPress-{key}>")
        desk.pump()
        assert view.board == positions[index]
        assert round(viewer.slider.get()) == viewer.replay.index == index
    viewer.slider.set(17)
    desk.pump()
    assert view.board == positions[17]
    for key, speed in (("plus", 8), ("equal", 16), ("minus", 8)):
        view.event_generate(f"<KeyPress-{key}>")
        assert viewer.speed == speed
    viewer.speed = 32
    view.event_generate("<KeyPress-space>")
    desk.until(lambda: viewer.replay.index == 30)
    viewer.seek(12)
    viewer.play_from_here()
    desk.pump()
    if desk.dialog is not None:
        seen(desk).event_generate("<KeyPress-y>")
        desk.pump()
    assert desk.session.game.board == positions[12]
    assert desk.session.game.can_redo


def test_the_viewer_can_be_closed_during_playback(desk):
    """Closing the viewer or the window during playback raises no error."""
    desk.play(10)
    desk.app.watch(desk.session.record())
    viewer = seen(desk)
    viewer.toggle()
    viewer.close()
    desk.pump(0.3)
    desk.app.watch(desk.session.record())
    seen(desk).toggle()
    desk.running.close()
    assert not desk.errors


@pytest.mark.parametrize("action", ["replay", "form", "edit", "player", "statistics", "help"])
def test_a_closed_dialog_leaves_no_pictures_or_variables_behind(desk, action):
    """A closed dialog leaves no Tk objects, which a worker thread might try to free.

    Tk frees objects in its own thread, so a worker that collects them waits for the window. If the
    window waits for this worker at the same time, both are blocked.
    """

    def kept() -> list[int]:
        kinds = tk.Image, tk.Variable
        return [id(each) for each in gc.get_objects() if isinstance(each, kinds)]

    desk.play(3)
    desk.settle()  # otherwise the animation creates images later
    gc.collect()
    before = kept()
    gc.disable()
    try:
        desk.app.open_rules_form() if action == "form" else desk.app.controller.do(action)
        seen(desk).close()
        desk.pump()
        assert len(kept()) <= len(before)
    finally:
        gc.enable()


def finish_games(session: Any, games: int) -> None:
    player = make_player("random:seed=3")
    for seed in range(games):
        session.start(get_rules("2x4"), seed=seed)
        while not session.game.is_over:
            session.move(player.choose(session.game))
    session.start(get_rules("2x4"), seed=99)


def test_statistics_count_and_plot_finished_games(open_desk):
    """Every finished game is a dot, every largest tile a bar; the rules in play are selected."""
    session = open_session()
    finish_games(session, 6)
    desk = open_desk(session)
    desk.key("i")
    window = seen(desk)
    assert len(window.career.recent) == 6
    desk.until(lambda: window.tiles.find_withtag("bar"))
    assert len(window.scores.find_withtag("dot")) == 6
    assert len(window.tiles.find_withtag("bar")) == len(window.career.tiles)
    assert window.rules.get().endswith("4")


def test_titles_in_a_list_do_not_overlap_their_details(open_desk):
    """The first column fits its longest title; j and k move the selection."""
    session = open_session()
    desk = open_desk(session)
    desk.key("f")
    table = seen(desk).table
    titles = [table.item(line, "text") for line in table.get_children()]
    assert table.column("#0", "width") > 30 + max(text_width(desk.root, t, "small") for t in titles)
    for key, place in (("J", 1), ("j", 2), ("K", 1), ("k", 0)):
        desk.key(key, widget=table)
        assert table.index(table.focus()) == place
    desk.dialog.close()
    session.close()


def test_high_resolution_screens_get_larger_texts(open_desk, monkeypatch):
    """With twice the resolution, texts are twice as large, and the window fits the screen."""
    monkeypatch.setenv("GDK_SCALE", "2")
    large = open_desk()
    assert large.window.scale == 2
    large.until(lambda: large.root.winfo_width() > 1000)
    assert large.root.winfo_height() < large.root.winfo_screenheight()
    larger_screen = "5000x4000+1100+900"
    assert launch.usable_geometry(large.root, larger_screen) == "1229x922+51+102"
    large.until(lambda: large.window.header.winfo_height() > 100)


def test_help_scrolls_by_keys(open_desk, monkeypatch):
    """On a low screen, Page Down, End and Home scroll the help."""
    monkeypatch.setenv("GDK_SCALE", "2")
    desk = open_desk()
    desk.app.controller.do("help")
    dialog = seen(desk)
    assert dialog.winfo_height() < desk.root.winfo_screenheight()
    (table,) = [each for each in dialog.body.winfo_children() if each.winfo_class() == "Treeview"]
    for key in ("Next", "End"):
        before = table.yview()[0]
        desk.key(key, widget=table)
        desk.until(lambda before=before: table.yview()[0] > before)
    desk.key("Home", widget=table)
    desk.until(lambda: table.yview()[0] == 0.0)
