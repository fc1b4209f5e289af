"""Plots as SVG: the graph of a review, bars, and lines over the same steps.

They need neither scripts nor colours: without a style sheet all is drawn in the colour of the text.
`STYLE` colours the classes of the graph of a review, where a line shows the value of the position
before each move and each mistake is marked with a shape for its grade. The classes ``plot``,
``bar`` and ``line`` are for style sheets; lines differ by their dashes and marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from py2048.players import Unit
from py2048.review.games import Review
from py2048.review.moves import Grade, MoveReview
from py2048.review.words import describe_move


class _Box(NamedTuple):
    """The size of a picture, and its margins with the labels of the axes."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


PLOT = _Box(640, 220, left=84, right=48, top=24, bottom=30)
GRAPH = _Box(800, 300, left=76, right=12, top=14, bottom=40)

TICKS, GRAPH_TICKS = 4, 5
LETTER = 12
"""How much room a letter of a name has below the axis, on narrow screens with larger letters."""

MAX_VALUES = 15
"""How many bars have their values above them at most."""

MAX_MARKS = 60
"""Lines with more points have no marks."""

MAX_MISTAKES = 200
"""How many mistakes are marked at most, those that lost the largest share of the chances."""

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

_MARKS = ("M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", "M0 -4L4 0L0 4L-4 0Z")
_DASHES = ("", ' stroke-dasharray="6 4"')


class _Scale:
    """Where points are on a picture, with round values at the ticks of its height.

    Args:
        box: the picture.
        first: the value at its left.
        last: the value at its right.
        low: the value at its bottom, rounded down if negative.
        high: what its height must hold.
        ticks: how many ticks there are, about.
    """

    def __init__(
        self, box: _Box, first: float, last: float, low: float, high: float, ticks: int
    ) -> None:
        step = round_step((high - low) / ticks)
        low = low if low >= 0 else step * math.floor(low / step)
        intervals = max(math.ceil((high - low) / step - 1e-9), 1)
        self.ticks = [low + step * n for n in range(intervals + 1)]
        self.first, self.last, self._box = first, max(last, first + 1), box
        self._across = (box.width - box.left - box.right) / (self.last - first)
        self._up = (box.height - box.top - box.bottom) / (step * intervals)

    def x(self, place: float) -> float:
        return round(self._box.left + self._across * (place - self.first), 1)

    def y(self, value: float) -> float:
        box = self._box
        return round(box.height - box.bottom - self._up * (value - self.ticks[0]), 1)

    def grid(self, names: Sequence[str]) -> str:
        """Return a line for each tick, with its name."""
        box = self._box
        return "".join(
            f'<path stroke-opacity="0.2" d="M{box.left} {self.y(tick):g}H{box.width - box.right}"/>'
            + label(box.left - 7, self.y(tick) + 4, "end", name)
            for tick, name in zip(self.ticks, names, strict=True)
        )


def round_step(step: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, … and of their fractions that is not below `step`."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


def label(x: float, y: float, anchor: str, text: str) -> str:
    """Return a piece of text as SVG; `anchor` is the side of it that is at `x`."""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" stroke="none">'
        f"{escape(text)}</text>"
    )


# --- the graph of a review -----------------------------------------------------------------------


def graph(review: Review) -> str:
    """Return the graph of a review, an element of HTML."""
    moves = review.moves
    points = [(float(move.ply), _height_of(review, move)) for move in moves]
    if review.unit is Unit.POINTS and review.is_whole:
        points.append((len(moves) + 1.0, float(review.record.score)))
    if not points:
        return ""
    heights = [y for _, y in points]
    low = min(0.0, *heights)
    scale = _Scale(GRAPH, points[0][0], points[-1][0], low, max(heights), GRAPH_TICKS)
    what = "Expected final score" if review.unit is Unit.POINTS else "Value of the position"
    said = f"{what} before each move. Accuracy {review.accuracy:.1f} %."
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_MISTAKES]
    marks = "".join(_mark(scale, review, move) for move in reversed(worst))  # the worst on top
    line = f'<polyline class="line" stroke-width="1.5" points="{_path(scale, points)}"/>'
    return _svg("review-graph", GRAPH, said, _axes(scale, review.unit), line, marks)


def _height_of(review: Review, move: MoveReview) -> float:
    """Return what the graph shows of a move."""
    return move.expected if review.unit is Unit.POINTS else move.values[move.best]


def _path(scale: _Scale, points: Sequence[tuple[float, float]]) -> str:
    """Return the points of the line: in each column of the picture the lowest and the highest."""
    columns: dict[int, list[tuple[float, float]]] = {}
    for x, y in points:
        columns.setdefault(int(scale.x(x)), []).append((x, y))
    kept = [
        point
        for column in columns.values()
        for point in sorted({min(column, key=lambda p: p[1]), max(column, key=lambda p: p[1])})
    ]
    return " ".join(f"{scale.x(x):g},{scale.y(y):g}" for x, y in kept)


