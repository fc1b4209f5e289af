"""The problems as they are graded: the document's marks, and a gui like the real one."""

from __future__ import annotations

import ast
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from comp1127_stand_ins import NotedBoard, NotedFrame, fresh
from tests.processes import python

from py2048.courses.comp1127 import gui
from py2048.courses.comp1127 import main as main_of_ours
from py2048.courses.comp1127.tasks import GRADING, all_but
from py2048.courses.grading import Example
from py2048.courses.grading.tasks import same

DOCUMENT_MARKS = [1, 2, 1, 3, 2, 7, 12, 6, 5, 5, 5, 5, 3, 7, 6, 6, 2, 9, 5, 10, 4]


def test_the_marks_are_the_document_s():
    """Problems 1 to 21, 106 marks in all."""
    assert [int(task.id) for task in GRADING.tasks] == list(range(1, 22))
    assert [task.marks for task in GRADING.tasks] == DOCUMENT_MARKS
    assert GRADING.marks == 106


@pytest.mark.gui
def test_a_game_in_the_grader_is_the_game_in_the_window(display, tmp_path):
    """With the files that a submission gets, the same seed and keys give the same boards."""
    for path in GRADING.given_files:
        shutil.copy(path, tmp_path)
    keys = random.Random(3).choices(["Left", "Right", "Up", "Down"], k=60)
    random.seed(9)
    expected = _boards_of(fresh("main"), NotedFrame(), NotedBoard(), keys)
    source = Path(main_of_ours.__file__).read_text()
    source = source.replace("from py2048.courses.comp1127 import gui", "import gui")
    source = source.partition("if __name__ ==")[0]
    (tmp_path / "main.py").write_text(source + IN_THE_GRADER.format(keys=keys))
    done = python("-S", "main.py", cwd=tmp_path, check=True)
    assert ast.literal_eval(done.stdout) == expected


IN_THE_GRADER = """
from types import SimpleNamespace
random.seed(9)
frame, board = gui.setup()
add_random_number(board)
add_random_number(board)
bind(frame, board)
found = []
for key in {keys}:
    if frame.bound:
        frame.bound[f"<{{key}}>"](SimpleNamespace(keysym=key))
    found.append((deepcopy(grid), board.score, board.numbers.copy(), sorted(frame.bound)))
print(found)
"""


def _boards_of(program: ModuleType, frame: NotedFrame, board: NotedBoard, keys: list[str]) -> Any:
    program.add_random_number(board)
    program.add_random_number(board)
    program.bind(frame, board)
    found = []
    for key in keys:
        frame.press(key)
        rows = [list(row) for row in program.grid]
        found.append((rows, board.score, board.numbers.copy(), sorted(frame.bound)))
    return found


def test_the_reference_patches_work_in_any_module(monkeypatch):
    """They find the document's names in the module; what is asked for stays the student's own."""
    monkeypatch.setitem(sys.modules, "gui", gui)  # beside the program, as in its process
    merge = object()
    module = ModuleType("main")
    vars(module).update(grid=[], merge=merge, move=object(), table={"merge": merge})
    module.table["move"] = module.move
    exec(all_but("merge"), {"main": module, "gui": gui})
    assert module.merge is module.table["merge"] is merge
    assert module.table["move"] is module.move
    module.grid = [[2, 2, 4, 8], [0] * 4, [0] * 4, [0] * 4]
    exec(all_but(), {"main": module, "gui": gui})
    board = NotedBoard()
    for column, value in enumerate((2, 2, 4, 8)):
        gui.put(board, f"tile {column}", gui.find_number(value), 0, column)
    module.move_all(board, SimpleNamespace(keysym="Left"))
    assert (module.grid[0], board.score) == ([16, 0, 0, 0], 28)
    assert module.find_key(board, 0, 0) == "tile 3"


def _examples() -> Iterator[tuple[str, Example]]:
    for task in GRADING.tasks:
        for check in task.checks:
            for example in check.listed():
                yield f"problem {task.id}, {check.title}", example


def test_every_example_can_be_typed():
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
    return eval(compile(ast.Expression(last.value), "typed", "eval"), names)


def test_nothing_in_an_example_is_the_checker_s_own():
    """What the checker's gui knows besides is not part of what a student reads."""
    own = ("gui_window", ".bound")
    for title, example in _examples():
        text = "\n".join((example.given, example.code, *example.then))
        assert not [name for name in own if name in text], f"{title}:\n{text}"
