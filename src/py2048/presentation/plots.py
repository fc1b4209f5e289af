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
from itertools import accumulate, pairwise

from py2048.core.game import Record
from py2048.core.language import _
from py2048.core.language import number as written
from py2048.players import Unit
from py2048.presentation.words import describe_move
from py2048.review.games import Review
from py2048.review.moves import Grade

LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 84, 592, 24, 190, 640, 220
"""The sides of the field of a plot, with the labels of the axes around it, and its whole size."""

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

DOTS = {Grade.BEST: 8, Grade.INACCURACY: 5, Grade.MISTAKE: 8, Grade.BLUNDER: 11}
"""How large the dot of a move is, so that no mistake depends on a colour."""

_MARKS = ("M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", "M0 -4L4 0L0 4L-4 0Z")
_DASHES = ("", ' stroke-dasharray="6 4"')


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
    points = _points(heights, most=1.0 if review.unit is Unit.CHANCE else None)
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_MISTAKES]
    first = review.moves[0].ply
    dots = "".join(  # the worst on top
        _dot(points[move.ply - first], move.grade, "" if is_silent else describe_move(review, move))
        for move in reversed(worst)
    )
    said = _("Points still to come before each move. Accuracy {share} %.")
    said = said.format(share=written(review.accuracy, 1))
    told = 'aria-hidden="true"' if is_silent else f'role="img" aria-label="{said}"'
    return _drawn(points, dots, f"{review.record.plies}-{review.record.score}", told)


def score_graph(record: Record) -> str:
    """Return the graph of the score after each turn, with a dot at each new largest tile.

    It looks like that of a review and needs no words; of a game without turns there is none.
    """
    ends = [(board.max_tile, score) for board, _turn, score in record.replay()]
    points = _points([0, *(score for _tile, score in ends)])
    peaks = [*accumulate((tile for tile, _score in ends), max, initial=record.start.max_tile)]
    made = [place for place, (was, now) in enumerate(pairwise(peaks), 1) if now > was]
    dots = "".join(_dot(points[place], Grade.BEST) for place in made)
    return _drawn(points, dots, "score", 'aria-hidden="true"') if ends else ""


def _points(heights: Sequence[float], *, most: float | None = None) -> list[tuple[float, float]]:
    """Return the places of heights in the picture, over their own range or from 0 to `most`."""
    low, high = (min(heights), max(heights)) if most is None else (0.0, most)
    across = WIDE / max(len(heights) - 1, 1)
    up = (HIGH - 2 * MARGIN) / (high - low or 1)
    return [
        (round(across * place, 1), round(HIGH - MARGIN - up * (height - low), 1))
        for place, height in enumerate(heights)
    ]


def _drawn(points: Sequence[tuple[float, float]], dots: str, name: str, told: str) -> str:
    """Return the picture of a line with dots; no other on the page has its name."""
    path, name = _path(points), f"fill-{name}"
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


def _dot(point: tuple[float, float], grade: Grade, said: str = "") -> str:
    """Return a dot, which is round however the picture is stretched: the end of a line."""
    title = f"<title>{escape(said)}</title>" if said else ""
    return (
        f'<path class="{grade}" d="M{point[0]:g} {point[1]:g}h0" stroke-linecap="round" '
        f'stroke-width="{DOTS[grade]}" vector-effect="non-scaling-stroke">{title}</path>'
    )


# --- bars and lines ------------------------------------------------------------------------------


def bar_plot(said: str, bars: Sequence[tuple[str, float]]) -> str:
    """Return bars side by side, each with its name below and its value above.

    Args:
        said: what it shows, in words.
        bars: names and values, which are not negative.
    """
    top = max([value for _, value in bars], default=0) or 1
    step = (RIGHT - LEFT) / max(len(bars), 1)
    width = min(max(step - 4, step / 2), 60)
    shown, parts = _shown([name for name, _ in bars]), []
    for place, (name, value) in enumerate(bars):
        x, height = LEFT + step * place, (BOTTOM - TOP) * value / top
        written = f"{value:,.10g}"
        parts.append(
            f'<rect class="bar" fill="currentColor" stroke="none" x="{x:.1f}" '
            f'y="{BOTTOM - height:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(name)}: {written}</title></rect>"
        )
        if len(bars) <= MAX_VALUES and value:
            parts.append(label(x + width / 2, BOTTOM - height - 5, "middle", written))
        if place in shown:
            parts.append(label(x + width / 2, HEIGHT - 8, "middle", name))
    axis = f'<path stroke-opacity="0.4" d="M{LEFT} {BOTTOM}H{RIGHT}"/>'
    return _svg(said, axis, *parts)


def line_plot(
    said: str,
    steps: Sequence[str],
    lines: Mapping[str, Sequence[float | None]],
    *,
    low: float = 0,
    unit: str = "",
) -> str:
    """Return lines over the same steps, with round values at the ticks of its height.

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
    tick = round_step((high - low) / TICKS)
    low = low if low >= 0 else tick * math.floor(low / tick)
    ticks = [low + tick * n for n in range(max(math.ceil((high - low) / tick - 1e-9), 1) + 1)]
    across, up = (RIGHT - LEFT) / max(len(steps) - 1, 1), (BOTTOM - TOP) / (ticks[-1] - low)
    parts = []
    for each in ticks:
        y = round(BOTTOM - up * (each - low), 1)
        parts.append(f'<path stroke-opacity="0.2" d="M{LEFT} {y:g}H{RIGHT}"/>')
        parts.append(label(LEFT - 7, y + 4, "end", f"{each:,.10g}{unit}"))
    parts += [
        label(LEFT + across * place, HEIGHT - 8, "middle", steps[place]) for place in _shown(steps)
    ]
    for number, (name, line) in enumerate(lines.items()):
        points = [
            (f"{LEFT + across * place:.6g}", f"{BOTTOM - up * (value - low):.6g}", place, value)
            for place, value in enumerate(line)
            if value is not None
        ]
        path = " ".join(f"{x},{y}" for x, y, *_ in points)
        marks = [
            f'<path fill="currentColor" stroke="none" d="{_MARKS[number]}" '
            f'transform="translate({x} {y})">'
            f"<title>{escape(steps[place])}: {escape(name)} {value:,.10g}{unit}</title></path>"
            for x, y, place, value in points
            if len(points) <= MAX_MARKS
        ]
        parts.append(
            f'<g class="line line-{number + 1}"><polyline stroke-width="2"{_DASHES[number]} '
            f'points="{path}"/>{"".join(marks)}</g>'
        )
    return _svg(said, *parts)


def _svg(said: str, *parts: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said)}" fill="none" stroke="currentColor">{"".join(parts)}</svg>'
    )


def _shown(names: Sequence[str]) -> range:
    """Return the places of the names that have room below the axis."""
    needed = LETTER * max(map(len, names), default=0) * len(names)
    return range(0, len(names), max(math.ceil(needed / (RIGHT - LEFT)), 1))
