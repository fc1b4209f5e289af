"""A page with reviews: one HTML file that needs no other, and no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from py2048.board import Board
from py2048.review.games import Review
from py2048.review.graph import STYLE, graph
from py2048.review.moves import MoveReview
from py2048.review.words import amount, describe_move, describe_review

MOST_ROWS = 1000
"""So many mistakes are listed, those that lost the largest share of the chances."""

PAGE_STYLE = (
    """
:root { color-scheme: light dark; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8886; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.moments { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: 0; max-width: 16rem; }
.board td { width: 2.6rem; height: 2.2rem; padding: 0; }
.board td { text-align: center; border: 1px solid #8888; }
.scroll { overflow-x: auto; }
.scroll > svg { min-width: 34rem; }
"""
    + STYLE
)


def page(reviews: Sequence[Review]) -> str:
    """Return a page with one or more reviews."""
    sections = "".join(_section(review) for review in reviews)
    return document("Review of a game of 2048", sections)


def document(title: str, body: str) -> str:
    """Return a page of HTML with this title and this content."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{PAGE_STYLE}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def _section(review: Review) -> str:
    record = review.record
    title = f"{record.rules.name}, score {record.score:,}"
    title += f", played by {record.player}" if record.player else ""
    summary = "".join(f"<li>{escape(line)}</li>" for line in describe_review(review))
    return (
        f"<section><h1>{escape(title)}</h1>\n<ul>{summary}</ul>\n{_graph(review)}"
        f"{_moments(review)}{_phases(review)}{_mistakes(review)}</section>\n"
    )


def _graph(review: Review) -> str:
    drawn = graph(review)
    return scroller("Evaluation", drawn) if drawn else ""


def _moments(review: Review) -> str:
    if not review.critical:
        return ""
    figures = "".join(_moment(review, move) for move in review.critical)
    return f'<h2>Critical moments</h2>\n<div class="moments">{figures}</div>\n'


def _moment(review: Review, move: MoveReview) -> str:
    text = escape(describe_move(review, move))
    return f"<figure>{board_table(move.board)}<figcaption>{text}</figcaption></figure>"


def board_table(board: Board) -> str:
    """Return a board as a table of HTML."""
    rows = (
        "".join(f"<td>{tile or ''}</td>" for tile in row) for row in board.rows
    )  # fmt: skip
    return f'<table class="board">{"".join(f"<tr>{row}</tr>" for row in rows)}</table>'


def _phases(review: Review) -> str:
    rows = [
        (
            *(f"{phase.tile:,}", f"{phase.first:,}-{phase.last:,}", f"{phase.accuracy:.1f} %"),
            *(amount(review.unit, phase.loss), amount(review.unit, phase.luck, signed=True)),
        )
        for phase in review.phases
    ]
    heads = ("largest tile", "moves", "accuracy", "lost", "luck")
    return f"<h2>Phases</h2>\n{table('Phases', heads, rows)}" if rows else ""


def _mistakes(review: Review) -> str:
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MOST_ROWS]
    rows = [
        (
            *(f"{move.ply:,}", str(move.grade), str(move.played), str(move.best)),
            *(amount(review.unit, move.loss), f"{100 * move.share:.2g} %"),
            *(amount(review.unit, move.luck, signed=True), move.source),
        )
        for move in sorted(worst, key=lambda move: move.ply)
    ]
    heads = ("move", "grade", "played", "best", "lost", "of the chances", "luck", "judged by")
    few = f", the worst {MOST_ROWS:,}" if len(rows) < len(review.mistakes) else ""
    title = f"Inaccuracies, mistakes and blunders{few}"
    return f"<h2>{title}</h2>\n{table('Mistakes', heads, rows)}" if rows else ""


def scroller(name: str, content: str) -> str:
    """Return content with a name, which keys can scroll where it is wider than the screen."""
    head = f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
    return f"{head}{content}</div>\n"


def table(name: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of HTML; its first column is aligned left."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows
    )
    return scroller(
        name,
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>",
    )
