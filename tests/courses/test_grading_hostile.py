"""Submissions that crash, hang, flood or cheat cost only their own marks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from toys import ADD, GREET, GROW, RIGHT, TOY, failures, grade_path, grade_source

from py2048.courses import COURSES
from py2048.courses.cmput175.tasks import all_but as cmput175_all_but
from py2048.courses.grading import Check, Example, Grading, SubmissionSession, Task
from py2048.courses.grading.patches import compiled
from py2048.courses.grading.sandbox import PROTECTIONS, SandboxConfig, interpreter_for
from py2048.courses.grading.session import load_factor
from py2048.courses.grading.submissions import PreparedSubmission, to_utf8
from py2048.courses.grading.tasks import SubmissionCrash

HIDING = [protection for protection in PROTECTIONS[:2] if interpreter_for(protection)]


def test_a_mistake_costs_marks_in_its_own_task_only():
    """The shortest failing example is shown, and grow is tested with a correct add."""
    report = grade_source(RIGHT.replace("a + b", "a - b"))
    assert report.lost == ("1",)
    check = report.tasks[0].checks[0]
    assert (check.example, check.expected, check.actual) == ("add(1, 2)", "3", "-1")
    assert report.tasks[2].checks[0].carried


def test_checks_share_the_marks_of_a_task_by_weight():
    """A check with three quarters of the weight earns three of four marks."""
    task = grade_source(RIGHT.replace("no number", "nonsense")).tasks[0]
    assert task.earned == 3
    assert [check.passed for check in task.checks] == [True, False]


HOSTILE = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text())


@pytest.mark.parametrize("name", HOSTILE["functions"])
def test_a_function_that_misbehaves_costs_its_own_marks(name):
    """Other tasks keep their marks, and the report explains what happened."""
    body, message = HOSTILE["functions"][name].values()
    greet = body if body.startswith("\ndef") else f"\ndef greet():\n    {body}\n"
    report = grade_source(ADD + greet + GROW)
    assert report.lost == ("2",), failures(report)
    assert message in failures(report)


@pytest.mark.parametrize("name", HOSTILE["imports"])
def test_side_effects_at_import_cost_nothing(name, monkeypatch):
    """The functions are still graded, and the report explains what happened."""
    monkeypatch.setattr("py2048.courses.grading.session.LOADING_FACTOR", 2)
    code, message = HOSTILE["imports"][name].values()
    report = grade_source(f"{RIGHT}\n{code}\n")
    assert report.lost == (), failures(report)
    assert message in failures(report)


def test_at_most_five_left_out_statements_are_noted():
    """The notes name their lines and errors in order."""
    first, words = RIGHT.count("\n") + 1, "was left out when loading: ZeroDivisionError: "
    notes = grade_source(RIGHT + "1 / 0\n" * 6).notes
    places = [f"app.py, line {number}" for number in range(first, first + 5)]
    assert list(notes) == [f"{place} {words}division by zero" for place in places]


def test_long_examples_are_cut_in_the_middle(tmp_path):
    """An empty line ends a block, as at the prompt."""
    session = SubmissionSession(PreparedSubmission(tmp_path, "app.py", TOY), SandboxConfig())
    lines = [f"x = {number}" for number in range(25)]
    session.shown[:] = lines[:24]
    assert session.text().splitlines() == lines[:24]
    session.shown[:] = lines
    assert session.text().splitlines() == [*lines[:12], "# … 1 lines …", *lines[13:]]
    session.shown[:] = ["if x:", " y", "else:", " z", "w", "for a in b:", " c"]
    assert session.text() == "if x:\n y\nelse:\n z\n\nw\nfor a in b:\n c"


@pytest.mark.parametrize(
    ("load", "processors", "factor"), [(1e6, 4, 25e4), (1e6, None, 1e6), (0, 10**6, 1)]
)
def test_time_limits_grow_with_the_load(load, processors, factor, monkeypatch):
    """The factor is the load of each processor, at least 1."""
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0, 0))
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    assert load_factor() == factor


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("def add(a, b)\n    return a + b\n", 1, "the line is: def add(a, b)"),
        (f"{RIGHT}\ndef last(:\n    pass\n", 17, "invalid syntax; the line is: def last(:"),
        ("print 'hello'\n", 1, "--from-python2"),
        ("def add(a, b):\n\tif a:\n        return b\n", 3, "indent all lines with spaces only"),
        ("def add(a, b):\nreturn a\n", 2, "the line is: return a"),
    ],
)
def test_a_syntax_error_costs_everything_and_shows_the_line(source, line, message):
    """The report shows the line or advice once, not for every task."""
    report = grade_source(source)
    assert report.earned == 0
    assert f"app.py, line {line}: " in report.problem
    assert "Error" in report.problem
    assert message in report.problem
    assert ("python2" in report.problem) == source.startswith("print")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "app.py is empty"),
        ("# Ann\n'''My program'''\n", "app.py is empty"),
        ("print('hello')\n", "app.py defines none of the names that the course asks for"),
        (
            (Path(__file__).parent / "comp1127/right/long_hand.py").read_text(),
            "app.py is a program for comp1127, not for toy",
        ),
    ],
)
def test_a_wrong_file_is_recognised(source, message):
    """The report says so once, and not as missing names in each task."""
    assert grade_source(source).problem == message


COMMENT = "# caf\u00e9 \u2013 gro\u00df\n"
ENCODINGS = {
    "Windows line ends": RIGHT.replace("\n", "\r\n").encode(),
    "old Mac line ends": RIGHT.replace("\n", "\r").encode(),
    "tabs": RIGHT.replace("    ", "\t").encode(),
    "BOM": b"\xef\xbb\xbf" + RIGHT.encode(),
    "BOM and Windows line ends": b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode(),
    "UTF-8": (COMMENT + RIGHT).encode(),
    "UTF-16": (COMMENT + RIGHT).encode("utf-16"),
    "Latin-1 with cookie": ("# -*- coding: latin-1 -*-\n# caf\u00e9\n" + RIGHT).encode("latin-1"),
    "Latin-1 without cookie": ("# caf\u00e9\n" + RIGHT).encode("latin-1"),
    "cp1252": (COMMENT + RIGHT).encode("cp1252"),
    "wrong cookie": ("# -*- coding: utf-8 -*-\n# caf\u00e9\n" + RIGHT).encode("latin-1"),
    "cookie for bytes": ("# -*- coding: hex -*-\n" + RIGHT).encode(),
    "unknown cookie in line 2": ("#!python\n# coding: klingon\n" + RIGHT).encode(),
    "no last line end": RIGHT.rstrip().encode(),
    "form feed": RIGHT.replace("\ndef grow", "\n\f\ndef grow").encode(),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_program_is_the_same_in_every_encoding(name):
    """Encodings and line endings do not affect a program."""
    program: dict[str, Any] = {}
    exec(to_utf8(ENCODINGS[name])[0], program)
    numbers = [1, 2]
    program["grow"](numbers)
    assert numbers == [1, 2, 3]


def test_a_guessed_encoding_is_reported():
    """Python would refuse the file, so the student is told, at no cost."""
    report = grade_source(ENCODINGS["Latin-1 without cookie"])
    assert (report.lost, "read as Latin-1" in failures(report)) == ((), True)


def test_checks_do_not_affect_each_other():
    """Module state, builtins, files and processes of one check do not reach another."""
    spoil = Task("1", "spoil", "Spoil.", 1, (Check("a", (Example("spoil()", 1),)),))
    look = Task("2", "look", "Look.", 1, (Check("b", (Example("look()", (0, False, True)),)),))
    state = Grading("toy", "app", (spoil, look), ("app.py",))
    assert grade_source(HOSTILE["programs"]["spoils"], state).lost == ()


def test_expected_values_are_not_in_the_process():
    """A submission that searches its memory and files cannot find them."""
    check = Check("c", (Example("find()", [918_273_645]),))
    task = Task("1", "find", "Find it.", 1, (check,))
    report = grade_source(
        HOSTILE["programs"]["hunt"], Grading("toy", "app", (task,), ("app.py",), seconds=20)
    )
    assert report.tasks[0].checks[0].actual == "[]"


def test_patches_do_not_leak_into_other_checks():
    """Processes that ran a patch share nothing with those of other checks."""
    add, _, grow = TOY.tasks
    report = grade_source(GROW + HOSTILE["programs"]["thief"], replace(TOY, tasks=(grow, add)))
    assert report.tasks[0].checks[0].carried
    assert report.tasks[1].earned == 0


LEAK = ADD.replace("def add", "def own_add") + GREET + HOSTILE["programs"]["leak"]


@pytest.mark.parametrize("name", HOSTILE["leaks"])
def test_reports_of_patched_runs_leak_nothing(name):
    """The report is the same whether or not the program captured a patch."""
    grow = TOY.tasks[2]
    found = []
    for caught in ("marshal.dumps(value.__code__).hex()", "'00ff'"):
        source = LEAK.replace("{leak}", HOSTILE["leaks"][name]).replace(
            "marshal.dumps(value.__code__).hex()", caught
        )
        report = grade_source(source, replace(TOY, tasks=(grow,)))
        (check,) = report.tasks[0].checks
        assert not check.passed
        found.append((report.notes, check))
    assert found[0] == found[1]


def test_texts_of_a_check_leak_nothing_either():
    """A check may build its texts from what it saw in a patched submission."""

    def looks(session):
        session.begin()
        found = session.value("caught")
        session.shown.append(f"# {found}")
        session.fail(f"not {found}", str(found))

    task = replace(TOY.tasks[2], checks=(Check("looks", run=looks),))
    report = grade_source(LEAK.replace("{leak}", "pass"), replace(TOY, tasks=(task,)))
    (check,) = report.tasks[0].checks
    assert (check.example, check.expected, check.actual) == (
        "# with correct versions of the other tasks' functions",
        "looks",
        "something else",
    )


def _constants(code: CodeType) -> Iterator[object]:
    """All constants of a code object and its nested functions."""
    for constant in code.co_consts:
        yield constant
        if isinstance(constant, CodeType):
            yield from _constants(constant)


@pytest.mark.parametrize("course", COURSES)
def test_patches_contain_no_source_text(course):
    """No source code or docstring enters a submission's process."""
    grading = COURSES[course].grading()
    for variant in (grading, *grading.variants):
        checks = [(task, check) for task in variant.tasks for check in task.checks]
        for patch in {patch for task, check in checks for patch in task.patches_of(check)}:
            texts = [text for text in _constants(compiled(patch)) if isinstance(text, str)]
            assert not [text for text in texts if text.count("\n") > 1 or len(text) > 200]


