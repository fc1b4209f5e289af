"""The ten tasks of the CITS1401 project, with their checks.

The assignment awards 25 marks in total and grades a program "according to the number of tasks
achieved", so every task has the same marks.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.courses.grading import (
    Check,
    CheckFailed,
    Grading,
    SubmissionCrash,
    SubmissionSession,
    Task,
    read_sheet,
)
from py2048.courses.grading.boards import as_lists, new_tiles, tiles_of
from py2048.courses.grading.chance import Odds, judge_cells

HERE = Path(__file__).parent
PROBE = (HERE / "probe.py").read_text("utf-8")

BORDERS: dict[Direction, tuple[Cell, ...]] = {
    Direction.UP: ((0, 2), (0, 1), (0, 3)),
    Direction.DOWN: ((4, 2), (4, 3), (4, 1)),
    Direction.LEFT: ((2, 0), (1, 0), (3, 0)),
    Direction.RIGHT: ((2, 4), (3, 4), (1, 4)),
}
CORNERS = ((0, 0), (0, 4), (4, 0), (4, 4))
INSIDE = ((1, 1), (2, 2), (3, 2), (1, 3))

IMPOSSIBLE = "not possible|impossible"
FAILURE = rf"{IMPOSSIBLE}|not allowed|invalid|illegal|can'?t|cannot|(?:un|not )success|fail|no move"
SUCCESS = r"succe|moved|made|done|slid|ok\b"
CLAUSE_END = r"[.;:,(!|]| [-\u2013\u2014] "
OVER = r"game[ -]*over|no more moves|game (has )?(ended|finished)"

ENOUGH_SUM = 3000
"""The grader watches a computer player until its tiles add up to this sum. Each move adds 2.

