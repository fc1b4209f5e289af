"""Sentences about game events, boards and rules, in the current language.

Plain text mode prints these sentences, and the other interfaces pass them to screen readers. Rows
and columns count from 1 at the top left.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from py2048.core.board import Board, Cell, Line, lines, slide_line
from py2048.core.game import Outcome, Turn
from py2048.core.language import _, language, ngettext, number
from py2048.core.rules import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    Merging,
    MovePoints,
    RandomSpawn,
    Rules,
)
from py2048.presentation import events
from py2048.presentation.events import Event
from py2048.presentation.hints import describe_hint
from py2048.presentation.words import name_of, way_of

FEW_TILES = 4
"""Boards with at most this many tiles are described tile by tile."""


def describe(event: Event) -> str:  # noqa: C901 - one branch per event
    """Describe an event in one line.

    For example, the description of a move begins with "Left: merged 4 and 4 into 8, plus 8".
    """
    match event:
        case events.GameStarted(board, score, best, resumed):
            return _started(board, score, best, is_resumed=resumed)
        case events.Moved():
            return _moved(event)
        case events.IllegalMove(direction, penalty, score):
            if not penalty:
                return _("{direction}: nothing moves.").format(direction=name_of(direction))
            text = _("{direction}: nothing moves, {points}. {score}")
            way, points = name_of(direction), _signed(penalty)
            return text.format(direction=way, points=points, score=_score(score))
        case events.Undone(turn=turn, score=score):
            undone = _("Undone: {direction}.").format(direction=way_of(turn.direction))
            return f"{undone} {_score(score)}"
        case events.Won(tile, plays_on, by_computer):
            if by_computer:
                return _("{tile} reached.").format(tile=tile)
            text = _("You made {tile}: you win. Play on if you like.")
            return (text if plays_on else _("You made {tile}: you win.")).format(tile=tile)
        case events.GameOver():
            return _over(event)
        case events.Hinted(hint):
            return describe_hint(hint)
        case events.StorageFailed(message):
            return _("Warning: {message}").format(message=message)
        case events.SavingChanged(unsaved):
            if not unsaved:
                return _("The game is saved again.")
            text = _("Not saved: {reason}. You can play on; the game is saved as soon as possible.")
            return text.format(reason=unsaved)
        case _other:
            assert_never(_other)


def _started(board: Board, score: int, best: int, *, is_resumed: bool) -> str:
    rows, columns = board.shape
    resumed, new = _("Game resumed, {rows} by {columns}."), _("New game, {rows} by {columns}.")
    opening = (resumed if is_resumed else new).format(rows=rows, columns=columns)
    return " ".join([opening, _tiles(board), _score(score), *_best(best)])


def _moved(event: events.Moved) -> str:
    turn, spawn = event.turn, event.turn.spawn
    text = _("{direction}: {merges}, {points}.") if event.points else _("{direction}: {merges}.")
    merges, points = describe_merges(turn), _signed(event.points) if event.points else ""
    sentences = [text.format(direction=name_of(turn.direction), merges=merges, points=points)]
    if spawn:
        sentences.append(_tile_at(spawn.tile, spawn.cell))
    sentences.append(_score(event.score))
    return " ".join([_("Redone."), *sentences] if event.redone else sentences)


def _over(event: events.GameOver) -> str:
    match event.outcome:
        case Outcome.WON if event.by_computer:
            ending = _("Game over: target reached.")
        case Outcome.WON:
            ending = _("Game over: you win.")
        case Outcome.LOST | Outcome.ENDED:
            ending = _("Game over: no move is left.")
        case _:
            ending = _("Game over.")
    best = [_("New best score.")] if event.is_best else _best(event.best)
    return " ".join([ending, _score(event.score), *best])


# Boards and rules


def describe_merges(turn: Turn) -> str:
    """Describe the merges of a turn, as in "merged 2 and 2 into 4 twice, 8 and 8 into 16"."""
    slide = turn.slide
    if not slide.points:
        return _("nothing merged")
    here, along = language(), lines(slide.before.rows, slide.direction)
    merges = [merge for line in along for merge in _line_merges(line, slide.merging, here)]
    counted = [_times(merge, merges.count(merge)) for merge in dict.fromkeys(merges)]
    return _("merged {merges}").format(merges=", ".join(counted))


@lru_cache(maxsize=4096)  # The cache halves the time to describe a move.
def _line_merges(line: Line, merging: Merging, _language: str) -> tuple[str, ...]:
    """Describe the merges when a row or column slides, as in "2 and 2 into 4"."""
    slid, _points, steps = slide_line(line, merging)
    tiles: dict[int, list[str]] = {target: [] for _source, target, merged in steps if merged}
    for source, target, _merged in steps:
        if target in tiles:
            tiles[target].append(str(line[source]))
    text = _("{tiles} into {tile}")
    return tuple(
        text.format(tiles=_listed(each, _("{several} and {last}")), tile=slid[target])
        for target, each in tiles.items()
    )


def describe_board(board: Board) -> list[str]:
    """Describe each row of a board, as in "Row 1: 2, empty, 4, 4."."""
    text, empty = _("Row {row}: {tiles}."), _("empty")
    return [
        text.format(row=row, tiles=", ".join(str(tile or empty) for tile in tiles))
        for row, tiles in enumerate(board.rows, start=1)
    ]


def describe_rules(rules: Rules) -> str:
    """Summarise rules in one line: the size, the new tiles, and any unusual scoring or ending."""
    rows, columns = rules.shape
    parts = [f"{rows}x{columns}", _spawn(rules)]
    if rules.merging is Merging.CASCADE:
        parts.append(_("merged tiles merge again"))
    match rules.scoring:
        case MergePoints():
            pass
        case MovePoints(legal, illegal):
            text = _("{points} a move, {penalty} if illegal")
            parts.append(text.format(points=_signed(legal), penalty=_signed(illegal)))
        case BoardSum():
            parts.append(_("score is the sum of all tiles"))
        case other:
            assert_never(other)
    if rules.target is not None:
        text = _("ends at {tile}") if rules.ends_at_target else _("target {tile}")
        parts.append(text.format(tile=rules.target))
    return ", ".join(parts)


def _spawn(rules: Rules) -> str:
    tiles = rules.spawn_weights.pairs
    shares = [f"{tile} ({_percent(share)})" for tile, share in tiles]
    new = _listed(shares, _("{several} or {last}")) if len(shares) > 1 else str(tiles[0][0])
    match rules.spawn:
        case RandomSpawn():
            return _("new {tiles}").format(tiles=new)
        case EdgeSpawn():
            return _("a new {tiles} at the edge").format(tiles=new)
        case other:
            assert_never(other)


def _percent(share: Fraction) -> str:
    percent = float(100 * share)
    digits = f"{round(percent, 1) or percent:.3g}"
    return f"{number(float(digits), len(digits.partition('.')[2]))} %"


def _tiles(board: Board) -> str:
    rows, columns = board.shape
    filled = rows * columns - len(board.empty_cells())
    if filled > FEW_TILES:
        text = _("{count} tiles, the largest {largest}.")
        return text.format(count=filled, largest=board.max_tile)
    return " ".join(
        _tile_at(value, (row, column))
        for row, line in enumerate(board.rows)
        for column, value in enumerate(line)
        if value
    )


def _tile_at(tile: int, cell: Cell) -> str:
    """Describe a tile and its position with the right article, as in "A 2 …" and "An 8 …"."""
    is_an = str(tile).startswith("8")
    text = _("An {tile} at {place}.") if is_an else _("A {tile} at {place}.")
    place = _("row {row}, column {column}").format(row=cell[0] + 1, column=cell[1] + 1)
    return text.format(tile=tile, place=place)


def _score(score: int) -> str:
    return _("Score {score}.").format(score=number(score))


def _best(score: int) -> list[str]:
    """Return a list with a sentence about the best human score, or an empty list."""
    return [_("Best {score}.").format(score=number(score))] if score else []


def _signed(points: int) -> str:
    return (_("plus {n}") if points >= 0 else _("minus {n}")).format(n=abs(points))


def _listed(words: list[str], text: str) -> str:
    """Join words with commas, and use the template `text` to add the last word."""
    *several, last = words
    return text.format(several=", ".join(several), last=last) if several else last


def _times(merge: str, count: int) -> str:
    if count == 1:
        return merge
    if count == 2:
        return _("{merge} twice").format(merge=merge)
    return ngettext("{merge} {n} time", "{merge} {n} times", count).format(merge=merge, n=count)
