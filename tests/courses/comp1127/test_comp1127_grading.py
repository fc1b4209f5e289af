"""The problems as they are graded: the document's marks, and a gui like the real one."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from comp1127_stand_ins import NotedBoard, NotedFrame, fresh

from py2048.courses.comp1127 import gui
from py2048.courses.comp1127.checks import all_but
from py2048.courses.comp1127.given import gui as checker_gui
from py2048.courses.comp1127.tasks import GRADING
from py2048.courses.grading import Example
from py2048.courses.grading.tasks import same

DOCUMENT_MARKS = [1, 2, 1, 3, 2, 7, 12, 6, 5, 5, 5, 5, 3, 7, 6, 6, 2, 9, 5, 10, 4]


def test_the_marks_are_the_document_s() -> None:
    """Problems 1 to 21, 106 marks in all."""
    assert [int(task.id) for task in GRADING.tasks] == list(range(1, 22))
    assert [task.marks for task in GRADING.tasks] == DOCUMENT_MARKS
    assert GRADING.marks == 106


def test_the_checker_s_gui_offers_the_same_functions() -> None:
    """A student's program finds what it expects, also by ``from gui import *``."""
    assert sorted(checker_gui.__all__) == sorted(gui.__all__)


@pytest.fixture
def checked_window(display: str) -> Iterator[tuple[Any, Any]]:
    frame, board = checker_gui.setup()
    frame.withdraw()
    yield frame, board
    frame.destroy()
    checker_gui._frames.clear()
    checker_gui._boards.clear()


@pytest.mark.gui
def test_a_game_on_the_checker_s_gui_is_the_game_on_the_real_one(
    checked_window: tuple[Any, Any],
) -> None:
    """The same seed and keys give the same boards, scores, pictures and messages."""
    checked_frame, checked_board = checked_window
    frame, board = NotedFrame(), NotedBoard()
    real, checked = fresh("main"), fresh("main")
    checked.gui = checker_gui
    keys = random.Random(3)

    def both(act: Any) -> None:
        state = random.getstate()
        act(real, frame, board)
        random.setstate(state)
        act(checked, checked_frame, checked_board)

    random.seed(9)
    both(lambda program, _, tiles: program.add_random_number(tiles))
    both(lambda program, window, tiles: program.bind(window, tiles))
    while frame.bound:
        event = SimpleNamespace(keysym=keys.choice(["Left", "Right", "Up", "Down"]))
        both(lambda _, window, __, event=event: window.bound[f"<{event.keysym}>"](event))
        assert checked.grid == real.grid == checked_board.seen() == board.seen()
        assert checked_board.score == board.score
        assert checked_board.score_seen == board.score_shown
        assert checked_board.numbers == board.numbers
        assert set(checked_frame.bound) == set(frame.bound)
    assert [gui.WON if won else gui.LOST for won in checked_board.ended] == board.messages


def test_the_reference_patches_work_in_any_module() -> None:
    """They find the document's names in the module, whatever else the module is called upon."""
    module = ModuleType("main")
    module.grid = [[2, 2, 4, 8], [0] * 4, [0] * 4, [0] * 4]  # type: ignore[attr-defined]
    exec(all_but(), {"main": module, "gui": gui})
    board = NotedBoard()
    for column, value in enumerate((2, 2, 4, 8)):
        gui.put(board, f"tile {column}", gui.find_number(value), 0, column)  # type: ignore[arg-type]
    module.move_all(board, SimpleNamespace(keysym="Left"))
    assert module.grid[0] == [16, 0, 0, 0]
    assert board.score == 28
    assert module.find_key(board, 0, 0) == "tile 3"


def test_what_is_asked_for_is_not_patched() -> None:
    """The student's own function stays, also where a table of the student's names it."""
    module = ModuleType("main")
    own = {name: object() for name in ("move", "merge", "bind")}
    vars(module).update(own, grid=[], table=dict(own))
    exec(all_but("merge"), {"main": module, "gui": gui})
    assert module.merge is own["merge"]
    assert module.move is not own["move"]
    assert module.table["move"] is module.move
    assert module.table["merge"] is own["merge"]


def _examples() -> Iterator[tuple[str, Example]]:
    for task in GRADING.tasks:
        for check in task.checks:
            for example in check.listed():
                yield f"problem {task.id}, {check.title}", example


def test_every_example_can_be_typed() -> None:
    """With the gui that students have, the lines that a report shows run and give what it says."""
    shown_before = dict(vars(gui))
    for title, example in _examples():
        program = fresh("main")
        names: dict[str, Any] = {**vars(program), "main": program, "gui": gui}
        names["SimpleNamespace"] = SimpleNamespace
        gui.setup = lambda: (NotedFrame(), NotedBoard())  # type: ignore[assignment,return-value]
        try:
            random.seed(0)
            exec(example.given, names)
            value = typed(example.code, names)
            assert example.expected is ... or same(example.expected, value), f"{title}:\n{example}"
            for code, expected in example.then.items():
                assert same(expected, eval(code, names)), f"{title}: {code}\n{example}"
        finally:
            vars(gui).update(shown_before)


def typed(code: str, names: dict[str, Any]) -> Any:
    """Run lines; the value of the last."""
    *lines, last = ast.parse(code).body
    exec(compile(ast.Module(lines, []), "typed", "exec"), names)
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "typed", "eval"), names)


def test_nothing_in_an_example_is_the_checker_s_own() -> None:
    """What the checker's gui knows besides is no part of what a student reads."""
    own = (".seen(", ".moves", ".bound", ".ended", ".score_seen", "setup(main")
    for title, example in _examples():
        text = "\n".join((example.given, example.code, *example.then))
        assert not [name for name in own if name in text], f"{title}:\n{text}"
