"""Self-contained HTML pages for reviews and reports, without scripts, in the current language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from py2048.core.board import Board
from py2048.core.language import N_, _, language, ngettext, number
from py2048.players import Unit
from py2048.presentation.plots import graph, line_plot
from py2048.presentation.themes import DARK, LIGHT, TOKENS, Theme
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
from py2048.review.report import UNDATED, CareerTotals, GamesReport, Totals

PHASE_HEADS = N_("largest tile"), N_("moves"), N_("accuracy"), N_("lost"), N_("luck")
MISTAKE_HEADS = (
    *(N_("move"), N_("grade"), N_("played"), N_("best"), N_("lost"), N_("of the chances")),
    *(N_("luck"), N_("judged by")),
)
LEVEL_HEADS = (
    *(N_("move"), N_("grade"), N_("played"), N_("best"), N_("tile")),
    *(N_("chance after the best move"), N_("after yours"), N_("reason")),
)
"""Headings of the mistake table when a game is reviewed for a player level."""

MAX_ROWS = 1000
"""Maximum number of mistakes in a table. The costliest mistakes are kept."""

PAGE_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
"""The style sheet, which takes the colours of a `Theme` from custom properties."""


def page(reviews: Sequence[Review]) -> str:
    """Return an HTML page with one or more reviews."""
    sections = "".join(_section(review) for review in reviews)
    return document(_("Review of a game of 2048"), sections)


def document(title: str, body: str) -> str:
    """Return a complete HTML page, in the dark theme if the reader's browser prefers it."""
    dark = f"@media(prefers-color-scheme:dark){{{_colours(DARK)}}}"
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_colours(LIGHT)}{dark}{PAGE_STYLE}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def _colours(theme: Theme) -> str:
    """Return the CSS style sheet of a theme."""
    tokens = "".join(f"--{name.replace('_', '-')}:{getattr(theme, name)};" for name in TOKENS)
    tiles = "".join(
        f".board .rank-{rank}{{background:{style.background};color:{style.text}}}"
        for rank, style in enumerate(theme.tiles + theme.beyond, 1)
    )
    return f":root{{{tokens}}}{tiles}"


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
    figures = "".join(
        f"<figure>{board_table(move.board)}"
        f"<figcaption>{escape(describe_move(review, move))}</figcaption></figure>"
        for move in review.moments
    )
    title = _("Critical moments")
    return f'<h2>{title}</h2>\n<div class="moments">{figures}</div>\n'


def board_table(board: Board) -> str:
    """Return a board as an HTML table."""
    rows = ("".join(map(_cell, row)) for row in board.rows)
    return f'<table class="board">{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'


def _cell(tile: int) -> str:
    return f'<td class="rank-{tile.bit_length() - 1}">{tile}</td>' if tile else "<td></td>"


def _phases(review: Review) -> str:
    if review.level:  # probabilities of reaching different tiles cannot be added up
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
            *(amount(review.unit, move.luck, signed=True), _(move.source)),
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
    """Wrap content in a named region that the keyboard can scroll."""
    head = f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
    return f"{head}{content}</div>\n"


def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table that scrolls sideways."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    content = f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>"
    return scroller(name, f"<table>{content}</table>")


# --- a report ------------------------------------------------------------------------------------

HEADS = (
    *(N_("games"), N_("moves"), N_("accuracy")),
    *(N_("mistakes in 100 moves"), N_("moves a minute")),
)
DETAILS = N_("mean score"), N_("best score"), N_("luck a game"), N_("lost a game")


def describe_report(report: GamesReport) -> list[str]:
    """Describe a report in lines of text."""
    if not report.games:
        return [_("no games")]
    lines = []
    for title, tables in _parts(report):
        lines.append(title)
        for _name, heads, rows in tables:
            lines += [f"  {line}" for line in columns([heads, *rows]).splitlines()]
    return lines


def report_page(report: GamesReport) -> str:
    """Return a report as an HTML page."""
    text = ngettext("Report on {n} game of 2048", "Report on {n} games of 2048", report.games)
    title = text.format(n=number(report.games))
    body = f"<h1>{title}</h1>\n{_chart(report.weeks)}"
    for part, tables in _parts(report):
        content = "".join(f"<h3>{escape(each[0])}</h3>\n{table(*each)}" for each in tables)
        body += f"<section><h2>{escape(part)}</h2>\n{content}</section>\n"
    if report.refused:
        skipped = "".join(f"<li>{escape(line)}</li>" for line in report.refused)
        named = _("Skipped files")
        body += f"<h2>{named}</h2>\n<ul>{skipped}</ul>\n"
    return document(title, body)


Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, column headings and rows."""


def _parts(report: GamesReport) -> Iterator[tuple[str, list[Table]]]:
    """Yield the title and the tables of each section of a report."""
    heads, by_week, title = [_("week"), *map(_, HEADS)], _("By week"), _("All games")
    if report.careers:
        yield title, _careers(report.careers)
        text = _("Reviewed: the last games under each set of rules ({n} of {count})")
        title = text.format(n=number(len(report.totals.games)), count=number(report.games))
    weeks = [(_week_name(week), *_cells(totals)) for week, totals in report.weeks.items()]
    yield title, [(by_week, heads, [*weeks, (_("all"), *_cells(report.totals))])]
    for section in report.sections:
        unit, totals = Unit(section.unit), section.totals
        grades = [grade_word(grade, 2) for grade in Grade]
        # Chances of reaching different tiles cannot be added up, so omit the total luck and loss.
        end = -2 if unit is Unit.CHANCE else None
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
        judge = "".join(map(_, section.judge.partition(N_(" at level "))))
        yield (
            _("{rules}, judged by {judge}").format(rules=section.name, judge=judge),
            [
                (by_week, [*heads, *map(_, DETAILS)][:end], details),
                (_("Largest tiles"), (_("largest tile"), _("games")), tiles),
                (_("Moves by their grade"), (_("with the largest tile"), *grades), phases),
            ],
        )


def _careers(careers: Sequence[CareerTotals]) -> list[Table]:
    """Return the tables that summarise all games of a player."""
    heads = _("rules; games; won; best score; mean score; median score; largest tile; moves")
    names = [career.rules.partition(":")[0] for career in careers]
    rows = [(name, *map(number, each[1:-1])) for name, each in zip(names, careers, strict=True)]
    counts = [
        (number(tile), *(number(each.tiles.get(tile, 0)) for each in careers))
        for tile in sorted({tile for each in careers for tile in each.tiles})
    ]
    by_tile = _("Games by their largest tile"), [_("largest tile"), *names], counts
    return [(_("By rules"), heads.split("; "), rows), by_tile]


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
    """Return a chart of the accuracy by week. The table below the chart shows the numbers."""
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
