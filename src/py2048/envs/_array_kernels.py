"""The loops of `py2048.envs.functional`: boards uint8 `[n, cells]` of ranks, one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import START, draw, key_of, pick_high
from py2048.compiled.jit import kernel
from py2048.envs._board_kernels import Longs, Words, legal_of, place, place_on_edge

Boards = NDArray[np.uint8]
Flags = NDArray[np.bool_]


@kernel("(uint8[:, ::1], uint64[::1], int64, int64, uint64[::1], uint64[::1])")
def start_all(boards: Boards, seeds: Words, low: int, high: int, ranks: Words, sums: Words) -> None:
    """Put the start tiles of the game of each seed on an empty board."""
    for number in range(len(boards)):
        key = key_of(seeds[number])
        extra = pick_high(draw(key, START), np.uint64(high - low + 1))
        for tile in range(low + np.int64(extra)):
            place(boards[number], draw(key, START + np.uint64(1 + tile)), ranks, sums)


@kernel("(uint8[:, ::1], int64, int64, int64, boolean[:, ::1])")
def legal_all(boards: Boards, rows: int, columns: int, target: int, legal: Flags) -> None:
    """Write which directions are legal on each board."""
    for number in range(len(boards)):
        bits = legal_of(boards[number], rows, columns, target)
        for direction in range(4):
            legal[number, direction] = bits >> direction & 1 != 0


@kernel("(uint8[:, ::1], int64[::1], uint64[::1], uint64[::1], uint64[::1], int64[:, ::1])")
def spawn_all(
    boards: Boards,
    directions: Longs,
    draws: Words,
    ranks: Words,
    sums: Words,
    edges: NDArray[np.int64],
) -> None:
    """Let a tile appear on each board; `edges` has no columns where it appears at random."""
    for number in range(len(boards)):
        if edges.shape[1]:
            place_on_edge(boards[number], edges[directions[number]], ranks[0])
        else:
            place(boards[number], draws[number], ranks, sums)


@kernel("(uint64[::1], uint64[::1], uint64[::1])")
def draw_all(seeds: Words, plies: Words, draws: Words) -> None:
    """Write the draw of each turn."""
    for number in range(len(seeds)):
        draws[number] = draw(key_of(seeds[number]), plies[number])
