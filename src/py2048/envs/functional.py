"""The game as functions of plain arrays: nothing is kept between calls, and nothing is changed.

Boards are uint8 exponents `[..., rows, columns]` (0 for an empty cell) with any leading axes, none
included; what belongs to a board has the same leading axes. Actions are 0 up, 1 down, 2 left,
3 right. Chance is explicit: a turn is a slide to an *afterstate*, which the player chooses, and
then a spawn, which a 64-bit draw decides. The draws of `draws_of` make the games of `py2048.Game`;
any others will do.

>>> from py2048 import get_rules
>>> from py2048.envs import functional
>>> rules = get_rules("classic")
>>> boards = functional.reset(rules, [1, 2, 3])
>>> after, points, legal = functional.afterstates(rules, boards)
>>> boards.shape, after.shape, points.shape, legal.shape
((3, 4, 4), (3, 4, 4, 4), (3, 4), (3, 4))

This module does without Gymnasium.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048.compiled._batch_kernels import slide_boards
from py2048.compiled.rule_arrays import edge_cells, edge_table, tile_ranks
from py2048.direction import Direction
from py2048.envs import _array_kernels as kernels
from py2048.envs.layout import ending_rank
from py2048.envs.options import OptionError
from py2048.errors import BoardError
from py2048.rules import BoardSum, EdgeSpawn, Merging, MovePoints, Rules, Weights

Boards = NDArray[np.uint8]

__all__ = [
    "afterstates",
    "chance_outcomes",
    "draws_of",
    "legal",
    "reset",
    "slide",
    "spawn",
    "step",
    "symmetries",
]


def reset(rules: Rules, seeds: ArrayLike) -> Boards:
    """Return the start of the game of each seed: uint8 `[..., rows, columns]`.

    Args:
        rules: the rules.
        seeds: whole numbers from 0 to 2**64 - 1, `[...]`.
    """
    numbers = np.asarray(seeds, np.uint64)
    boards = np.zeros((numbers.size, rules.cells), np.uint8)
    tiles = _tiles(rules.start_weights)
    kernels.start_all(boards, _flat(numbers), rules.start.low, rules.start.high, *tiles)
    return boards.reshape(*numbers.shape, *rules.shape)


def legal(rules: Rules, boards: Boards) -> NDArray[np.bool_]:
    """Return which actions are legal: bool `[..., 4]`; none where the game is over."""
    cells = _cells(rules, boards)
    allowed = np.empty((len(cells), 4), np.bool_)
    kernels.legal_all(cells, *rules.shape, ending_rank(rules), allowed)
    return allowed.reshape(*boards.shape[:-2], 4)


def slide(
    rules: Rules, boards: Boards, actions: ArrayLike
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Slide each board.

    Returns:
        The afterstates `[..., rows, columns]`, the points of the merges, int64 `[...]`, and whether
        anything moved, bool `[...]`. A slide that moves nothing returns the board.
    """
    cells = _cells(rules, boards)
    points = np.empty(len(cells), np.int64)
    cascade = rules.merging is Merging.CASCADE
    directions = _actions(actions, boards.shape[:-2])
    slide_boards(cells, directions.astype(np.uint8), *rules.shape, cascade, points)
    lead = boards.shape[:-2]
    moved = (points >= 0).reshape(lead)
    return cells.reshape(boards.shape), np.maximum(points, 0).reshape(lead), moved


