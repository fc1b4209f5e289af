"""`DistilledMoves`: the best move on every board of some rules, in a small file.

A predictor guesses the order of the moves; what it gets wrong is stored. The first question about
a board is whether another move than the first in that order is best. A *filter* says "no" for most
boards where the answer is so, and "maybe" for all others, where a *decision* is stored. The more
certain the predictor is, by the lead of the first score over the second, the more bits the filter
has. Where the answer is yes the same is asked about the second move, and then the third.

No board is stored. So a board that no game meets gets a move like any other, which may not be best.
``scripts/make_best_moves.py`` makes the files.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RulesError, SolvingError, os_errors_as
from py2048.core.rules import Rules
from py2048.engine._batch_kernels import slide_boards
from py2048.engine.boards import mix64
from py2048.players.ntuple.network import objective_key

MAGIC = b"py2048 moves 1\n"
"""The first bytes of a file.

Then follow the CRC-32 of the rest and the length of the header in 4 bytes each, the header as JSON,
and arrays, packed by zlib, little-endian.
"""

SHIPPED = Path(__file__).resolve().parent / "data"

ALWAYS_RIGHT = 255
"""As a number of filter bits: the predictor is right on all boards with such a lead."""

QUESTIONS = 3
BATCH_BOARDS = 1 << 14
"""How many boards are looked up at once."""

GAINS = 512
"""How many gains have a weight: a quarter of the points of a move, and larger ones together."""

WINDOW = 64

ILLEGAL = np.int32(-(2**30))
"""Less than any score of a legal move."""

ONLY_MOVE = np.int32(2**30)
"""More than any lead."""

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Leads = NDArray[np.int32]
Ranks = NDArray[np.uint8]
Points = NDArray[np.int64]
Bits = NDArray[np.bool_]
Arrays = dict[str, NDArray[Any]]


# --- boards --------------------------------------------------------------------------------------


@cache
def images(rows: int, columns: int) -> NDArray[np.intp]:
    """Return which cell of a board comes to each cell, for all symmetries: `[images, cells]`.

    Bit 0 of an image's number says that it is flipped, bit 1 mirrored before that, bit 2 transposed
    at first.
    """
    cells = np.arange(rows * columns).reshape(rows, columns)
    turned = (cells, cells.T) if rows == columns else (cells,)
    found = [b for t in turned for a in (t, t[:, ::-1]) for b in (a, a[::-1])]
    return np.array([image.reshape(-1) for image in found])


def directions_on(numbers: NDArray[np.intp]) -> Bytes:
    """Return what each direction on images is on the board itself: uint8 `[images, 4]`."""
    ways, images = np.arange(4), numbers[:, None]
    unturned = ways ^ np.where(ways < 2, images & 1, images >> 1 & 1)
    return (unturned ^ (images & 4) >> 1).astype(np.uint8)


def ranks_of(boards: Words, cells: int) -> Ranks:
    """Return the ranks on packed boards: uint8 `[boards, cells]`."""
    shifts = np.arange(0, 4 * cells, 4, dtype=np.uint64)
    return (boards[:, None] >> shifts & np.uint64(15)).astype(np.uint8)


def canonical(boards: Words, rows: int, columns: int) -> tuple[Words, NDArray[np.intp]]:
    """Return the least image of packed boards, and which image it is."""
    shifts = np.arange(0, 4 * rows * columns, 4, dtype=np.uint64)
    ranks = ranks_of(boards, rows * columns).astype(np.uint64)
    words = np.bitwise_or.reduce(ranks[:, images(rows, columns)] << shifts, axis=2)
    chosen = words.argmin(axis=1)
    return words[np.arange(len(boards)), chosen], chosen


def afterstates(ranks: Ranks, rows: int, columns: int) -> tuple[Ranks, Points]:
    """Slide boards in every direction, each tile merging once at most.

    Returns:
        The afterstates, uint8 `[4, boards, cells]`, and the points, int64 `[4, boards]`, -1 for an
        illegal direction.
    """
    after, points = np.repeat(ranks[None], 4, axis=0), np.empty((4, len(ranks)), np.int64)
    for direction in range(4):
        ways = np.full(len(ranks), direction, np.uint8)
        slide_boards(after[direction], ways, rows, columns, False, points[direction])
    return after, points


# --- the predictor -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Predictor:
    """Guesses the best move.

    Attributes:
        tuples: the cells of each tuple, int64 `[tuples, cells]`.
        radix: the number of ranks.
        weights: those of each pattern of a tuple, int8 `[tuples, radix ** cells]`.
        gains: those of the points of a move, by their quarter: int8 `[GAINS]`.
    """

    tuples: NDArray[np.int64]
    radix: int
    weights: NDArray[np.int8]
    gains: NDArray[np.int8]

    def scores(self, after: Ranks, points: Points, rows: int, columns: int) -> NDArray[np.int32]:
        """Return the scores of the directions: int32 `[boards, 4]`.

        Args:
            after: what `afterstates` returns.
            points: likewise.
            rows: the number of rows.
            columns: the number of columns.
        """
        gains = self.gains[np.minimum(points >> 2, GAINS - 1)]
        scores: NDArray[np.int32] = gains.astype(np.int32)
        for cells, weights in zip(self.tuples, self.weights, strict=True):
            for image in images(rows, columns):
                pattern = np.zeros(points.shape, np.int64)
                for cell in cells:
                    pattern = pattern * self.radix + after[..., image[cell]]
                scores += weights[pattern]
        return scores.T


# --- bits by keys --------------------------------------------------------------------------------


SPREAD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_MASK = np.uint64(63)


@dataclass(frozen=True)
class Retrieval:
    """A static function from keys to single bits that does not store the keys.

    Each key selects 64 neighbouring bits of a table, and some of these: the exclusive or of those
    is its bit. The table solves the system of linear equations that the keys make [1], in parts of
    some thousand keys, so that it is a few percent larger than the number of keys. A key that was
    not among them gets a bit that is as good as random.

    [1] Dillinger & Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021.

    Attributes:
        words: the table, 64 bits to a word, the lowest first, and one word more.
        columns: how many bits each part has, uint16.
        seeds: the seed of each part, uint8.
    """

    words: NDArray[np.uint64]
    columns: NDArray[np.uint16]
    seeds: NDArray[np.uint8]

    def get(self, keys: Words) -> Bits:
        """Return the bits of keys."""
        if not len(self.columns):
            return np.zeros(len(keys), np.bool_)
        hashes = mix64(keys * SPREAD)
        owners = part_of(hashes, len(self.columns))
        widths, seeds = self.columns.astype(np.uint64), self.seeds.astype(np.uint64)
        firsts = np.cumsum(widths) - widths
        starts, picks = equations(hashes, seeds[owners], widths[owners])
        places = starts + firsts[owners]
        at, shift = (places >> _SIX).astype(np.int64), places & _MASK
        window = self.words[at] >> shift | (self.words[at + 1] << _ONE) << (_MASK - shift)
        bits: Bits = (np.bitwise_count(window & picks) & 1).astype(np.bool_)
        return bits


def part_of(hashes: Words, parts: int) -> NDArray[np.int64]:
    """Return the part of a retrieval that each key belongs to."""
    return ((hashes >> _HALF) * np.uint64(parts) >> _HALF).astype(np.int64)


def equations(hashes: Words, seeds: Words, widths: Words) -> tuple[Words, Words]:
    """Return where the 64 bits begin that each key selects, and which of them it takes."""
    mixed = mix64(hashes + seeds * SPREAD)
    starts = (mixed & _LOW) * (widths - np.uint64(WINDOW - 1)) >> _HALF
    return starts, mix64(mixed) | _ONE


# --- moves ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Order:
    """The moves in the order that a predictor prefers.

    Attributes:
        boards: the boards in their canonical image.
        moves: the directions there, the legal ones first, whole numbers `[boards, 4]`.
        scores: their scores, int32 `[boards, 4]`; `ILLEGAL` for illegal ones.
    """

    boards: Words
    moves: NDArray[np.signedinteger[Any]]
    scores: NDArray[np.int32]

    @classmethod
    def of(cls, predictor: Predictor, boards: Words, rows: int, columns: int) -> Order:
        """Return the order for boards in their canonical image."""
        after, points = afterstates(ranks_of(boards, rows * columns), rows, columns)
        scores = predictor.scores(after, points, rows, columns)
        scores[points.T < 0] = ILLEGAL
        moves = np.argsort(-scores, axis=1, kind="stable")
        return cls(boards, moves, np.take_along_axis(scores, moves, axis=1))

    def at(self, places: NDArray[np.intp]) -> Order:
        """Return the order for some of the boards."""
        return Order(self.boards[places], self.moves[places], self.scores[places])

    def leads(self, question: int) -> Leads:
        """Return by how much each score leads over the next; `ONLY_MOVE` if no other is legal."""
        scores, others = self.scores[:, question], self.scores[:, question + 1]
        return np.where(others == ILLEGAL, ONLY_MOVE, scores - others)

    def keys(self, question: int, bit: int = 0) -> Words:
        """Return the keys of a bit of the filter, or of the decision, of a question."""
        return self.boards << np.uint64(6) | np.uint64(question << 4 | bit)


@dataclass(frozen=True, eq=False)
class FilterPlan:
    """How many bits the filter has, by the lead of the score.

    Attributes:
        leads: ascending, int32.
        bits: the number of bits below the first of the leads, between the first and second, and so
            on; 0 where the decision is stored for all boards: uint8, one longer.
    """

    leads: Leads
    bits: Bytes

    def bits_of(self, leads: Leads) -> Bytes:
        """Return the numbers of bits for leads."""
        found = self.bits[np.searchsorted(self.leads, leads, side="right")]
        found[leads == ONLY_MOVE] = ALWAYS_RIGHT
        return found


def passes(filters: Retrieval, order: Order, number: int, bits: Bytes) -> NDArray[np.bool_]:
    """Return for which boards the filter says maybe."""
    passed: NDArray[np.bool_] = bits != ALWAYS_RIGHT
    for bit in range(int(bits[passed].max(initial=0))):
        asked = np.flatnonzero(passed & (bits > bit))
        passed[asked] = filters.get(order.keys(number, bit)[asked])
    return passed


class DistilledMoves:
    """The best move on every board that games under some rules meet.

    Attributes:
        rules: the rules; the goal is the score.
        most: the largest sum of a board.
        covered: boards of larger sums are left out.
    """

    def __init__(
        self,
        rules: Rules,
        most: int,
        covered: int,
        predictor: Predictor,
        questions: Sequence[FilterPlan],
        filters: Retrieval,
        decisions: Retrieval,
    ) -> None:
        self.rules, self.most, self.covered = rules, most, covered
        self.predictor, self.questions = predictor, tuple(questions)
        self.filters, self.decisions = filters, decisions

    def serves(self, rules: Rules) -> bool:
        """Return whether games under these rules meet the same boards, with the same best moves."""
        return boards_key(rules) == boards_key(self.rules)

    def best(self, board: Board) -> Direction | None:
        """Return a best move, `None` at an end.

        Args:
            board: a board whose sum is not more than `covered`.

        Raises:
            BoardError: if the board is known to be one that no game meets.
        """
        tiles = [tile for row in board.rows for tile in row]
        new = {*self.rules.spawn_weights.tiles, *self.rules.start_weights.tiles}  # each has one
        if board.sum > self.covered or not new.intersection(tiles):
            line = " / ".join(str(board).splitlines())
            raise BoardError(f"no game under {self.rules.name} meets the board {line}")
        if not board.can_move():
            return None
        ranks = (tile.bit_length() - 1 if tile else 0 for tile in tiles)
        packed = sum(rank << 4 * cell for cell, rank in enumerate(ranks))
        return Direction(int(self.choose(np.array([packed], np.uint64))[0]))

    def covers(self, board: Board) -> bool:
        """Return whether the best move on a board is here, if games meet it at all."""
        return board.sum <= self.covered or board.sum > self.most

    def choose(self, boards: Words) -> Bytes:
        """Return a best move on each packed board that has one: uint8 like `boards`."""
        chosen = np.empty(len(boards), np.uint8)
        for first in range(0, len(boards), BATCH_BOARDS):
            part = slice(first, first + BATCH_BOARDS)
            chosen[part] = self._choose(boards[part])
        return chosen

    def _choose(self, boards: Words) -> Bytes:
        rows, columns = self.rules.shape
        folded, numbers = canonical(boards, rows, columns)
        order = Order.of(self.predictor, folded, rows, columns)
        chosen = np.zeros(len(boards), np.int64)
        asked = np.arange(len(boards))
        for number, question in enumerate(self.questions):
            part = order.at(asked)
            maybe = passes(self.filters, part, number, question.bits_of(part.leads(number)))
            asked = asked[maybe]
            asked = asked[self.decisions.get(part.keys(number)[maybe])]
            chosen[asked] = number + 1
        moves = np.take_along_axis(order.moves, chosen[:, None], axis=1)[:, 0]
        directions: Bytes = directions_on(numbers)[np.arange(len(boards)), moves]
        return directions

    @classmethod
    def load(cls, path: Path | str) -> DistilledMoves:
        """Return the moves in a file.

        Raises:
            SolvingError: if there are none, or it is damaged.
        """
        with os_errors_as(SolvingError, str(path)):
            data = Path(path).read_bytes()
        start = len(MAGIC) + 4
        check, rest = data[len(MAGIC) : start], data[start:]
        if data[: len(MAGIC)] != MAGIC or check != zlib.crc32(rest).to_bytes(4, "little"):
            raise SolvingError(f"{path} holds no distilled moves, or is damaged: make it again")
        try:
            return cls._of(rest)
        except (KeyError, TypeError, ValueError, RulesError) as error:
            raise SolvingError(f"{path} cannot be read: {error}") from None

    @classmethod
    def _of(cls, rest: bytes) -> DistilledMoves:
        place = 4 + int.from_bytes(rest[:4], "little")
        about, arrays = json.loads(rest[4:place]), Arrays()
        for name, kind, shape, length in about["arrays"]:
            raw = zlib.decompress(rest[place : place + length])
            array = np.frombuffer(raw, np.dtype(kind)).reshape(shape)
            arrays[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
            place += length
        return cls(
            Rules.parse(about["rules"]),
            about["most"],
            about["covered"],
            Predictor(arrays["tuples"], about["radix"], arrays["weights"], arrays["gains"]),
            [FilterPlan(arrays[f"leads{n}"], arrays[f"bits{n}"]) for n in range(QUESTIONS)],
            *(
                Retrieval(*(arrays[f"{kind}.{part}"] for part in ("words", "columns", "seeds")))
                for kind in ("filters", "decisions")
            ),
        )


def boards_key(rules: Rules) -> tuple[object, ...]:
    """Return what decides values and best moves, and the boards that games meet."""
    return *objective_key(rules), rules.start


# --- what comes with py2048 -----------------------------------------------------------------------


@lru_cache(maxsize=64)
def shipped_moves(rules: Rules) -> DistilledMoves | None:
    """Return the best moves for rules, or for rules that play like them; otherwise nothing."""
    rows, columns = rules.shape
    path = SHIPPED / f"{rows}x{columns}.moves"
    if not path.is_file():
        return None
    moves = _loaded(path)
    return moves if moves.serves(rules) else None


@cache
def _loaded(path: Path) -> DistilledMoves:
    return DistilledMoves.load(path)
