"""Tests of the beam search against plain Python, exhaustive search and the game."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py2048 import Board, Direction, Game, get_rules
from py2048.core.errors import BoardError, RulesError
from py2048.core.game.turn import edge_cell
from py2048.core.rules import EdgeSpawn, Merging, Rules
from py2048.engine.boards import ranks_of
from py2048.players.search import beam as kernels
from py2048.players.search.beam import BeamPlanner, beam_search, longest_game, spec_of

cells_of = partial(ranks_of, largest=kernels.MAX_RANK)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda shape: shape != (1, 1))
tiles = st.one_of(st.just(0), st.integers(1, 5).map(lambda r: 2**r), st.just(2**17))


def edge_rules(shape: tuple[int, int], merging: Merging = Merging.ONCE, spawn: int = 2) -> Rules:
    (rows, columns), most = shape, min(4, shape[0] * shape[1])
    text = f"size={rows}x{columns},start=1..{most}x2:1,merging={merging.value},spawn=edge:{spawn}"
    return get_rules(f"cits1401:{text}")


@st.composite
def positions(draw) -> tuple[Board, Rules]:
    rows, columns = shape = draw(shapes)
    line = st.lists(tiles, min_size=columns, max_size=columns)
    cells = draw(st.lists(line, min_size=rows, max_size=rows))
    rules = edge_rules(shape, draw(st.sampled_from(Merging)), draw(st.sampled_from([2, 4])))
    return Board.from_rows(cells), rules


def children(board: Board, rules: Rules) -> Iterator[tuple[Direction, Board]]:
    """Yield the board after each legal move and its spawn; the reference of `expand`."""
    assert isinstance(rules.spawn, EdgeSpawn)
    for direction in Direction:
        slide = board.slide(direction, rules.merging)
        if slide.changed:
            cell = edge_cell(slide.board, direction)
            assert cell is not None
            yield direction, slide.board.with_tile(cell, rules.spawn.tile)


def worth(board: Board) -> float:
    """Return the value of a board; the reference of `value_of`."""
    rows, columns = board.shape
    total = 0.0
    for row, column in np.ndindex(rows, columns):
        tile = board[row, column]
        along = columns - 1 - column if row % 2 == 0 else column
        place = row * columns + along
        total += tile * kernels.FALLOFF**place if tile else kernels.EMPTY_BONUS
        for near in ((row + 1, column), (row, column + 1)):
            if near[0] < rows and near[1] < columns and tile and board[near]:
                if board[near] == tile:
                    total += kernels.PAIR_BONUS * tile
                else:
                    total -= kernels.ROUGHNESS * abs(board[near] - tile)
    return total


def board_of(cells: np.ndarray, shape: tuple[int, int]) -> Board:
    values = [1 << int(rank) if rank else 0 for rank in cells]
    return Board.from_rows(np.array(values, dtype=object).reshape(shape).tolist())


def longest_from(board: Board, rules: Rules) -> int:
    """Return the length of the longest game from `board` by exhaustive search."""
    length, reached = -1, {board}
    while reached:
        length += 1
        reached = {child for parent in reached for _, child in children(parent, rules)}
    return length


@pytest.mark.parametrize("plain", [False, True])
@given(positions(), st.sampled_from(Direction))
def test_a_kernels_move_is_the_games_move(plain, position, direction) -> None:
    board, rules = position
    spec = spec_of(rules)
    kernel = kernels.slide_and_spawn
    child = np.full(rules.cells, 63, np.uint8)
    move = kernel.py_func if plain else kernel
    legal = move(cells_of(board), child, direction.value, spec)
    expected = dict(children(board, rules)).get(direction)
    assert bool(legal) == (expected is not None)
    assert expected in (None, board_of(child, board.shape))


@given(positions())
def test_expand_makes_each_different_child_once_with_its_worth(position) -> None:
    board, rules = position
    spec = spec_of(rules)
    parents = np.stack([cells_of(board)] * 2)
    made = np.zeros((8, rules.cells), np.uint8)
    worths, origins = np.zeros(8), np.zeros(8, np.int32)
    seen, marks = np.zeros(16, np.uint64), np.full(16, -1)
    count = kernels.expand(parents, made, worths, origins, seen, marks, 0, spec)
    expected = dict(children(board, rules))
    assert count == len(set(expected.values()))
    for cells, value, origin in zip(made[:count], worths, origins, strict=False):
        child = board_of(cells, board.shape)
        assert child == expected[Direction(origin % 4)]
        assert value == pytest.approx(worth(child), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("keep_best", [kernels.keep_best, kernels.keep_best.py_func])
@given(worths=st.lists(st.floats(-9, 9, width=16), min_size=1, max_size=40), share=st.floats(0, 1))
def test_keep_best_brings_the_largest_to_the_front(keep_best, worths, share) -> None:
    wanted = max(1, round(share * len(worths)))
    chosen = np.arange(len(worths))
    keep_best(np.array(worths), chosen, len(worths), wanted)
    assert sorted(chosen) == list(range(len(worths)))
    kept = sorted((worths[i] for i in chosen[:wanted]), reverse=True)
    assert kept == sorted(worths, reverse=True)[:wanted]


@pytest.mark.parametrize("is_new", [kernels.is_new, kernels.is_new.py_func])
@given(names=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=12))
def test_a_name_is_new_once_under_each_mark(is_new, names) -> None:
    seen, marks = np.zeros(16, np.uint64), np.full(16, -1)
    for mark in range(2):
        entered: set[int] = set()
        for name in names:
            assert is_new(np.uint64(name), seen, marks, mark) == (name not in entered)
            entered.add(name)


@settings(max_examples=30)
@given(positions(), st.integers(1, 6), st.integers(1, 20))
def test_a_search_returns_legal_moves_to_the_end_or_as_deep_as_asked(position, width, depth):
    board, rules = position
    moves = beam_search(board, rules, width=width, depth=depth)
    game = Game(rules, board=board)
    for move in moves:
        game.play(move)
    assert len(moves) <= depth
    if len(moves) < depth:
        assert game.is_over


@settings(max_examples=30)
@given(positions(), st.integers(0, 4))
def test_a_beam_that_keeps_everything_finds_the_best_board(position, depth) -> None:
    board, rules = position
    reached = {board}
    for _ in range(depth):
        reached = {child for parent in reached for _, child in children(parent, rules)} or reached
    moves = beam_search(board, rules, width=4**4, depth=depth)
    game = Game(rules, board=board)
    for move in moves:
        game.play(move)
    best = max(worth(end) for end in reached)
    assert worth(game.board) == pytest.approx(best, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2), (1, 4), (1, 2)])
@pytest.mark.parametrize("merging", Merging)
def test_on_small_boards_the_plan_is_the_longest_game(shape, merging) -> None:
    rules = edge_rules(shape, merging)
    for seed in range(2):
        game = Game(rules, seed=seed)
        planner = BeamPlanner(game.board, rules)
        while not planner.is_complete:
            planner.extend()
        assert len(planner) == longest_from(game.board, rules) <= longest_game(game.board)


def test_stepping_back_with_a_wider_beam_passes_dead_ends() -> None:
    rules = edge_rules((3, 3))
    lengths = []
    for max_width in (1, 64):
        planner = BeamPlanner(Game(rules, seed=1).board, rules, width=1, max_width=max_width)
        while not planner.is_complete:
            planner.extend()
        lengths.append(len(planner))
    assert lengths[1] > 1.5 * lengths[0]


def test_moves_that_were_played_stay_as_they_were() -> None:
    rules = edge_rules((3, 4))
    planner = BeamPlanner(Game(rules, seed=3).board, rules, width=1, max_width=8)
    played: list[Direction] = []
    while not planner.is_complete:
        planner.extend()
        assert [planner[i] for i in range(len(played))] == played
        for _ in range(min(70, len(planner) - len(played))):
            played.append(planner[planner.played])
            assert planner.take() is played[-1]
        assert planner.played == len(played)
    game = Game(rules, seed=3)
    for index in range(len(planner)):
        game.play(planner[index])
    assert game.is_over
    assert len(planner) <= longest_game(game.start)
    while planner.take() is not None:
        pass
    assert planner.played == len(planner) == game.ply


def test_rules_with_chance_and_tiles_beyond_the_tables_are_refused() -> None:
    board = Board.from_rows([[2, 0], [0, 0]])
    with pytest.raises(RulesError, match="spawn=edge:2"):
        BeamPlanner(board, get_rules("classic", rows=2, columns=2))
    with pytest.raises(BoardError, match="too large to search"):
        BeamPlanner(Board.from_rows([[2**63, 0], [0, 0]]), edge_rules((2, 2)))
