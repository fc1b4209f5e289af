"""`Questions`: asking for moves on positions, and telling what they were worth."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from py2048.board import Board
from py2048.cli.streams import are_terminal
from py2048.direction import Direction
from py2048.errors import DirectionError
from py2048.ui.shared.actions import BY_NAME, direction_of_word

if TYPE_CHECKING:
    from py2048.players import Unit
    from py2048.review import MoveReview

QUIT = "q", "quit", "exit"

MAX_LINE = 1000
"""The characters of a line that are read at once: an input need not have lines at all."""

FEW_POINTS = 1000
"""Values below are told with a digit more."""

_ARROWS = ("\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"), ("\x1bOA", "\x1bOB", "\x1bOD", "\x1bOC")
_ARROWS_OF_WINDOWS = ("\xe0H", "\xe0P", "\xe0K", "\xe0M"), ("\0H", "\0P", "\0K", "\0M")

KEYS = {key: direction for direction in Direction for key in BY_NAME[str(direction)].keys}
"""The direction that each key means, on every screen; arrows as terminals send them."""
KEYS |= {
    sent: direction
    for arrows in (*_ARROWS, *_ARROWS_OF_WINDOWS)
    for sent, direction in zip(arrows, Direction, strict=True)
}


class Questions:
    """Asks for moves, by keys in a terminal and by lines elsewhere, and tells what they are worth.

    Args:
        as_json: write one line of JSON for each question and each answer.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._gap = ""
        self._ask = _key if are_terminal() and not as_json else _word

    def ask(self, title: str, board: Board, about: Mapping[str, object]) -> Direction | None:
        """Show a position and return the legal direction that is chosen, `None` for the end.

        Args:
            title: what people read above the board.
            board: the position.
            about: what programs read of it.
        """
        if self._as_json:
            _print_line({**about, "board": board.rows})
        else:
            print(f"{self._gap}{title}\n{board}", flush=True)
            self._gap = "\n"
        legal = board.legal_directions()
        while True:
            try:
                direction = self._ask()
            except DirectionError as error:
                self._complain(f"{error}")
                continue
            if direction is None or direction in legal:
                return direction
            self._complain(f"{direction} moves nothing: choose {' or '.join(map(str, legal))}")

    def tell(self, move: MoveReview, unit: Unit, then: str, about: Mapping[str, object]) -> None:
        """Tell what a move and the others were worth.

        Args:
            move: the move.
            unit: the unit of the values.
            then: a sentence for people on what follows from it.
            about: the same for programs.
        """
        if self._as_json:
            _print_line({**_data(move, unit), **about})
            return
        print(f"{move.played} is best" if move.played is move.best else _wrong(move))
        top = move.values[move.best]
        digits = 0 if top >= FEW_POINTS else 1
        for direction, value in _ranked(move):
            worth = f"{value:9.4%}" if unit == "chance" else f"{value:11,.{digits}f} {unit}"
            loss = f"  {value / top - 1:+.1%}" if 0 < value < top else ""
            print(f"  {direction!s:<5} {worth}{loss}")
        print(then, flush=True)

    def say(self, sentence: str, about: Mapping[str, object] | None = None) -> None:
        """Write a sentence for people, or what programs read instead, if there is something."""
        if not self._as_json:
            print(sentence, flush=True)
        elif about is not None:
            _print_line(about)

    def _complain(self, sentence: str) -> None:
        print(sentence, file=sys.stderr if self._as_json else sys.stdout, flush=True)


def _key() -> Direction | None:
    """Return the direction of the next key, `None` for the end.

    Raises:
        DirectionError: if it has none.
    """
    print("your move (arrows, WASD or hjkl; q quits): ", end="", flush=True)
    try:
        key = typer.getchar()
    except EOFError:
        key = QUIT[0]
    print(KEYS.get(key, key if key.isprintable() else ""))
    if key.lower() in QUIT:
        return None
    if key not in KEYS:
        raise DirectionError("that key moves nothing: use the arrows, WASD or hjkl")
    return KEYS[key]


def _word() -> Direction | None:
    """Return the direction of the next line with something in it, `None` for the end.

    Raises:
        DirectionError: if it has none.
    """
    while line := sys.stdin.readline(MAX_LINE):
        if word := line.strip().lower():
            return None if word in QUIT else direction_of_word(word)
    return None


def _wrong(move: MoveReview) -> str:
    if not move.grade.is_mistake:
        return f"{move.played} is {move.grade}; best is {move.best}"
    article = "an" if move.grade.value[0] in "aeiou" else "a"
    return f"{move.played} is {article} {move.grade}; best is {move.best}"


def _ranked(move: MoveReview) -> list[tuple[Direction, float]]:
    return sorted(move.values.items(), key=lambda item: -item[1])


def _data(move: MoveReview, unit: Unit) -> dict[str, object]:
    return {
        "played": str(move.played),
        "best": str(move.best),
        "grade": move.grade.value,
        "share": move.share,
        "values": {str(direction): value for direction, value in _ranked(move)},
        "unit": unit.value,
        "source": move.source,
    }


def _print_line(value: Mapping[str, object]) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)
