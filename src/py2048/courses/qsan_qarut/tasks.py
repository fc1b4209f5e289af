"""The ten tasks of the course Qsan Qarut, with their checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
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
    LINES,
    OTHER_LINES,
    Rows,
    as_lists,
    checkered,
    lists,
    new_tiles,
    random_rows,
    slid,
    with_one_pair,
)
from py2048.courses.grading.chance import draws_evenly
from py2048.courses.qsan_qarut import model
from py2048.courses.qsan_qarut.model import DIRECTIONS

ARROWS = {"l": "left", "r": "right", "u": "up", "b": "down"}
NOTHING_ADDED = "game.add_num = lambda: None"

FIXED = [
    *([line, *[[0] * len(line)] * (len(line) - 1)] for line in (*OTHER_LINES, *LINES)),
    *([line] * len(line) for line in OTHER_LINES),
    *map(checkered, (2, 3), (2, 3)),
]
"""Boards that are empty except for one line, boards of equal lines, and boards without moves."""


def game_code(rows: Rows) -> str:
    """Return code that creates a `game` with the given rows."""
    return f"game = Model({len(rows)}).game\ngame.board = np.array({rows})"


def slide_example(move: str, rows: Rows, code: str) -> Example:
    """Return an example that slides a board, with or without a new 2 or 4 on an empty cell."""
    moved = slid(rows, DIRECTIONS[move])
    matcher = Satisfies(str(moved), lambda actual: new_tiles(moved, actual) in ([], [2], [4]))
    given = f"{game_code(rows)}\n{NOTHING_ADDED}"
    return Example(code, given=given, then={"game.board.tolist()": matcher})


def stack_examples(seed: str, move: str) -> list[Example]:
    """Return examples of a move on many boards."""
    boards = [*FIXED, *(as_lists(zip(*rows, strict=True)) for rows in FIXED)]
    for number, size in enumerate((2, 3, 4, 4, 4, 5, 6)):
        for values in ((0, 0, 2, 4), (0, 2, 2, 4, 8), (2, 4), (0, 2, 512, 131072)):
            boards += [random_rows(f"{seed}{move}{number}", values, size, size)]
    return [slide_example(move, rows, f"game.stack({move!r})") for rows in boards]


# --- start and new numbers ---


ATTRIBUTES = (
    Example("type(Model(4).game).__name__", "Game"),
    Example("game = Model(3).game\ngame.grid", 3),
    Example(
        "game = Game(5)\ngame.grid, game.score, game.is_finished, game.is_won", (5, 0, False, False)
    ),
)
COUNT = "int(np.count_nonzero(game.board))"
FRESH_BOARDS = [
    Example(code, expected, given=f"game = Game({size})")
    for size in (2, 3, 4, 7)
    for code, expected in (
        ("game.board.shape", (size, size)),
        ("np.issubdtype(game.board.dtype, np.integer)", True),
        (COUNT, 1),
        ("int(game.board.sum())", OneOf(2, 4)),
    )
]
FULL_BOARD_CLEARED = Example(
    "game.set_board()",
    given="game = Game(3)\ngame.board = np.full((3, 3), 8)",
    then={"game.board.shape": (3, 3), COUNT: 1},
)
FREE_CELL = "tuple(int(part) for part in game.get_random_position())"


def draws_every_free_cell(session: SubmissionSession) -> None:
    """Check that only empty cells are chosen, and that all of them are equally likely."""
    draws_evenly(session, FREE_CELL, [(1, 0)], game_code([[2, 4], [0, 2]]))
    rows = [[2, 0, 4], [0, 4, 2], [2, 8, 0]]
    draws_evenly(session, FREE_CELL, [(0, 1), (1, 0), (2, 2)], game_code(rows))


def adds_2_or_4(session: SubmissionSession) -> None:
    """Check that 2 and 4 are added with equal probability, and only on empty cells."""
    create, lay = game_code([[8, 0], [0, 16]]).split("\n")
    add = f"def add():\n    {lay}\n    game.add_num()\n    return game.board.tolist()"
    after = [[[8, n], [0, 16]] for n in (2, 4)] + [[[8, 0], [n, 16]] for n in (2, 4)]
    draws_evenly(session, "add()", after, f"{create}\n{lay}\n{add}")


# One full board, and one with an empty cell, so that a method that does nothing fails.
FULL_STAYS = tuple(
    Example("game.add_num()", given=game_code(rows), then={COUNT: 4})
    for rows in ([[2, 4], [8, 16]], [[2, 4], [8, 0]])
)


def growth_code(rows: Rows, move: str) -> str:
    """Return code that computes how much a move adds to the board's sum."""
    return f"{game_code(rows)}\ngame.stack({move!r})\nint(game.board.sum()) - {sum(map(sum, rows))}"


