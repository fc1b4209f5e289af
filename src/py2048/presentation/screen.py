"""Plain data for screens. This module has few imports, because the first frame needs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import N_, _, ngettext, number

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling


def points(count: int) -> str:
    """Format a number of points: "1 point", "1,203 points"."""
    return ngettext("{n} point", "{n} points", abs(count)).format(n=number(count))


def moves(count: int) -> str:
    """Format a number of moves: "1 move", "1,203 moves"."""
    return ngettext("{n} move", "{n} moves", abs(count)).format(n=number(count))


def title_of(name: str, shape: tuple[int, int] | None = None) -> str:
    """Return the display name of a set of rules, with the board size unless the name contains it.

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
    """Return spellings of a tile's value, longest first: "131072", "131k", ".1M", "2^17"."""
    spellings = [str(value)]
    for power, unit in enumerate("kMGTPE", start=1):
        thousands = value / 1000**power
        if thousands >= 1:
            spellings.append(f"{int(thousands)}{unit}")
        elif thousands >= 0.1:
            spellings.append(f".{int(thousands * 10)}{unit}")
    return [*spellings, f"2^{value.bit_length() - 1}"]


class Status(NamedTuple):
    """Facts about a game, shown next to the board.

    Attributes:
        rules: Name of the rules.
        score: Score in points.
        best: Best score under these rules.
        moves: Number of turns played.
        help: Kind of help received, such as ``assisted``; empty for an unassisted game.
        note: Message about a player that is thinking or playing; may be empty.
        can_undo: Whether there is a move to undo.
        next_tile: Next tile to make, which is larger than all tiles on the board.
        teaching: One-line instruction during the first moves, then empty.
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

    @property
    def facts(self) -> list[str]:
        """Texts about moves played and help received."""
        return [moves(self.moves), *([self.help] if self.help else [])]


class CoachStatus(NamedTuple):
    """What the coach currently displays.

    Attributes:
        comment: Comment on the last move; usually empty.
        facts: Short texts: the chance of the goal, and the accuracy.
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


RECORDS = FileKind(N_("Records of games"), ".2048.json")


class ListRequest(NamedTuple):
    """A list to choose from, with an optional text field for other values.

    Attributes:
        title: Heading.
        choices: Entries.
        take: Called with the chosen value after the list has closed.
        current: Initially selected value.
        own: Prompt of the text field, or "" for no field.
        check: Function that returns an error message for a value, or "" if the value is valid.
        more: Labels and callbacks of additional buttons, called after the list has closed.
    """

    title: str
    choices: Sequence[Choice]
    take: Callable[[str], object]
    current: str = ""
    own: str = ""
    check: Callable[[str], str] = lambda _: ""
    more: tuple[tuple[str, Callable[[], object]], ...] = ()
