"""Programs with windows are graded with real Tk on a virtual display."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from toys import failures, grade_source

from py2048.core.installation import install_line
from py2048.courses.grading import Check, Example, Grading, SubmissionSession, Task
from py2048.courses.grading.sandbox import SandboxConfig, choose_protection
from py2048.courses.grading.submissions import PreparedSubmission

PROGRAMS = tomllib.loads(Path(__file__).with_name("windows.toml").read_text())
WINDOWS = Grading("toy", "app", (), ("app.py",), gui=True, seconds=4)
pytestmark = pytest.mark.gui


@pytest.fixture
def program(tmp_path):
    """Run a program with a window; return its session."""
    sessions: list[SubmissionSession] = []

    def run(source: str) -> SubmissionSession:
        folder = tmp_path / f"work-{len(sessions)}"
        folder.mkdir()
        (folder / "app.py").write_text(source)
        around = SandboxConfig(choose_protection())
        session = SubmissionSession(PreparedSubmission(folder, "app.py", WINDOWS), around)
        sessions.append(session)
        session.start_check()
        outcome = session.program()
        assert outcome.error is None, outcome
        assert outcome.state == "waiting"
        return session

    yield run
    for session in sessions:
        session.__exit__()


def test_the_simulated_user_can_read_and_act(program):
    """Texts, keys, clicks, buttons, dialogs and timers work."""
    session = program(PROGRAMS["clicker"])
    session.expect("screen.texts()", ["Clicker", "hello", "2048", "New Game"])
    session.run("screen.press('Left'); screen.press('Left')")
    session.expect("label['text']", "Left 2")
    session.expect("canvas.coords(box)", [0.0, 20.0, 40.0, 60.0])
    session.run("screen.click(canvas, 30, 40)")
    session.expect("'clicked 30,40' in screen.texts()", True)
    session.expect("screen.answer(False); screen.push('new game')", True)
    session.expect("screen.dialogs()", [("askyesno", "New", "Really?")])
    session.expect("label.cget('text')", "clicked 30,40")
    asks = "[ask.askquestion(), ask.askyesnocancel(), ask.askokcancel(), ask.askretrycancel()]"
    session.run("from tkinter import messagebox as ask; screen.answer('No', None, True, 0)")
    session.expect(asks, ["no", None, True, False])
    session.run("screen.push('New')")
    session.expect("label.cget('text')", "new game")
    session.expect("screen.advance(300)", True)
    session.expect("label.cget('text')", "later")
    session.expect("screen.push('later')", False)
    session.run("label.bind('<Button-1>', lambda _: label.config(text='pushed'))")
    session.expect("screen.push('later'); label.cget('text')", "pushed")
    session.run("screen.point(screen.widgets('Canvas')[0])")
    session.expect("label['text']", "clicked 101,51")
    session.expect("screen.push('hidden')", False)
    kinds = [("rectangle", "red"), ("text", "")]
    found = session.value("[(k, o.get('fill', '')) for k, _, o in screen.items(canvas)]")
    assert [(kind, fill if kind != "text" else "") for kind, fill in found] == kinds
    session.run("root.mainloop()")
    assert session.run("root.quit()").state == "waiting", "only the inner loop ends"
    assert session.run("root.destroy()").state == "done"


def test_a_program_that_polls_for_clicks(program):
    """A program without a main loop works, and waits for clicks after 13 polls without news."""
    session = program(PROGRAMS["polling"])
    session.expect("canvas.itemcget(text, 'text')", "start")
    session.run("screen.click(screen.widgets('Canvas')[0], 10, 20)")
    session.expect("canvas.itemcget(text, 'text'), len(polls)", ("got 10 20", 13))
    session.expect("canvas.coords(text)", [60.0, 50.0])
    session.expect("screen.advance(10)", False)
    outcome = session.run("screen.click(screen.widgets('Canvas')[0], 95, 20)")
    assert outcome.state == "done"


def test_long_pauses_are_skipped_but_observable(program):
    """A computer player that pauses between moves can be seen during its game."""
    session = program(PROGRAMS["computer"])
    first = int(session.value("label['text']"))
    assert 1 < first < 10
    session.run("screen.advance(20_000)")
    second = int(session.value("label['text']"))
    assert first + 15 < second < first + 30


def test_overridden_widgets_do_not_matter(program):
    """The grader asks Tk, not the program's own methods and attributes."""
    session = program(PROGRAMS["overrides"])
    session.expect("screen.texts()", ["tk", "2048"])
    session.run("screen.click(screen.widgets('Canvas')[0], 5, 5)")
    session.expect("screen.texts()", ["tk", "clicked"])


