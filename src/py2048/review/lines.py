"""Typical lines: what usually follows a move at a player's level, to show instead of to count."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Rules
from py2048.review.levels import Level, goal_of
from py2048.review.playouts import SEED, Turn, turns, words
from py2048.review.reasons import Line, Reason

GAMES, MOVES = 32, 5
"""Number of games to choose from, and maximum length of a line."""


def typical_line(
    rules: Rules, board: Board, direction: Direction, level: Level, reason: Reason | None = None
) -> Line:
    """Return the most frequent continuation of a move in some games of a level.

    Each move of the line is the most frequent one in the games that agree with the line so far.

    Args:
        rules: Rules of the game.
        board: Board before the move.
        direction: A legal direction.
        level: Level of the player.
        reason: What the games show about the move; it names the tile to keep an eye on.
    """
    goal = goal_of(rules, level, board)
    found = [
        [*islice(turns(rules, board, direction, goal, level.slip, words(SEED, 0, game)), MOVES)]
        for game in range(GAMES)
    ]
    for move in range(1, MOVES):
        longer = [game for game in found if len(game) > move]
        if not longer:
            break
        ways = Counter(game[move].slide.direction for game in longer)
        common = max(Direction, key=lambda way: ways[way])
        found = [game for game in longer if game[move].slide.direction is common]
    line: list[Turn] = found[0]
    fear = reason.numbers.get("tile") if reason else None
    return Line(
        tuple(turn.slide.direction for turn in line),
        (board, *(turn.board for turn in line)),
        None if fear is None else int(fear),
    )
