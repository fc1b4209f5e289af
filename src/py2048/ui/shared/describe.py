"""Sentences for what happens in a game, as you would say them aloud.

The terminal's plain text mode prints them; other screens pass them to screen readers. Rows and
columns count from 1 at the top left, as people count.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from py2048.board import Board, Cell, Line, lines, slide_line
from py2048.direction import Direction
from py2048.game import Outcome, Turn
from py2048.players import Unit
from py2048.review import Grade, MoveReview
from py2048.review.words import amount, number
from py2048.rules import BoardSum, EdgeSpawn, MergePoints, Merging, MovePoints, RandomSpawn, Rules
from py2048.session import Event, events
from py2048.ui.shared.hints import describe_hint, points_text

FEW_TILES = 4
"""A start with at most this many tiles is read out tile by tile."""


def describe(event: Event) -> str:  # noqa: C901 - a branch for each event
    """Return what happened in one line of plain sentences.

    A move sounds like "Left: merged 4 and 4 into 8, plus 8. A 2 at row 1, column 3. Score 24."
    """
    match event:
        case events.GameStarted(board, score, best, resumed):
            rows, columns = board.shape
            opening = "Game resumed" if resumed else "New game"
            return f"{opening}, {rows} by {columns}. {_tiles(board)} Score {score}.{_best(best)}"
        case events.Moved():
            return _moved(event)
        case events.IllegalMove(direction, penalty, score):
            cost = f", {_signed(penalty)}. Score {score}" if penalty else ""
            return f"{_name(direction)}: nothing moves{cost}."
        case events.Undone(turn=turn, score=score):
            return f"Undone: {turn.direction}. Score {score}."
        case events.Won(tile, plays_on, by_computer):
            if by_computer:
                return f"{tile} is made."
            return f"You made {tile}: you win!" + (" Play on if you like." if plays_on else "")
        case events.GameOver():
            return _over(event)
        case events.Hinted(hint):
            return describe_hint(hint)
        case events.StorageFailed(message):
            return f"Warning: {message}"
        case events.SavingChanged(unsaved):
            if not unsaved:
                return "All is saved again."
            return f"Not saved: {unsaved}. The game continues, and is saved when that is possible."
        case _:
            assert_never(event)


def _moved(event: events.Moved) -> str:
    opening = "Redone. " if event.redone else ""
    merges, spawn = describe_merges(event.turn), event.turn.spawn
    points = f", {_signed(event.points)}" if event.points else ""
    new_tile = f" {_a(spawn.tile)} at {_place(spawn.cell)}." if spawn else ""
    return (
        f"{opening}{_name(event.turn.direction)}: {merges}{points}.{new_tile} Score {event.score}."
    )


def _over(event: events.GameOver) -> str:
    ending = {
        Outcome.WON: ": the target is made." if event.by_computer else ": you win!",
        Outcome.LOST: ": no move is left.",
        Outcome.ENDED: ": no move is left.",
    }.get(event.outcome, ".")
    best = " A new best!" if event.is_best else _best(event.best)
    return f"Game over{ending} Score {event.score}.{best}"


def loss_text(loss: float) -> str:
    """Return what a move loses against the best as a short text: "0" or such as "-1,203"."""
    return f"{-round(loss):,}"


GRADES = {
    Grade.BEST: "the best move",
    Grade.GOOD: "a good move",
    Grade.INACCURACY: "an inaccuracy",
    Grade.MISTAKE: "a mistake",
    Grade.BLUNDER: "a blunder",
}
"""What a move of each grade is called."""

GRADE_SYMBOLS = {
    Grade.BEST: "✓",
    Grade.GOOD: "✓",
    Grade.INACCURACY: "?!",
    Grade.MISTAKE: "?",
    Grade.BLUNDER: "??",
}
"""The grades as chess writes them, so that none depends on a colour."""


def describe_move_review(move: MoveReview, unit: Unit, *, is_exact: bool) -> str:
    """Return the review of a move as sentences: its grade, the best move, what the others lose."""
    best = move.values[move.best]
    worth = value_text(best, unit, is_exact=is_exact) + _WORTH[unit]
    losses = {
        each: number(unit, best - value)
        for each, value in sorted(move.values.items(), key=lambda item: -item[1])
        if each is not move.best
    }
    grade = GRADES[move.grade]
    if move.grade is Grade.BEST and move.played is not move.best:
        grade = f"as good as {grade}"
    said = [f"{_name(move.played)}: {grade}.", f"{_name(move.best)} is worth {worth}."]
    return " ".join([*said, *_compared(losses, unit)])


def describe_loss(move: MoveReview, unit: Unit) -> str:
    """Return the grade of a move as a sentence, and what it lost if there was a better one."""
    if move.grade is Grade.BEST:
        return f"{_name(move.played)} was {GRADES[move.grade]}."
    lost = f"it lost {amount(unit, move.loss)}; best was {move.best}"
    return f"{_name(move.played)} was {GRADES[move.grade]}: {lost}."


def _compared(losses: Mapping[Direction, str], unit: Unit) -> list[str]:
    """Return sentences on what directions lose against the best one."""
    equals = [str(each) for each, loss in losses.items() if loss.split()[0] in ("0", "-0")]
    worse = [f"{each} loses {loss}" for each, loss in losses.items() if str(each) not in equals]
    said = []
    if equals:
        said.append(
            f"{_listed(equals).capitalize()} {'is' if len(equals) == 1 else 'are'} as good."
        )
    if worse:
        said.append(f"{_IN_UNIT[unit]}{_listed(worse)}.".capitalize())
    return said


_IN_UNIT = {Unit.POINTS: "in points, ", Unit.CHANCE: "", Unit.RATING: "by its own rating, "}
_WORTH = {Unit.POINTS: " points to come", Unit.CHANCE: "", Unit.RATING: " by its own rating"}


def value_text(value: float, unit: Unit, *, is_exact: bool) -> str:
    """Return what a move is worth, with no more digits than can be relied on."""
    if unit is Unit.CHANCE:
        return f"{100 * value:.2f} %"
    if unit is Unit.POINTS and not is_exact:
        return points_text(value)
    return f"{value:,.1f}"


def spoken(text: str) -> str:
    """Return a text with its signs in words, which not every screen reader says."""
    return text.replace("+", "plus ").replace("-", "minus ")


def describe_merges(turn: Turn) -> str:
    """Return what merged in a turn: "merged 2 and 2 into 4 twice, and 8 and 8 into 16"."""
    slide = turn.slide
    if not slide.points:
        return "nothing merged"
    along = lines(slide.before.rows, slide.direction)
    merges = [merge for line in along for merge in _line_merges(line, slide.merging)]
    counted = [merge + _times(merges.count(merge)) for merge in dict.fromkeys(merges)]
    return f"merged {', '.join(counted)}"


@lru_cache(maxsize=4096)  # twice as fast as by the motions, for each move of a server
def _line_merges(line: Line, merging: Merging) -> tuple[str, ...]:
    """Return what merges in a line that slides towards its first cell: ("2 and 2 into 4",)."""
    slid, _, steps = slide_line(line, merging)
    tiles: dict[int, list[str]] = {target: [] for _, target, merged in steps if merged}
    for source, target, _ in steps:
        if target in tiles:
            tiles[target].append(str(line[source]))
    return tuple(f"{_listed(each)} into {slid[target]}" for target, each in tiles.items())


def describe_board(board: Board) -> list[str]:
    """Return a line for each row, in the form of "Row 1: 2, empty, 4, 4" and a full stop."""
    return [
        f"Row {number}: {', '.join(str(tile or 'empty') for tile in row)}."
        for number, row in enumerate(board.rows, start=1)
    ]


def describe_rules(rules: Rules) -> str:
    """Return the rules in one line: size, new tiles, scoring and the end, where they matter."""
    rows, columns = rules.shape
    parts = [f"{rows}x{columns}", _spawn(rules)]
    if rules.merging is Merging.CASCADE:
        parts.append("merged tiles merge on")
    match rules.scoring:
        case MergePoints():
            pass
        case MovePoints(legal, illegal):
            parts.append(f"{_signed(legal)} a move, {_signed(illegal)} if illegal")
        case BoardSum():
            parts.append("score is the sum of the board")
        case other:
            assert_never(other)
    if rules.target is not None:
        parts.append(f"{'ends at' if rules.ends_at_target else 'target'} {rules.target}")
    return ", ".join(parts)


def _spawn(rules: Rules) -> str:
    tiles = rules.spawn_weights.pairs
    shares = [f"{tile} ({_percent(share)})" for tile, share in tiles]
    new = " or ".join(shares) if len(shares) > 1 else str(tiles[0][0])
    match rules.spawn:
        case RandomSpawn():
            return f"new {new}"
        case EdgeSpawn():
            return f"a new {new} at the edge"
        case other:
            assert_never(other)


def _percent(share: Fraction) -> str:
    percent = float(100 * share)
    return f"{round(percent, 1) or percent:.3g} %"


def _tiles(board: Board) -> str:
    rows, columns = board.shape
    filled = rows * columns - len(board.empty_cells())
    if filled > FEW_TILES:
        return f"{filled} tiles, the largest {board.max_tile}."
    return " ".join(
        f"{_a(value)} at {_place((row, column))}."
        for row, line in enumerate(board.rows)
        for column, value in enumerate(line)
        if value
    )


def _a(value: int) -> str:
    """The value with its article: "A 2", but "An 8", because eight begins with a vowel."""
    return f"{'An' if str(value).startswith('8') else 'A'} {value}"


def _place(cell: Cell) -> str:
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


def _name(direction: Direction) -> str:
    return str(direction).capitalize()


def _best(score: int) -> str:
    """The best score of a person, where there is one: a computer's games set none."""
    return f" Best {score}." if score else ""


def _signed(points: int) -> str:
    return f"plus {points}" if points >= 0 else f"minus {-points}"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _times(count: int) -> str:
    if count == 1:
        return ""
    return " twice" if count == 2 else f" {count} times"