def test_patches_do_not_contain_the_task_itself():
    """A patch contains only the functions it replaces and their dependencies."""
    (patch,) = cmput175_all_but("collapseRow")
    patched = {code.co_name for code in _constants(compiled(patch)) if isinstance(code, CodeType)}
    assert {"createGrid", "setCell", "getCell", "collapsible"} < patched
    assert not patched & {"collapseRow", "slide_line", "slide", "drawGrid", "play"}


# Standard modules that students' own files are often named like.
WORDS = """
    abc ast bisect collections contextlib copy enum functools heapq io json keyword linecache math
    operator os random re site string time tkinter traceback types typing warnings
"""


def test_files_named_like_standard_modules_cost_nothing(tmp_path):
    """A program that imports none of them is graded as usual."""
    (tmp_path / "app.py").write_text(f"import sys\n{RIGHT}")
    for name in WORDS.split():
        (tmp_path / f"{name}.py").write_text("raise SystemError('imported')\n")
    report = grade_path(tmp_path)
    assert report.lost == (), failures(report)
    assert not report.notes


def test_a_program_imports_its_own_files_first(tmp_path):
    """Its own random.py hides the standard one, as with ``python app.py``."""
    (tmp_path / "app.py").write_text(f"import random\nfrom enum import zero\n{RIGHT}")
    source = (tmp_path / "app.py").read_text().replace("total = 0", "total = random.zero + zero")
    (tmp_path / "app.py").write_text(source)
    for name in ("random", "enum"):
        (tmp_path / f"{name}.py").write_text("zero = 0\n")
    report = grade_path(tmp_path)
    assert report.lost == (), failures(report)


