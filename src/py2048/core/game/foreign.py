"""Convert replays from other programs to verified records.

**2048verse** replays are text, in two public formats. Replays begin with two turns that store the
start tiles; the direction of these turns is meaningless.

- Old format: ``replay``, an optional ``:`` or ``_`` and size, then one character per turn. The
  character's index in the alphabet has seven bits: two for the direction (up, right, down, left),
  one for the tile (2 or 4), two for the column and two for the row.
- New format: ``4x4-…_`` (rows x columns, then any text up to the ``_``), then three base-128 digits
  per turn. From the lowest bit up, a turn has two bits for the direction (up, down, left, right),
  two for the tile, three for the column, three for the row and eleven for the thinking time.

A replay starts at the beginning of a line and ends at a blank line or at the next replay. Line
breaks within a replay are ignored. Source: the site's own converter,
github.com/2048Verse/2048-replay-utils.

**2048EndgameTablebase** replays are binary files in two formats.

- ``.rpl`` files, written by the program's trainer and its analysis, have 25 bytes per turn,
  little-endian. A turn begins with the board as a 64-bit number, with four bits per rank and the
  first cell in the highest bits. The next byte encodes the move. From the lowest bit up, it has one
  bit for the spawned tile (2 or 4), four bits for the tile's cell and two bits for the direction
  (left, right, up, down). Four success rates follow. The file ends with a 25-byte trailer.

- ``.vrs`` files, written by the program's player, have 13 bytes per position. Each position has the
  board, the score (32 bits) and the direction of the previous move. A direction is 1 (left), 2
  (right), 3 (up) or 4 (down). The first position has direction 0.

Smaller boards are embedded in a 4x4 board whose other cells hold 32768. Ranks have only four bits,
so two 32768s never merge, and games that reach 65536 are rejected.
Source: the public reader and writer, github.com/game-difficulty/2048EndgameTablebase,
engine_core/replay_utils.py, backend/analysis_core.py and backend/tester.py.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.errors import RecordError, RulesError
from py2048.core.game.record import Record
from py2048.core.game.turn import Spawn, Turn, encode_step, score_after, spawn_error
from py2048.core.rules import Rules, get_rules, list_rules


class TextError(RecordError):
    """Raised if a replay is damaged; `place` is the index of the damaged character in the text."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place


class _WrittenTurn(NamedTuple):
    """An unverified turn from another program; `place` is its index in the text."""

    direction: Direction
    spawn: Spawn
    think_ms: int | None = None
    place: int = 0


def _classic_rules(size: Cell) -> Rules:
    """Return the classic rules for a board size, as a preset if possible."""
    name = f"{size[0]}x{size[1]}"
    if name in {rules.name for rules in list_rules()}:
        return get_rules(name)
    return get_rules("classic", rows=size[0], columns=size[1])


def _record_of(rules: Rules, start: Board, turns: Iterable[_WrittenTurn], player: str) -> Record:
    """Verify each turn against the rules and return the record of the game.

    Raises:
        TextError: If a turn breaks the rules.
    """
    board, score = start, 0
    codes: list[str] = []
    times: list[int] = []
    for ply, (direction, spawn, think_ms, place) in enumerate(turns, 1):
        slide = board.slide(direction, rules.merging)
        if not slide.changed:
            legal = " and ".join(map(str, board.legal_directions()))
            instead = f"only {legal} can be played" if legal else "the game was over"
            reason = f"the move changes nothing; {instead}"
            raise TextError(place, f"ply {ply} ({direction}): {reason}")
        if error := spawn_error(rules, slide.board, direction, spawn):
            free = ", ".join(map(str, slide.board.empty_cells()))
            reason = f"{error}; empty cells are {free}"
            raise TextError(place, f"ply {ply} ({direction}): {reason}")
        turn = Turn(direction, slide, spawn)
        board = turn.board
        score = score_after(rules, score, turn, board)
        codes.append(encode_step(direction, spawn, rules.shape))
        times += [] if think_ms is None else [think_ms]
    return Record(rules, start, "".join(codes), score, player=player, times=tuple(times))


# --- 2048verse -----------------------------------------------------------------------------------

_HEAD = re.compile(
    r"^(?:replay(?:(?P<mark>[:_])(?P<old>\d{1,9}x\d{1,9})?)?|(?P<new>\d{1,9}x\d{1,9})-[^_\n]{0,80}_)",
    re.MULTILINE,
)
_BLANK = re.compile(r"\n[ \t]*\n")

# The old format's alphabet is printable ASCII, continued by characters 128 to 160 of code page 850.
_OLD = bytes([*range(32, 127), *range(128, 161)]).decode("cp850")
_NEW = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + "".join(map(chr, range(192, 256)))
    + "¤¾"
)
_OLD_DIRECTIONS = (Direction.UP, Direction.RIGHT, Direction.DOWN, Direction.LEFT)
_NEW_DIRECTIONS = tuple(Direction)

