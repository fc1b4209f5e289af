"""Put hints into words: the best move, the reason, and how much the other moves lose.

A hint has a headline such as "Left is best" (`headline`). If the reason is clear, a sentence
explains the move (`reason_of`). Below, a list shows each legal direction (`options_of`).
`describe_hint` returns the same information as sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.core.rules import Rules
from py2048.players import Unit
from py2048.presentation.screen import Choice
from py2048.presentation.words import games_text, name_of, per_100, percent, way_of
from py2048.review import Grade
from py2048.review.advice import Hint
from py2048.review.moves import MoveReview, grade_of

PLAYERS = (
    Choice("", N_("Strong"), N_("The best available on this board")),
    Choice("expectimax:depth=1", N_("Fast"), N_("Good, and answers instantly")),
    Choice("greedy", N_("Beginner"), N_("Merges all it can, never plans ahead")),
)
"""The computer players that menus offer by name, with the default first.

The values are player specs. Experts can enter any other spec. An empty spec selects the best player
for the current board. Titles and details are translatable.
"""


def player_name(spec: str, best: str = "") -> str:
    """Return the display name of a player, or its spec if it has no name.

    Args:
        spec: Player spec. An empty string selects the best player for the current board.
        best: Spec of the best player on the current board.
    """
    names = {each.value: each.title for each in PLAYERS} | {best: PLAYERS[0].title}
    return _(names[spec]) if spec in names else spec


class DirectionRow(NamedTuple):
    """One row in a list of moves. It describes a legal direction.

    Attributes:
        direction: Direction of the move.
        is_best: Whether the move is the best.
        is_played: Whether this move was played.
        loss: Loss relative to the best move, such as "1,204" or "3.2 %", or empty if negligible.
        share: Relative length of the move's bar, from 0 to 1. In hints and reviews for a level, the
            bar shows the chance of the goal. If the values are not chances, the best move has a
            full bar, and small differences are magnified.
        grade: The grade that a review gives the move, or None if the values are ratings.
        chance: Chance of the goal, such as "62 %", or empty if the values are points or ratings.
    """

    direction: Direction
    is_best: bool
    is_played: bool
    loss: str
    share: float
    grade: Grade | None
    chance: str = ""

    @property
    def text(self) -> str:
        """Text of the row: the chance, "best", "as good", or the loss with a minus sign."""
        if self.chance or self.is_best:
            return self.chance or _("best")
        return f"\N{MINUS SIGN}{self.loss}" if self.loss else _("as good")


def ranked(move: MoveReview) -> list[Direction]:
    """Return the legal directions of a judged position, best first."""
    return sorted(move.values, key=lambda each: (each is not move.best, -move.values[each]))


def rows_of(move: MoveReview, unit: Unit) -> list[DirectionRow]:
    """Return a row for each legal direction of a judged position, best first."""
    if move.goal is None:
        return direction_rows(move.values, move.best, unit, move.played)
    return direction_rows(move.values, move.best, Unit.CHANCE, move.played, move.errors)


def direction_rows(
    values: Mapping[Direction, float],
    best: Direction,
    unit: Unit,
    played: Direction | None = None,
    errors: Mapping[Direction, float] | None = None,
) -> list[DirectionRow]:
    """Return the rows for a list of moves, with the move `best` first.

    If the values are chances of reaching a level's goal, `errors` contains their standard errors.
    """
    most = max(values.values()) if errors is None else values[best]
    losses = {each: most - values[each] for each in values}
    spread = max(*losses.values(), abs(most) / 10) or 1.0
    whole, rows = most if most > 0 else spread, list[DirectionRow]()
    for each in sorted(values, key=lambda each: (each is not best, losses[each])):
        share, chance = 1 - 0.6 * losses[each] / spread, ""
        grade = None if unit is Unit.RATING else grade_of(min(1.0, losses[each] / whole))
        if errors is not None:
            from py2048.review.coaching import grade_for  # slow: imports NumPy

            share, chance = values[each], percent(values[each])
            grade = grade_for(losses[each], errors.get(each, 0.0))
        loss = "" if each is best else short_loss(losses[each], unit)
        rows.append(DirectionRow(each, each is best, each is played, loss, share, grade, chance))
    return rows


def options_of(hint: Hint) -> list[DirectionRow]:
    """Return the rows for a hint, with the best move first."""
    if hint.judged:
        return rows_of(hint.judged, Unit.CHANCE)
    return direction_rows(hint.values or {hint.direction: 0.0}, hint.direction, hint.meaning.unit)


def describe_losses(rows: list[DirectionRow]) -> list[str]:
    """Describe the loss of every direction except the best, one sentence per direction."""
    worse, same = _("{direction} loses {loss}."), _("{direction} is as good.")
    return [
        (worse if row.loss else same).format(direction=name_of(row.direction), loss=row.loss)
        for row in rows
        if not row.is_best
    ]


def short_loss(loss: float, unit: Unit) -> str:
    """Format a loss briefly, as in "1,204", "250 k" or "3.2 %", or as "" if negligible."""
    if unit is Unit.CHANCE:
        return f"{number(100 * loss, 1)} %" if round(100 * loss, 1) else ""
    if loss >= 99_999.5:
        return _("{n} k").format(n=number(loss / 1000))
    return number(loss) if round(loss) else ""


ONLY_MOVE = N_("It is the only move.")


def headline(hint: Hint) -> str:
    """Return the headline of a hint, such as "Left is best"."""
    text = _("For now, {direction} looks best") if hint.instead_of else _("{direction} is best")
    name = way_of if hint.instead_of else name_of
    return text.format(direction=name(hint.direction))


def reason_of(hint: Hint) -> str:
    """Return a sentence with the reason for a hint, or "" if there is no clear reason."""
    if hint.position is not None and len(hint.position.board.legal_directions()) == 1:
        return _(ONLY_MOVE)
    move = hint.judged
    if move is None:
        return ""
    others = [f"{name_of(each)} {per_100(move.values[each])}" for each in ranked(move)[1:2]]
    return f"{'; '.join([games_text(move, move.best), *others])}."


def describe_hint(hint: Hint) -> str:
    """Describe the best move, the reason for it, and how much the other moves lose."""
    others = [] if hint.judged else describe_losses(options_of(hint))
    first = name_of(hint.direction) if hint.judged else headline(hint)
    sentences = [f"{first}.", reason_of(hint), *others]
    if hint.instead_of:
        sentences.append(_("A better hint is on its way."))
    return " ".join(filter(None, sentences))


def describe_outlook(hint: Hint) -> str:
    """Describe the expected outcome of the rest of the game, or return "" if it is unknown."""
    if move := hint.judged:
        text = _("From {games} simulated games after each move, give or take {points} %.")
        error = per_100(max(move.errors.values(), default=0.0))
        return text.format(games=number(move.games.get(move.best, 0)), points=error)
    chance, points = hint.meaning.chance, hint.points
    sentences = []
    if points is not None and hint.meaning.is_exact:
        text = _("Exactly {points} points to come with perfect play.")
        sentences.append(text.format(points=number(points, 2)))
    elif hint.meaning.is_exact:
        sentences.append(_("This is proven: no move is better."))
    elif points is not None:
        text = _("About {points} points to come with good play.")
        sentences.append(text.format(points=points_text(points)))
    if chance:
        games = _("{made} of {games} games")
        games = games.format(made=number(chance.made), games=number(chance.games))
        sentences.append(_("{tile} was made in {games}.").format(tile=chance.tile, games=games))
    return " ".join(sentences)


def points_text(points: float) -> str:
    """Format expected points with two significant digits, as in "280,000"."""
    return number(float(f"{max(points, 0):.2g}"))


# For beginners

TEACHING_MOVES = 3
"""Number of moves for which the tutorial line is shown."""


def teaching(rules: Rules) -> str:
    """Return the tutorial line, or an empty string after the first moves."""
    if rules.target is None:
        return _("Join equal tiles.")
    return _("Join equal tiles. Make {target}.").format(target=rules.target)
