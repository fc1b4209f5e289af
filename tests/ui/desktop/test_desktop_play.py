"""Playing in a real window: keys, mouse, motion, games, players."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.session.test_advice import CompiledPlayer

from py2048.board import Board
from py2048.direction import Direction
from py2048.game import Game
from py2048.players import list_players
from py2048.rules import get_rules, list_rules
from py2048.session import Hint, Hinted, Session, StorageFailed, autosave, open_session
from py2048.ui.shared.actions import ACTIONS, MENUS

pytestmark = pytest.mark.gui

KEYS = {
    Direction.UP: ("Up", "w", "W", "k", "K"),
    Direction.DOWN: ("Down", "s", "S", "j", "J"),
    Direction.LEFT: ("Left", "a", "A", "h", "H"),
    Direction.RIGHT: ("Right", "d", "D", "l", "L"),
}
OPEN = ". . . ./. 2 . ./. . . ./. . . ."


class Slow:
    """A player that thinks until it is allowed to answer."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.allowed = threading.Event()

    def choose(self, game: Game) -> Direction:
        self.asked.set()
        self.allowed.wait(20)
        return game.legal_directions()[0]

    def rate(self, game: Game) -> dict[Direction, float]:
        return dict.fromkeys(game.legal_directions(), 7.0)


# Moving


@pytest.mark.parametrize("direction", Direction)
def test_all_keys_move(desk: Any, direction: Direction) -> None:
    """Arrows, WASD and hjkl slide, with and without the Shift key."""
    for key in KEYS[direction]:
        desk.put(OPEN)
        desk.key(key)
        assert desk.session.game.turns[-1].direction is direction, key


def test_dragging_moves(desk: Any) -> None:
    """A drag over the board slides where it mostly goes; a tiny one does nothing."""
    x, y = desk.board.cells.centre
    far = desk.board.cells.cell
    for dx, dy, direction in (
        (far, 9, Direction.RIGHT),
        (-far, 9, Direction.LEFT),
        (9, far, Direction.DOWN),
        (9, -far, Direction.UP),
    ):
        desk.put(OPEN)
        desk.drag((x, y), (x + dx, y + dy))
        assert desk.session.game.turns[-1].direction is direction
    desk.put(OPEN)
    desk.drag((x, y), (x + 5, y))
    assert desk.session.game.ply == 0


def test_clicks_near_a_side_move(desk: Any) -> None:
    """A click near a side slides there; a click in the middle does nothing."""
    cells = desk.board.cells
    x, y = cells.centre
    for place, direction in (
        ((cells.left + 8, y), Direction.LEFT),
        ((cells.left + cells.width - 8, y), Direction.RIGHT),
        ((x, cells.top + 8), Direction.UP),
        ((x, cells.top + cells.height - 8), Direction.DOWN),
    ):
        desk.put(OPEN)
        desk.click(*place)
        assert desk.session.game.turns[-1].direction is direction
    desk.put(OPEN)
    desk.click(x, y)
    assert desk.session.game.ply == 0


def test_no_key_is_lost_in_a_storm(desk: Any) -> None:
    """40 keys at once, faster than any animation, all count, and the last board is shown."""
    twin = Game(get_rules("classic"), seed=1)
    keys = [("Down", "Left", "Right", "Down", "Up")[index % 5] for index in range(40)]
    for key in keys:
        twin.attempt(Direction.parse(key))
        desk.board.event_generate(f"<KeyPress-{key}>")
    desk.root.update()
    assert desk.session.game.board == twin.board
    desk.settle()
    assert desk.board.board == twin.board


def test_a_new_key_ends_the_running_animation_at_once(desk: Any, clock: Any) -> None:
    """The next move starts from where the last one was going."""
    desk.put("2 . . ./. . . ./. . . ./. . . .")
    desk.key("Right")
    assert desk.board.is_moving
    desk.key("Left")
    assert desk.board._transition.board == desk.session.game.board
    assert desk.session.game.ply == 2


def test_a_move_is_animated_as_long_as_in_the_original(desk: Any, clock: Any) -> None:
    """Between a key and rest pass 300 ms: 18 frames of a 60th of a second, then the end."""
    board = desk.board
    desk.put("2 2 . ./. . . ./. . . ./. . . .")
    frames = board.frames
    clock.perf_counter = lambda: (board.frames - frames) / 60  # each frame takes its time
    desk.key("Left")
    desk.settle()
    assert 19 <= board.frames - frames <= 20
    desk.key("x")
    assert desk.said == "Animation off."
    frames = desk.board.frames
    desk.key("Right")
    desk.settle()
    assert desk.board.frames - frames == 1


