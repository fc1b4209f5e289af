"""A fault costs marks in its own task only, and the report shows its cause.

Submissions are derived from correct solutions by replacements, so each has exactly one fault.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from ast import literal_eval
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.processes import python
from toys import ADD, GREET, RIGHT, TOY, failures, grade_path, grade_source, grading_of

from py2048.courses import get_course
from py2048.courses.grading import Check, CheckFailed, Example, Task
from py2048.courses.grading.report import GradeReport, TaskResult
from py2048.courses.ist.tasks import in_portuguese

HERE = Path(__file__).parent
FAIR = tomllib.loads((HERE / "fair.toml").read_text())


def _right(name: str, *pairs: tuple[str, str]) -> str:
    """A correct solution's source with some texts replaced."""
    text = (HERE / name).read_text()
    for old, new in pairs:
        assert old in text, f"{name} has no {old!r}"
        text = text.replace(old, new)
    return text


def _qsan(folder: Path, **changes: list[tuple[str, str]]) -> Path:
    """A copy of a qsan_qarut solution with some texts replaced."""
    source = "qsan_qarut/right/as_in_the_document"
    shutil.copytree(HERE / source, folder := folder / "mine")
    for name, pairs in changes.items():
        (folder / f"{name}.py").write_text(_right(f"{source}/{name}.py", *pairs))
    return folder


def _graded(course: str, source: str, *tasks: str) -> GradeReport:
    return grade_source(source, grading_of(course, *tasks))


def _lost(report: GradeReport) -> dict[str, float]:
    return {
        task.id: float(task.marks - task.earned) for task in report.tasks if task.status != "passed"
    }


def _task(report: GradeReport, number: str) -> TaskResult:
    return next(task for task in report.tasks if task.id == number)


DICTIONARY = "ist/right/dictionary.py"
NO_RETURN = ("    b[key(c)] = v\n    return b\n", "    b[key(c)] = v\n")
LONG_HAND = "comp1127/right/long_hand.py"


def test_the_report_shows_the_cause():
    """If another task's fault hides the task's own one, the latter is reported.

    Such a result comes from a patched run, so only its type is shown.
    """
    source = ADD.replace("a + b", "None") + GREET + "def grow(numbers):\n    numbers.append(0)\n"
    (check,) = _task(grade_source(source), "3").checks
    assert check.actual == "[1, 2, 0]"
    source = source.replace("numbers.append(0)", "numbers.append(add(1, 1))")
    (check,) = _task(grade_source(source), "3").checks
    assert (check.expected, check.actual) == ("[1, 2, 3]", "another list")
    assert check.example.startswith("# with correct versions of the other tasks' functions\n")


def test_an_endless_loop_costs_its_own_task_only():
    """The task's other checks do not call the function, but other tasks may, with other values."""

    def adds(session):
        with suppress(CheckFailed):
            session.value("add(30, 12)")
        session.expect("add(1, 2)", 3)

    again = Task("4", "add again", "It adds.", 1, tuple(Check(name, run=adds) for name in "ab"))
    loop = ADD.replace("return a + b", "while a == 30: pass\n    return a + b")
    report = grade_source(loop + GREET + FAIR["slow"], replace(TOY, tasks=(*TOY.tasks, again)))
    assert _lost(report) == {"1": 4.0}, failures(report)
    assert "does not end (app.py, line 5): an infinite loop?" in failures(report)
    assert "not called again, because an earlier call did not end: add (app.p" in failures(report)


def test_a_call_without_expected_result_must_end():
    """If it hangs, the report expects "a result"."""
    example = Example("add(1, 2)")
    task = Task("1", "add", "It ends.", 1, (Check("it ends", (example,)),))
    source = "def add(a, b):\n    while True: pass\n"
    (check,) = _task(grade_source(source, replace(TOY, tasks=(task,))), "1").checks
    assert (check.expected, check.actual[:12]) == ("a result", "does not end")


def test_an_error_in_the_setup_is_reported():
    """An exception in a preparing line is reported as the cause."""
    source = _right("cmput175/right/loops.py", ("self._grid[cell // ", "self._grid[cell / "))
    started = _task(_graded("cmput175", source, "2"), "2").checks[2]
    assert started.actual.startswith("TypeError: list indices must be integers")
    source = _right("cmput175/right/loops.py", ("class Game()", "class Play()"))
    for check in _task(_graded("cmput175", source, "6"), "6").checks[2:]:
        assert check.actual == "NameError: name 'Game' is not defined"


