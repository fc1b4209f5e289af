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

A *band* is learnt from saved boards, in games that last until they leave it. Only its own weights
learn; the rest of a value, that of the network below less what this is too high by, is fixed. A
game ends when no move is legal, worth nothing; when it makes the tile that ends the band, worth its
goal; or when the sum of the board reaches that of the band above, worth what that band says.

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

from py2048.engine._bits_kernels import (
    ONE,
    START,
    derive_seed,
    draw,
    key_of,
    pick_high,
    pick_low,
)
from py2048.engine._board_kernels import sum_cells, sum_packed
from py2048.engine.jit import kernel
from py2048.players.ntuple import _network_kernels as network
from py2048.players.ntuple._network_kernels import (
    SPARE,
    Boards,
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
"""The stage of an afterstate at which the game has ended: nothing is to come."""

# Places in `WorkerState.progress`.
GAMES, MOVES, NEXT_STAGE, WAITING = 0, 1, 2, 3
PROGRESS = 4

# Places in `WorkerState.scores`: of games from the beginning. In a band, of those from saved
# boards: how many are over, and how many of them ended by its tile or in the band above.
FINISHED, SUM, SQUARES = 0, 1, 2
PASSED = SUM
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

    boards: Any
    """`Boards`, like all that follow of this type."""
    trajectory: Any
    """The afterstates since the last update."""
    rewards: Doubles
    stages: Longs
    fixed: Doubles
    """The part of each afterstate's value that does not learn: 0 except in a band."""
    starts: Any
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


Rate = Callable[[Boards, Int, BoardSpec, Weights, ValueParams, Words, Longs, Longs, Doubles], Int]
Learn = Callable[[WorkerState, Int, float, BoardSpec, Weights, ValueParams, TDParams], None]
Begin = Callable[[BoardSpec, TDParams, WorkerState, Word], bool]
Train = Callable[[BoardSpec, Weights, ValueParams, TDParams, WorkerState, Word, Int, Int], None]


class Operations(NamedTuple):
    """The operations of a kind of board, as in ``players/ntuple/_network_kernels.py``."""

    slide_all: Any
    indices_of: Any
    seen_on: Any
    spawn_board: Any
    copy_board: Any
    sum_of: Any


# --- values, and what is learnt from a trajectory -------------------------------------------------


def make_rate_kernel(given: Operations, stride: Word) -> Rate:
    """Return the kernel that rates the moves of one kind of board."""
    slide_all, seen_on, indices_of = given.slide_all, given.seen_on, given.indices_of

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


def make_learn_kernel(indices_of: Any, stride: Word) -> Learn:
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
    """Return the stage in which the game after one of this stage starts."""
    following = stage + 1
    if not params.carousel or following == len(worker.started):
        return np.int64(0)
    return following if worker.started[following] > 0 else np.int64(0)


def make_start_kernel(given: Operations) -> Begin:
    """Return the kernel that sets up a game on one kind of board."""
    spawn_board, copy_board = given.spawn_board, given.copy_board

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


def make_note_kernels(given: Operations) -> tuple[Any, Any, Any]:
    """Return the kernels that keep boards for later starts, and the result of a game."""
    spawn_board, copy_board = given.spawn_board, given.copy_board
    seen_on, sum_of = given.seen_on, given.sum_of

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


def make_game_kernel(given: Operations, stride: Word) -> Any:
    """Return the kernel that plays and learns from one game on one kind of board."""
    spawn_board, copy_board, seen_on = given.spawn_board, given.copy_board, given.seen_on
    rate, learn = make_rate_kernel(given, stride), make_learn_kernel(given.indices_of, stride)
    begin = make_start_kernel(given)
    note_stage, note_middle, note_score = make_note_kernels(given)

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


# --- the kernel of a training ---------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def sum_on_packed(boards: Words, slot: Int) -> np.int64:
    """Return the sum of the tiles of a packed board."""
    return sum_packed(boards[slot, 0], boards[slot, 1])


@kernel(inline=True, borrows=True)
def sum_on_cells(boards: NDArray[np.uint8], slot: Int) -> Int:
    """Return the sum of the tiles of a board of cells."""
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
def make_train_kernel(kind: str, stride: int, code: Code = ()) -> Train:
    """Return the kernel that plays and learns on boards of a kind.

    Args:
        kind: as in `NetworkLayout.kind`.
        stride: the distance between two weights.
        code: the tuples of a 4x4 network; the kernel is made for them alone.
    """
    given = OPERATIONS[kind]
    if code:
        given = given._replace(indices_of=network.make_indices_kernel(code))
    play_game = make_game_kernel(given, np.uint64(stride))

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
        """Play and learn until `games` or `moves` are done, and the last game is over."""
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


# --- a band ---------------------------------------------------------------------------------------


class Below(NamedTuple):
    """The network below the bands, and the points of the rules."""

    spec: PackedBoardSpec
    weights: Weights
    step: np.float32
    band_spec: PackedBoardSpec
    """The tuples of the bands."""
    per_merged: float
    per_move: float


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
    weights: Weights
    """Those that learn, with their errors."""
    band: BandView
    above_weights: Weights
    above: BandView


class BandWorker(NamedTuple):
    """The state of one thread that learns a band."""

    state: WorkerState
    below_indices: Words
    """uint64 `[4, …]`: of the four afterstates in the network below."""
    parts: Doubles
    """float64 `[4]`: the part of each move's value that does not learn."""


TrainBand = Callable[[BandNetwork, ValueParams, TDParams, BandWorker, Words, Word, Int], None]


def make_band_rate_kernel(below_indices_of: Any, indices_of: Any) -> Any:
    """Return the kernel that rates the moves of a board by a band."""

    @kernel(borrows=True)
    def rate(below: Below, weights: Weights, view: BandView, worker: BandWorker) -> Int:
        """Fill in the points and values of the moves of board 0; return the best, or -1."""
        boards, points, values = worker.state.boards, worker.state.points, worker.state.values
        below_indices, indices = worker.below_indices, worker.state.indices
        below_count, count = below_indices.shape[1] - SPARE, indices.shape[1] - SPARE
        slides_square(boards, below.spec, points)
        for move in range(4):
            if points[move] >= 0:
                below_indices_of(boards, move + 1, below.spec, below_indices, move)
                fetch(below.weights, below_indices, move, below_count, ZERO, ONE)
                indices_of(boards, move + 1, below.band_spec, indices, move)
                fetch(weights, indices, move, count, view.first, view.stride)
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
                    total(below.weights, below_indices, move, below_count, ZERO, ONE)
                )
                worker.parts[move] = fixed * below.step - view.level - view.slope * beyond
                learnt = total(weights, indices, move, count, view.first, view.stride)
                value += worker.parts[move] + np.float64(learnt) * view.step
            values[move] = value
            if value > most:
                best, most = np.int64(move), value
        return best

    return rate


