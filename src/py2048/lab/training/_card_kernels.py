"""CPU reference implementation of the GPU's training algorithm.

The GPU version, ``card.cu``, computes the same weights, bit for bit.

Many games are played in parallel, one step at a time. Each step runs two kernels. The kernel `play`
makes the best move in each game. The same kernel takes the oldest afterstate from the game's ring
buffer, and accumulates its error in the afterstate's weights. The kernel `learn` then corrects each
weight by its *mean* error, scaled by an adaptive learning rate, and replaces finished games.

Errors are rounded to 64ths of a point and summed as integers, so the order of the games does not
matter. One 64-bit integer per weight holds both the sum and the number of errors.

An afterstate is updated when `delay` later afterstates are known (delayed TD(λ)). After the end of
a game, each step updates one of the remaining afterstates.

Bands work as in ``_td_kernels.py``. The fixed part of a value is computed in double precision and
rounded once. The base network's 16-bit weights can be added in any order, because their sum is
exact. The change of the fixed part counts as a reward, so that the weights learn only the trainable
part. A whole network is trained as a single band that never ends, with an empty base network.

At first, every slot holds a dummy game that is already over, so that first games need no special
case. Dummy games have the key 0 and are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from py2048.engine._bits_kernels import ONE, SERIES, START, draw, key_of, pick_high, pick_low
from py2048.engine._board_kernels import RANKS, slides_4x4, spawn_packed, sum_packed
from py2048.engine.jit import kernel
from py2048.engine.rules import TileTable
from py2048.lab.training._td_kernels import BandInputs, BandView, is_passed
from py2048.players.ntuple import _network_kernels as network
from py2048.players.ntuple._network_kernels import PackedBoardSpec, Word
from py2048.players.ntuple.layout import Code

GAME = np.dtype(
    [
        *((name, np.uint64) for name in ("board", "key", "early", "late")),
        *((name, np.uint64) for name in ("updated", "waiting", "played", "number")),
        *((name, np.uint32) for name in ("moves", "score")),
        *((name, np.uint8) for name in ("state", "count", "head", "whole")),
        ("fixed", np.float32),
    ]
)
"""The state of a slot, which plays one game after another.

Attributes:
    board: Board of the current game.
    key: Random key of the current game.
    early: The second latest saved board. A restarted game begins at `early` or `late`.
    late: The latest saved board. A board is saved when the number of moves is a power of two.
    updated: Afterstate to update in this step, or 0.
    waiting: Start board of the next game if it is a restart, otherwise 0.
    played: Moves played in this slot.
    number: Games played in this slot.
    moves: Moves of the current game.
    score: Score of the current game.
    state: `PLAYING`, `IDLE`, `DEAD` or `PASSED`.
    count: Number of afterstates in the ring buffer.
    head: Position of the oldest afterstate in the ring buffer.
    whole: Whether the game is counted. Restarted games are not counted.
    fixed: Fixed part of the last afterstate's value, or the last afterstate's target if the game is
        over.
"""
PENDING = np.dtype([("after", np.uint64), ("reward", np.float32), ("value", np.float32)])
LEARNING = np.dtype([("sum", np.uint64), ("balance", np.float32), ("size", np.float32)])
"""Learning state of a weight. `sum` accumulates errors within a step. `balance` and `size` are the
sums `E` and `A` of temporal coherence.
"""
PLAYED, NUMBER = 6, 7
"""Word offsets in `GAME`."""
PLAYING, IDLE, DEAD, PASSED = range(4)
FINISHED, SUM, SQUARES, RANKS_FROM = range(4)
PASSES, RESULTS = 19, 20
"""Indices of `CardState.results`. From `RANKS_FROM` on, the games are counted by the rank of their
largest tile. `PASSES` counts the games that got past the end of the trained band.
"""

RING, PLACES = 8, np.uint64(7)
COUNT_BITS = np.uint64(20)
COUNTS = np.uint64((1 << 20) - 1)
RESOLUTION, MAX_ERROR = np.float32(64), np.float32(1 << 17)
LARGE, HALF, LOWEST = np.float32(1 << 24), np.float32(0.5), np.float32(-np.inf)
NOTHING, WHOLE = np.float32(0), np.float32(1)
ZERO = np.uint64(0)
QUARTERS = 4
"""A board's value is computed as the sum of this many partial sums."""


