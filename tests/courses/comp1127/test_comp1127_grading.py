"""Grading comp1127, with a gui that behaves like the real one."""

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
from comp1127_recorders import RecordingBoard, RecordingFrame, new_copy
from tests.processes import python

from py2048.courses.comp1127 import gui
from py2048.courses.comp1127 import main as reference
from py2048.courses.comp1127.tasks import GRADING, all_but
from py2048.courses.grading import Example
from py2048.courses.grading.tasks import same


@pytest.mark.gui
def test_the_grader_plays_the_same_game_as_the_window(display, tmp_path):
    """In the grader, the same seed and keys give the same game as in the real window."""
    for path in GRADING.given_files:
        shutil.copy(path, tmp_path)
    keys = random.Random(3).choices(["Left", "Right", "Up", "Down"], k=60)
    random.seed(9)
    expected = _boards_of(new_copy("main"), RecordingFrame(), RecordingBoard(), keys)
    source = Path(reference.__file__).read_text()
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


def _boards_of(
    program: ModuleType, frame: RecordingFrame, board: RecordingBoard, keys: list[str]
) -> Any:
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
    """Reference patches replace the document's names and keep the functions being checked."""
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
    board = RecordingBoard()
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
    """With the students' gui, every example runs and gives the result that a report shows.

    No example uses names that only the grader's gui has.
    """
    shown_before = dict(vars(gui))
    for title, example in _examples():
        text = "\n".join((example.given, example.code, *example.then))
        assert "gui_window" not in text, f"{title}:\n{text}"
        assert ".bound" not in text, f"{title}:\n{text}"
        program = new_copy("main")
        names: dict[str, Any] = {**vars(program), "main": program, "gui": gui}
        names["SimpleNamespace"] = SimpleNamespace
        gui.setup = lambda: (RecordingFrame(), RecordingBoard())  # type: ignore[assignment,return-value]
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
    """Run lines of code; return the value of the last one."""
    *lines, last = ast.parse(code).body
    exec(compile(ast.Module(lines, []), "typed", "exec"), names)
    return eval(compile(ast.Expression(last.value), "typed", "eval"), names)
