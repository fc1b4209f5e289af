"""The model of qsan_qarut: the document's names, slides, score and announcements."""

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


def game_on(rows: list[list[int]]) -> Game:
    game = Model(len(rows)).game
    game.board = np.array(rows)
    return game


@given(boards, moves, st.integers(0, 2**32 - 1))
def test_a_move_spawns_one_2_or_4_on_an_empty_cell_and_scores_the_sum_of_the_board(
    rows, move, seed
):
    game = game_on(rows)
    slide = Board.from_rows(rows).slide(DIRECTIONS[move])
    np.random.seed(seed)
    game.make_move(move)
    fresh = game.board - np.array(slide.board.rows)
    assert max(fresh.flat) in ((2, 4) if slide.changed else (0,))
    assert np.count_nonzero(fresh) == slide.changed
    assert game.score == sum(map(sum, rows)) + fresh.sum()


@given(boards, moves)
def test_a_game_is_finished_when_full_and_stuck_and_won_with_2048(rows, move):
    game = game_on(rows)
    game.make_move(move)
    now = Board.from_rows(game.board)
    assert game.is_finished is not now.can_move()
    assert game.is_won is any(2048 in row for row in now.rows)


def test_a_game_stays_won_when_2048_is_merged_away():
    game = game_on([[1024, 1024], [2048, 0]])
    game.make_move("l")
    assert game.is_won
    game.make_move("u")
    assert 2048 not in game.board
    assert game.is_won


def test_a_win_on_the_last_move_is_announced_before_the_end(capsys):
    game = game_on([[1024, 1024], [4, 8]])
    game.add_num = lambda: game.board.__setitem__((0, 1), 2)  # type: ignore[method-assign]
    game.left_arrow(None)
    printed = capsys.readouterr().out
    assert game.is_won
    assert game.is_finished
    assert 0 < printed.index("You won") < printed.index("Game over")


def test_the_same_seed_gives_the_same_game():
    boards = []
    for _ in range(2):
        np.random.seed(7)
        game = Game(4)
        for move in "lurb" * 20:
            game.make_move(move)
        boards.append(game.board.tolist())
    assert boards[0] == boards[1]


@pytest.mark.parametrize("n", [1, 0, -3, 2.5, "4", None])
def test_a_size_that_makes_no_game_is_refused_by_name(n):
    with pytest.raises(CourseError, match="whole number from 2") as error:
        Model(n)
    assert repr(n) in str(error.value)


@pytest.mark.parametrize("move", ["", "d", "L", "lr", None, []])
def test_an_unknown_move_is_refused_and_changes_nothing(move):
    game = game_on([[2, 2], [0, 0]])
    with pytest.raises(CourseError, match="none of 'l', 'r', 'u' and 'b'"):
        game.make_move(move)
    assert game.board.tolist() == [[2, 2], [0, 0]]


def test_the_model_needs_neither_tkinter_nor_a_display():
    code = (
        "import sys; sys.modules['tkinter'] = None;"
        "from py2048.courses.qsan_qarut.model import Model; print(Model(4).game.score)"
    )
    assert python("-c", code).stdout == "0\n"
