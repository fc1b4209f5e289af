"""Programs with windows are graded with real Tk, on a virtual display that nobody looks at."""

from __future__ import annotations

import pytest
from toys import failures, grade_source

from py2048.courses.grading import Check, Example, Grading, SubmissionSession, Task
from py2048.courses.grading.sandbox import SandboxConfig, choose_protection
from py2048.courses.grading.submissions import PreparedSubmission

WINDOWS = Grading("toy", "app", (), ("app.py",), gui=True, seconds=4)
pytestmark = pytest.mark.gui


@pytest.fixture
def program(tmp_path):
    """Run a program in a window; give the session that is the person before it."""
    sessions: list[SubmissionSession] = []

    def run(source: str) -> SubmissionSession:
        folder = tmp_path / f"work-{len(sessions)}"
        folder.mkdir()
        (folder / "app.py").write_text(source)
        around = SandboxConfig(choose_protection())
        session = SubmissionSession(WINDOWS, PreparedSubmission(folder, "app.py", WINDOWS), around)
        sessions.append(session)
        session.start_check()
        outcome = session.program()
        assert outcome.error is None, outcome
        assert outcome.state == "waiting"
        return session

    yield run
    for session in sessions:
        session.__exit__()


CLICKER = """
import tkinter as tk
from tkinter import messagebox

count = 0
def left(event):
    global count
    count += 1
    label["text"] = f"{event.keysym} {count}"
    canvas.move(box, -10, 0)
def clicked(event):
    label.config(text=f"clicked {event.x},{event.y}")
def new():
    if messagebox.askyesno("New", "Really?"):
        label.config(text="new game")
        root.after(100, lambda: label.config(text="later"))

root = tk.Tk()
root.title("Clicker")
label = tk.Label(root, text="hello")
label.pack()
canvas = tk.Canvas(root, width=200, height=100)
canvas.pack()
box = canvas.create_rectangle(20, 20, 60, 60, fill="red")
canvas.create_text(150, 50, text="2048", tags="number")
canvas.bind("<Button-1>", clicked)
hidden = tk.Label(root, text="hidden")
button = tk.Button(root, text="New Game", command=new)
button.pack()
root.bind("<Left>", left)
root.mainloop()
"""


def test_a_person_sees_and_does(program):
    """Texts, keys, clicks, buttons, dialogs and time."""
    session = program(CLICKER)
    session.expect("screen.texts()", ["Clicker", "hello", "2048", "New Game"])
    session.run("screen.press('Left'); screen.press('Left')")
    session.expect("label['text']", "Left 2")
    session.expect("canvas.coords(box)", [0.0, 20.0, 40.0, 60.0])
    session.run("screen.click(canvas, 30, 40)")
    session.expect("'clicked 30,40' in screen.texts()", True)
    session.expect("screen.answer(False); screen.push('new game')", True)
    session.expect("screen.dialogs()", [("askyesno", "New", "Really?")])
    session.expect("label.cget('text')", "clicked 30,40")
    session.run("screen.push('New')")
    session.expect("label.cget('text')", "new game")
    session.run("screen.advance(300)")
    session.expect("label.cget('text')", "later")
    session.expect("screen.push('nothing')", False)
    kinds = [("rectangle", "red"), ("text", "")]
    found = session.value("[(k, o.get('fill', '')) for k, _, o in screen.items(canvas)]")
    assert [(kind, fill if kind != "text" else "") for kind, fill in found] == kinds
    assert session.run("root.destroy()").state == "done"


POLLING = """
import time
import tkinter as tk

root = tk.Tk()
root.withdraw()
window = tk.Toplevel(root)
canvas = tk.Canvas(window, width=100, height=100)
canvas.pack()
clicks = []
canvas.bind("<Button-1>", lambda event: clicks.append((event.x, event.y)))
text = canvas.create_text(50, 50, text="start")

def get_mouse():
    clicks.clear()
    while not clicks:
        canvas.update()
        time.sleep(0.05)
    return clicks[0]

x = 0
while x < 90:
    x, y = get_mouse()
    canvas.itemconfig(text, text=f"got {x} {y}")
    for _ in range(10):
        canvas.move(text, 1, 0)
        canvas.update()
        time.sleep(0.01)
canvas.itemconfig(text, text="over")
"""


