"""Plots as SVG: the graph of a review, bars, and lines over the same steps.

They need neither scripts nor colours: without a style sheet all is drawn in the colour of the text.
The graph of a review fills whatever box a style sheet gives it; the classes of its dots are
grades. The classes ``plot``, ``bar`` and ``line`` are for style sheets, too; lines differ by their
dashes and marks.
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
WIDE, HIGH, MARGIN = 968, 150, 12
"""The size of the graph of a review, and the least room above and below its line."""

TICKS = 4
LETTER = 12
"""How much room a letter of a name has below the axis, on narrow screens with larger letters."""

MAX_VALUES = 15
"""How many bars have their values above them at most."""

MAX_MARKS = 60
"""Lines with more points have no marks."""

MAX_MISTAKES = 200
"""How many mistakes are marked at most, those that lost the largest share of the chances."""

DOTS = {Grade.INACCURACY: 5, Grade.MISTAKE: 8, Grade.BLUNDER: 11}
"""How large the dot of a mistake is, so that none depends on a colour."""

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


def graph(review: Review, *, is_silent: bool = False) -> str:
    """Return the graph of what was still to come before each move, an element of HTML.

    It is scaled to the range of the game itself; only chances are drawn from 0 to 1.

    Args:
        review: the review.
        is_silent: whether words stand beside it, and it needs none of its own.
    """
    heights = [move.values[move.best] for move in review.moves]
    if review.unit is Unit.POINTS and review.is_whole:
        heights.append(0.0)
    if not heights:
        return ""
    low, high = (0.0, 1.0) if review.unit is Unit.CHANCE else (min(heights), max(heights))
    across = WIDE / max(len(heights) - 1, 1)
    up = (HIGH - 2 * MARGIN) / (high - low or 1)
    points = [
        (round(across * place, 1), round(HIGH - MARGIN - up * (height - low), 1))
        for place, height in enumerate(heights)
    ]
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_MISTAKES]
    first = review.moves[0].ply
    dots = "".join(  # the worst on top
        _dot(points[move.ply - first], move, "" if is_silent else describe_move(review, move))
        for move in reversed(worst)
    )
    path, name = _path(points), f"fill-{review.record.plies}-{review.record.score}"
    said = f"Points still to come before each move. Accuracy {review.accuracy:.1f} %."
    told = 'aria-hidden="true"' if is_silent else f'role="img" aria-label="{said}"'
    grid = "".join(f"M0 {HIGH * part // 5}H{WIDE}" for part in (1, 2, 3, 4))
    return (
        f'<svg class="review-graph" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" {told} '
        f'fill="none" stroke="currentColor"><defs><linearGradient id="{name}" x1="0" y1="0" x2="0" '
        'y2="1"><stop stop-color="currentColor" stop-opacity=".34"/><stop offset="1" '
        'stop-color="currentColor" stop-opacity=".02"/></linearGradient></defs>'
        f'<path stroke-opacity=".2" vector-effect="non-scaling-stroke" d="{grid}"/>'
        f'<polygon stroke="none" fill="url(#{name})" points="0,{HIGH} {path} {WIDE},{HIGH}"/>'
        '<polyline stroke-width="2.5" stroke-linejoin="round" vector-effect="non-scaling-stroke" '
        f'points="{path}"/>{dots}</svg>'
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return the points of the line: in each column of the picture the lowest and the highest."""
    columns: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        columns.setdefault(int(point[0]), []).append(point)
    kept = [
        point
        for column in columns.values()
        for point in sorted({min(column, key=lambda p: p[1]), max(column, key=lambda p: p[1])})
    ]
    return " ".join(f"{x:g},{y:g}" for x, y in kept)


def _dot(point: tuple[float, float], move: MoveReview, said: str) -> str:
    """Return a dot, which is round however the picture is stretched: the end of a line."""
    title = f"<title>{escape(said)}</title>" if said else ""
    return (
        f'<path class="{move.grade}" d="M{point[0]:g} {point[1]:g}h0" stroke-linecap="round" '
        f'stroke-width="{DOTS[move.grade]}" vector-effect="non-scaling-stroke">{title}</path>'
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
