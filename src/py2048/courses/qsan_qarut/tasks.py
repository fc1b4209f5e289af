"""The ten tasks of Qsan Qarut, and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from py2048.courses.grading import (
    Check,
    CheckFailed,
    Example,
    Grading,
    OneOf,
    Satisfies,
    SubmissionSession,
    Task,
    calling,
    read_sheet,
    right_versions,
)
from py2048.courses.grading.boards import (
    Rows,
    as_lists,
    checkered,
    random_rows,
    slid,
    with_one_pair,
)
from py2048.courses.grading.chance import draws_evenly
from py2048.courses.qsan_qarut import model
from py2048.courses.qsan_qarut.model import DIRECTIONS

PRELUDE = "import numpy as np"
"""Code that runs before every example."""

ARROWS = {"l": "left", "r": "right", "u": "up", "b": "down"}
NOTHING_ADDED = "game.add_num = lambda: None"

TINY: tuple[Rows, ...] = (
    [[0, 2], [0, 0]],
    [[2, 2], [0, 0]],
    [[2, 2], [2, 2]],
    [[2, 4], [4, 2]],
    [[2, 0, 2], [0, 4, 4], [8, 8, 8]],
    [[4, 4, 8], [2, 2, 4], [16, 8, 8]],
    [[2, 2, 4, 8], [4, 2, 2, 0], [2, 0, 0, 2], [2, 2, 2, 2]],
    [[2, 0, 2, 4], [2, 0, 2, 4], [0, 0, 0, 2], [2, 0, 2, 4]],
    [[65536, 65536, 0, 0], [1024, 1024, 2048, 0], [0, 0, 0, 0], [4, 8, 8, 4]],
    [[2, 2, 2, 2, 2], [0, 2, 0, 2, 2], [4, 0, 4, 8, 8], [0, 0, 0, 0, 2], [8, 4, 2, 2, 4]],
)


def game_code(rows: Rows) -> str:
    """Return code that creates a `game` with these rows."""
    return f"game = Model({len(rows)}).game\ngame.board = np.array({rows})"


def transposed(rows: Rows) -> Rows:
    """Return the transposed rows."""
    return as_lists(zip(*rows, strict=True))


def up_to_one_new_number(wanted: Rows) -> Satisfies:
    """Return a matcher for `wanted`, optionally with one more 2 or 4 on an empty cell."""

    def holds(actual: Any) -> bool:
        pairs = [
            (want, have)
            for ours, theirs in zip(wanted, actual, strict=True)
            for want, have in zip(ours, theirs, strict=True)
        ]
        more = [have for want, have in pairs if want != have]
        fresh = [have for want, have in pairs if want == 0 and have in (2, 4)]
        return more == fresh and len(more) <= 1

    return Satisfies(str(wanted), holds)


def stack_examples(move: str) -> Callable[[str], Iterator[Example]]:
    """Return a function that yields examples of one move, on many boards."""

    def examples(seed: str) -> Iterator[Example]:
        boards = [*TINY, *map(transposed, TINY)]
        for number, size in enumerate((2, 3, 4, 4, 4, 5, 6)):
            for values in ((0, 0, 2, 4), (0, 2, 2, 4, 8), (2, 4), (0, 2, 512, 131072)):
                boards += [random_rows(f"{seed}{move}{number}", values, size, size)]
        for rows in boards:
            moved = up_to_one_new_number(slid(rows, DIRECTIONS[move]))
            yield Example(
                f"game.stack({move!r})",
                given=f"{game_code(rows)}\n{NOTHING_ADDED}",
                then={"game.board.tolist()": moved},
            )

    return examples


# --- start and new numbers ---


def fresh_boards() -> Iterator[Example]:
    """Yield examples of new boards of several sizes."""
    for size in (2, 3, 4, 7):
        given = f"game = Game({size})"
        yield Example("game.board.shape", (size, size), given=given)
        yield Example("np.issubdtype(game.board.dtype, np.integer)", True, given=given)
        yield Example("int(np.count_nonzero(game.board))", 1, given=given)
        yield Example("int(game.board.sum())", OneOf(2, 4), given=given)


FULL_BOARD_CLEARED = Example(
    "game.set_board()",
    given="game = Game(3)\ngame.board = np.full((3, 3), 8)",
    then={"game.board.shape": (3, 3), "int(np.count_nonzero(game.board))": 1},
)

COUNT = "int(np.count_nonzero(game.board))"
FREE_CELL = "tuple(int(part) for part in game.get_random_position())"


def draws_every_free_cell(session: SubmissionSession) -> None:
    """Check that all empty cells, and only those, are chosen with equal probability."""
    for rows, free in (
        ([[2, 4], [0, 2]], [(1, 0)]),
        ([[2, 0, 4], [0, 4, 2], [2, 8, 0]], [(0, 1), (1, 0), (2, 2)]),
    ):
        session.begin()
        session.expect(game_code(rows))
        draws_evenly(session, FREE_CELL, free)


def adds_2_or_4(session: SubmissionSession) -> None:
    """Check that 2 and 4 are added with equal probability, on any empty cell and only there."""
    rows = [[8, 0], [0, 16]]
    session.begin()
    session.expect(game_code(rows))
    lay = f"game.board = np.array({rows})"
    session.run(f"def add():\n    {lay}\n    game.add_num()\n    return game.board.tolist()")
    after = [[[8, n], [0, 16]] for n in (2, 4)] + [[[8, 0], [n, 16]] for n in (2, 4)]
    draws_evenly(session, "add()", after)


# The second board has room, so that a method that does nothing fails.
FULL_STAYS = tuple(
    Example("game.add_num()", given=game_code(rows), then={COUNT: 4})
    for rows in ([[2, 4], [8, 16]], [[2, 4], [8, 0]])
)


def growth_code(rows: Rows, move: str) -> str:
    """Return code that computes the increase of the board's sum by a move."""
    return f"{game_code(rows)}\ngame.stack({move!r})\nint(game.board.sum()) - {sum(map(sum, rows))}"


