"""Reading the binary replays of 2048EndgameTablebase.

``.rpl``, its trainer's and its analysis': 25 bytes a turn, little-endian. The board (64 bits, a
rank of 4 bits a cell, the first cell highest), the turn (from the low end: one bit for the tile, 2
or 4; four for its cell; two for the direction: left, right, up, down), and four success rates. A
row of fixed numbers ends the file.

``.vrs``, its player's: 13 bytes a position. The board, the score (32 bits), and the direction that
led to it (1 to 4: left, right, up, down; 0 before the first move).

Smaller boards lie in a 4x4 one whose other cells hold 32768. A rank of 4 bits cannot write a
65536, and there two 32768s never merge: games that come so far are refused.

Source: the public reader and writer, github.com/game-difficulty/2048EndgameTablebase,
engine_core/replay_utils.py, backend/analysis_core.py and backend/tester.py.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import RecordError
from py2048.game.foreign import ForeignTurn, classic_rules, record_of
from py2048.game.record import Record
from py2048.game.turn import Spawn

PLAYER = "2048EndgameTablebase"

_TURN = struct.Struct("<QB4I")
_END = struct.pack("<B4I", 88, 666666666, 233333333, 314159265, 987654321)
_POSITION = struct.Struct("<QIB")
_DIRECTIONS = (Direction.LEFT, Direction.RIGHT, Direction.UP, Direction.DOWN)
_WALL = 0x8000


class _Area(NamedTuple):
    """Where a smaller board lies."""

    rows: range
    columns: range


_AREAS = (
    _Area(range(4), range(4)),
    _Area(range(3), range(4)),
    _Area(range(3), range(3)),
    _Area(range(1, 3), range(4)),
)


def is_tablebase(data: bytes) -> bool:
    """Return whether `data` is a replay in one of the two forms."""
    return _is_trainers(data) or _is_players(data)


def tablebase_record(data: bytes) -> Record:
    """Return the record of a replay.

    Raises:
        RecordError: if a turn breaks the rules; the message names it.
    """
    boards, moves = _of_trainer(data) if _is_trainers(data) else _of_player(data)
    faults: list[RecordError] = []
    for area in _AREAS:
        if not all(_is_walled(board, area) for board in boards):
            continue
        try:
            return _record([_cut(board, area) for board in boards], moves, area)
        except RecordError as error:
            faults.append(error)
    raise faults[0]


def _is_trainers(data: bytes) -> bool:
    return len(data) % _TURN.size == 0 and data.endswith(_END) and len(data) > _TURN.size


def _is_players(data: bytes) -> bool:
    if len(data) % _POSITION.size:
        return False
    scores = [score for board, score, _ in _POSITION.iter_unpack(data) if board]
    return bool(scores) and scores[0] == 0 and scores == sorted(scores)


_Move = tuple[Direction, int]
"""A direction, with the code of a trainer's turn."""


def _of_trainer(data: bytes) -> tuple[list[Board], list[_Move]]:
    rows = list(_TURN.iter_unpack(data))[:-1]
    moves = [(_DIRECTIONS[row[1] >> 5 & 3], row[1]) for row in rows]
    return [_board(row[0]) for row in rows], moves


def _of_player(data: bytes) -> tuple[list[Board], list[_Move]]:
    rows = [row for row in _POSITION.iter_unpack(data) if row[0]]
    boards = [_board(row[0]) for row in rows]
    moves: list[_Move] = []
    for index, (_, _, code) in enumerate(rows[1:], 1):
        if not 1 <= code <= 4:
            raise RecordError(f"position {index + 1}: {code} is no direction: 1 to 4 are")
        moves.append((_DIRECTIONS[code - 1], 0))
    return boards, moves


def _board(bits: int) -> Board:
    ranks = [bits >> 4 * (15 - cell) & 15 for cell in range(16)]
    tiles = [1 << rank if rank else 0 for rank in ranks]
    return Board.from_rows([tiles[row : row + 4] for row in range(0, 16, 4)])


def _is_walled(board: Board, area: _Area) -> bool:
    return all(
        board[row, column] == _WALL or (row in area.rows and column in area.columns)
        for row in range(4)
        for column in range(4)
    )


def _cut(board: Board, area: _Area) -> Board:
    return Board.from_rows([[board[row, column] for column in area.columns] for row in area.rows])


def _record(boards: Sequence[Board], moves: Sequence[_Move], area: _Area) -> Record:
    rules = classic_rules((len(area.rows), len(area.columns)))
    return record_of(rules, boards[0], _turns(boards, moves, area), player=PLAYER)


def _turns(boards: Sequence[Board], moves: Sequence[_Move], area: _Area) -> Iterator[ForeignTurn]:
    from_last = (
        True  # where a trainer's code counts the cells from; an analysis' does from the first
    )
    for ply, ((direction, code), board) in enumerate(zip(moves, boards, strict=False), 1):
        if ply == len(boards):  # the code alone says what the last turn brought
            yield ForeignTurn(direction, Spawn(4 if code & 1 else 2, _cell(code, area, from_last)))
            return
        after, shown = board.slide(direction).board, boards[ply]
        new = _difference(after, shown)
        if len(new) != 1:
            raise RecordError(
                f"ply {ply} ({direction}): {len(new)} cells differ from what the move makes of "
                f"{_line(board)}: it is {_line(after)}, and {_line(shown)} is written"
            )
        from_last = from_last and new[0] == _cell(code, area, True)
        yield ForeignTurn(direction, Spawn(shown[new[0]], new[0]))


def _cell(code: int, area: _Area, from_last: bool) -> Cell:
    number = code >> 1 & 15
    row, column = divmod(15 - number if from_last else number, 4)
    return row - area.rows[0], column - area.columns[0]


def _difference(before: Board, after: Board) -> list[Cell]:
    rows, columns = before.shape
    cells = ((row, column) for row in range(rows) for column in range(columns))
    return [cell for cell in cells if before[cell] != after[cell]]


def _line(board: Board) -> str:
    return " / ".join(" ".join(line.split()) for line in str(board).splitlines())
