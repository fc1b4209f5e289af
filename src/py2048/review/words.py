"""Reviews in words, for every screen."""

from __future__ import annotations

from collections.abc import Sequence

from py2048.language import number as written
from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.moves import Grade, MoveReview

PLURALS = {
    Grade.BEST: "best",
    Grade.GOOD: "good",
    Grade.INACCURACY: "inaccuracies",
    Grade.MISTAKE: "mistakes",
    Grade.BLUNDER: "blunders",
}


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
    return number(unit, value, signed=signed) + (" points" if unit is Unit.POINTS else "")


def describe_review(review: Review, *, brief: bool = False) -> list[str]:
    """Return a review as lines of text, without its moves; `brief` leaves the phases out."""
    lines = [f"accuracy {review.accuracy:.1f} %, judged by {review.judge}"]
    if len(review.moves) < review.record.plies:
        lines.append(f"reviewed: {len(review.moves):,} of {review.record.plies:,} moves")
    if not review.moves:
        return lines
    counts = [
        f"{count:,} {grade if count == 1 else PLURALS[grade]}"
        for grade, count in review.counts.items()
        if count
    ]
    lines.append(f"moves: {', '.join(counts)}")
    lost, gave = amount(review.unit, abs(review.loss)), amount(review.unit, abs(review.luck))
    said = f"the moves {'lost' if review.loss >= 0 else 'gained'} {lost}, "
    said += f"luck {'gave' if review.luck >= 0 else 'took'} {gave}"
    if review.unit is Unit.POINTS:
        said = f"{amount(review.unit, review.expected)} were expected at the start; {said}"
    lines.append(said)
    phase = None if brief else review.worst_phase
    if phase and number(review.unit, phase.loss) != "0":
        moves = f"moves {phase.first} to {phase.last}"
        if phase.first == phase.last:
            moves = f"move {phase.first}"
        lost = amount(review.unit, phase.loss)
        lines.append(f"most was lost with {phase.tile} as the largest tile: {lost} in {moves}")
    return lines


def describe_move(review: Review, move: MoveReview) -> str:
    """Return the grade of a move, what it lost, and what was better."""
    if move.played is move.best:
        return f"{move.ply}. {move.played}: {move.grade}"
    lost = f"lost {amount(review.unit, move.loss)}, {100 * move.share:.2g} % of the chances"
    return f"{move.ply}. {move.played}, {move.grade}: {lost}; best was {move.best}"
