"""The parts of the desktop game that do not need a display."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageColor
from tests.strategies import boards, directions, shapes

from py2048.app.controller.controller import resized_rules
from py2048.app.desktop.dialogs import BoardEditor, fields_of, rules_of
from py2048.app.desktop.launch import WindowState
from py2048.app.desktop.statistics_window import figures, trend
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
from py2048.review.report import CareerTotals

# Geometry


@given(shapes, st.integers(150, 1600), st.integers(150, 1600))
def test_any_board_fits_any_window(shape, width, height):
    """The board is inside the window, and `cell_at` finds each cell from its centre."""
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
    """A click near a side means that side; clicks in the centre or a corner mean nothing."""

    def clicked(x: float, y: float) -> Direction | None:
        place = x * width, y * height
        return direction_of_gesture(place, place, (width, height), 20)

    assert clicked(0.5, 0.5) is None
    assert clicked(inset, 0.5) is Direction.LEFT
    assert clicked(1 - inset, 0.5) is Direction.RIGHT
    assert clicked(0.5, inset) is Direction.UP
    assert clicked(0.5, 1 - inset) is Direction.DOWN
    assert clicked(1 - inset, 1 - inset) is None


@given(st.floats(-500, 500), st.floats(-500, 500))
def test_a_swipe_goes_where_it_mostly_went(across, down):
    """A swipe goes along its longer axis and its reverse goes back; short drags are ignored."""
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
    """Every key in the table triggers its action alone, which displays its key."""
    for action in ACTIONS:
        for key in tk_keys(action):
            found = action_of(key.removeprefix("Control-"), 4 if key.startswith("Control") else 0)
            assert found is action, key
        assert bool(tk_keys(action)) == bool(action.shown), action.name
        assert action.menu in MENUS
        assert action.help


@pytest.mark.parametrize("actions", [ACTIONS, REVIEW_ACTIONS, PRACTICE_ACTIONS])
def test_caps_lock_changes_nothing(actions):
    """Upper and lower case letters have the same action."""
    keys = {key: action.name for action in actions for key in tk_keys(action)}
    assert len(keys) == sum(len(tk_keys(action)) for action in actions)
    assert all(keys[key.swapcase()] == name for key, name in keys.items() if len(key) == 1)


@pytest.mark.parametrize("actions", [REVIEW_ACTIONS, PRACTICE_ACTIONS])
def test_reviews_and_practice_use_the_keys_of_the_game(actions):
    """In reviews and practice, movement keys keep their direction and quit closes.

    In a review, S shows a line; it means down only while a mistake is tried again.
    """
    keys = {key: action.name for action in actions for key in action.keys}
    for name, meanings in (
        ("left", {"left", "back"}),
        ("right", {"right", "forward"}),
        ("up", {"up", "previous_mistake"}),
        ("down", {"down", "next_mistake", "show_me"}),
        ("quit", {"close"}),
    ):
        assert {keys.get(key) for key in BY_NAME[name].keys} <= meanings


def test_other_alphabets_use_the_position_of_the_keys():
    """On a Cyrillic keyboard, the keys at the positions of WASD move."""
    for keycode, char, name in ((25, "ц", "up"), (38, "ф", "left"), (39, "ы", "down")):
        action = action_of(f"Cyrillic_{char}", 0, keycode, char)
        assert action.name == name
    assert action_of("Cyrillic_a", 8, 38, "ф") is None  # Alt opens menus


# Pictures


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_number_fits_its_tile(theme):
    """Numbers up to 2**40 are drawn on tiles of any size without touching the edge."""
    for side in (20, 28, 60, 107, 220):
        for rank in (1, 4, 7, 10, 14, 17, 21, 40):
            value = 1 << rank
            image = board_image.tile(value, side, theme, max(2, side // 14)).convert("RGB")
            face = ImageColor.getrgb(theme.tile(value).background)
            edge = [image.getpixel((1, y)) for y in range(side // 3, 2 * side // 3)]
            assert edge == [face] * len(edge), (value, side)
            inks = [colour for _, colour in image.getcolors(1 << 20)]
            assert len(inks) > 5, f"{value} has no digits at {side}"
            assert side < 60 or ImageColor.getrgb(theme.tile(value).text) in inks


def test_numbers_are_only_abbreviated_on_small_tiles():
    """131072 is written in full on a tile of 60 pixels and as 131k on a tile of 20."""
    assert board_image.digits(131072, 60)[0] == "131072"
    assert board_image.digits(131072, 20)[0] == "131k"
    assert board_image.digits(2048, 20)[0] == "2048"


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_images_are_encoded_without_loss(mode):
    """Pillow reads the same pixels back from an image that is encoded for Tk."""
    image = board_image.tile(64, 37, DARK, 4).crop((0, 0, 37, 20)).convert(mode)
    with Image.open(BytesIO(board_image.encode(image))) as back:
        assert (back.mode, back.size, back.tobytes()) == (mode, image.size, image.tobytes())


def test_the_icon_is_drawn_at_every_size():
    """Icons are square and coloured, with transparent corners."""
    for side in (16, 32, 64, 128):
        icon = board_image.icon(side, DARK)
        assert icon.size == (side, side)
        assert icon.getpixel((0, 0))[3] < 128
        assert len(icon.convert("RGB").getcolors(1 << 20)) > 20


# Exports


def short_game(moves: int = 30) -> Record:
    game, player = Game(get_rules("classic"), seed=5), make_player("corner")
    for _ in range(moves):
        game.play(player.choose(game))
    return game.record()


def test_the_number_of_frames_is_limited(tmp_path, monkeypatch):
    """A game with more turns than `MAX_FRAMES` skips positions."""
    monkeypatch.setattr(board_image, "MAX_FRAMES", 10)
    path = tmp_path / "game.gif"
    board_image.save_gif(path, short_game(), DARK)
    with Image.open(path) as film:
        assert film.n_frames <= 11


def test_a_gif_that_cannot_be_written_leaves_no_file(tmp_path):
    """A write error is raised and leaves no partial file."""
    (tmp_path / "x.gif").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        board_image.save_gif(tmp_path / "x.gif", short_game(3), DARK)
    assert [each.name for each in tmp_path.iterdir()] == ["x.gif"]


# Custom rules


@pytest.mark.parametrize("rules", list_rules(), ids=lambda rules: rules.name)
def test_the_form_keeps_every_preset(rules):
    """The form's fields describe the same rules as the preset."""
    assert rules_of(fields_of(rules) | {"name": rules.name}) == rules


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("rows", "zero", "zero"),
        ("spawn", "2", "2"),
        ("target", "100", "100"),
        ("name", "", "name"),
    ],
)
def test_the_form_names_an_invalid_value(field, value, word):
    """An invalid field raises an error with one line that names the value."""
    with pytest.raises(RulesError) as caught:
        rules_of(fields_of(get_rules("classic")) | {field: value})
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@given(shapes, st.sampled_from(list_rules()))
def test_rules_follow_the_size_of_a_pasted_board(shape, rules):
    """Rules can be resized to any board; everything else stays the same."""
    fitted = resized_rules(rules, Board.empty(*shape))
    assert fitted.shape == shape
    for name in ("spawn", "merging", "scoring"):
        assert getattr(fitted, name) == getattr(rules, name)
    Game(fitted, seed=1)