def _axes(scale: _Scale, unit: Unit) -> str:
    names = [f"{100 * t:.3g} %" if unit is Unit.CHANCE else f"{t:,.10g}" for t in scale.ticks]
    step = max(round_step((scale.last - scale.first) / 6), 1.0)
    plies = [step * k for k in range(int(scale.last / step) + 1) if step * k >= scale.first]
    labels = [
        label(scale.x(ply), GRAPH.height - GRAPH.bottom + 18, "middle", f"{ply:,.0f}")
        for ply in plies or [scale.first]
    ]
    middle = label(GRAPH.width / 2, GRAPH.height - 4, "middle", "move")
    return scale.grid(names) + "".join(labels) + middle


def _mark(scale: _Scale, review: Review, move: MoveReview) -> str:
    x, y = scale.x(move.ply), scale.y(_height_of(review, move))
    return (
        f'<path class="{move.grade}" fill="currentColor" stroke="none" '
        f'transform="translate({x:g} {y:g})" d="{SHAPES[move.grade]}">'
        f"<title>{escape(describe_move(review, move))}</title></path>"
    )


# --- bars and lines ------------------------------------------------------------------------------


def bar_plot(said: str, bars: Sequence[tuple[str, float]]) -> str:
    """Return bars side by side, each with its name below and its value above.

    Args:
        said: what it shows, in words.
        bars: names and values, which are not negative.
    """
    box, top = PLOT, max([value for _, value in bars], default=0) or 1
    step = (box.width - box.left - box.right) / max(len(bars), 1)
    base, room = box.height - box.bottom, box.height - box.bottom - box.top
    width = min(max(step - 4, step / 2), 60)
    shown, parts = _shown([name for name, _ in bars]), []
    for place, (name, value) in enumerate(bars):
        x, height = box.left + step * place, room * value / top
        written = f"{value:,.10g}"
        parts.append(
            f'<rect class="bar" fill="currentColor" stroke="none" x="{x:.1f}" '
            f'y="{base - height:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(name)}: {written}</title></rect>"
        )
        if len(bars) <= MAX_VALUES and value:
            parts.append(label(x + width / 2, base - height - 5, "middle", written))
        if place in shown:
            parts.append(label(x + width / 2, box.height - 8, "middle", name))
    axis = f'<path stroke-opacity="0.4" d="M{box.left} {base}H{box.width - box.right}"/>'
    return _svg("plot", PLOT, said, axis, *parts)


def line_plot(
    said: str,
    steps: Sequence[str],
    lines: Mapping[str, Sequence[float | None]],
    *,
    low: float = 0,
    unit: str = "",
) -> str:
    """Return lines over the same steps.

    Args:
        said: what it shows, in words.
        steps: the names of the steps.
        lines: the lines by their names, at most two, each with a value for each step; None where
            there is none.
        low: the lower end of the axis, unless a value is lower.
        unit: what is added to the numbers.
    """
    known = [value for line in lines.values() for value in line if value is not None]
    low, high = min([low, *known]), max([low, *known])
    scale = _Scale(PLOT, 0, len(steps) - 1, low, high, TICKS)
    drawn = [
        _line(scale, number, [f"{step}: {name}" for step in steps], line, unit)
        for number, (name, line) in enumerate(lines.items())
    ]
    grid = scale.grid([f"{tick:,.10g}{unit}" for tick in scale.ticks])
    return _svg("plot", PLOT, said, grid, *_names(scale, steps), *drawn)


def _names(scale: _Scale, steps: Sequence[str]) -> list[str]:
    return [
        label(scale.x(place), PLOT.height - 8, "middle", steps[place]) for place in _shown(steps)
    ]


def _line(
    scale: _Scale, number: int, names: Sequence[str], line: Sequence[float | None], unit: str
) -> str:
    points = [(place, value) for place, value in enumerate(line) if value is not None]
    path = " ".join(f"{scale.x(place):g},{scale.y(value):g}" for place, value in points)
    marks = [
        f'<path fill="currentColor" stroke="none" d="{_MARKS[number]}" '
        f'transform="translate({scale.x(place):g} {scale.y(value):g})">'
        f"<title>{escape(names[place])} {value:,.10g}{unit}</title></path>"
        for place, value in points
        if len(points) <= MAX_MARKS
    ]
    return (
        f'<g class="line line-{number + 1}"><polyline stroke-width="2"{_DASHES[number]} '
        f'points="{path}"/>{"".join(marks)}</g>'
    )


def _svg(kind: str, box: _Box, said: str, *parts: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {box.width} {box.height}" role="img" '
        f'aria-label="{escape(said)}" fill="none" stroke="currentColor">{"".join(parts)}</svg>'
    )


def _shown(names: Sequence[str]) -> range:
    """Return the places of the names that have room below the axis."""
    needed = LETTER * max(map(len, names), default=0) * len(names)
    return range(0, len(names), max(math.ceil(needed / (PLOT.width - PLOT.left - PLOT.right)), 1))
