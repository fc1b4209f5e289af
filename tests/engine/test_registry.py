"""Everything that plays by rules agrees with `Game`, also for rules that no preset has.

Add every new consumer of rules to this file; batches, rollouts and environments have tests of their
own. Add every new kind of rule to `boards.ODD_RULES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from boards import ODD_RULES
from tests.players.solving.reference import value_of_game

from py2048 import Board, Direction, Game, Rules
from py2048.core.errors import WeightsError
from py2048.engine.boards import exponents_of
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.ntuple.heuristic import board_value
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network
from py2048.players.search.expectimax import Expectimax
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.players.solving import solve

QUICK = (0, 2, 4)
"""Packed boards, cell arrays, each kind of spawn, and a target; more would compile too long."""

every_rules = pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=() if number in QUICK else pytest.mark.slow)
        for number, text in enumerate(ODD_RULES)
    ],
)
MOVES = [0, 2, 1, 3, 3, 2, 0, 0, 1, 2, 3, 1] * 4


def game_of(text: str, seed: int) -> Iterator[tuple[int, Game]]:
    """Play the directions in `MOVES`; yield each with the game after it."""
    game = Game(Rules.parse(text), seed=seed)
    for move in MOVES:
        if game.is_over:
            return
        game.attempt(Direction(move))
        yield move, game


def mid_game(text: str) -> Board:
    """Return a board from a game in progress."""
    *_, board = (
        game.board for _, game in game_of(text, seed=5) if not game.is_over and game.ply < 12
    )
    assert isinstance(board, Board)
    return board


def exponents(board: Board) -> np.ndarray:
    return exponents_of(board.rows)


@every_rules
@pytest.mark.parametrize("depth", [1, 2])
def test_search_agrees_with_a_plain_recursion(text, depth):
    """Searches agree with a plain recursion, with heuristic leaves scaled to the rules' points."""
    rules, board = Rules.parse(text), mid_game(text)
    searcher = Searcher(rules, limits=SearchLimits(depth))
    context = searcher.workers[0].contexts[0]
    scale, win_value = float(context.scale), float(context.win_value)
    plain = Expectimax(rules, lambda after: scale * board_value(after), depth, win_value=win_value)
    found, expected = searcher.rate(board), plain.rate(board)
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-5)


@every_rules
def test_network_is_trained_on_the_game(text):
    """An empty network rates moves by their points alone; training plays games and learns."""
    rules = Rules.parse(text)
    layout = NetworkLayout(rules.rows, rules.columns, ((0, 1),))
    if rules.is_deterministic:
        with pytest.raises(WeightsError, match="not random"):
            Network.zeros(layout, rules)
        return
    board = mid_game(text)
    plain = Expectimax(rules, lambda _: 0.0, 1)
    rated = Searcher(rules, Network.zeros(layout, rules), SearchLimits(1)).rate(board)
    assert rated == pytest.approx(plain.rate(board))
    trainer = Trainer(TrainingConfig(rules_text=text, tuples="lines", seed=1))
    trainer.run(games=20)
    assert trainer.records.any()


@pytest.mark.parametrize("goal", ["score", "tile=16"])
@pytest.mark.parametrize("text", [text for text in ODD_RULES if "edge" not in text])
def test_solver_agrees_with_a_plain_recursion(text, goal):
    """On 2x2 boards, the solver agrees with exact fractions."""
    rules = replace(Rules.parse(text), rows=2, columns=2)
    solution = solve(rules, goal)
    assert abs(solution.value - value_of_game(rules, goal)) <= solution.error + 1e-15
