"""Random games in the kernel follow the documented draws."""

from __future__ import annotations

import numpy as np
import pytest
from boards import ODD_RULES

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, DirectionError
from py2048.core.game import Game
from py2048.core.rules import BoardSum, Rules, get_rules
from py2048.engine.batch import rollouts
from py2048.engine.boards import exponents_of


def played(
    rules: Rules, board: Board, seed: int, first: Direction | None, moves: int = 10**9
) -> tuple[int, int]:
    """Play a random game in plain Python; return the points and the number of turns."""
    game, key = Game(rules, seed=seed, board=board), rng.key_of(seed)
    while not game.is_over and game.ply < moves:
        legal = game.legal_directions()
        bits = rng.draw(key, (game.ply - 1) % 2**64) >> 32 & 0xFFFF
        chosen = legal[bits * len(legal) >> 16]
        game.play(first if first is not None and game.ply == 0 else chosen)
    is_sum = isinstance(rules.scoring, BoardSum) and game.ply > 0
    return game.score - is_sum * board.sum, game.ply


@pytest.mark.parametrize("name", ["classic", "2x4", *ODD_RULES])
@pytest.mark.parametrize("is_forced", [False, True])
def test_rollouts_are_random_games(name, is_forced):
    """Points and turns agree with plain Python, with and without a fixed first direction."""
    rules = Rules.parse(name)
    boards = [Game(rules, seed=seed).board for seed in range(4)]
    firsts = [board.legal_directions()[-1] for board in boards] if is_forced else [None] * 4
    result = rollouts(
        rules,
        [exponents_of(board.rows) for board in boards],
        5,
        seed=3,
        directions=[first.value for first in firsts] if is_forced else None,  # type: ignore[union-attr]
    )
    for i, (board, first) in enumerate(zip(boards, firsts, strict=True)):
        for k in range(5):
            expected = played(rules, board, rng.derive_seed(3, 5 * i + k), first)
            assert (result.scores[i, k], result.plies[i, k]) == expected


@pytest.mark.parametrize("moves", [1, 7, 100])
def test_games_can_be_cut_short(moves):
    """A game with a turn limit is a prefix of the whole game."""
    rules = get_rules("classic")
    boards = [Game(rules, seed=seed).board for seed in range(3)]
    given = [exponents_of(board.rows) for board in boards]
    stopped = rollouts(rules, given, 400, seed=9, moves=moves)
    whole = rollouts(rules, given, 400, seed=9)
    assert np.array_equal(stopped.plies, np.minimum(whole.plies, moves))
    ended = whole.plies <= moves
    assert np.array_equal(stopped.scores[ended], whole.scores[ended])
    for i, k in [(0, 0), (1, 17), (2, 399)]:
        seed = rng.derive_seed(9, 400 * i + k)
        assert stopped.scores[i, k] == played(rules, boards[i], seed, None, moves)[0]


def test_a_huge_move_limit_has_no_effect():
    """A turn limit may exceed the range of machine integers."""
    rules = get_rules("3x3")
    board = exponents_of(Game(rules, seed=1).board.rows)
    whole, given = rollouts(rules, [board], 20), rollouts(rules, [board], 20, moves=10**20)
    assert np.array_equal(given.plies, whole.plies)


def test_threads_change_nothing():
    """Results are the same on one thread and on three."""
    rules = get_rules("classic")
    board = exponents_of(Game(rules, seed=1).board.rows)
    one, three = (rollouts(rules, [board] * 2, 1700, threads=n) for n in (1, 3))
    assert np.array_equal(one.scores, three.scores)
    assert np.array_equal(one.plies, three.plies)


def test_boards_without_a_move_gain_nothing():
    """Finished positions gain no points and take no turns, and do not affect other games."""
    rules = get_rules("classic")
    stuck = np.array([[1, 2, 1, 2], [2, 1, 2, 1], [1, 2, 1, 2], [2, 1, 2, 1]])
    fresh = exponents_of(Game(rules, seed=1).board.rows)
    result = rollouts(rules, [stuck, fresh, stuck], 600)
    assert not result.scores[[0, 2]].any()
    assert not result.plies[[0, 2]].any()
    assert result.scores[1].min() > 0


def test_nothing_to_play_is_fine():
    """No boards, or no games, give empty results."""
    rules = get_rules("classic")
    assert rollouts(rules, np.zeros((0, 4, 4), np.uint8), 3).scores.shape == (0, 3)
    assert rollouts(rules, np.ones((2, 4, 4), np.uint8), 0).plies.shape == (2, 0)


def test_nonsense_is_refused():
    """Invalid arguments are rejected with the reason."""
    rules = get_rules("classic")
    boards = np.ones((2, 4, 4), np.uint8)
    with pytest.raises(BoardError, match="4, 4"):
        rollouts(rules, np.ones((2, 3, 3), np.uint8), 1)
    with pytest.raises(BoardError, match="at most 254 cells, not on 16x16"):
        rollouts(get_rules("16x16"), np.ones((2, 16, 16), np.uint8), 1)
    with pytest.raises(DirectionError, match="7 is not a direction"):
        rollouts(rules, boards, 1, directions=[0, 7])
    with pytest.raises(ValueError, match="-1"):
        rollouts(rules, boards, -1)
    with pytest.raises(ValueError, match="moves must be 1 or more, not 0"):
        rollouts(rules, boards, 1, moves=0)
