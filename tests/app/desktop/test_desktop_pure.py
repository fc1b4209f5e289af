"""The parts of the desktop game that need no display."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from py2048.app.controller.controller import resized_rules
from py2048.app.desktop.dialogs import BoardEditor, fields_of, rules_of
from py2048.app.desktop.launch import WindowState
from py2048.app.desktop.statistics_window import ALL, summarise
from py2048.app.desktop.window import action_of, tk_keys
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import RulesError
from py2048.core.game import Game, Record
from py2048.core.rules import get_rules, list_rules
from py2048.players import make_player
from py2048.presentation import board_image
from py2048.presentation.actions import ACTIONS, BY_NAME, MENUS, PRACTICE_ACTIONS, REVIEW_ACTIONS
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.motion import direction_of_gesture
from py2048.presentation.themes import DARK, THEMES

directions = st.sampled_from(Direction)
tiles = st.sampled_from([0, 2, 2, 4, 4, 8, 16])


def boards(rows: int = 4, columns: int = 4) -> st.SearchStrategy[Board]:
    line = st.tuples(*[tiles] * columns)
    return st.tuples(*[line] * rows).map(Board.from_rows)


# Geometry

shapes = st.tuples(st.integers(1, 8), st.integers(1, 8)).filter(lambda s: s[0] * s[1] > 1)


@given(shapes, st.integers(150, 1600), st.integers(150, 1600))
def test_any_board_fits_any_window(shape, width, height):
    """The frame lies inside the window, and the middle of each cell belongs to that cell."""
    grid = BoardGrid.fit(shape, width, height)
    assert grid.left >= 0
    assert grid.top >= 0
    assert grid.left + grid.width <= width
    assert grid.top + grid.height <= height
    for row in range(shape[0]):
        for column in range(shape[1]):
            assert grid.cell_at(*grid.middle(row, column)) == (row, column)


@given(st.floats(100, 900), st.floats(100, 900), st.floats(0.05, 0.2))
def test_clicks_near_a_side_mean_that_side(width, height, inset):
    """A click just inside the middle of a side means the side; one in the centre nothing."""

    def clicked(x: float, y: float) -> Direction | None:
        place = x * width, y * height
        return direction_of_gesture(place, place, (width, height), 20)

    assert clicked(0.5, 0.5) is None
    assert clicked(inset, 0.5) is Direction.LEFT
    assert clicked(1 - inset, 0.5) is Direction.RIGHT
    assert clicked(0.5, inset) is Direction.UP
    assert clicked(0.5, 1 - inset) is Direction.DOWN
    assert clicked(1 - inset, 1 - inset) is None  # a corner is on two sides


@given(st.floats(-500, 500), st.floats(-500, 500))
def test_a_swipe_goes_where_it_mostly_went(across, down):
    """Short drags are not swipes; the mirror image of a swipe goes the opposite way."""
    corner, size = (0.0, 0.0), (1000.0, 1000.0)
    there, back = (
        direction_of_gesture(corner, (sign * across, sign * down), size, 20) for sign in (1, -1)
    )
    if max(abs(across), abs(down)) < 20:
        assert there is None
    else:
        assert there.is_vertical == (abs(down) > abs(across))
        assert back is Direction(there.value ^ 1)


# Actions


def test_every_key_does_its_action():
    """Each key of the table is the action's, with Control where its name says so."""
    for action in ACTIONS:
        for key in tk_keys(action):
            found = action_of(key.removeprefix("Control-"), 4 if key.startswith("Control") else 0)
            assert found is action, key


@pytest.mark.parametrize("actions", [ACTIONS, REVIEW_ACTIONS, PRACTICE_ACTIONS])
def test_caps_lock_changes_nothing(actions):
    """A letter does the same in both cases."""
    keys = {key: action.name for action in actions for key in tk_keys(action)}
    assert len(keys) == sum(len(tk_keys(action)) for action in actions)
    assert all(keys[key.swapcase()] == name for key, name in keys.items() if len(key) == 1)


@pytest.mark.parametrize("actions", [REVIEW_ACTIONS, PRACTICE_ACTIONS])
def test_reviews_and_practice_have_the_keys_of_the_game(actions):
    """What moves goes the same way there, and what quits closes."""
    keys = {key: action.name for action in actions for key in action.keys}
    for name, meanings in (
        ("left", {"left", "back"}),
        ("right", {"right", "forward"}),
        ("up", {"up", "previous_mistake"}),
        ("down", {"down", "next_mistake"}),
        ("quit", {"close"}),
    ):
        assert {keys.get(key) for key in BY_NAME[name].keys} <= meanings