def test_points_rise_and_vanish(desk: Any, clock: Any) -> None:
    """What a merge is worth rises from the score and is gone after 600 ms."""
    desk.put("4 4 . ./. . . ./. . . ./. . . .")
    desk.key("Left")
    header = desk.window.header
    (item,) = header.find_withtag("rise")
    assert header.itemcget(item, "text") == "+8"
    low = header.coords(item)[1]
    clock.now += 0.59
    desk.until(lambda: header.coords(item)[1] < low / 2)
    clock.now += 0.02
    desk.until(lambda: not header.find_withtag("rise"))


def test_reduced_motion_jumps(open_desk: Any) -> None:
    """With reduced motion nothing slides and nothing rises."""
    desk = open_desk(reduced_motion=True)
    desk.put("4 4 . ./. . . ./. . . ./. . . .")
    desk.key("Left")
    desk.pump()
    assert not desk.board.is_moving
    assert not desk.window.header.find_withtag("rise")


def test_undo_and_redo_have_no_limit(desk: Any) -> None:
    """Any number of moves can be taken back to the start and played again."""
    start = desk.session.game.board
    desk.play(60)
    end, turns = desk.session.game.board, desk.session.game.turn_count
    desk.key(*["u"] * turns)
    assert desk.session.game.board == start
    desk.key("u")
    assert desk.said == "There is nothing to take back."
    desk.key(*["r"] * turns)
    assert desk.session.game.board == end
    desk.settle()
    assert desk.board.board == end


def test_the_header_says_what_kept_a_game_from_being_a_persons_alone(desk: Any) -> None:
    """As the terminal does: whoever plays sees where the game will stand."""
    header = desk.window.header
    assert "assisted" not in header.itemcget("line", "text")
    desk.session.count_help()
    desk.app.controller.presenter.show_status()
    assert header.itemcget("line", "text").endswith(" · assisted")


def test_the_status_line_says_what_happened(desk: Any) -> None:
    """A move is described in a sentence, as one would say it aloud."""
    desk.put("4 4 . ./. . . ./. . . ./. . . .")
    desk.key("Left")
    assert desk.said.startswith("Left: merged 4 and 4 into 8, plus 8. A ")
    assert "at row" in desk.said
    desk.key("Left")
    desk.put("2 4 . ./. . . ./. . . ./. . . .")
    desk.key("Left")
    assert desk.said == "Left: nothing moves."


# Games


def test_new_asks_only_when_a_game_is_in_progress(desk: Any) -> None:
    """N starts at once on a fresh board; otherwise it asks, and Escape keeps the game."""
    desk.key("n")
    assert desk.dialog is None
    desk.play(3)
    board = desk.session.game.board
    desk.key("n")
    dialog = desk.dialog
    assert dialog is not None
    desk.until(dialog.winfo_viewable)
    desk.key("Escape", widget=dialog)
    assert desk.dialog is None
    assert desk.session.game.board == board
    desk.key("n")
    desk.until(desk.dialog.winfo_viewable)
    desk.key("y", widget=desk.dialog)
    assert desk.session.game.ply == 0
    assert desk.dialog is None


def test_play_goes_on_past_the_target(desk: Any) -> None:
    """2048 is announced, a button or any move goes on."""
    desk.put("1024 1024 . ./. . . ./. . . ./. . . .")
    desk.key("Left")
    overlay = desk.board.overlay
    assert overlay.current.title == "You made 2048!"
    desk.until(lambda: overlay._buttons)
    overlay._buttons[0].invoke()
    assert overlay.current is None
    desk.key("Right")
    assert desk.session.game.ply == 2
    assert not desk.session.game.is_over


def test_the_end_covers_the_board_and_undo_uncovers_it(desk: Any) -> None:
    """After the last move the overlay comes with its buttons; undo takes it away."""
    desk.put("2 2 4 8/4 8 16 32/8 16 32 64/16 32 64 128", spawn=get_rules("classic").spawn)
    board = Board.parse("2 2 16 8/4 8 16 32/8 16 32 64/16 32 64 128")
    desk.show(desk.session.start(get_rules("classic"), seed=1, board=board))
    while not desk.session.game.is_over:
        desk.play(1)
    overlay = desk.board.overlay
    assert overlay.current.title == "Game over!"
    desk.until(lambda: overlay._buttons)
    desk.key("Left")
    assert "The game is over" in desk.said
    desk.key("u")
    assert overlay.current is None
    assert not desk.board.find_withtag("banner")


def test_best_scores_belong_to_their_rules(desk: Any) -> None:
    """Another size has its own best; coming back shows the old one."""
    desk.play(20)
    best = desk.session.best
    desk.app.controller.game.play_by(get_rules("5x5"))
    desk.pump()
    if desk.dialog is not None:
        desk.key("y", widget=desk.dialog)
    assert desk.session.rules.name == "5x5"
    assert desk.window.header.status.best == 0
    desk.app.controller.game.play_by(get_rules("classic"))
    desk.pump()
    if desk.dialog is not None:
        desk.key("y", widget=desk.dialog)
    assert desk.window.header.status.best == best > 0


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_every_preset_can_be_played(desk: Any, rules: Any) -> None:
    """Each preset opens from the menu, is drawn, and takes moves."""
    desk.app.controller.game.play_by(get_rules(rules.name))
    desk.pump()
    assert desk.session.rules == rules
    desk.play(5)
    desk.settle()
    assert desk.board.board == desk.session.game.board
    assert desk.board.cells.shape == rules.shape


