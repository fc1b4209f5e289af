"""A class of thirty in two courses, ten of them hostile: everybody gets what they have earned.

``pytest tests/courses/test_hostile_class.py -s`` says how long it took: under two minutes on two
quiet cores is what we promise to teachers.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from tests.courses.test_mutants import MUTANTS

from py2048.courses import COURSES
from py2048.courses.grading.grader import grade_all
from py2048.courses.grading.report import Report
from py2048.courses.grading.sandbox import (
    SandboxConfig,
    copies_of_py2048,
)
from py2048.courses.grading.submissions import Submission, collect

HERE = Path(__file__).parent
SOLUTIONS = [str(place / "courses") for place in copies_of_py2048()]

# Each is put below a right solution, and runs when the file is imported or a function is called.
HOSTILE = {
    "cmput175": {
        "fork_bomb": """
def bomb(self, *words):
    import os
    while True:
        try: os.fork()
        except OSError: pass
Grid.collapsible = bomb
""",
        "deaf": """
def deaf(self, *words):
    import signal
    for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    while True: pass
Grid.collapseRow = Grid.collapsible = Grid.drawGrid = deaf
""",
        "memory_hog": "Grid.drawGrid = lambda self: [bytearray(1 << 28) for _ in range(1000)]\n",
        "printer": """
def endless(self):
    while True: print("x" * 1000)
Grid.drawGrid = endless
""",
        "killer": """
import os
def kill(self):
    os.kill(os.getppid(), 9)
    os.kill(-1, 9)
Grid.drawGrid = kill
""",
        "leaver": "import os\nos._exit(0)\n",
    },
    "comp1127": {
        "windows": "import tkinter\nWINDOWS = [tkinter.Tk() for _ in range(1000)]\n",
        "dialogs": """
import tkinter.messagebox
def is_game_over(board):
    while True:
        tkinter.messagebox.showinfo("Stop", "You cannot grade this")
        tkinter.Toplevel().wait_window()
""",
        "recursion": """
import sys
sys.setrecursionlimit(10**9)
def empty_slots(): return empty_slots()
""",
        "vandal": """
import os, shutil
for name in ("/", ".", "..", os.path.expanduser("~"), "/tmp", "/py2048"):
    shutil.rmtree(name, ignore_errors=True)
""",
    },
}
CHEAT = f"""
import os
for place in {SOLUTIONS}:
    for folder, _, names in os.walk(place):
        for name in names:
            try: exec(open(os.path.join(folder, name)).read(), globals())
            except Exception: pass
"""


def _class(course: str, folder: Path) -> dict[str, set[str] | None]:
    """Write fifteen submissions; return what each should lose, `None` where that is open."""
    right = sorted((HERE / course / "right").glob("*.py"))
    expected: dict[str, set[str] | None] = {}
    for name, source in HOSTILE[course].items():
        (folder / f"{name}.py").write_text(f"{right[0].read_text()}\n{source}")
        expected[name] = None
    (folder / "cheat.py").write_text(CHEAT)
    expected["cheat"] = {task.id for task in COURSES[course].grading().tasks}
    named = folder / "names"
    named.mkdir()
    program = COURSES[course].grading().files[0]
    (named / program).write_text(right[0].read_text())
    for name in ("enum", "functools", "collections", "typing", "ast", "tkinter"):
        (named / f"{name}.py").write_text("raise SystemError\n")
    expected["names"] = set()
    for path in right:
        shutil.copy(path, folder)
        expected[path.stem] = set()
    for mutant in MUTANTS[course][: 15 - len(expected)]:
        mutant.write(folder)
        expected[mutant.name] = set(mutant.lost)
    return expected


@pytest.mark.slow
@pytest.mark.gui
@pytest.mark.timeout(900)
def test_a_class_with_hostile_submissions_is_graded(tmp_path):
    """Marks do not depend on who else is in the class, and every report is there."""
    began = time.monotonic()
    for course in HOSTILE:
        folder = tmp_path / course
        folder.mkdir()
        expected = _class(course, folder)
        grading = COURSES[course].grading()
        submissions: list[Submission] = collect([folder], grading, tmp_path / f"{course}-scratch")
        assert len(submissions) == 15
        reports: dict[str, Report] = {}
        for report in grade_all(submissions, grading, SandboxConfig(), jobs=2):
            reports[report.name] = report
            print(f"{course} {report.name}: {float(report.earned):g} in {report.seconds} s")
        lost = {name: set(report.lost) for name, report in reports.items()}
        assert reports.keys() == {submission.name for submission in submissions}
        assert {name: lost[name] for name, ids in expected.items() if ids is not None} == {
            name: ids for name, ids in expected.items() if ids is not None
        }
    print(f"30 submissions in {time.monotonic() - began:.0f} s")