UPDATES = ("self.game.updateEmptiesSet()", "pass")
NOT_FINISHED = ("return True\n\n\ndef boards_equal", "return 7\n\n\ndef boards_equal")

PASTED = {
    "a game": ("cmput175", "cmput175/right/loops.py", UPDATES, "6"),
    "a full board": ("ist", DICTIONARY, NOT_FINISHED, "2"),
}


@pytest.mark.parametrize("name", PASTED)
def test_examples_can_be_pasted(name, tmp_path):
    """Pasting an example after the opening gives the reported result."""
    course, right, change, number = PASTED[name]
    path = tmp_path / "mine.py"
    path.write_text(_right(right, change))
    report = grade_path(path, grading_of(course, number))
    (check,) = (check for check in _task(report, number).checks if not check.passed)
    example = re.sub("# typed: (.*) ⏎", lambda found: found[1].replace(" ⏎ ", "\n"), check.example)
    done = _pasted(tmp_path, report.opening, example)
    assert done.stdout.splitlines()[-1] == check.actual, done.stderr


def _pasted(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Paste lines into Python's interactive prompt."""
    prompt = "import code; code.interact(banner='', exitmsg='', readfunc=lambda _: input())"
    return python("-c", prompt, cwd=folder, stdin="\n".join([*lines, ""]), check=True)


@pytest.mark.parametrize(
    "change",
    [
        ("if not boards_equal(b, before):", "if board_empty_positions(b):"),
        ("while not board_finished(b):", "while True:"),
    ],
    ids=["a few letters", "many letters"],
)
def test_a_pasted_game_reaches_the_reported_board(change, tmp_path):
    """Tiles and typed letters are the same as in the check."""
    (tmp_path / "mine.py").write_text(_right(DICTIONARY, change))
    report = grade_path(tmp_path / "mine.py", grading_of("ist", "4"))
    (check,) = (check for check in _task(report, "4").checks if not check.passed)
    played = _pasted(tmp_path, report.opening, check.example).stdout.replace("] \n", "]\n")
    *_, last = re.findall(r"(?:\[.*\]\n){4}Score: \d+", played)
    assert check.actual.endswith(f"\n{last}")


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ("len(b) and ", "# coordinates and boards now have different representations"),
        ("1 // (2048 not in b.values()) and ", "# create_board puts 1024 at (1, 1)"),
    ],
    ids=["no dictionary", "a crash at 2048"],
)
def test_a_game_with_replaced_parts_is_reported_as_such(change, setting, tmp_path):
    """The pasted lines alone would play a different game."""
    loop = "while ", "board_finished(b):"
    (tmp_path / "mine.py").write_text(
        _right(DICTIONARY, ("not ".join(loop), f"{change}not ".join(loop)))
    )
    report = grade_path(tmp_path / "mine.py", grading_of("ist", "4"))
    found = [check.example for check in _task(report, "4").checks if not check.passed]
    assert any(example.startswith(setting) for example in found)


@pytest.mark.gui
@pytest.mark.parametrize(
    "change",
    [
        ("        for key in ('<Left>', '<Right>', '<Up>', '<Down>'):", "        for key in ():"),
        ("'<Left>', self.update_view, add='+'", "'<Up>', print, add='+'"),
    ],
    ids=["the keys stay bound", "the window does not follow"],
)
def test_a_pasted_window_example_gives_the_reported_result(change, display, tmp_path):
    """Such examples need only the program and Tk."""
    folder = _qsan(tmp_path, controller=[change])
    report = grade_path(folder, grading_of("qsan_qarut", "10"))
    check = next(check for check in _task(report, "10").checks if not check.passed)
    done = _pasted(folder, report.opening, check.example)
    assert literal_eval(done.stdout.splitlines()[-1]) == literal_eval(check.actual)


def test_a_main_section_runs_as_a_program():
    """The report shows the command and describes the result."""
    two = "    add_random_number(board)\n" * 2
    source = _right(LONG_HAND, (two, "    add_random_number(board)\n"))
    (check,) = (
        check for check in _task(_graded("comp1127", source, "17"), "17").checks if check.example
    )
    found = ("$ python app.py", "numbers on the board: 2", "numbers on the board: 1")
    assert (check.example, check.expected, check.actual) == found