DEAF = HOSTILE["programs"]["deaf"]


TWENTY = tuple(
    Task(str(n), "f", "f.", 1, (Check("c", (Example("f()", n, typed=["x" * 99_999]),)),))
    for n in range(20)
)


@pytest.mark.slow
@pytest.mark.parametrize("protection", HIDING, ids=lambda p: p.name)
@pytest.mark.parametrize("name", [*HOSTILE["endless"], "at import"])
def test_a_submission_ends_in_its_time_whatever_it_does(name, protection):
    """At the wall-clock limit, the remaining tasks are undecided, and there is no total."""
    body = HOSTILE["endless"].get(name)
    function = f"def f():\n    {body or 'pass'}\n"
    source = f"import os, signal\n{DEAF}\n{function}{'' if body else 'deaf()'}"
    slow = Grading("toy", "app", TWENTY, ("app.py",), seconds=2)
    report = grade_source(source, slow, SandboxConfig(protection, seconds=3))
    assert report.earned == 0
    assert not report.failure
    assert (report.score is None) == bool(report.undecided)


@pytest.mark.slow
def test_tasks_that_the_machine_stops_are_undecided():
    """The tasks before them keep their marks, and there is no total."""
    long = replace(TOY.tasks[1], checks=tuple(replace(c, seconds=60) for c in TOY.tasks[1].checks))
    grading = replace(TOY, tasks=(TOY.tasks[0], long, TOY.tasks[2]))
    sandbox = replace(SandboxConfig(), seconds=4)
    report = grade_source(ADD + f"{DEAF}greet = deaf\n" + GROW, grading, sandbox)
    assert [task.status for task in report.tasks] == ["passed", "undecided", "undecided"]
    assert (report.score, report.lost) == (None, ())
    assert "these tasks are undecided: 2, 3" in report.reason


