"""Temporal-difference learning of n-tuple networks: games that are played to learn from.

A learner plays greedily and keeps the afterstates of the last moves, its *path*. When the game is
over, or the path full, it goes back along the path and moves the value of each afterstate towards

    target(t) = gain(t + 1) + (1 - trace) * value(t + 1) + trace * target(t + 1)

where ``value(t + 1)`` has just been learnt, and a game that is over is worth 0. A path that holds
a single afterstate makes this TD(0) after every move; one that holds a game makes it TD(λ).

With temporal coherence [1] each weight has a learning rate of its own, ``|E| / A``: `E` sums the
errors that it met and `A` their sizes, so it learns fast while its errors agree and slowly when
they cancel. A weight is kept in a record with its `E` and `A`,
so that all three come from memory together.

Threads share weights without locks: an update that is lost is as harmless as noise [2].

[1] Beal & Smith, "Temporal coherence and prediction decay in TD learning", IJCAI 1999;
    Jaśkowski, "Mastering 2048 with delayed temporal coherence learning", 2016.
[2] Niu, Recht, Ré & Wright, "Hogwild!", NIPS 2011.
"""

from __future__ import annotations

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
from py2048.compiled.jit import kernel
from py2048.ntuple._value_kernels import (
    SPARE,
    TERMINAL,
    Int,
    Weights,
    Word,
    Words,
    Worth,
    fetch,
    stage_of,
    value_at,
    weight_at,
)

ZERO, TWO = np.uint64(0), np.uint64(2)
NONE = np.float32(0)

# Places in `Learner.progress`.
GAMES, MOVES, NEXT_STAGE, WAITING = 0, 1, 2, 3
PROGRESS = 4

# Places in `Learner.scores`: of games from the beginning.
FINISHED, SUM, SQUARES = 0, 1, 2
SCORES = 3

# Places in `Learner.boards`: the board, its four afterstates, the start of the next game.
BOARD, WAITING_BOARD, BOARDS = 0, 5, 6

CAROUSEL_DRAW = START + np.uint64(1 << 32)
"""The counter of the draw that chooses a start in a later stage."""

MERGES, PLIES, BOARD_SUM = 0, 1, 2
"""What the score of a game is: points of merges, a number for each move, the board's sum."""


class Lesson(NamedTuple):
    """What is played and how it is learnt."""

    rate: float
    """How much of its error an afterstate corrects; each of its weights a share."""
    trace: float
    """λ, 0 to 1."""
    coherent: bool
    """Whether each weight adapts its learning rate."""
    carousel: bool
    """Whether games start in each stage in turn."""
    restart: Int
    """The moves from which on a game is followed by one from its middle; 0 for never."""
    scoring: Int
    start_low: Int
    start_high: Int
    start_ranks: NDArray[np.uint8]
    start_cumulative: Words
    ranks: NDArray[np.uint8]
    cumulative: Words


class Learner(NamedTuple):
    """What one thread remembers."""

    boards: Any
    path: Any
    """The afterstates since the last update."""
    gains: NDArray[np.float64]
    stages: NDArray[np.int64]
    starts: Any
    """Boards with which a later stage began, equally many for each stage."""
    started: NDArray[np.int64]
    """int64 `[stages]`: how often each stage was reached."""
    progress: NDArray[np.int64]
    scores: NDArray[np.float64]
    tiles: NDArray[np.int64]
    """int64 `[64]`: how many games from the beginning ended with each largest rank."""
    indices: Words
    """uint64 `[6, …]`: of the four afterstates, of one that is learnt, and of the next."""
    points: NDArray[np.int64]
    after: NDArray[np.int64]
    values: NDArray[np.float64]


@kernel(inline=True, borrows=True)
def move_weight(
    weights: Weights, at: Word, old: np.float32, error: np.float32, step: np.float32, coherent: bool
) -> np.float32:
    """Change the record at `at`, whose weight counts as `old`; return the change."""
    change = step
    if coherent:
        balance, size = weights[at + ONE], weights[at + TWO]
        if size > NONE:
            change = step * (abs(balance) / size)
        weights[at + ONE] = balance + error
        weights[at + TWO] = size + abs(error)
    weights[at] = old + change
    return change


