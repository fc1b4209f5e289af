"""Kernels for temporal-difference learning of n-tuple networks.

Each thread plays greedily and stores the afterstates of its game, the *trajectory*. When the game
ends or the trajectory is full, the values of these afterstates are updated, from the last to the
first. Each value moves towards its target:

    target(t) = reward(t + 1) + (1 - λ) * value(t + 1) + λ * target(t + 1)

The update of afterstate ``t`` uses the new value of afterstate ``t + 1``. The value after the end
of a game is 0. A trajectory of a single afterstate gives TD(0) after every move, and a trajectory
of a whole game gives TD(λ).

With temporal coherence [1], each weight has its own learning rate ``|E| / A``, where `E` is the sum
of the weight's errors and `A` the sum of their absolute values. A weight's rate is high while its
errors have the same sign, and low once they cancel out. Both sums share a cache line with the
weight.

Threads share the weights without locks, because lost updates do no more harm than noise [2].

A *band* is trained on games that start from saved boards and end when the board leaves the band.
Only the band's own weights are updated. A board's value has a fixed part and a trainable part. The
fixed part is the base network's value, minus its measured overestimate. The trainable part comes
from the band's weights. The final value of a game is 0 if no move is legal, the band's goal if the
game reached the target tile, or the next band's estimate if the game continues in the next band.

[1] Beal & Smith, "Temporal coherence and prediction decay in TD learning", IJCAI 1999;
    Jaśkowski, "Mastering 2048 with delayed temporal coherence learning", 2016.
[2] Niu, Recht, Ré & Wright, "Hogwild!", NIPS 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import ONE, START, derive_seed, draw, key_of, pick_high, pick_low
from py2048.engine._board_kernels import sum_cells, sum_packed
from py2048.engine.jit import kernel
from py2048.engine.rules import LEGAL_POINTS, MERGE_POINTS, START_HIGH, START_LOW, SUM_POINTS
from py2048.players.ntuple import _network_kernels as network
from py2048.players.ntuple._network_kernels import (
    SPARE,
    BoardSpec,
    Int,
    PackedBoardSpec,
    ValueParams,
    Weights,
    Word,
    Words,
    copy_board,
    distinct_sum,
    fetch,
    slides_square,
    spawn_board,
    stage_of,
    total,
    value_at,
    weight_at,
)
from py2048.players.ntuple.layout import Code

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]

ZERO, TWO = np.uint64(0), np.uint64(2)
NONE = np.float32(0)
TERMINAL = np.int64(-1)
"""Stage number of afterstates that end the game."""

# Indices into `WorkerState.progress`.
GAMES, MOVES, NEXT_STAGE, WAITING = 0, 1, 2, 3
PROGRESS = 4

# Indices of `WorkerState.scores`, the statistics of complete games. While a band is trained,
# `PASSED` takes the place of the sum and counts the games that got past the end of the band.
FINISHED, SUM, SQUARES = 0, 1, 2
PASSED = SUM
SCORES = 3

# Indices of `WorkerState.boards`. Indices 1 to 4 hold the afterstates of the current board.
BOARD, WAITING_BOARD, BOARDS = 0, 5, 6

CAROUSEL_DRAW = START + np.uint64(1 << 32)
"""RNG counter reserved for choosing the start board of a later stage."""


class TDParams(NamedTuple):
    """Settings for playing games and for learning."""

    learning_rate: float
    """Share of an afterstate's error that an update corrects, divided evenly among the weights."""
    lambda_: float
    """λ, from 0 to 1."""
    temporal_coherence: bool
    """Whether the learning rate of each weight is adapted."""
    carousel: bool
    """Whether successive games start in successive stages."""
    restart_length: Int
    """Games with more moves than this are restarted from the middle. 0 disables restarts."""
    restart_after: Int
    """Number of moves per thread before restarts begin."""
    rules: Longs
    """`RuleArrays.numbers` of the rules."""
    start_ranks: NDArray[np.uint8]
    start_cumulative: Words
    ranks: NDArray[np.uint8]
    cumulative: Words


