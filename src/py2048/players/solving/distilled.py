"""`DistilledMoves`: the best move on every reachable board, stored in a small file.

A predictor ranks the moves on each board, and the file stores only the predictor's errors. A
*filter* recognises most boards on which the predictor's first choice is right. For each board that
the filter does not recognise, the file stores a *decision*: one bit, which is set if the
predictor's first choice is wrong. The predictor's second and third choices have filters and
decisions of their own.

The more confident the predictor is, the more bits the filter spends on a board. The predictor's
confidence (its *lead*) is the difference between its highest and its second-highest score.

The file does not contain any boards, so it cannot recognise an unreachable board, and may return a
bad move for it. ``scripts/make_best_moves.py`` builds the files.
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
from py2048.core.errors import RulesError, SolvingError, os_errors_as
from py2048.core.rules import Rules
from py2048.engine._batch_kernels import slide_each
from py2048.engine.boards import mix64
from py2048.players.ntuple import layout
from py2048.players.solving.goal import pack_board, refusal

MAGIC = b"py2048 moves 1\n"
"""First bytes of a moves file, which are followed by:

- the CRC-32 of the following parts (4 bytes)
- the length of the header (4 bytes)
- the JSON header
- the arrays, little-endian and compressed with zlib
"""

SHIPPED = Path(__file__).resolve().parent / "data"

ALWAYS_RIGHT = 255
"""Marks boards for which no filter is needed, because the predictor is always right."""

QUESTIONS = 3
BATCH_BOARDS = 1 << 14
"""Number of boards that are looked up at once."""

GAINS = 512
"""Number of predictor weights for a move's points, with one weight per 4 points."""

WINDOW = 64

ILLEGAL = np.int32(-(2**30))
"""Score of an illegal move."""

ONLY_MOVE = np.int32(2**30)
"""Score lead of a move that is the only legal one."""

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
    """Return the cell permutation of each symmetry: `[images, cells]`.

    The bits of an image's number encode its symmetry: bit 2 transposes the board, and then bit 1
    mirrors it and bit 0 flips it.
    """
    found = np.array(list(layout.images(rows, columns)))
    return found[[0, 2, 1, 3, 4, 5, 6, 7][: len(found)]]


def directions_on(numbers: NDArray[np.intp]) -> Bytes:
    """Map directions on symmetric images back to the original board: uint8 `[images, 4]`."""
    ways, images = np.arange(4), numbers[:, None]
    unturned = ways ^ np.where(ways < 2, images & 1, images >> 1 & 1)
    return (unturned ^ (images & 4) >> 1).astype(np.uint8)


def unpack_boards(boards: Words, cells: int) -> Ranks:
    """Return the ranks of packed boards: uint8 `[boards, cells]`."""
    shifts = np.arange(0, 4 * cells, 4, dtype=np.uint64)
    return (boards[:, None] >> shifts & np.uint64(15)).astype(np.uint8)


def canonical(boards: Words, rows: int, columns: int) -> tuple[Words, NDArray[np.intp]]:
    """Return each packed board's canonical form, and the symmetry that produces it."""
    shifts = np.arange(0, 4 * rows * columns, 4, dtype=np.uint64)
    ranks = unpack_boards(boards, rows * columns).astype(np.uint64)
    words = np.bitwise_or.reduce(ranks[:, images(rows, columns)] << shifts, axis=2)
    chosen = words.argmin(axis=1)
    return words[np.arange(len(boards)), chosen], chosen