A random game takes about 700 moves, and hardly ever reaches 1,200. A player with a good strategy
may never lose.
"""


@dataclass(frozen=True)
class WindowContents:
    """The visible contents of a window. Instances are equal if they contain equal strings.

    Attributes:
        texts: Strings on the squares, row by row.
        looks: Descriptions of the squares' appearance, row by row.
        others: Strings outside the squares.
        fixed: Strings outside the squares that were already there when the game started, such as
            titles and rules. Their numbers are replaced by 0.
    """

    texts: list[list[str]]
    looks: list[list[str]] = field(compare=False)
    others: list[str]
    fixed: frozenset[str] = field(default=frozenset(), compare=False)

    @cached_property
    def rows(self) -> list[list[Any]]:
        """Numbers on the squares, with 0 for empty squares. Other strings are unchanged."""
        return [[_number(text) for text in row] for row in self.texts]

    @cached_property
    def board(self) -> Board | None:
        """The displayed board, or `None` if it is invalid."""
        try:
            return Board.from_rows(self.rows)
        except BoardError:
            return None

    @property
    def is_stuck(self) -> bool:
        """Whether no move is possible; False if the board cannot be read."""
        return self.board is not None and not self.board.can_move()

    def has_text(self, words: str) -> bool:
        """Return whether any text outside the squares matches the pattern `words`."""
        return bool(_matching(words, self.others))

    @property
    def status(self) -> list[str]:
        """Strings outside the squares that appeared after the game started."""
        return [text for text in self.others if _without_numbers(text) not in self.fixed]

    def status_matches(self, words: str) -> bool:
        """Return whether the status matches the pattern `words`."""
        return bool(_matching(words, self.status))

    def shows_score(self, score: int) -> bool:
        """Return whether a text outside the squares contains the score."""
        return self.has_text(rf"(?<![-\d.]){score}(?!\d|\.\d)" if score >= 0 else rf"- ?{-score}\b")


def _matching(words: str, texts: Iterable[str]) -> list[str]:
    return [text for text in texts if re.search(words, text, re.IGNORECASE)]


def _numbers(texts: Iterable[str]) -> set[int]:
    return {int(number) for text in texts for number in re.findall(r"-?\d{1,12}", text)}


def _lines(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in text.splitlines()]


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d+", "0", text)


def _number(text: str) -> Any:
    stripped = text.strip()
    return int(stripped or 0) if re.fullmatch(r"\d{0,12}", stripped) else stripped


def reports_success(text: str, direction: Direction) -> bool:
    """Return whether a status line reports a successful move in `direction`.

    The same line may also report a failed move in another direction.
    """
    clauses = re.split(CLAUSE_END, text)
    good = [clause for clause in clauses if not _matching(FAILURE, [clause])]
    named = _matching(rf"(?<![a-z]){direction.name}", good)
    return bool(named) and (good == clauses or bool(_matching(SUCCESS, good)))


RULES = get_rules("cits1401")


@cache
def after(board: Board, direction: Direction) -> Board:
    """Return the board after an attempted move, including the new tile."""
    game = Game(RULES, board=board)
    game.attempt(direction)
    return game.board


class WindowDriver:
    """Plays a submission.

    Attributes:
        contents: The most recently read contents of the window.
    """

    def __init__(self, session: SubmissionSession) -> None:
        self.session = session
        self.fixed: frozenset[str] = frozenset()
        self.contents = WindowContents([], [], [])

    def new_game(self, who: str, *, at_once: bool = False) -> None:
        """Click New game and choose who plays.

        Args:
            who: "Human" or "Computer".
            at_once: Try to choose immediately, even if the window is still changing.
        """
        self.push_new_game()
        if not (at_once and self.session.value(f"choose({who!r}, exactly=True)")):
            self.session.run("screen.settle()", show=False)
            before = len(self.session.value("screen.dialogs()", show=False))
            if not self.session.value(f"choose({who!r})"):
                self._answer_dialog(who, before)
        self.look("screen.settle()")

    def push_new_game(self) -> None:
        """Push New game."""
        texts = ("New game", "New")
        if not any(self.session.value(f"choose({text!r})", show=False) for text in texts):
            self.session.fail("a button New game", self.texts())
        self.session.shown.append("choose('New game')")

    def _answer_dialog(self, who: str, before: int) -> None:
        """Answer the dialog that asks who plays. Some programs show buttons instead of a dialog."""
        session = self.session
        dialogs = session.value("screen.dialogs()", show=False)
        if not dialogs or before == 0:
            session.fail(f"to be offered {who!r}", self.texts())
        kind, title, message = dialogs[-1]
        if "string" in kind:
            answer: object = who.lower()
        else:
            asked = f"{title} {message}".lower()
            first = min(("human", "computer"), key=lambda word: asked.find(word) % 10_000)
            agrees = first == who.lower()
            answer = ("yes" if agrees else "no") if kind == "askquestion" else agrees
        session.run(f"screen.answer({answer!r})")
        session.run("choose('New game')")

    def look(self, do: str = "True") -> WindowContents:
        """Run the code `do` and return the contents of the window afterwards.

        `do` is an expression whose value tells whether the program has already reacted. If so, the
        window is read in the same request.
        """
        outcome = self.session.run(f"look() if ({do}) else None", show=False)
        if outcome.error is not None:
            self.session.fail("no exception", str(outcome.error))
        seen = outcome.value or self.session.value("look()", show=False)
        if seen["texts"] is None:
            wanted = "5 x 5 squares: rectangles on a canvas or widgets in a grid"
            self.session.fail(wanted, str(seen["others"]))
        self.contents = WindowContents(seen["texts"], seen["looks"], seen["others"], self.fixed)
        return self.contents

    def learn_fixed_texts(self) -> None:
        """Store the strings that are visible at the start of a game in `fixed`."""
        self.fixed = frozenset(map(_without_numbers, self.contents.others))
        self.contents = replace(self.contents, fixed=self.fixed)

    def click(self, cell: Cell) -> WindowContents:
        """Click a square, and return the contents of the window afterwards."""
        self.session.shown[:] = [
            f"# {self.contents.rows}",
            f"hit{cell}  # a click on row {cell[0]}, column {cell[1]}",
        ]
        return self.look(f"hit{cell} or screen.settle()")

    def texts(self) -> str:
        """Return all strings in the window, for use in a message."""
        return str(self.session.value("screen.texts()", show=False))


def start_program(session: SubmissionSession, who: str = "Human", seed: int = 0) -> WindowDriver:
    """Run the program and start a new game."""
    outcome = session.program(seed=session.seed_for(seed))
    if outcome.error is not None:
        session.fail("a window", str(outcome.error))
    if outcome.state != "waiting":
        session.fail("a window that waits for clicks", "the program ended")
    session.run(PROBE, show=False)
    driver = WindowDriver(session)
    driver.new_game(who)
    if who == "Human":  # a computer may already have moved
        driver.learn_fixed_texts()
    return driver


CLICK_TIMEOUT_S = 2.5
"""Time limit for one click, in seconds. A program that hangs on a click hangs in many checks, so
the limit is short.
"""

SHORT_GAME_CLICKS = 50
"""Number of clicks in a short game."""

MAX_CLICKS = 450
"""Number of clicks after which a game is aborted, because it should have ended."""


@dataclass(frozen=True)
class ObservedMove:
    """A click on the border, and the window's contents before and after the click."""

    before: WindowContents
    direction: Direction
    now: WindowContents

    @property
    def possible(self) -> bool:
        """Whether the move is possible. On an unreadable board, every move counts as possible."""
        board = self.before.board
        return board is None or board.slide(self.direction).changed

    @property
    def changed(self) -> bool:
        """Whether the squares changed."""
        return self.before.rows != self.now.rows

    @property
    def new_lines(self) -> list[str]:
        """Status lines that the move added.

        An unchanged status counts as new, because the program may have written the same text again.
        Lines that have only changed places, for example in a rolling log, are not new.
        """
        before, now = _lines(self.before.status), _lines(self.now.status)
        added = list((Counter(now) - Counter(before)).elements())
        return added or (now if now == before else [])

    @property
    def actual_direction(self) -> Direction | None:
        """The direction that the tiles moved in, or None if the move was incorrect."""
        board = self.before.board
        if board is None or not self.changed or not self.possible:
            return None
        ways = [self.direction, *(way for way in Direction if way is not self.direction)]
        return next((way for way in ways if after(board, way) == self.now.board), None)


@dataclass
class ObservedGames:
    """The moves of the observed games.

    Attributes:
        games: The moves, game by game.
        faults: Maps each direction in which a click made the program crash or hang to the failure.
            Later games avoid these directions.
        fault: The failure that aborted the last game, or None.
        fixed: Strings displayed at the start of a game.
        misplaced: Numbers that are drawn across the edge of a square at the start of a game.
        written: Moves on boards that the grader set up by changing the program's data.
        written_fault: The failure of a move on a board that the grader set up, or None.
    """

    games: list[list[ObservedMove]] = field(default_factory=list)
    faults: dict[Direction, CheckFailed] = field(default_factory=dict)
    fault: CheckFailed | None = None
    fixed: frozenset[str] = frozenset()
    misplaced: list[str] = field(default_factory=list)
    written: list[ObservedMove] = field(default_factory=list)
    written_fault: CheckFailed | None = None

    @property
    def moves(self) -> list[ObservedMove]:
        """All moves of all games."""
        return [move for game in self.games for move in game]

    @property
    def ways(self) -> tuple[Direction, ...]:
        """The directions in which clicks work."""
        return tuple(way for way in Direction if way not in self.faults)

    def is_right(self, way: Direction) -> bool:
        """Return whether every possible move in this direction slid the tiles correctly."""
        possible = [move for move in self.moves if move.direction is way and move.possible]
        return all(move.actual_direction is way for move in possible)

    @property
    def has_dead_moves(self) -> bool:
        """Whether some possible moves have no effect or crash the program."""
        return bool(self.faults) or any(move.possible and not move.changed for move in self.moves)

    @property
    def has_announced_end(self) -> bool:
        """Whether the program announced the end of a game."""
        return any(move.now.is_stuck and move.now.status_matches(OVER) for move in self.moves)