class WorkerState(NamedTuple):
    """State of one thread."""

    boards: Any
    """Working boards, of type `Boards`."""
    trajectory: Any
    """Afterstates since the last update, of type `Boards`."""
    rewards: Doubles
    stages: Longs
    fixed: Doubles
    """Fixed part of each afterstate's value, or 0 if no band is trained."""
    starts: Any
    """Start boards of the later stages, of type `Boards`. Each stage has the same capacity."""
    started: Longs
    """Number of times that each stage was reached, int64 `[stages]`."""
    progress: Longs
    scores: Doubles
    tiles: Longs
    """Number of complete games by largest rank, int64 `[64]`."""
    indices: Words
    """Weight indices of the four moves (rows 0 to 3) and of a learning step (rows 4 and 5)."""
    points: Longs
    """Points of each slide, or -1 if it is illegal: int64 `[4]`."""
    after: Longs
    """Stage of each afterstate, or ``TERMINAL``: int64 `[4]`."""
    values: Doubles
    """Estimated value of each legal move: float64 `[4]`."""
    below_indices: Words
    """For each move, the indices of the base network's weights: uint64 `[4, …]`."""
    parts: Doubles
    """Fixed part of each move's value when a band is trained, float64 `[4]`."""


class BandView(NamedTuple):
    """A `Band` in the form that kernels use. Its weights are multiplied by `step`."""

    ending: Word
    least: np.int64
    level: float
    slope: float
    goal: float
    end: np.int64
    """Tile sum at which the next higher band begins."""
    step: np.float32


class BandInputs(NamedTuple):
    """Inputs for training a band. The base network is empty if a whole network is trained."""

    spec: Any
    """A `PackedBoardSpec` for the base network."""
    below: Weights
    """Weights of the base network, in units of `step` points."""
    step: np.float32
    own: BandView
    above_weights: Weights
    above: BandView
    starts: Any
    """Start boards, of type `Boards`. Without start boards, games start as the rules define."""


class TrainingInputs(NamedTuple):
    """The network to train, the rules and the settings."""

    spec: BoardSpec
    weights: Weights
    """Trainable weights. With temporal coherence, two error sums follow each weight."""
    values: ValueParams
    params: TDParams
    band: BandInputs


Train = Callable[[TrainingInputs, WorkerState, Word, Int, Int], None]


class Operations(NamedTuple):
    """Operations on one kind of board, from ``players/ntuple/_network_kernels.py``."""

    slide_all: Any
    indices_of: Any
    seen_on: Any
    spawn_board: Any
    copy_board: Any
    sum_of: Any


# --- values, and learning from a trajectory -------------------------------------------------


def make_rate_kernel(given: Operations, stride: Word) -> Any:
    """Compile the kernel that rates moves on one kind of board."""
    slide_all, seen_on, indices_of = given.slide_all, given.seen_on, given.indices_of

    @kernel(inline=True, borrows=True)
    def rate(worker: WorkerState, stage: Int, inputs: TrainingInputs) -> Int:
        """Rate the four moves, and store the results in the fields of `worker`.

        Board 0 is the current board, and boards 1 to 4 are its afterstates.

        Returns:
            The best direction, or -1 if no move is legal.
        """
        spec, weights, params = inputs.spec, inputs.weights, inputs.values
        boards, indices, points = worker.boards, worker.indices, worker.points
        best, most = np.int64(-1), -np.inf
        count = indices.shape[1] - SPARE
        slide_all(boards, spec, points)
        first = np.uint64(stage) * params.size
        for direction in range(4):
            # The first pass only prefetches weights, so that the second pass rarely waits.
            if points[direction] < 0:
                continue
            indices_of(boards, direction + 1, spec, indices, direction)
            fetch(weights, indices, direction, count, first, stride)
        for direction in range(4):
            gained = points[direction]
            if gained < 0:
                continue
            after = stage
            if gained >= params.unit:
                seen = seen_on(boards, direction + 1, spec)
                after = stage_of(seen, params.stages)
                if params.target != ZERO and seen >= params.target:
                    after = TERMINAL
            value = params.per_merged * gained + params.per_move
            if after != TERMINAL:
                value += value_at(weights, indices, direction, count, after, params.size, stride)
            worker.after[direction], worker.values[direction] = after, value
            if value > most:
                best, most = np.int64(direction), value
        return best

    return rate


