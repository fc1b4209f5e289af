"""The model of qsan_qarut: the document's names, slides, score and announcements."""

from __future__ import annotations

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048 import Board, Direction
from py2048.courses.qsan_qarut.model import Game, Model
from py2048.errors import CourseError

DIRECTIONS = {
    "l": Direction.LEFT,
    "r": Direction.RIGHT,
    "u": Direction.UP,
    "b": Direction.DOWN,
}
ARROWS = {"l": "left_arrow", "r": "right_arrow", "u": "up_arrow", "b": "down_arrow"}
STUCK = [[2, 4], [4, 2]]

numbers = st.one_of(st.just(0), st.integers(1, 17).map(lambda rank: 2**rank))
small_numbers = st.sampled_from([0, 0, 2, 2, 4, 8])
boards = st.integers(2, 6).flatmap(
    lambda n: st.sampled_from([numbers, small_numbers]).flatmap(
        lambda cells: st.lists(
            st.lists(cells, min_size=n, max_size=n), min_size=n, max_size=n
        ).filter(lambda rows: any(map(any, rows)))
    )
)
moves = st.sampled_from("lrub")


def game_on(rows: list[list[int]]) -> Game:
    game = Model(len(rows)).game
    game.board = np.array(rows)
    return game


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 20])
def test_a_fresh_game_has_one_number_and_no_points(n: int) -> None:
    game = Model(n).game
    assert isinstance(game, Game)
    assert (game.grid, game.score, game.is_finished, game.is_won) == (n, 0, False, False)
    assert game.board.shape == (n, n)
    assert np.issubdtype(game.board.dtype, np.integer)
    assert sorted(set(game.board.flat)) in ([0, 2], [0, 4])
    assert np.count_nonzero(game.board) == 1


@given(boards, moves)
def test_stack_is_the_engines_slide_and_a_spawn_if_anything_moved(rows, move) -> None:
    game = game_on(rows)
    slide = Board.from_rows(rows).slide(DIRECTIONS[move])
    with patch.object(game, "add_num") as add_num:
        game.stack(move)
    assert game.board.tolist() == [list(row) for row in slide.board.rows]
    assert add_num.call_count == slide.changed


@given(boards, moves, st.integers(0, 2**32 - 1))
def test_a_move_spawns_one_2_or_4_on_an_empty_cell_and_scores_the_sum_of_the_board(
    rows, move, seed
) -> None:
    game = game_on(rows)
    slide = Board.from_rows(rows).slide(DIRECTIONS[move])
    np.random.seed(seed)
    game.make_move(move)
    fresh = game.board - np.array(slide.board.rows)
    assert max(fresh.flat) in ((2, 4) if slide.changed else (0,))
    assert np.count_nonzero(fresh) == slide.changed
    assert game.score == sum(map(sum, rows)) + fresh.sum()


def test_a_move_that_moves_nothing_still_brings_the_score_up_to_date() -> None:
    game = game_on([[2, 0], [4, 0]])
    game.make_move("l")
    assert game.board.tolist() == [[2, 0], [4, 0]]
    assert game.score == 6


@given(boards, moves)
def test_the_board_stays_the_same_array(rows, move) -> None:
    game = game_on(rows)
    board = game.board
    game.make_move(move)
    assert game.board is board


@given(boards, moves)
def test_a_game_is_finished_when_full_and_stuck_and_won_with_2048(rows, move) -> None:
    game = game_on(rows)
    game.make_move(move)
    now = Board.from_rows(game.board)
    assert game.is_finished is not now.can_move()
    assert game.is_won is any(2048 in row for row in now.rows)


def test_a_full_board_with_a_merge_left_is_not_finished() -> None:
    game = game_on([[2, 2], [4, 8]])
    game.make_move("u")
    assert not game.is_finished


def test_a_game_stays_won_when_2048_is_merged_away() -> None:
    game = game_on([[1024, 1024], [2048, 0]])
    game.make_move("l")
    assert game.is_won
    game.make_move("u")
    assert 2048 not in game.board
    assert game.is_won