LONELY = [[0, 0, 0], [0, 8, 0], [0, 0, 0]]


def _working_moves(session: SubmissionSession) -> list[str]:
    """Return the moves that slide a number; broken moves are checked by other tasks."""
    found = []
    for move in DIRECTIONS:
        session.begin()
        still = f"{game_code(LONELY)}\n{NOTHING_ADDED}\ngame.stack({move!r})"
        try:
            stays = session.value(f"{still}\ngame.board.tolist() == {LONELY}")
        except CheckFailed:
            continue
        if not stays:
            found.append(move)
    if not found:
        session.fail("a number that moves in some direction", "it never moves")
    return found


def adds_after_each_move(session: SubmissionSession) -> None:
    """Check that each move that changes the board adds one number."""
    for move in _working_moves(session):
        for seed in map(session.seed_for, range(8)):
            session.begin()
            session.expect(growth_code(LONELY, move), OneOf(2, 4), seed=seed)


STILL = (
    ([[2, 4], [0, 0]], "lr"),
    ([[2, 0], [4, 0]], "ub"),
    ([[0, 0, 0], [2, 4, 2], [4, 2, 4]], "lr"),
    ([[0, 2, 4], [0, 4, 2], [0, 2, 4]], "ub"),
    ([[2, 4], [8, 16]], "lrub"),
)


def adds_nothing_else(session: SubmissionSession) -> None:
    """Check that a move that changes nothing adds no number."""
    sliding = _working_moves(session)
    for rows, moves in STILL:
        for move in moves:
            if move in sliding:
                session.begin()
                session.expect(growth_code(rows, move), 0)
    if not any(session.value(growth_code(LONELY, move)) for move in sliding):
        session.fail("a new number after other moves", "there never is one")