# --- the predictor -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Predictor:
    """A linear model that predicts the best move.

    Attributes:
        tuples: Cells of each tuple, int64 `[tuples, cells]`.
        radix: Number of ranks.
        weights: Weight of each pattern of each tuple, int8 `[tuples, radix ** cells]`.
        gains: Weight for a move's points, indexed by ``points // 4``, int8 `[GAINS]`.
    """

    tuples: NDArray[np.int64]
    radix: int
    weights: NDArray[np.int8]
    gains: NDArray[np.int8]

    def scores(self, after: Ranks, points: Points, rows: int, columns: int) -> NDArray[np.int32]:
        """Return the score of each direction: int32 `[boards, 4]`.

        Args:
            after: Afterstates as ranks, uint8 `[boards, 4, cells]`.
            points: Points of each slide, int64 `[boards, 4]`.
            rows: Number of rows.
            columns: Number of columns.
        """
        gains = self.gains[np.minimum(points >> 2, GAINS - 1)]
        scores: NDArray[np.int32] = gains.astype(np.int32)
        for cells, weights in zip(self.tuples, self.weights, strict=True):
            for image in images(rows, columns):
                pattern = np.zeros(points.shape, np.int64)
                for cell in cells:
                    pattern = pattern * self.radix + after[..., image[cell]]
                scores += weights[pattern]
        return scores


# --- bits by keys --------------------------------------------------------------------------------


SPREAD = np.uint64(0xD6E8FEB86659FD93)
_ONE, _SIX, _MASK, _HALF, _LOW = map(np.uint64, (1, 6, 63, 32, 2**32 - 1))


@dataclass(frozen=True)
class Retrieval:
    """A static map from keys to bits, stored without the keys.

    The hash of a key selects some bits in a 64-bit window of a table, and the key's value is the
    XOR of these bits. The table is the solution of a system of linear equations with one equation
    per key [1], and needs only a few percent more bits than keys. The table consists of parts for a
    few thousand keys each, which are solved separately. Keys that are not in the map yield
    pseudorandom bits.

    [1] Dillinger & Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021.

    Attributes:
        words: The table, with 64 bits per word, least significant bit first, and one word of
            padding.
        columns: Size of each part of the table in bits, uint16.
        seeds: Hash seed of each part, uint8.
    """

    words: NDArray[np.uint64]
    columns: NDArray[np.uint16]
    seeds: NDArray[np.uint8]

    def get(self, keys: Words) -> Bits:
        """Return the bit of each key."""
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
    """Return the index of each key's part of the table."""
    return ((hashes >> _HALF) * np.uint64(parts) >> _HALF).astype(np.int64)


def equations(hashes: Words, seeds: Words, widths: Words) -> tuple[Words, Words]:
    """Return the start of each key's 64-bit window, and a mask of the bits to XOR."""
    mixed = mix64(hashes + seeds * SPREAD)
    starts = (mixed & _LOW) * (widths - np.uint64(WINDOW - 1)) >> _HALF
    return starts, mix64(mixed) | _ONE


# --- moves ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Order:
    """The moves on several boards, ranked by a predictor.

    Attributes:
        boards: Canonical boards.
        moves: Directions from best to worst, with illegal directions last, integers `[boards, 4]`.
        scores: Scores of the moves, int32 `[boards, 4]`; illegal moves have the score `ILLEGAL`.
    """

    boards: Words
    moves: NDArray[np.signedinteger[Any]]
    scores: NDArray[np.int32]

    @classmethod
    def of(cls, predictor: Predictor, boards: Words, rows: int, columns: int) -> Order:
        """Sort the moves of canonical boards."""
        ranks = unpack_boards(boards, rows * columns)
        points = np.empty((len(boards), 4), np.int64)
        after = np.empty((len(boards), 4, rows * columns), np.uint8)
        slide_each(ranks, rows, columns, False, after, points)
        scores = predictor.scores(after, points, rows, columns)
        scores[points < 0] = ILLEGAL
        moves = np.argsort(-scores, axis=1, kind="stable")
        return cls(boards, moves, np.take_along_axis(scores, moves, axis=1))

    def at(self, places: NDArray[np.intp]) -> Order:
        """Select boards by index."""
        return Order(self.boards[places], self.moves[places], self.scores[places])

    def leads(self, question: int) -> Leads:
        """Return how far each score exceeds the next, or `ONLY_MOVE` if no move follows."""
        scores, others = self.scores[:, question], self.scores[:, question + 1]
        return np.where(others == ILLEGAL, ONLY_MOVE, scores - others)

    def keys(self, question: int, bit: int = 0) -> Words:
        """Return the key with which to look up each board's decision or filter bit."""
        return self.boards << np.uint64(6) | np.uint64(question << 4 | bit)


