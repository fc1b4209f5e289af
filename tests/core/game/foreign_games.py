"""Write games in the formats of other programs, following their public definitions."""

from __future__ import annotations

import struct

from py2048 import Direction, Game, get_rules

OLD = "".join(map(chr, range(32, 127))) + "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø\u00d7ƒá"
NEW = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ\u00d7ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ¤¾"
)
CLOCKWISE = (Direction.UP, Direction.RIGHT, Direction.DOWN, Direction.LEFT)

Entry = tuple[Direction, int, tuple[int, int]]


def played(name: str, seed: int, moves: int) -> Game:
    """Play a game by trying the directions in turn."""
    game = Game(get_rules(name), seed=seed)
    order = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)
    for _ in range(moves):
        if not game.is_over:
            next(filter(game.attempt, order))
    return game


def entries(game: Game) -> list[Entry]:
    """Return the entries of a 2048verse replay: the start tiles, then the turns."""
    rows = enumerate(game.start.rows)
    tiles = [(t, (r, c)) for r, row in rows for c, t in enumerate(row) if t]
    start = [(Direction.UP, tile, cell) for tile, cell in tiles]
    return start + [(t.direction, t.spawn.tile, t.spawn.cell) for t in game.turns if t.spawn]


def old_digits(game: Game) -> str:
    """Encode in the old 2048verse format, without its header."""
    return "".join(
        OLD[CLOCKWISE.index(direction) << 5 | (tile == 4) << 4 | column << 2 | row]
        for direction, tile, (row, column) in entries(game)
    )


def old_text(game: Game) -> str:
    """Encode in the old format, with a separator where the first digit looks like one."""
    digits = old_digits(game)
    name = "" if game.rules.shape == (4, 4) else "_{}x{}".format(*game.rules.shape)
    return f"replay{name}" + (f":{digits}" if not name and digits[0] in ":_" else digits)


def new_digits(game: Game, time: int = 0) -> str:
    """Encode in the new 2048verse format, without its header."""
    text = ""
    for direction, tile, (row, column) in entries(game):
        bits = direction.value | (tile == 4) << 2 | column << 4 | row << 7 | time << 10
        text += NEW[bits >> 14] + NEW[bits >> 7 & 127] + NEW[bits & 127]
    return text


def new_text(game: Game, time: int = 0) -> str:
    """Encode in the new 2048verse format."""
    return f"{game.rules.rows}x{game.rules.columns}-any thing_{new_digits(game, time)}"


CODES = (Direction.LEFT, Direction.RIGHT, Direction.UP, Direction.DOWN)
CORNERS = {(4, 4): (0, 0), (3, 4): (0, 0), (3, 3): (0, 0), (2, 4): (1, 0)}
"""The first cell of a smaller board in 2048EndgameTablebase."""


def word(game: Game, index: int) -> int:
    """Encode the board after `index` turns for 2048EndgameTablebase, with walls of 32768."""
    rows, columns = game.rules.shape
    top, left = CORNERS[rows, columns]
    bits = 0
    for row in range(4):
        for column in range(4):
            inside = 0 <= row - top < rows and 0 <= column - left < columns
            tile = game.positions()[index].board[row - top, column - left] if inside else 32768
            bits = bits << 4 | (tile.bit_length() - 1 if tile else 0)
    return bits


def rpl(game: Game, *, from_first: bool = False) -> bytes:
    """Encode a replay of its trainer or, with `from_first`, of its analysis."""
    top, left = CORNERS[game.rules.shape]
    data = b""
    for index, turn in enumerate(game.turns):
        cell = (turn.spawn.cell[0] + top) * 4 + turn.spawn.cell[1] + left
        place = cell if from_first else 15 - cell
        code = CODES.index(turn.direction) << 5 | place << 1 | (turn.spawn.tile == 4)
        data += struct.pack("<QB4I", word(game, index), code, 1, 2, 3, 4)
    return data + struct.pack("<QB4I", 0, 88, 666666666, 233333333, 314159265, 987654321)


def vrs(game: Game) -> bytes:
    """Encode a replay of its player."""
    data = struct.pack("<QIB", word(game, 0), 0, 0)
    for index, turn in enumerate(game.turns, 1):
        score = game.positions()[index].score
        data += struct.pack("<QIB", word(game, index), score, CODES.index(turn.direction) + 1)
    return data