# --- moves, score, end ---


def score_examples(move: str) -> list[Example]:
    """Check that the score is the sum of the board, including new numbers."""
    still = {"l": [[2, 0], [4, 0]], "r": [[0, 2], [0, 4]]}
    still |= {"u": [[2, 4], [0, 0]], "b": [[0, 0], [2, 4]]}
    code = f"game.make_move({move!r})\nint(game.score) - int(game.board.sum())"
    return [
        Example(code, 0, given=game_code(LONELY), then={"int(game.score) in (10, 12)": True}),
        Example(code, 0, given=game_code(still[move]), then={"int(game.score)": 6}),
    ]


def single_number_example(move: str, code: str) -> Example:
    """Check that a single number slides in the direction of `move`."""
    return Example(
        code,
        given=f"{game_code(LONELY)}\n{NOTHING_ADDED}",
        then={"game.board.tolist()": up_to_one_new_number(slid(LONELY, DIRECTIONS[move]))},
    )


def writes_score_and_board(session: SubmissionSession) -> None:
    """Check that each arrow prints the score and the board after the move."""
    for move, name in ARROWS.items():
        session.begin()
        session.run(game_code([[64, 32, 0], [0, 16, 8], [4, 0, 128]]))
        output = session.run(f"game.{name}_arrow(None)", seed=session.seed_for(3)).output
        rows = session.value("game.board.tolist()", show=False)
        score = session.value("int(game.score)", show=False)
        numbers = " ".join(re.findall(r"[1-9]\d*", output))  # empty cells may be printed in any way
        board = " ".join(str(number) for row in rows for number in row if number)
        if f" {board} " not in f" {numbers} ":
            session.fail(f"the board {rows} on the command line ({move})", repr(output))
        if str(score) not in numbers.split():
            session.fail(f"the score {score} on the command line ({move})", repr(output))


def flag_example(rows: Rows, name: str, expected: bool, arrow: str = "left") -> Example:
    """Check that the game is correctly marked as won or finished after one arrow."""
    then = {f"bool(game.{name})": expected}
    return Example(f"game.{arrow}_arrow(None)", given=game_code(rows), then=then)


FINISHED = [
    *(flag_example([[2, 4], [8, 16]], "is_finished", True, arrow) for arrow in ARROWS.values()),
    *(flag_example(checkered(size, size), "is_finished", True) for size in (2, 3, 4)),
]
FILLED_BY_THE_LAST_NUMBER = (
    Example(
        "game.left_arrow(None)",
        given=game_code([[0, 8], [16, 32]]),
        then={"int(np.count_nonzero(game.board))": 4, "bool(game.is_finished)": True},
    ),
)


def not_finished(seed: str) -> Iterator[Example]:
    """Yield examples in which the game is not finished after an arrow."""
    yield FINISHED[0]  # so that a method that does nothing fails
    for number in range(3):
        rows = random_rows(f"{seed} {number}", (2, 4, 8, 16))
        rows[number] = [0, 2, 0, 4]
        yield flag_example(rows, "is_finished", False)
    for size in (2, 3):
        for rows in with_one_pair(size, size):
            merged = slid(rows, DIRECTIONS["l"]) != rows
            yield flag_example(rows, "is_finished", False, "up" if merged else "left")
    yield flag_example([[2, 0], [0, 0]], "is_finished", False)
    yield flag_example([[2, 4], [8, 0]], "is_finished", False)
    yield flag_example([[2, 0, 4], [8, 0, 16], [2, 0, 4]], "is_finished", False)


WON = (
    flag_example([[1024, 1024], [0, 0]], "is_won", True),
    flag_example([[1024, 0, 0], [0, 2048, 0], [0, 0, 2]], "is_won", True),
    flag_example([[512, 512], [0, 0]], "is_won", False),
    flag_example([[2, 4], [8, 16]], "is_won", False),
)
PLAYS_ON = (
    Example(
        "game.left_arrow(None)\nbefore = game.board.tolist()\ngame.right_arrow(None)",
        given=f"{game_code([[1024, 1024], [0, 0]])}\n{NOTHING_ADDED}",
        then={"bool(game.is_won)": True, "game.board.tolist() != before": True},
    ),
)


