"""Open every window of the package with its longest texts, and say which texts are cut.

A program of its own: which fonts there are is decided once for each process. It prints a line for
each text that does not fit its place.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Iterator
from itertools import product

LARGEST = 2**17


def texts_cut(widget: tk.Misc) -> Iterator[str]:
    """Yield the texts of a window that do not fit into their canvas or widget."""
    for child in widget.winfo_children():
        yield from texts_cut(child)
        if isinstance(child, tk.Canvas):
            yield from _texts_over_the_edge(child)
        elif (
            child.winfo_ismapped() and "text" in child.keys() and child.winfo_manager() != "place"  # noqa: SIM118
        ):
            missing = child.winfo_reqwidth() - child.winfo_width()
            if missing > 0:
                yield f"{child}: {child.cget('text')!r} lacks {missing} pixels"


def _texts_over_the_edge(canvas: tk.Canvas) -> Iterator[str]:
    for item in canvas.find_all():
        if canvas.type(item) == "text" and canvas.bbox(item):
            left, _, right, _ = canvas.bbox(item)
            if left < 0 or right > canvas.winfo_width():
                text = canvas.itemcget(item, "text")
                yield f"{canvas}: {text!r} from {left} to {right} of {canvas.winfo_width()}"


def cits1401() -> Iterator[str]:
    """Show tiles of every size and number, and the window around them."""
    from py2048.courses.cits1401.app import App
    from py2048.courses.windows import fitting_font

    app = App(seed=1)
    app.update()
    yield from texts_cut(app)
    for side in (24, 60, 97, 250):
        for rank in (1, 4, 7, 10, 14, 17, 20, 40):
            font = fitting_font(app, str(2**rank), side * 85 // 100, side * 46 // 100, "bold")
            if int(app.tk.call("font", "measure", font, str(2**rank))) > side:
                yield f"cits1401: {2**rank} on a tile of {side} pixels"
    app.quit_game()


def comp1127() -> Iterator[str]:
    """Show the board with the longest score and message."""
    from py2048.courses.comp1127.gui_window import open_window

    window, board = open_window()
    board.score = 30 * LARGEST
    board.show_score()
    board.show_message("Congratulations! You have won!")
    window.update()
    yield from texts_cut(window)
    window.destroy()


def qsan_qarut() -> Iterator[str]:
    """Show the bar at the end of a long game."""
    from py2048.courses.qsan_qarut.view import View

    view = View()
    view.score_label["text"] = f"Score: {2 * LARGEST}"
    view.show_finish("You Won! Game Over")
    view.show_new_game_button()
    view.window.update()
    score, finish = view.score_label, view.finish_label
    if score.winfo_x() + score.winfo_width() > finish.winfo_x():
        yield "qsan_qarut: the score and the end overlap"
    view.window.destroy()


def desktop() -> Iterator[str]:
    """Show the head of the window at its minimum and maximum width."""
    from py2048.app.desktop.style import Look
    from py2048.app.desktop.window import ScoreHeader
    from py2048.presentation.screen import Status
    from py2048.presentation.themes import THEMES

    root = tk.Tk()
    Look(root, THEMES[0], 1.0)
    header = ScoreHeader(root)
    header.place(relwidth=1.0, relheight=1.0)
    for width, is_beside in product((240, 320, 480, 1200), (False, True)):
        root.geometry(f"{width}x{200 if is_beside else 56}")
        for score in (0, 3_932_100):
            note = "WWWWW WWWWW MMMMM, a note longer than the window is wide " * 3
            for status in (
                Status("cits1401", score, score, 99_999, next_tile=262_144),
                Status(note=note),
                Status("own"),
            ):
                root.update()
                header.fit(width, is_beside=is_beside)
                header.show(status)
                root.update()
                yield from texts_cut(root)
    root.destroy()


if __name__ == "__main__":
    for window in (cits1401, comp1127, qsan_qarut, desktop):
        for line in window():
            print(f"{window.__name__}: {line}")