def test_unusual_but_correct_ways_earn_full_marks():
    """Other keys, keyword arguments, float pixels and playing on after 2048 are accepted."""
    report = _graded("comp1127", _right(LONG_HAND, *FAIR["comp1127"]))
    assert _lost(report) == {}, failures(report)


# --- the language of the original ---


@pytest.mark.parametrize("name", ["dictionary", pytest.param("closures", marks=pytest.mark.slow)])
def test_portuguese_solutions_have_full_marks(name):
    """The original document's Portuguese names and texts are accepted."""
    report = _graded("ist", in_portuguese(_right(f"ist/right/{name}.py")))
    assert report.lost == (), failures(report)


def test_portuguese_programs_get_portuguese_reports():
    """Names, messages and prompts in the report are those of the original document."""
    faulty = in_portuguese(_right(DICTIONARY, NO_RETURN, ("create_coordinate: invalid", "oh: bad")))
    text = failures(_graded("ist", faulty))
    assert "tabuleiro_preenche_posicao(b, cria_coordenada(2, 3), 2) is b" in text
    assert "ValueError: cria_coordenada: argumentos invalidos" in text
    assert "board" not in text


def test_every_name_of_the_document_has_a_translation():
    """The translation table covers every function used in checks."""
    portuguese = get_course("ist").grading()
    (english,) = portuguese.variants
    assert portuguese.marks == english.marks
    checks = [check for task in portuguese.tasks for check in task.checks]
    examples = [example for check in checks for example in check.listed()]
    parts = [part for one in examples for part in (one.given, one.code, *one.then)]
    code = list(map(portuguese.words, parts))
    words = ("board_", "_board", "boards_", "coordinate_", "_coordinate", "request_", "game_2048")
    assert not [text for text in code if any(word in text for word in words)]


def test_characters_outside_ascii_are_noted():
    """The document deducts marks for them; the grader only notes them."""
    source = _right(DICTIONARY) + "# ç\n"
    report = _graded("ist", source, "1")
    assert report.lost == ()
    assert any("outside ASCII (line " in note for note in report.notes)


# --- CITS1401 ---


def test_a_window_may_word_and_end_its_game_freely():
    """Rules next to the board are not taken for a status, and Quit may end the process."""
    source = _right("cits1401/right/canvas_rectangles.py", *FAIR["cits1401"])
    assert _lost(_graded("cits1401", source)) == {}


# --- Qsan Qarut ---


ASKS_FIRST = (HERE / "asks_first.py.txt").read_text()


@pytest.mark.parametrize("asks_first", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_controller_may_be_in_game_py(asks_first, tmp_path):
    """The program may also ask for the board size first."""
    folder = _qsan(tmp_path)
    source = (folder / "controller.py").read_text()
    if asks_first:
        source = source.replace("class Controller", "class Full") + ASKS_FIRST
    (folder / "controller.py").unlink()
    (folder / "game.py").write_text(source)
    report = grade_path(folder, get_course("qsan_qarut").grading())
    assert report.lost == (), failures(report)


def test_the_board_may_be_written_with_dots_and_its_size_be_an_argument(tmp_path):
    """Neither contradicts the document; "overall" in a score does not announce an end."""
    folder = _qsan(tmp_path, **FAIR["qsan_qarut"])
    report = grade_path(folder, grading_of("qsan_qarut", "7", "8", "9"))
    assert report.lost == (), failures(report)


# --- names ---


def test_messages_name_the_students_file(tmp_path):
    """They do not use the name that the course gives the program."""
    path = tmp_path / "ann.py"
    path.write_text(RIGHT.replace("return a + b", "return a.b"))
    report = grade_path(path)
    assert "(ann.py, line 5)" in failures(report)
    assert "app.py, line" not in failures(report)
    assert report.opening == "from ann import *"


def test_a_file_that_cannot_be_imported_has_a_workaround(tmp_path):
    """2048.py is not a valid module name."""
    path = tmp_path / "2048.py"
    path.write_text(RIGHT)
    assert grade_path(path).opening == "from app import * (once 2048.py is saved as app.py)"