class CardParams(NamedTuple):
    """Settings of games and learning, named as in `TrainingConfig`."""

    root: Word
    """Random key from which the keys of all games are derived."""
    learning_rate: np.float32
    lambda_: np.float32
    delay: np.uint32
    restart_length: np.uint32
    restart_after: np.uint64
    is_learning: np.uint32
    once: np.uint32
    """Whether each slot stops after one game."""


class CardState(NamedTuple):
    """The complete training state in device memory."""

    weights: Any
    """float32 `[size]`."""
    learning: Any
    """`LEARNING` `[size]`, or uint64 `[size, 2]`."""
    games: Any
    """`GAME` `[places]`, or uint64 `[places, 10]`."""
    ring: Any
    """Afterstates that wait for an update, in one ring buffer per slot: `PENDING` `[places, RING]`,
    or uint64 `[places, RING, 2]`.
    """
    results: Any
    """uint64 `[places, RESULTS]`."""


class StepInputs(NamedTuple):
    """Inputs of a training step: the rules, the band, and scratch arrays."""

    spec: PackedBoardSpec
    start_low: int | np.int64
    start_high: int | np.int64
    start: TileTable
    spawn: TileTable
    band: BandInputs
    boards: Any
    """Scratch boards, uint64 `[2, 2]`."""
    rows: Any
    """Scratch space for weight indices, uint64 `[1, active]`."""
    rows_below: Any
    """Scratch space for the base network's weight indices, uint64 `[1, active]`."""


@kernel(inline=True, borrows=True)
def spawned(board: Word, word: Word, tiles: TileTable, inputs: StepInputs) -> Word:
    """Add a tile to a board, as determined by a random word."""
    cells = inputs.spec.cells
    after, _ = spawn_packed(board, ZERO, cells, word, tiles.ranks, tiles.cumulative)
    return np.uint64(after)


@kernel(borrows=True)
def begin_game(game: Any, place: int, inputs: StepInputs, params: CardParams) -> None:
    """Start the next game in a slot. Slots have the same seeds as the threads of a `Trainer`."""
    key, starts = key_of(draw(params.root, SERIES + np.uint64(place))), inputs.band.starts
    if not params.once:
        key = key_of(draw(key, SERIES + game.number))
    board, waiting = ZERO, game.waiting
    if waiting != ZERO:
        board = np.uint64(waiting)
    elif len(starts):
        board = starts[np.int64(pick_low(draw(key, START), np.uint64(len(starts)))), 0]
    else:
        extra = pick_high(draw(key, START), np.uint64(inputs.start_high - inputs.start_low + 1))
        for number in range(inputs.start_low + np.int64(extra)):
            word = draw(key, START + ONE + np.uint64(number))
            board = spawned(board, word, inputs.start, inputs)
    game.whole, game.waiting = waiting == ZERO, 0
    game.board, game.early, game.late, game.key = board, board, board, key
    game.moves, game.score, game.fixed = 0, 0, NOTHING
    game.state, game.count, game.head = PLAYING, 0, 0


