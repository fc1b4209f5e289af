"""Distilling a solution: from the value of every board to its best move, in a small file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from py2048.errors import SolvingError
from py2048.rules import Merging, Rules
from py2048.solving import _distil_kernels as kernels
from py2048.solving.distilled import (
    NEVER,
    PORTION,
    QUESTIONS,
    DistilledMoves,
    Leads,
    Order,
    Question,
    passes,
)
from py2048.solving.goal import Goal
from py2048.solving.layers import Keys
from py2048.solving.predictor import GAINS, Predictor, images
from py2048.solving.retrieval import Retrieval
from py2048.solving.solution import Solution

FEW_BOARDS = 1 << 16
"""So few boards need no predictor."""

BLOCK = 1 << 20
"""So many boards are trained on at once."""

BUCKETS = 64
"""So many numbers of filter bits are chosen, by the lead."""

MOST_BITS = 14

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Training:
    """How a predictor is trained.

    Attributes:
        tuples: the cells of each tuple.
        step: what a whole weight stands for.
        passes: how often each board is seen, about.
        rate: the learning rate.
        seed: that of the order of the boards.
    """

    tuples: tuple[tuple[int, ...], ...]
    step: float
    passes: float = 1.0
    rate: float = 0.3
    seed: int = 1


TRAININGS = {
    (2, 4): Training(((0, 1, 2, 4, 5, 6),), step=0.5),
    (3, 3): Training(((0, 1, 2, 3, 4, 5),), step=0.4),
}
"""By the shape of the board."""

COVERED = {(3, 3): 1150}
"""Boards of larger sums are left out: they are many, and perfect play hardly ever meets one."""


@dataclass(frozen=True)
class _Answers:
    """Boards on which a move has to be chosen, and the moves that are best.

    Attributes:
        boards: in their canonical image.
        masks: as `find_best` makes them.
    """

    boards: Keys
    masks: Bytes


def check_distillable(rules: Rules, goal: Goal) -> None:
    """Check that solutions of the rules for the goal can be distilled.

    Raises:
        SolvingError: if the goal is a tile, or the board has too many cells.
    """
    if goal.tile is not None or rules.cells > 12:
        raise SolvingError("only solutions for the score on up to 12 cells can be distilled")


def distil(
    solution: Solution,
    covered: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> DistilledMoves:
    """Return the best moves of a solution.

    Args:
        solution: exact values for the score, with symmetric boards as one.
        covered: the largest sum of a board that is to be covered, by default as `COVERED` says.
        progress: called with what is done next.

    Raises:
        SolvingError: as `check_distillable`.
    """
    rules, most = solution.rules, solution.layers[-1].total
    check_distillable(rules, solution.goal)
    progress("finding best moves")
    if covered is None:
        covered = min(most, COVERED.get(rules.shape, most))
    answers = _answers(solution, covered)
    progress("training the predictor")
    predictor = trained(solution, most.bit_length(), answers.boards, answers.masks)
    progress("storing what it gets wrong")
    order, masks = _ordered(predictor, answers, *rules.shape)
    return DistilledMoves(rules, most, covered, predictor, *_stored(order, masks))


def _answers(solution: Solution, covered: int) -> _Answers:
    parts = list(best_moves(solution, covered))
    boards = np.concatenate([boards for boards, _ in parts])
    masks = np.concatenate([masks for _, masks in parts])
    is_asked = masks & 15 != masks >> 4
    return _Answers(boards[is_asked], masks[is_asked])


def best_moves(solution: Solution, covered: int) -> Iterator[tuple[Keys, Bytes]]:
    """Yield the boards of each sum up to one, and their best moves as `find_best` makes them."""
    for layer in solution.layers:
        if layer.total > covered:
            break
        keys, afters = solution.afterstates(layer.total)
        boards, masks = np.empty(len(keys), np.uint64), np.empty(len(keys), np.uint8)
        kernels.find_best(keys, solution.spec, afters, 2 * solution.error, boards, masks)
        yield boards, masks


# --- the predictor -------------------------------------------------------------------------------


def trained(solution: Solution, radix: int, boards: Keys, masks: Bytes) -> Predictor:
    """Return a predictor for the boards of a solution; a blind one if they are few.

    Args:
        solution: the solution.
        radix: the number of ranks.
        boards: in their canonical image.
        masks: bit ``d`` where direction ``d`` is best, and bit ``d + 4`` where it is legal.
    """
    shape = solution.rules.shape
    plan = TRAININGS.get(shape)
    is_sliding_simply = solution.rules.merging is Merging.ONCE
    if len(boards) < FEW_BOARDS or plan is None or not is_sliding_simply:
        return Predictor.blind()
    tuples = np.array(plan.tuples, np.int64)
    size = radix ** tuples.shape[1]
    places = np.array(
        [
            [number * size, *(image[cell] for cell in cells)]
            for number, cells in enumerate(plan.tuples)
            for image in images(*shape)
        ],
        np.int64,
    )
    weights, squares = np.zeros((2, len(tuples) * size + GAINS), np.float32)
    generator = np.random.default_rng(plan.seed)
    for _ in range(round(plan.passes * len(boards) / BLOCK) or 1):
        part = generator.integers(len(boards), size=min(BLOCK, len(boards)))
        kernels.train(
            *(boards[part], masks[part], solution.spec, places, radix),
            *(weights, squares, np.float32(plan.rate)),
        )
    whole = np.clip(np.rint(weights / plan.step), -127, 127).astype(np.int8)
    tables, gains = whole[:-GAINS].reshape(len(tuples), size), whole[-GAINS:]
    return Predictor(tuples, radix, tables, gains)


def _parts(boards: Keys) -> list[Keys]:
    return [boards[first : first + PORTION] for first in range(0, len(boards), PORTION)]


# --- what it gets wrong --------------------------------------------------------------------------


def _ordered(
    predictor: Predictor, answers: _Answers, rows: int, columns: int
) -> tuple[Order, Bytes]:
    parts = [Order.of(predictor, part, rows, columns) for part in _parts(answers.boards)]
    moves = np.concatenate([part.moves.astype(np.int8) for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    return Order(answers.boards, moves, scores), answers.masks


@dataclass(frozen=True)
class _Asked:
    """The boards about which a question is asked.

    Attributes:
        places: where they stand, ascending.
        answers: whether another move is best.
        bits: the numbers of filter bits.
    """

    places: NDArray[np.int64]
    answers: NDArray[np.bool_]
    bits: Bytes


def _stored(order: Order, masks: Bytes) -> tuple[list[Question], Retrieval, Retrieval]:
    """Return the questions, their filters and their decisions."""
    questions, all_asked, keys = [], [], []
    places = np.arange(len(masks))
    for number in range(QUESTIONS):
        # Where all that is left is best, either answer is right.
        best, legal = (np.bitwise_count(masks[places] >> shift & 15) for shift in (0, 4))
        places = places[best + np.uint8(number) != legal]
        leads = order.at(places).leads(number)
        answers = masks[places] >> order.moves[places, number].astype(np.uint8) & 1 == 0
        question = _question(leads, answers)
        asked = _Asked(places, answers, question.bits_of(leads))
        wrong = order.at(places[answers])
        bits = asked.bits[answers]
        keys += [wrong.keys(number, bit)[bits > bit] for bit in range(MOST_BITS)]
        questions.append(question)
        all_asked.append(asked)
        places = places[answers]
    equations = np.concatenate(keys)
    filters = Retrieval.of(equations, np.ones(len(equations), np.bool_))
    return questions, filters, _decisions(order, all_asked, filters)


def _question(leads: Leads, answers: NDArray[np.bool_]) -> Question:
    """Return the numbers of filter bits that take the least room."""
    if not len(leads):
        return Question(np.zeros(0, np.int32), np.zeros(1, np.uint8))
    cuts = np.unique(np.quantile(leads, np.arange(1, BUCKETS) / BUCKETS, method="nearest"))
    buckets = np.searchsorted(cuts, leads, side="right")
    counts = np.bincount(buckets, minlength=len(cuts) + 1)
    wrong = np.bincount(buckets[answers], minlength=len(cuts) + 1)
    bits = np.arange(MOST_BITS + 1)
    room = wrong[:, None] * (bits + 1) + (counts - wrong)[:, None] * 0.5**bits
    chosen = np.where(wrong == 0, NEVER, room.argmin(axis=1))
    return Question(cuts.astype(np.int32), chosen.astype(np.uint8))


def _decisions(order: Order, all_asked: list[_Asked], filters: Retrieval) -> Retrieval:
    keys, answers = [], []
    for number, asked in enumerate(all_asked):
        for first in range(0, len(asked.places), PORTION):
            part = slice(first, first + PORTION)
            boards = order.at(asked.places[part])
            passed = passes(filters, boards, number, asked.bits[part])
            keys.append(boards.keys(number)[passed])
            answers.append(asked.answers[part][passed])
    return Retrieval.of(np.concatenate(keys), np.concatenate(answers))