def test_a_game_is_resumed_where_it_was_left(open_desk: Any) -> None:
    """Closing the window in the middle of a move loses nothing, not even the undone moves."""
    desk = open_desk(open_session())
    desk.play(25)
    desk.key("u", "u", "Left")
    desk.key("u")
    board, score = desk.session.game.board, desk.session.game.score
    desk.running.close()
    desk.session.close()
    again = open_desk(open_session())
    assert (again.session.game.board, again.session.game.score) == (board, score)
    assert again.session.can_redo
    assert again.said.startswith("Game resumed")


# Players


def test_a_hint_points_and_says_why(desk: Any) -> None:
    """? shows an arrow, what each legal direction loses, and says it; a move removes them."""
    desk.put("2 . . ./2 . . ./. . . ./. . . .")
    desk.app.controller.players.set_player("greedy")
    desk.key("question")
    desk.until(lambda: desk.board.find_withtag("hint"))
    legal = desk.session.game.legal_directions()
    assert len(desk.board.find_withtag("hint")) == 1 + len(legal)
    assert desk.said == "Hint: up. Down is as good. By its own rating, right loses 4."
    desk.play(1)
    assert not desk.board.find_withtag("hint")


def test_a_quick_player_answers_for_one_that_is_being_compiled(desk: Any) -> None:
    """First its hint is shown and marked, then that of the player, which is asked once."""
    shown: list[Hint] = []
    desk.session._players["compiled"] = CompiledPlayer()
    desk.app.controller.presenter.follow = lambda event: (
        shown.append(event.hint) if isinstance(event, Hinted) else None
    )
    desk.app.controller.players.set_player("compiled")
    desk.key("question")
    desk.until(lambda: desk.said.startswith("Hint: "))
    assert [hint.instead_of for hint in shown] == [CompiledPlayer.name, ""]
    assert desk.session.record().hints == 1
    assert desk.window.header.status.note == ""


def test_the_window_lives_while_a_player_thinks(desk: Any) -> None:
    """A slow player blocks nothing, is announced, and its answer to an old position is dropped."""
    slow = Slow()
    desk.session._players["slow"] = slow
    desk.app.controller.players.set_player("slow")
    desk.key("question")
    assert slow.asked.wait(10)
    assert "slow is thinking" in desk.window.header.status.note
    desk.play(2)
    assert desk.session.game.ply == 2
    slow.allowed.set()
    desk.until(lambda: not desk.app.controller.presenter.note)
    assert not desk.board.find_withtag("hint")
    assert desk.window.header.status.note == ""


def test_a_hint_comes_whatever_the_speed_of_autoplay(desk: Any) -> None:
    """Another speed, set while a player thinks, is for later."""
    slow = Slow()
    desk.session._players["slow"] = slow
    desk.app.controller.players.set_player("slow")
    desk.key("question", "plus", "minus")
    assert "slow is thinking" in desk.window.header.status.note
    slow.allowed.set()
    desk.until(lambda: desk.board.find_withtag("hint"))
    assert desk.said.startswith("Hint: ")


def test_closing_while_a_player_thinks_is_quiet(open_desk: Any, capfd: Any) -> None:
    """A thought that comes after the window has gone is dropped without a word."""
    desk, slow = open_desk(), Slow()
    desk.session._players["slow"] = slow
    desk.app.controller.players.set_player("slow")
    desk.key("space")
    assert slow.asked.wait(10)
    desk.running.close()
    slow.allowed.set()
    time.sleep(0.1)
    assert capfd.readouterr().err == ""


PLAYERS = [name for name in list_players() if name not in ("beam", "perfect")]
"""Those that play by the classic rules."""


@pytest.mark.parametrize("player", PLAYERS)
def test_any_player_plays_by_itself(desk: Any, player: str) -> None:
    """Autoplay moves by the chosen player; space pauses it, and the bar goes away."""
    desk.app.controller.players.set_player(player)
    desk.app.controller.players.set_speed(6)
    desk.key("space")
    assert desk.window.slider.winfo_exists()
    desk.until(lambda: desk.session.game.ply >= 5)
    assert desk.session.category == "computer"
    desk.key("space")
    ply = desk.session.game.ply
    desk.pump(0.2)
    assert desk.session.game.ply == ply
    assert not desk.app.controller.players.autoplay.is_on


