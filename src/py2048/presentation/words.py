"""Wording of moves, grades, luck and reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from py2048.core.direction import Direction
from py2048.core.language import N_, _, ngettext, number
from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.mistakes import MistakeKind
from py2048.review.moves import Grade, MoveReview

_LUCK = (N_("average"), N_("good"), N_("very good"))
_BAD_LUCK = (N_("average"), N_("bad"), N_("very bad"))


def grade_word(grade: Grade, count: int) -> str:
    """Return the name of a grade, in the plural form for `count` moves."""
    words = {
        Grade.BEST: ngettext("best", "best", count),
        Grade.GOOD: ngettext("good", "good", count),
        Grade.INACCURACY: ngettext("inaccuracy", "inaccuracies", count),
        Grade.MISTAKE: ngettext("mistake", "mistakes", count),
        Grade.BLUNDER: ngettext("blunder", "blunders", count),
    }
    return words[grade]


_WAYS = {
    Direction.UP: N_("up"),
    Direction.DOWN: N_("down"),
    Direction.LEFT: N_("left"),
    Direction.RIGHT: N_("right"),
}


def way_of(direction: Direction) -> str:
    """Return a direction within a sentence: you went "left"."""
    return _(_WAYS[direction])


_MISTAKES = {
    MistakeKind.CORNER: (
        N_("corner left"),
        N_("the largest tile leaves its corner, and the best move keeps it there"),
    ),
    MistakeKind.ROW: (
        N_("row broken"),
        N_("the full line at the edge breaks up, and the best move keeps it together"),
    ),
    MistakeKind.ENDING: (
        N_("ending"),
        N_("the large tiles are in place, and the best move gives the others the room they need"),
    ),
    MistakeKind.MERGE: (N_("merge missed"), N_("the best move merges more")),
    MistakeKind.SETUP: (
        N_("merge not prepared"),
        N_("after the best move the next one can merge more"),
    ),
    MistakeKind.OTHER: (N_("other"), N_("the best move leaves the next tiles a better place")),
}
"""Name of each kind of mistake, and why the best move is better."""


def mistake_name(kind: MistakeKind) -> str:
    """Return the name of a kind of mistake: "corner left"."""
    return _(_MISTAKES[kind][0])


def mistake_reason(kind: MistakeKind) -> str:
    """Return why the best move is better, as a clause."""
    return _(_MISTAKES[kind][1])


def percent(share: float) -> str:
    """Format a share: "15 %", "0.4 %"."""
    return f"{number(100 * share, 0 if share >= 0.095 else 1)} %"


def accuracy_text(accuracy: float | None, decimals: int = 1) -> str:
    """Format an accuracy: "82.3 %", or "not yet" if too few moves are known."""
    return _("not yet") if accuracy is None else f"{number(accuracy, decimals)} %"


def luck_word(luck: float, swing: float) -> str:
    """Describe luck in a word or two: "good"; empty if the game left nothing to chance.

    Luck is compared with its standard deviation in the same game, because the values of tiles vary
    more in a game that is close to ending for a long time. Two out of three games are "average",
    and one in twenty is "very good" or "very bad", regardless of skill.

    Args:
        luck: Total luck of the game.
        swing: Its standard deviation, see `Review.swing`.
    """
    words = _LUCK if luck >= 0 else _BAD_LUCK
    return _(words[min(int(abs(luck) / swing), 2)]) if swing else ""


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Align rows as text: the first column left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in rows
    )


def plain_amount(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Format a loss or luck without "points": "1,203", "+3.4", "0.42 %".

    Values below ten have one decimal.
    """
    scaled = 100 * value if unit is Unit.CHANCE else value
    digits = 2 if unit is Unit.CHANCE else int(abs(scaled) < 9.95)
    text = number(scaled, digits, signed=signed)
    is_zero = not text.strip("+-0.,")
    return ("0" if is_zero else text) + (" %" if unit is Unit.CHANCE else "")


def amount(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Format a value with its unit: ``1,203 points``, ``4.20 %``, or a bare rating."""
    text = plain_amount(unit, value, signed=signed)
    return ngettext("{n} point", "{n} points", 2).format(n=text) if unit is Unit.POINTS else text


def describe_review(review: Review, *, brief: bool = False) -> list[str]:
    """Summarise a review in lines of text, without its moves.

    Args:
        review: The review to summarise.
        brief: Omit the judge, the totals and the phases.
    """
    text = _("accuracy {accuracy}") if brief else _("accuracy {accuracy}, judged by {judge}")
    lines = [text.format(accuracy=accuracy_text(review.accuracy), judge=review.judge)]
    if len(review.moves) < review.record.plies:
        text = _("reviewed: {done} of {count} moves")
        done, count = number(len(review.moves)), number(review.record.plies)
        lines.append(text.format(done=done, count=count))
    if not review.moves:
        return lines
    counts = counted(review.counts)
    lines.append(_("moves: {counts}").format(counts=", ".join(counts)))
    if not brief:
        return [*lines, *_sums(review)]
    luck = luck_word(review.luck, review.swing)
    return [*lines, *([_("luck: {luck}").format(luck=luck)] if luck else [])]


def counted(counts: Mapping[Grade, int]) -> list[str]:
    """List the number of moves per grade: "3 mistakes"; grades without moves are omitted."""
    return [f"{number(n)} {grade_word(grade, n)}" for grade, n in counts.items() if n]


def _sums(review: Review) -> list[str]:
    """Describe total loss and luck, and the phase in which most was lost."""
    unit, phase = review.unit, review.worst_phase
    outcome = _("the moves lost {points}") if review.loss >= 0 else _("the moves gained {points}")
    outcome = outcome.format(points=amount(unit, abs(review.loss)))
    if unit is Unit.POINTS:
        text = _("{points} were expected at the start; {rest}")
        outcome = text.format(points=amount(unit, review.expected), rest=outcome)
    text = _("luck gave {points}") if review.luck >= 0 else _("luck took {points}")
    text += _(", and up to {swing} either way is usual in such a game") if review.swing else ""
    gave, swing = amount(unit, abs(review.luck)), amount(unit, review.swing)
    lines = [outcome, text.format(points=gave, swing=swing)]
    if phase and plain_amount(unit, phase.loss) != "0":
        lost = amount(unit, phase.loss)
        text = _("most was lost with {tile} as the largest tile: {points}, moves {first} to {last}")
        lines.append(text.format(tile=phase.tile, points=lost, first=phase.first, last=phase.last))
    return lines


def describe_move(review: Review, move: MoveReview) -> str:
    """Describe a move's grade, its loss and the better move."""
    grade, played = grade_word(move.grade, 1), way_of(move.played)
    if move.played is move.best:
        return f"{move.ply}. {played}: {grade}"
    text = _("{ply}. {played}, {grade}: lost {points}, {share} of the chances; best was {best}")
    points, share = amount(review.unit, move.loss), percent(move.share)
    facts = {"ply": move.ply, "played": played, "grade": grade, "best": way_of(move.best)}
    return text.format(points=points, share=share, **facts)
