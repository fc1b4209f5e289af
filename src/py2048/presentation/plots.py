"""SVG plots: review and score graphs, bar charts and line charts.

The plots need no scripts. Without a style sheet, plots are drawn in the text colour. A review graph
fills its container. The CSS class of each dot is the grade of the move. Other plots use the CSS
classes ``plot``, ``bar`` and ``line``, and distinguish lines by dashes and marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate, pairwise

from py2048.core.game import Record
from py2048.core.language import _
from py2048.players import Unit
from py2048.presentation.words import accuracy_text, describe_move
from py2048.review.games import Review
from py2048.review.moves import Grade

LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 84, 592, 24, 190, 640, 220
"""The plotting area and the total size of a bar chart or line chart, in SVG units."""

WIDE, HIGH, MARGIN = 968, 150, 12
"""Width, height and vertical margin of a review graph, in SVG units."""

TICKS = 4
LETTER = 12
"""Estimated width of a letter in axis labels. Narrow screens show larger text."""

MAX_VALUES = 15
"""Bar charts with more bars than this do not show the values above the bars."""

MAX_MARKS = 60
"""Line charts with more points than this do not mark the points."""

DOTS = {Grade.BEST: 8, Grade.INACCURACY: 5, Grade.MISTAKE: 8, Grade.BLUNDER: 11}
"""Diameter of the dot for each grade, so that grades can be distinguished without colour."""

_MARKS = ("M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", "M0 -4L4 0L0 4L-4 0Z")
_DASHES = ("", ' stroke-dasharray="6 4"')


def round_step(step: float) -> float:
    """Round a step up to 1, 2 or 5 times a power of ten."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


def label(x: float, y: float, anchor: str, text: str) -> str:
    """Return an SVG text element, aligned at `x` by the ``text-anchor`` `anchor`."""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor" stroke="none">'
        f"{escape(text)}</text>"
    )


# --- the graph of a review -----------------------------------------------------------------------


def graph(review: Review, *, is_silent: bool = False) -> str:
    """Draw an SVG graph of the chances of the next two goals, or of the expected points.

    In a review for a level, a solid line shows the chance of the first goal, and a dashed line the
    chance of the second goal. The vertical axis spans the range of the values, or 0 to 1 for
    probabilities.

    Args:
        review: The review to draw.
        is_silent: Whether to omit the text alternatives, for pages that describe the game
            themselves.
    """
    heights = [move.values[move.best] for move in review.moves]
    if review.unit is Unit.POINTS and review.is_whole:
        heights.append(0.0)
    if not heights:
        return ""
    most = 1.0 if review.unit is Unit.CHANCE else None
    points, first = _points(heights, most=most), review.moves[0].ply
    dots = "".join(  # draws the worst mistakes on top
        dot(points[move.ply - first], move.grade, "" if is_silent else describe_move(review, move))
        for move in sorted(review.moments, key=lambda move: move.loss)
    )
    text = _("Points still to come before each move. Accuracy {accuracy}.")
    if review.level:
        text = _("Chance of the next two tiles before each move. Accuracy {accuracy}.")
        nexts = [move.next_values.get(move.best, 0.0) for move in review.moves]
        line = 'stroke-width="1.5" stroke-dasharray="6 4" vector-effect="non-scaling-stroke"'
        dots = f'<polyline {line} points="{_path(_points(nexts, most=1.0))}"/>{dots}'
    text = text.format(accuracy=accuracy_text(review.accuracy))
    aria = 'aria-hidden="true"' if is_silent else f'role="img" aria-label="{text}"'
    return line_graph(points, dots, f"{review.record.plies}-{review.record.score}", aria)


def score_graph(record: Record) -> str:
    """Draw the score after each turn, with a dot at each new largest tile.

    The graph has no text alternative. For a game without turns, the result is an empty string.
    """
    ends = [(board.max_tile, score) for board, _turn, score in record.replay()]
    points = _points([0, *(score for _tile, score in ends)])
    peaks = [*accumulate((tile for tile, _score in ends), max, initial=record.start.max_tile)]
    made = [place for place, (was, now) in enumerate(pairwise(peaks), 1) if now > was]
    dots = "".join(dot(points[place], Grade.BEST) for place in made)
    return line_graph(points, dots, "score", 'aria-hidden="true"') if ends else ""


def _points(heights: Sequence[float], *, most: float | None = None) -> list[tuple[float, float]]:
    """Map values to SVG coordinates.

    The vertical axis ranges from 0 to `most`. By default, the axis covers the range of the values.
    """
    low, high = (min(heights), max(heights)) if most is None else (0.0, most)
    across = WIDE / max(len(heights) - 1, 1)
    up = (HIGH - 2 * MARGIN) / (high - low or 1)
    return [
        (round(across * place, 1), round(HIGH - MARGIN - up * (height - low), 1))
        for place, height in enumerate(heights)
    ]


