"""What the readers of other programs' games share: turns checked one by one become a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from py2048.board import Board, Cell
from py2048.direction import Direction
from py2048.errors import RecordError, RulesError
from py2048.game.record import Record, encode_step
from py2048.game.turn import Spawn, Turn, score_after, spawn_fault
from py2048.rules import Rules, get_rules, list_rules


class ForeignTurn(NamedTuple):
    """A turn as another program wrote it, not yet checked.

    Attributes:
        direction: where it slid.
        spawn: the tile that appeared.
        think_ms: the thinking time in milliseconds; `None` if it was not kept.
    """

    direction: Direction
    spawn: Spawn
    think_ms: int | None = None


class IllegalTurnError(RecordError):
    """A turn that breaks the rules.

    Attributes:
        ply: the turn, from 1; 0 for the start.
    """

    def __init__(self, ply: int, reason: str) -> None:
        super().__init__(reason if not ply else f"ply {ply} {reason}")
        self.ply = ply


def classic_rules(size: Cell) -> Rules:
    """Return the classic rules on a board of `size`, by the preset's name if it has one.

    Raises:
        RecordError: if no game is played on such a board.
    """
    name = f"{size[0]}x{size[1]}"
    if name in {rules.name for rules in list_rules()}:
        return get_rules(name)
    try:
        return get_rules("classic", rows=size[0], columns=size[1])
    except RulesError as error:
        raise RecordError(str(error)) from None


def start_board(rules: Rules, spawns: Iterable[Spawn]) -> Board:
    """Return the board with the start tiles `spawns`.

    Raises:
        IllegalTurnError: if one cannot stand there.
    """
    board = Board.empty(*rules.shape)
    for spawn in spawns:
        if spawn.cell not in board.empty_cells():
            raise IllegalTurnError(0, f"a start tile cannot stand on cell {spawn.cell}")
        board = board.with_tile(spawn.cell, spawn.tile)
    return board


def record_of(
    rules: Rules, start: Board, turns: Iterable[ForeignTurn], *, player: str, started: str = ""
) -> Record:
    """Return the record of `turns`, each checked against the rules.

    Raises:
        IllegalTurnError: at the first turn that breaks them.
    """
    codes: list[str] = []
    times: list[int] = []
    score = 0
    for (direction, spawn, think_ms), turn, reached in _played(rules, start, turns):
        score = reached
        codes.append(encode_step(direction, spawn, turn.slide.before.shape))
        times += [] if think_ms is None else [think_ms]
    return Record(
        rules, start, "".join(codes), score, player=player, started=started, times=tuple(times)
    )


def _played(
    rules: Rules, board: Board, turns: Iterable[ForeignTurn]
) -> Iterator[tuple[ForeignTurn, Turn, int]]:
    """Yield each turn as it is written and as it is played, with the score after it."""
    score = 0
    for ply, written in enumerate(turns, 1):
        slide = board.slide(written.direction, rules.merging)
        if not slide.changed:
            legal = " and ".join(map(str, board.legal_directions()))
            instead = f"only {legal} can be played" if legal else "the game was over"
            raise IllegalTurnError(
                ply, f"({written.direction}): the move changes nothing; {instead}"
            )
        if fault := spawn_fault(rules, slide.board, written.direction, written.spawn):
            free = ", ".join(map(str, slide.board.empty_cells()))
            raise IllegalTurnError(ply, f"({written.direction}): {fault}; free are {free}")
        turn = Turn(written.direction, slide, written.spawn)
        board = turn.board
        score = score_after(rules, score, turn, board)
        yield written, turn, score