def _announced(session: SubmissionSession, rows: Rows, words: str, what: str) -> str:
    session.begin()
    session.run(game_code(rows))
    output = session.run("game.left_arrow(None)").output
    if not announces_in(words, output):
        session.fail(f"the command line to say {what}", repr(output))
    return output


WON_WORDS = r"\b(you|is)?w[io]n(s|ner|ning|game|\d+)?\b|congrat|victor"
OVER_WORDS = (
    r"(?<![a-z])((is)?(game)?(is)?over|lost|loses?|loser|finished|no more|no moves)(?![a-z])"
)


def announces_in(words: str, text: str, flags: str = "False") -> bool:
    """Return whether a string matches `words`, ignoring flags such as `finished: False`."""
    told = re.sub(rf"\b\w+(\W{{1,3}}|\s*[-=]+>\s*)({flags})\b", "", text)
    return bool(re.search(words, told, re.IGNORECASE))


def announces(session: SubmissionSession) -> None:
    """Check that the win and the end of the game are announced once, and not too early."""
    session.begin()
    session.run(game_code([[2, 0, 0], [0, 4, 0], [0, 0, 0]]))
    output = session.run("game.left_arrow(None)").output
    if announces_in(WON_WORDS, output) or announces_in(OVER_WORDS, output):
        session.fail("no announcement yet", repr(output))
    _announced(session, [[2, 4], [8, 16]], OVER_WORDS, "that the game is over")
    rows = [[1024, 1024, 0], [0, 0, 0], [0, 0, 0]]
    won = _announced(session, rows, WON_WORDS, "that it is won")
    output = session.run("game.down_arrow(None)").output
    printed_as_flag = announces_in(WON_WORDS, won, "True|False")
    flags = "True|False" if printed_as_flag else "False"
    if announces_in(WON_WORDS, output, flags):
        session.fail("only one announcement of the win", repr(output))


# The functions below run in the submission's process, where `screen` is the simulated user. Lines
# run with `type_line` are recorded, so that reports show students how to repeat the steps.


def load_controller(type_line: Any, names: dict[str, Any], typed: list[str]) -> Any:
    """Import the module with the controller.

    The import may create a controller, as in the document, but it must return.
    """
    type_line("import tkinter")
    type_line("tkinter.Misc.mainloop = tkinter.Tk.mainloop = lambda *_: None")
    try:
        type_line("import controller")
    except ModuleNotFoundError as error:
        if error.name != "controller":
            raise
        typed.pop()
        type_line("import game as controller")  # the document's other name for it
    return names["controller"]


def construct_controller(type_line: Any, module: Any, n: int) -> None:
    """Create a controller with an n by n board.

    The size may be an argument of the constructor or a constant of the module, under any name.
    """
    import inspect

    usual = getattr(module, "N", 4)
    constants = [k for k, v in vars(module).items() if type(v) is int and v == usual]
    taken = inspect.signature(module.Controller).parameters.values()
    sizes = [
        f"{p.name}={n}"
        for p in taken
        if p.kind < p.VAR_POSITIONAL and (p.default is p.empty or p.default == usual)
    ]
    if n != usual:
        for name in ["N"] if hasattr(module, "N") else constants:
            type_line(f"controller.{name} = {n}")
    type_line(f"made = controller.Controller({', '.join(sizes)})")


def give_size(screen: Any, n: int) -> str:
    """Enter the size in a dialog that asks for it, if any; return the text of the button."""
    kinds = ("Spinbox", "Entry", "Combobox")
    for field in [widget for kind in kinds for widget in screen.widgets(kind)]:
        field.call("insert", 0, str(n))
        field.call("delete", len(str(n)), "end")
    button = [str(b.cget("text")) for b in screen.widgets("Button")][-1]
    screen.push(button)
    return button


