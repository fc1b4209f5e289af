"""The grader at the table: opens a game, clicks on squares, reads the board."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from py2048.board import Board
from py2048.courses._kit import Session
from py2048.courses.cits1401.grading.looking import LOOKING
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.game.turn import edge_cell

Cell = tuple[int, int]

BORDERS: dict[Direction, tuple[Cell, ...]] = {
    Direction.UP: ((0, 2), (0, 1), (0, 3)),
    Direction.DOWN: ((4, 2), (4, 3), (4, 1)),
    Direction.LEFT: ((2, 0), (1, 0), (3, 0)),
    Direction.RIGHT: ((2, 4), (3, 4), (1, 4)),
}
CORNERS = ((0, 0), (0, 4), (4, 0), (4, 4))
INSIDE = ((1, 1), (2, 2), (3, 2), (1, 3))

SUCCESS = r"succe|done|moved|ok\b"
FAILURE = (
    r"not possible|impossible|not allowed|invalid|illegal|can'?t|cannot|unsuccessful|fail|no move"
)
OVER = r"game[ -]*over|no more moves|game (has )?(ended|finished)"


@dataclass(frozen=True)
class Sight:
    """What a window shows: the texts and looks of its squares, and all other texts."""

    texts: list[list[str]]
    looks: list[list[str]]
    others: list[str]

    @property
    def rows(self) -> list[list[Any]]:
        """The numbers on the squares, 0 for none; what is no number stays a text."""
        return [[_number(text) for text in row] for row in self.texts]

    @property
    def board(self) -> Board | None:
        """The board that is shown, `None` if it cannot be one."""
        try:
            return Board.from_rows(self.rows)
        except BoardError:
            return None

    def says(self, words: str) -> bool:
        """Whether a text beside the squares matches."""
        return any(re.search(words, text, re.IGNORECASE) for text in self.others)

    def shows_score(self, score: int) -> bool:
        """Whether a text beside the squares has this number as a word."""
        return self.says(rf"(?<![-\d.]){score}(?![\d.])" if score >= 0 else rf"- ?{-score}\b")


def _number(text: str) -> Any:
    stripped = text.strip()
    if not stripped:
        return 0
    return int(stripped) if re.fullmatch(r"\d{1,12}", stripped) else stripped


def after(board: Board, direction: Direction) -> Board:
    """Return what a move makes of `board`, the new tile included; the same if it is impossible."""
    slide = board.slide(direction)
    cell = edge_cell(slide.board, direction) if slide.changed else None
    return slide.board if cell is None else slide.board.with_tile(cell, 2)


def listed(board: Board) -> list[list[int]]:
    """Return the rows as lists, as a student writes them."""
    return [list(row) for row in board.rows]


class Table:
    """A submission that is played.

    `sight` is what it showed last.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sight = Sight([], [], [])
        self.shown: list[str] = []

    def begin(self, who: str = "Human", seed: int = 0) -> None:
        """Run the program and begin a new game, played by `who`."""
        session = self.session
        outcome = session.program(seed=seed)
        if outcome.error is not None:
            session.fail("a window", str(outcome.error))
        if outcome.state != "waiting":
            session.fail("a window that waits for clicks", "the program is at its end already")
        session.run(LOOKING, show=False)
        self.new_game(who)

    def new_game(self, who: str) -> None:
        """Push New game and answer who plays."""
        session = self.session
        for words in ("New game", "New"):
            if session.value(f"choose({words!r})", show=False):
                session.shown.append("choose('New game')")
                break
        else:
            session.fail("a button New game", self.texts())
        session.run("screen.settle()", show=False)
        before = len(session.value("screen.dialogs()", show=False))
        if not session.value(f"choose({who!r})"):
            self._answer_dialog(who, before)
        self.settle()

    def _answer_dialog(self, who: str, before: int) -> None:
        """Answer a message box or a question in place of two buttons."""
        session = self.session
        dialogs = session.value("screen.dialogs()", show=False)
        if not dialogs or before == 0:
            session.fail(f"to be offered {who!r}", self.texts())
        kind, title, message = dialogs[-1]
        if "string" in kind:
            answer: object = who.lower()
        else:
            asked = f"{title} {message}".lower()
            first = min(("human", "computer"), key=lambda word: asked.find(word) % 10_000)
            answer = (first == who.lower()) if kind != "askquestion" else _yes(first, who)
        session.run(f"screen.answer({answer!r})")
        session.run("choose('New game')")

    def settle(self) -> None:
        """Let everything happen that is under way, and look."""
        self.session.run("screen.settle()", show=False)
        self.look()

    def look(self) -> Sight:
        """See what is shown now."""
        seen = self.session.value("look()", show=False)
        if seen["texts"] is None:
            self.session.fail(
                "5 x 5 squares: rectangles on a canvas or widgets in a grid", str(seen["others"])
            )
        self.sight = Sight(seen["texts"], seen["looks"], seen["others"])
        return self.sight

    def click(self, cell: Cell) -> Sight:
        """Click on a square and see what comes of it."""
        self.session.shown[:] = [
            f"# {self.sight.rows}",
            f"hit{cell}  # a click on row {cell[0]}, column {cell[1]}",
        ]
        outcome = self.session.run(f"hit{cell}", show=False)
        if outcome.error is not None:
            self.session.fail("no exception", str(outcome.error))
        self.settle()
        return self.sight

    def texts(self) -> str:
        """All texts that are shown, for a message."""
        return str(self.session.value("screen.texts()", show=False))


def _yes(first: str, who: str) -> str:
    return "yes" if first == who.lower() else "no"
