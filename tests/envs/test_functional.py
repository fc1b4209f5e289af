"""The functional API plays the same game for any number of boards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies as some
from tests.envs.following import board_of, exponents_of, mask_of

from py2048 import Board, Direction, Game, Rules, get_rules
from py2048.core import board as reference
from py2048.core.errors import BoardError
from py2048.envs import functional
from py2048.envs.options import OptionError


@given(rules=some.rules(), seeds=st.lists(some.seeds, min_size=1, max_size=4), data=st.data())
@settings(max_examples=60)
def test_turns_are_those_of_the_game(rules: Rules, seeds: list[int], data: st.DataObject) -> None:
    """Starts, masks, turns, points and ends equal those of `Game` under any rules."""
    games = [Game(rules, seed=seed) for seed in seeds]
    boards = functional.reset(rules, seeds)
    for _ in range(data.draw(st.integers(0, 20))):
        assert [board_of(board) for board in boards] == [game.board for game in games]
        assert functional.legal(rules, boards).tolist() == [
            [bool(bit) for bit in mask_of(game)] for game in games
        ]
        actions = data.draw(st.lists(st.integers(0, 3), min_size=len(games), max_size=len(games)))
        draws = functional.draws_of(seeds, [game.ply for game in games])
        sums = [game.board.sum for game in games]
        scores = [game.score for game in games]
        boards, points, over = functional.step(rules, boards, actions, draws)
        for game, action in zip(games, actions, strict=True):
            game.attempt(Direction(action))
        assert over.tolist() == [game.is_over for game in games]
        if str(rules.scoring) == "sum":
            assert points.tolist() == [g.board.sum - s for g, s in zip(games, sums, strict=True)]
        else:
            assert points.tolist() == [g.score - s for g, s in zip(games, scores, strict=True)]


@given(board=some.boards(), merging=some.mergings)
def test_afterstates_are_the_slides(board: Board, merging: object) -> None:
    """Afterstates have each slide's board, merge points and legality."""
    rules = get_rules("classic", rows=board.shape[0], columns=board.shape[1], merging=merging)
    after, points, legal = functional.afterstates(rules, exponents_of(board))
    for direction in Direction:
        slide = board.slide(direction, rules.merging)
        assert board_of(after[direction.value]) == slide.board
        assert points[direction.value] == slide.points
        assert legal[direction.value] == slide.changed
        alone = functional.slide(rules, exponents_of(board), direction.value)
        every = (each[direction.value] for each in (after, points, legal))
        assert all(map(np.array_equal, alone, every))


def test_any_leading_axes_will_do() -> None:
    """Any number of leading axes gives the same results."""
    rules = get_rules("3x4")
    table = functional.reset(rules, np.arange(6).reshape(2, 3))
    assert table.shape == (2, 3, 3, 4)
    draws = functional.draws_of(np.arange(6).reshape(2, 3), 0)
    stepped = functional.step(rules, table, 2, draws)
    for place in np.ndindex(2, 3):
        one = functional.step(rules, table[place], 2, draws[place])
        assert all(np.array_equal(a, b[place]) for a, b in zip(one, stepped, strict=True))


def test_arguments_are_not_changed() -> None:
    """No function writes to its inputs, and read-only inputs work."""
    rules = get_rules("classic")
    boards = functional.reset(rules, np.arange(8)).swapaxes(-1, -2)
    boards.setflags(write=False)
    before = boards.copy()
    after, _, legal = functional.slide(rules, boards, 0)
    functional.afterstates(rules, boards)
    functional.spawn(rules, after[legal], 0, functional.draws_of(np.arange(8), 0)[legal])
    functional.step(rules, boards, 0, 5)
    functional.symmetries(boards)
    assert np.array_equal(boards, before)


@given(game=some.games())
def test_chance_outcomes_are_every_spawn_with_its_probability(game: Game) -> None:
    """Chance outcomes are distinct, sum to one, and include the game's spawn."""
    for direction in game.legal_directions():
        slide = game.board.slide(direction, game.rules.merging)
        after = exponents_of(slide.board)
        boards, chances = functional.chance_outcomes(game.rules, after, direction.value)
        assert np.isclose(chances.sum(), 1)
        assert len({board.tobytes() for board in boards}) == len(boards)
        if not game.rules.is_deterministic:
            empty = len(slide.board.empty_cells())
            tile, share = game.rules.spawn_weights.pairs[0]
            assert chances[0] == pytest.approx(float(share * Fraction(1, empty)))
            assert board_of(boards[0]) == slide.board.with_tile(slide.board.empty_cells()[0], tile)
        drawn = functional.draws_of(game.seed, game.ply)
        spawned = functional.spawn(game.rules, after, direction.value, drawn)
        assert any(np.array_equal(spawned, board) for board in boards)


@given(board=some.boards())
def test_symmetries_are_those_of_the_reference(board: Board) -> None:
    """Symmetries equal the reference's, with the board itself first."""
    images = functional.symmetries(exponents_of(board))
    square = board.shape[0] == board.shape[1]
    assert len(images) == (8 if square else 4)
    assert board_of(images[0]) == board
    found = {board_of(image).rows for image in images}
    known = {rows for rows in reference.symmetries(board.rows) if Board(rows).shape == board.shape}
    assert found == known


def test_mistakes_are_explained() -> None:
    """Errors name wrong shapes, types, full boards and unknown actions."""
    rules = get_rules("classic")
    boards = functional.reset(rules, [1, 2])
    with pytest.raises(BoardError, match=r"\[\.\.\., 4, 4\], not uint8 \[2, 3, 4\]"):
        functional.legal(rules, boards[:, :3])
    with pytest.raises(BoardError, match="not float64"):
        functional.legal(rules, boards.astype(float))  # type: ignore[arg-type]
    for actions in ([0, 4], [-1, 0], [0.5, 1.0]):
        with pytest.raises(OptionError, match="actions are 0 up"):
            functional.slide(rules, boards, actions)
    for values in (-1, 1.5, "x", None, 2**64, True, [1, 0.5], np.array([1.0, 2.0])):
        wrong: Any = values
        with pytest.raises(OptionError, match=r"seeds are whole numbers from 0 to 2\*\*64"):
            functional.reset(rules, wrong)
        with pytest.raises(OptionError, match="draws are whole numbers"):
            functional.step(rules, boards, [0, 1], wrong)
        with pytest.raises(OptionError, match="plies are whole numbers"):
            functional.draws_of([1, 2], wrong)
    with pytest.raises(OptionError, match=r"actions \[3\] do not fit boards \[2\]"):
        functional.slide(rules, boards, [0, 1, 2])
    with pytest.raises(OptionError, match=r"seeds \[2\] do not fit plies \[3\]"):
        functional.draws_of([1, 2], [1, 2, 3])
    for use in (functional.legal, functional.afterstates):
        with pytest.raises(BoardError, match=r"an array of uint8 exponents, not \[\[\[0, "):
            use(rules, boards.tolist())
    with pytest.raises(BoardError, match="sum to 2,147,483,648"):
        functional.slide(rules, np.full((4, 4), 27, np.uint8), 2)
    with pytest.raises(BoardError, match=r"give one afterstate, not \[2\] of them"):
        functional.chance_outcomes(rules, boards, 0)
    full = np.ones((4, 4), np.uint8)
    with pytest.raises(BoardError, match="full"):
        functional.spawn(rules, np.stack([boards[0], full]), [0, 0], 1)
    with pytest.raises(BoardError, match="full"):
        functional.chance_outcomes(rules, full, 0)
