"""Playouts: the compiled games are those of the plain reference, on any number of threads."""

from __future__ import annotations

import random
from itertools import islice

import numpy as np
import pytest

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rng import derive_seed
from py2048.core.rules import Rules, get_rules
from py2048.engine.rules import CompiledRules
from py2048.review import _playout_kernels as kernels
from py2048.review.levels import LEVELS, Goals
from py2048.review.playouts import play_on, turns, typical_line, words
from py2048.review.reasons import Reason, ReasonKind, watch
from py2048.review.simulation import ENDLESS, Batch, Playouts, simulate

CLASSIC = get_rules("classic")
COUNTS = (
    *(kernels.MOVES, kernels.MADE, kernels.NEXT_MADE, kernels.SURVIVED),
    *(kernels.OUT, kernels.TRAPPED, kernels.MEETING, kernels.ROOM),
)


def some_boards(rules: Rules, count: int, seed: int = 1) -> list[Board]:
    """Boards of random games that are not over."""
    draws, boards = random.Random(seed), []
    while len(boards) < count:
        game = Game(rules, seed=draws.getrandbits(60))
        for _ in range(draws.randrange(1, 150)):
            if game.is_over:
                break
            game.play(draws.choice(game.legal_directions()))
        if not game.is_over:
            boards.append(game.board)
    return boards


def batches(rules: Rules, boards: list[Board], first: int, games: int) -> list[Batch]:
    """Games after every legal move, until the next tile is made twice."""
    return [
        Batch(
            *(board, ply, Goals(2 * board.max_tile, 4 * board.max_tile), watch(rules, board)),
            *(board.legal_directions(), first, games),
        )
        for ply, board in enumerate(boards, 1)
    ]


@pytest.mark.parametrize("name", ["classic", "comp1127:target=64", "3x4", "5x5", "cits1401"])
def test_the_kernel_plays_the_games_of_the_reference(name):
    """They agree in every count of every game, on each kind of board, spawn and end."""
    rules, slip, seed = get_rules(name), 0.3, 7
    playouts, game = Playouts(rules, slip, seed=seed, threads=1), 4
    for batch in batches(rules, some_boards(rules, 4), game, 1):
        sums = playouts.play([batch])[0, :, game & 1]
        for direction in batch.directions:
            row = sums[direction.value]
            draws = words(seed, batch.ply, game)
            board, goal, watched = batch.board, batch.goal, batch.watch
            counts = play_on(rules, board, direction, goal, watched, slip, draws)
            assert row[[*COUNTS]].tolist() == [*map(int, counts)]
            squares = [counts.trapped**2, counts.meeting**2, counts.room**2]
            assert row[kernels.SUMS - kernels.SQUARES :].tolist() == squares
            assert row[kernels.GAMES] == 1


@pytest.mark.parametrize(("name", "last"), [("3x4", ENDLESS), ("qsan_qarut", 64), ("5x5", 32)])
def test_whole_games_are_those_of_the_reference(name, last):
    """They end with the same largest tile and score; the first legal move starts them."""
    rules, slip, seed = get_rules(name), 0.5, 3
    largest, scores = simulate(rules, slip, 3, seed, last)
    for number in range(3):
        start = Game(rules, seed=derive_seed(seed, number)).board
        first, draws = start.legal_directions()[0], words(seed, 0, number)
        played = [*turns(rules, start, first, Goals(last, last), slip, draws)]
        merged, given = sum(turn.slide.points for turn in played), CompiledRules.of(rules)
        assert largest[number] == played[-1].board.max_tile
        earned = given.merge_points * merged + given.points_per_move * len(played)
        assert scores[number] == round(earned)


def test_equal_seeds_give_equal_sums_on_any_number_of_threads():
    """Games are numbered, so batches can be played in parts; other seeds play other games."""
    boards = some_boards(CLASSIC, 6)
    whole = Playouts(CLASSIC, 0.2, threads=1).play(batches(CLASSIC, boards, 0, 24))
    two = Playouts(CLASSIC, 0.2, threads=2)
    parts = [two.play(batches(CLASSIC, boards, first, 8)) for first in (0, 8, 16)]
    assert np.array_equal(whole, sum(parts))
    other = Playouts(CLASSIC, 0.2, seed=1, threads=2).play(batches(CLASSIC, boards, 0, 24))
    assert not np.array_equal(whole, other)


def test_only_the_given_directions_are_played():
    """Half of the games of a batch have an even number."""
    (batch,) = batches(CLASSIC, some_boards(CLASSIC, 1), 3, 10)
    chosen = batch.directions[-1]
    only = Batch(batch.board, 1, batch.goal, batch.watch, [chosen], 3, 10)
    games = Playouts(CLASSIC, 0.2, threads=1).play([only])[0, :, :, kernels.GAMES]
    assert games.tolist() == [[5, 5] if each is chosen else [0, 0] for each in Direction]


@pytest.mark.parametrize(
    ("board", "watched"),
    [
        ("512 64 . 8 / 2 . 64 . / 128 8 . . / 16 . . .", (512, 8, 128, 0)),
        ("2 512 4 . / 512 . . . / . . . . / 16 16 8 8", (0, 2, 512, 512)),
        ("2 256 2 32 / 1024 256 . . / . . . . / . . . .", (0, 2, 1024, 256)),
        ("2 16 64 . / . . . . / . . . . / . . . .", (0, 2, 16, 0)),
        ("64 8 8 16 / . . . . / . . . . / . . . .", (64, 0, 0, 0)),
    ],
)
def test_the_largest_tiles_and_the_worst_trap_are_watched(board, watched):
    """A trap has a tile eight times larger inside; small pairs and traps do not count."""
    assert watch(CLASSIC, Board.parse(board)) == watched


def test_words_are_those_of_the_page():
    """The page's worker draws the same words."""
    assert [*islice(words(1, 2, 3), 4)] == [1936341825, 3001364500, 1029104839, 3987121759]


def test_a_typical_line_follows_the_rules():
    """It starts with the move explained, and every board is a slide and a spawn after the last."""
    (board,) = some_boards(CLASSIC, 1)
    assert Reason(ReasonKind.CORNER, {"played": 60, "best": 20, "tile": 64.0}, 9.0).tile == 64
    for direction in board.legal_directions():
        line, again = (typical_line(CLASSIC, board, direction, LEVELS[1]) for _ in range(2))
        assert line == again
        assert line[0].direction is direction
        for before, turn in zip([board, *(each.board for each in line)], line, strict=False):
            assert turn.slide == before.slide(turn.direction)
            cells = zip(sum(turn.slide.board.rows, ()), sum(turn.board.rows, ()), strict=True)
            assert sum(one != other for one, other in cells) == 1