def test_a_function_that_hangs_is_named(tmp_path):
    """The name includes the file, even if other files of the process sort after the program's."""
    (tmp_path / "2048.py").write_text("def f():\n    while True: pass\n")
    submission = PreparedSubmission(tmp_path, "2048.py", TOY)
    with SubmissionSession(submission, SandboxConfig()) as session:
        with pytest.raises(SubmissionCrash, match="f"):
            session.run("f()")
        assert session.overran == {"f (2048.py, line 1)"}


@pytest.mark.parametrize("ends_alone", [False, True])
def test_a_check_that_does_not_end_is_repeated(ends_alone):
    """It is repeated once, and only the second result counts."""
    runs: list[bool] = []

    def adds(session):
        runs.append(True)
        session.run("add(1, 2)" if len(runs) > 1 and ends_alone else "while True: pass")

    task = replace(TOY.tasks[0], checks=(Check("it ends", run=adds),))
    report = grade_source(RIGHT, replace(TOY, tasks=(task,)))
    assert (len(runs), report.lost) == (2, () if ends_alone else ("1",)), failures(report)


FORGED = {
    "no state": {"state": 1},
    "an odd error": {"error": 5},
    "an error with odd parts": {"error": {"type": []}},
    "a value of no kind": {"value": {"text": "42"}},
    "no JSON": "{",
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_answer_costs_its_own_marks(name):
    """Writing into the grader's pipe is reported, and other tasks are graded."""
    forged = FORGED[name]
    text = forged if isinstance(forged, str) else json.dumps({"state": "done", **forged})
    forge = HOSTILE["programs"]["forge"].replace("{text}", repr(text))
    report = grade_source(ADD + GREET + forge)
    assert report.lost == ("3",)
    assert "damaged the process" in failures(report)


def test_forked_processes_are_ignored():
    """Both processes return, but only the original's result counts."""
    forks = "    import os\n    os.fork()\n    return a + b"
    report = grade_source(RIGHT.replace("    return a + b", forks))
    assert report.lost == (), failures(report)