# Board editor


@given(boards(), st.lists(directions, max_size=30), st.integers(0, 60))
def test_editing_only_changes_the_cell_at_the_cursor(board, steps, rank):
    """`put` sets the cell at the cursor and leaves all others unchanged."""
    editor = BoardEditor(board)
    for step in steps:
        editor.step(step)
    editor.put(rank)
    assert editor.board[editor.cursor] == (1 << rank if rank else 0)
    assert editor.board.with_tile(editor.cursor, board[editor.cursor]) == board


@given(boards())
def test_larger_and_smaller_undo_each_other(board):
    """Raising and lowering a tile by one rank changes nothing; below 2 the cell is empty."""
    editor = BoardEditor(board)
    editor.change(1)
    editor.change(-1)
    assert editor.board == board
    editor.put(1)
    editor.change(-1)
    assert editor.board[0, 0] == 0


@given(boards(), shapes, shapes)
def test_intermediate_sizes_crop_nothing(board, shape, intermediate):
    """Cropped tiles return when the board grows again, until a tile is changed."""
    direct, indirect = BoardEditor(board), BoardEditor(board)
    direct.resize(*shape)
    indirect.resize(*intermediate)
    indirect.resize(*shape)
    assert indirect.board == direct.board
    indirect.put(5)
    indirect.resize(*intermediate)
    assert indirect.board[0, 0] == 32


@given(boards(), shapes)
def test_resizing_keeps_what_fits(board, shape):
    """A resized board keeps all tiles inside both sizes."""
    editor = BoardEditor(board)
    rows, columns = board.shape
    editor.cursor = rows - 1, columns - 1
    editor.resize(*shape)
    assert editor.board.shape == shape
    assert editor.cursor[0] < shape[0]
    assert editor.cursor[1] < shape[1]
    for row in range(min(rows, shape[0])):
        for column in range(min(columns, shape[1])):
            assert editor.board[row, column] == board[row, column]


def test_no_game_starts_from_an_empty_or_stuck_board():
    """The editor explains why no game can start from an empty or stuck board."""
    assert "tile" in BoardEditor(Board.empty(2, 2)).fault
    assert "move" in BoardEditor(Board.parse("2 4/4 2")).fault
    assert BoardEditor(Board.parse("2 2/4 2")).fault == ""


# Statistics


def test_statistics_of_a_few_games():
    """The figures follow from the totals."""
    totals = CareerTotals("a:", 3, 1, 900, 1300 / 3, 300, 64, 150, {16: 1, 32: 1, 64: 1})
    told = ["3", "1 (33 %)", "900", "433", "300", "64", "150"]
    assert [value for _label, value in figures(totals)] == told
    assert "none yet" in figures(None)[0].value
    assert trend([100, 300, 900]) == [100, 200, pytest.approx(1300 / 3)]


# Window state


def test_the_window_state_tolerates_file_errors(tmp_path):
    """Saved values can be read; damaged, missing and unwritable files are ignored."""
    path = tmp_path / "deep" / "desktop.json"
    state = WindowState(path)
    state.set(theme="light")
    assert WindowState(path).get("theme") == "light"
    path.write_text("{damaged")
    assert WindowState(path).get("theme") == ""
    path.write_text("[1]")
    assert WindowState(path).get("theme") == ""
    blocked = WindowState(tmp_path / "deep" / "desktop.json" / "below a file")
    blocked.set(theme="dark")
    assert WindowState(None).get("theme") == ""