def test_programs_for_zelle_s_graphics_run(program):
    """Its coordinates, click loop and keys work."""
    session = program(PROGRAMS["zelle"])
    session.expect("screen.texts()", ["Numbers", "2"])
    kind, place, options = session.value("screen.items(screen.widgets('Canvas')[0])")[0]
    assert (kind, place, options["fill"]) == ("rectangle", [100.0, 50.0, 199.0, 149.0], "#ff0000")
    session.run("screen.click(screen.widgets('Canvas')[0], 30, 40)")
    session.expect("screen.texts()", ["Numbers", "3 15"])
    session.run("screen.press('a')")
    session.expect("screen.texts()", ["Numbers", "3 15 a"])


def test_a_missing_zelle_library_is_a_failure_of_the_grader(monkeypatch):
    """The student loses no marks, and the teacher learns what to install."""
    monkeypatch.setattr("py2048.courses.grading.submissions.find_spec", lambda _: None)
    task = Task("1", "d", "d.", 1, (Check("c", (Example("1", 1),)),))
    report = grade_source(PROGRAMS["zelle"], Grading("toy", "app", (task,), ("app.py",), gui=True))
    assert report.score is None
    assert install_line("zelle") in report.failure


def test_turtle_programs_run(program):
    """Turtle drawings, keys and clicks work."""
    session = program(PROGRAMS["turtle"])
    session.expect("screen.texts()", ["Turtles", "2048"])
    session.run("screen.press('Left')")
    session.run("screen.click(screen.widgets('Canvas')[0], -50, 60)")
    session.expect("screen.texts()", ["Turtles", "2048", "went left", "clicked -50 -60"])


def test_a_custom_dialog_can_be_answered(program):
    """The user acts while the dialog waits; errors in callbacks do not end the program."""
    session = program(PROGRAMS["waiting"])
    session.expect("screen.push('Ask')", True)
    session.expect("'Who?' in screen.texts() and screen.push('Computer')", True)
    session.expect("screen.texts()", ["tk", "Computer", "Ask", "Fail", "Quit"])
    session.run("screen.advance(100_000)")
    session.expect("'too late' in screen.texts()", False)
    session.expect("screen.push('Fail'); screen.errors()", ["ZeroDivisionError: division by zero"])


@pytest.mark.parametrize("command", ["quit", "exit", "lambda: exit(0)", "sys.exit"])
def test_a_program_ends_itself_in_every_way_of_python(program, command):
    """`quit` and `exit` exist as in ``python app.py``."""
    session = program(PROGRAMS["waiting"].replace("command=sys.exit", f"command={command}"))
    outcome = session.run("screen.push('Quit')")
    assert (outcome.state, outcome.error and outcome.error.type) == ("done", "SystemExit")


def test_a_window_opened_at_import_does_not_stop_grading():
    """The functions of a file without a main guard are graded."""
    source = PROGRAMS["clicker"] + "\ndef double(n):\n    return 2 * n\n"
    task = Task("1", "d", "d.", 1, (Check("c", (Example("double(4)", 8),)),))
    report = grade_source(source, Grading("toy", "app", (task,), ("app.py",), gui=True))
    assert report.lost == (), failures(report)