def afterstates(
    rules: Rules, boards: Boards
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Slide each board in all four directions.

    Returns:
        As `slide`, with an axis of 4 for the actions: `[..., 4, rows, columns]` and `[..., 4]`.
    """
    lead = boards.shape[:-2]
    each = np.repeat(boards[..., None, :, :], 4, axis=-3)
    return slide(rules, each, np.broadcast_to(np.arange(4), (*lead, 4)))


def spawn(rules: Rules, after: Boards, actions: ArrayLike, draws: ArrayLike) -> Boards:
    """Return the boards after a tile has appeared on each afterstate.

    Args:
        rules: the rules.
        after: afterstates of legal slides.
        actions: the actions that led there; a deterministic spawn depends on them.
        draws: 64-bit draws `[...]`, such as `draws_of` returns; deterministic spawns ignore them.

    Raises:
        BoardError: if a board is full.
    """
    cells = _cells(rules, after)
    if not (cells == 0).any(axis=1).all():
        raise BoardError("a board is full: no tile can appear on it")
    lead = after.shape[:-2]
    words = _flat(np.broadcast_to(np.asarray(draws, np.uint64), lead))
    tiles = _tiles(rules.spawn_weights)
    kernels.spawn_all(cells, _actions(actions, lead), words, *tiles, _edges(rules))
    return cells.reshape(after.shape)


def step(
    rules: Rules, boards: Boards, actions: ArrayLike, draws: ArrayLike
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Play a turn on each board: slide, and if that moved something, spawn.

    Returns:
        The boards, the points that the rules give for the turn, int64 `[...]`, and whether the game
        is over, bool `[...]`. Where the score is the sum of the board, the points are the growth of
        the sum. A game that was over stays as it is.
    """
    lead = boards.shape[:-2]
    directions = _actions(actions, lead).reshape(lead)
    allowed = np.take_along_axis(legal(rules, boards), directions[..., None], -1)[..., 0]
    after, points, _ = slide(rules, boards, directions)
    result = boards.copy()
    words = np.broadcast_to(np.asarray(draws, np.uint64), lead)
    if allowed.any():
        result[allowed] = spawn(rules, after[allowed], directions[allowed], words[allowed])
    over = np.asarray(~legal(rules, result).any(axis=-1))
    return result, _points(rules, boards, result, points, allowed), over


def draws_of(seeds: ArrayLike, plies: ArrayLike) -> NDArray[np.uint64]:
    """Return the draw of turn number `plies` (0 for the first) of the game of each seed."""
    pair = np.broadcast_arrays(np.asarray(seeds, np.uint64), np.asarray(plies, np.uint64))
    draws = np.empty(pair[0].size, np.uint64)
    kernels.draw_all(_flat(pair[0]), _flat(pair[1]), draws)
    return draws.reshape(pair[0].shape)


def chance_outcomes(rules: Rules, after: Boards, action: int) -> tuple[Boards, NDArray[np.float64]]:
    """Return all boards that can follow one afterstate, with their probabilities.

    Args:
        rules: the rules.
        after: the afterstate of a legal slide, uint8 `[rows, columns]`.
        action: the action that led there.

    Returns:
        uint8 `[k, rows, columns]` and float64 `[k]`, which sum to one: empty cells in row-major
        order, and for each the tiles in ascending order.
    """
    _cells(rules, after)
    free = [(int(row), int(column)) for row, column in np.argwhere(after == 0)]
    if isinstance(rules.spawn, EdgeSpawn):
        edge = edge_cells(*rules.shape, Direction(action))
        free = [cell for cell in edge if cell in free][:1]
    if not free:
        raise BoardError("the board is full: no tile can appear on it")
    weights = rules.spawn_weights
    tiles = [
        (rank, float(share))
        for rank, (_, share) in zip(tile_ranks(weights), weights.pairs, strict=True)
    ]
    outcomes = np.repeat(after[None], len(free) * len(tiles), axis=0)
    places = [(cell, rank) for cell in free for rank, _ in tiles]
    for number, (cell, rank) in enumerate(places):
        outcomes[number][cell] = rank
    chances = [share / len(free) for _ in free for _, share in tiles]
    return outcomes, np.array(chances)


def symmetries(boards: Boards) -> Boards:
    """Return the images of each board: uint8 `[s, ..., rows, columns]`.

    The first is the board itself. A square has eight, another shape the four that keep it.
    """
    images = [boards, boards[..., ::-1], boards[..., ::-1, :], boards[..., ::-1, ::-1]]
    if boards.shape[-1] == boards.shape[-2]:
        images += [image.swapaxes(-1, -2) for image in images]
    return np.stack(images)


# --- what the kernels take ------------------------------------------------------------------------


def _cells(rules: Rules, boards: Boards) -> Boards:
    """Return the boards as `[n, cells]`, checked and copied."""
    if boards.dtype != np.uint8 or boards.shape[-2:] != rules.shape:
        raise BoardError(
            f"boards of {rules.name} are uint8 exponents [..., {rules.rows}, {rules.columns}], "
            f"not {boards.dtype} {list(boards.shape)}"
        )
    return np.array(boards, order="C").reshape(-1, rules.cells)


def _actions(actions: ArrayLike, lead: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the actions of all boards, checked: int64 `[n]`."""
    numbers = np.asarray(actions)
    if not np.can_cast(numbers.dtype, np.int64) or ((numbers < 0) | (numbers > 3)).any():
        raise OptionError("actions are 0 up, 1 down, 2 left and 3 right, as whole numbers")
    return _flat(np.broadcast_to(numbers.astype(np.int64), lead))


def _flat(numbers: NDArray[Any]) -> NDArray[Any]:
    return np.array(numbers, order="C").reshape(-1)


@cache
def _tiles(weights: Weights) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return ranks and running sums of weights, as the kernels pick from them."""
    return tile_ranks(weights).astype(np.uint64), np.cumsum(weights.integers, dtype=np.uint64)


@cache
def _edges(rules: Rules) -> NDArray[np.int64]:
    is_edge = isinstance(rules.spawn, EdgeSpawn)
    return edge_table(*rules.shape) if is_edge else np.empty((4, 0), np.int64)


def _points(
    rules: Rules,
    before: Boards,
    after: Boards,
    merged: NDArray[np.int64],
    allowed: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return what the rules give for turns."""
    match rules.scoring:
        case MovePoints(legal_points, illegal_points):
            playing = legal(rules, before).any(axis=-1)
            return np.where(allowed, legal_points, np.where(playing, illegal_points, 0))
        case BoardSum():
            return _sums(after) - _sums(before)
        case _:
            return np.where(allowed, merged, 0)


def _sums(boards: Boards) -> NDArray[np.int64]:
    tiles = np.where(boards == 0, 0, np.int64(1) << boards.astype(np.int64))
    return np.asarray(tiles.sum(axis=(-1, -2)))
