"""The graph of a review as SVG, which needs neither scripts nor colours to be read.

A line shows the value of the position before each move: the expected final score where values are
points. Each mistake is marked on it, with a shape for its grade. `STYLE` colours the classes
``line`` and those of the grades; without it all is drawn in the colour of the text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.moves import Grade, MoveReview
from py2048.review.words import describe_move

WIDTH, HEIGHT = 800, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 12, 14, 40
"""The margins, with the labels of the axes."""

MOST_MARKS = 200
"""So many mistakes are marked, those that lost the largest share of the chances."""

TICKS = 5

STYLE = """
.review-graph { width: 100%; height: auto; font: 12px sans-serif; }
.review-graph .line { color: #1565c0; }
.review-graph .inaccuracy { color: #8a6100; }
.review-graph .mistake { color: #b84500; }
.review-graph .blunder { color: #c01530; }
@media (prefers-color-scheme: dark) {
  .review-graph .line { color: #7ab8ff; }
  .review-graph .inaccuracy { color: #e8c14a; }
  .review-graph .mistake { color: #ff9c5b; }
  .review-graph .blunder { color: #ff8095; }
}
"""

SHAPES = {
    Grade.INACCURACY: "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z",
    Grade.MISTAKE: "M0 -5L5 0L0 5L-5 0Z",
    Grade.BLUNDER: "M0 -6L6 5L-6 5Z",
}
"""A disc, a diamond and a triangle."""

Point = tuple[float, float]


def height_of(review: Review, move: MoveReview) -> float:
    """Return what the graph shows of a move."""
    return move.expected if review.unit is Unit.POINTS else move.values[move.best]


def graph(review: Review) -> str:
    """Return the graph of a review, an element of HTML."""
    moves = review.moves
    points = [(float(move.ply), height_of(review, move)) for move in moves]
    if review.unit is Unit.POINTS and review.is_whole:
        points.append((len(moves) + 1.0, float(review.record.score)))
    if not points:
        return ""
    scale = _Scale(points)
    what = "Expected final score" if review.unit is Unit.POINTS else "Value of the position"
    said = f"{what} before each move. Accuracy {review.accuracy:.1f} %."
    return (
        f'<svg class="review-graph" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said)}" fill="none" stroke="currentColor">'
        f"{_axes(scale, review.unit)}"
        f'<polyline class="line" stroke-width="1.5" points="{_path(scale, points)}"/>'
        f"{''.join(_mark(scale, review, move) for move in _marked(review))}</svg>"
    )


class _Scale:
    """Where points are on the picture."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.first, self.last = points[0][0], max(points[-1][0], points[0][0] + 1)
        low, high = min(y for _, y in points), max(y for _, y in points)
        step = round_step((high - min(low, 0.0)) / TICKS)
        self.low = step * math.floor(min(low, 0.0) / step)
        self.high = max(step * math.ceil(high / step), self.low + step)
        self.ticks = [self.low + step * k for k in range(round((self.high - self.low) / step) + 1)]

    def x(self, ply: float) -> float:
        across = (ply - self.first) / (self.last - self.first)
        return round(LEFT + across * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        up = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1)


def round_step(step: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, … and of their fractions that is not below `step`."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


def _path(scale: _Scale, points: Sequence[Point]) -> str:
    """Return the points of the line: in each column of the picture the lowest and the highest."""
    columns: dict[int, list[Point]] = {}
    for x, y in points:
        columns.setdefault(int(scale.x(x)), []).append((x, y))
    kept = [
        point
        for column in columns.values()
        for point in sorted({min(column, key=lambda p: p[1]), max(column, key=lambda p: p[1])})
    ]
    return " ".join(f"{scale.x(x):g},{scale.y(y):g}" for x, y in kept)


def _axes(scale: _Scale, unit: Unit) -> str:
    lines = [
        f'<path stroke-opacity="0.2" d="M{LEFT} {scale.y(tick)}H{WIDTH - RIGHT}"/>'
        + label(LEFT - 8, scale.y(tick) + 4, "end", _tick_text(tick, unit))
        for tick in scale.ticks
    ]
    step = max(round_step((scale.last - scale.first) / 6), 1.0)
    plies = [step * k for k in range(int(scale.last / step) + 1) if step * k >= scale.first]
    lines += [
        label(scale.x(ply), HEIGHT - BOTTOM + 18, "middle", f"{ply:,.0f}")
        for ply in plies or [scale.first]
    ]
    return "".join(lines) + label(WIDTH / 2, HEIGHT - 4, "middle", "move")


def _tick_text(tick: float, unit: Unit) -> str:
    return f"{100 * tick:.3g} %" if unit is Unit.CHANCE else f"{tick:,.10g}"


def label(x: float, y: float, anchor: str, text: str) -> str:
    """Return a piece of text as SVG; `anchor` is the side of it that is at `x`."""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" stroke="none">'
        f"{escape(text)}</text>"
    )


def _marked(review: Review) -> list[MoveReview]:
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MOST_MARKS]
    return worst[::-1]  # the worst on top


def _mark(scale: _Scale, review: Review, move: MoveReview) -> str:
    x, y = scale.x(move.ply), scale.y(height_of(review, move))
    return (
        f'<path class="{move.grade}" fill="currentColor" stroke="none" '
        f'transform="translate({x:g} {y:g})" d="{SHAPES[move.grade]}">'
        f"<title>{escape(describe_move(review, move))}</title></path>"
    )