def window_opener(screen: Any, typed: list[str]) -> Any:
    """Return a function that opens the student's window and records its lines in `typed`."""
    names: dict[str, Any] = {}

    def type_line(line: str) -> None:
        typed.append(line)
        exec(line, names)

    def open_window(n: int = 4) -> Any:
        module = load_controller(type_line, names, typed)
        found = [k for k, v in vars(module).items() if type(v).__name__ == "Controller"]
        asks = bool(found) and not hasattr(getattr(module, found[-1]), "model")
        if found and (n == 4 or asks):
            type_line("made = controller." + found[-1])
        else:
            construct_controller(type_line, module, n)
        if not hasattr(names["made"], "model"):
            button = give_size(screen, n)
            typed.append(f"# in the window: {n}, and the button {button!r}")
        return names["made"]

    return open_window


OPEN = "typed = []\n" + calling(
    window_opener,
    "screen",
    "typed",
    result="open_window",
    using=(load_controller, construct_controller, give_size),
)

PRESS = (
    "w = made.view.window",
    "press = lambda key: (w.focus_force(), w.update(), w.event_generate(f'<{key}>'), w.update())",
)
"""Lines that let a student repeat a key press; the checks press real keys."""

KEYS = {"Left": (1, 0), "Right": (1, 3), "Up": (0, 1), "Down": (3, 1)}
LONELY_4 = "[[0, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"
STUCK = "[[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]"
WON_AND_STUCK = STUCK.replace("[[2,", "[[2048,")
WINNING = "[[1024, 1024, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"
TILES = "int(np.count_nonzero(made.model.game.board))"
SHOWN = "[[str(cell['number'].cget('text')) for cell in row] for row in made.cells]"


def open_student_window(session: SubmissionSession, n: int = 4) -> None:
    """Open the window in a new process, and record the lines for doing so."""
    session.fresh()
    session.begin()
    session.run(OPEN, show=False)
    session.shown[:] = ["import controller"]  # in case the import hangs
    opened = session.run(f"made = open_window({n})", show=False)
    session.shown[:] = session.value("typed", show=False)
    if opened.error is not None:
        session.fail("no exception", str(opened.error))


def show_rows(session: SubmissionSession, rows: str) -> None:
    """Put these rows on the game's board and update the window."""
    session.expect(f"made.model.game.board = np.array({rows})\nmade.update_view(None)")


def press(session: SubmissionSession, key: str) -> None:
    """Press a key in the window."""
    if PRESS[-1] not in session.shown:
        seed = session.seed_for(0)
        seeded = f"import random; random.seed({seed}); np.random.seed({seed})"
        session.shown.extend([seeded, *PRESS])
        session.run("", seed=seed, show=False)
    session.shown.append(f"press({key!r})")
    session.expect(f"screen.press({key!r})", show=False)


def texts(session: SubmissionSession) -> list[str]:
    """Return all texts in the window."""
    found: list[str] = session.value("screen.texts()", show=False)
    return found


def shows(session: SubmissionSession, text: str) -> bool:
    """Return whether a text in the window contains `text`, ignoring case."""
    return any(text.lower() in shown.lower() for shown in texts(session))


def expect_text(session: SubmissionSession, text: str) -> None:
    """Fail unless a text in the window contains `text`, ignoring case."""
    if not shows(session, text):
        session.fail(f"{text!r} in the window", str(texts(session)))


def expect_no_end(session: SubmissionSession) -> None:
    """Fail if the window shows that the game is over."""
    if shows(session, "game over"):
        session.fail("no 'Game Over' in the window", str(texts(session)))


def expect_win(session: SubmissionSession, known: set[str], when: str = "") -> None:
    """Fail unless the window shows the win in a text that is not in `known`."""
    found = texts(session)
    if not any(announces_in(WON_WORDS, text) for text in found if text not in known):
        session.fail(f"the win in the window{when}", str(found))