_OBSERVED: WeakKeyDictionary[SubmissionSession, ObservedGames] = WeakKeyDictionary()


def observed_games(session: SubmissionSession) -> ObservedGames:
    """Return the games that were played with a submission. The games are cached.

    Raises:
        CheckFailed: If the program failed before the first click.
    """
    seen = _OBSERVED.get(session) or _play(session)
    if session.is_repeated or not session.overran:
        _OBSERVED[session] = seen
    fault = seen.fault or next(iter(seen.faults.values()), None)
    if fault is not None and not seen.moves:
        raise fault
    return seen


def _play(session: SubmissionSession) -> ObservedGames:
    seen = ObservedGames()
    session.seconds = min(session.seconds, CLICK_TIMEOUT_S)
    to_play = [_play_by_chance, _play_to_the_end]
    try:
        while to_play:
            driver = start_program(session, seed=2 - len(to_play))
            seen.fixed = driver.fixed
            seen.misplaced += session.value("misplaced()", show=False)
            seen.games.append([])
            known = len(seen.faults)
            try:
                to_play[0](driver, seen)
            except CheckFailed:
                if len(seen.faults) == known:
                    raise
            else:
                del to_play[0]
    except CheckFailed as mismatch:
        seen.fault = mismatch
        return seen
    try:
        _play_written_boards(start_program(session, seed=6), seen)
    except CheckFailed as mismatch:
        seen.written_fault = mismatch
    return seen