@kernel(inline=True, borrows=True)
def is_passed(boards: Words, slot: Int, points: Int, view: BandView, spec: PackedBoardSpec) -> bool:
    """Return whether a slide that earned `points` created the tile that ends a band."""
    if points < np.int64(view.ending):
        return False
    return bool(distinct_sum(boards, slot, spec) & view.ending)


def make_view_kernel(indices_of: Any, below_indices_of: Any, stride: Word) -> Any:
    """Compile the kernel that rates moves with a band's weights."""

    @kernel(borrows=True)
    def rate(worker: WorkerState, weights: Weights, view: BandView, inputs: TrainingInputs) -> Int:
        """Rate the moves. Also store the fixed part of each move's value in `worker.parts`."""
        spec, base, params = inputs.spec, inputs.band, inputs.values
        boards, points, values = worker.boards, worker.points, worker.values
        below_indices, indices = worker.below_indices, worker.indices
        below_count, count = below_indices.shape[1] - SPARE, indices.shape[1] - SPARE
        slides_square(boards, base.spec, points)
        for move in range(4):
            if points[move] >= 0:
                below_indices_of(boards, move + 1, base.spec, below_indices, move)
                fetch(base.below, below_indices, move, below_count, ZERO, ONE)
                indices_of(boards, move + 1, spec, indices, move)
                fetch(weights, indices, move, count, ZERO, stride)
        # Slides do not change the sum.
        beyond = sum_packed(boards[BOARD, 0], boards[BOARD, 1]) - view.least
        best, most = np.int64(-1), -np.inf
        for move in range(4):
            if points[move] < 0:
                continue
            value = params.per_merged * points[move] + params.per_move
            worker.after[move] = 0
            if is_passed(boards, move + 1, points[move], view, base.spec):
                value += view.goal
                worker.after[move] = TERMINAL
            else:
                fixed = total(base.below, below_indices, move, below_count, ZERO, ONE)
                known = np.float64(fixed) * base.step
                worker.parts[move] = known - view.level - view.slope * beyond
                learnt = total(weights, indices, move, count, ZERO, stride)
                value += worker.parts[move] + np.float64(learnt) * view.step
            values[move] = value
            if value > most:
                best, most = np.int64(move), value
        return best

    return rate


def make_band_rate_kernel(indices_of: Any, below_code: Code, stride: Word) -> Any:
    """Compile the kernel that rates moves in a band and in the next band."""
    below_indices_of = network.make_indices_kernel(below_code)
    rate_own: Callable[..., Int] = make_view_kernel(indices_of, below_indices_of, stride)
    rate_above: Callable[..., Int] = make_view_kernel(indices_of, below_indices_of, ONE)

    @kernel(borrows=True)
    def rate(worker: WorkerState, _stage: Int, inputs: TrainingInputs) -> Int:
        """Rate the four moves, with arguments and results as in `make_rate_kernel`."""
        band, board = inputs.band, worker.boards[BOARD]
        if sum_packed(board[0], board[1]) < band.own.end:
            return rate_own(worker, inputs.weights, band.own, inputs)
        best = rate_above(worker, band.above_weights, band.above, inputs)
        worker.after[:] = TERMINAL
        return best

    return rate