def test_a_program_that_polls_for_clicks(program):
    """No main loop: the program draws and sleeps in a loop of its own, and has its animation."""
    session = program(POLLING)
    session.expect("canvas.itemcget(text, 'text')", "start")
    session.run("screen.click(screen.widgets('Canvas')[0], 10, 20)")
    session.expect("canvas.itemcget(text, 'text')", "got 10 20")
    session.expect("canvas.coords(text)", [60.0, 50.0])
    outcome = session.run("screen.click(screen.widgets('Canvas')[0], 95, 20)")
    assert outcome.state == "done"


COMPUTER = """
import time
import tkinter as tk
root = tk.Tk()
label = tk.Label(root, text="0")
label.pack()
for number in range(1, 100):
    label["text"] = str(number)
    root.update()
    time.sleep(1)
"""


def test_long_pauses_pass_at_once_but_can_be_looked_into(program):
    """A computer player that pauses a second between moves is seen in the middle of its game."""
    session = program(COMPUTER)
    first = int(session.value("label['text']"))
    assert 1 < first < 10
    session.run("screen.advance(20_000)")
    second = int(session.value("label['text']"))
    assert first + 15 < second < first + 30


OVERRIDES = """
import tkinter as tk

class Board(tk.Canvas):
    def __init__(self, root):
        super().__init__(root, width=200, height=100)
        self.items = self.last = self.options = self.bindings = self.children = None
        self.winfo_children = self.find_all = self.coords = self.type = None
        self.create_text(50, 50, text="2048")
        self.bind("<Button-1>", lambda event: self.itemconfig("all", text="clicked"))
    def __str__(self):
        return "a board"
    def winfo_class(self):
        return "Board"

root = tk.Tk()
root.title = "My game"
board = Board(root)
board.place(x=0, y=0)
root.mainloop()
"""


def test_what_a_program_overrides_does_not_matter(program):
    """The grader asks Tk what is shown, and none of the program's own methods and attributes."""
    session = program(OVERRIDES)
    session.expect("screen.texts()", ["tk", "2048"])
    session.run("screen.click(screen.widgets('Canvas')[0], 5, 5)")
    session.expect("screen.texts()", ["tk", "clicked"])


ZELLE = """
from graphics import *
win = GraphWin("Numbers", 300, 200)
win.setCoords(0, 0, 30, 20)
square = Rectangle(Point(10, 5), Point(20, 15))
square.setFill(color_rgb(255, 0, 0))
square.draw(win)
text = Text(square.getCenter(), 2)
text.setSize(20)
text.draw(win)
while win.isOpen():
    point = win.getMouse()
    text.setText("%d %d" % (point.getX(), point.getY()))
    text.move(1, 0)
    text.setText(text.getText() + " " + win.getKey())
"""


def test_programs_for_zelle_s_graphics_run(program):
    """The library is there, with its coordinates, its loop for clicks and its keys."""
    session = program(ZELLE)
    session.expect("screen.texts()", ["Numbers", "2"])
    kind, place, options = session.value("screen.items(screen.widgets('Canvas')[0])")[0]
    assert (kind, place, options["fill"]) == ("rectangle", [100.0, 50.0, 199.0, 149.0], "#ff0000")
    session.run("screen.click(screen.widgets('Canvas')[0], 30, 40)")
    session.expect("screen.texts()", ["Numbers", "3 15"])
    session.run("screen.press('a')")
    session.expect("screen.texts()", ["Numbers", "3 15 a"])