def test_numbers_are_2_or_4_half_each_and_positions_are_even() -> None:
    np.random.seed(0)
    seen = np.zeros((2, 2, 5), dtype=int)
    for _ in range(2000):
        game = Game(2)
        row, column = np.argwhere(game.board)[0]
        seen[row, column, game.board[row, column]] += 1
    assert seen.sum() == 2000
    assert all(180 < count < 320 for count in seen[:, :, (2, 4)].flat)


def test_get_random_position_gives_an_empty_cell_and_a_full_board_takes_no_number() -> None:
    game = game_on([[2, 4], [0, 2]])
    assert game.get_random_position() == (1, 0)
    game.add_num()
    assert game.board[1][0] in (2, 4)
    before = game.board.copy()
    game.add_num()
    assert np.array_equal(game.board, before)


@given(boards, moves)
def test_an_arrow_makes_its_move(rows, move) -> None:
    game = game_on(rows)
    with patch.object(game, "make_move", wraps=game.make_move) as make_move:
        getattr(game, ARROWS[move])(None)
    make_move.assert_called_once_with(move)


def test_the_command_line_shows_score_and_board_after_each_move(capsys) -> None:
    game = game_on([[2, 2], [4, 8]])
    game.add_num = lambda: None  # type: ignore[method-assign]
    game.left_arrow(None)
    assert capsys.readouterr().out == "Score: 16\n[[4 0]\n [4 8]]\n\n"


def test_winning_is_announced_once_and_play_goes_on(capsys) -> None:
    game = game_on([[1024, 1024, 0], [2, 4, 0], [0, 0, 0]])
    game.left_arrow(None)
    assert "You won" in capsys.readouterr().out
    assert game.is_won
    game.up_arrow(None)
    game.right_arrow(None)
    assert "You won" not in capsys.readouterr().out
    assert not game.is_finished


def test_a_win_on_the_last_move_is_announced_before_the_end(capsys) -> None:
    game = game_on([[1024, 1024], [4, 8]])
    game.add_num = lambda: game.board.__setitem__((0, 1), 2)  # type: ignore[method-assign]
    game.left_arrow(None)
    printed = capsys.readouterr().out
    assert game.is_won
    assert game.is_finished
    assert 0 < printed.index("You won") < printed.index("Game over")


def test_the_end_is_announced_once(capsys) -> None:
    game = game_on([[2, 4], [8, 16]])
    game.left_arrow(None)
    assert "Game over" in capsys.readouterr().out
    game.up_arrow(None)
    assert capsys.readouterr().out == "Score: 30\n[[ 2  4]\n [ 8 16]]\n\n"
    game.restart()
    game.board[:] = [[2, 4], [8, 16]]
    game.left_arrow(None)
    assert "Game over" in capsys.readouterr().out


def test_the_same_seed_gives_the_same_game() -> None:
    boards = []
    for _ in range(2):
        np.random.seed(7)
        game = Game(4)
        for move in "lurb" * 20:
            game.make_move(move)
        boards.append(game.board.tolist())
    assert boards[0] == boards[1]


@pytest.mark.parametrize("n", [1, 0, -3, 2.5, "4", None])
def test_a_size_that_makes_no_game_is_refused_by_name(n) -> None:
    with pytest.raises(CourseError, match="whole number from 2") as error:
        Model(n)
    assert repr(n) in str(error.value)


@pytest.mark.parametrize("move", ["", "d", "L", "lr", None, []])
def test_an_unknown_move_is_refused_and_changes_nothing(move) -> None:
    game = game_on([[2, 2], [0, 0]])
    with pytest.raises(CourseError, match="none of 'l', 'r', 'u' and 'b'"):
        game.make_move(move)
    assert game.board.tolist() == [[2, 2], [0, 0]]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_whole_games_by_script_end_full_and_stuck(n: int) -> None:
    np.random.seed(n)
    game = Model(n).game
    while not game.is_finished:
        for move in "lurb":
            game.make_move(move)
            assert game.score == game.board.sum()
    assert 0 not in game.board
    assert not Board.from_rows(game.board).can_move()


def test_the_model_needs_neither_tkinter_nor_a_display() -> None:
    code = (
        "import sys; sys.modules['tkinter'] = None;"
        "from py2048.courses.qsan_qarut.model import Model; print(Model(4).game.score)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