@kernel(inline=True, borrows=True)
def move_weight(
    weights: Weights, at: Word, old: np.float32, error: np.float32, step: np.float32, coherent: bool
) -> np.float32:
    """Update the weight at index `at` from its value `old`, and return the change."""
    change = step
    if coherent:
        balance, size = weights[at + ONE], weights[at + TWO]
        if size > NONE:
            change = step * (abs(balance) / size)
        weights[at + ONE] = balance + error
        weights[at + TWO] = size + abs(error)
    weights[at] = old + change
    return change


def make_learn_kernel(indices_of: Any, stride: Word) -> Any:
    """Compile the kernel that learns from a trajectory on one kind of board."""

    @kernel(borrows=True)
    def learn(worker: WorkerState, length: Int, target: float, inputs: TrainingInputs) -> None:
        """Update a trajectory backwards. The last afterstate's target is `target`."""
        spec, weights, params = inputs.spec, inputs.weights, inputs.params
        indices, trajectory, stages = worker.indices, worker.trajectory, worker.stages
        count = indices.shape[1] - SPARE
        size, lambda_ = inputs.values.size, params.lambda_
        row, following = 4, 5
        if length > 0:
            indices_of(trajectory, length - 1, spec, indices, row)
        for step in range(length - 1, -1, -1):
            if step > 0:
                # Prefetch the next afterstate's weights while this one is updated.
                indices_of(trajectory, step - 1, spec, indices, following)
                first = np.uint64(stages[step - 1]) * size
                fetch(weights, indices, following, count, first, stride)
            stage = stages[step]
            value = value_at(weights, indices, row, count, stage, size, stride)
            error = np.float32(target - worker.fixed[step] - value)
            share = np.float32(params.learning_rate * error / count)
            for number in range(count):
                index = indices[row, number]
                at = (index + np.uint64(stage) * size) * stride
                old = weights[at]
                if stage > 0 and old == NONE:
                    old = weight_at(weights, index, stage, size, stride)
                value += move_weight(weights, at, old, error, share, params.temporal_coherence)
            whole = worker.fixed[step] + value
            target = worker.rewards[step] + (1.0 - lambda_) * whole + lambda_ * target
            row, following = following, row

    return learn


# --- games ----------------------------------------------------------------------------------------


@kernel(borrows=True)
def stage_after(stage: Int, params: TDParams, worker: WorkerState) -> Int:
    """Return the stage in which the next game starts, given the previous game's start stage."""
    following = stage + 1
    if not params.carousel or following == len(worker.started):
        return np.int64(0)
    return following if worker.started[following] > 0 else np.int64(0)


def make_start_kernel(given: Operations) -> Any:
    """Compile the kernel that sets up games on one kind of board."""
    spawn_board, copy_board = given.spawn_board, given.copy_board

    @kernel(borrows=True)
    def begin(worker: WorkerState, key: Word, inputs: TrainingInputs) -> bool:
        """Set up the next game in `worker.boards[BOARD]`.

        Returns:
            Whether the game counts in the statistics. Games that start in the middle of an earlier
            game or in a later stage do not count.
        """
        spec, params, saved = inputs.spec, inputs.params, inputs.band.starts
        boards, progress = worker.boards, worker.progress
        if progress[WAITING]:
            progress[WAITING] = 0
            copy_board(boards, WAITING_BOARD, boards, BOARD)
            return False
        if len(saved):
            chosen = np.int64(pick_low(draw(key, START), np.uint64(len(saved))))
            copy_board(saved, chosen, boards, BOARD)
            return True
        stage = progress[NEXT_STAGE]
        progress[NEXT_STAGE] = stage_after(stage, params, worker)
        if stage > 0:
            capacity = len(worker.starts) // len(worker.started)
            known = min(worker.started[stage], capacity)
            chosen = np.int64(pick_low(draw(key, CAROUSEL_DRAW), np.uint64(known)))
            copy_board(worker.starts, stage * capacity + chosen, boards, BOARD)
            return False
        boards[BOARD] = 0
        low, high = params.rules[START_LOW], params.rules[START_HIGH]
        extra = pick_high(draw(key, START), np.uint64(high - low + 1))
        for number in range(low + np.int64(extra)):
            word = draw(key, START + ONE + np.uint64(number))
            spawn_board(boards, BOARD, word, params.start_ranks, params.start_cumulative, spec)
        return True

    return begin