def updater(indices_of: Any, stride: Any) -> Any:
    """Return the kernel that learns from a path on one kind of board."""

    @kernel(borrows=True)
    def learn(
        learner: Learner,
        length: Int,
        target: float,
        space: Any,
        weights: Weights,
        worth: Worth,
        lesson: Lesson,
    ) -> None:
        """Go back along the path; `target` is what its last afterstate turned out to be worth."""
        indices, path, stages = learner.indices, learner.path, learner.stages
        count = indices.shape[1] - SPARE
        size = worth.size
        row, following = 4, 5
        if length > 0:
            indices_of(path, length - 1, space, indices, row)
        for step in range(length - 1, -1, -1):
            if step > 0:
                # While this afterstate is learnt, the weights of the next are on their way.
                indices_of(path, step - 1, space, indices, following)
                first = np.uint64(stages[step - 1]) * size
                fetch(weights, indices, following, count, first, stride)
            stage = stages[step]
            value = value_at(weights, indices, row, count, stage, size, stride)
            error = np.float32(target - value)
            share = np.float32(lesson.rate * error / count)
            for number in range(count):
                index = indices[row, number]
                at = (index + np.uint64(stage) * size) * stride
                old = weights[at]
                if stage > 0 and old == NONE:
                    old = weight_at(weights, index, stage, size, stride)
                value += move_weight(weights, at, old, error, share, lesson.coherent)
            target = learner.gains[step] + (1.0 - lesson.trace) * value + lesson.trace * target
            row, following = following, row

    return learn


def starter(spawn_board: Any, copy_board: Any) -> Any:
    """Return the kernel that sets up a game on one kind of board."""

    @kernel(borrows=True)
    def begin(space: Any, lesson: Lesson, learner: Learner, key: Word) -> bool:
        """Put the start of the next game on board 0; return whether it is the rules' own."""
        boards, progress = learner.boards, learner.progress
        if progress[WAITING]:
            progress[WAITING] = 0
            copy_board(boards, WAITING_BOARD, boards, BOARD)
            return False
        stage = progress[NEXT_STAGE]
        progress[NEXT_STAGE] = stage_after(stage, lesson, learner)
        if stage > 0:
            capacity = len(learner.starts) // len(learner.started)
            known = min(learner.started[stage], capacity)
            chosen = np.int64(pick_low(draw(key, CAROUSEL_DRAW), np.uint64(known)))
            copy_board(learner.starts, stage * capacity + chosen, boards, BOARD)
            return False
        boards[BOARD] = 0
        tiles = lesson.start_low
        if lesson.start_high > tiles:
            spread = np.uint64(lesson.start_high - tiles + 1)
            tiles += np.int64(pick_high(draw(key, START), spread))
        for number in range(tiles):
            word = draw(key, START + ONE + np.uint64(number))
            spawn_board(boards, BOARD, word, lesson.start_ranks, lesson.start_cumulative, space)
        return True

    return begin


@kernel(borrows=True)
def stage_after(stage: Int, lesson: Lesson, learner: Learner) -> Int:
    """Return the stage in which the game after one of this stage starts."""
    following = stage + 1
    if not lesson.carousel or following == len(learner.started):
        return np.int64(0)
    return following if learner.started[following] > 0 else np.int64(0)


def recorder(learn: Any, copy_board: Any) -> Any:
    """Return the kernel that adds an afterstate to the path."""

    @kernel(borrows=True)
    def record(
        learner: Learner,
        length: Int,
        best: Int,
        space: Any,
        weights: Weights,
        worth: Worth,
        lesson: Lesson,
    ) -> Int:
        """Add the afterstate on the board, learning first if the path is full; return its length.

        A learner without room for a path plays and does not learn.
        """
        capacity = len(learner.gains)
        if capacity == 0:
            return np.int64(0)
        if length == capacity:
            learn(learner, length, learner.values[best], space, weights, worth, lesson)
            length = np.int64(0)
        copy_board(learner.boards, BOARD, learner.path, length)
        learner.gains[length] = worth.per_merged * learner.points[best] + worth.per_move
        learner.stages[length] = learner.after[best]
        return length + 1

    return record


