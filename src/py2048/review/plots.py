"""Plots as SVG: bars, and lines over the same steps. They need neither scripts nor colours.

The classes ``plot``, ``bar`` and ``line`` are for a style sheet; without one all is drawn in the
colour of the text. Lines differ by their dashes and marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from py2048.review.graph import label, round_step

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 84, 48, 24, 30
"""The margins, with the labels of the axes."""

TICKS = 4
LETTER = 12
"""So much room has a letter of a name below the axis, for narrow screens with larger letters."""

MOST_VALUES = 15
"""So many bars have their values above them."""

MOST_MARKS = 60
"""Lines with more points have no marks."""

_MARKS = ("M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", "M0 -4L4 0L0 4L-4 0Z")
_DASHES = ("", ' stroke-dasharray="6 4"')


def bar_plot(said: str, bars: Sequence[tuple[str, float]]) -> str:
    """Return bars side by side, each with its name below and its value above.

    Args:
        said: what it shows, in words.
        bars: names and values, which are not negative.
    """
    top = max([value for _, value in bars], default=0) or 1
    shown, step = _shown([name for name, _ in bars]), (WIDTH - LEFT - RIGHT) / max(len(bars), 1)
    parts = []
    for place, (name, value) in enumerate(bars):
        x, height = LEFT + step * place, (HEIGHT - TOP - BOTTOM) * value / top
        y, width = HEIGHT - BOTTOM - height, max(min(step - 4, 60), step / 2)
        written = f"{value:,.10g}"
        parts.append(
            f'<rect class="bar" fill="currentColor" stroke="none" x="{x:.1f}" y="{y:.1f}" '
            f'width="{width:.1f}" height="{height:.1f}"><title>{escape(name)}: {written}</title>'
            "</rect>"
        )
        if len(bars) <= MOST_VALUES and value:
            parts.append(label(x + width / 2, y - 5, "middle", written))
        if place in shown:
            parts.append(label(x + width / 2, HEIGHT - 8, "middle", name))
    axis = f'<path stroke-opacity="0.4" d="M{LEFT} {HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
    return _svg(said, axis, parts)


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
    frame = _Frame(len(steps), min([low, *known]), max([low, *known]))
    drawn = [
        _line(frame, number, [f"{step}: {name}" for step in steps], line, unit)
        for number, (name, line) in enumerate(lines.items())
    ]
    return _svg(said, _grid(frame, unit), _names(frame, steps) + drawn)


class _Frame:
    """Where the values of so many steps are on the picture."""

    def __init__(self, count: int, low: float, high: float) -> None:
        step = round_step((high - low) / TICKS)
        low = low if low >= 0 else step * math.floor(low / step)
        intervals = max(math.ceil((high - low) / step - 1e-9), 1)
        self.ticks = [low + step * n for n in range(intervals + 1)]
        self._across = (WIDTH - LEFT - RIGHT) / max(count - 1, 1)
        self._up = (HEIGHT - TOP - BOTTOM) / (step * intervals)

    def x(self, place: int) -> float:
        return round(LEFT + self._across * place, 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - self._up * (value - self.ticks[0]), 1)


def _grid(frame: _Frame, unit: str) -> str:
    return "".join(
        f'<path stroke-opacity="0.2" d="M{LEFT} {frame.y(tick):g}H{WIDTH - RIGHT}"/>'
        + label(LEFT - 6, frame.y(tick) + 4, "end", f"{tick:,.10g}{unit}")
        for tick in frame.ticks
    )


def _names(frame: _Frame, steps: Sequence[str]) -> list[str]:
    return [label(frame.x(place), HEIGHT - 8, "middle", steps[place]) for place in _shown(steps)]


def _line(
    frame: _Frame, number: int, names: Sequence[str], line: Sequence[float | None], unit: str
) -> str:
    points = [(place, value) for place, value in enumerate(line) if value is not None]
    path = " ".join(f"{frame.x(place):g},{frame.y(value):g}" for place, value in points)
    marks = [
        f'<path fill="currentColor" stroke="none" d="{_MARKS[number]}" '
        f'transform="translate({frame.x(place):g} {frame.y(value):g})">'
        f"<title>{escape(names[place])} {value:,.10g}{unit}</title></path>"
        for place, value in points
        if len(points) <= MOST_MARKS
    ]
    return (
        f'<g class="line line-{number + 1}"><polyline stroke-width="2"{_DASHES[number]} '
        f'points="{path}"/>{"".join(marks)}</g>'
    )


def _svg(said: str, axes: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(said)}" '
        f'fill="none" stroke="currentColor">{axes}{"".join(parts)}</svg>'
    )


def _shown(names: Sequence[str]) -> range:
    """Return the places of the names that have room below the axis."""
    needed = LETTER * max(map(len, names), default=0) * len(names)
    return range(0, len(names), max(math.ceil(needed / (WIDTH - LEFT - RIGHT)), 1))
