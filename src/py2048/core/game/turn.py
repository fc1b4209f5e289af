"""Turns, spawns, scores and outcomes: how a game proceeds under its rules.

The random number generator in `py2048.core.rng` determines the start tiles and all spawned tiles.

Turns are stored as text, in records and in the store. A legal turn is a direction letter (``U``,
``D``, ``L`` or ``R``), the rank of the spawned tile and its row-major cell number. The numbers are
base-64 digits (``0-9``, ``A-Z``, ``a-z``, ``-`` and ``_``), so ``L1C`` is left, then a 2 on cell
12. On boards of more than 64 cells, a cell number takes two digits. An illegal attempt that cost
points is written as a lower-case direction letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from py2048.core import rng
from py2048.core.board import Board, Cell, Slide, checked_cell
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RecordError, shown
from py2048.core.rules import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    MovePoints,
    RandomSpawn,
    Rules,
    is_tile,
)

Draws = Callable[[int, Board], int]
"""A function that takes a counter and a board and returns a 64-bit random number (a *draw*).

Spawned tiles are drawn with the ply as the counter and the afterstate as the board. Start tiles use
counters from `rng.START`. Most draw functions ignore the board.
"""


class Spawn(NamedTuple):
    """A tile that appeared.

    Attributes:
        tile: Value of the tile.
        cell: Position of the tile, as ``(row, column)``.
    """

    tile: int
    cell: Cell


class Turn(NamedTuple):
    """A slide, and the tile that appeared afterwards.

    Attributes:
        direction: The direction the player chose.
        slide: The result of the slide.
        spawn: The new tile, or `None` for an illegal attempt that the rules penalise.
    """

    direction: Direction
    slide: Slide
    spawn: Spawn | None

    @property
    def legal(self) -> bool:
        """Whether the slide changed the board."""
        return self.spawn is not None

    @property
    def board(self) -> Board:
        """The board after the turn."""
        if self.spawn is None:
            return self.slide.board
        return self.slide.board._with_valid_tile(self.spawn.cell, self.spawn.tile)


class Outcome(Enum):
    """Whether a game is in progress and, if not, how it ended."""

    PLAYING = "playing"
    """A move is possible."""

    WON = "won"
    """The game ended with the target tile on the board."""

    LOST = "lost"
    """The game ended without the target."""

    ENDED = "ended"
    """The game ended, and the rules have no target tile."""


class Position(NamedTuple):
    """The state of a game at its start or after a turn.

    Attributes:
        turn: The turn that led to this position, or `None` at the start.
        turn_count: Number of turns played, including illegal attempts that cost points.
        board: The board in this position.
        score: Points so far.
        ply: Number of legal turns played.
        max_tile: The largest tile on the board, or 0.
        has_won: Whether the target tile is on the board; under most rules, the game may continue.
        legal: The legal directions; empty when the game is over.
        outcome: The outcome; `Outcome.PLAYING` until the game is over.
    """

    turn: Turn | None
    turn_count: int
    board: Board
    score: int
    ply: int
    max_tile: int
    has_won: bool
    legal: tuple[Direction, ...]
    outcome: Outcome


def start_position(rules: Rules, board: Board) -> Position:
    """Return the position before the first turn."""
    return Position(None, 0, board, 0, 0, *_prospects(rules, board))


def position_after(rules: Rules, before: Position, turn: Turn) -> Position:
    """Return the position after `turn`."""
    board, ply = turn.board, before.ply + (turn.spawn is not None)
    score = score_after(rules, before.score, turn, board)
    return Position(turn, before.turn_count + 1, board, score, ply, *_prospects(rules, board))


def _prospects(rules: Rules, board: Board) -> tuple[int, bool, tuple[Direction, ...], Outcome]:
    """Return the largest tile, whether the game is won, the legal directions and the outcome.

    A game is won even if the move that reaches the target leaves no legal move.
    """
    max_tile = board.max_tile
    has_won = rules.target is not None and max_tile >= rules.target
    legal = () if has_won and rules.ends_at_target else board.legal_directions()
    if legal:
        outcome = Outcome.PLAYING
    elif rules.target is None:
        outcome = Outcome.ENDED
    else:
        outcome = Outcome.WON if has_won else Outcome.LOST
    return max_tile, has_won, legal, outcome


def score_after(rules: Rules, score: int, turn: Turn, board: Board) -> int:
    """Return the score after a turn, given the previous score and the new board."""
    match rules.scoring:
        case MergePoints():
            return score + turn.slide.points
        case MovePoints(legal, illegal):
            return score + (legal if turn.legal else illegal)
        case BoardSum():
            return board.sum


def outcome_of(rules: Rules, board: Board) -> Outcome:
    """Return the outcome of a game whose current position is `board`."""
    return start_position(rules, board).outcome


def edge_cell(board: Board, direction: Direction) -> Cell | None:
    """Return the empty cell where an `EdgeSpawn` places its tile after a move in `direction`.

    The docstring of `EdgeSpawn` describes the order in which cells are tried. Returns `None` if no
    cell of the edge is empty, which cannot happen after a legal move.
    """
    rows, columns = board.shape
    match direction:
        case Direction.UP:
            edge = [(rows - 1, column) for column in reversed(range(columns))]
        case Direction.DOWN:
            edge = [(0, column) for column in range(columns)]
        case Direction.LEFT:
            edge = [(row, columns - 1) for row in range(rows)]
        case Direction.RIGHT:
            edge = [(row, 0) for row in reversed(range(rows))]
    return next((cell for cell in edge if not board[cell]), None)


def possible_cells(rules: Rules, afterstate: Board, direction: Direction) -> list[Cell]:
    """Return the cells where a tile can appear, in row-major order; all are equally likely.

    Args:
        rules: The rules of the game.
        afterstate: The board after the slide.
        direction: The direction of the move.
    """
    match rules.spawn:
        case RandomSpawn():
            return afterstate.empty_cells()
        case EdgeSpawn():
            cell = edge_cell(afterstate, direction)
            return [] if cell is None else [cell]


def draw_spawn(rules: Rules, afterstate: Board, direction: Direction, word: int) -> Spawn:
    """Return the spawn after a legal move.

    Args:
        rules: The rules of the game.
        afterstate: The board after the slide, with at least one empty cell.
        direction: The direction of the move, which determines an `EdgeSpawn`.
        word: The 64-bit random number that determines a random spawn.
    """
    cells = possible_cells(rules, afterstate, direction)
    assert cells, "a legal move leaves a cell where a tile can appear"
    tile = rng.pick_tile(rules.spawn.weights, word)
    return Spawn(tile, cells[rng.pick_low(word, len(cells))])


def spawn_error(rules: Rules, afterstate: Board, direction: Direction, spawn: Spawn) -> str | None:
    """Return the reason why `spawn` cannot appear on `afterstate`, or `None` if it can appear."""
    try:
        (row, column), (rows, columns) = checked_cell(spawn.cell), afterstate.shape
    except BoardError as error:
        return str(error)
    if not (0 <= row < rows and 0 <= column < columns):
        return f"cell {spawn.cell} is outside the {rows}x{columns} board"
    if not is_tile(spawn.tile) or spawn.tile not in rules.spawn_weights.tiles:
        return f"a {shown(spawn.tile)} never spawns under these rules"
    if afterstate[spawn.cell]:
        return f"a tile spawned on cell {spawn.cell}, which is occupied"
    cells = possible_cells(rules, afterstate, direction)
    if spawn.cell not in cells:
        return f"a tile spawned on cell {spawn.cell} instead of {cells[0] if cells else 'none'}"
    return None


def draw_start(rules: Rules, key: int) -> Board:
    """Return the start position that the generator draws for `key`."""
    return start_from(rules, draws_from(key))


def draws_from(key: int) -> Draws:
    """Return a function that draws numbers from the generator in ``rng.py`` with this key."""
    return lambda counter, _board: rng.draw(key, counter)


def start_from(rules: Rules, draws: Draws) -> Board:
    """Draw a start position with the random numbers from `draws`."""
    start = rules.start
    board = Board._trusted(((0,) * rules.columns,) * rules.rows)
    extra = rng.pick_high(draws(rng.START, board), start.high - start.low + 1)
    for index in range(start.low + extra):
        word, cells = draws(rng.START + 1 + index, board), board.empty_cells()
        cell = cells[rng.pick_low(word, len(cells))]
        board = board._with_valid_tile(cell, rng.pick_tile(rules.start_weights, word))
    return board


# --- turns as text -------------------------------------------------------------------------------

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

Step = tuple[Direction, Spawn | None]
"""A direction and its spawn, or `None` for an illegal attempt."""

_VALUES = {digit: value for value, digit in enumerate(DIGITS)}
_LEGAL = {direction.letter: direction for direction in Direction}
_ILLEGAL = {direction.letter.lower(): direction for direction in Direction}


def cell_digits(shape: tuple[int, int]) -> int:
    """Return the number of digits in a cell number on a board of this shape."""
    return 1 if shape[0] * shape[1] <= len(DIGITS) else 2


def encode_step(direction: Direction, spawn: Spawn | None, shape: tuple[int, int]) -> str:
    """Encode a turn on a board of the given shape."""
    if spawn is None:
        return direction.letter.lower()
    cell = _encode_cell(spawn.cell, shape)
    return direction.letter + DIGITS[spawn.tile.bit_length() - 1] + cell


@lru_cache(maxsize=4096)
def _encode_cell(cell: tuple[int, int], shape: tuple[int, int]) -> str:
    number = cell[0] * shape[1] + cell[1]
    return "".join(DIGITS[number >> (6 * k) & 63] for k in reversed(range(cell_digits(shape))))


def encode_turn(turn: Turn) -> str:
    """Encode a turn."""
    return encode_step(turn.direction, turn.spawn, turn.slide.before.shape)


def direction_of(code: str) -> Direction:
    """Return the direction of an encoded turn or illegal attempt."""
    return _LEGAL[code[0].upper()]


def decode_steps(text: str, shape: tuple[int, int]) -> Iterator[Step]:
    """Decode the turns in `text` for a board of this shape.

    Raises:
        RecordError: If the text contains a character that is not part of a turn; the message gives
            the character's position.
    """
    index, width = 0, 2 + cell_digits(shape)
    while index < len(text):
        letter = text[index]
        if letter in _ILLEGAL:
            yield _ILLEGAL[letter], None
            index += 1
            continue
        spawn = _decode_spawn(text[index + 1 : index + width], shape)
        if letter not in _LEGAL or spawn is None:
            raise RecordError(
                f"turn text {text[index : index + width]!r} at character {index + 1} is not a turn"
            )
        yield _LEGAL[letter], spawn
        index += width


@lru_cache(maxsize=4096)
def _decode_spawn(code: str, shape: tuple[int, int]) -> Spawn | None:
    if len(code) != 1 + cell_digits(shape) or any(digit not in _VALUES for digit in code):
        return None
    cell = 0
    for digit in code[1:]:
        cell = cell << 6 | _VALUES[digit]
    rank = _VALUES[code[0]]
    return Spawn(1 << rank, divmod(cell, shape[1])) if rank and cell < shape[0] * shape[1] else None
