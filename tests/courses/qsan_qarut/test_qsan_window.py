"""The window of qsan_qarut on a real display, with key events and real keys."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tkinter as tk
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.processes import python, xdotool

import py2048.courses.qsan_qarut as package
from py2048.courses.qsan_qarut import controller as controller_module
from py2048.courses.qsan_qarut.controller import Controller
from py2048.courses.windows import colors

pytestmark = pytest.mark.gui

Opener = Callable[..., Controller]


@pytest.fixture
def opened(display: str) -> Iterator[Opener]:
    windows: list[tk.Tk] = []

    def opener(*arguments: int) -> Controller:
        controller = Controller(*arguments)
        windows.append(controller.view.window)
        controller.view.window.update()
        controller.view.window.focus_force()
        controller.view.window.update()
        return controller

    yield opener
    for window in windows:
        window.destroy()


def show_rows(controller: Controller, rows: list[list[int]]) -> None:
    controller.model.game.board[:] = rows
    controller.update_view()
    controller.view.window.update()


def test_the_grid_is_the_modules_n_unless_another_is_given(opened, monkeypatch):
    """The grid size is the module's `N` unless the controller gets another."""
    assert opened().cells.shape == (4, 4)
    monkeypatch.setattr(controller_module, "N", 3)
    assert opened().cells.shape == (3, 3)
    assert opened(5).cells.shape == (5, 5)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_every_number_has_its_colour_and_fits_its_cell(opened, n):
    """Every number has its colour and fits its cell, and all cells fit the window."""
    controller = opened(n)
    field = controller.view.game_canvas
    assert 480 <= field.winfo_width() == field.winfo_height() <= 600
    ranks = iter(range(1, 100))
    largest = 16 if n == 2 else 25
    show_rows(controller, [[2 ** (1 + next(ranks) % largest) for _ in range(n)] for _ in range(n)])
    for row, cells in zip(controller.model.game.board, controller.cells, strict=True):
        for number, cell in zip(row, cells, strict=True):
            assert cell["frame"]["bg"] == cell["number"]["bg"] == colors[number]
            label = cell["number"]
            wide = int(label.tk.call("font", "measure", label["font"], label["text"]))
            assert wide <= controller.side
            assert label.winfo_width() == label.winfo_height() == controller.side


def test_importing_the_controller_opens_no_window(display):
    """Importing the controller opens no window."""
    code = (
        "import tkinter; tkinter.Tk = None;"
        "import py2048.courses.qsan_qarut.controller, py2048.courses.qsan_qarut.game"
    )
    python("-c", code, check=True)


@pytest.mark.skipif(not shutil.which("xdotool"), reason="xdotool presses the keys")
@pytest.mark.parametrize("copied_out", [False, True])
def test_the_program_plays_with_real_keys(display, tmp_path, copied_out):
    """The program plays with real keys, in the package and in a student's folder."""
    command = [sys.executable, "-u", "-m", package.__name__, "3"]
    if copied_out:
        for path in Path(package.__path__[0]).glob("[a-z]*.py"):
            text = path.read_text().replace('f"Score: ', 'f"My score: ')  # a student's change
            (tmp_path / path.name).write_text(text)
        command = [sys.executable, "-u", "game.py", "3"]
    program = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        start = [program.stdout.readline() for _ in range(5)]
        assert start[0] == ("My score: 0\n" if copied_out else "Score: 0\n")
        window = xdotool("search", "--sync", "--onlyvisible", "--name", "^Qsan Qarut$").split()[0]
        xdotool("windowfocus", "--sync", window, "key", "Left")
        assert re.fullmatch(r"(My s|S)core: [1-9]\d*\n", program.stdout.readline())
    finally:
        program.terminate()
        program.wait(timeout=60)
        program.stdout.close()
