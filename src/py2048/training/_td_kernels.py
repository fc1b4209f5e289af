"""Temporal-difference learning of n-tuple networks: games that are played to learn from.

A worker plays greedily and keeps the afterstates of its last moves, the *trajectory*. When the game
ends, or the trajectory is full, it goes backwards and moves the value of each afterstate towards

    target(t) = reward(t + 1) + (1 - λ) * value(t + 1) + λ * target(t + 1)

where ``value(t + 1)`` has just been updated; a finished game is worth 0. A trajectory of a single
afterstate makes this TD(0) after every move; one of a whole game makes it TD(λ).

With temporal coherence [1] each weight has a learning rate of its own, ``|E| / A``: `E` sums the
errors that it met and `A` their sizes, so it learns fast while its errors agree and slowly when
they cancel. A weight is stored beside its `E` and `A`, so that all three are read together.

Threads share weights without locks: a lost update does as little harm as noise [2].

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

from py2048.compiled._bits_kernels import (
    ONE,
    START,
    derive_seed,
    draw,
    key_of,
    pick_high,
    pick_low,
)
from py2048.compiled._board_kernels import sum_cells, sum_packed
from py2048.compiled.jit import kernel
from py2048.ntuple import _network_kernels as network
from py2048.ntuple._network_kernels import (
    SPARE,
    Boards,
    BoardSpec,
    Bytes,
    Int,
    ValueParams,
    Weights,
    Word,
    Words,
    fetch,
    stage_of,
    value_at,
    weight_at,
)
from py2048.ntuple.layout import Code

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]

ZERO, TWO = np.uint64(0), np.uint64(2)
NONE = np.float32(0)
TERMINAL = np.int64(-1)
"""The stage of an afterstate at which the game has ended: nothing is to come."""

# Places in `WorkerState.progress`.
GAMES, MOVES, NEXT_STAGE, WAITING = 0, 1, 2, 3
PROGRESS = 4

# Places in `WorkerState.scores`: of games from the beginning.
FINISHED, SUM, SQUARES = 0, 1, 2
SCORES = 3

# Places in `WorkerState.boards`: the board, its four afterstates, the start of the next game.
BOARD, WAITING_BOARD, BOARDS = 0, 5, 6

CAROUSEL_DRAW = START + np.uint64(1 << 32)
"""The counter of the draw that chooses a start in a later stage."""


class TDParams(NamedTuple):
    """How games start, and how to learn from them."""

    learning_rate: float
    """The share of its error that an afterstate corrects, divided among its weights."""
    lambda_: float
    """λ, 0 to 1."""
    temporal_coherence: bool
    """Whether each weight adapts its learning rate."""
    carousel: bool
    """Whether games start in each stage in turn."""
    restart_length: Int
    """Games of more moves are followed by one from their middle; 0 for never."""
    restart_after: Int
    """After how many moves of a thread that begins."""
    merge_points: Int
    """As in `CompiledRules`, and the next two."""
    legal_points: Int
    sum_points: Int
    start_low: Int
    start_high: Int
    start_ranks: NDArray[np.uint8]
    start_cumulative: Words
    ranks: NDArray[np.uint8]
    cumulative: Words


class WorkerState(NamedTuple):
    """The state of one thread."""

    boards: Boards
    trajectory: Boards
    """The afterstates since the last update."""
    rewards: Doubles
    stages: Longs
    starts: Boards
    """Boards at which a later stage began, equally many for each stage."""
    started: Longs
    """int64 `[stages]`: how often each stage was reached."""
    progress: Longs
    scores: Doubles
    tiles: Longs
    """int64 `[64]`: how many games from the beginning ended with each largest rank."""
    indices: Words
    """uint64 `[6, …]`: of the four afterstates, of the one in an update, and of the next."""
    points: Longs
    after: Longs
    values: Doubles


# --- the operations of a kind of board, and the kernels made of them -----------------------------

SlideAll = Callable[[Boards, BoardSpec, Longs], None]
SeenOn = Callable[[Boards, Int, BoardSpec], Word]
IndicesOf = Callable[[Boards, Int, BoardSpec, Words, Int], None]
Spawn = Callable[[Boards, Int, Word, Bytes, Words, BoardSpec], None]
Copy = Callable[[Boards, Int, Boards, Int], None]
SumOf = Callable[[Boards, Int], Int]

Rate = Callable[[Boards, Int, BoardSpec, Weights, ValueParams, Words, Longs, Longs, Doubles], Int]
Learn = Callable[[WorkerState, Int, float, BoardSpec, Weights, ValueParams, TDParams], None]
Begin = Callable[[BoardSpec, TDParams, WorkerState, Word], bool]
Record = Callable[[WorkerState, Int, Int, BoardSpec, Weights, ValueParams, TDParams], Int]
NoteStage = Callable[[WorkerState, Int, Int], None]
NoteMiddle = Callable[[WorkerState, Int, BoardSpec, TDParams, Word], None]
NoteScore = Callable[[WorkerState, Int, Int, bool, Word, BoardSpec, TDParams], None]
PlayGame = Callable[[BoardSpec, Weights, ValueParams, TDParams, WorkerState, Word], Int]
Train = Callable[[BoardSpec, Weights, ValueParams, TDParams, WorkerState, Word, Int, Int], None]


def make_rate_kernel(
    slide_all: SlideAll, seen_on: SeenOn, indices_of: IndicesOf, stride: Word
) -> Rate:
    """Return the kernel that rates the moves of one kind of board."""

    @kernel(inline=True, borrows=True)
    def rate(
        boards: Boards,
        stage: Int,
        spec: BoardSpec,
        weights: Weights,
        value_params: ValueParams,
        indices: Words,
        points: Longs,
        stages: Longs,
        values: Doubles,
    ) -> Int:
        """Rate the moves of board 0; its afterstates become boards 1 to 4.

        Args:
            boards: `[5 or more, …]`.
            stage: the stage of board 0.
            spec: its shape and tuples.
            weights: the weights.
            value_params: the points and stages.
            indices: uint64 `[4 or more, weights met + 8]`, where afterstates' indices go.
            points: int64 `[4]`, filled with the points of each slide, -1 for an illegal one.
            stages: int64 `[4]`, filled with the stage of each afterstate, or ``TERMINAL``.
            values: float64 `[4]`, filled with the value of each legal move, in points.

        Returns:
            the best direction, or -1 if none is legal.
        """
        best, most = np.int64(-1), -np.inf
        count = indices.shape[1] - SPARE
        slide_all(boards, spec, points)
        first = np.uint64(stage) * value_params.size
        for direction in range(4):
            # Prefetch the weights of all legal moves before the first is needed.
            if points[direction] < 0:
                continue
            indices_of(boards, direction + 1, spec, indices, direction)
            fetch(weights, indices, direction, count, first, stride)
        for direction in range(4):
            gained = points[direction]
            if gained < 0:
                continue
            after = stage
            if gained >= value_params.unit:
                seen = seen_on(boards, direction + 1, spec)
                after = stage_of(seen, value_params.stages)
                if value_params.target != ZERO and seen >= value_params.target:
                    after = TERMINAL
            value = value_params.per_merged * gained + value_params.per_move
            if after != TERMINAL:
                units = value_at(
                    weights, indices, direction, count, after, value_params.size, stride
                )
                value += units
            stages[direction], values[direction] = after, value
            if value > most:
                best, most = np.int64(direction), value
        return best

    return rate


@kernel(inline=True, borrows=True)
def move_weight(
    weights: Weights, at: Word, old: np.float32, error: np.float32, step: np.float32, coherent: bool
) -> np.float32:
    """Update the weight at `at`, which counts as `old`; return the change."""
    change = step
    if coherent:
        balance, size = weights[at + ONE], weights[at + TWO]
        if size > NONE:
            change = step * (abs(balance) / size)
        weights[at + ONE] = balance + error
        weights[at + TWO] = size + abs(error)
    weights[at] = old + change
    return change


def make_learn_kernel(indices_of: IndicesOf, stride: Word) -> Learn:
    """Return the kernel that learns from a trajectory on one kind of board."""

    @kernel(borrows=True)
    def learn(
        worker: WorkerState,
        length: Int,
        target: float,
        spec: BoardSpec,
        weights: Weights,
        value_params: ValueParams,
        params: TDParams,
    ) -> None:
        """Update values backwards; `target` is that of the last afterstate."""
        indices, trajectory, stages = worker.indices, worker.trajectory, worker.stages
        count = indices.shape[1] - SPARE
        size, lambda_ = value_params.size, params.lambda_
        row, following = 4, 5
        if length > 0:
            indices_of(trajectory, length - 1, spec, indices, row)
        for step in range(length - 1, -1, -1):
            if step > 0:
                # Prefetch the weights of the next afterstate during the update of this one.
                indices_of(trajectory, step - 1, spec, indices, following)
                first = np.uint64(stages[step - 1]) * size
                fetch(weights, indices, following, count, first, stride)
            stage = stages[step]
            value = value_at(weights, indices, row, count, stage, size, stride)
            error = np.float32(target - value)
            share = np.float32(params.learning_rate * error / count)
            for number in range(count):
                index = indices[row, number]
                at = (index + np.uint64(stage) * size) * stride
                old = weights[at]
                if stage > 0 and old == NONE:
                    old = weight_at(weights, index, stage, size, stride)
                value += move_weight(weights, at, old, error, share, params.temporal_coherence)
            target = worker.rewards[step] + (1.0 - lambda_) * value + lambda_ * target
            row, following = following, row

    return learn


def make_start_kernel(spawn_board: Spawn, copy_board: Copy) -> Begin:
    """Return the kernel that sets up a game on one kind of board."""

    @kernel(borrows=True)
    def begin(spec: BoardSpec, params: TDParams, worker: WorkerState, key: Word) -> bool:
        """Set up the next game on board 0; return whether it starts as the rules say."""
        boards, progress = worker.boards, worker.progress
        if progress[WAITING]:
            progress[WAITING] = 0
            copy_board(boards, WAITING_BOARD, boards, BOARD)
            return False
        stage = progress[NEXT_STAGE]
        progress[NEXT_STAGE] = stage_after(stage, params, worker)
        if stage > 0:
            capacity = len(worker.starts) // len(worker.started)
            known = min(worker.started[stage], capacity)
            chosen = np.int64(pick_low(draw(key, CAROUSEL_DRAW), np.uint64(known)))
            copy_board(worker.starts, stage * capacity + chosen, boards, BOARD)
            return False
        boards[BOARD] = 0
        tiles = params.start_low
        if params.start_high > tiles:
            spread = np.uint64(params.start_high - tiles + 1)
            tiles += np.int64(pick_high(draw(key, START), spread))
        for number in range(tiles):
            word = draw(key, START + ONE + np.uint64(number))
            spawn_board(boards, BOARD, word, params.start_ranks, params.start_cumulative, spec)
        return True

    return begin


@kernel(borrows=True)
def stage_after(stage: Int, params: TDParams, worker: WorkerState) -> Int:
    """Return the stage in which the game after one of this stage starts."""
    following = stage + 1
    if not params.carousel or following == len(worker.started):
        return np.int64(0)
    return following if worker.started[following] > 0 else np.int64(0)


def make_record_kernel(learn: Learn, copy_board: Copy) -> Record:
    """Return the kernel that adds an afterstate to the trajectory."""

    @kernel(borrows=True)
    def record(
        worker: WorkerState,
        length: Int,
        best: Int,
        spec: BoardSpec,
        weights: Weights,
        value_params: ValueParams,
        params: TDParams,
    ) -> Int:
        """Add the afterstate on the board, after learning if there is no room; return the length.

        A worker without room for a trajectory plays and does not learn.
        """
        capacity = len(worker.rewards)
        if capacity == 0:
            return np.int64(0)
        if length == capacity:
            learn(worker, length, worker.values[best], spec, weights, value_params, params)
            length = np.int64(0)
        copy_board(worker.boards, BOARD, worker.trajectory, length)
        worker.rewards[length] = (
            value_params.per_merged * worker.points[best] + value_params.per_move
        )
        worker.stages[length] = worker.after[best]
        return length + 1

    return record


def make_note_kernels(
    spawn_board: Spawn, copy_board: Copy, seen_on: SeenOn, sum_of: SumOf
) -> tuple[NoteStage, NoteMiddle, NoteScore]:
    """Return the kernels that keep results, and boards for later starts."""

    @kernel(borrows=True)
    def note_stage(worker: WorkerState, before: Int, after: Int) -> None:
        """Keep the board for a later start if a stage begins with it."""
        if after <= before or len(worker.starts) == 0:
            return
        capacity = len(worker.starts) // len(worker.started)
        place = after * capacity + worker.started[after] % capacity
        copy_board(worker.boards, BOARD, worker.starts, place)
        worker.started[after] += 1

    @kernel(borrows=True)
    def note_middle(
        worker: WorkerState, length: Int, spec: BoardSpec, params: TDParams, word: Word
    ) -> None:
        """Start the next game in the middle of this one, if this one was long."""
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
        spec: BoardSpec,
        params: TDParams,
    ) -> None:
        """Add the result of a whole game; if it was won, the last tile is still to appear."""
        score = np.float64(params.merge_points * points + params.legal_points * moves)
        if is_won:
            spawn_board(worker.boards, BOARD, word, params.ranks, params.cumulative, spec)
        if params.sum_points and moves:
            score += np.float64(sum_of(worker.boards, BOARD))
        worker.scores[FINISHED] += 1
        worker.scores[SUM] += score
        worker.scores[SQUARES] += score * score
        seen, rank = seen_on(worker.boards, BOARD, spec), 0
        while (seen >> ONE) >> np.uint64(rank) != ZERO:
            rank += 1
        worker.tiles[rank] += 1

    return note_stage, note_middle, note_score


def make_game_kernel(
    rate: Rate,
    learn: Learn,
    begin: Begin,
    spawn_board: Spawn,
    copy_board: Copy,
    seen_on: SeenOn,
    sum_of: SumOf,
) -> PlayGame:
    """Return the kernel that plays and learns from one game on one kind of board."""
    record = make_record_kernel(learn, copy_board)
    note_stage, note_middle, note_score = make_note_kernels(
        spawn_board, copy_board, seen_on, sum_of
    )

    @kernel(borrows=True, expand=True)
    def play_game(
        spec: BoardSpec,
        weights: Weights,
        value_params: ValueParams,
        params: TDParams,
        worker: WorkerState,
        key: Word,
    ) -> Int:
        """Play and learn from one game; return the number of moves."""
        boards = worker.boards
        is_whole = begin(spec, params, worker, key)
        stage = stage_of(seen_on(boards, BOARD, spec), value_params.stages)
        moves, points, target = np.int64(0), np.int64(0), 0.0
        length: Int = np.int64(0)
        indices, gained, after, values = (
            worker.indices,
            worker.points,
            worker.after,
            worker.values,
        )
        while True:
            best = rate(boards, stage, spec, weights, value_params, indices, gained, after, values)
            if best < 0:
                break
            moves += 1
            points += gained[best]
            copy_board(boards, best + 1, boards, BOARD)
            if after[best] == TERMINAL:
                target = values[best]
                break
            length = record(worker, length, best, spec, weights, value_params, params)
            word = draw(key, np.uint64(moves - 1))
            spawn_board(boards, BOARD, word, params.ranks, params.cumulative, spec)
            note_stage(worker, stage, after[best])
            stage = after[best]
        note_middle(worker, length, spec, params, draw(key, np.uint64(moves)))
        learn(worker, length, target, spec, weights, value_params, params)
        if is_whole:
            last = draw(key, np.uint64(moves - 1))
            note_score(worker, points, moves, bool(best >= 0), last, spec, params)
        return moves

    return play_game


# --- the kernel of a training --------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def sum_on_packed(boards: Words, slot: Int) -> np.int64:
    """Return the sum of the tiles of a packed board."""
    return sum_packed(boards[slot, 0], boards[slot, 1])


@kernel(inline=True, borrows=True)
def sum_on_cells(boards: NDArray[np.uint8], slot: Int) -> Int:
    """Return the sum of the tiles of a board of cells."""
    return sum_cells(boards[slot])


_PACKED = network.distinct_sum, network.spawn_board, network.copy_board, sum_on_packed
_OPERATIONS: dict[str, tuple[Any, ...]] = {
    "4x4": (network.slides_square, None, *_PACKED),
    "small": (network.slides_small, network.indices_small, *_PACKED),
    "cells": (
        *(network.slides_cells, network.indices_cells, network.distinct_sum_cells),
        *(network.spawn_cells, network.copy_cells, sum_on_cells),
    ),
}


@cache
def make_train_kernel(kind: str, stride: int, code: Code = ()) -> Train:
    """Return the kernel that plays and learns on boards of a kind.

    Args:
        kind: as in `NetworkLayout.kind`.
        stride: the distance between two weights.
        code: the tuples of a 4x4 network; the kernel is made for them alone.
    """
    step = np.uint64(stride)
    slide_all, indices, seen, spawn, copy, sum_of = _OPERATIONS[kind]
    if code:
        indices = network.make_indices_kernel(code)
    rate = make_rate_kernel(slide_all, seen, indices, step)
    learn, begin = make_learn_kernel(indices, step), make_start_kernel(spawn, copy)
    play_game = make_game_kernel(rate, learn, begin, spawn, copy, seen, sum_of)

    def train(
        spec: BoardSpec,
        weights: Weights,
        value_params: ValueParams,
        params: TDParams,
        worker: WorkerState,
        seed: Word,
        games: Int,
        moves: Int,
    ) -> None:
        """Play and learn until so many games or moves are done, and the last game is over."""
        progress, played = worker.progress, np.int64(0)
        for _ in range(games):
            if played >= moves:
                break
            key = key_of(derive_seed(seed, np.uint64(progress[GAMES])))
            done = play_game(spec, weights, value_params, params, worker, key)
            played += done
            progress[GAMES] += 1
            progress[MOVES] += done

    train.__qualname__ = f"train_{kind}_{stride}"  # the name of the compiled form
    return kernel(borrows=True)(train)
