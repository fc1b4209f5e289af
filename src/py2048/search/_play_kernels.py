"""Moves and whole games with a search, compiled: built for each kind of board and leaf."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048._jit import kernel
from py2048.engine._bits_kernels import draw, pick_low, pick_rank
from py2048.search import _board_kernels as boards
from py2048.search import _leaf_kernels as leaves
from py2048.search._board_kernels import Cells, Int, Word
from py2048.search._expectimax_kernels import (
    Afterstates,
    Parts,
    Spawns,
    Weights,
    afterstates,
    root,
    spawns,
)
from py2048.search.desk import Desk

SCORE, PLY, OVER = 0, 1, 2
STATE = 3
"""Places in the state of a game: the points of merges, the number of moves, whether it is over."""


FIRST_SLOT = np.int64(0)


class Kernels(NamedTuple):
    """What a search on one kind of board with one kind of leaf can do."""

    rate_move: Any
    rate: Any
    advance: Any
    play: Any


def raters(parts: Parts, known: Afterstates, around: Spawns) -> tuple[Any, Any, Any]:
    """Return the kernels that rate one move, all moves of a board of ranks, and of a handle."""
    load = parts.load
    view, search_move, points_of = root(parts, known, around)

    @kernel
    def rate_move(
        cells: Cells,
        direction: Int,
        depth: Int,
        left: Int,
        budget: Int,
        desks: Desk,
        weights: Weights,
    ) -> float:
        """Return the points to come after a legal move of a board of ranks, uint8 `[cells]`."""
        desk = desks[0]
        desk.nodes, desk.budget = 0, budget
        board = view(load(cells, FIRST_SLOT, desk), desk)
        return np.float64(search_move(board, direction, depth, left, desk, weights))

    @kernel
    def choose(
        board: Any,
        depth: Int,
        left: Int,
        desk: Any,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Int:
        """Rate all moves; return the best direction, or -1."""
        best, most = np.int64(-1), -np.inf
        points_of(board, points, desk)
        seen = view(board, desk)
        for direction in range(4):
            if points[direction] >= 0:
                gain = desk.per_merged * points[direction] + desk.per_move
                values[direction] = gain + search_move(seen, direction, depth, left, desk, weights)
                if values[direction] > most:
                    best, most = np.int64(direction), values[direction]
        return best

    @kernel
    def rate(
        cells: Cells,
        depth: Int,
        left: Int,
        budget: Int,
        desks: Desk,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Int:
        """Rate all moves of a board of ranks; return the best direction, or -1.

        Args:
            cells: the board, uint8 `[cells]`.
            depth: how many moves to look ahead, 1 or more.
            left: how much a path may cost.
            budget: how many boards may be rated before the search gives up.
            desks: what this thread searches with, a record `[1]`.
            weights: the weights of a network.
            points: int64 `[4]`, filled with the points of each slide, -1 for an illegal one.
            values: float64 `[4]`, filled with the worth of each legal move, in points.
        """
        desk = desks[0]
        desk.nodes, desk.budget = 0, budget
        board = load(cells, FIRST_SLOT, desk)
        return choose(board, depth, left, desk, weights, points, values)

    return rate_move, rate, choose


def mover(parts: Parts, known: Afterstates, around: Spawns) -> Any:
    """Return the kernel that makes a move."""
    slides, with_tile, is_won = parts.slides, parts.with_tile, known.is_won
    count, first, following = around

    @kernel(inline=True)
    def spawned(after: Any, direction: Int, word: Word, desk: Any) -> Any:
        """Return the board that the draw `word` makes of an afterstate."""
        cell = first(after, direction, desk)
        rank = np.uint64(desk.ranks[0])
        if desk.edge_length == 0:
            rank = pick_rank(word, desk.ranks[: desk.tiles], desk.cumulative[: desk.tiles])
            for _ in range(pick_low(word, np.uint64(count(after, desk)))):
                cell = following(after, cell, desk)
        return with_tile(after, cell, rank, np.int64(0), desk)

    @kernel
    def made(
        board: Any,
        best: Int,
        state: NDArray[np.int64],
        key: Word,
        desk: Any,
    ) -> Any:
        """Make a legal move; return the board after the spawn."""
        moves = slides(board, FIRST_SLOT, desk)
        after, gained = moves[best]
        state[OVER] = np.int64(is_won(after, gained, desk))
        word = draw(key, np.uint64(state[PLY]))
        state[SCORE] += gained
        state[PLY] += 1
        return spawned(after, best, word, desk)

    return made


def players(parts: Parts, choose: Any, made: Any) -> tuple[Any, Any]:
    """Return the kernels that make one move, and play a game on."""
    load, store = parts.load, parts.store

    @kernel
    def advance(
        cells: Cells,
        state: NDArray[np.int64],
        best: Int,
        key: Word,
        desks: Desk,
        _weights: Weights,
    ) -> None:
        """Make a legal move on a board of ranks, and the spawn after it."""
        desk = desks[0]
        board = made(load(cells, FIRST_SLOT, desk), best, state, key, desk)
        store(board, cells, desk)

    @kernel
    def play(
        cells: Cells,
        state: NDArray[np.int64],
        directions: NDArray[np.uint8],
        key: Word,
        depth: Int,
        left: Int,
        desks: Desk,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Int:
        """Play a game on, at most ``len(directions)`` moves of it; return how many were made.

        Args:
            cells: the board, uint8 `[cells]` of ranks; the board after that is written to it.
            state: int64 `[STATE]`, what has been reached, brought up to date.
            directions: uint8, filled with the moves.
            key: the key of the game's draws.
            depth: how many moves to look ahead.
            left: how much a path may cost.
            desks: what this thread searches with, a record `[1]`.
            weights: the weights of a network.
            points: room, int64 `[4]`.
            values: room, float64 `[4]`.
        """
        desk = desks[0]
        board = load(cells, FIRST_SLOT, desk)
        desk.nodes, desk.budget = 0, np.int64(1) << 62
        count = np.int64(0)
        while count < len(directions) and not state[OVER]:
            best = choose(board, depth, left, desk, weights, points, values)
            if best < 0:
                state[OVER] = 1
                break
            directions[count] = best
            board = made(board, best, state, key, desk)
            count += 1
        store(board, cells, desk)
        return count

    return advance, play


def build(parts: Parts) -> Kernels:
    """Return the kernels of a search made of these parts."""
    known, around = afterstates(parts), spawns(parts)
    rate_move, rate, choose = raters(parts, known, around)
    advance, play = players(parts, choose, mover(parts, known, around))
    return Kernels(rate_move, rate, advance, play)


_PACKED: tuple[Any, ...] = (
    *(boards.next_empty_packed, boards.count_empty_packed, boards.with_tile_packed),
    *(boards.name_of_packed, boards.ranks_on_packed, boards.load_packed, boards.store_packed),
)
_CELLS: tuple[Any, ...] = (
    *(boards.slides_cells, boards.next_empty_cells, boards.count_empty_cells),
    *(boards.with_tile_cells, boards.name_of_cells, boards.ranks_on_cells),
    *(boards.load_cells, boards.store_cells),
)
_PARTS: dict[str, tuple[Any, ...]] = {
    "4x4": (boards.slides_4x4, *_PACKED),
    "small": (boards.slides_small, *_PACKED),
    "cells": _CELLS,
}


@cache
def kernels_for(kind: str, evaluation: str) -> Kernels:
    """Return the kernels for a kind of board and an evaluation, ``heuristic`` or ``network``."""
    return build(Parts._make((*_PARTS[kind], getattr(leaves, f"{evaluation}_{kind}"))))