def test_no_key_has_two_meanings():
    """A key belongs to one action, and every action with a key shows it."""
    keys = [key for action in ACTIONS for key in tk_keys(action)]
    assert len(keys) == len(set(keys))
    for action in ACTIONS:
        assert bool(tk_keys(action)) == bool(action.shown), action.name
        assert action.menu in MENUS
        assert action.help


def test_other_alphabets_play_by_the_place_of_the_keys():
    """On a Cyrillic or Greek keyboard the keys in the places of WASD move."""
    for keycode, char, name in ((25, "ц", "up"), (38, "ф", "left"), (39, "ы", "down")):
        action = action_of(f"Cyrillic_{char}", 0, keycode, char)
        assert action.name == name
    assert action_of("Cyrillic_a", 8, 38, "ф") is None  # Alt opens menus


# Pictures


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_number_fits_its_tile(theme):
    """On tiles of any size, up to 2**40, the text stays off the edge and its ink is there."""
    for side in (20, 28, 60, 107, 220):
        for rank in (1, 4, 7, 10, 14, 17, 21, 40):
            value = 1 << rank
            image = board_image.tile(value, side, theme, max(2, side // 14)).convert("RGB")
            face = _rgb(theme.tile(value).background)
            edge = [image.getpixel((1, y)) for y in range(side // 3, 2 * side // 3)]
            assert edge == [face] * len(edge), (value, side)
            assert len(image.getcolors(1 << 20)) > 5, f"{value} has no digits at {side}"


def test_digits_give_way_to_thousands_only_where_they_are_too_small():
    """131072 is written out on a tile of 60 pixels and as 131k on one of 20."""
    assert board_image.digits(131072, 60)[0] == "131072"
    assert board_image.digits(131072, 20)[0] == "131k"
    assert board_image.digits(2048, 20)[0] == "2048"


def test_the_icon_is_drawn_at_every_size():
    """An icon is square, of several colours, transparent at its corners."""
    for side in (16, 32, 64, 128):
        icon = board_image.icon(side, DARK)
        assert icon.size == (side, side)
        assert icon.getpixel((0, 0))[3] < 128
        assert len(icon.convert("RGB").getcolors(1 << 20)) > 20


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


# Exports


def short_game(moves: int = 30) -> Record:
    game, player = Game(get_rules("classic"), seed=5), make_player("corner")
    for _ in range(moves):
        game.play(player.choose(game))
    return game.record()


def test_a_film_has_a_frame_for_each_position(tmp_path):
    """The start and each turn are one frame of the GIF, in the colours of the tiles."""
    record = short_game()
    path = tmp_path / "game.gif"
    board_image.save_gif(path, record, DARK)
    with Image.open(path) as film:
        assert film.n_frames == 31
        film.seek(30)
        frame = film.convert("RGB")
    grid = BoardGrid.fit((4, 4), board_image.GIF_SIDE, board_image.GIF_SIDE)
    board = Game.from_record(record).board
    head = frame.height - grid.height
    for row in range(4):
        for column in range(4):
            x = grid.gap + column * grid.pitch + grid.cell // 2
            y = head + grid.gap + row * grid.pitch + round(grid.cell * 0.12)
            tile = board[row, column]
            wanted = _rgb(DARK.tile(tile).background if tile else DARK.empty)
            got = frame.getpixel((x, y))
            assert max(abs(a - b) for a, b in zip(wanted, got, strict=True)) < 12, (row, column)


def test_a_long_game_makes_no_endless_film(tmp_path, monkeypatch):
    """More turns than `MAX_FRAMES` are shown in steps, the last position always."""
    monkeypatch.setattr(board_image, "MAX_FRAMES", 10)
    path = tmp_path / "game.gif"
    board_image.save_gif(path, short_game(), DARK)
    with Image.open(path) as film:
        assert film.n_frames <= 11


def test_a_film_that_cannot_be_written_leaves_nothing(tmp_path):
    """The error is raised, and no half-written file is there."""
    (tmp_path / "x.gif").mkdir()
    with pytest.raises(OSError, match="directory"):
        board_image.save_gif(tmp_path / "x.gif", short_game(3), DARK)
    assert [each.name for each in tmp_path.iterdir()] == ["x.gif"]


# Rules of your own


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_the_form_keeps_every_preset(rules):
    """Rules put into the form come out of it the same, but for the name."""
    assert rules_of(fields_of(rules) | {"name": rules.name}) == rules


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("rows", "zero", "zero"),
        ("columns", "0", "columns"),
        ("start", "17", "17"),
        ("spawn", "3:1", "3"),
        ("spawn", "2", "2"),
        ("target", "100", "100"),
        ("name", "a b", "a b"),
        ("name", "", "name"),
    ],
)
def test_the_form_names_what_is_wrong(field, value, word):
    """A bad field yields one line that names the value, and no rules."""
    with pytest.raises(RulesError) as caught:
        rules_of(fields_of(get_rules("classic")) | {field: value})
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@given(shapes, st.sampled_from(list_rules()))
def test_rules_follow_the_size_of_a_pasted_board(shape, rules):
    """Any rules can be had on a board of any size; all else stays."""
    fitted = resized_rules(rules, Board.empty(*shape))
    assert fitted.shape == shape
    assert (fitted.spawn, fitted.merging, fitted.scoring) == (
        rules.spawn,
        rules.merging,
        rules.scoring,
    )
    Game(fitted, seed=1)


# Setting up a board


@given(boards(), st.lists(directions, max_size=30), st.integers(0, 60))
def test_editing_changes_the_cell_at_the_cursor_only(board, steps, rank):
    """The cursor goes round; `put` sets its cell and no other."""
    editing = BoardEditor(board)
    for step in steps:
        editing.step(step)
    editing.put(rank)
    assert editing.board[editing.cursor] == (1 << rank if rank else 0)
    assert editing.board.with_tile(editing.cursor, board[editing.cursor]) == board


@given(boards())
def test_larger_and_smaller_undo_each_other(board):
    """One rank up and one down is nothing, and down from 2 is empty."""
    editing = BoardEditor(board)
    editing.change(1)
    editing.change(-1)
    assert editing.board == board
    editing.put(1)
    editing.change(-1)
    assert editing.board[0, 0] == 0


@given(boards(), shapes, shapes)
def test_sizes_on_the_way_cut_nothing(board, shape, way):
    """Who types ``10`` passes 1; a tile that is put then is there to stay."""
    editing, passing = BoardEditor(board), BoardEditor(board)
    editing.resize(*shape)
    passing.resize(*way)
    passing.resize(*shape)
    assert passing.board == editing.board
    passing.put(5)
    passing.resize(*way)
    assert passing.board[0, 0] == 32


@given(boards(), shapes)
def test_resizing_keeps_what_fits(board, shape):
    """A board cut or widened keeps the tiles in the common part."""
    editing = BoardEditor(board)
    editing.cursor = (3, 3)
    editing.resize(*shape)
    assert editing.board.shape == shape
    assert editing.cursor[0] < shape[0]
    assert editing.cursor[1] < shape[1]
    for row in range(min(4, shape[0])):
        for column in range(min(4, shape[1])):
            assert editing.board[row, column] == board[row, column]


def test_no_game_starts_from_an_empty_or_stuck_board():
    """The editor says why."""
    assert "tile" in BoardEditor(Board.empty(2, 2)).fault
    assert "move" in BoardEditor(Board.parse("2 4/4 2")).fault
    assert BoardEditor(Board.parse("2 2/4 2")).fault == ""


# Statistics


@dataclass(frozen=True)
class Ended:
    rules: str
    category: str
    finished: str
    score: int
    max_tile: int
    plies: int
    outcome: str


def test_statistics_of_a_few_games():
    """Games are counted by rules and category, in the order in which they ended."""
    games = [
        Ended("a:", "plain", "2026-01-02", 300, 32, 40, "lost"),
        Ended("a:", "assisted", "2026-01-01", 100, 16, 20, "lost"),
        Ended("b:", "plain", "2026-01-03", 900, 64, 90, "won"),
    ]
    summary = summarise(games)
    assert summary.scores == (100, 300, 900)
    assert summary.tiles == ((16, 1), (32, 1), (64, 1))
    assert summary.trend == (100, 200, pytest.approx(1300 / 3))
    assert (summary.won, summary.moves) == (1, 150)
    assert summarise(games, "a:").scores == (100, 300)
    assert summarise(games, ALL, "assisted").scores == (100,)
    assert dict(summary.lines)["Mean"] == "433"
    assert "none yet" in summarise([]).lines[0][1]


# The state of the window


def test_the_window_state_survives_what_may_happen_to_its_file(tmp_path):
    """Values come back; a damaged, missing or unwritable file only costs them."""
    path = tmp_path / "deep" / "desktop.json"
    state = WindowState(path)
    state.set(theme="light")
    assert WindowState(path).get("theme") == "light"
    path.write_text("{damaged")
    assert WindowState(path).get("theme", "none") == "none"
    path.write_text("[1]")
    assert WindowState(path).get("theme", "none") == "none"
    blocked = WindowState(tmp_path / "deep" / "desktop.json" / "below a file")
    blocked.set(theme="dark")
    assert WindowState(None).get("theme") == ""
