"""TD learning of one band of a network: games from saved boards until they leave the band.

Only the weights of the band learn. The value of an afterstate is that of the network below, less
what this is too high by, and the sum of the band's weights. A game ends when no move is legal,
worth nothing; when it makes the tile that ends the band, worth its goal; or when the sum of the
board reaches that of the band above, worth what that band says. The rest is as in
``_td_kernels.py``, with temporal coherence and with restarts from the middle of long games.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import START, derive_seed, draw, key_of, pick_low
from py2048.compiled._board_kernels import sum_packed
from py2048.compiled.jit import kernel
from py2048.ntuple._network_kernels import (
    SPARE,
    Indices,
    Int,
    PackedBoardSpec,
    Weights,
    Word,
    Words,
    copy_board,
    distinct_sum,
    fetch,
    make_indices_kernel,
    slides_square,
    spawn_board,
    total,
)
from py2048.ntuple.layout import Code
from py2048.training._td_kernels import move_weight

ZERO, ONE = np.uint64(0), np.uint64(1)

# Places in `BandWorker.progress`. Games from saved boards are counted again where they end, and
# where they end by that tile or in the band above; games from the middle of others are not.
GAMES, MOVES, WAITING, FINISHED, PASSED = 0, 1, 2, 3, 4
PROGRESS = 5

# Places in `BandWorker.boards`: the board, its four afterstates, the start of the next game.
BOARD, WAITING_BOARD, BOARDS = 0, 5, 6


class Below(NamedTuple):
    """The network below the bands, and the points of the rules."""

    spec: PackedBoardSpec
    weights: Weights
    step: np.float32
    band_spec: PackedBoardSpec
    """The tuples of the bands."""
    per_merged: float
    per_move: float
    ranks: NDArray[np.uint8]
    cumulative: Words


class BandView(NamedTuple):
    """A `Band`, and where its weights are."""

    ending: Word
    least: np.int64
    level: float
    slope: float
    goal: float
    end: np.int64
    """The sum at which the band above begins."""
    first: Word
    stride: Word
    step: np.float32


class BandNetwork(NamedTuple):
    """What values are made of while a band learns."""

    below: Below
    weights: NDArray[np.float32]
    """Those that learn, with their errors."""
    band: BandView
    above_weights: Weights
    above: BandView


class BandParams(NamedTuple):
    """How to learn."""

    learning_rate: float
    lambda_: float
    restart_length: np.int64


class BandWorker(NamedTuple):
    """The state of one thread."""

    boards: Words
    trajectory: Words
    rewards: NDArray[np.float64]
    fixed: NDArray[np.float64]
    """The part of each afterstate's value that does not learn."""
    progress: NDArray[np.int64]
    below_indices: Words
    indices: Words
    """uint64 `[6, …]`: of the four afterstates, of the one in an update, and of the next."""
    points: NDArray[np.int64]
    parts: NDArray[np.float64]
    """float64 `[4]`: the part of each move's value that does not learn."""
    values: NDArray[np.float64]


Rate = Callable[[Below, Weights, BandView, BandWorker], Int]
Learn = Callable[[BandNetwork, BandParams, BandWorker, Int, float], None]
PlayGame = Callable[[BandNetwork, BandParams, BandWorker, Words, Word], Int]
TrainBand = Callable[[BandNetwork, BandParams, BandWorker, Words, Word, Int], None]


def make_rate_kernel(below_indices_of: Indices, indices_of: Indices) -> Rate:
    """Return the kernel that rates the moves of a board by a band."""

    @kernel(borrows=True)
    def rate(below: Below, weights: Weights, view: BandView, worker: BandWorker) -> Int:
        """Fill in the points and values of the moves of board 0; return the best, or -1."""
        boards, points, values, parts = worker.boards, worker.points, worker.values, worker.parts
        below_count = worker.below_indices.shape[1] - SPARE
        count = worker.indices.shape[1] - SPARE
        slides_square(boards, below.spec, points)
        for move in range(4):
            if points[move] >= 0:
                below_indices_of(boards, move + 1, below.spec, worker.below_indices, move)
                fetch(below.weights, worker.below_indices, move, below_count, ZERO, ONE)
                indices_of(boards, move + 1, below.band_spec, worker.indices, move)
                fetch(weights, worker.indices, move, count, view.first, view.stride)
        # A slide keeps the sum.
        beyond = sum_packed(boards[BOARD, 0], boards[BOARD, 1]) - view.least
        best, most = np.int64(-1), -np.inf
        for move in range(4):
            if points[move] < 0:
                continue
            value = below.per_merged * points[move] + below.per_move
            if is_passed(boards, move + 1, points[move], view, below.spec):
                value += view.goal
            else:
                fixed = np.float64(
                    total(below.weights, worker.below_indices, move, below_count, ZERO, ONE)
                )
                parts[move] = fixed * below.step - view.level - view.slope * beyond
                learnt = total(weights, worker.indices, move, count, view.first, view.stride)
                value += parts[move] + np.float64(learnt) * view.step
            values[move] = value
            if value > most:
                best, most = np.int64(move), value
        return best

    return rate