def expect_board(session: SubmissionSession) -> None:
    """Fail unless each cell shows its number; empty cells may show nothing."""
    board = session.value("made.model.game.board.tolist()", show=False)
    wanted = [[str(number) for number in row] for row in board]

    def holds(actual: Any) -> bool:
        return [[text.strip() or "0" for text in row] for row in actual] == wanted

    session.expect(SHOWN, Satisfies(str(wanted), holds))


def has_the_documents_window(session: SubmissionSession) -> None:
    """Check the window's title and size, its two canvases and the score."""
    open_student_window(session)
    session.expect("made.view.window.title()", "Qsan Qarut")
    size = session.value("made.view.window.update()\nstr(made.view.window.geometry())")
    if size.partition("+")[0] != "600x665":
        session.fail("600x665", size.partition("+")[0])
    session.expect("tuple(bool(side) for side in made.view.window.resizable())", (False, False))
    canvases = session.value("len(screen.widgets('Canvas'))", show=False)
    if canvases < 2:
        session.fail("two canvases, for the window and the game", f"{canvases} in the window")
    expect_text(session, "Score: 0")
    expect_no_end(session)


def shows_the_board(session: SubmissionSession) -> None:
    """Check that cells show their numbers, with one colour for each number."""
    open_student_window(session)
    expect_board(session)
    show_rows(session, STUCK)  # every cell changes its colour
    session.expect(f"made.view.window.update()\nsum({PARTS_SEEN})", 32)
    show_rows(session, "[[2, 4, 8, 16], [32, 64, 128, 256], [512, 1024, 2048, 0], [2, 2, 0, 0]]")
    expect_board(session)
    colours = "{made.cells[i][j]['frame'].cget('bg') for i, j in %s}"
    session.expect(f"len({colours % '[(0, 0), (3, 0), (3, 1)]'})", 1)
    session.expect(f"len({colours % '[(0, 0), (0, 1), (1, 0), (2, 2), (2, 3)]'})", 5)


PARTS_SEEN = (
    "cell[part].winfo_viewable() for row in made.cells for cell in row for part in cell "
    "if part in ('frame', 'number')"
)
LAST_SHOWN = "str(made.cells[3][3]['number'].cget('text'))"


def has_every_colour(session: SubmissionSession) -> None:
    """Check that numbers above 2048 can be shown."""
    open_student_window(session)
    show_rows(session, "[[2 ** (i + j + 6) for j in range(4)] for i in range(4)]")
    session.expect(LAST_SHOWN, "4096")


def has_colours_to_the_end(session: SubmissionSession) -> None:
    """Check that all possible numbers can be shown, up to 131072."""
    open_student_window(session)
    show_rows(session, "[[2 ** (4 * i + j + 2) for j in range(4)] for i in range(4)]")
    session.expect(LAST_SHOWN, str(2**17))


def fits_any_size(session: SubmissionSession) -> None:
    """Check that boards of other sizes N have N rows and columns and fit the window."""
    for n in (2, 3, 5, 8):
        open_student_window(session, n)
        session.expect("len(made.cells), len(made.cells[0])", (n, n))
        expect_board(session)
        widths = "[cell['frame'].cget('width') for row in made.cells for cell in row]"
        width = float(session.value(f"max(float(width) for width in {widths})"))
        if width * n > 600:
            session.fail(f"{n} cells side by side in 600 pixels", f"{width:g} pixels per cell")


def keys_move(session: SubmissionSession) -> None:
    """Check that each arrow key moves once, and that the window follows."""
    for key, (row, column) in KEYS.items():
        open_student_window(session)
        show_rows(session, LONELY_4)
        press(session, key)
        session.expect(f"int(made.model.game.board[{row}][{column}])", 8)
        session.expect(TILES, 2)
        expect_board(session)
        score = session.value("int(made.model.game.board.sum())", show=False)
        expect_text(session, f"Score: {score}")