def noter(spawn_board: Any, copy_board: Any, seen_on: Any, sum_of: Any) -> tuple[Any, Any, Any]:
    """Return the kernels that keep boards to start with, and results."""

    @kernel(borrows=True)
    def note_stage(learner: Learner, before: Int, after: Int) -> None:
        """Keep the board as a start if a stage begins with it."""
        if after <= before or len(learner.starts) == 0:
            return
        capacity = len(learner.starts) // len(learner.started)
        place = after * capacity + learner.started[after] % capacity
        copy_board(learner.boards, BOARD, learner.starts, place)
        learner.started[after] += 1

    @kernel(borrows=True)
    def note_middle(learner: Learner, length: Int, space: Any, lesson: Lesson, word: Word) -> None:
        """Let the next game start in the middle of this one, if this one was long."""
        if lesson.restart > 0 and length > lesson.restart:
            learner.progress[WAITING] = 1
            copy_board(learner.path, length // 2, learner.boards, WAITING_BOARD)
            spawn_board(learner.boards, WAITING_BOARD, word, lesson.ranks, lesson.cumulative, space)

    @kernel(borrows=True)
    def note_score(
        learner: Learner, points: Int, moves: Int, space: Any, worth: Worth, lesson: Lesson
    ) -> None:
        """Enter the result of a game from the beginning."""
        score = np.float64(points)
        if lesson.scoring == PLIES:
            score = np.float64(moves * worth.per_move)
        elif lesson.scoring == BOARD_SUM:
            score = np.float64(sum_of(learner.boards, BOARD))
        learner.scores[FINISHED] += 1
        learner.scores[SUM] += score
        learner.scores[SQUARES] += score * score
        seen, rank = seen_on(learner.boards, BOARD, space), 0
        while (seen >> ONE) >> np.uint64(rank) != ZERO:
            rank += 1
        learner.tiles[rank] += 1

    return note_stage, note_middle, note_score


def gamer(
    rate: Any, learn: Any, begin: Any, spawn_board: Any, copy_board: Any, seen_on: Any, sum_of: Any
) -> Any:
    """Return the kernel that plays and learns from one game on one kind of board."""
    record = recorder(learn, copy_board)
    note_stage, note_middle, note_score = noter(spawn_board, copy_board, seen_on, sum_of)

    @kernel(borrows=True, expand=True)
    def play_game(
        space: Any, weights: Weights, worth: Worth, lesson: Lesson, learner: Learner, key: Word
    ) -> Int:
        """Play and learn from one game; return the number of moves."""
        boards = learner.boards
        is_whole = begin(space, lesson, learner, key)
        stage = stage_of(seen_on(boards, BOARD, space), worth)
        moves, length, points, target = np.int64(0), np.int64(0), np.int64(0), 0.0
        indices, gained, after, values = (
            learner.indices,
            learner.points,
            learner.after,
            learner.values,
        )
        while True:
            best = rate(boards, stage, space, weights, worth, indices, gained, after, values)
            if best < 0:
                break
            moves += 1
            points += gained[best]
            copy_board(boards, best + 1, boards, BOARD)
            if after[best] == TERMINAL:
                target = values[best]
                break
            length = record(learner, length, best, space, weights, worth, lesson)
            word = draw(key, np.uint64(moves - 1))
            spawn_board(boards, BOARD, word, lesson.ranks, lesson.cumulative, space)
            note_stage(learner, stage, after[best])
            stage = after[best]
        note_middle(learner, length, space, lesson, draw(key, np.uint64(moves)))
        learn(learner, length, target, space, weights, worth, lesson)
        if is_whole:
            note_score(learner, points, moves, space, worth, lesson)
        return moves

    return play_game


def trainer(play_game: Any, name: str) -> Any:
    """Return the kernel that plays many games, to be cached under a name with `name` in it."""

    def train(
        space: Any,
        weights: Weights,
        worth: Worth,
        lesson: Lesson,
        learner: Learner,
        seed: Word,
        games: Int,
        moves: Int,
    ) -> None:
        """Play and learn until so many games or moves are done, and the last game is over."""
        progress, played = learner.progress, np.int64(0)
        for _ in range(games):
            if played >= moves:
                break
            key = key_of(derive_seed(seed, np.uint64(progress[GAMES])))
            done = play_game(space, weights, worth, lesson, learner, key)
            played += done
            progress[GAMES] += 1
            progress[MOVES] += done

    train.__qualname__ = f"train_{name}"
    return kernel(borrows=True)(train)