def test_the_slider_and_the_keys_set_the_speed(desk: Any) -> None:
    """Plus, minus and the slider change how fast the player plays, from slow to at once."""
    desk.app.controller.players.set_player("corner")
    desk.key("space")
    desk.key("plus")
    assert desk.app.controller.players.autoplay.speed == 8
    assert round(desk.window.slider.get()) == 3
    desk.window.slider.set(0)
    desk.pump()
    assert desk.app.controller.players.autoplay.speed == 1
    desk.key("minus")
    assert desk.app.controller.players.autoplay.speed == 1
    desk.key("Left")
    assert not desk.app.controller.players.autoplay.is_on


def test_a_failing_player_is_reported(desk: Any) -> None:
    """What goes wrong in a player is said in the status line, and the game goes on."""

    class Broken(Slow):
        def choose(self, game: Game) -> Direction:
            raise RuntimeError("no idea")

    desk.session._players["broken"] = Broken()
    desk.app.controller.players.set_player("broken")
    desk.key("question")
    desk.until(lambda: "no idea" in desk.said)
    desk.play(1)
    assert desk.session.game.ply == 1


def test_storage_trouble_is_shown_and_play_goes_on(desk: Any) -> None:
    """A failing disk is a line in the window, not a dialog."""
    desk.show([StorageFailed("the disk is full: free some space")])
    assert desk.said == "Warning: the disk is full: free some space"
    assert desk.dialog is None
    desk.play(1)
    assert desk.session.game.ply == 1
    assert desk.said.startswith("Warning")


def test_what_is_not_saved_is_shown_until_it_is(
    open_desk: Any, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program holds the store play goes on, the window says so, quitting asks."""
    monkeypatch.setattr(autosave, "WRITE_WAIT_S", 0.15)
    session = open_session()
    session.start(seed=1)
    desk = open_desk(session)
    desk.play(1)
    with closing(sqlite3.connect(data_folder / "py2048.sqlite3", isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        desk.play(3)
        assert time.monotonic() - began < 3.0
        desk.until(lambda: "held by another program" in desk.said)
        assert desk.said.startswith("Not saved: ")
        desk.key("q")
        desk.until(lambda: desk.dialog)
        desk.key("Escape", widget=desk.dialog)
        assert desk.dialog is None
        desk.show([StorageFailed("beside it")])
        assert desk.said.endswith("Warning: beside it")
        (button,) = [each for each in desk.window.notice.winfo_children() if "button" in str(each)]
        desk.until(lambda: button.winfo_viewable() and button.winfo_width() > 10)
        button.invoke()
        assert "beside it" not in desk.said
    desk.until(lambda: not desk.window.notice.text)
    desk.running.close()
    session.close()


# Looks


def test_every_action_has_a_method(desk: Any) -> None:
    """Whatever the table of actions names, the window can do."""
    assert {action.name for action in ACTIONS} <= set(desk.app.controller.commands)


def test_every_action_is_in_the_menus_with_its_key(desk: Any) -> None:
    """Each menu lists its actions, and shows the key of each that has one."""
    shown = {}
    for name in MENUS:
        menu = desk.app.menus.menus[name]
        for index in range(menu.index("end") + 1):
            if menu.type(index) in ("command", "checkbutton"):
                shown[menu.entrycget(index, "label")] = menu.entrycget(index, "accelerator")
    assert shown == {action.title: action.shown for action in ACTIONS}


def test_tab_goes_round_and_the_focus_is_visible(desk: Any) -> None:
    """Tab reaches the board and every button that can be pressed; Space presses it."""
    desk.focus(desk.board)
    desk.play(1)
    seen = []
    for _ in range(8):
        desk.key("Tab")
        desk.pump()
        seen.append(desk.root.focus_get())
    buttons = desk.window.buttons
    assert {buttons[name] for name in ("new", "undo", "hint", "autoplay", "rules")} <= set(seen)
    assert desk.board in seen
    while desk.root.focus_get() is not desk.board:
        desk.key("Tab")
    assert desk.board.cget("highlightcolor") == desk.app.controller.theme.accent
    desk.key("Down")
    assert desk.board.cget("highlightcolor") == desk.app.controller.theme.page
    desk.focus(buttons["undo"])
    ply = desk.session.game.ply
    desk.key("space")
    desk.root.event_generate("<KeyRelease-space>")
    buttons["undo"].event_generate("<KeyRelease-space>")
    desk.pump()
    assert desk.session.game.ply == ply - 1
    assert not desk.app.controller.players.autoplay.is_on


def test_the_session_is_left_to_others(open_desk: Any) -> None:
    """Closing the window leaves the session open."""
    session = Session()
    session.start(seed=1)
    desk = open_desk(session)
    desk.running.close()
    session.move(session.game.legal_directions()[0])
    assert session.game.ply == 1
