"""What screens are asked to show, as plain data. Imports little: a window opens with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.language import N_, _, ngettext, number

if TYPE_CHECKING:
    from py2048.engine.jit.progress import Compiling


def points(count: int) -> str:
    """Return a number of points: "1 point", "1,203 points"."""
    return ngettext("{n} point", "{n} points", abs(count)).format(n=number(count))


def moves(count: int) -> str:
    """Return a number of moves: "1 move", "1,203 moves"."""
    return ngettext("{n} move", "{n} moves", abs(count)).format(n=number(count))


def title_of(name: str, shape: tuple[int, int] | None = None) -> str:
    """Return what people call rules, with the size of the board if that is given and new.

    >>> title_of("classic"), title_of("2x4", (2, 4)) == title_of("2x4")
    ('Classic', True)
    """
    title = re.sub(r"(?<=\d)x(?=\d)", "\N{MULTIPLICATION SIGN}", name[:1].upper() + name[1:])
    size = "\N{MULTIPLICATION SIGN}".join(map(str, shape or ()))
    return title if size in title else f"{title} {size}"


def preparing(compiling: Compiling) -> str:
    """Return how far something is that is made ready once on a machine."""
    return _("getting ready, {n} %").format(n=round(100 * compiling.share))


def spellings(value: int) -> list[str]:
    """Return the ways to write a tile, the most exact first: "131072", "131k", ".1M", "2^17"."""
    spellings = [str(value)]
    for power, unit in enumerate("kMGTPE", start=1):
        thousands = value / 1000**power
        if thousands >= 1:
            spellings.append(f"{int(thousands)}{unit}")
        elif thousands >= 0.1:
            spellings.append(f".{int(thousands * 10)}{unit}")
    return [*spellings, f"2^{value.bit_length() - 1}"]


class Status(NamedTuple):
    """The facts beside the board.

    Attributes:
        rules: the name of the rules.
        score: the score, in points.
        best: the best score under these rules.
        moves: how many turns were played.
        help: what kept the game from being a person's alone, such as ``assisted``; or empty.
        note: who thinks or plays, or an empty text.
        can_undo: whether there is a move to take back.
        next_tile: the tile to make next, larger than all there are.
        teaching: the line that teaches the game during its first moves, else empty.
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
        """How many moves were played, and what help there was, in words."""
        return [moves(self.moves), *([self.help] if self.help else [])]


class CoachStatus(NamedTuple):
    """What the coach says now.

    Attributes:
        share: how full its bar is, 0 to 1: the chance, or what is expected as a share of the most
            that was expected in this game.
        parts: the last move, the accuracy and what is expected, for a line each or for one.
    """

    share: float
    parts: tuple[str, ...] = ()


class Choice(NamedTuple):
    """A line of a list to choose from."""

    value: str
    title: str
    detail: str = ""


class FileKind(NamedTuple):
    """A kind of file: what people call it, to be translated, and how its name ends."""

    title: str
    ending: str


RECORDS = FileKind(N_("Records of games"), ".2048.json")


class ListRequest(NamedTuple):
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