def stops_at_the_end(session: SubmissionSession) -> None:
    """Check that the end of the game is shown and that keys do nothing afterwards."""
    open_student_window(session)
    show_rows(session, STUCK)
    press(session, "Left")
    expect_text(session, "Game Over")
    session.run(f"made.model.game.board = np.array({LONELY_4})")
    for key in KEYS:
        press(session, key)
    session.expect("int(made.model.game.board[1][1])", 8)


BUTTONS = "[(b.path, b.text()) for b in screen.widgets('Button') if b.winfo_ismapped()]"


def start_again(session: SubmissionSession) -> bool:
    """Push the button shown at the end of the game; return whether there is one."""
    buttons = session.value(BUTTONS, show=False)
    for path, text in buttons[-1:]:
        session.shown.append(f"w.nametowidget({path!r}).invoke()  # {text!r}")
        session.expect(f"screen.push({text!r})", True, show=False)
    return bool(buttons)


def begins_anew(session: SubmissionSession) -> None:
    """Check that the button starts a new game, in which each key press moves once.

    The final message and a previous win must not be shown in the new game.
    """
    open_student_window(session)
    before = session.value(BUTTONS, show=False)
    show_rows(session, STUCK)
    press(session, "Left")
    if not start_again(session):
        session.fail("a button for a new game", "no button is shown")
    session.expect(TILES, 1)
    expect_board(session)
    expect_text(session, "Score: 0")
    expect_no_end(session)
    if session.value(BUTTONS, show=False) != before:
        session.fail("a hidden button in the new game", "the button is still there")
    show_rows(session, LONELY_4)
    press(session, "Left")
    session.expect("int(made.model.game.board[1][0])", 8)
    session.expect(TILES, 2)
    show_rows(session, WON_AND_STUCK)
    press(session, "Left")
    if start_again(session):
        show_rows(session, STUCK)
        press(session, "Left")
        expect_text(session, "Game Over")


def shows_the_win(session: SubmissionSession) -> None:
    """Check that a win is shown, even on the last move, and that the keys still work."""
    open_student_window(session)
    show_rows(session, WINNING)
    before = texts(session)
    press(session, "Left")
    expect_win(session, set(before))
    press(session, "Down")
    session.expect("int(made.model.game.board[3][0])", 2048)
    open_student_window(session)
    show_rows(session, WON_AND_STUCK)
    press(session, "Left")
    expect_win(session, set(), ", also on the last move")


# --- the tasks ---


def lend_start(game_class: Any, model_class: Any) -> None:
    """Replace the constructors with correct ones that try the student's constructors first."""
    made = game_class.__init__

    def start_game(self: Any, N: int) -> None:
        try:
            made(self, N)
        except Exception:  # noqa: BLE001 - another check reports it
            self.score = 0
        self.grid = N
        self.score = 0
        self.is_finished = self.is_won = False
        self.set_board()

    def start_model(self: Any, N: int) -> None:
        self.game = game_class(N)

    game_class.__init__ = start_game
    model_class.__init__ = start_model


# The methods of `Game`, by part
METHODS = {
    "board": ("set_board",),
    "number": ("get_random_position", "add_num"),
    "stack": ("stack",),
    "score": ("update_score",),
    "move": ("make_move",),
    "arrows": ("left_arrow", "right_arrow", "up_arrow", "down_arrow"),
}


def all_but(*about: str) -> tuple[str, ...]:
    """Return patches that replace everything except the parts in `about` with the reference."""
    names = [name for part, names in METHODS.items() if part not in about for name in names]
    start = "" if "start" in about else calling(lend_start, "Game", "Model")
    return (start + right_versions(model, names, "model", place="model.Game"),)


SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")


