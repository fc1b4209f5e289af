"""Reviews in words, for every screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from py2048.core.direction import Direction
from py2048.core.language import N_, _, ngettext
from py2048.core.language import number as written
from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.moves import Grade, MoveReview

_LUCK = (N_("average"), N_("good"), N_("very good"))
_BAD_LUCK = (N_("average"), N_("bad"), N_("very bad"))


def grade_word(grade: Grade, count: int) -> str:
    """Return the word for a grade, singular or plural by the number of moves."""
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
    """Return a direction as one goes: you went "left"."""
    return _(_WAYS[direction])


def percent(share: float) -> str:
    """Return a share of the chances: "15 %", "0.4 %"."""
    return f"{written(100 * share, 0 if share >= 0.095 else 1)} %"


def luck_word(luck: float, swing: float) -> str:
    """Return luck in words: "good"; empty where chance had nothing to give.

    In a game that stands on the brink for long each tile gives or takes much, so luck is compared
    with how far it swings in such a game: two games of three are "average", one of twenty is "very
    good" or "very bad", however well they are played.

    Args:
        luck: what the new tiles gave or took.
        swing: how far that usually is from nothing, see `Review.swing`.
    """
    words = _LUCK if luck >= 0 else _BAD_LUCK
    return _(words[min(int(abs(luck) / swing), 2)]) if swing else ""


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of text: the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in rows
    )


def number(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Return a loss or luck: "1,203", "+3.4", "0.42 %"; one digit after the point below ten."""
    shown = 100 * value if unit is Unit.CHANCE else value
    digits = 2 if unit is Unit.CHANCE else int(abs(shown) < 9.95)
    text = written(shown, digits, signed=signed)
    is_zero = not text.strip("+-0.,")
    return ("0" if is_zero else text) + (" %" if unit is Unit.CHANCE else "")


def amount(unit: Unit, value: float, *, signed: bool = False) -> str:
    """Return a value with its unit: ``1,203 points``, ``4.20 %`` of a chance, or a bare rating."""
    text = number(unit, value, signed=signed)
    return ngettext("{n} point", "{n} points", 2).format(n=text) if unit is Unit.POINTS else text


def describe_review(review: Review, *, brief: bool = False) -> list[str]:
    """Return a review as lines of text, without its moves.

    Args:
        review: the review.
        brief: in a player's words: no judge, no sums, no phases.
    """
    accuracy = written(review.accuracy, 1)
    text = _("accuracy {share} %") if brief else _("accuracy {share} %, judged by {judge}")
    lines = [text.format(share=accuracy, judge=review.judge)]
    if len(review.moves) < review.record.plies:
        text = _("reviewed: {done} of {count} moves")
        done, count = written(len(review.moves)), written(review.record.plies)
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
    """Return how many moves have each grade, where there are any: "3 mistakes"."""
    return [f"{written(n)} {grade_word(grade, n)}" for grade, n in counts.items() if n]


def _sums(review: Review) -> list[str]:
    """Return what the moves lost and what luck gave, and the phase in which most was lost."""
    unit, phase = review.unit, review.worst_phase
    said = _("the moves lost {points}") if review.loss >= 0 else _("the moves gained {points}")
    said = said.format(points=amount(unit, abs(review.loss)))
    if unit is Unit.POINTS:
        text = _("{points} were expected at the start; {rest}")
        said = text.format(points=amount(unit, review.expected), rest=said)
    text = _("luck gave {points}") if review.luck >= 0 else _("luck took {points}")
    text += _(", and up to {swing} either way is usual in such a game") if review.swing else ""
    gave, swing = amount(unit, abs(review.luck)), amount(unit, review.swing)
    lines = [said, text.format(points=gave, swing=swing)]
    if phase and number(unit, phase.loss) != "0":
        lost = amount(unit, phase.loss)
        text = _("most was lost with {tile} as the largest tile: {points}, moves {first} to {last}")
        lines.append(text.format(tile=phase.tile, points=lost, first=phase.first, last=phase.last))
    return lines


def describe_move(review: Review, move: MoveReview) -> str:
    """Return the grade of a move, what it lost, and what was better."""
    grade, played = grade_word(move.grade, 1), way_of(move.played)
    if move.played is move.best:
        return f"{move.ply}. {played}: {grade}"
    text = _("{ply}. {played}, {grade}: lost {points}, {share} of the chances; best was {best}")
    points, share = amount(review.unit, move.loss), percent(move.share)
    said = {"ply": move.ply, "played": played, "grade": grade, "best": way_of(move.best)}
    return text.format(points=points, share=share, **said)
