"""Hypothesis strategies for tiles, boards, rules and games."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from py2048 import Board, Direction, Game, Merging, Rules, list_rules
from py2048.core.rules import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    MovePoints,
    RandomSpawn,
    RandomStart,
    Weights,
)

directions = st.sampled_from(list(Direction))
mergings = st.sampled_from(list(Merging))
tiles = st.integers(1, 20).map(lambda rank: 2**rank)
cells = st.one_of(st.just(0), st.sampled_from([2, 4, 8]), tiles)
presets = st.sampled_from(list_rules())
seeds = st.integers(0, 2**64 - 1)


@st.composite
def boards(draw: st.DrawFn, largest: int = 6) -> Board:
    """Boards of any shape with sides up to `largest`; small tiles are the most common."""
    rows = draw(st.integers(1, largest))
    columns = draw(st.integers(2 if rows == 1 else 1, largest))
    row = st.lists(cells, min_size=columns, max_size=columns)
    return Board.from_rows(draw(st.lists(row, min_size=rows, max_size=rows)))


weights = st.dictionaries(
    st.sampled_from([2, 4, 8, 16]),
    st.fractions(Fraction(1, 50), 50, max_denominator=50),
    min_size=1,
).map(Weights)


shapes = st.tuples(st.integers(1, 8), st.integers(1, 8)).filter(lambda shape: shape != (1, 1))


@st.composite
def rules(
    draw: st.DrawFn,
    shapes: st.SearchStrategy[tuple[int, int]] = shapes,
    weights: st.SearchStrategy[Weights] = weights,
    tiles: st.SearchStrategy[int] = tiles,
) -> Rules:
    """Rules of every kind, including unusual ones."""
    rows, columns = draw(shapes)
    low = draw(st.integers(1, rows * columns))
    high = draw(st.integers(low, rows * columns))
    spawn = draw(st.one_of(weights.map(RandomSpawn), st.builds(EdgeSpawn, tiles)))
    of_start = weights if isinstance(spawn, EdgeSpawn) else st.none() | weights
    target = draw(st.none() | tiles)
    return Rules(
        name=draw(st.from_regex(r"[a-z0-9_-]{1,12}", fullmatch=True)),
        rows=rows,
        columns=columns,
        start=RandomStart(low, high, draw(of_start)),
        spawn=spawn,
        merging=draw(mergings),
        scoring=draw(st.sampled_from([MergePoints(), BoardSum(), MovePoints(), MovePoints(2, -3)])),
        target=target,
        ends_at_target=draw(st.booleans()) if target else False,
    )


@st.composite
def games(draw: st.DrawFn, rules: st.SearchStrategy[Rules] = presets, longest: int = 60) -> Game:
    """Games under presets and other rules, played by trying directions."""
    game = Game(draw(rules), seed=draw(seeds))
    for direction in draw(st.lists(directions, max_size=longest)):
        game.attempt(direction)
    return game
