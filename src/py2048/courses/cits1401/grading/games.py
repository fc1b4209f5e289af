"""Games played once with each submission, as evidence for most of the tasks."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from py2048.board import Board
from py2048.courses.cits1401.grading.table import BORDERS, OVER, Sight, Table, after
from py2048.courses.grading import CheckFailed, SubmissionSession
from py2048.direction import Direction

SHORT_GAMES = 1
SHORT = 50
"""Clicks in each of the short games."""

LONG = 450
"""Clicks after which a game that should have ended long ago is given up."""


@dataclass(frozen=True)
class Step:
    """One click on the border: what was to be seen before and after it."""

    before: Sight
    direction: Direction
    now: Sight

    @property
    def changed(self) -> bool:
        """Whether the squares show anything else than before."""
        return self.before.rows != self.now.rows

    @property
    def went(self) -> Direction | None:
        """In which direction the tiles really went, if it was a right move in some direction."""
        board = self.before.board
        if board is None or not self.changed or after(board, self.direction) == board:
            return None
        ways = [self.direction, *(way for way in Direction if way is not self.direction)]
        return next((way for way in ways if after(board, way) == self.now.board), None)


@dataclass
class Evidence:
    """What came of the games: their steps, game by game, and why no more of them was seen."""

    games: list[list[Step]] = field(default_factory=list)
    fault: CheckFailed | None = None

    @property
    def steps(self) -> list[Step]:
        """All steps of all games."""
        return [step for game in self.games for step in game]


_SEEN: WeakKeyDictionary[SubmissionSession, Evidence] = WeakKeyDictionary()


def evidence(session: SubmissionSession) -> Evidence:
    """Return the games played with a submission; they are played when first asked for.

    Raises:
        CheckFailed: if not a single click could be made.
    """
    if session not in _SEEN:
        _SEEN[session] = _play(session)
    seen = _SEEN[session]
    if seen.fault is not None and not seen.steps:
        raise seen.fault
    return seen


def _play(session: SubmissionSession) -> Evidence:
    seen = Evidence()
    try:
        for seed in range(SHORT_GAMES + 1):
            table = Table(session)
            table.begin(seed=seed)
            seen.games.append([])
            if seed < SHORT_GAMES:
                _play_by_chance(table, seen.games[-1], random.Random(seed))
            else:
                _play_to_the_end(table, seen.games[-1])
    except CheckFailed as mismatch:
        seen.fault = mismatch
    return seen


def _play_by_chance(table: Table, steps: list[Step], chance: random.Random) -> None:
    while len(steps) < SHORT and not table.sight.says(OVER):
        _step(table, steps, _idle(table, steps) or chance.choice(tuple(Direction)))


def _play_to_the_end(table: Table, steps: list[Step]) -> None:
    """Play so that the board fills up soon, for as long as anything moves."""
    while len(steps) < LONG and not table.sight.says(OVER):
        board = table.sight.board
        refused = {step.direction for step in steps if step.now.rows == table.sight.rows}
        legal = [way for way in Direction if board and after(board, way) != board]
        open_ways = [way for way in legal if way not in refused]
        if board is None or not open_ways:
            return
        nearest = min(open_ways, key=lambda way: _room(after(board, way)))
        _step(table, steps, _idle(table, steps) or nearest)


def _idle(table: Table, steps: list[Step]) -> Direction | None:
    """Return a direction in which nothing can move, if it has not been tried twice already."""
    board = table.sight.board
    tried = [step.direction for step in steps if not step.changed]
    idle = [way for way in Direction if board and after(board, way) == board]
    return next((way for way in idle if tried.count(way) < 2), None)


def _room(board: Board) -> tuple[int, int]:
    """How far a board is from being stuck: few empty cells and few legal moves are near it."""
    nexts = [after(board, way) for way in board.legal_directions()]
    return len(board.empty_cells()) + sum(len(b.empty_cells()) for b in nexts), len(nexts)


def _step(table: Table, steps: list[Step], direction: Direction) -> None:
    """Click on a square of the side, on another one where the first takes no clicks."""
    before = table.sight
    possible = before.board is not None and after(before.board, direction) != before.board
    for cell in BORDERS[direction]:
        now = table.click(cell)
        if not possible or (now.texts, now.others) != (before.texts, before.others):
            break
    steps.append(Step(before, direction, now))
