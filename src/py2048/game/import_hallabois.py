"""Reading the games of twothousand-forty-eight, the library of Hallabois' 2048, in both forms.

First form: an optional ``4x4S`` (columns x rows), then the positions with ``:`` between them. A
position is the tiles in row-major order with ``.`` between them, ``+`` and the tile that the next
move brings (``column,row.tile``), ``;`` and the direction (``0`` to ``3``: up, right, down, left;
a letter where the game ends).

Second form: ``::2:columns:rows:seed:moves``. The moves are a number, its digits of base 6 (the
lowest first: 1 to 4 for up, right, down, left; 5 for a break) written as bytes of 6 bits in
base 64. The tiles come from a linear congruential generator: the cell first, among the empty
ones in row-major order, then the tile, a 4 in a quarter of the draws.

The published games of the first form have a 4 in a tenth of the turns, as the classic rules do.

A break takes the small tiles from the board for points, which no rules here allow; a game with
one is refused where it comes.

Source: the public definition in github.com/hallabois/twothousand-forty-eight, src/v1 and src/v2.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import replace

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import BoardError, RecordError
from py2048.game.foreign import ForeignTurn, IllegalTurnError, classic_rules, record_of
from py2048.game.foreign_text import TextError
from py2048.game.record import Record
from py2048.game.turn import Spawn
from py2048.rules import RandomSpawn, Rules, Weights

PLAYER = "hallabois"

_DIRECTIONS = (Direction.UP, Direction.RIGHT, Direction.DOWN, Direction.LEFT)
_TILES = (2, 2, 2, 4)
_WEIGHTS = Weights({2: 3, 4: 1})

_DIGITS = 20
"""No number has more digits."""
_N = rf"\d{{1,{_DIGITS}}}"
_POSITION = rf"{_N}(?:\.{_N})+\+(?:{_N},{_N}\.{_N})?;[0-9a-z]"
# No number begins in the middle of another: a text of digits alone is read once.
_BOARDS = re.compile(rf"(?<!\d)(?:({_N})x({_N})S|(?<!\d\.))({_POSITION}(?::[^\s:\"'`<>]*)*)")
_PARTS = re.compile(rf"({_N}(?:\.{_N})+)\+(?:({_N}),({_N})\.({_N}))?;([0-9a-z])")
_SEEDED = re.compile(rf"(?<!:)::2:({_N}):({_N}):({_N}):([A-Za-z0-9+/]*)")
_BLOCK = 11
"""So many digits of base 6 are cut off a number at a time."""


def hallabois_records(text: str) -> list[Record]:
    """Return the records of the games in `text`; none if it holds none.

    Raises:
        TextError: if one is damaged.
    """
    games = [_of_boards(match) for match in _BOARDS.finditer(text)]
    return games + [_of_seed(match) for match in _SEEDED.finditer(text)]


def _rules(size: Cell, place: int) -> Rules:
    try:
        return classic_rules(size)
    except RecordError as error:
        raise TextError(place, 0, str(error)) from None


# With every board


def _of_boards(game: re.Match[str]) -> Record:
    rows, columns = (int(game[2]), int(game[1])) if game[1] else (4, 4)
    rules = _rules((rows, columns), game.start())
    places = [game.start(3)]
    texts = game[3].split(":")
    for text in texts:
        places.append(places[-1] + len(text) + 1)
    start = _board(texts[0], (rows, columns), places[0])
    turns = _written(texts, (rows, columns), places)
    try:
        return record_of(rules, start, turns, player=PLAYER)
    except IllegalTurnError as fault:
        raise TextError(places[max(fault.ply - 1, 0)], fault.ply, str(fault)) from None


def _written(texts: list[str], size: Cell, places: list[int]) -> Iterator[ForeignTurn]:
    """Yield the turns between the positions, and the last one if it was played."""
    board = _board(texts[0], size, places[0])
    for index, text in enumerate(texts):
        parts = _PARTS.fullmatch(text)
        ply = index + 1
        if parts is None:
            wrong = f"{text[:30]!r} is no position"
            raise TextError(places[index], index, f"ply {ply}: {wrong} such as 0.2.0.2+1,0.2;3")
        is_last = ply == len(texts)
        direction = _DIRECTIONS[int(parts[5])] if parts[5] in "0123" else None
        after = direction and board.slide(direction)
        if is_last and not (after and after.changed and parts[2]):
            return  # no move was made here
        if direction is None or after is None or parts[2] is None:
            raise TextError(places[index], index, f"ply {ply}: the game was over here")
        spawn = Spawn(int(parts[4]), (int(parts[3]), int(parts[2])))
        yield ForeignTurn(direction, spawn)
        board = after.board.with_tile(spawn.cell, spawn.tile)
        if not is_last and (shown := _board(texts[ply], size, places[ply])) != board:
            what = (
                "a break, which no rules here allow" if shown.sum < board.sum else "another board"
            )
            wrong = f"the move makes {_line(board)}, but {_line(shown)} follows: {what}"
            raise TextError(places[ply], ply, f"ply {ply} ({direction}): {wrong}")


def _board(text: str, size: Cell, place: int) -> Board:
    texts = text.partition("+")[0].split(".")
    tiles = [int(tile) for tile in texts if tile.isdecimal() and len(tile) <= _DIGITS]
    rows, columns = size
    if len(tiles) != rows * columns:
        raise TextError(place, 0, f"{len(tiles)} tiles make no board of {rows}x{columns}")
    try:
        return Board.from_rows(
            [tiles[row : row + columns] for row in range(0, len(tiles), columns)]
        )
    except BoardError as error:
        raise TextError(place, 0, str(error)) from None


def _line(board: Board) -> str:
    return " / ".join(" ".join(line.split()) for line in str(board).splitlines())


# With a seed


def _of_seed(game: re.Match[str]) -> Record:
    columns, rows, seed = (int(game[group]) for group in (1, 2, 3))
    classic = _rules((rows, columns), game.start())
    rules = replace(classic, name=f"{PLAYER}-{rows}x{columns}", spawn=RandomSpawn(_WEIGHTS))
    tiles = _Tiles(seed)
    board = Board.empty(rows, columns)
    for _ in range(2):
        spawn = tiles.draw(board)
        board = board.with_tile(spawn.cell, spawn.tile)
    try:
        return record_of(rules, board, _drawn(game, board, tiles), player=PLAYER)
    except IllegalTurnError as fault:
        raise TextError(game.start(4), fault.ply, str(fault)) from None


def _drawn(game: re.Match[str], board: Board, tiles: _Tiles) -> Iterator[ForeignTurn]:
    for ply, code in enumerate(_moves(game), 1):
        if not 1 <= code <= 4:
            what = "a break, which no rules here allow" if code == 5 else "the end before the end"
            raise TextError(game.start(4), ply, f"ply {ply}: {what}")
        after = board.slide(_DIRECTIONS[code - 1]).board
        if not after.empty_cells():
            raise TextError(game.start(4), ply, f"ply {ply}: the move changes nothing")
        spawn = tiles.draw(after)
        board = after.with_tile(spawn.cell, spawn.tile)
        yield ForeignTurn(_DIRECTIONS[code - 1], spawn)


def _moves(game: re.Match[str]) -> Iterator[int]:
    """Yield the digits of base 6, the lowest first, of a number written in base 64."""
    try:
        digits = base64.b64decode(game[4] + "=" * (-len(game[4]) % 4))
    except binascii.Error:
        raise TextError(game.start(4), 0, f"{game[4][:20]!r}… is no base 64") from None
    number = int("".join(f"{digit & 63:06b}" for digit in reversed(digits)) or "0", 2)
    while number:
        number, block = divmod(number, 6**_BLOCK)
        for _ in range(_BLOCK):
            if not (number or block):
                return
            block, code = divmod(block, 6)
            yield code


class _Tiles:
    """The tiles that a seed brings."""

    def __init__(self, seed: int) -> None:
        self._state = seed & 0xFFFFFFFF

    def draw(self, board: Board) -> Spawn:
        """Return the next tile, in an empty cell of `board`."""
        cells = board.empty_cells()
        cell = cells[self._next() % len(cells)]
        return Spawn(_TILES[self._next() % len(_TILES)], cell)

    def _next(self) -> int:
        self._state = (1103515245 * self._state + 12345 & 0xFFFFFFFF) % 0x7FFFFFFF
        return self._state
