"""Hints in a player's words: who gives them, what is best and why, and what the others lose.

`PLAYERS` are the computer players as people choose among them; any other is a spec, for experts.
A hint is drawn as a headline ("Left is best", `headline`), a reason if there is one (`reason_of`)
and a row for each legal direction (`options_of`), and said as sentences (`describe_hint`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.core.rules import Rules
from py2048.players import Chance, Unit
from py2048.presentation.words import way_of
from py2048.review import Grade
from py2048.review.advice import Hint
from py2048.review.moves import grade_of


class NamedPlayer(NamedTuple):
    """A computer player with a name for people.

    Attributes:
        spec: its spec; empty for the best player on the board, whichever that is.
        name: its name, to be translated.
        about: what it is, to be translated.
    """

    spec: str
    name: str
    about: str


PLAYERS = (
    NamedPlayer("", N_("Strong"), N_("The best there is on this board")),
    NamedPlayer("expectimax:depth=1", N_("Fast"), N_("Good, and answers at once")),
    NamedPlayer("greedy", N_("Beginner"), N_("Joins all it can now and plans nothing")),
)
"""The computer players that people choose among, the usual one first."""


def player_name(spec: str, best: str = "") -> str:
    """Return what people call a player: "Strong", or the spec of one without a name.

    Args:
        spec: the spec; empty for the best on the board.
        best: the spec of the best on the board.
    """
    found = {each.spec: each.name for each in PLAYERS} | {best: PLAYERS[0].name}
    return _(found[spec]) if spec in found else spec


_NAMES = dict(zip(Direction, (N_("Up"), N_("Down"), N_("Left"), N_("Right")), strict=True))


def name_of(direction: Direction) -> str:
    """Return a direction as it begins a sentence, or stands alone: "Left"."""
    return _(_NAMES[direction])


class DirectionRow(NamedTuple):
    """What is known of a legal direction, as a row of a list.

    Attributes:
        direction: the direction.
        is_best: whether it is the best one.
        is_played: whether it was played.
        loss: what it loses against the best, "1,204" or "3.2 %"; empty where that is nothing.
        share: how long its bar is, of 1 for the best; drawn so that what differs is seen.
        grade: what a review would call it; None where the values are a rating.
    """

    direction: Direction
    is_best: bool
    is_played: bool
    loss: str
    share: float
    grade: Grade | None

    @property
    def text(self) -> str:
        """What a list says of it: "best", "as good" or the loss with a minus."""
        if self.is_best:
            return _("best")
        return f"\N{MINUS SIGN}{self.loss}" if self.loss else _("as good")


def direction_rows(
    values: Mapping[Direction, float], best: Direction, unit: Unit, played: Direction | None = None
) -> list[DirectionRow]:
    """Return a row for each legal direction, the best first, also among equals."""
    most = max(values.values())
    losses = {each: most - values[each] for each in values}
    spread = max(*losses.values(), abs(most) / 10) or 1.0
    whole = most if most > 0 else spread
    return [
        DirectionRow(
            each,
            each is best,
            each is played,
            "" if each is best else short_loss(losses[each], unit),
            1 - 0.6 * losses[each] / spread,
            None if unit is Unit.RATING else grade_of(min(1.0, losses[each] / whole)),
        )
        for each in sorted(values, key=lambda each: (each is not best, losses[each]))
    ]


def options_of(hint: Hint) -> list[DirectionRow]:
    """Return the legal directions of a hint that are valued, the best first."""
    return direction_rows(hint.values or {hint.direction: 0.0}, hint.direction, hint.meaning.unit)


def describe_losses(rows: list[DirectionRow]) -> list[str]:
    """Return what each direction loses against the best one, as sentences."""
    return [
        (_("{direction} loses {loss}.") if row.loss else _("{direction} is as good.")).format(
            direction=name_of(row.direction), loss=row.loss
        )
        for row in rows
        if not row.is_best
    ]


def short_loss(loss: float, unit: Unit) -> str:
    """Return a loss in few digits, "1,204", "250 k" or "3.2 %"; an empty text if there is none."""
    if unit is Unit.CHANCE:
        return f"{number(100 * loss, 1)} %" if round(100 * loss, 1) else ""
    if loss >= 99_999.5:
        return _("{n} k").format(n=number(loss / 1000))
    return number(loss) if round(loss) else ""


def headline(hint: Hint) -> str:
    """Return what a hint says first: "Left is best"."""
    text = _("For now, {direction} looks best") if hint.instead_of else _("{direction} is best")
    name = way_of if hint.instead_of else name_of
    return text.format(direction=name(hint.direction))


def reason_of(hint: Hint) -> str:
    """Return why a direction is best, as a sentence, where that can be seen; else an empty text."""
    if hint.position is None:
        return ""
    board, merging = hint.position.board, hint.position.rules.merging
    after = {each: board.slide(each, merging).board for each in board.legal_directions()}
    chosen = after.pop(hint.direction)
    if not after:
        return _("It is the only move.")
    if chosen.max_tile > board.max_tile:
        return _("It makes {tile}.").format(tile=chosen.max_tile)
    keeps = _is_in_corner(board) and _is_in_corner(chosen)
    if keeps and not all(map(_is_in_corner, after.values())):
        return _("It keeps {tile} in the corner.").format(tile=board.max_tile)
    rooms = [_room(each) for each in after.values()]
    if _room(chosen) >= max(rooms) and _room(chosen) > min(rooms):
        return _("It leaves the most room.")
    return ""


def _is_in_corner(board: Board) -> bool:
    """Say whether the largest tile is in a corner."""
    first, last = board.rows[0], board.rows[-1]
    return board.max_tile in (first[0], first[-1], last[0], last[-1])


def _room(board: Board) -> int:
    return len(board.empty_cells())


def describe_hint(hint: Hint) -> str:
    """Return a hint as sentences: the direction, why, and what each other loses against it."""
    said = [f"{headline(hint)}.", reason_of(hint), *describe_losses(options_of(hint))]
    if hint.instead_of:
        said.append(_("A better hint is on its way."))
    return " ".join(filter(None, said))


def describe_outlook(hint: Hint) -> str:
    """Return what comes if the game is played on, as sentences; empty where that is not known."""
    chance, points = hint.meaning.chance, hint.points
    said = []
    if points is not None and hint.meaning.is_exact:
        text = _("Exactly {points} points to come with perfect play.")
        said.append(text.format(points=number(points, 2)))
    elif hint.meaning.is_exact:
        said.append(_("This is proven: no move is better."))
    elif points is not None:
        text = _("About {points} points to come with good play.")
        said.append(text.format(points=points_text(points)))
    if chance:
        text = _("{tile} was made in {games}.")
        said.append(text.format(tile=chance.tile, games=games_text(chance)))
    return " ".join(said)


def points_text(points: float) -> str:
    """Return points to come as no more digits than can be relied on: "280,000"."""
    return number(float(f"{max(points, 0):.2g}"))


def games_text(chance: Chance) -> str:
    """Return how many of how many games made a tile: "660 of 1,000 games"."""
    text = _("{made} of {games} games")
    return text.format(made=number(chance.made), games=number(chance.games))


# For those who begin

TEACHING_MOVES = 3
"""The first moves, during which a line teaches the game."""


def teaching(rules: Rules, moves: int) -> str:
    """Return the line that teaches the game during its first moves; then an empty text."""
    if moves >= TEACHING_MOVES:
        return ""
    if rules.target is None:
        return _("Join equal tiles.")
    return _("Join equal tiles. Make {target}.").format(target=rules.target)