@kernel(inline=True, borrows=True)
def is_passed(boards: Words, slot: Int, points: Int, view: BandView, spec: PackedBoardSpec) -> bool:
    """Whether a slide that gained so many points made the tile that ends a band."""
    if points < np.int64(view.ending):
        return False
    return bool(distinct_sum(boards, slot, spec) & view.ending)


def make_learn_kernel(indices_of: Indices) -> Learn:
    """Return the kernel that learns from a trajectory."""

    @kernel(borrows=True)
    def learn(
        network: BandNetwork, params: BandParams, worker: BandWorker, length: Int, target: float
    ) -> None:
        """Update values backwards; `target` is that of the last afterstate."""
        weights, view, spec = network.weights, network.band, network.below.band_spec
        indices, count = worker.indices, worker.indices.shape[1] - SPARE
        row, following = 4, 5
        if length > 0:
            indices_of(worker.trajectory, length - 1, spec, indices, row)
        for step in range(length - 1, -1, -1):
            if step > 0:
                indices_of(worker.trajectory, step - 1, spec, indices, following)
                fetch(weights, indices, following, count, view.first, view.stride)
            learnt = total(weights, indices, row, count, view.first, view.stride)
            error = np.float32(target - worker.fixed[step] - learnt)
            share = np.float32(params.learning_rate * error / count)
            for number in range(count):
                at = (indices[row, number] + view.first) * view.stride
                learnt += move_weight(weights, at, weights[at], error, share, True)
            value = worker.fixed[step] + learnt
            target = worker.rewards[step] + (1.0 - params.lambda_) * value + params.lambda_ * target
            row, following = following, row

    return learn


@kernel(borrows=True)
def begin(worker: BandWorker, starts: Words, key: Word) -> bool:
    """Set up the next game; return whether it starts from a saved board."""
    if worker.progress[WAITING]:
        worker.progress[WAITING] = 0
        copy_board(worker.boards, WAITING_BOARD, worker.boards, BOARD)
        return False
    chosen = np.int64(pick_low(draw(key, START), np.uint64(len(starts))))
    copy_board(starts, chosen, worker.boards, BOARD)
    return True


@kernel(borrows=True, expand=True)
def note_middle(
    below: Below, params: BandParams, worker: BandWorker, moves: Int, key: Word
) -> None:
    """Start the next game in the middle of this one, if this one was long."""
    if params.restart_length > 0 and moves > params.restart_length:
        worker.progress[WAITING] = 1
        copy_board(worker.trajectory, moves // 2, worker.boards, WAITING_BOARD)
        word = draw(key, np.uint64(moves))
        spawn_board(worker.boards, WAITING_BOARD, word, below.ranks, below.cumulative, below.spec)


def make_game_kernel(rate: Rate, learn: Learn) -> PlayGame:
    """Return the kernel that plays and learns from one game."""

    @kernel(borrows=True, expand=True)
    def play_game(
        network: BandNetwork, params: BandParams, worker: BandWorker, starts: Words, key: Word
    ) -> Int:
        """Play and learn from one game; return the number of moves."""
        boards, below, view = worker.boards, network.below, network.band
        is_whole = begin(worker, starts, key)
        has_passed = False
        moves, target = np.int64(0), 0.0
        while True:
            is_above = sum_packed(boards[BOARD, 0], boards[BOARD, 1]) >= view.end
            if is_above:
                best = rate(below, network.above_weights, network.above, worker)
            else:
                best = rate(below, network.weights, view, worker)
            if best < 0:
                break
            gained = worker.points[best]
            has_passed = bool(is_above or is_passed(boards, best + 1, gained, view, below.spec))
            if has_passed or moves == len(worker.rewards):
                target = worker.values[best]
                break
            copy_board(boards, best + 1, boards, BOARD)
            copy_board(boards, BOARD, worker.trajectory, moves)
            worker.rewards[moves] = below.per_merged * gained + below.per_move
            worker.fixed[moves] = worker.parts[best]
            word = draw(key, np.uint64(moves))
            spawn_board(boards, BOARD, word, below.ranks, below.cumulative, below.spec)
            moves += 1
        note_middle(below, params, worker, moves, key)
        learn(network, params, worker, moves, target)
        if is_whole:
            worker.progress[FINISHED] += 1
            worker.progress[PASSED] += np.int64(has_passed)
        return moves

    return play_game


@cache
def make_band_kernel(below_code: Code, code: Code) -> TrainBand:
    """Return the kernel that plays and learns, for the tuples of a network and of its bands."""
    indices_of = make_indices_kernel(code)
    rate = make_rate_kernel(make_indices_kernel(below_code), indices_of)
    play_game = make_game_kernel(rate, make_learn_kernel(indices_of))

    @kernel(borrows=True)
    def train_band(
        network: BandNetwork,
        params: BandParams,
        worker: BandWorker,
        starts: Words,
        seed: Word,
        moves: Int,
    ) -> None:
        """Play and learn until so many moves are done, and the last game is over."""
        progress, played = worker.progress, np.int64(0)
        while played < moves:
            key = key_of(derive_seed(seed, np.uint64(progress[GAMES])))
            done = play_game(network, params, worker, starts, key)
            played += max(done, 1)
            progress[GAMES] += 1
            progress[MOVES] += done

    return train_band
