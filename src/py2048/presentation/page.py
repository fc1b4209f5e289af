"""Reviews and reports as self-contained HTML pages without scripts, in the current language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from py2048.core.board import Board
from py2048.core.language import N_, _, language, ngettext, number
from py2048.players import Unit
from py2048.presentation.plots import graph, line_plot
from py2048.presentation.words import (
    accuracy_text,
    amount,
    columns,
    describe_move,
    describe_review,
    grade_word,
    percent,
    reason_name,
    way_of,
)
from py2048.review.games import Review
from py2048.review.moves import Grade, MoveReview
from py2048.review.report import UNDATED, GamesReport, Totals

PHASE_HEADS = N_("largest tile"), N_("moves"), N_("accuracy"), N_("lost"), N_("luck")
MISTAKE_HEADS = (
    *(N_("move"), N_("grade"), N_("played"), N_("best"), N_("lost"), N_("of the chances")),
    *(N_("luck"), N_("judged by")),
)
LEVEL_HEADS = (
    *(N_("move"), N_("grade"), N_("played"), N_("best"), N_("tile")),
    *(N_("chance after the best move"), N_("after yours"), N_("reason")),
)
"""Column headings of mistakes that are judged for a level."""

MAX_ROWS = 1000
"""Maximum number of mistakes listed. The costliest ones are kept."""

PAGE_STYLE = """
:root { color-scheme: light dark; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--page);
  font: 1rem/1.5 Inter, "Segoe UI Variable", system-ui, Cantarell, "Noto Sans", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -.02em; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
