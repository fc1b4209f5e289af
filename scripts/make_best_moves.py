"""Make the best moves that come with py2048. `py2048.players.solving.distilled` has the format.

Usage: make_best_moves.py SIZE FILE

Solves the classic rules on a board of SIZE, such as 2x4, and writes the best move of every position
to FILE. The files in ``src/py2048/players/solving/data`` were made so; 3x3 takes some minutes.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import SolvingError
from py2048.core.rules import Merging
from py2048.engine._bits_kernels import ONE, popcount, trailing_zeros
from py2048.engine._board_kernels import NIBBLE, RANKS, ZERO, Int, Word
from py2048.engine.boards import mix64
from py2048.engine.jit import kernel
from py2048.players.solving import Solution, solve
from py2048.players.solving._solver_kernels import Lookup, SolverSpec, board_of, slide, worth
from py2048.players.solving.distilled import (
    ALWAYS_RIGHT,
    BATCH_BOARDS,
    GAINS,
    MAGIC,
    QUESTIONS,
    SPREAD,
    WINDOW,
    Arrays,
    Bits,
    Bytes,
    DistilledMoves,
    FilterPlan,
    Leads,
    Order,
    Predictor,
    Retrieval,
    Words,
    equations,
    images,
    part_of,
    passes,
)

Vector = NDArray[np.float32]
Places = NDArray[np.int64]

PART = 4096
"""About how many keys of a retrieval share a system of equations."""

SURE = np.float32(0.001)
"""The least slope that is worth a step."""

SEEDS = 6
"""How many seeds are tried before a part of a retrieval gets more columns."""

MAX_COLUMNS = 2**16 - 1

FEW_BOARDS = 1 << 16
"""So few boards need no predictor."""

BLOCK = 1 << 20
"""How many boards are trained on at once."""

BUCKETS = 64
"""How many numbers of filter bits are chosen, by the lead."""

MAX_BITS = 14


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

    boards: Words
    masks: Bytes


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
        SolvingError: if the goal is a tile.
    """
    rules, most = solution.rules, solution.layers[-1].total
    if solution.goal.tile is not None:
        raise SolvingError("only solutions for the score can be distilled")
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


def best_moves(solution: Solution, covered: int) -> Iterator[tuple[Words, Bytes]]:
    """Yield the boards of each sum up to one, and their best moves as `find_best` makes them."""
    for layer in solution.layers:
        if layer.total > covered:
            break
        keys = solution.layer(layer.total).keys
        afters = solution.afterstates(keys, layer.total)
        boards, masks = np.empty(len(keys), np.uint64), np.empty(len(keys), np.uint8)
        find_best(keys, solution.problem.spec, afters, 2 * solution.error, boards, masks)
        yield boards, masks


# --- the predictor -------------------------------------------------------------------------------


def blind() -> Predictor:
    """Return a predictor that prefers no direction."""
    nothing = np.zeros((0, 1), np.int8)
    return Predictor(nothing.astype(np.int64), 1, nothing, np.zeros(GAINS, np.int8))


def trained(solution: Solution, radix: int, boards: Words, masks: Bytes) -> Predictor:
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
        return blind()
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
        train(
            *(boards[part], masks[part], solution.problem.spec, places, radix),
            *(weights, squares, np.float32(plan.rate)),
        )
    whole = np.clip(np.rint(weights / plan.step), -127, 127).astype(np.int8)
    tables, gains = whole[:-GAINS].reshape(len(tuples), size), whole[-GAINS:]
    return Predictor(tuples, radix, tables, gains)


def _parts(boards: Words) -> list[Words]:
    return [boards[first : first + BATCH_BOARDS] for first in range(0, len(boards), BATCH_BOARDS)]


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


def _stored(order: Order, masks: Bytes) -> tuple[list[FilterPlan], Retrieval, Retrieval]:
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
        keys += [wrong.keys(number, bit)[bits > bit] for bit in range(MAX_BITS)]
        questions.append(question)
        all_asked.append(asked)
        places = places[answers]
    equations = np.concatenate(keys)
    filters = retrieval(equations, np.ones(len(equations), np.bool_))
    return questions, filters, _decisions(order, all_asked, filters)


def _question(leads: Leads, answers: NDArray[np.bool_]) -> FilterPlan:
    """Return the numbers of filter bits that take the least room."""
    if not len(leads):
        return FilterPlan(np.zeros(0, np.int32), np.zeros(1, np.uint8))
    cuts = np.unique(np.quantile(leads, np.arange(1, BUCKETS) / BUCKETS, method="nearest"))
    buckets = np.searchsorted(cuts, leads, side="right")
    counts = np.bincount(buckets, minlength=len(cuts) + 1)
    wrong = np.bincount(buckets[answers], minlength=len(cuts) + 1)
    bits = np.arange(MAX_BITS + 1)
    room = wrong[:, None] * (bits + 1) + (counts - wrong)[:, None] * 0.5**bits
    chosen = np.where(wrong == 0, ALWAYS_RIGHT, room.argmin(axis=1))
    return FilterPlan(cuts.astype(np.int32), chosen.astype(np.uint8))


