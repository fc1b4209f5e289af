"""Data types for screens. This module imports little, so that the first frame appears quickly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import N_, _, ngettext, number

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling


def points(count: int) -> str:
    """Format a number of points, as in "1 point" or "1,203 points"."""
    return ngettext("{n} point", "{n} points", abs(count)).format(n=number(count))


def moves(count: int) -> str:
    """Format a number of moves, as in "1 move" or "1,203 moves"."""
    return ngettext("{n} move", "{n} moves", abs(count)).format(n=number(count))


def title_of(name: str, shape: tuple[int, int] | None = None) -> str:
    """Return the name of a rule set as displayed to players, with the board size.

    >>> title_of("classic"), title_of("2x4", (2, 4)) == title_of("2x4")
    ('Classic', True)
    """
    title = re.sub(r"(?<=\d)x(?=\d)", "\N{MULTIPLICATION SIGN}", name[:1].upper() + name[1:])
    size = "\N{MULTIPLICATION SIGN}".join(map(str, shape or ()))
    return title if size in title else f"{title} {size}"


def preparing(compiling: Compiling) -> str:
    """Describe the progress of one-time compilation."""
    return _("getting ready, {n} %").format(n=round(100 * compiling.share))


def spellings(value: int) -> list[str]:
    """Return the spellings of a tile, longest first, as in "131072", "131k" and "2^17"."""
    spellings = [str(value)]
    for power, unit in enumerate("kMGTPE", start=1):
        thousands = value / 1000**power
        if thousands >= 1:
            spellings.append(f"{int(thousands)}{unit}")
        elif thousands >= 0.1:
            spellings.append(f".{int(thousands * 10)}{unit}")
    return [*spellings, f"2^{value.bit_length() - 1}"]


class Status(NamedTuple):
    """Facts about a game that a screen shows next to the board.

    Attributes:
        rules: Name of the rules.
        score: Score in points.
        best: Best score under these rules.
        moves: Number of turns played.
        help: Kind of help that the player received, such as ``assisted``, or empty if there was
            none.
        note: Message about a computer player that is thinking or playing, or empty.
        can_undo: Whether a move can be undone.
        next_tile: The next larger tile, which is not on the board yet.
        teaching: A one-line instruction, or empty after the first moves.
        race: Labels and values of the elapsed time and the milestones, or empty if milestones are
            hidden.
    """

    rules: str = ""
    score: int = 0
    best: int = 0
    moves: int = 0
    help: str = ""
    note: str = ""
    can_undo: bool = False
    next_tile: int = 0
    teaching: str = ""
    race: tuple[tuple[str, str], ...] = ()

    @property
    def facts(self) -> list[str]:
        """Short texts about the game: the kind of help, if any, and the number of moves."""
        return [*([self.help] if self.help else []), moves(self.moves)]


class CoachStatus(NamedTuple):
    """The text that the coach currently displays.

    Attributes:
        comment: Comment on the last move, which is usually empty.
        facts: Phrases that state the chance of reaching the goal, and the accuracy.
    """

    comment: str = ""
    facts: tuple[str, ...] = ()


class Choice(NamedTuple):
    """An entry of a `ListRequest`."""

    value: str
    title: str
    detail: str = ""


class FileKind(NamedTuple):
    """A file type, with a translatable name and an extension."""

    title: str
    ending: str


RECORDS = FileKind(N_("Game records"), ".2048.json")


class ListRequest(NamedTuple):
    """A list of choices for the player, with an optional text field for other values.

    Attributes:
        title: Heading.
        choices: Entries.
        take: Callback that receives the chosen value after the list has closed.
        current: Initially selected value.
        own: Prompt of the text field for other values, or "" to omit the text field.
        check: Function that returns an error message for a value, or "" if the value is valid.
        more: Labels of additional buttons, with callbacks that run after the list has closed.
    """

    title: str
    choices: Sequence[Choice]
    take: Callable[[str], object]
    current: str = ""
    own: str = ""
    check: Callable[[str], str] = lambda _: ""
    more: tuple[tuple[str, Callable[[], object]], ...] = ()