def _task(id: str, *checks: Check, about: tuple[str, ...] = ()) -> Task:
    """Return a task with its checks; its patches replace everything except the parts in `about`."""
    return replace(SHEET[id], checks=checks, reference_patches=all_but(*about))


def _stack(moves: str) -> list[Check]:
    return [Check(f"moves and merges {ARROWS[move]}", stack_examples(move)) for move in moves]


TASKS = (
    _task(
        "1",
        Check(
            "a new game has the right attributes",
            (
                Example("type(Model(4).game).__name__", "Game"),
                Example("game = Model(3).game\ngame.grid", 3),
                Example(
                    "game = Game(5)\ngame.grid, game.score, game.is_finished, game.is_won",
                    (5, 0, False, False),
                ),
            ),
        ),
        Check("the board is N by N with one number", tuple(fresh_boards())),
        Check("set_board clears the board", (FULL_BOARD_CLEARED,)),
        about=("start", "board"),
    ),
    _task(
        "2",
        Check("draws every empty cell, and no other cell", run=draws_every_free_cell),
        Check("adds 2 and 4 equally often", run=adds_2_or_4),
        Check("leaves a full board unchanged", FULL_STAYS),
        about=("number",),
    ),
    _task("3", *_stack("lr"), about=("stack",)),
    _task("4", *_stack("ub"), about=("stack",)),
    _task(
        "5",
        Check("adds one number after a move", run=adds_after_each_move),
        Check("adds no number if nothing moved", run=adds_nothing_else),
        about=("stack",),
    ),
    _task(
        "6",
        Check(
            "update_score sums the board",
            lambda seed: [
                Example(
                    "game.update_score()",
                    given=game_code(rows),
                    then={"int(game.score)": sum(map(sum, rows))},
                )
                for rows in ([[2, 4], [8, 16]], random_rows(seed, (0, 2, 4, 512)))
            ],
        ),
        Check(
            "make_move moves",
            [single_number_example(move, f"game.make_move({move!r})") for move in DIRECTIONS],
        ),
        Check(
            "make_move updates the score",
            tuple(example for move in DIRECTIONS for example in score_examples(move)),
        ),
        about=("score", "move"),
    ),
    _task(
        "7",
        Check("finished if the board is full and stuck", FINISHED),
        Check("finished if the new number fills the board", FILLED_BY_THE_LAST_NUMBER),
        Check("not finished while a move is left", not_finished),
        Check("won if 2048 is on the board", WON),
        Check("play continues after a win", PLAYS_ON),
        Check("announces the end, and the win once", run=announces),
        about=("move", "arrows"),
    ),
    _task(
        "8",
        Check(
            "each arrow makes its move",
            [
                single_number_example(move, "\n".join([f"game.{name}_arrow(None)"] * times))
                for move, name in ARROWS.items()
                for times in (1, 2)
            ],
        ),
        Check("each arrow prints score and board", run=writes_score_and_board),
        about=("arrows",),
    ),
    _task(
        "9",
        Check("the window has the right title, size and score", run=has_the_documents_window),
        Check("the cells show the board", run=shows_the_board),
        Check("numbers above 2048 have colours", run=has_every_colour),
        Check("numbers up to 131072 have colours", run=has_colours_to_the_end, weight=0),
        Check("the cells fit the window for any N", run=fits_any_size, seconds=5),
    ),
    _task(
        "10",
        Check("the arrow keys move the numbers", run=keys_move),
        Check("the keys do nothing after the end", run=stops_at_the_end),
        Check("the button starts a new game", run=begins_anew),
        Check("the win is shown", run=shows_the_win),
    ),
)

GRADING = Grading(
    course="qsan_qarut",
    module="model",
    files=("model.py",),
    expects=("Model", "Game"),
    tasks=TASKS,
    gui=True,
    libraries=("numpy", "PIL"),
    prelude=PRELUDE,
    opening="import numpy as np; from {module} import *",
    not_graded="how the window looks, beyond its parts, texts and colours",
)
