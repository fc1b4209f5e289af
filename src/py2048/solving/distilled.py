"""`DistilledMoves`: the best move on every board of some rules, in a small file.

A predictor guesses the order of the moves; what it gets wrong is stored. The first question about
a board is whether another move than the first in that order is best. A *filter* says no for most
boards where the answer is no and maybe for all others; where it says maybe, a *decision* is stored.
The more certain the predictor is, by the lead of the first score over the second, the more bits the
filter has. Where the answer is yes the same is asked about the second move, and then the third.

No board is stored. So a board that no game meets gets a move like any other, which may not be best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError, RulesError, SolvingError
from py2048.ntuple.network import objective_key
from py2048.rules import Rules
from py2048.solving.files import Arrays, read_arrays, write_arrays
from py2048.solving.predictor import Predictor, images, lines
from py2048.solving.retrieval import Retrieval

MAGIC = b"py2048 moves 1\n"
"""The first bytes of a file."""

SHIPPED = Path(__file__).resolve().parent / "data"

NEVER = 255
"""As a number of filter bits: the predictor is right on all boards with such a lead."""

QUESTIONS = 3
PORTION = 1 << 14

ILLEGAL = np.int32(-(2**30))
"""Less than any score of a legal move."""

NO_OTHER = np.int32(2**30)
"""More than any lead."""

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Leads = NDArray[np.int32]


# --- boards --------------------------------------------------------------------------------------


@cache
def _next_cells(rows: int, columns: int, direction: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of neighbouring cells, the one that the direction points to first."""
    return tuple(pair for cells in lines(rows, columns, direction) for pair in pairwise(cells))


@cache
def _directions(rows: int, columns: int) -> Bytes:
    """Return what each direction on an image is on the board itself: uint8 `[images, 4]`."""
    pairs = [set(_next_cells(rows, columns, direction)) for direction in range(4)]
    return np.array(
        [
            [
                next((d for d in range(4) if (image[a], image[b]) in pairs[d]), direction)
                for direction in range(4)
                for a, b in [next(iter(_next_cells(rows, columns, direction)), (0, 0))]
            ]
            for image in images(rows, columns)
        ],
        np.uint8,
    )


def ranks_of(boards: Words, cells: int) -> NDArray[np.int64]:
    """Return the ranks on packed boards: int64 `[cells, boards]`."""
    return np.stack([boards >> np.uint64(4 * cell) & np.uint64(15) for cell in range(cells)]).view(
        np.int64
    )


def canonical(boards: Words, rows: int, columns: int) -> tuple[Words, NDArray[np.intp]]:
    """Return the least image of packed boards, and which image it is."""
    ranks = ranks_of(boards, rows * columns).view(np.uint64)
    words = np.zeros((len(images(rows, columns)), len(boards)), np.uint64)
    for number, cells in enumerate(images(rows, columns)):
        for place, cell in enumerate(cells):
            words[number] |= ranks[cell] << np.uint64(4 * place)
    chosen = words.argmin(axis=0)
    return words[chosen, np.arange(len(boards))], chosen


def legal_moves(ranks: NDArray[np.int64], rows: int, columns: int) -> NDArray[np.bool_]:
    """Return which directions are legal: bool `[boards, 4]`."""
    legal = np.zeros((ranks.shape[1], 4), np.bool_)
    for direction in range(4):
        for near, far in _next_cells(rows, columns, direction):
            moves = (ranks[near] == 0) | (ranks[near] == ranks[far])
            legal[:, direction] |= moves & (ranks[far] != 0)
    return legal


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
        ranks = ranks_of(boards, rows * columns)
        legal = legal_moves(ranks, rows, columns)
        scores = np.where(legal, predictor.scores(ranks, rows, columns), ILLEGAL)
        moves = np.argsort(-scores, axis=1, kind="stable")
        return cls(boards, moves, np.take_along_axis(scores, moves, axis=1))

    def at(self, places: NDArray[np.intp]) -> Order:
        """Return the order for some of the boards."""
        return Order(self.boards[places], self.moves[places], self.scores[places])

    def leads(self, question: int) -> Leads:
        """Return by how much each score leads over the next; `NO_OTHER` if no other is legal."""
        scores, others = self.scores[:, question], self.scores[:, question + 1]
        return np.where(others == ILLEGAL, NO_OTHER, scores - others)

    def keys(self, question: int, bit: int = 0) -> Words:
        """Return the keys of a bit of the filter, or of the decision, of a question."""
        return self.boards << np.uint64(6) | np.uint64(question << 4 | bit)


@dataclass(frozen=True, eq=False)
class Question:
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
        found[leads == NO_OTHER] = NEVER
        return found