def line_graph(points: Sequence[tuple[float, float]], dots: str, name: str, aria: str) -> str:
    """Return the SVG of a line with dots. Its `name` must be unique on the page."""
    path, name = _path(points), f"fill-{name}"
    grid = "".join(f"M0 {HIGH * part // 5}H{WIDE}" for part in (1, 2, 3, 4))
    return (
        f'<svg class="review-graph" viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" '
        f'{aria} fill="none" stroke="currentColor"><defs>'
        f'<linearGradient id="{name}" x1="0" y1="0" x2="0" y2="1">'
        '<stop stop-color="currentColor" stop-opacity=".34"/><stop offset="1" '
        'stop-color="currentColor" stop-opacity=".02"/></linearGradient></defs>'
        f'<path stroke-opacity=".2" vector-effect="non-scaling-stroke" d="{grid}"/>'
        f'<polygon stroke="none" fill="url(#{name})" points="0,{HIGH} {path} {WIDE},{HIGH}"/>'
        '<polyline stroke-width="2.5" stroke-linejoin="round" vector-effect="non-scaling-stroke" '
        f'points="{path}"/>{dots}</svg>'
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return the points of a polyline, keeping only the extremes in each column of pixels."""
    columns: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        columns.setdefault(int(point[0]), []).append(point)
    kept = [
        point
        for column in columns.values()
        for point in sorted({min(column, key=lambda p: p[1]), max(column, key=lambda p: p[1])})
    ]
    return " ".join(f"{x:g},{y:g}" for x, y in kept)


def dot(point: tuple[float, float], grade: Grade, title: str = "") -> str:
    """Return a dot, drawn as a line of length zero with round caps."""
    title = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<path class="{grade}" d="M{point[0]:g} {point[1]:g}h0" stroke-linecap="round" '
        f'stroke-width="{DOTS[grade]}" vector-effect="non-scaling-stroke">{title}</path>'
    )


# --- bars and lines ------------------------------------------------------------------------------


def bar_plot(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """Draw a bar chart with a name below each bar and a value above it.

    Args:
        title: Text alternative.
        bars: Names and non-negative values.
    """
    top = max([value for _, value in bars], default=0) or 1
    step = (RIGHT - LEFT) / max(len(bars), 1)
    width = min(max(step - 4, step / 2), 60)
    labelled, parts = _labelled([name for name, _ in bars]), []
    for place, (name, value) in enumerate(bars):
        x, height = LEFT + step * place, (BOTTOM - TOP) * value / top
        value_text = f"{value:,.10g}"
        parts.append(
            f'<rect class="bar" fill="currentColor" stroke="none" x="{x:.1f}" '
            f'y="{BOTTOM - height:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(name)}: {value_text}</title></rect>"
        )
        if len(bars) <= MAX_VALUES and value:
            parts.append(label(x + width / 2, BOTTOM - height - 5, "middle", value_text))
        if place in labelled:
            parts.append(label(x + width / 2, HEIGHT - 8, "middle", name))
    axis = f'<path stroke-opacity="0.4" d="M{LEFT} {BOTTOM}H{RIGHT}"/>'
    return _svg(title, axis, *parts)


def line_plot(
    title: str,
    steps: Sequence[str],
    lines: Mapping[str, Sequence[float | None]],
    *,
    low: float = 0,
    unit: str = "",
) -> str:
    """Draw a line chart with up to two lines. The vertical axis is labelled with round values.

    Args:
        title: Text alternative.
        steps: Names of the steps.
        lines: Maps the name of each line to its values. Missing values are None.
        low: The lower end of the vertical axis. Lower values extend the axis.
        unit: Suffix of the numbers.
    """
    values = [value for line in lines.values() for value in line if value is not None]
    low, high = min([low, *values]), max([low, *values])
    tick = round_step((high - low) / TICKS)
    low = low if low >= 0 else tick * math.floor(low / tick)
    ticks = [low + tick * n for n in range(max(math.ceil((high - low) / tick - 1e-9), 1) + 1)]
    across, up = (RIGHT - LEFT) / max(len(steps) - 1, 1), (BOTTOM - TOP) / (ticks[-1] - low)
    parts = []
    for each in ticks:
        y = round(BOTTOM - up * (each - low), 1)
        parts.append(f'<path stroke-opacity="0.2" d="M{LEFT} {y:g}H{RIGHT}"/>')
        parts.append(label(LEFT - 7, y + 4, "end", f"{each:,.10g}{unit}"))
    parts += [label(LEFT + across * at, HEIGHT - 8, "middle", steps[at]) for at in _labelled(steps)]
    for index, (name, line) in enumerate(lines.items()):
        points = [
            (f"{LEFT + across * place:.6g}", f"{BOTTOM - up * (value - low):.6g}", place, value)
            for place, value in enumerate(line)
            if value is not None
        ]
        path = " ".join(f"{x},{y}" for x, y, *_ in points)
        marks = [
            f'<path fill="currentColor" stroke="none" d="{_MARKS[index]}" '
            f'transform="translate({x} {y})">'
            f"<title>{escape(steps[place])}: {escape(name)} {value:,.10g}{unit}</title></path>"
            for x, y, place, value in points
            if len(points) <= MAX_MARKS
        ]
        parts.append(
            f'<g class="line line-{index + 1}"><polyline stroke-width="2"{_DASHES[index]} '
            f'points="{path}"/>{"".join(marks)}</g>'
        )
    return _svg(title, *parts)


def _svg(title: str, *parts: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}" fill="none" stroke="currentColor">{"".join(parts)}</svg>'
    )


def _labelled(names: Sequence[str]) -> range:
    """Return the indexes of the names to print below the axis, so that they do not overlap."""
    needed = LETTER * max(map(len, names), default=0) * len(names)
    return range(0, len(names), max(math.ceil(needed / (RIGHT - LEFT)), 1))
