"""A player's report in words and as a page of HTML that needs no scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from py2048.players import Unit
from py2048.review.page import document, scroller, table
from py2048.review.report import UNDATED, Report, Section, Totals
from py2048.review.words import PLURALS, amount

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 48, 24
"""The chart of accuracy, in pixels, and the room for its labels."""

HEADS = ("games", "moves", "accuracy", "mistakes in 100 moves", "moves a minute")
DETAILS = ("mean score", "best", "luck a game", "lost a game")


def describe_report(report: Report) -> list[str]:
    """Return a report as lines of text."""
    if not report.totals.games:
        return ["no games"]
    lines = ["in all", *_rows_as_text(("", *HEADS), [("", *_cells(report.totals))])]
    lines += ["by week", *_rows_as_text(("week", *HEADS), _by_week(report.weeks))]
    for section in report.sections:
        heads, rows = _details(section)
        lines += [f"{section.name}, judged by {section.judge}", *_rows_as_text(heads, rows)]
        lines.append(f"  largest tiles: {_tiles(section.totals)}")
        lines += [f"  {line}" for line in _phases(section.totals)]
    return lines


def report_page(report: Report) -> str:
    """Return a report as a page."""
    body = f"<h1>Report on {len(report.totals.games):,} games of 2048</h1>\n"
    body += table("All games", ("in all", *HEADS), [("all games", *_cells(report.totals))])
    body += f"<h2>By week</h2>\n{_chart(report.weeks)}"
    body += table("By week", ("week", *HEADS), _by_week(report.weeks))
    body += "".join(map(_section, report.sections))
    if report.refused:
        skipped = "".join(f"<li>{escape(line)}</li>" for line in report.refused)
        body += f"<h2>Skipped files</h2>\n<ul>{skipped}</ul>\n"
    return document("Report on games of 2048", body)


def _section(section: Section) -> str:
    heads, rows = _details(section)
    tiles = [(f"{tile:,}", f"{count:,}") for tile, count in section.totals.tiles.items()]
    phases = [
        (f"{tile:,}", *(f"{count:,}" for count in grades.values()))
        for tile, grades in section.totals.phases.items()
    ]
    return (
        f"<section><h2>{escape(section.name)}</h2>\n<p>Judged by {escape(section.judge)}.</p>\n"
        f"{table(section.name, heads, rows)}"
        f"<h3>Largest tiles</h3>\n{table('Largest tiles', ('tile', 'games'), tiles)}"
        "<h3>Moves by their grade and the largest tile on the board</h3>\n"
        f"{table('Grades', ('tile', *PLURALS.values()), phases)}</section>\n"
    )


def _cells(totals: Totals) -> tuple[str, ...]:
    return (
        f"{len(totals.games):,}",
        f"{totals.moves:,}",
        "-" if totals.accuracy is None else f"{totals.accuracy:.1f} %",
        "-" if totals.mistakes is None else f"{totals.mistakes:.1f}",
        "-" if totals.speed is None else f"{totals.speed:.0f}",
    )


def _by_week(weeks: Mapping[str, Totals]) -> list[tuple[str, ...]]:
    return [(week, *_cells(totals)) for week, totals in weeks.items()]


def _details(section: Section) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    unit = Unit(section.unit)
    rows = [
        (
            *(name, *_cells(totals), f"{totals.score:,.0f}", f"{totals.best:,}"),
            *(amount(unit, totals.luck, signed=True), amount(unit, totals.loss)),
        )
        for name, totals in [*section.weeks.items(), ("all", section.totals)]
    ]
    return ("week", *HEADS, *DETAILS), rows


def _tiles(totals: Totals) -> str:
    return ", ".join(f"{tile:,} in {count:,}" for tile, count in totals.tiles.items())


def _phases(totals: Totals) -> list[str]:
    """Return the mistakes by the largest tile, a line each where there are any."""
    lines = []
    for tile, grades in totals.phases.items():
        bad = [
            f"{n:,} {grade if n == 1 else PLURALS[grade]}"
            for grade, n in grades.items()
            if n and grade.is_mistake
        ]
        if bad:
            moves = sum(grades.values())
            lines.append(f"with {tile:,}: {', '.join(bad)} in {moves:,} move{'s' * (moves != 1)}")
    return lines


def _rows_as_text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, its columns aligned right but for the first."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  " + "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip()
        for first, *others in (heads, *rows)
    ]


def _chart(weeks: Mapping[str, Totals]) -> str:
    """Return the accuracy by week as SVG; the table below has the same numbers."""
    dated = [
        (week, totals.accuracy)
        for week, totals in weeks.items()
        if week != UNDATED and totals.accuracy is not None
    ]
    if len(dated) < 2:
        return ""
    low = min(10 * (int(min(value for _, value in dated)) // 10), 90)
    step = (WIDTH - 2 * LEFT) / (len(dated) - 1)
    up = (HEIGHT - 2 * BOTTOM) / (100 - low)
    points = [
        (round(LEFT + index * step, 1), round(HEIGHT - BOTTOM - (value - low) * up, 1))
        for index, (_, value) in enumerate(dated)
    ]
    said = f"Accuracy from {dated[0][0]} to {dated[-1][0]}: the table below has the numbers."
    dots = "".join(
        f'<circle cx="{x:g}" cy="{y:g}" r="3" fill="currentColor"><title>{week}: {value:.1f} %'
        "</title></circle>"
        for (x, y), (week, value) in zip(points, dated, strict=True)
    )
    labels = [
        (LEFT - 6, HEIGHT - BOTTOM, f"{low} %"), (LEFT - 6, BOTTOM, "100 %"),
        (LEFT + 40, HEIGHT - 4, dated[0][0]), (WIDTH - LEFT, HEIGHT - 4, dated[-1][0]),
    ]  # fmt: skip
    texts = "".join(
        f'<text x="{x:g}" y="{y:g}" text-anchor="end" fill="currentColor" stroke="none">'
        f"{text}</text>"
        for x, y, text in labels
    )
    return scroller(
        "Accuracy by week",
        f'<svg class="review-graph" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{said}" fill="none" stroke="currentColor">{texts}'
        f'<polyline class="line" stroke-width="1.5" '
        f'points="{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>{dots}</svg>',
    )