def test_without_zelle_s_library_there_is_no_mark(monkeypatch):
    """That it is missing is not a fault of the student's; the teacher is told what to install."""
    monkeypatch.setattr("py2048.courses.grading.submissions.find_spec", lambda _: None)
    task = Task("1", "d", "d.", 1, (Check("c", (Example("1", 1),)),))
    report = grade_source(ZELLE, Grading("toy", "app", (task,), ("app.py",), gui=True))
    assert report.score is None
    assert "pip install 'py2048[zelle]'" in report.failure


TURTLE = """
import turtle
def left():
    turtle.goto(0, 20)
    turtle.write("went left")
def clicked(x, y):
    turtle.goto(x, y)
    turtle.write(f"clicked {x:.0f} {y:.0f}")
turtle.setup(400, 400)
turtle.title("Turtles")
turtle.write("2048", font=("Arial", 20, "bold"))
turtle.onkey(left, "Left")
turtle.onscreenclick(clicked)
turtle.listen()
turtle.done()
"""


def test_turtle_programs_run(program):
    """Drawn by turtles, with their keys and clicks."""
    session = program(TURTLE)
    session.expect("screen.texts()", ["Turtles", "2048"])
    session.run("screen.press('Left')")
    session.run("screen.click(screen.widgets('Canvas')[0], -50, 60)")
    session.expect("screen.texts()", ["Turtles", "2048", "went left", "clicked -50 -60"])


WAITING = """
import sys
import tkinter as tk
from tkinter import ttk

def ask():
    top = tk.Toplevel(root)
    top.title("Who?")
    chosen = tk.StringVar()
    for name in ("Human", "Computer"):
        tk.Button(top, text=name, command=lambda name=name: chosen.set(name)).pack()
    top.grab_set()
    top.wait_variable(chosen)
    top.destroy()
    said.set(chosen.get())
    root.after_cancel(timer)

root = tk.Tk()
said = tk.StringVar(value="hello")
ttk.Label(root, textvariable=said).pack()
tk.Button(root, text="Ask", command=ask).pack()
tk.Button(root, text="Fail", command=lambda: 1 / 0).pack()
tk.Button(root, text="Quit", command=sys.exit).pack()
timer = root.after(60_000, lambda: said.set("too late"))
root.mainloop()
"""


def test_a_dialog_of_the_program_s_own_can_be_answered(program):
    """While it waits for the answer, the person looks on and answers; errors are Tk's business."""
    session = program(WAITING)
    session.expect("screen.push('Ask')", True)
    session.expect("'Who?' in screen.texts() and screen.push('Computer')", True)
    session.expect("screen.texts()", ["tk", "Computer", "Ask", "Fail", "Quit"])
    session.run("screen.advance(100_000)")
    session.expect("'too late' in screen.texts()", False)
    session.expect("screen.push('Fail'); screen.errors()", ["ZeroDivisionError: division by zero"])
    outcome = session.run("screen.push('Quit')")
    assert (outcome.state, outcome.error and outcome.error.type) == ("done", "SystemExit")


@pytest.mark.parametrize("command", ["quit", "exit", "lambda: exit(0)", "sys.exit"])
def test_a_program_ends_itself_in_every_way_of_python(program, command):
    """`quit` and `exit` are there as in ``python app.py``."""
    session = program(WAITING.replace("command=sys.exit", f"command={command}"))
    outcome = session.run("screen.push('Quit')")
    assert (outcome.state, outcome.error and outcome.error.type) == ("done", "SystemExit")


def test_a_window_opened_at_import_does_not_stop_grading():
    """A file without main guard builds its window and waits; its functions are graded anyway."""
    source = CLICKER + "\ndef double(n):\n    return 2 * n\n"
    task = Task("1", "d", "d.", 1, (Check("c", (Example("double(4)", 8),)),))
    report = grade_source(source, Grading("toy", "app", (task,), ("app.py",), gui=True))
    assert report.lost == (), failures(report)