def make_note_kernels(given: Operations) -> tuple[Any, Any, Any]:
    """Compile the kernels that store start boards and the results of games."""
    spawn_board, copy_board = given.spawn_board, given.copy_board
    seen_on, sum_of = given.seen_on, given.sum_of

    @kernel(borrows=True)
    def note_stage(worker: WorkerState, before: Int, after: Int) -> None:
        """Save the first board that a game reaches in each later stage as a start board."""
        if after <= before or len(worker.starts) == 0:
            return
        capacity = len(worker.starts) // len(worker.started)
        place = after * capacity + worker.started[after] % capacity
        copy_board(worker.boards, BOARD, worker.starts, place)
        worker.started[after] += 1

    @kernel(borrows=True)
    def note_middle(worker: WorkerState, length: Int, word: Word, inputs: TrainingInputs) -> None:
        """Let the next game start from the middle of this game, if this game was long."""
        spec, params = inputs.spec, inputs.params
        if worker.progress[MOVES] < params.restart_after:
            return
        if params.restart_length > 0 and length > params.restart_length:
            worker.progress[WAITING] = 1
            copy_board(worker.trajectory, length // 2, worker.boards, WAITING_BOARD)
            spawn_board(worker.boards, WAITING_BOARD, word, params.ranks, params.cumulative, spec)

    @kernel(borrows=True)
    def note_score(
        worker: WorkerState,
        points: Int,
        moves: Int,
        is_won: bool,
        word: Word,
        inputs: TrainingInputs,
    ) -> None:
        """Add a complete game's result, after spawning the last tile if the game was won."""
        spec, params, rules = inputs.spec, inputs.params, inputs.params.rules
        score = np.float64(rules[MERGE_POINTS] * points + rules[LEGAL_POINTS] * moves)
        if is_won:
            spawn_board(worker.boards, BOARD, word, params.ranks, params.cumulative, spec)
        if rules[SUM_POINTS] and moves:
            score += np.float64(sum_of(worker.boards, BOARD))
        worker.scores[FINISHED] += 1
        worker.scores[SUM] += score
        worker.scores[SQUARES] += score * score
        seen, rank = seen_on(worker.boards, BOARD, spec), 0
        while (seen >> ONE) >> np.uint64(rank) != ZERO:
            rank += 1
        worker.tiles[rank] += 1

    return note_stage, note_middle, note_score


def make_game_kernel(given: Operations, stride: Word, below_code: Code) -> Any:
    """Compile the kernel that plays a game and learns. See `make_train_kernel` for arguments."""
    spawn_board, copy_board, seen_on = given.spawn_board, given.copy_board, given.seen_on
    is_band = bool(below_code)
    if is_band:
        rate = make_band_rate_kernel(given.indices_of, below_code, stride)
    else:
        rate = make_rate_kernel(given, stride)
    learn, begin = make_learn_kernel(given.indices_of, stride), make_start_kernel(given)
    note_stage, note_middle, note_score = make_note_kernels(given)

    @kernel(borrows=True)
    def record(worker: WorkerState, length: Int, best: Int, inputs: TrainingInputs) -> Int:
        """Append the current afterstate to the trajectory, and return the new length.

        If the trajectory is full, the kernel learns from it first.
        """
        if length == len(worker.rewards):
            learn(worker, length, worker.values[best], inputs)
            length = np.int64(0)
        copy_board(worker.boards, BOARD, worker.trajectory, length)
        values = inputs.values
        worker.rewards[length] = values.per_merged * worker.points[best] + values.per_move
        worker.stages[length], worker.fixed[length] = worker.after[best], worker.parts[best]
        return length + 1

    @kernel(borrows=True, expand=True)
    def play_game(inputs: TrainingInputs, worker: WorkerState, key: Word) -> Int:
        """Play a game and learn from it. Return the number of moves."""
        boards, after, spec, params = worker.boards, worker.after, inputs.spec, inputs.params
        is_whole = begin(worker, key, inputs)
        stage = stage_of(seen_on(boards, BOARD, spec), inputs.values.stages)
        moves, points, target = np.int64(0), np.int64(0), 0.0
        length: Int = np.int64(0)
        while True:
            best = rate(worker, stage, inputs)
            if best < 0:
                break
            points += worker.points[best]
            copy_board(boards, best + 1, boards, BOARD)
            if after[best] == TERMINAL:
                target = worker.values[best]
                moves += np.int64(not is_band)  # the move that leaves a band does not count
                break
            length = record(worker, length, best, inputs)
            word = draw(key, np.uint64(moves))
            spawn_board(boards, BOARD, word, params.ranks, params.cumulative, spec)
            note_stage(worker, stage, after[best])
            stage = after[best]
            moves += 1
        note_middle(worker, length, draw(key, np.uint64(moves)), inputs)
        learn(worker, length, target, inputs)
        if is_whole and is_band:
            worker.scores[FINISHED] += 1
            worker.scores[PASSED] += np.float64(best >= 0)
        elif is_whole:
            last = draw(key, np.uint64(moves - 1))
            note_score(worker, points, moves, bool(best >= 0), last, inputs)
        return moves

    return play_game


# --- the kernel of a training ---------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def sum_on_packed(boards: Words, slot: Int) -> np.int64:
    """Return the sum of the tiles on a packed board."""
    return sum_packed(boards[slot, 0], boards[slot, 1])


@kernel(inline=True, borrows=True)
def sum_on_cells(boards: NDArray[np.uint8], slot: Int) -> Int:
    """Return the sum of the tiles on a board that is stored by cells."""
    return sum_cells(boards[slot])


_PACKED = distinct_sum, spawn_board, copy_board, sum_on_packed
OPERATIONS = {
    "4x4": Operations(slides_square, None, *_PACKED),
    "small": Operations(network.slides_small, network.indices_small, *_PACKED),
    "cells": Operations(
        network.slides_cells,
        network.indices_cells,
        network.distinct_sum_cells,
        network.spawn_cells,
        network.copy_cells,
        sum_on_cells,
    ),
}


@cache
def make_train_kernel(kind: str, stride: int, code: Code = (), below_code: Code = ()) -> Train:
    """Compile the training loop for one kind of board.

    Args:
        kind: The kind of board, as in `NetworkLayout.kind`.
        stride: Distance between two consecutive weights.
        code: Tuples of a 4x4 network for which the kernel is specialised.
        below_code: Tuples of the base network if the kernel trains a band, otherwise empty.
    """
    given = OPERATIONS[kind]
    if code:
        given = given._replace(indices_of=network.make_indices_kernel(code))
    play_game = make_game_kernel(given, np.uint64(stride), below_code)

    def train(
        inputs: TrainingInputs, worker: WorkerState, seed: Word, games: Int, moves: Int
    ) -> None:
        """Train until `games` games or at least `moves` moves have been played."""
        progress, played = worker.progress, np.int64(0)
        for _ in range(games):
            if played >= moves:
                break
            key = key_of(derive_seed(seed, np.uint64(progress[GAMES])))
            done = play_game(inputs, worker, key)
            played += max(done, 1)
            progress[GAMES] += 1
            progress[MOVES] += done

    train.__qualname__ = f"train_{kind}_{stride}"  # the name of the compiled form
    return kernel(borrows=True)(train)
