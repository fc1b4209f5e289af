"""The checks of the ten tasks."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from py2048.board import Board
from py2048.courses.cits1401.grading.games import Step, evidence
from py2048.courses.cits1401.grading.table import (
    BORDERS,
    CORNERS,
    FAILURE,
    INSIDE,
    OVER,
    SUCCESS,
    Cell,
    Sight,
    Table,
    after,
    listed,
)
from py2048.courses.grading import SubmissionSession
from py2048.direction import Direction

Run = Callable[[SubmissionSession], None]


def has_all_components(session: SubmissionSession) -> None:
    """Squares, score board, New game."""
    table = Table(session)
    table.begin()
    if not table.sight.says("score"):
        session.fail("a score board: a text with the word score", str(table.sight.others))


def quits(session: SubmissionSession) -> None:
    """Quit closes the window."""
    table = Table(session)
    table.begin()
    for word in ("Quit", "Exit"):
        pushed = session.run(f"choose({word!r})")
        if pushed.state == "done":
            return
        if pushed.value:
            windows = session.value("len(screen.windows())", show=False)
            if windows:
                session.fail("no window", f"{windows} still open")
            return
        session.shown.pop()
    session.fail("a button Quit", table.texts())


# --- what the squares show ---


def shows_legal_values(session: SubmissionSession) -> None:
    """A square shows a power of two or nothing."""
    for step in evidence(session).steps:
        for row in step.now.rows:
            for value in row:
                text = str(value)
                legal = value == 0 or (isinstance(value, int) and value & (value - 1) == 0)
                if not legal or value == 1:
                    _fail(session, step, "2, 4, 8 … or nothing on every square", repr(text))
        if any(text.strip() == "0" for row in step.now.texts for text in row):
            _fail(session, step, "nothing on an empty square", "'0'")


def highlights_what_moved(session: SubmissionSession) -> None:
    """Squares that moved in the last move look different from the others with their number."""
    compared = 0
    for step in evidence(session).steps:
        board, way = step.before.board, step.went
        if board is None or way is None:
            continue
        motions = board.slide(way).motions
        merged = {motion.target for motion in motions if motion.merged}
        looks: dict[bool, dict[int, set[str]]] = {True: {}, False: {}}
        for source, target, _ in motions:
            if target not in merged:
                look = step.now.looks[target[0]][target[1]]
                looks[source != target].setdefault(board[source], set()).add(look)
        for value in looks[True].keys() & looks[False].keys():
            compared += 1
            if looks[True][value] & looks[False][value]:
                _fail(
                    session,
                    step,
                    f"the {value}s that moved to look different from those that did not",
                    "some look the same",
                )
    if not compared:
        session.fail("squares that move and squares that stay", "there were none to compare")


# --- clicks ---


def border_squares_act(session: SubmissionSession) -> None:
    """Every square on the border but the corners takes clicks, if any on its side does."""
    table = Table(session)
    table.begin()
    acting = 0
    for direction, cells in BORDERS.items():
        acts = [_acts(table, cell, direction) for cell in cells]
        acting += any(acts)
        if any(acts) and not all(acts):
            cell = cells[acts.index(False)]
            session.fail(f"the click on {cell} to move {direction}", "nothing happened")
    if acting < 2:
        session.fail("clicks on the border to make moves", "nothing happened on most sides")


def _acts(table: Table, cell: Cell, direction: Direction) -> bool:
    """Whether a click on `cell` does anything when a move in `direction` is possible."""
    for way in (*Direction, *Direction):
        if _possible(table.sight, direction):
            break
        table.click(BORDERS[way][0])
    before = table.sight
    now = table.click(cell)
    return (before.texts, before.others) != (now.texts, now.others)


def _possible(sight: Sight, direction: Direction) -> bool:
    return sight.board is not None and sight.board.slide(direction).changed


def other_squares_do_nothing(session: SubmissionSession) -> None:
    """Corners and squares inside do nothing and cost nothing."""
    table = Table(session)
    table.begin(seed=4)
    acted = [table.click(cells[0]) for cells in BORDERS.values()]
    if all(sight.texts == acted[0].texts for sight in acted):
        session.fail("clicks on the border to make moves", "nothing happened on any side")
    for cell in (*CORNERS, *INSIDE):
        before = table.sight
        now = table.click(cell)
        if (before.texts, before.others) != (now.texts, now.others):
            changed = [text for text in now.others if text not in before.others]
            session.fail("nothing to happen", f"{now.rows} {changed}")


# --- moves ---


def _of(
    session: SubmissionSession, direction: Direction, *, possible: bool
) -> list[tuple[Step, Board]]:
    found = []
    for step in evidence(session).steps:
        board = step.before.board
        moves = board is not None and after(board, direction) != board
        if board is not None and step.direction is direction and moves is possible:
            found.append((step, board))
    if possible and not found:
        session.fail(f"boards on which the move {direction} is possible", "there was none")
    return found


def slides(direction: Direction) -> Run:
    """Return the check that all tiles go in a direction and merge as they should."""

    def check(session: SubmissionSession) -> None:
        for step, board in _of(session, direction, possible=True):
            slid = board.slide(direction).board
            shown = step.now.board
            if shown is None or not _with_one_more(slid, shown):
                _fail(session, step, f"{listed(slid)} and a new 2", str(step.now.rows))

    return check


def _with_one_more(slid: Board, shown: Board) -> bool:
    """Whether `shown` is `slid`, perhaps with new 2s on empty cells."""
    pairs = zip(sum(slid.rows, ()), sum(shown.rows, ()), strict=True)
    return all(one == two or (one, two) == (0, 2) for one, two in pairs)


def adds_at_its_place(direction: Direction) -> Run:
    """Return the check that the new 2 appears where the rules say."""

    def check(session: SubmissionSession) -> None:
        for step, board in _of(session, direction, possible=True):
            shown = step.now.board
            wanted = after(board, direction)
            slid = board.slide(direction).board
            if shown is None or [c for c in slid.empty_cells() if shown[c]] != [
                c for c in slid.empty_cells() if wanted[c]
            ]:
                _fail(session, step, str(listed(wanted)), str(step.now.rows))

    return check


def refuses(direction: Direction) -> Run:
    """Return the check that an impossible move leaves the board as it is."""

    def check(session: SubmissionSession) -> None:
        for step, board in _of(session, direction, possible=False):
            if step.changed:
                _fail(session, step, f"{listed(board)}: nothing can move", str(step.now.rows))
        if not any(step.changed for step in evidence(session).steps):
            session.fail("some move to be made", "the board never changes")

    return check


# --- status and score ---


def tells_success(session: SubmissionSession) -> None:
    """After a successful move the status panel says so, and in which direction it was."""
    told = 0
    for step in evidence(session).steps:
        way = step.went
        if way is None or step.now.says(OVER):
            continue
        told += 1
        if not (step.now.says(SUCCESS) and step.now.says(str(way.name))):
            wanted = f"a text such as '{way.name.title()} movement is successful'"
            _fail(session, step, wanted, str(step.now.others))
    if not told:
        session.fail("a successful move", "there was none")


def tells_failure(session: SubmissionSession) -> None:
    """After an impossible move the status panel says so, and only then."""
    told = 0
    for step in evidence(session).steps:
        if step.now.says(OVER):
            continue
        if not step.changed:
            told += 1
            if not step.now.says(FAILURE):
                _fail(session, step, "a text such as 'Movement not possible'", str(step.now.others))
        elif step.went is not None and step.now.says("not possible|impossible"):
            _fail(session, step, "no word of failure", str(step.now.others))
    if not told:
        session.fail("an impossible move that leaves the board as it is", "there was none")


def tells_the_end(session: SubmissionSession) -> None:
    """When no move is left, the status panel says that the game is over, and the final score."""
    for step in evidence(session).steps:
        board = step.now.board
        if board is not None and board.can_move() and step.now.says(OVER):
            _fail(session, step, "the game to go on", str(step.now.others))
    last = evidence(session).games[-1][-1]
    board = last.now.board
    if not any(step.changed for step in evidence(session).steps):
        session.fail("some move to be made", "the board never changes")
    if board is None or board.can_move():
        return  # moves that are possible are refused: other tasks ask for them
    over = [text for text in last.now.others if re.search(OVER, text, re.IGNORECASE)]
    if not over:
        _fail(session, last, "a text such as 'Game over, final score 99'", str(last.now.others))
    scores = [set(re.findall(r"-?\d+", text)) for text in over]
    others = {n for text in last.now.others for n in re.findall(r"-?\d+", text)}
    if not any(scores) and len(others) == 0:
        _fail(session, last, "the final score beside 'Game over'", str(over))


def counts(session: SubmissionSession) -> None:
    """The score begins with 0; a success adds one, a failure takes one away."""
    for game in evidence(session).games:
        if not game:
            continue
        if not game[0].before.shows_score(0):
            _fail(session, game[0], "the score 0 at the start", str(game[0].before.others))
        possible = {0}
        for step in game:
            possible = _scores_after(step, possible)
            shown = {score for score in possible if step.now.shows_score(score)}
            if not shown:
                wanted = " or ".join(map(str, sorted(possible)))
                _fail(session, step, f"the score {wanted}", str(step.now.others))
            possible = shown
    if not any(step.changed for step in evidence(session).steps):
        session.fail("some move to be made", "the board never changes")


def _scores_after(step: Step, scores: set[int]) -> set[int]:
    """Return what the score may be; where a move itself went wrong, it may have counted or not."""
    gains = {1} if step.went is not None else {-1} if not step.changed else {1, -1}
    return {score + gain for score in scores for gain in gains}


# --- new game ---


def begins_a_human_s_game(session: SubmissionSession) -> None:
    """New game, in the middle of a game, leads to a new one: only 2s, score 0, clicks work."""
    table = Table(session)
    table.begin()
    counts_seen = {_checked_start(session, table.sight)}
    for _ in range(5):
        for cells in BORDERS.values():
            table.click(cells[0])
        table.new_game("Human")
        counts_seen.add(_checked_start(session, table.sight))
    before = table.sight
    later = [table.click(cells[0]) for cells in BORDERS.values()]
    if all((now.texts, now.others) == (before.texts, before.others) for now in later):
        session.fail("clicks to work in the new game", "nothing happens")
    if len(counts_seen) < 3:
        found = ", ".join(map(str, sorted(counts_seen)))
        session.fail("a random number of tiles at the start, 1 to 25", f"always {found}")


def _checked_start(session: SubmissionSession, sight: Sight) -> int:
    values = [value for row in sight.rows for value in row]
    if set(values) - {0, 2} or 2 not in values:
        session.fail("1 to 25 squares with a 2 at the start, and no others", str(sight.rows))
    if sight.says("score") and not sight.shows_score(0):
        session.fail("the score 0 at the start", str(sight.others))
    return values.count(2)


def lets_the_computer_play(session: SubmissionSession) -> None:
    """The computer moves by itself, with pauses, in several directions, to the end."""
    table = Table(session)
    table.begin("Computer", seed=3)
    sights = [table.sight]
    for _ in range(30):
        session.run("screen.advance(200)", show=False)
        sights.append(table.look())
    session.shown.append("screen.advance(6000)  # six seconds pass")
    boards = [sight.texts for sight in sights]
    changes = sum(one != two for one, two in pairwise(boards))
    if sights[0].says(OVER) or changes == 0:
        session.fail("moves that can be watched, with a pause between them", f"{changes} in sight")
    for _ in range(80):
        before = table.sight
        if before.says(OVER) or (before.board is not None and not before.board.can_move()):
            break
        session.run("screen.advance(30000)", show=False)
        now = table.look()
        if (now.texts, now.others) == (before.texts, before.others):
            session.fail("the computer to play until the game is over", f"it stops: {now.rows}")


def stops_the_computer(session: SubmissionSession) -> None:
    """New game ends the computer's game, too."""
    table = Table(session)
    table.begin("Computer", seed=5)
    session.run("screen.advance(3000)", show=False)
    table.new_game("Human")
    _checked_start(session, table.sight)
    before = table.sight
    session.run("screen.advance(20000)")
    if table.look().texts != before.texts:
        session.fail("the computer to stop when a person plays", str(table.sight.rows))


def _fail(session: SubmissionSession, step: Step, expected: str, actual: str) -> None:
    cell = BORDERS[step.direction][0]
    session.shown[:] = [
        f"# the board shows {step.before.rows}",
        f"hit{cell}  # a click on row {cell[0]}, column {cell[1]}: {step.direction}",
    ]
    session.fail(expected, actual)