PACKED = ((0, 2, 4, 2, 4), (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5)
"""After a move to the left, this board can move only down."""

LARGE = ((0,) * 5, (0,) * 5, (0, 1024, 1024, 2048, 2048), (0,) * 5, (0,) * 5)
TURNS = (Direction.LEFT, Direction.UP, Direction.RIGHT, Direction.DOWN)


def _play_written_boards(driver: WindowDriver, seen: ObservedGames) -> None:
    """Make moves on the boards `PACKED` and `LARGE`, each in four orientations.

    The program may not adopt a board set by the grader, so moves are recorded only after the window
    has shown an expected board. A board is skipped if it needs a direction that the program is
    known to handle incorrectly.
    """
    for rows in (PACKED, LARGE):
        for turn, way in enumerate(TURNS):
            side = TURNS[turn - 1]
            ways = (side, way, side) if rows is LARGE else (way, side)
            board = Board.from_rows(rows)
            for _ in range(turn):
                board = Board.from_rows(list(zip(*board.rows[::-1], strict=True)))
            if driver.contents.board is None or not all(map(seen.is_right, ways)):
                continue
            code = f"write_tiles({driver.contents.board.rows}, {board.rows})"
            driver.session.run(code, show=False)
            is_written = False
            for direction in ways:
                before, now = driver.contents, driver.click(BORDERS[direction][0])
                if is_written:
                    seen.written.append(ObservedMove(before, direction, now))
                board = after(board, direction)
                is_written = is_written or now.board == board


def _play_by_chance(driver: WindowDriver, seen: ObservedGames) -> None:
    chance = random.Random(driver.session.seed_for(0))
    moves = seen.games[-1]
    while seen.ways and len(moves) < SHORT_GAME_CLICKS and not driver.contents.status_matches(OVER):
        _make_move(driver, seen, _impossible_direction(driver, seen) or chance.choice(seen.ways))


def _play_to_the_end(driver: WindowDriver, seen: ObservedGames) -> None:
    """Fill the board quickly, until no move has an effect."""
    moves = seen.games[-1]
    while len(moves) < MAX_CLICKS and not driver.contents.status_matches(OVER):
        board = driver.contents.board
        refused = {move.direction for move in moves if move.now.rows == driver.contents.rows}
        legal = board.legal_directions() if board else []
        open_ways = [way for way in legal if way in seen.ways and way not in refused]
        if board is None or not open_ways:
            return
        nearest = min(open_ways, key=lambda way: _rate_room(after(board, way)))
        _make_move(driver, seen, _impossible_direction(driver, seen) or nearest)


def _impossible_direction(driver: WindowDriver, seen: ObservedGames) -> Direction | None:
    """Return an impossible direction that the grader should attempt next, or None.

    Each direction is attempted at most four times per game, or twice while the expected score is
    negative.
    """
    board, moves = driver.contents.board, seen.games[-1]
    tried = [move.direction for move in moves if not move.changed]
    most = 2 if len(moves) < 2 * len(tried) else 4
    idle = [way for way in seen.ways if board and not board.slide(way).changed]
    return next((way for way in idle if tried.count(way) < most), None)


def _rate_room(board: Board) -> tuple[int, int]:
    """Return a sort key that puts boards with few empty cells and few moves first."""
    nexts = [after(board, way) for way in board.legal_directions()]
    return len(board.empty_cells()) + sum(len(b.empty_cells()) for b in nexts), len(nexts)


def _make_move(driver: WindowDriver, seen: ObservedGames, direction: Direction) -> None:
    """Click the border squares on one side until a click has an effect."""
    before = driver.contents
    possible = _possible(before, direction)
    try:
        for cell in BORDERS[direction]:
            now = driver.click(cell)
            if not possible or now != before:
                break
    except CheckFailed as mismatch:
        seen.faults[direction] = mismatch
        raise
    seen.games[-1].append(ObservedMove(before, direction, now))


def _fail_missing(session: SubmissionSession, wanted: str, found: str = "none") -> NoReturn:
    """Fail a check that found no suitable move, and report the reason."""
    fault = observed_games(session).fault
    if fault is not None:
        raise fault
    session.shown[:] = ["# two games, played by clicks on the border"]
    session.fail(wanted, found)


def has_all_components(session: SubmissionSession) -> None:
    """Check that the window has squares, a score and a "New game" button."""
    driver = start_program(session)
    if not driver.contents.has_text("score"):
        session.fail("a score board: a text with the word score", str(driver.contents.others))
    if not session.value("in_sight()", show=False):
        session.fail("5 x 5 squares in sight", "some lie outside their canvas")


def quits(session: SubmissionSession) -> None:
    """Check that Quit closes the window."""
    driver = start_program(session)
    for word in ("Quit", "Exit"):
        try:
            pushed = session.run(f"choose({word!r})")
        except SubmissionCrash as crash:
            if crash.exit_code == 0:  # os._exit(0) also closes the window
                return
            raise
        if pushed.state == "done":
            return
        if pushed.value:
            windows = session.value("len(screen.windows())", show=False)
            if windows:
                session.fail("no window", f"{windows} still open")
            return
        session.shown.pop()
    session.fail("a button Quit", driver.texts())


# --- squares ---


def shows_legal_values(session: SubmissionSession) -> None:
    """Check that each square is empty or shows a power of two."""
    seen = observed_games(session)
    if seen.misplaced:
        session.shown[:] = ["choose('Human')"]
        session.fail("each number inside its square", f"on an edge: {', '.join(seen.misplaced)}")
    for move in seen.moves:
        if move.now.board is None:
            _fail(session, move, "2, 4, 8 … or nothing on every square", str(move.now.rows))
        if any(text.strip() == "0" for row in move.now.texts for text in row):
            _fail(session, move, "nothing on an empty square", "'0'")


def highlights_what_moved(session: SubmissionSession) -> None:
    """Check that moved and merged tiles look different from other tiles of the same value."""
    compared = 0
    for move in observed_games(session).moves:
        board, way = move.before.board, move.actual_direction
        if board is None or way is None:
            continue
        motions = board.slide(way).motions
        merged = {motion.target for motion in motions if motion.merged}
        looks: defaultdict[bool, set[tuple[int, str]]] = defaultdict(set)
        for source, (row, column), merges in motions:
            if merges or (row, column) not in merged:
                look = board[source] << merges, move.now.looks[row][column]
                looks[source != (row, column)].add(look)
        values = [{value for value, _ in looks[moved]} for moved in (True, False)]
        compared += len(values[0] & values[1])
        for value, _ in sorted(looks[True] & looks[False]):
            wanted = f"the {value}s that moved or merged to look different from those that did not"
            _fail(session, move, wanted, "some that look the same")
    if not compared:
        _fail_missing(session, "moved and unmoved squares to compare", "none to compare")


# --- clicks ---


def border_squares_act(session: SubmissionSession) -> None:
    """Check that on each side, either all squares between the corners react to clicks, or none."""
    ways = observed_games(session).ways
    driver = start_program(session)
    acting = 0
    for direction in ways:
        cells = BORDERS[direction]
        acts = [_acts(driver, cell, direction, ways) for cell in cells]
        acting += any(acts)
        if any(acts) and not all(acts):
            cell = cells[acts.index(False)]
            session.fail(f"a move {direction} after the click on {cell}", "nothing happened")
    if acting < min(2, len(ways)):
        session.fail("moves after clicks on the border", "nothing on most sides")


def _acts(driver: WindowDriver, cell: Cell, goal: Direction, ways: Sequence[Direction]) -> bool:
    """Make moves until `goal` is possible; return whether a click on `cell` has an effect."""
    for way in (*ways, *ways):
        if _possible(driver.contents, goal):
            break
        driver.click(BORDERS[way][0])
    before = driver.contents
    return driver.click(cell) != before


def _possible(contents: WindowContents, direction: Direction) -> bool:
    return contents.board is not None and contents.board.slide(direction).changed


def other_squares_do_nothing(session: SubmissionSession) -> None:
    """Check that clicks on corner squares and inner squares do nothing and cost no points."""
    ways = observed_games(session).ways
    driver = start_program(session, seed=4)
    acted = [driver.click(BORDERS[way][0]) for way in ways]
    if all(contents.texts == acted[0].texts for contents in acted):
        session.fail("moves after clicks on the border", "nothing on any side")
    for cell in (*CORNERS, *INSIDE):
        before = driver.contents
        now = driver.click(cell)
        if now != before:
            changed = [text for text in now.others if text not in before.others]
            session.fail("no change", f"{now.rows} {changed}")


# --- moves ---


def _moves_in(
    session: SubmissionSession, direction: Direction, *, possible: bool
) -> list[tuple[ObservedMove, Board]]:
    seen = observed_games(session)
    if direction in seen.faults:
        raise seen.faults[direction]
    found = []
    for move in (*seen.moves, *(move for move in seen.written if move.changed)):
        board = move.before.board
        if board is not None and move.direction is direction and move.possible is possible:
            found.append((move, board))
    if possible and not found:
        _fail_missing(session, f"boards on which the move {direction} is possible")
    return found


def slides(session: SubmissionSession, direction: Direction) -> None:
    """Check that tiles slide and merge correctly in one direction."""
    for move, board in _moves_in(session, direction, possible=True):
        slid = board.slide(direction).board
        shown = move.now.board
        new = None if shown is None else new_tiles(slid.rows, shown.rows)
        if new is None or set(new) - {2}:
            _fail(session, move, f"{as_lists(slid.rows)} and a new 2", str(move.now.rows))


def adds_tile(session: SubmissionSession, direction: Direction) -> None:
    """Check that the new 2 appears on the square required by the rules."""
    for move, board in _moves_in(session, direction, possible=True):
        shown, wanted = move.now.board, after(board, direction)
        empty = board.slide(direction).board.empty_cells()
        if shown is None or any(bool(shown[cell]) != bool(wanted[cell]) for cell in empty):
            _fail(session, move, str(as_lists(wanted.rows)), str(move.now.rows))


def keeps_board(session: SubmissionSession, direction: Direction) -> None:
    """Check that an impossible move leaves the board unchanged."""
    for move, board in _moves_in(session, direction, possible=False):
        if move.changed:
            _fail(session, move, f"{as_lists(board.rows)}, unchanged", str(move.now.rows))
    _some_move(session)


def _some_move(session: SubmissionSession) -> None:
    if not any(move.changed for move in observed_games(session).moves):
        _fail_missing(session, "moves that change the board", "the board never changes")


# --- status and score ---


def reports_successes(session: SubmissionSession) -> None:
    """Check that the status panel names the direction of a successful move."""
    checked = 0
    for move in observed_games(session).moves:
        way = move.actual_direction
        if way is None or move.now.status_matches(OVER):
            continue
        checked += 1
        if not any(reports_success(line, way) for line in _lines(move.now.status)):
            wanted = f"a text such as '{way.name.title()} movement is successful'"
            _fail(session, move, wanted, str(move.now.others))
    if not checked:
        _fail_missing(session, "a successful move")


def reports_failures(session: SubmissionSession) -> None:
    """Check that the status panel reports a failure for impossible moves only."""
    checked = 0
    for move in observed_games(session).moves:
        if move.now.status_matches(OVER):
            continue
        if not move.changed and not move.possible:
            checked += 1
            if not move.now.status_matches(FAILURE):
                _fail(session, move, "a text such as 'Movement not possible'", str(move.now.others))
        elif move.actual_direction is not None and _matching(IMPOSSIBLE, move.new_lines):
            _fail(session, move, "no report of a failure", str(move.now.others))
    if not checked:
        _fail_missing(session, "an impossible move that leaves the board as it is")


def announces_the_end(session: SubmissionSession) -> None:
    """Check that the status panel announces the end of the game, with the final score."""
    seen = observed_games(session)
    for move in seen.moves:
        board = move.now.board
        if board is not None and board.can_move() and move.now.status_matches(OVER):
            _fail(session, move, "the game to continue", str(move.now.others))
    _some_move(session)
    game = [game for game in seen.games if game][-1]
    last = game[-1].now
    if not last.is_stuck:
        return  # The game stopped because moves had no effect. Other tasks check this.
    over = _matching(OVER, last.status)
    if not over:
        _fail(session, game[-1], "a text such as 'Game over, final score 99'", str(last.others))
    status, board_texts = last.status, set(last.others) - set(last.status)
    scores = {0}
    for move in game:
        scores = _scores_after(move, scores)
    for score in scores | _numbers(board_texts):
        found = [text for text in last.others if replace(last, others=[text]).shows_score(score)]
        if len(found) > 1 or set(found) & set(status):
            break
    else:
        _fail(session, game[-1], "the final score beside 'Game over'", str(last.others))
    _check_written_boards(session)


def _check_written_boards(session: SubmissionSession) -> None:
    """Fail if the game ends at 2048, or while one direction is still possible."""
    seen = observed_games(session)
    if seen.written_fault is not None:
        raise seen.written_fault
    for move in seen.written:
        if move.before.status_matches(OVER) or (move.possible and not move.changed):
            _fail(session, move, "the game to continue", str(move.before.others))


def keeps_score(session: SubmissionSession) -> None:
    """Check that the score starts at 0, gains a point per move and loses one per failed move."""
    for game in filter(None, observed_games(session).games):
        if not game[0].before.shows_score(0):
            _fail(session, game[0], "the score 0 at the start", str(game[0].before.others))
        possible = {0}
        for move in game:
            possible = _scores_after(move, possible)
            shown = {score for score in possible if move.now.shows_score(score)}
            if not shown:
                wanted = " or ".join(map(str, sorted(possible)))
                _fail(session, move, f"the score {wanted}", str(move.now.others))
            possible = shown
    _some_move(session)


def _scores_after(move: ObservedMove, scores: set[int]) -> set[int]:
    """Return the possible scores after a move.

    The assignment leaves open whether an incorrect move changes the score.
    """
    failed = not move.changed and not move.possible
    gains = {1} if move.actual_direction is not None else {-1} if failed else {1, 0, -1}
    return {score + gain for score in scores for gain in gains}


# --- new game ---

STARTS = 32
"""Number of new games whose starting positions are compared.

With 32 games, a correct program fails this check less than once in a million runs.
"""

PLAYED_STARTS = 8
"""Number of new games in which the check plays moves."""


def starts_a_persons_game(session: SubmissionSession) -> None:
    """Check that New game starts a correct game for a person, even during another game."""
    ways = observed_games(session).ways
    driver = start_program(session)
    starts: list[set[Cell]] = []
    squares = {(row, column): Odds(0.9, of=25) for row in range(5) for column in range(5)}
    for number in range(STARTS):
        if number:
            driver.new_game("Human", at_once=True)
        starts.append(_checked_start(session, driver.contents))
        for cell, odds in squares.items():
            odds.note(len(starts[-1]) / 25, came=cell in starts[-1])
        before = driver.contents
        later = [driver.click(BORDERS[way][0]) for way in ways if number < PLAYED_STARTS]
        if later and all(now == before for now in later):
            session.fail("moves after clicks in the new game", "nothing happens")
    session.shown[:] = [f"choose('New game')  # {STARTS} times"]
    found = sorted({len(cells) for cells in starts})
    # Nearly half of all games start with fewer than 13 tiles.
    if len(found) < 3 or found[-1] < 13:
        always = ", ".join(map(str, found))
        session.fail("a random number of tiles at the start, 1 to 25", f"always {always}")
    if all(one <= two for one, two in pairwise(sorted(starts, key=len))):
        session.fail("tiles on random squares", "each start includes all squares of smaller starts")
    judge_cells(session, squares, "tiles on random squares")


def _end_at_new_game(driver: WindowDriver, do: str) -> None:
    """Click New game, and fail if the old game can be continued in the same window."""
    session, others = driver.session, "len(screen.windows()), screen.dialogs()"
    before = session.value(others, show=False)
    driver.push_new_game()
    one = session.value("look()['texts']", show=False)
    session.run(do)
    two = session.value("look()['texts']", show=False)
    if one and one != two and before == session.value(others, show=False):
        session.fail("the game to end at New game", str(two))


def _checked_start(session: SubmissionSession, contents: WindowContents) -> set[Cell]:
    """Return the occupied squares. Fail if the tiles or the score are not those of a new game."""
    rows = contents.rows
    cells = {*tiles_of(rows)}
    if not cells or any(rows[row][column] != 2 for row, column in cells):
        session.fail("1 to 25 squares with a 2 at the start, and no other numbers", str(rows))
    if contents.has_text("score") and not contents.shows_score(0):
        session.fail("the score 0 at the start", str(contents.others))
    return cells


def lets_the_computer_play(session: SubmissionSession) -> None:
    """Check that the computer plays to the end, with pauses, and that the end is announced.

    Faults that a human player would also meet, such as a wrong score, already cost marks in other
    tasks and are ignored here.
    """
    seen = observed_games(session)
    try:
        keeps_score(session)
        score_is_right = True
    except CheckFailed:
        score_is_right = False
    try:
        driver = start_program(session, "Computer", seed=3)
        looks = _check_the_pauses(driver)
        if score_is_right:
            _compare_scores(session, looks)
        if not seen.has_dead_moves:
            _check_its_choices(driver, looks)
        ended = _watch_to_the_end(driver, can_be_stuck=seen.has_dead_moves)
        if ended and seen.has_announced_end and not seen.has_dead_moves:
            _check_the_end(driver)
    except SubmissionCrash:
        if not seen.faults:
            raise
    except CheckFailed:
        if not (seen.has_dead_moves and session.value("screen.errors()", show=False)):
            raise


WATCHABLE = "moves that can be watched, with a pause between them"


def _check_the_pauses(driver: WindowDriver) -> list[WindowContents]:
    """Watch a computer's game for six seconds, and fail unless individual moves are visible."""
    session = driver.session
    driver.fixed = observed_games(session).fixed
    step = "[screen.texts(), screen.seconds(), screen.advance(40)]"
    quick = [session.value(step, show=False) for _ in range(11)]
    seconds = quick[-1][1] - quick[0][1]
    if seconds < 0.5 and all(one[0] != two[0] for one, two in pairwise(quick)):
        session.shown.append("screen.advance(400)")
        session.fail(WATCHABLE, f"10 moves in {seconds:.1f} s")
    looks = [driver.look(), *(driver.look("screen.advance(200)") for _ in range(30))]
    session.shown.append("screen.advance(6000)  # six seconds pass")
    changes = sum(one.texts != two.texts for one, two in pairwise(looks))
    if looks[0].status_matches(OVER) or changes == 0:
        session.fail(WATCHABLE, f"{changes} in sight")
    return looks


def _compare_scores(session: SubmissionSession, looks: Sequence[WindowContents]) -> None:
    """Fail if the score does not change with the computer's moves.

    Scores are not compared for a fast computer player, which may move several times between two
    observations. The pauses between moves may vary, so only half of the moves have to change the
    score correctly.
    """
    lasting = set.intersection(*(set(look.others) for look in looks))
    shown = [possible_scores(set(look.others) - lasting) for look in looks]
    if not any(shown):
        session.fail("the score to follow the computer's moves", f"always {looks[-1].others}")
    if all(one != two for one, two in pairwise(looks)):
        return
    attempts = list(zip(map(_gain, looks, looks[1:]), shown, shown[1:], strict=False))
    for gain in (1, -1):
        found = [any(n + gain in now for n in was) for due, was, now in attempts if due == gain]
        if sum(found) * 2 < len(found):
            asked = "one point more after a" if gain > 0 else "one point less after an impossible"
            session.fail(f"{asked} move of the computer", f"in the end {looks[-1].others}")


def possible_scores(texts: Iterable[str]) -> set[int]:
    """Return the numbers in the texts that could be the score.

    Texts that contain the word "score" or only a number take precedence. All other texts are
    searched only if these contain no number.
    """
    return _numbers(_matching(r"score|^\s*-?\d+\s*$", texts)) or _numbers(texts)


def _gain(one: WindowContents, two: WindowContents) -> int:
    """Return the expected change of the score between two observations: 1, -1, or 0 if unknown."""
    steps = [ObservedMove(one, way, two) for way in Direction]
    if any(step.actual_direction is not None for step in steps):
        return 1
    failed = one.texts == two.texts and one.status != two.status
    return -1 if failed and _matching(FAILURE, steps[0].new_lines) else 0


MAX_MORE_LOOKS = 150
"""Maximum number of observations before the search for a missing direction gives up."""

MIN_CHANCES = 50
"""The check fails if the computer could move in a direction this many times, but never did.

The probability that a random player ignores a direction so often is below one in a million.
"""


class Choice(NamedTuple):
    """A move by the computer player, with all directions that were possible at the time."""

    way: Direction
    possible: frozenset[Direction]


@dataclass
class ObservedChoices:
    """The computer player's moves, derived by comparing consecutive observations.

    Attributes:
        made: The moves. A change that is not a single correct move is recorded as None.
        tries_impossible_moves: Whether the computer has attempted an impossible move.
    """

    made: list[Choice | None] = field(default_factory=list)
    tries_impossible_moves: bool = False

    def add(self, one: WindowContents, two: WindowContents) -> None:
        """Record the change between two observations, if there is one."""
        less = {score - 1 for score in possible_scores(one.others)}
        costs = _gain(one, two) < 0 or possible_scores(two.others) == less
        possible = [] if one.board is None else one.board.legal_directions()
        way = ObservedMove(one, possible[0], two).actual_direction if possible else None
        self.tries_impossible_moves |= one.texts == two.texts and costs
        if one.texts != two.texts or costs:
            self.made.append(None if way is None else Choice(way, frozenset(possible)))

    @property
    def chosen(self) -> frozenset[Direction]:
        """The directions chosen so far."""
        return frozenset(choice.way for choice in self.made if choice)

    @property
    def chances(self) -> Counter[Direction]:
        """How often each direction was possible."""
        return Counter(way for choice in self.made if choice for way in choice.possible)

    @property
    def avoided_direction(self) -> Direction | None:
        """A direction that a random player should have chosen but never did, or None.

        Players with a strategy may avoid a direction deliberately. A player is assumed to have a
        strategy if it

        - never attempts an impossible move,
        - always prefers one direction to another,
        - follows a fixed sequence, or
        - avoids two directions.
        """
        chosen, chances = self.chosen, self.chances
        if len(chosen) < len(Direction) - 1:
            return None
        free = {choice.way for choice in self.made if choice and choice.possible >= chosen}
        by_chance = self.tries_impossible_moves and free == chosen and not self._takes_turns
        often = [way for way in Direction if way not in chosen and chances[way] >= MIN_CHANCES]
        return often[0] if by_chance and often else None

    @property
    def _takes_turns(self) -> bool:
        """Whether the computer seems to follow a fixed sequence.

        This is the case if the same three moves are always followed by the same fourth move.
        """
        following: dict[tuple[Direction, ...], set[Direction]] = {}
        for row in zip(*(self.made[first:] for first in range(4)), strict=False):
            ways = tuple(choice.way for choice in row if choice)
            if len(ways) == 4:
                following.setdefault(ways[:3], set()).add(ways[3])
        return all(len(ways) == 1 for ways in following.values())


def _check_its_choices(driver: WindowDriver, looks: Sequence[WindowContents]) -> None:
    """Fail if a computer that plays randomly never chooses one of the four directions."""
    session, choices = driver.session, ObservedChoices()
    for one, two in pairwise(looks):
        choices.add(one, two)
    changes = sum(one.texts != two.texts for one, two in pairwise(looks))
    # With a short pause, the computer rarely makes two moves between observations.
    pause = 4000 // changes if changes < len(looks) - 1 else 50
    before = looks[-1]
    for _ in range(MAX_MORE_LOOKS):
        if len(choices.chosen) == len(Direction) or choices.avoided_direction:
            break
        now = driver.look(f"screen.advance({pause})")
        choices.add(before, now)
        before = now
    way = choices.avoided_direction
    if way is not None and observed_games(session).is_right(way):
        found = f"no move {way}, although it was possible {choices.chances[way]} times"
        session.fail("moves in all four directions", found)


def _watch_to_the_end(driver: WindowDriver, *, can_be_stuck: bool) -> bool:
    """Watch a computer's game, and fail if the computer stops before the game is over.

    Returns:
        Whether the game has ended.
    """
    session = driver.session
    still = 0
    for _ in range(80):
        before = driver.contents
        if before.status_matches(OVER) or before.is_stuck:
            return True
        if before.board is not None and before.board.sum > ENOUGH_SUM:
            break
        now = driver.look("screen.advance(30000)")
        still = 0 if now.texts != before.texts else still + 1
        if now == before:
            session.fail("the computer to play until the game is over", f"it stops at {now.rows}")
        if still == MAX_STILL_HALF_MINUTES and not can_be_stuck:
            session.fail("moves in all directions", f"no more moves at {now.rows}")
    return False


def _check_the_end(driver: WindowDriver) -> None:
    """Fail unless the computer stops and announces the end of the game within half a minute.

    Strings other than the announcement may change, for example a clock.
    """
    session, before = driver.session, driver.contents
    now = driver.look("screen.advance(30000)")
    if now.texts != before.texts:
        return  # the program has started another game
    if not (before.status_matches(OVER) or now.status_matches(OVER)):
        wanted = "a text such as 'Game over, final score 99' when the computer cannot move"
        session.fail(wanted, str(now.others))
    scores = possible_scores(before.others), possible_scores(now.others)
    if all(scores) and min(scores[1]) < min(scores[0]):
        wanted = "the computer to stop when the game is over"
        session.fail(wanted, f"the score falls: {before.others}, then {now.others}")


MAX_STILL_HALF_MINUTES = 10
"""A computer player counts as stuck after this many half-minutes without a move."""


def stops_the_computer(session: SubmissionSession) -> None:
    """Check that New game ends the computer's current game."""
    try:
        _stop_the_computer(session)
    except SubmissionCrash:
        if not observed_games(session).faults:
            raise  # Crashes after clicks cost marks in other tasks, and are ignored here.


def _stop_the_computer(session: SubmissionSession) -> None:
    """Fail if the computer player still makes moves after a click on New game."""
    driver = start_program(session, "Computer", seed=5)
    made, steps = session.value("changes(300, 10)", show=False)
    # Stop between two moves.
    session.run(f"screen.advance({16 * steps // max(made, 1)})", show=False)
    driver.new_game("Computer", at_once=True)
    again, _ = session.value(f"changes({steps}, 300)", show=False)
    if again > 1.5 * made + 2:
        session.fail("the computer to move as fast as before", f"{again} moves instead of {made}")
    driver.new_game("Human", at_once=True)
    _checked_start(session, driver.contents)
    before = driver.contents
    session.run("screen.advance(20000)")
    if driver.look().texts != before.texts:
        session.fail("the computer to stop when a person plays", str(driver.contents.rows))
    ways = observed_games(session).ways
    for way in [way for way in ways if _possible(before, way)][:1]:
        _end_at_new_game(driver, f"hit{BORDERS[way][0]}")
    driver.new_game("Computer", at_once=True)
    session.run("screen.advance(3210)")
    _plays_alone(driver, ways)
    _end_at_new_game(driver, "screen.advance(5000)")


def _plays_alone(driver: WindowDriver, ways: Sequence[Direction]) -> None:
    """Fail if clicks move tiles in a computer's game.

    The clock is stopped, so the computer player makes no moves during the clicks.
    """
    moves = []
    for way in ways:
        before = driver.look()
        driver.session.run(f"hit{BORDERS[way][0]}")
        moves.append(ObservedMove(before, way, driver.look()))
    if sum(move.actual_direction is move.direction for move in moves) > 1:
        driver.session.fail("no moves by clicks in the computer's game", "clicks move tiles")


def _fail(session: SubmissionSession, move: ObservedMove, expected: str, actual: str) -> None:
    cell = BORDERS[move.direction][0]
    session.shown[:] = [
        f"# the board shows {move.before.rows}",
        f"hit{cell}  # a click on row {cell[0]}, column {cell[1]}: {move.direction}",
    ]
    session.fail(expected, actual)


# --- the tasks ---

SHEET = read_sheet(HERE / "starter" / "TASKS.md")
GAME_TIMEOUT_S = 10.0
"""Time limit in seconds for a request in checks that play whole games."""


def _move(id: str, direction: Direction) -> Task:
    sliding = partial(slides, direction=direction)
    return SHEET.task(
        id,
        Check("tiles slide and merge", run=sliding, seconds=GAME_TIMEOUT_S),
        Check("the new 2 is on the right square", run=partial(adds_tile, direction=direction)),
        Check("an impossible move changes nothing", run=partial(keeps_board, direction=direction)),
    )


TASKS = (
    SHEET.task(
        "1",
        Check("shows squares, a score board and New game", run=has_all_components),
        Check("Quit closes the window", run=quits),
    ),
    SHEET.task(
        "2",
        Check("squares show only legal values", run=shows_legal_values, seconds=GAME_TIMEOUT_S),
        Check("moved squares are highlighted", run=highlights_what_moved),
    ),
    SHEET.task(
        "3",
        Check("all border squares take clicks", run=border_squares_act),
        Check("corners and inner squares do nothing", run=other_squares_do_nothing),
    ),
    _move("4", Direction.UP),
    _move("5", Direction.DOWN),
    _move("6", Direction.RIGHT),
    _move("7", Direction.LEFT),
    SHEET.task(
        "8",
        Check("reports successful moves", run=reports_successes, seconds=GAME_TIMEOUT_S),
        Check("reports impossible moves", run=reports_failures),
        Check("announces the end of the game", run=announces_the_end),
    ),
    SHEET.task("9", Check("the score is always right", run=keeps_score, seconds=GAME_TIMEOUT_S)),
    SHEET.task(
        "10",
        Check("Human starts a new game", run=starts_a_persons_game),
        Check("the computer plays to the end", run=lets_the_computer_play, seconds=GAME_TIMEOUT_S),
        Check("New game stops the computer", run=stops_the_computer),
    ),
)

GRADING = Grading(
    course="cits1401",
    module="app",
    files=("app.py", "main.py", "project2.py", "game.py"),
    opening="",  # examples are clicks, not Python code
    tasks=TASKS,
    gui=True,
    libraries=("numpy", "PIL"),
    not_graded="clarity of the code, how attractive the display is, and the three additional tasks",
)