@dataclass(frozen=True, eq=False)
class FilterPlan:
    """Maps the predictor's confidence to a number of filter bits.

    Attributes:
        leads: Confidence thresholds (score differences), ascending, int32.
        bits: Number of filter bits for each range between thresholds, uint8. If a range has no
            filter bits, the file stores a decision for each of its boards.
    """

    leads: Leads
    bits: Bytes

    def bits_of(self, leads: Leads) -> Bytes:
        """Return the number of filter bits for each board, given the predictor's confidence."""
        found = self.bits[np.searchsorted(self.leads, leads, side="right")]
        found[leads == ONLY_MOVE] = ALWAYS_RIGHT
        return found


def passes(filters: Retrieval, order: Order, number: int, bits: Bytes) -> NDArray[np.bool_]:
    """Return a mask of the boards on which the filter suspects an error."""
    passed: NDArray[np.bool_] = bits != ALWAYS_RIGHT
    for bit in range(int(bits[passed].max(initial=0))):
        asked = np.flatnonzero(passed & (bits > bit))
        passed[asked] = filters.get(order.keys(number, bit)[asked])
    return passed


@dataclass(frozen=True, eq=False)
class DistilledMoves:
    """The best move on every reachable board under one set of rules.

    Attributes:
        rules: The rules. The goal is always the score.
        most: Largest tile sum of a reachable board.
        covered: Largest tile sum for which the file contains moves.
        predictor: Ranks the moves on a board.
        questions: A `FilterPlan` for each of the predictor's first three choices.
        filters: Bits of the filters.
        decisions: Stored decisions.
    """

    rules: Rules
    most: int
    covered: int
    predictor: Predictor
    questions: Sequence[FilterPlan]
    filters: Retrieval
    decisions: Retrieval

    def serves(self, rules: Rules) -> bool:
        """Return whether the stored moves are optimal under the given rules."""
        return boards_key(rules) == boards_key(self.rules)

    def best(self, board: Board) -> Direction | None:
        """Return a best move, or `None` at the end of a game.

        Args:
            board: A board with a tile sum of at most `covered`.

        Raises:
            BoardError: If the board's tiles show that no game can reach it.
        """
        tiles = [tile for row in board.rows for tile in row]
        # Every reachable board contains a start tile or the tile of the last spawn.
        new = {*self.rules.spawn_weights.tiles, *self.rules.start_weights.tiles}
        if board.sum > self.covered or not new.intersection(tiles):
            raise refusal(self.rules, board)
        if not board.can_move():
            return None
        return Direction(int(self.choose(np.array([pack_board(board)], np.uint64))[0]))

    def covers(self, board: Board) -> bool:
        """Return whether the file has a move for a board, assuming the board is reachable."""
        return board.sum <= self.covered or board.sum > self.most

    def choose(self, boards: Words) -> Bytes:
        """Return a best move for each packed board with a legal move: uint8 `[boards]`."""
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
        """Load a moves file.

        Raises:
            SolvingError: If the file is missing or damaged.
        """
        with os_errors_as(SolvingError, str(path)):
            data = Path(path).read_bytes()
        start = len(MAGIC) + 4
        check, rest = data[len(MAGIC) : start], data[start:]
        if data[: len(MAGIC)] != MAGIC or check != zlib.crc32(rest).to_bytes(4, "little"):
            raise SolvingError(f"{path} is damaged, or is not a moves file: rebuild it")
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
    """Return the rule settings that determine reachable boards, values and best moves."""
    return *rules.objective, rules.start


# --- what comes with py2048 -----------------------------------------------------------------------


@lru_cache(maxsize=64)
def shipped_moves(rules: Rules) -> DistilledMoves | None:
    """Return the bundled moves for these rules or for equivalent rules, or None."""
    rows, columns = rules.shape
    path = SHIPPED / f"{rows}x{columns}.moves"
    if not path.is_file():
        return None
    moves = _loaded(path)
    return moves if moves.serves(rules) else None


_loaded = cache(DistilledMoves.load)