ul { padding: 1rem 1rem 1rem 2.25rem; border-radius: 1rem; background: var(--panel); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th { color: var(--muted); font-size: .8125rem; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.moments { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; width: 15rem; padding: 1rem; border-radius: 1rem; background: var(--panel); }
figcaption { margin-top: .75rem; font-size: .875rem; }
.board { width: 13rem; padding: .2rem; border-collapse: separate; border-spacing: .25rem;
  border-radius: .75rem; background: var(--board); }
.board td { width: 25%; height: 2.8rem; padding: 0; border: 0; border-radius: .3rem;
  font-weight: 800; text-align: center; color: var(--ink); background: var(--empty); }
.scroll { overflow-x: auto; }
.scroll:has(.review-graph) { padding: 1rem; border-radius: 1rem; background: var(--panel); }
.review-graph { display: block; width: 100%; height: 10rem; overflow: visible; }
.review-graph { color: var(--accent); }
.review-graph .inaccuracy { stroke: color-mix(in srgb, var(--danger) 45%, var(--panel)); }
.review-graph .mistake { stroke: color-mix(in srgb, var(--danger) 70%, var(--panel)); }
.review-graph .blunder { stroke: var(--danger); }
.plot { color: var(--ink); }
.plot .line { color: var(--accent); }
"""
"""Style sheet; its custom properties are the colours of a `Theme`."""


def page(reviews: Sequence[Review], colours: str = "") -> str:
    """Return a page with one or more reviews.

    Args:
        reviews: The reviews to show.
        colours: Style sheet that defines the custom properties.
    """
    sections = "".join(_section(review) for review in reviews)
    return document(_("Review of a game of 2048"), sections, colours)


def document(title: str, body: str, colours: str = "") -> str:
    """Return a complete HTML page."""
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{colours}{PAGE_STYLE}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def _section(review: Review) -> str:
    record = review.record
    text = _("{rules}, score {score}, played by {player}")
    text = text if record.player else _("{rules}, score {score}")
    score = number(record.score)
    title = text.format(rules=record.rules.name, score=score, player=record.player)
    summary = "".join(f"<li>{escape(line)}</li>" for line in describe_review(review))
    return (
        f"<section><h1>{escape(title)}</h1>\n<ul>{summary}</ul>\n{_graph(review)}"
        f"{_moments(review)}{_phases(review)}{_mistakes(review)}</section>\n"
    )


def _graph(review: Review) -> str:
    drawn = graph(review)
    text = _("The line is the chance of the next tile, the dashed one that of the tile after it.")
    about = f"<p>{text}</p>\n" if review.level and drawn else ""
    return about + (scroller(_("Evaluation"), drawn) if drawn else "")


def _moments(review: Review) -> str:
    if not review.moments:
        return ""
    figures = "".join(_moment(review, move) for move in review.moments)
    title = _("Critical moments")
    return f'<h2>{title}</h2>\n<div class="moments">{figures}</div>\n'


def _moment(review: Review, move: MoveReview) -> str:
    text = escape(describe_move(review, move))
    return f"<figure>{board_table(move.board)}<figcaption>{text}</figcaption></figure>"


def board_table(board: Board) -> str:
    """Return a board as an HTML table."""
    rows = ("".join(map(_cell, row)) for row in board.rows)
    return f'<table class="board">{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'


def _cell(tile: int) -> str:
    return f'<td class="rank-{tile.bit_length() - 1}">{tile}</td>' if tile else "<td></td>"


def _phases(review: Review) -> str:
    if review.level:  # chances of different tiles do not add up
        return ""
    rows = [
        (
            *(number(phase.tile), f"{number(phase.first)}-{number(phase.last)}"),
            accuracy_text(phase.accuracy),
            *(amount(review.unit, phase.loss), amount(review.unit, phase.luck, signed=True)),
        )
        for phase in review.phases
    ]
    return _titled(_("Phases"), PHASE_HEADS, rows)


def _mistakes(review: Review) -> str:
    title = _("Inaccuracies, mistakes and blunders")
    if review.level:
        return _titled(title, LEVEL_HEADS, [*map(_level_row, review.mistakes)])
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MAX_ROWS]
    rows = [
        (
            *(number(move.ply), grade_word(move.grade, 1)),
            *(way_of(move.played), way_of(move.best)),
            *(amount(review.unit, move.loss), percent(move.share)),
            *(amount(review.unit, move.luck, signed=True), move.source),
        )
        for move in sorted(worst, key=lambda move: move.ply)
    ]
    return _titled(title, MISTAKE_HEADS, rows)


def _level_row(move: MoveReview) -> tuple[str, ...]:
    chances = (percent(move.values[each]) for each in (move.best, move.played))
    reason = reason_name(move.reason.kind) if move.reason else "-"
    tile = number(move.goal.tile) if move.goal and not move.survival else _("20 more moves")
    words = grade_word(move.grade, 1), way_of(move.played), way_of(move.best), tile
    return (number(move.ply), *words, *chances, reason)


def _titled(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"<h2>{title}</h2>\n{table(title, [*map(_, heads)], rows)}" if rows else ""


def scroller(name: str, content: str) -> str:
    """Wrap content in a named region that can be scrolled with the keyboard."""
    head = f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
    return f"{head}{content}</div>\n"


def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table that can be scrolled sideways."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return scroller(
        name,
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>",
    )


# --- a report ------------------------------------------------------------------------------------

HEADS = (
    *(N_("games"), N_("moves"), N_("accuracy")),
    *(N_("mistakes in 100 moves"), N_("moves a minute")),
)
DETAILS = N_("mean score"), N_("best score"), N_("luck a game"), N_("lost a game")


def describe_report(report: GamesReport) -> list[str]:
    """Describe a report in lines of text."""
    if not report.totals.games:
        return [_("no games")]
    lines = []
    for title, tables in _parts(report):
        lines.append(title)
        for _name, heads, rows in tables:
            lines += [f"  {line}" for line in columns([heads, *rows]).splitlines()]
    return lines


def report_page(report: GamesReport, colours: str = "") -> str:
    """Return a report as a page; `colours` is as for `page`."""
    count = len(report.totals.games)
    text = ngettext("Report on {n} game of 2048", "Report on {n} games of 2048", count)
    title = text.format(n=number(count))
    body = f"<h1>{title}</h1>\n{_chart(report.weeks)}"
    for part, tables in _parts(report):
        content = "".join(f"<h3>{escape(each[0])}</h3>\n{table(*each)}" for each in tables)
        body += f"<section><h2>{escape(part)}</h2>\n{content}</section>\n"
    if report.refused:
        skipped = "".join(f"<li>{escape(line)}</li>" for line in report.refused)
        named = _("Skipped files")
        body += f"<h2>{named}</h2>\n<ul>{skipped}</ul>\n"
    return document(title, body, colours)


Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, column headings and rows."""


def _parts(report: GamesReport) -> Iterator[tuple[str, list[Table]]]:
    """Yield the title and the tables of each section of a report."""
    heads, by_week = [_("week"), *map(_, HEADS)], _("By week")
    weeks = [(_week_name(week), *_cells(totals)) for week, totals in report.weeks.items()]
    yield _("All games"), [(by_week, heads, [*weeks, (_("all"), *_cells(report.totals))])]
    for section in report.sections:
        unit, totals = Unit(section.unit), section.totals
        grades = [grade_word(grade, 2) for grade in Grade]
        end = -2 if unit is Unit.CHANCE else None  # chances of different tiles do not add up
        details = [
            (
                *(_week_name(name), *_cells(each), number(each.score), number(each.best)),
                *(amount(unit, each.luck, signed=True), amount(unit, each.loss)),
            )[:end]
            for name, each in [*section.weeks.items(), (_("all"), totals)]
        ]
        tiles = [(number(tile), number(count)) for tile, count in totals.tiles.items()]
        phases = [
            (number(tile), *map(number, counts.values())) for tile, counts in totals.phases.items()
        ]
        yield (
            _("{rules}, judged by {judge}").format(rules=section.name, judge=section.judge),
            [
                (by_week, [*heads, *map(_, DETAILS)][:end], details),
                (_("Largest tiles"), (_("largest tile"), _("games")), tiles),
                (_("Moves by their grade"), (_("with the largest tile"), *grades), phases),
            ],
        )


def _week_name(week: str) -> str:
    return _("no date") if week == UNDATED else week


def _cells(totals: Totals) -> tuple[str, ...]:
    return (
        number(len(totals.games)),
        number(totals.moves),
        accuracy_text(totals.accuracy),
        "-" if totals.mistakes is None else number(totals.mistakes, 1),
        "-" if totals.speed is None else number(totals.speed),
    )


def _chart(weeks: Mapping[str, Totals]) -> str:
    """Return a chart of the accuracy by week; the table below it has the same numbers."""
    dated = {
        week: totals.accuracy
        for week, totals in weeks.items()
        if week != UNDATED and totals.accuracy is not None
    }
    if len(dated) < 2:
        return ""
    text = _("Accuracy from {first} to {last}: the table below has the numbers.")
    title = text.format(first=min(dated), last=max(dated))
    low = min(10 * (int(min(dated.values())) // 10), 90)
    accuracies = [round(value, 1) for value in dated.values()]
    drawn = line_plot(title, list(dated), {_("accuracy"): accuracies}, low=low, unit=" %")
    return scroller(_("Accuracy by week"), drawn)