LONELY = [[0, 0, 0], [0, 8, 0], [0, 0, 0]]


def _working_moves(session: SubmissionSession) -> list[str]:
    """Return the moves that slide a number. Other tasks check the remaining moves."""
    found = []
    for move in DIRECTIONS:
        session.begin()
        still = f"{game_code(LONELY)}\n{NOTHING_ADDED}\ngame.stack({move!r})"
        with suppress(CheckFailed):
            if not session.value(f"{still}\ngame.board.tolist() == {LONELY}"):
                found.append(move)
    if not found:
        session.fail("a number that moves in some direction", "it never moves")
    return found


def adds_after_each_move(session: SubmissionSession) -> None:
    """Check that each move adds one number if it changes the board."""
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
    """Check that moves that do not change the board add no new number."""
    sliding = _working_moves(session)
    for rows, moves in STILL:
        for move in moves:
            if move in sliding:
                session.begin()
                session.expect(growth_code(rows, move), 0)
    if not any(session.value(growth_code(LONELY, move)) for move in sliding):
        session.fail("a new number after other moves", "there never is one")


# --- moves, score, end ---


def sums(seed: str) -> Iterator[Example]:
    """Yield examples that compute the score of two boards."""
    for rows in ([[2, 4], [8, 16]], random_rows(seed, (0, 2, 4, 512))):
        then = {"int(game.score)": sum(map(sum, rows))}
        yield Example("game.update_score()", given=game_code(rows), then=then)


def score_examples(move: str) -> list[Example]:
    """Return examples that check that the score is the board's sum, including new numbers."""
    still = slid([[2, 0], [0, 4]], DIRECTIONS[move])
    code = f"game.make_move({move!r})\nint(game.score) - int(game.board.sum())"
    return [
        Example(code, 0, given=game_code(LONELY), then={"int(game.score) in (10, 12)": True}),
        Example(code, 0, given=game_code(still), then={"int(game.score)": 6}),
    ]


ARROW_EXAMPLES = [
    slide_example(move, LONELY, "\n".join([f"game.{name}_arrow(None)"] * times))
    for move, name in ARROWS.items()
    for times in (1, 2)
]


def writes_score_and_board(session: SubmissionSession) -> None:
    """Check that each arrow method prints the score and the board after the move."""
    for move, name in ARROWS.items():
        session.begin()
        session.run(game_code([[64, 32, 0], [0, 16, 8], [4, 0, 128]]))
        output = session.run(f"game.{name}_arrow(None)", seed=session.seed_for(3)).output
        rows = session.value("game.board.tolist()", show=False)
        score = session.value("int(game.score)", show=False)
        numbers = " ".join(re.findall(r"[1-9]\d*", output))  # empty cells may look different
        board = " ".join(str(number) for row in rows for number in row if number)
        if f" {board} " not in f" {numbers} ":
            session.fail(f"the board {rows} on the command line ({move})", repr(output))
        if str(score) not in numbers.split():
            session.fail(f"the score {score} on the command line ({move})", repr(output))


def flag_example(rows: Rows, name: str, expected: bool, arrow: str = "left") -> Example:
    """Return an example that checks whether the game is marked as won or finished after a move."""
    then = {f"bool(game.{name})": expected}
    return Example(f"game.{arrow}_arrow(None)", given=game_code(rows), then=then)


FINISHED = [
    *(flag_example([[2, 4], [8, 16]], "is_finished", True, arrow) for arrow in ARROWS.values()),
    *(flag_example(checkered(size, size), "is_finished", True) for size in (2, 3, 4)),
]
FILLED_BY_THE_LAST_NUMBER = Example(
    "game.left_arrow(None)",
    given=game_code([[32, 0, 64], [8, 16, 8], [16, 8, 16]]),
    then={COUNT: 9, "bool(game.is_finished)": True},
)


