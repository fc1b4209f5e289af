"""The model of qsan_qarut: slides, score, announcements and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.processes import python

from py2048 import Board, Direction
from py2048.core.errors import CourseError
from py2048.courses.qsan_qarut.model import Game, Model

DIRECTIONS = {"l": Direction.LEFT, "r": Direction.RIGHT, "u": Direction.UP, "b": Direction.DOWN}

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


def game_with(rows: list[list[int]]) -> Game:
    game = Model(len(rows)).game
    game.board = np.array(rows)
    return game


@given(boards, moves, st.integers(0, 2**32 - 1))
def test_a_move_adds_one_number_and_scores_the_sum(rows, move, seed):
    """A move that changes the board adds one 2 or 4, and the score is the sum of the board."""
    game = game_with(rows)
    slide = Board.from_rows(rows).slide(DIRECTIONS[move])
    np.random.seed(seed)
    game.make_move(move)
    fresh = game.board - np.array(slide.board.rows)
    assert max(fresh.flat) in ((2, 4) if slide.changed else (0,))
    assert np.count_nonzero(fresh) == slide.changed
    assert game.score == sum(map(sum, rows)) + fresh.sum()


@given(boards, moves)
def test_when_a_game_is_finished_and_won(rows, move):
    """A game is finished if no move is possible, and won if 2048 is on the board."""
    game = game_with(rows)
    game.make_move(move)
    now = Board.from_rows(game.board)
    assert game.is_finished is not now.can_move()
    assert game.is_won is any(2048 in row for row in now.rows)


def test_a_game_stays_won_when_2048_is_merged_away():
    """A game stays won after 2048 has merged into a larger number."""
    game = game_with([[1024, 1024], [2048, 0]])
    game.make_move("l")
    assert game.is_won
    game.make_move("u")
    assert 2048 not in game.board
    assert game.is_won


def test_a_win_on_the_last_move_is_announced_before_the_end(capsys):
    """A win on the last move is announced before the end of the game."""
    game = game_with([[1024, 1024], [4, 8]])
    game.add_num = lambda: game.board.__setitem__((0, 1), 2)  # type: ignore[method-assign]
    game.left_arrow(None)
    printed = capsys.readouterr().out
    assert game.is_won
    assert game.is_finished
    assert 0 < printed.index("You won") < printed.index("Game over")


def test_the_same_seed_gives_the_same_game():
    """NumPy's global seed makes a game repeatable."""
    boards = []
    for _ in range(2):
        np.random.seed(7)
        game = Game(4)
        for move in "lurb" * 20:
            game.make_move(move)
        boards.append(game.board.tolist())
    assert boards[0] == boards[1]


@pytest.mark.parametrize("n", [1, 0, -3, 2.5, "4", None])
def test_the_error_for_an_invalid_size_names_it(n):
    """The error for an invalid size names it."""
    with pytest.raises(CourseError, match="whole number from 2") as error:
        Model(n)
    assert repr(n) in str(error.value)


@pytest.mark.parametrize("move", ["", "d", "L", "lr", None, []])
def test_an_unknown_move_is_refused_and_changes_nothing(move):
    """An unknown move is refused and changes nothing."""
    game = game_with([[2, 2], [0, 0]])
    with pytest.raises(CourseError, match="give 'l', 'r', 'u' or 'b'"):
        game.make_move(move)
    assert game.board.tolist() == [[2, 2], [0, 0]]


def test_the_model_needs_neither_tkinter_nor_a_display():
    """The model works without tkinter."""
    code = (
        "import sys; sys.modules['tkinter'] = None;"
        "from py2048.courses.qsan_qarut.model import Model; print(Model(4).game.score)"
    )
    assert python("-c", code).stdout == "0\n"
