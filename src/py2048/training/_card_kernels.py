"""Learning as a graphics card does it, for a processor: the same integers in the same order.

Many games are played at the same time, one step after the other. ``card.cu`` says how a card
divides a step among its threads; these kernels are its reference, and equal to it bit for bit.

A step has two halves. `play` chooses the best move of each game and values its oldest afterstate
anew; the error, in 64ths of a point, and a count go into one 64-bit integer of each weight that the
afterstate meets. Integers add up to the same in any order. `learn` changes each weight that was met
by the *mean* of its errors, at its coherent rate, and begins new games.

An afterstate waits for its update until `delay` more are behind it (delayed TD(λ)), or until its
game is over; then what is left is learnt from, one afterstate a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from py2048.compiled._bits_kernels import ONE, SERIES, START, draw, key_of, pick_high
from py2048.compiled._board_kernels import RANKS, slides_4x4, spawn_packed
from py2048.compiled.jit import kernel
from py2048.ntuple import _network_kernels as network
from py2048.ntuple._network_kernels import PackedBoardSpec, Word
from py2048.ntuple.layout import Code

GAME = np.dtype(
    [
        *((name, np.uint64) for name in ("board", "key", "early", "late")),
        *((name, np.uint64) for name in ("updated", "waiting", "played", "number")),
        *((name, np.uint32) for name in ("moves", "score")),
        *((name, np.uint8) for name in ("state", "count", "head", "whole", "over")),
        ("spare", np.uint8, 3),
    ]
)
"""A game: its board and key; the boards after its last two numbers of moves that are powers of two,
from which the middle is taken; the afterstate that learns in this step, or 0; where the next game
is to begin, or 0; the moves of all games here, and the number of this one; its moves and score;
whether it is `PLAYING`, `DEAD` or `IDLE`; how many afterstates wait, and the place of the first;
whether it began as the rules say; whether it is to be followed by the next."""
PENDING = np.dtype([("after", np.uint64), ("reward", np.float32), ("value", np.float32)])
LEARNING = np.dtype([("sum", np.uint64), ("balance", np.float32), ("size", np.float32)])
"""Beside each weight: the errors of this step, and the E and A of temporal coherence."""
PLAYED, NUMBER = 6, 7
"""Words of a game."""
PLAYING, DEAD, IDLE = range(3)
FINISHED, SUM, SQUARES, RANKS_FROM = range(4)
RESULTS = 19
"""Results of whole games: as in ``_td_kernels.py``, then how many ended with each largest rank."""

RING, PLACES = 8, np.uint64(7)
COUNT_BITS = np.uint64(20)
COUNTS = np.uint64((1 << 20) - 1)
RESOLUTION, MOST_ERROR = np.float32(64), np.float32(1 << 17)
LARGE, HALF = np.float32(1 << 24), np.float32(0.5)
NOTHING, WHOLE = np.float32(0), np.float32(1)
ZERO = np.uint64(0)
QUARTERS = 4
"""The tuples of an update are summed in so many parts."""


class CardParams(NamedTuple):
    """How games are played, and how to learn from them; named as in `TrainingConfig`."""

    root: Word
    """The key of the seed of all games."""
    learning_rate: np.float32
    share: np.float32
    """One, divided by the number of weights that a board meets."""
    lambda_: np.float32
    delay: np.uint32
    restart_length: np.uint32
    restart_after: np.uint64
    is_learning: np.uint32
    once: np.uint32
    """Whether each place plays a single game."""


class StepState(NamedTuple):
    """A training in arrays, and room to work in."""

    weights: Any
    """float32 `[size]`."""
    learning: Any
    """`LEARNING` `[size]`."""
    games: Any
    """`GAME` `[places]`."""
    ring: Any
    """`PENDING` `[places, RING]`: the afterstates that wait."""
    results: Any
    """uint64 `[places, RESULTS]`."""
    boards: Any
    """uint64 `[2, 2]`."""
    rows: Any
    """uint64 `[1, active]`, for indices."""


class CardRules(NamedTuple):
    """The rules, as in `CompiledRules`."""

    cascade: bool
    cells: Word
    start_low: int | np.int64
    start_high: int | np.int64
    start_ranks: Any
    start_cumulative: Any
    ranks: Any
    cumulative: Any


@kernel(inline=True, borrows=True)
def spawned(board: Word, word: Word, cells: Word, ranks: Any, cumulative: Any) -> Word:
    """Return a board after the spawn of a draw."""
    after, _ = spawn_packed(board, ZERO, cells, word, ranks, cumulative)
    return np.uint64(after)


@kernel(borrows=True)
def begin_game(games: Any, place: int, params: CardParams, rules: CardRules) -> None:
    """Begin the next game in a place; thread number `place` of a `Trainer` plays the same."""
    game = games[place]
    key = key_of(draw(params.root, SERIES + np.uint64(place)))
    if not params.once:
        key = key_of(draw(key, SERIES + game.number))
    board, waiting = ZERO, game.waiting
    if waiting != ZERO:
        board = np.uint64(waiting)
    else:
        tiles = rules.start_low
        if rules.start_high > tiles:
            tiles += np.int64(pick_high(draw(key, START), np.uint64(rules.start_high - tiles + 1)))
        for number in range(tiles):
            word = draw(key, START + ONE + np.uint64(number))
            board = spawned(board, word, rules.cells, rules.start_ranks, rules.start_cumulative)
    game.whole, game.waiting = waiting == ZERO, 0
    game.board, game.early, game.late, game.key = board, board, board, key
    game.moves, game.score = 0, 0
    game.state, game.count, game.head, game.over = PLAYING, 0, 0, 0


@kernel(borrows=True)
def begin(games: Any, params: CardParams, rules: CardRules) -> None:
    """Begin the first game in every place."""
    for place in range(len(games)):
        begin_game(games, place, params, rules)


@kernel(inline=True, borrows=True)
def image_sum(weights: Any, row: Any, image: int, first: int, step: int) -> np.float32:
    """Return the sum of the weights that an image of a board meets, of every `step`-th tuple."""
    total = NOTHING
    for number in range(first, len(row) // 8, step):
        total += weights[row[8 * number + image]]
    return total


@kernel(borrows=True)
def tree_sum(weights: Any, row: Any, first: int, step: int) -> np.float32:
    """Return the sum of all images."""
    a = image_sum(weights, row, 0, first, step) + image_sum(weights, row, 1, first, step)
    b = image_sum(weights, row, 2, first, step) + image_sum(weights, row, 3, first, step)
    c = image_sum(weights, row, 4, first, step) + image_sum(weights, row, 5, first, step)
    d = image_sum(weights, row, 6, first, step) + image_sum(weights, row, 7, first, step)
    return (a + b) + (c + d)


@kernel(borrows=True)
def quartered_sum(weights: Any, row: Any) -> np.float32:
    """Return the value of a board in the order of an update."""
    a = tree_sum(weights, row, 0, QUARTERS) + tree_sum(weights, row, 1, QUARTERS)
    b = tree_sum(weights, row, 2, QUARTERS) + tree_sum(weights, row, 3, QUARTERS)
    return a + b


@kernel(borrows=True)
def target_of(ring: Any, head: Word, count: Word, latest: np.float32, lambda_: Any) -> np.float32:
    """Return the target of the first afterstate that waits; `latest` is that of the last."""
    target, step = latest, count - ONE
    while step > ZERO:
        later = ring[(head + step) & PLACES]
        target = (later.reward + (WHOLE - lambda_) * later.value) + lambda_ * target
        step -= ONE
    return target


@kernel(borrows=True)
def note_error(learning: Any, row: Any, error: np.float32) -> None:
    """Add an error to the sums of the weights that a board meets."""
    error = min(max(error, -MOST_ERROR), MOST_ERROR)
    units = np.uint64(np.int64(np.rint(error * RESOLUTION)))
    for index in row:
        learning[index].sum += (units << COUNT_BITS) + ONE


@kernel(borrows=True)
def change_weight(weights: Any, learning: Any, index: Word, params: CardParams) -> None:
    """Change a weight by the mean of its errors, unless that is done."""
    met = learning[index]
    total, met.sum = met.sum, 0
    count = total & COUNTS
    if count == ZERO:
        return
    error = np.float32(np.int64(total - count) >> np.int64(20)) / (np.float32(count) * RESOLUTION)
    rate = abs(met.balance) / met.size if met.size > NOTHING else WHOLE
    weights[index] += params.learning_rate * rate * error * params.share
    met.balance += error
    met.size += abs(error)
    if met.size > LARGE:
        met.balance *= HALF
        met.size *= HALF


@kernel(borrows=True)
def end_game(games: Any, results: Any, place: int, params: CardParams, rules: CardRules) -> None:
    """Note the result of a game, and begin the next one."""
    game, result = games[place], results[place]
    if game.whole:
        score, rank = np.uint64(game.score), ZERO
        for cell in range(16):
            rank = max(rank, (game.board >> np.uint64(4 * cell)) & RANKS)
        result[FINISHED] += ONE
        result[SUM] += score
        result[SQUARES] += score * score
        result[RANKS_FROM + np.int64(rank)] += ONE
    game.number += ONE
    if params.once:
        game.state, game.over = IDLE, 0
        return
    is_long = params.restart_length > 0 and game.moves > params.restart_length
    if is_long and game.played >= params.restart_after:
        power = 1
        while 2 * power <= game.moves:
            power *= 2
        game.waiting = game.early if game.moves < power + power // 2 else game.late
    begin_game(games, place, params, rules)


@kernel(borrows=True)
def wait_for_update(waiting: Any, at: Word, after: Word, reward: Any, value: Any) -> None:
    """Put an afterstate into the ring."""
    latest = waiting[at & PLACES]
    latest.after, latest.reward, latest.value = after, reward, value


@kernel(borrows=True)
def spawn_after(games: Any, place: int, after: Word, reward: Any, rules: CardRules) -> None:
    """Let a tile appear after a move."""
    game = games[place]
    word = draw(game.key, np.uint64(game.moves))
    game.board = spawned(after, word, rules.cells, rules.ranks, rules.cumulative)
    game.score += np.uint32(reward)
    game.moves += np.uint32(1)
    game.played += ONE
    if game.moves & (game.moves - np.uint32(1)) == 0:
        game.early, game.late = game.late, game.board


def make_choose_kernel(indices_of: Any) -> Any:
    """Return the kernel that chooses a move."""

    @kernel(borrows=True)
    def choose(
        boards: Any, weights: Any, spec: PackedBoardSpec, rows: Any, rules: CardRules
    ) -> tuple[Word, np.float32, np.float32]:
        """Return the best afterstate of board 0, 0 if there is none, its points and its value."""
        best, reward, most, value = ZERO, NOTHING, NOTHING, NOTHING
        ways = slides_4x4(boards[0, 0], ZERO, rules.cascade, spec.across)
        for after, beyond, points in ways:
            if points < 0 or beyond != ZERO:
                continue
            boards[1, 0] = after
            indices_of(boards, 1, spec, rows, 0)
            worth, gained = tree_sum(weights, rows[0], 0, 1), np.float32(points)
            if best == ZERO or gained + worth > most:
                best, reward, most, value = after, gained, gained + worth, worth
        return best, reward, value

    return choose


Step = Callable[..., None]


@cache
def make_play_kernel(code: Code) -> Step:
    """Return the kernel of the first half of a step, for the tuples of a network."""
    indices_of = network.make_indices_kernel(code)
    choose = make_choose_kernel(indices_of)

    @kernel(borrows=True)
    def play(
        state: StepState, spec: PackedBoardSpec, params: CardParams, rules: CardRules, active: int
    ) -> None:
        """Play a move in each of the first `active` games, and note what is to be learnt."""
        weights, boards, rows = state.weights, state.boards, state.rows
        for place in range(active):
            game, waiting = state.games[place], state.ring[place]
            head, count = np.uint64(game.head), np.uint64(game.count)
            was_dead = game.state != PLAYING
            learns = count == np.uint64(params.delay) or (was_dead and count > ZERO)
            after, reward, value = ZERO, NOTHING, NOTHING
            if not was_dead:
                boards[0, 0] = game.board
                after, reward, value = choose(boards, weights, spec, rows, rules)
                if after == ZERO:
                    game.state = DEAD
            game.updated = ZERO
            if learns:
                target = target_of(waiting, head, count, reward + value, params.lambda_)
                game.updated = waiting[head & PLACES].after
                head, count = (head + ONE) & PLACES, count - ONE
                boards[1, 0] = game.updated
                indices_of(boards, 1, spec, rows, 0)
                note_error(state.learning, rows[0], target - quartered_sum(weights, rows[0]))
            if after != ZERO:
                if params.is_learning:
                    wait_for_update(waiting, head + count, after, reward, value)
                    count += ONE
                spawn_after(state.games, place, after, reward, rules)
            game.head, game.count = head, count
            game.over = game.state == DEAD and count == ZERO

    return play


@cache
def make_learn_kernel(code: Code) -> Step:
    """Return the kernel of the second half of a step, for the tuples of a network."""
    indices_of = network.make_indices_kernel(code)

    @kernel(borrows=True)
    def learn(
        state: StepState, spec: PackedBoardSpec, params: CardParams, rules: CardRules, active: int
    ) -> None:
        """Learn what `play` noted; follow games that are over by the next ones."""
        games, boards, rows = state.games, state.boards, state.rows
        for place in range(active):
            if games[place].updated != ZERO:
                boards[1, 0] = games[place].updated
                indices_of(boards, 1, spec, rows, 0)
                for index in rows[0]:
                    change_weight(state.weights, state.learning, index, params)
            if games[place].over:
                end_game(games, state.results, place, params, rules)

    return learn
