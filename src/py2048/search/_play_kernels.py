"""Moves and whole games with a search, compiled: built for each kind of board and leaf."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import draw, pick_low, pick_rank
from py2048.compiled.jit import kernel
from py2048.ntuple._ntuple_kernels import Code
from py2048.search import _board_kernels as boards
from py2048.search import _leaf_kernels as leaves
from py2048.search._board_kernels import Cells, Int, Word
from py2048.search._deepening_kernels import Order, decider
from py2048.search._expectimax_kernels import (
    ALL,
    FIRST,
    Afterstates,
    Parts,
    Spawns,
    Weights,
    afterstates,
    chooser,
    spawns,
)
from py2048.search.desk import Desk

__all__ = ["ALL", "OVER", "PLY", "SCORE", "STATE", "Order", "build", "kernel_for"]

SCORE, PLY, OVER = 0, 1, 2
STATE = 3
"""Places in the state of a game: the points of merges, the number of moves, whether it is over."""


def mover(parts: Parts, known: Afterstates, around: Spawns) -> Any:
    """Return the kernel that makes a move."""
    slides, with_tile, is_won = parts.slides, parts.with_tile, known.is_won
    count, first, following = around

    @kernel(borrows=True, expand=True)
    def spawned(after: Any, direction: Int, word: Word, desk: Any) -> Any:
        """Return the board that the draw `word` makes of an afterstate."""
        cell = first(after, direction, desk)
        rank = np.uint64(desk.ranks[0])
        if desk.edge_length == 0:
            rank = pick_rank(word, desk.ranks[: desk.tiles], desk.cumulative[: desk.tiles])
            for _ in range(pick_low(word, np.uint64(count(after, desk)))):
                cell = following(after, cell, desk)
        return with_tile(after, cell, rank, FIRST, desk)

    @kernel(borrows=True, expand=True)
    def made(board: Any, best: Int, state: NDArray[np.int64], key: Word, desk: Any) -> Any:
        """Make a legal move; return the board after the spawn."""
        moves = slides(board, FIRST, desk)
        after, gained = moves[best]
        state[OVER] = np.int64(is_won(after, gained, desk))
        word = draw(key, np.uint64(state[PLY]))
        state[SCORE] += gained
        state[PLY] += 1
        return spawned(after, best, word, desk)

    return made


def build(parts: Parts) -> Any:
    """Return the kernel that searches, and plays games, with these parts."""
    load, store = parts.load, parts.store
    known, around = afterstates(parts), spawns(parts)
    choose, made = chooser(parts, known, around), mover(parts, known, around)
    decide = decider(choose)

    @kernel(borrows=True)
    def play(
        cells: Cells,
        state: NDArray[np.int64],
        directions: NDArray[np.uint8],
        key: Word,
        order: Order,
        desks: Desk,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
        fresh: NDArray[np.float64],
    ) -> Int:
        """Play a game on by its best moves, as many as `directions` has room for.

        Without room it rates the moves of the board, and makes none.

        Args:
            cells: the board, uint8 `[cells]` of ranks; the board after that is written to it.
            state: int64 `[STATE]`, what has been reached, brought up to date.
            directions: uint8, filled with the moves.
            key: the key of the game's draws.
            order: how far to search.
            desks: what this thread searches with, a record `[1]`.
            weights: the weights of a network.
            points: int64 `[4]`, filled with the points of the last slides, -1 for illegal ones.
            values: float64 `[4]`, filled with what the moves are worth, in points.
            fresh: float64 `[4]`, room for the values of a search under way.

        Returns:
            how many moves were made.
        """
        desk = desks[0]
        desk.spent = 0
        board = load(cells, FIRST, desk)
        count, is_over = np.int64(0), bool(state[OVER] != 0)
        while not is_over:
            best = decide(board, order, desk, weights, points, values, fresh)
            if len(directions) == 0:
                return np.int64(0)
            if best < 0:
                state[OVER] = 1
            else:
                directions[count] = best
                board = made(board, best, state, key, desk)
                count += 1
            is_over = bool(state[OVER] != 0 or count == len(directions))
        store(board, cells, desk)
        return count

    return play


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
def kernel_for(kind: str, evaluation: str, code: Code = ()) -> Any:
    """Return the kernel for a kind of board and an evaluation, ``heuristic`` or ``network``.

    A network on 4x4 boards needs its `code`, and has a kernel of its own.
    """
    if code:
        return build(Parts._make((*_PARTS[kind], *leaves.network_on_4x4(code))))
    leaf = getattr(leaves, f"{evaluation}_{kind}")
    return build(Parts._make((*_PARTS[kind], leaf, leaves.fetch_nothing)))