# Replays divide thinking times into eight ranges and store longer times in coarser steps.
# `_STEPS_MS` lists the step size in each range, and `_MAX_MS` the longest time.
_STEPS_MS = (1, 3, 12, 48, 192, 768, 3072, 12288)
_MAX_MS = (255, 1021, 4084, 16336, 65344, 265966, 1050094, 4186606)
_PAGE_CLOSED = 7, 255


class _Format(NamedTuple):
    """A text format for replays."""

    name: str
    alphabet: str
    digits: dict[str, int]
    width: int
    gaps: str


_OLD_FORMAT = _Format(
    "old", "ASCII from the space to ~ and Ç to á", {c: n for n, c in enumerate(_OLD)}, 1, "\n"
)
_NEW_FORMAT = _Format("new", "0-9 a-z A-Z À-ÿ ¤ ¾", {c: n for n, c in enumerate(_NEW)}, 3, " \t\n")


def verse_records(text: str) -> list[Record]:
    """Return the verified records of all 2048verse replays in `text`.

    Raises:
        TextError: If a replay is damaged.
    """
    heads = list(_HEAD.finditer(text))
    bounds = [*(head.start() for head in heads), len(text)]
    return [_verse_record(text, *each) for each in zip(heads, bounds[1:], strict=True)]


def _verse_record(text: str, head: re.Match[str], end: int) -> Record:
    """Read the replay that starts at `head` and ends at a blank line, or at `end` at the latest."""
    if blank := _BLANK.search(text, head.end(), end):
        end = blank.start()
    replay_format = _NEW_FORMAT if head["new"] else _OLD_FORMAT
    size = head["new"] or head["old"] or "4x4"
    starts = [head.end()]
    # The character after ``replay`` may be a separator or the first tile, so try both.
    if head["mark"] and not head["old"]:
        starts.append(head.end() - 1)
    faults: list[TextError] = []
    for start in starts:
        places = [place for place in range(start, end) if text[place] not in replay_format.gaps]
        try:
            return _record_from_digits(text, replay_format, size, places)
        except TextError as fault:
            faults.append(fault)
    raise max(faults, key=lambda fault: fault.place)


def _record_from_digits(text: str, replay_format: _Format, size: str, places: list[int]) -> Record:
    turns, first = _verse_turns(text, replay_format, places), places[0] if places else len(text)
    rows, columns = map(int, size.split("x"))
    try:
        rules = _classic_rules((rows, columns))
    except RulesError as error:
        raise TextError(first, str(error)) from None
    spawns = [turn.spawn for turn in itertools.islice(turns, 2)]
    if len(spawns) < 2:
        raise TextError(first, "the replay ends before its two start tiles")
    start = Board.empty(*rules.shape)
    for spawn in spawns:
        if spawn.cell not in start.empty_cells():
            raise TextError(first, f"a start tile cannot stand on cell {spawn.cell}")
        start = start.with_tile(spawn.cell, spawn.tile)
    return _record_of(rules, start, turns, "2048verse")


def _verse_turns(text: str, replay_format: _Format, places: list[int]) -> Iterator[_WrittenTurn]:
    decode = _new_turn if replay_format is _NEW_FORMAT else _old_turn
    for index in range(0, len(places), replay_format.width):
        group = places[index : index + replay_format.width]
        bits = 0
        for place in group:
            if (digit := replay_format.digits.get(text[place])) is None:
                wrong = f"{text[place]!r} is not a digit of the {replay_format.name} format"
                raise TextError(place, f"{wrong}, which uses {replay_format.alphabet}")
            bits = bits << 7 | digit
        if len(group) < replay_format.width:
            reason = f"a turn has {replay_format.width} digits, but the last one has {len(group)}"
            raise TextError(group[0], f"the replay is cut off: {reason}")
        yield decode(bits)._replace(place=group[0])


def _old_turn(bits: int) -> _WrittenTurn:
    spawn = Spawn(4 if bits >> 4 & 1 else 2, (bits & 3, bits >> 2 & 3))
    return _WrittenTurn(_OLD_DIRECTIONS[bits >> 5], spawn)


def _new_turn(bits: int) -> _WrittenTurn:
    spawn = Spawn(2 << (bits >> 2 & 3), (bits >> 7 & 7, bits >> 4 & 7))
    return _WrittenTurn(_NEW_DIRECTIONS[bits & 3], spawn, _think_ms(bits >> 10 & 7, bits >> 13))


def _think_ms(resolution: int, multiplier: int) -> int:
    """Return the thinking time in milliseconds, or 0 if the page was closed during the turn."""
    if (resolution, multiplier) == _PAGE_CLOSED:
        return 0
    minimum = _MAX_MS[resolution - 1] + _STEPS_MS[resolution - 1] if resolution else 0
    return minimum + _STEPS_MS[resolution] * multiplier


# --- 2048EndgameTablebase ------------------------------------------------------------------------