def not_finished(seed: str) -> Iterator[Example]:
    """Yield examples in which an arrow key is pressed and the game is not over afterwards."""
    yield FINISHED[0]  # Detects a method that does nothing.
    for number in range(3):
        rows = random_rows(f"{seed} {number}", (2, 4, 8, 16))
        rows[number] = [0, 2, 0, 4]
        yield flag_example(rows, "is_finished", False)
    for size in (2, 3):
        for rows in with_one_pair(size, size):
            merged = slid(rows, DIRECTIONS["l"]) != rows
            yield flag_example(rows, "is_finished", False, "up" if merged else "left")
    for rows in (lists("2 0 / 0 0"), lists("0 16 / 32 0"), lists("2 0 4 / 8 0 16 / 2 0 4")):
        yield flag_example(rows, "is_finished", False)


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
    Example(
        "game.left_arrow(None)\ngame.up_arrow(None)",
        given=f"{game_code([[1024, 1024], [2048, 0]])}\n{NOTHING_ADDED}",
        then={"int(game.board.max())": 4096, "bool(game.is_won)": True},
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
    """Return whether a text matches `words`. Flags such as `finished: False` are ignored."""
    told = re.sub(rf"\b\w+(\W{{1,3}}|\s*[-=]+>\s*)({flags})\b", "", text)
    return bool(re.search(words, told, re.IGNORECASE))


def announces(session: SubmissionSession) -> None:
    """Check that a win and the end of the game are announced once, at the right time."""
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


# The functions below run in the submission's process. There, `screen` simulates the user.
# Lines run with `type_line` are recorded, so that reports show students how to repeat the steps.


def load_controller(type_line: Any, names: dict[str, Any], typed: list[str]) -> Any:
    """Import the module with the controller.

    The import may create a controller, as in the assignment's code, but it must not block.
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
    """Create a controller with an N by N board.

    The program may take N as an argument of the constructor, or from a module constant of any name.
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
    """Enter the size if a dialog asks for it, and return the text of the clicked button."""
    kinds = ("Spinbox", "Entry", "Combobox")
    for field in [widget for kind in kinds for widget in screen.widgets(kind)]:
        field.call("insert", 0, str(n))
        field.call("delete", len(str(n)), "end")
    button = [str(b.cget("text")) for b in screen.widgets("Button")][-1]
    screen.push(button)
    return button


def window_opener(screen: Any, typed: list[str]) -> Any:
    """Return a function that opens the student's window and appends its code to `typed`."""
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
"""Lines that a student can type to repeat a key press. The checks press real keys."""

KEYS = {"Left": (1, 0), "Right": (1, 3), "Up": (0, 1), "Down": (3, 1)}
LONELY_4 = "[[0, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"
STUCK = str(checkered())
WON_AND_STUCK = STUCK.replace("[[2,", "[[2048,")
WINNING = "[[1024, 1024, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"
TILES = "int(np.count_nonzero(made.model.game.board))"
SHOWN = "[[str(cell['number'].cget('text')) for cell in row] for row in made.cells]"


def open_student_window(session: SubmissionSession, n: int = 4) -> None:
    """Open the window in a new process, and record the lines that a student would type."""
    session.fresh()
    session.begin()
    session.run(OPEN, show=False)
    session.shown[:] = ["import controller"]  # in case the import hangs
    opened = session.run(f"made = open_window({n})", show=False)
    session.shown[:] = session.value("typed", show=False)
    if opened.error is not None:
        session.fail("no exception", str(opened.error))


def show_rows(session: SubmissionSession, rows: str, key: str = "") -> None:
    """Set the game's board, update the window, and press `key` unless it is empty."""
    session.expect(f"made.model.game.board = np.array({rows})\nmade.update_view(None)")
    if key:
        press(session, key)


def press(session: SubmissionSession, key: str) -> None:
    """Press a key in the window."""
    if PRESS[-1] not in session.shown:
        seed = session.seed_for(0)
        seeded = f"import random; random.seed({seed}); np.random.seed({seed})"
        session.shown.extend([seeded, *PRESS])
        session.run("", seed=seed, show=False)
    session.shown.append(f"press({key!r})")
    session.expect(f"screen.press({key!r})", show=False)


def expect_text(session: SubmissionSession, text: str, *, shown: bool = True) -> None:
    """Fail unless the window shows `text` or, with `shown=False`, does not show it."""
    found = session.value("screen.texts()", show=False)
    if any(text.lower() in one.lower() for one in found) is not shown:
        session.fail(f"{'' if shown else 'no '}{text!r} in the window", str(found))


def expect_win(session: SubmissionSession, known: set[str], when: str = "") -> None:
    """Fail unless the window announces the win in a text that is not in `known`."""
    found = session.value("screen.texts()", show=False)
    if not any(announces_in(WON_WORDS, text) for text in found if text not in known):
        session.fail(f"the win in the window{when}", str(found))


def expect_board(session: SubmissionSession) -> None:
    """Fail unless each cell shows its number. Empty cells may be blank."""
    board = session.value("made.model.game.board.tolist()", show=False)
    wanted = [[str(number) for number in row] for row in board]

    def holds(actual: Any) -> bool:
        return [[text.strip() or "0" for text in row] for row in actual] == wanted

    session.expect(SHOWN, Satisfies(str(wanted), holds))


def has_the_documents_window(session: SubmissionSession) -> None:
    """Check the title and the size of the window, its two canvases and the score."""
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
    expect_text(session, "Game Over", shown=False)


def shows_the_board(session: SubmissionSession) -> None:
    """Check that cells show their numbers, with a different colour for each number."""
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


def has_colours(session: SubmissionSession, first: int, down: int) -> None:
    """Check that cells can show large numbers: powers of two that grow along rows and columns."""
    open_student_window(session)
    show_rows(session, f"[[2 ** ({down} * i + j + {first}) for j in range(4)] for i in range(4)]")
    session.expect("str(made.cells[3][3]['number'].cget('text'))", str(2 ** (3 * down + 3 + first)))


LARGE_NUMBERS_HAVE_COLOURS = partial(has_colours, first=2, down=4)


def fits_any_size(session: SubmissionSession) -> None:
    """Check that boards of other sizes N have N rows and N columns, and fit the window."""
    for n in (2, 3, 5, 8):
        open_student_window(session, n)
        session.expect("len(made.cells), len(made.cells[0])", (n, n))
        expect_board(session)
        widths = "[cell['frame'].cget('width') for row in made.cells for cell in row]"
        width = float(session.value(f"max(float(width) for width in {widths})"))
        if width * n > 600:
            session.fail(f"{n} cells side by side in 600 pixels", f"{width:g} pixels per cell")


def keys_move(session: SubmissionSession) -> None:
    """Check that each arrow key moves the tiles once, and that the window is updated."""
    for key, (row, column) in KEYS.items():
        open_student_window(session)
        show_rows(session, LONELY_4, key)
        session.expect(f"int(made.model.game.board[{row}][{column}])", 8)
        session.expect(TILES, 2)
        expect_board(session)
        score = session.value("int(made.model.game.board.sum())", show=False)
        expect_text(session, f"Score: {score}")


def stops_at_the_end(session: SubmissionSession) -> None:
    """Check that the end of the game is announced, and that keys have no effect afterwards."""
    open_student_window(session)
    show_rows(session, STUCK, "Left")
    expect_text(session, "Game Over")
    session.run(f"made.model.game.board = np.array({LONELY_4})")
    for key in KEYS:
        press(session, key)
    session.expect("int(made.model.game.board[1][1])", 8)


BUTTONS = (
    "made.view.window.update()\n"
    "[(b.path, b.text()) for b in screen.widgets('Button') if b.winfo_ismapped()]"
)


def start_again(session: SubmissionSession) -> bool:
    """Click the button shown at the end of the game, and return whether there is a button."""
    buttons = session.value(BUTTONS, show=False)
    for path, text in buttons[-1:]:
        session.shown.append(f"w.nametowidget({path!r}).invoke()  # {text!r}")
        session.expect(f"screen.push({text!r})", True, show=False)
    return bool(buttons)


def begins_anew(session: SubmissionSession) -> None:
    """Check that the button starts a new game, in which each key press moves the tiles once.

    The new game must not show the previous game's final message, and must not count as won.
    """
    open_student_window(session)
    before = session.value(BUTTONS, show=False)
    show_rows(session, STUCK, "Left")
    if not start_again(session):
        session.fail("a button for a new game", "no button is shown")
    session.expect(TILES, 1)
    expect_board(session)
    expect_text(session, "Score: 0")
    expect_text(session, "Game Over", shown=False)
    if session.value(BUTTONS, show=False) != before:
        session.fail("a hidden button in the new game", "the button is still there")
    show_rows(session, LONELY_4, "Left")
    session.expect("int(made.model.game.board[1][0])", 8)
    session.expect(TILES, 2)
    show_rows(session, WON_AND_STUCK, "Left")
    if start_again(session):
        show_rows(session, STUCK, "Left")
        expect_text(session, "Game Over")


def shows_the_win(session: SubmissionSession) -> None:
    """Check that a win is announced, even on the last move, and that keys work afterwards."""
    open_student_window(session)
    show_rows(session, WINNING)
    before = session.value("screen.texts()", show=False)
    press(session, "Left")
    expect_win(session, set(before))
    press(session, "Down")
    session.expect("int(made.model.game.board[3][0])", 2048)
    open_student_window(session)
    show_rows(session, WON_AND_STUCK, "Left")
    expect_win(session, set(), ", also on the last move")
    if start_again(session):
        before = session.value("screen.texts()", show=False)
        show_rows(session, WINNING, "Left")
        expect_win(session, set(before), ", also in a second game")


# --- the tasks ---


def lend_start(game_class: Any, model_class: Any) -> None:
    """Replace both constructors.

    The new constructor of `Game` first runs the student's constructor.
    """
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
    """Return patches that install the reference solution, except the parts in `about`."""
    names = [name for part, names in METHODS.items() if part not in about for name in names]
    start = "" if "start" in about else calling(lend_start, "Game", "Model")
    return (start + right_versions(model, names, "model", place="model.Game"),)


SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")


def _task(id: str, *checks: Check, about: tuple[str, ...] = ()) -> Task:
    """Return a task whose patches replace all parts of the program except `about`."""
    return SHEET.task(id, *checks, patches=all_but(*about))


def _stack(move: str) -> Check:
    return Check(f"moves and merges {ARROWS[move]}", partial(stack_examples, move=move))


TASKS = (
    _task(
        "1",
        Check("a new game has the right attributes", ATTRIBUTES),
        Check("the board is N by N with one number", FRESH_BOARDS),
        Check("set_board clears the board", [FULL_BOARD_CLEARED]),
        about=("start", "board"),
    ),
    _task(
        "2",
        Check("draws every empty cell, and no other cell", run=draws_every_free_cell),
        Check("adds 2 and 4 equally often", run=adds_2_or_4),
        Check("leaves a full board unchanged", FULL_STAYS),
        about=("number",),
    ),
    _task("3", *map(_stack, "lr"), about=("stack",)),
    _task("4", *map(_stack, "ub"), about=("stack",)),
    _task(
        "5",
        Check("adds one number after a move", run=adds_after_each_move),
        Check("adds no number if nothing moved", run=adds_nothing_else),
        about=("stack",),
    ),
    _task(
        "6",
        Check("update_score sums the board", sums),
        Check(
            "make_move moves",
            [slide_example(move, LONELY, f"game.make_move({move!r})") for move in DIRECTIONS],
        ),
        Check("make_move updates the score", [*chain(*map(score_examples, DIRECTIONS))]),
        about=("score", "move"),
    ),
    _task(
        "7",
        Check("finished if the board is full and stuck", FINISHED),
        Check("finished if the new number fills the board", [FILLED_BY_THE_LAST_NUMBER]),
        Check("not finished while a move is left", not_finished),
        Check("won if 2048 is on the board", WON),
        Check("play continues after a win", PLAYS_ON),
        Check("announces the end, and the win once", run=announces),
        about=("move", "arrows"),
    ),
    _task(
        "8",
        Check("each arrow makes its move", ARROW_EXAMPLES),
        Check("each arrow prints score and board", run=writes_score_and_board),
        about=("arrows",),
    ),
    _task(
        "9",
        Check("the window has the right title, size and score", run=has_the_documents_window),
        Check("the cells show the board", run=shows_the_board),
        Check("numbers above 2048 have colours", run=partial(has_colours, first=6, down=1)),
        Check("numbers up to 131072 have colours", run=LARGE_NUMBERS_HAVE_COLOURS, weight=0),
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
    prelude="import numpy as np",
    opening="import numpy as np; from {module} import *",
    not_graded="how the window looks, beyond its parts, texts and colours",
)
