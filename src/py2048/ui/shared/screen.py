"""What is asked of a front end, and what it is asked to show. A window opens with this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from py2048.session import Hint
    from py2048.ui.shared.background import Timer
    from py2048.ui.shared.motion import BoardTransition
    from py2048.ui.shared.practice import PracticeRun
    from py2048.ui.shared.review import GameReview
    from py2048.ui.shared.themes import Theme


def counted(count: int, thing: str) -> str:
    """Return how many there are of something: "1 move", "1,203 moves"."""
    return f"{count:,} {thing}{'' if abs(count) == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Status:
    """The facts beside the board.

    Attributes:
        rules: the name of the rules.
        score: the score, in points.
        best: the best score under these rules.
        moves: how many turns were played.
        help: what kept the game from being a person's alone, such as ``assisted``; or empty.
        note: who thinks or plays, or an empty text.
        can_undo: whether there is a move to take back.
        can_redo: whether there is a move to play again.
    """

    rules: str = ""
    score: int = 0
    best: int = 0
    moves: int = 0
    help: str = ""
    note: str = ""
    can_undo: bool = False
    can_redo: bool = False

    @property
    def facts(self) -> list[str]:
        """How many moves were played, and what help there was, in words."""
        return [counted(self.moves, "move"), *([self.help] if self.help else [])]


@dataclass(frozen=True, slots=True)
class CoachStatus:
    """What the coach says now.

    Attributes:
        share: how full its bar is, 0 to 1: the chance, or what is expected as a share of the most
            that was expected in this game.
        text: the last move, the accuracy, and what is expected, in one line.
        short: the same in fewer words.
    """

    share: float
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class Banner:
    """Words over the board of a game that is won or over.

    Attributes:
        title: the large words.
        lines: the small ones below.
        is_final: whether the game is over; otherwise it can continue.
    """

    title: str
    lines: tuple[str, ...]
    is_final: bool


class Choice(NamedTuple):
    """A line of a list to choose from."""

    value: str
    title: str
    detail: str = ""


class FileKind(NamedTuple):
    """A kind of file: what people call it, and how its name ends."""

    title: str
    ending: str


RECORDS = FileKind("Records of games", ".2048.json")


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A list to choose from, with a line for a text that is not in it.

    Attributes:
        title: what is to be chosen.
        choices: the lines.
        take: called with the chosen value after the list has closed.
        current: the value to start on.
        own: what the text line asks for; empty for no such line.
        check: returns what is wrong with a value, or an empty text.
        more: further buttons or lines, with what they do after the list has closed.
    """

    title: str
    choices: Sequence[Choice]
    take: Callable[[str], object]
    current: str = ""
    own: str = ""
    check: Callable[[str], str] = lambda _: ""
    more: tuple[tuple[str, Callable[[], object]], ...] = ()


class GameScreen(Protocol):
    """A front end as a `py2048.ui.shared.controller.Controller` sees it."""

    def show_board(self, transition: BoardTransition, pace: float) -> None:
        """Show a board become another, in `pace` times the usual time; 0 shows the end at once."""

    def finish_motion(self) -> None:
        """Jump to the end of the running animation."""

    def show_status(self, status: Status) -> None:
        """Show the scores, and mark the settings in use."""

    def show_gain(self, points: int) -> None:
        """Show the points that a move has gained, for a moment."""

    def show_hint(self, hint: Hint) -> None:
        """Show a hint on the board."""

    def cover(self, banner: Banner | None) -> None:
        """Cover the board with words, or uncover it."""

    def say(self, text: str) -> None:
        """Show a message until the next one."""

    def warn(self, text: str) -> None:
        """Show a warning so that the player cannot miss it."""

    def show_unsaved(self, reason: str) -> None:
        """Show why something is not saved, until it is; an empty text ends it."""

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or take its bar away."""

    def show_review(self, review: GameReview, play_on: Callable[[], object]) -> None:
        """Open a review, and close it when the player leaves it.

        Args:
            review: the review; it may have only begun.
            play_on: what "play on from here" does, after the review has closed.
        """

    def refresh_review(self) -> None:
        """Show what has been added to the open review."""

    def show_practice(self, run: PracticeRun, answer: Callable[[str], object]) -> None:
        """Open practice, and close it when the player leaves it.

        Args:
            run: what is asked.
            answer: does an action of `PRACTICE_ACTIONS` on it; the screen then shows it again.
        """

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""

    def ask(self, text: str, yes: str, no: str, action: Callable[[], object]) -> None:
        """Ask a question; do `action` if the answer is yes."""

    def choose(self, request: ListRequest) -> None:
        """Let the player choose from a list."""

    def ask_to_save(
        self, title: str, kind: FileKind, name: str, take: Callable[[Path], object]
    ) -> None:
        """Ask for a file to write, and again before one is replaced.

        Args:
            title: what is asked.
            kind: the kind of file, with its ending.
            name: what to call it by default, without the ending.
            take: called with the file.
        """

    def ask_to_open(self, title: str, kind: FileKind, take: Callable[[Path], object]) -> None:
        """Ask for a file to read."""

    def show_help(self) -> None:
        """Show all keys."""

    def later(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Call `action` after some seconds."""

    def quit(self) -> None:
        """Close the screen."""