_TURN = struct.Struct("<QB4I")
_END = struct.pack("<B4I", 88, 666666666, 233333333, 314159265, 987654321)
_POSITION = struct.Struct("<QIB")
_DIRECTIONS = (Direction.LEFT, Direction.RIGHT, Direction.UP, Direction.DOWN)
_WALL = 0x8000


class _Area(NamedTuple):
    """The area of a 4x4 board that a smaller board occupies."""

    rows: range
    columns: range


_AREAS = (
    _Area(range(4), range(4)),
    _Area(range(3), range(4)),
    _Area(range(3), range(3)),
    _Area(range(1, 3), range(4)),
)


def is_tablebase(data: bytes) -> bool:
    """Return whether `data` is a 2048EndgameTablebase replay in either format."""
    return _is_trainer_format(data) or _is_player_format(data)


def tablebase_record(data: bytes) -> Record:
    """Return the record of a 2048EndgameTablebase replay.

    Raises:
        RecordError: If a turn breaks the rules; the message names the turn.
    """
    boards, moves = (
        _read_trainer_format(data) if _is_trainer_format(data) else _read_player_format(data)
    )
    faults: list[RecordError] = []
    for area in _AREAS:
        if not all(_is_inside(board, area) for board in boards):
            continue
        rules = _classic_rules((len(area.rows), len(area.columns)))
        cropped = [_cropped(board, area) for board in boards]
        try:
            return _record_of(
                rules, cropped[0], _turns(cropped, moves, area), "2048EndgameTablebase"
            )
        except RecordError as error:
            faults.append(error)
    raise faults[0]


def _is_trainer_format(data: bytes) -> bool:
    return len(data) % _TURN.size == 0 and data.endswith(_END) and len(data) > _TURN.size


def _is_player_format(data: bytes) -> bool:
    if len(data) % _POSITION.size:
        return False
    scores = [score for board, score, _ in _POSITION.iter_unpack(data) if board]
    return bool(scores) and scores[0] == 0 and scores == sorted(scores)


_Move = tuple[Direction, int]
"""A direction, and the encoded turn in the ``.rpl`` format (0 in the ``.vrs`` format)."""


def _read_trainer_format(data: bytes) -> tuple[list[Board], list[_Move]]:
    rows = list(_TURN.iter_unpack(data))[:-1]
    moves = [(_DIRECTIONS[row[1] >> 5 & 3], row[1]) for row in rows]
    return [_board(row[0]) for row in rows], moves


def _read_player_format(data: bytes) -> tuple[list[Board], list[_Move]]:
    rows = [row for row in _POSITION.iter_unpack(data) if row[0]]
    boards = [_board(row[0]) for row in rows]
    moves: list[_Move] = []
    for index, (_, _, code) in enumerate(rows[1:], 1):
        if not 1 <= code <= 4:
            raise RecordError(f"position {index + 1}: {code} is not a direction from 1 to 4")
        moves.append((_DIRECTIONS[code - 1], 0))
    return boards, moves


def _board(bits: int) -> Board:
    ranks = [bits >> 4 * (15 - cell) & 15 for cell in range(16)]
    tiles = [1 << rank if rank else 0 for rank in ranks]
    return Board.from_rows([tiles[row : row + 4] for row in range(0, 16, 4)])


def _is_inside(board: Board, area: _Area) -> bool:
    return all(
        board[row, column] == _WALL or (row in area.rows and column in area.columns)
        for row, column in itertools.product(range(4), range(4))
    )


def _cropped(board: Board, area: _Area) -> Board:
    return Board.from_rows([[board[row, column] for column in area.columns] for row in area.rows])


def _turns(boards: Sequence[Board], moves: Sequence[_Move], area: _Area) -> Iterator[_WrittenTurn]:
    # 2048EndgameTablebase numbers cells from last to first in its trainer, but from first to last
    # in its analysis.
    from_last = True
    for ply, ((direction, code), board) in enumerate(zip(moves, boards, strict=False), 1):
        if ply == len(boards):  # no board follows the last turn
            yield _WrittenTurn(direction, Spawn(4 if code & 1 else 2, _cell(code, area, from_last)))
            return
        after, found = board.slide(direction).board, boards[ply]
        rows, columns = after.shape
        cells = itertools.product(range(rows), range(columns))
        new = [cell for cell in cells if after[cell] != found[cell]]
        if len(new) != 1:
            raise RecordError(
                f"ply {ply} ({direction}): the move turns {_line(board)} into {_line(after)}, but "
                f"the replay has {_line(found)}, which differs in {len(new)} cells instead of one"
            )
        from_last = from_last and new[0] == _cell(code, area, True)
        yield _WrittenTurn(direction, Spawn(found[new[0]], new[0]))


def _cell(code: int, area: _Area, from_last: bool) -> Cell:
    number = code >> 1 & 15
    row, column = divmod(15 - number if from_last else number, 4)
    return row - area.rows[0], column - area.columns[0]


def _line(board: Board) -> str:
    return " / ".join(" ".join(line.split()) for line in str(board).splitlines())