def _decisions(order: Order, all_asked: list[_Asked], filters: Retrieval) -> Retrieval:
    keys, answers = [], []
    for number, asked in enumerate(all_asked):
        for first in range(0, len(asked.places), BATCH_BOARDS):
            part = slice(first, first + BATCH_BOARDS)
            boards = order.at(asked.places[part])
            passed = passes(filters, boards, number, asked.bits[part])
            keys.append(boards.keys(number)[passed])
            answers.append(asked.answers[part][passed])
    return retrieval(np.concatenate(keys), np.concatenate(answers))


# --- bits by keys --------------------------------------------------------------------------------


def retrieval(keys: Words, bits: Bits) -> Retrieval:
    """Return the function that has these bits at these keys, which differ.

    Raises:
        SolvingError: if keys are given twice, with different bits.
    """
    parts = -(-len(keys) // PART)
    hashes = mix64(keys * SPREAD)
    owners = part_of(hashes, parts)
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=parts))
    words = np.zeros(len(keys) // 32 + 32 * parts + 2, np.uint64)
    columns, seeds = np.zeros(parts, np.uint16), np.zeros(parts, np.uint8)
    first = 0
    for part, chosen in enumerate(np.split(order, ends[:-1]) if parts else ()):
        for width, seed in _attempts(len(chosen)):
            starts, picks = equations(
                hashes[chosen], np.array([seed], np.uint64), np.array([width], np.uint64)
            )
            if solve_part(starts, picks, bits[chosen], width, first, words):
                break
        else:
            raise SolvingError("keys of a retrieval must differ")
        columns[part], seeds[part] = width, seed
        first += width
    return Retrieval(words[: (first >> 6) + 2].copy(), columns, seeds)


def _attempts(keys: int) -> list[tuple[int, int]]:
    """Return the numbers of columns and the seeds to try for a part, the smallest first."""
    widths = [max(WINDOW, keys + 32 + keys * more // 256) for more in range(2, 256, 2)]
    return [(width, seed) for width in widths if width <= MAX_COLUMNS for seed in range(SEEDS)]


# --- the file ------------------------------------------------------------------------------------


def write_moves(moves: DistilledMoves, path: Path) -> None:
    """Write moves to a file."""
    predictor = moves.predictor
    arrays: Arrays = {name: getattr(predictor, name) for name in ("tuples", "weights", "gains")}
    for number, question in enumerate(moves.questions):
        arrays |= {f"leads{number}": question.leads, f"bits{number}": question.bits}
    for kind, bits in (("filters", moves.filters), ("decisions", moves.decisions)):
        arrays |= {f"{kind}.{part}": getattr(bits, part) for part in ("words", "columns", "seeds")}
    little = {name: a.astype(a.dtype.newbyteorder("<"), copy=False) for name, a in arrays.items()}
    packed = [zlib.compress(array.tobytes(), 9) for array in little.values()]
    about: dict[str, Any] = {
        "rules": str(moves.rules),
        "most": moves.most,
        "covered": moves.covered,
        "radix": predictor.radix,
        "arrays": [
            [name, array.dtype.str, array.shape, len(data)]
            for (name, array), data in zip(little.items(), packed, strict=True)
        ],
    }
    text = json.dumps(about).encode()
    rest = len(text).to_bytes(4, "little") + text + b"".join(packed)
    path.write_bytes(MAGIC + zlib.crc32(rest).to_bytes(4, "little") + rest)


# --- best moves ----------------------------------------------------------------------------------


@kernel(borrows=True)
def find_best(
    keys: Words, spec: SolverSpec, afters: Lookup, error: float, boards: Words, masks: Bytes
) -> None:
    """Find the best moves of each board.

    Args:
        keys: the keys of the boards.
        spec: the rules.
        afters: the afterstates.
        error: moves whose values differ by no more are equally good.
        boards: the boards, overwritten.
        masks: bit ``d`` where direction ``d`` is best, and bit ``d + 4`` where it is legal:
            uint8 like `keys`, overwritten.
    """
    for at in range(len(keys)):
        boards[at] = board_of(keys[at], spec)
        best, mask = -np.inf, 0
        for direction in range(4):
            value = worth(boards[at], direction, spec, afters)
            if value > -np.inf:
                mask |= 16 << direction
                best = max(best, value)
        for direction in range(4):
            if mask >> (4 + direction) & 1:
                value = worth(boards[at], direction, spec, afters)
                mask |= (value >= best - error) << direction
        masks[at] = mask


# --- systems of equations ------------------------------------------------------------------------


@kernel
def solve_part(
    starts: Words, picks: Words, bits: NDArray[np.bool_], width: Int, first: Int, words: Words
) -> bool:
    """Solve the equations of a part of a retrieval; return whether that is possible.

    Args:
        starts: the first bit that each equation can take.
        picks: which of the 64 bits from there it takes; the first always.
        bits: their exclusive or.
        width: the number of bits.
        first: where the bits of the part begin in `words`.
        words: the table, to which the solution is added.
    """
    rows, right = np.zeros(width, np.uint64), np.zeros(width, np.bool_)
    for at in range(len(starts)):
        row, place, bit = picks[at], np.int64(starts[at]), bits[at]
        while row != ZERO and rows[place] != ZERO:
            row ^= rows[place]
            bit ^= right[place]
            if row != ZERO:
                shift = trailing_zeros(row)
                row >>= shift
                place += np.int64(shift)
        if row != ZERO:
            rows[place], right[place] = row, bit
        elif bit:
            return False
    window = ZERO
    for column in range(width - 1, -1, -1):
        window <<= ONE
        if rows[column] != ZERO:
            is_odd = (popcount(rows[column] & window) & ONE) != ZERO
            if is_odd != right[column]:
                window |= ONE
                target = np.uint64(first + column)
                words[target >> np.uint64(6)] |= ONE << (target & np.uint64(63))
    return True


# --- training ------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _score(
    board: Word,
    direction: Int,
    spec: SolverSpec,
    places: Places,
    radix: Int,
    weights: Vector,
    chosen: Places,
) -> np.float32:
    """Return the score of a move; note the weights that it selects."""
    after, points = slide(board, direction, spec)
    gain = len(weights) - GAINS + np.int64(min(points >> 2, np.int64(GAINS - 1)))
    chosen[direction, len(places)] = gain
    score = weights[gain]
    for number in range(len(places)):
        pattern: Int = 0
        for at in range(1, places.shape[1]):
            shift = NIBBLE * np.uint64(places[number, at])
            pattern = pattern * radix + np.int64((after >> shift) & RANKS)
        chosen[direction, number] = places[number, 0] + pattern
        score += weights[chosen[direction, number]]
    return np.float32(score)


@kernel(inline=True, borrows=True)
def _compare(mask: Int, scores: Vector, slopes: Vector) -> bool:
    """Set the slopes of the scores; return whether the first of the highest is best."""
    top, choice = np.float32(-np.inf), 0
    for k in range(4):
        if mask >> (4 + k) & 1 and scores[k] > top:
            top, choice = scores[k], k
    total, good = np.float32(0), np.float32(1e-20)
    for k in range(4):
        slopes[k] = np.exp(scores[k] - top) if mask >> (4 + k) & 1 else np.float32(0)
        total += slopes[k]
        good += slopes[k] * np.float32(mask >> k & 1)
    for k in range(4):
        slopes[k] *= np.float32(1) / total - np.float32(mask >> k & 1) / good
    return (mask >> choice & 1) == 1


@kernel
def train(
    boards: Words,
    masks: Bytes,
    spec: SolverSpec,
    places: Places,
    radix: Int,
    weights: Vector,
    squares: Vector,
    rate: np.float32,
) -> Int:
    """Learn from boards, one by one, by the cross-entropy of their best moves.

    Steps are those of AdaGrad (Duchi, Hazan & Singer, "Adaptive subgradient methods", 2011).

    Args:
        boards: the boards.
        masks: as `find_best` makes them.
        spec: the rules.
        places: for each tuple in each image the first of its weights, and its cells: int64
            `[tuples * images, 1 + cells]`.
        radix: the number of ranks.
        weights: those of tuples and, last, of gains: float32, changed.
        squares: the sum of the squared gradients of each weight, float32, changed.
        rate: the learning rate.

    Returns:
        the number of boards whose best move was predicted.
    """
    scores, slopes = np.zeros(4, np.float32), np.zeros(4, np.float32)
    chosen = np.zeros((4, len(places) + 1), np.int64)
    hits = 0
    for at in range(len(boards)):
        mask = np.int64(masks[at])
        for direction in range(4):
            if mask >> (4 + direction) & 1:
                scores[direction] = _score(
                    boards[at], direction, spec, places, radix, weights, chosen
                )
        hits += _compare(mask, scores, slopes)
        for direction in range(4):
            slope = slopes[direction]
            if abs(slope) > SURE:
                for place in chosen[direction]:
                    squares[place] += slope * slope
                    weights[place] -= rate * slope / np.sqrt(squares[place] + np.float32(1))
    return hits


if __name__ == "__main__":
    solved = solve(f"classic:size={sys.argv[1]}")
    write_moves(distil(solved, progress=print), Path(sys.argv[2]))