@kernel(inline=True, borrows=True)
def is_passed(boards: Words, slot: Int, points: Int, view: BandView, spec: PackedBoardSpec) -> bool:
    """Return whether a slide that gained `points` made the tile that ends a band."""
    if points < np.int64(view.ending):
        return False
    return bool(distinct_sum(boards, slot, spec) & view.ending)


@kernel(borrows=True)
def begin_saved(worker: WorkerState, starts: Words, key: Word) -> bool:
    """Set up the next game of a band; return whether it starts from a saved board."""
    if worker.progress[WAITING]:
        worker.progress[WAITING] = 0
        copy_board(worker.boards, WAITING_BOARD, worker.boards, BOARD)
        return False
    chosen = np.int64(pick_low(draw(key, START), np.uint64(len(starts))))
    copy_board(starts, chosen, worker.boards, BOARD)
    return True


def make_band_game_kernel(below_code: Code, code: Code, stride: Word) -> Any:
    """Return the kernel that plays and learns from one game of a band."""
    indices_of = network.make_indices_kernel(code)
    rate = make_band_rate_kernel(network.make_indices_kernel(below_code), indices_of)
    learn = make_learn_kernel(indices_of, stride)
    _, note_middle, _ = make_note_kernels(OPERATIONS["4x4"])

    @kernel(borrows=True, expand=True)
    def play_game(
        known: BandNetwork,
        value_params: ValueParams,
        params: TDParams,
        worker: BandWorker,
        starts: Words,
        key: Word,
    ) -> Int:
        """Play and learn from one game; return the number of moves."""
        state, below, view = worker.state, known.below, known.band
        boards, is_whole = state.boards, begin_saved(state, starts, key)
        has_passed = False
        moves, target = np.int64(0), 0.0
        while True:
            is_above = sum_packed(boards[BOARD, 0], boards[BOARD, 1]) >= view.end
            if is_above:
                best = rate(below, known.above_weights, known.above, worker)
            else:
                best = rate(below, known.weights, view, worker)
            if best < 0:
                break
            gained = state.points[best]
            has_passed = bool(is_above or is_passed(boards, best + 1, gained, view, below.spec))
            if has_passed or moves == len(state.rewards):
                target = state.values[best]
                break
            copy_board(boards, best + 1, boards, BOARD)
            copy_board(boards, BOARD, state.trajectory, moves)
            state.rewards[moves] = below.per_merged * gained + below.per_move
            state.fixed[moves] = worker.parts[best]
            word = draw(key, np.uint64(moves))
            spawn_board(boards, BOARD, word, params.ranks, params.cumulative, below.spec)
            moves += 1
        note_middle(state, moves, below.spec, params, draw(key, np.uint64(moves)))
        learn(state, moves, target, below.band_spec, known.weights, value_params, params)
        if is_whole:
            state.scores[FINISHED] += 1
            state.scores[PASSED] += np.float64(has_passed)
        return moves

    return play_game


@cache
def make_band_kernel(stride: int, below_code: Code, code: Code) -> TrainBand:
    """Return the kernel that plays and learns a band.

    Args:
        stride: the distance between two weights that learn.
        below_code: the tuples of the network.
        code: those of its bands.
    """
    play_game = make_band_game_kernel(below_code, code, np.uint64(stride))

    @kernel(borrows=True)
    def train_band(
        known: BandNetwork,
        value_params: ValueParams,
        params: TDParams,
        worker: BandWorker,
        starts: Words,
        seed: Word,
        moves: Int,
    ) -> None:
        """Play and learn until `moves` are done, and the last game is over."""
        progress, played = worker.state.progress, np.int64(0)
        while played < moves:
            key = key_of(derive_seed(seed, np.uint64(progress[GAMES])))
            done = play_game(known, value_params, params, worker, starts, key)
            played += max(done, 1)
            progress[GAMES] += 1
            progress[MOVES] += done

    return train_band
