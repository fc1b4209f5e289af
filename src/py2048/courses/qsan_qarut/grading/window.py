"""Checks of the view and the controller: what the window shows, and what keys and button do."""

from __future__ import annotations

from py2048.courses.grading import SubmissionSession

OPEN = """
def opened(n=4):
    import sys, tkinter
    # A controller made when the file is imported, as in the document, must not wait for a player.
    tkinter.Misc.mainloop = tkinter.Tk.mainloop = lambda *_: None
    try:
        import controller as module
    except ModuleNotFoundError as error:
        if error.name != 'controller':
            raise
        import game as module  # the document calls the controller so, too
    found = [v for v in vars(module).values() if type(v).__name__ == 'Controller']
    asks = bool(found) and not hasattr(found[-1], 'model')
    if found and (n == 4 or asks):
        made = found[-1]
    else:
        module.N = n
        made = module.Controller()
    if not hasattr(made, 'model'):
        begin(n)
    return made

def begin(n):
    # The window asks for the size first, and a button begins.
    for field in screen.widgets('Spinbox') + screen.widgets('Entry') + screen.widgets('Combobox'):
        field.call('insert', 0, str(n))
        field.call('delete', len(str(n)), 'end')
    screen.push([str(b.cget('text')) for b in screen.widgets('Button')][-1])

def lay(made, rows):
    made.model.game.board = np.array(rows)
    made.update_view(None)

def shown(made):
    return [[str(cell['number'].cget('text')) for cell in row] for row in made.cells]

def board(made):
    return [[str(number) for number in row] for row in made.model.game.board.tolist()]
"""
"""Code that opens the student's window, to be run first."""

KEYS = {"Left": (1, 0), "Right": (1, 3), "Up": (0, 1), "Down": (3, 1)}
STUCK = "[[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]"
WINNING = "[[1024, 1024, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"
LONELY = "[[0, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]"


def begin(session: SubmissionSession, n: int = 4) -> None:
    """Open the window in a fresh process."""
    session.fresh()
    session.begin()
    session.run(OPEN, show=False)
    session.expect(f"made = opened({n})" if n != 4 else "made = opened()")


def has_the_documents_window(session: SubmissionSession) -> None:
    """Title, size, two canvases, the score."""
    begin(session)
    session.expect("made.view.window.title()", "Qsan Qarut")
    session.run("made.view.window.update()", show=False)
    size = session.value("str(made.view.window.geometry())").partition("+")[0]
    if size != "600x665":
        session.fail("600x665", size)
    session.expect("tuple(bool(side) for side in made.view.window.resizable())", (False, False))
    session.expect("len(screen.widgets('Canvas')) >= 2", True)
    session.expect("screen.shows('Score: 0')", True)
    session.expect("screen.shows('Game Over')", False)


def shows_the_board(session: SubmissionSession) -> None:
    """Every cell shows its number; equal numbers look the same and others do not."""
    begin(session)
    session.expect("shown(made) == board(made)", True)
    rows = "[[2, 4, 8, 16], [32, 64, 128, 256], [512, 1024, 2048, 0], [2, 2, 0, 0]]"
    session.expect(f"lay(made, {rows})")
    session.expect("shown(made) == board(made)", True)
    colours = "{made.cells[i][j]['frame'].cget('bg') for i, j in %s}"
    session.expect(f"len({colours % '[(0, 0), (3, 0), (3, 1)]'})", 1)
    session.expect(f"len({colours % '[(0, 0), (0, 1), (1, 0), (2, 2), (2, 3)]'})", 5)


def has_every_colour(session: SubmissionSession) -> None:
    """Numbers beyond 2048 can be shown as well."""
    begin(session)
    session.expect("lay(made, [[2 ** (i + j + 6) for j in range(4)] for i in range(4)])")
    session.expect("shown(made)[3][3]", "4096")


def has_colours_to_the_end(session: SubmissionSession) -> None:
    """So can those that only very long games reach, up to the largest that can occur."""
    begin(session)
    session.expect("lay(made, [[2 ** (4 * i + j + 2) for j in range(4)] for i in range(4)])")
    session.expect("shown(made)[3][3]", str(2**17))


def fits_any_size(session: SubmissionSession) -> None:
    """Other values of N give other boards."""
    for n in (2, 3, 5, 8):
        begin(session, n)
        session.expect("len(made.cells), len(made.cells[0])", (n, n))
        session.expect("shown(made) == board(made)", True)
        widths = "[cell['frame'].cget('width') for row in made.cells for cell in row]"
        width = float(session.value(f"max(float(width) for width in {widths})"))
        if width * n > 600:
            session.fail(f"{n} cells beside each other in 600 pixels", f"{width:g} pixels a cell")


def keys_move(session: SubmissionSession) -> None:
    """Each arrow key moves once, and the window follows."""
    for key, (row, column) in KEYS.items():
        begin(session)
        session.expect(f"lay(made, {LONELY})")
        session.expect(f"screen.press('{key}')")
        session.expect(f"int(made.model.game.board[{row}][{column}])", 8)
        session.expect("int(np.count_nonzero(made.model.game.board))", 2)
        session.expect("shown(made) == board(made)", True)
        session.expect("screen.shows('Score: ' + str(made.model.game.board.sum()))", True)


def stops_at_the_end(session: SubmissionSession) -> None:
    """The end is shown, and the keys do nothing any more."""
    begin(session)
    session.expect(f"lay(made, {STUCK})\nscreen.press('Left')")
    session.expect("screen.shows('Game Over')", True)
    session.run(f"made.model.game.board = np.array({LONELY})")
    for key in KEYS:
        session.expect(f"screen.press('{key}')")
    session.expect("int(made.model.game.board[1][1])", 8)


BUTTONS = "[b.text() for b in screen.widgets('Button') if b.winfo_ismapped()]"


def begins_anew(session: SubmissionSession) -> None:
    """The button, shown at the end, starts a game in which the keys work, once for each press."""
    begin(session)
    session.expect(f"lay(made, {STUCK})\nscreen.press('Left')")
    buttons = session.value(BUTTONS)
    if not buttons:
        session.fail("a button for a new game", "no button is shown")
    session.expect(f"screen.push({buttons[-1]!r})", True)
    session.expect("int(np.count_nonzero(made.model.game.board))", 1)
    session.expect("shown(made) == board(made)", True)
    session.expect("screen.shows('Score: 0')", True)
    session.expect("screen.shows('Game Over')", False)
    session.expect(f"lay(made, {LONELY})\nscreen.press('Left')")
    session.expect("int(made.model.game.board[1][0])", 8)
    session.expect("int(np.count_nonzero(made.model.game.board))", 2)


def shows_the_win(session: SubmissionSession) -> None:
    """A win is said in the window, and the keys still work; on the last move, too."""
    begin(session)
    session.expect(f"lay(made, {WINNING})")
    before = session.value("screen.texts()", show=False)
    session.expect("screen.press('Left')")
    after = session.value("screen.texts()", show=False)
    if not _says_won(set(after) - set(before)):
        session.fail("the window to say that the game is won", str(after))
    session.expect("screen.press('Down')")
    session.expect("int(made.model.game.board[3][0])", 2048)
    begin(session)
    session.expect(f"lay(made, {STUCK.replace('[[2,', '[[2048,')})\nscreen.press('Left')")
    if not _says_won(set(session.value("screen.texts()"))):
        session.fail("a win on the last move to be shown", "the window does not say it")


def _says_won(texts: set[str]) -> bool:
    return any(word in text.lower() for text in texts for word in ("won", "win", "congrat"))