@kernel(inline=True, borrows=True)
def image_sum(weights: Any, row: Any, image: int, first: int, step: int) -> np.float32:
    """Sum the weights of every `step`-th tuple for one of a board's eight symmetries."""
    total = NOTHING
    for number in range(first, len(row) // 8, step):
        total += weights[row[8 * number + image]]
    return total


@kernel(borrows=True)
def tree_sum(weights: Any, row: Any, first: int, step: int) -> np.float32:
    """Sum the weights of all symmetric images of a board."""
    a = image_sum(weights, row, 0, first, step) + image_sum(weights, row, 1, first, step)
    b = image_sum(weights, row, 2, first, step) + image_sum(weights, row, 3, first, step)
    c = image_sum(weights, row, 4, first, step) + image_sum(weights, row, 5, first, step)
    d = image_sum(weights, row, 6, first, step) + image_sum(weights, row, 7, first, step)
    return (a + b) + (c + d)


@kernel(borrows=True)
def quartered_sum(weights: Any, row: Any) -> np.float32:
    """Return a board's value, adding the weights in the same order as an update."""
    a = tree_sum(weights, row, 0, QUARTERS) + tree_sum(weights, row, 1, QUARTERS)
    b = tree_sum(weights, row, 2, QUARTERS) + tree_sum(weights, row, 3, QUARTERS)
    return a + b


@kernel(borrows=True)
def target_of(ring: Any, head: Word, count: Word, latest: np.float32, lambda_: Any) -> np.float32:
    """Return the target of the oldest waiting afterstate. `latest` is the newest one's target."""
    target, step = latest, count - ONE
    while step > ZERO:
        later = ring[(head + step) & PLACES]
        target = (later.reward + (WHOLE - lambda_) * later.value) + lambda_ * target
        step -= ONE
    return target


@kernel(borrows=True)
def note_error(learning: Any, row: Any, error: np.float32) -> None:
    """Add an error to the error sums of all weights of a board."""
    error = min(max(error, -MAX_ERROR), MAX_ERROR)
    units = np.uint64(np.int64(np.rint(error * RESOLUTION)))
    for index in row:
        learning[index].sum += (units << COUNT_BITS) + ONE


@kernel(borrows=True)
def change_weight(
    weights: Any, learning: Any, index: Word, share: np.float32, params: CardParams
) -> None:
    """Apply a weight's accumulated errors, scaled by the learning rate and `share`."""
    met = learning[index]
    total, met.sum = met.sum, 0
    count = total & COUNTS
    if count == ZERO:
        return  # the weight has already been updated in this step
    error = np.float32(np.int64(total - count) >> np.int64(20)) / (np.float32(count) * RESOLUTION)
    rate = abs(met.balance) / met.size if met.size > NOTHING else WHOLE
    weights[index] += params.learning_rate * rate * error * share
    met.balance += error
    met.size += abs(error)
    if met.size > LARGE:
        met.balance *= HALF
        met.size *= HALF


@kernel(borrows=True)
def end_game(game: Any, result: Any, place: int, inputs: StepInputs, params: CardParams) -> None:
    """Count a finished game and start the next game. Restarted games are not counted."""
    if game.whole:
        score, rank = np.uint64(game.score), ZERO
        for cell in range(16):
            rank = max(rank, (game.board >> np.uint64(4 * cell)) & RANKS)
        result[FINISHED] += ONE
        result[SUM] += score
        result[SQUARES] += score * score
        result[RANKS_FROM + np.int64(rank)] += ONE
        result[PASSES] += np.uint64(game.state == PASSED)
    if game.key != ZERO:
        game.number += ONE
        if params.once:
            game.state = IDLE
            return
    is_long = params.restart_length > 0 and game.moves > params.restart_length
    if is_long and game.played >= params.restart_after:
        power = 1
        while 2 * power <= game.moves:
            power *= 2
        game.waiting = game.early if game.moves < power + power // 2 else game.late
    begin_game(game, place, inputs, params)


@kernel(borrows=True)
def spawn_after(game: Any, after: Word, reward: Any, inputs: StepInputs) -> None:
    """Spawn a tile after a move, and update the counters of the game."""
    game.board = spawned(after, draw(game.key, np.uint64(game.moves)), inputs.spawn, inputs)
    game.score += np.uint32(reward)
    game.moves += np.uint32(1)
    game.played += ONE
    if game.moves & (game.moves - np.uint32(1)) == 0:
        game.early, game.late = game.late, game.board


def make_choose_kernel(code: Code, below_code: Code) -> Any:
    """Compile the kernel that chooses a move."""
    indices_of = network.make_indices_kernel(code)
    indices_below = network.make_indices_kernel(below_code)

    @kernel(borrows=True)
    def choose(
        weights: Any, view: BandView, inputs: StepInputs
    ) -> tuple[Word, np.float32, np.float32, np.float32, bool]:
        """Find the best move on the first scratch board.

        Returns:
            The afterstate (0 if no move is legal), the move's points, the trainable part and the
            fixed part of the afterstate's value, and whether the move ends the band.
        """
        boards, rows, below = inputs.boards, inputs.rows, inputs.rows_below
        spec, band = inputs.spec, inputs.band
        beyond_least = np.float64(sum_packed(boards[0, 0], ZERO) - view.least)
        best, most, is_passed_by_best = ZERO, LOWEST, False
        reward, value, rest = NOTHING, NOTHING, NOTHING
        for after, high, points in slides_4x4(boards[0, 0], ZERO, spec.cascade, spec.across):
            if points < 0:
                continue
            boards[1, 0], boards[1, 1] = after, high
            passes = is_passed(boards, 1, points, view, spec)
            if high != ZERO and not passes:
                continue
            gained, worth, fixed = np.float32(points), np.float32(view.goal), NOTHING
            if not passes:
                indices_of(boards, 1, spec, rows, 0)
                worth = tree_sum(weights, rows[0], 0, 1) * view.step
                indices_below(boards, 1, band.spec, below, 0)
                known = np.float64(tree_sum(band.below, below[0], 0, 1)) * band.step
                fixed = np.float32(known - view.level - view.slope * beyond_least)
            total = gained + (fixed + worth)
            if total > most:
                best, most, is_passed_by_best = after, total, passes
                reward, value, rest = gained, worth, fixed
        return best, reward, value, rest, is_passed_by_best

    return choose


Step = Callable[[CardState, StepInputs, CardParams, Any], None]


@cache
def make_play_kernel(code: Code, below_code: Code) -> Step:
    """Compile the kernel `play` for the tuples of a network and its base network."""
    indices_of = network.make_indices_kernel(code)
    choose = make_choose_kernel(code, below_code)

    @kernel(borrows=True)
    def play(state: CardState, inputs: StepInputs, params: CardParams, active: int) -> None:
        """Play a move in each of the first `active` games, and accumulate the errors."""
        weights, boards, rows = state.weights, inputs.boards, inputs.rows
        for place in range(active):
            game, waiting = state.games[place], state.ring[place]
            head, count = np.uint64(game.head), np.uint64(game.count)
            was_over = game.state != PLAYING
            learns = count == np.uint64(params.delay) or (was_over and count > ZERO)
            after, gained, reward, value, fixed = ZERO, NOTHING, NOTHING, NOTHING, NOTHING
            latest = game.fixed
            if not was_over:
                boards[0, 0] = game.board
                is_above = sum_packed(game.board, ZERO) >= inputs.band.own.end
                if is_above:
                    found = choose(inputs.band.above_weights, inputs.band.above, inputs)
                else:
                    found = choose(weights, inputs.band.own, inputs)
                after, gained, value, fixed, passes = found
                reward = gained + (fixed - game.fixed)
                latest = reward + value
                if passes or (is_above and after != ZERO):
                    game.state, after = PASSED, ZERO
                elif after == ZERO:
                    game.state = DEAD
            game.fixed = fixed if after != ZERO else latest
            game.updated = ZERO
            if learns:
                target = target_of(waiting, head, count, latest, params.lambda_)
                game.updated = waiting[head & PLACES].after
                head, count = (head + ONE) & PLACES, count - ONE
                boards[1, 0], boards[1, 1] = game.updated, ZERO
                indices_of(boards, 1, inputs.spec, rows, 0)
                note_error(state.learning, rows[0], target - quartered_sum(weights, rows[0]))
            if after != ZERO:
                if params.is_learning:
                    last = waiting[(head + count) & PLACES]
                    last.after, last.reward, last.value = after, reward, value
                    count += ONE
                spawn_after(game, after, gained, inputs)
            game.head, game.count = head, count

    return play


@cache
def make_learn_kernel(code: Code) -> Step:
    """Compile the kernel `learn` for a network's tuples."""
    indices_of = network.make_indices_kernel(code)

    @kernel(borrows=True)
    def learn(state: CardState, inputs: StepInputs, params: CardParams, active: int) -> None:
        """Update the weights with the accumulated errors, and replace finished games."""
        boards, rows = inputs.boards, inputs.rows
        share = WHOLE / np.float32(rows.shape[1])
        for place in range(active):
            game = state.games[place]
            if game.updated != ZERO:
                boards[1, 0], boards[1, 1] = game.updated, ZERO
                indices_of(boards, 1, inputs.spec, rows, 0)
                for index in rows[0]:
                    change_weight(state.weights, state.learning, index, share, params)
            if game.state >= DEAD and game.count == 0:
                end_game(game, state.results[place], place, inputs, params)

    return learn