def passes(filters: Retrieval, order: Order, number: int, bits: Bytes) -> NDArray[np.bool_]:
    """Return for which boards the filter says maybe."""
    passed: NDArray[np.bool_] = bits != NEVER
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
        questions: Sequence[Question],
        filters: Retrieval,
        decisions: Retrieval,
    ) -> None:
        self.rules, self.most, self.covered = rules, most, covered
        self.predictor, self.questions = predictor, tuple(questions)
        self.filters, self.decisions = filters, decisions

    def serves(self, rules: Rules) -> bool:
        """Whether games under these rules meet the same boards, with the same best moves."""
        return _key(rules) == _key(self.rules)

    def best(self, board: Board) -> Direction | None:
        """Return a best move, `None` at an end.

        Args:
            board: a board whose sum is not more than `covered`.

        Raises:
            BoardError: if the board is known to be one that no game meets.
        """
        tiles = [tile for row in board.rows for tile in row]
        if board.sum > self.covered or not set(tiles).intersection(self._new_tiles):
            line = " / ".join(str(board).splitlines())
            raise BoardError(f"no game under {self.rules.name} meets the board {line}")
        if not board.can_move():
            return None
        ranks = (tile.bit_length() - 1 if tile else 0 for tile in tiles)
        packed = sum(rank << 4 * cell for cell, rank in enumerate(ranks))
        return Direction(int(self.choose(np.array([packed], np.uint64))[0]))

    @property
    def _new_tiles(self) -> set[int]:
        """The tiles of which each board has one."""
        return {*self.rules.spawn_weights.tiles, *self.rules.start_weights.tiles}

    def is_open(self, boards: Words) -> NDArray[np.bool_]:
        """Return whether packed boards have a move: bool like `boards`."""
        rows, columns = self.rules.shape
        legal = legal_moves(ranks_of(boards, rows * columns), rows, columns)
        return np.asarray(legal.any(axis=1))

    def covers(self, board: Board) -> bool:
        """Whether the best move on a board is here, if games meet it at all."""
        return board.sum <= self.covered or board.sum > self.most

    def is_covered(self, boards: Words) -> NDArray[np.bool_]:
        """Return whether the best moves on packed boards are here: bool like `boards`."""
        ranks = ranks_of(boards, self.rules.cells)
        sums: NDArray[np.int64] = ((1 << ranks) * (ranks > 0)).sum(axis=0)
        is_covered: NDArray[np.bool_] = sums <= self.covered
        return is_covered

    def choose(self, boards: Words) -> Bytes:
        """Return a best move on each packed board that has one: uint8 like `boards`."""
        chosen = np.empty(len(boards), np.uint8)
        for first in range(0, len(boards), PORTION):
            part = slice(first, first + PORTION)
            chosen[part] = self._choose(boards[part])
        return chosen

    def _choose(self, boards: Words) -> Bytes:
        rows, columns = self.rules.shape
        folded, images = canonical(boards, rows, columns)
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
        directions: Bytes = _directions(rows, columns)[images, moves]
        return directions

    # --- files -----------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Write the moves to a file.

        Raises:
            SolvingError: if it cannot be written.
        """
        about = {
            "rules": str(self.rules),
            "most": self.most,
            "covered": self.covered,
            "radix": self.predictor.radix,
        }
        write_arrays(path, MAGIC, about, self._arrays())

    def _arrays(self) -> Arrays:
        names = ("tuples", "weights", "gains")
        arrays: Arrays = {name: getattr(self.predictor, name) for name in names}
        for number, question in enumerate(self.questions):
            arrays |= {f"leads{number}": question.leads, f"bits{number}": question.bits}
        return arrays | self.filters.arrays("filters.") | self.decisions.arrays("decisions.")

    @classmethod
    def load(cls, path: Path | str) -> DistilledMoves:
        """Return the moves in a file.

        Raises:
            SolvingError: if there are none, or it is damaged.
        """
        if (found := read_arrays(path, MAGIC)) is None:
            raise SolvingError(f"{path} holds no distilled moves, or is damaged: make it again")
        try:
            return cls._of(*found)
        except (KeyError, TypeError, ValueError, RulesError) as error:
            raise SolvingError(f"{path} cannot be read: {error}") from None

    @classmethod
    def _of(cls, about: dict[str, Any], arrays: Arrays) -> DistilledMoves:
        questions = [Question(arrays[f"leads{n}"], arrays[f"bits{n}"]) for n in range(QUESTIONS)]
        filters, decisions = (
            Retrieval.from_arrays(arrays, prefix) for prefix in ("filters.", "decisions.")
        )
        predictor = Predictor(arrays["tuples"], about["radix"], arrays["weights"], arrays["gains"])
        rules, sums = Rules.parse(about["rules"]), (about["most"], about["covered"])
        return cls(rules, *sums, predictor, questions, filters, decisions)


def _key(rules: Rules) -> tuple[object, ...]:
    """Return what decides the best moves, and the boards that games meet."""
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


def shipped_tables() -> list[Path]:
    """Return the distilled tables that come with py2048."""
    return sorted(SHIPPED.glob("*.endings"))
