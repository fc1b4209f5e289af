"""What each protection prevents, and that its description is accurate."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sysconfig
from pathlib import Path
from threading import Event, Thread

import pytest
from toys import RIGHT, failures, grade_source

from py2048.core.errors import CourseError
from py2048.courses.grading import Check, Example, Grading, Task
from py2048.courses.grading.sandbox import (
    AGENT,
    BUBBLEWRAP,
    PROTECTIONS,
    UNPROTECTED,
    ProcessDied,
    SandboxConfig,
    Turns,
    agent_folder,
    choose_protection,
    copies_of_py2048,
    interpreter_for,
)

HERE = [protection for protection in PROTECTIONS if interpreter_for(protection)]


def _answer(source: str, protection, code: str = "f()") -> str:
    """The result of `code` in a sandboxed submission, as text."""
    check = Check("c", (Example(code, "an answer that nothing gives"),))
    task = Task("1", "f", "f.", 1, (check,))
    grading = Grading("toy", "app", (task,), ("app.py",), seconds=3)
    return grade_source(source, grading, SandboxConfig(protection)).tasks[0].checks[0].actual


@pytest.mark.parametrize("protection", HERE, ids=lambda p: p.name)
@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import os; os._exit(3)",
        "open('big', 'wb').write(b'x' * (64 << 20))",
        "x = bytearray(4 << 30)",
        "[open('/dev/null') for _ in range(10000)]",
    ],
)
def test_the_limits_hold_under_every_protection(protection, body):
    """Exceeding a limit costs the task's marks and no others."""
    greet = f"\ndef greet():\n    {body}\n"
    report = grade_source(RIGHT + greet, around=SandboxConfig(protection))
    assert report.lost == ("2",), failures(report)


@pytest.mark.parametrize("protection", HERE, ids=lambda p: p.name)
def test_nothing_is_left_running(protection):
    """Processes that leave their group are killed with the submission."""
    if protection is UNPROTECTED and os.geteuid() != 0:
        pytest.skip("without namespaces this needs a user per submission")
    name = f"left-behind-{os.getpid()}-{len(protection.name)}"
    source = f"""
import os
def greet():
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            os.execvp("sleep", ["{name}", "300"])
"""
    grade_source(RIGHT + source, around=SandboxConfig(protection))
    assert not any(name in words for words in _command_lines())


def _command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_text(errors="replace"))
    return found


def test_a_check_that_runs_alone_waits_for_all_others():
    """Those that run together do not wait for each other, and begin after one that waits."""
    turns, order, begun = Turns(), [], Event()

    def run(name: str, alone: bool) -> None:
        begun.set()
        with turns.take(alone=alone):
            order.append(name)

    alone = Thread(target=run, args=("alone", True))
    with turns.take(alone=False), turns.take(alone=False):
        run("together", False)
        begun.clear()
        alone.start()
        begun.wait()
        alone.join(0.2)  # it must not run yet
        order.append("others end")
    alone.join()
    run("later", False)
    with turns.take(alone=True):
        later = Thread(target=run, args=("last", False))
        later.start()
        later.join(0.2)
        order.append("one alone")
    later.join()
    assert order == ["together", "others end", "alone", "later", "one alone", "last"]


HIDING = [protection for protection in HERE if protection is not UNPROTECTED]


@pytest.mark.parametrize("protection", HIDING, ids=lambda p: p.name)
def test_the_solutions_cannot_be_read(protection):
    """They cannot be opened, imported or listed, wherever py2048 is installed."""
    places = [str(place / "courses") for place in copies_of_py2048()]
    source = f"""
import os, sys
def f():
    found = []
    for place in {places}:
        sys.path.insert(0, place)
        for folder, _, names in os.walk(place):
            for name in names:
                with open(os.path.join(folder, name), errors="replace") as file:
                    found.append(file.read())
    try:
        import comp1127.main, cmput175.game
        found.append("imported")
    except ImportError:
        pass
    return found
"""
    assert places
    assert _answer(source, protection) == "[]"


def test_solutions_next_to_the_interpreter_are_hidden(tmp_path, monkeypatch):
    """This matters if py2048 is installed without a virtual environment."""
    package = tmp_path / "lib/python3.99/site-packages/py2048"
    package.mkdir(parents=True)
    monkeypatch.setattr("sys.base_exec_prefix", str(tmp_path))
    assert package in copies_of_py2048()


@pytest.mark.parametrize("protection", HERE, ids=lambda p: p.name)
def test_a_submission_is_never_root(protection):
    """This holds under any protection, even if root runs the grader."""
    source = """
import os
def f():
    try: os.setuid(0)
    except OSError: pass
    return [os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()].count(0)
"""
    assert _answer(source, protection) == "0"


def test_grading_without_a_sandbox_must_be_requested(monkeypatch):
    """The error explains how to get one, and reports list what is not protected."""
    monkeypatch.setattr(
        "py2048.courses.grading.sandbox.interpreter_for", lambda one: one is UNPROTECTED
    )
    with pytest.raises(CourseError, match=r"install bubblewrap .* as root .* --unprotected"):
        choose_protection()
    assert choose_protection(unprotected=True) is UNPROTECTED
    assert str(UNPROTECTED) == (
        "limits only. NOT protected: the solutions (a submission can read them), files of this "
        "machine, the network, other processes of the same user. Protected: limits on time, "
        "memory, output, file size and processes"
    )
    assert "NOT" not in str(BUBBLEWRAP)


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        ((0, 1, 84, 86, 128), "ended the process (exit code {}): os._exit()?"),
        ((85,), "printed too much output"),
        ((-11, 139), "crashed the interpreter: infinite recursion?"),
        ((-24, 152), "does not end: an infinite loop?"),
        ((-9, 137), "was killed by the system: too much memory or processor time"),
        ((-1, 129), "was killed by signal 1"),
    ],
)
def test_an_exit_code_is_explained(codes, reason):
    """A code above 128 is a signal, as in a shell."""
    for code in codes:
        death = ProcessDied.from_exit_code(code)
        assert (str(death), death.exit_code) == (reason.format(code), code)


@pytest.mark.parametrize("protection", HIDING, ids=lambda p: p.name)
def test_a_private_installation_can_grade(protection, tmp_path, monkeypatch):
    """If only root can read py2048, as on Gradescope, submissions use a copy of the agent."""
    monkeypatch.setattr("py2048.courses.grading.sandbox.AGENT", tmp_path / "private")
    shutil.copytree(AGENT, tmp_path / "private")
    (tmp_path / "private").chmod(0o700)
    agent_folder.cache_clear()
    try:
        report = grade_source(RIGHT, around=SandboxConfig(protection))
    finally:
        agent_folder.cache_clear()
    assert report.lost == (), failures(report)


@pytest.mark.skipif(BUBBLEWRAP not in HERE, reason="bubblewrap does not work here")
class TestBubblewrap:
    """Each item in bubblewrap's description."""

    def test_it_is_the_first_choice(self):
        """It is used wherever it works."""
        assert choose_protection() is BUBBLEWRAP

    def test_no_network(self):
        """Servers on this machine are unreachable."""
        server = socket.create_server(("127.0.0.1", 0))
        port = server.getsockname()[1]
        source = f"""
import socket
def f():
    socket.create_connection(("127.0.0.1", {port}), timeout=1)
"""
        assert "Error" in _answer(source, BUBBLEWRAP)
        server.close()

    def test_other_files_are_hidden_or_read_only(self, tmp_path):
        """System files are read-only, and private files are hidden."""
        secret = tmp_path / "secret.txt"
        secret.write_text("the marks")
        tmp_path.chmod(0o755)
        secret.chmod(0o666)
        source = f"""
def read(): return open({str(secret)!r}).read()
def write(place): open(place, "w")
"""
        assert "FileNotFoundError" in _answer(source, BUBBLEWRAP, "read()")
        for place in ("/usr/bin/x", "/py2048/agent/x", "/py2048/submission/x", "/x"):
            assert "Error" in _answer(source, BUBBLEWRAP, f"write({place!r})")
        assert secret.read_text() == "the marks"

    def test_libraries_can_be_imported_but_py2048_is_hidden(self, tmp_path, monkeypatch):
        """Folders of py2048 and the course appear empty."""
        for name in ("somelib.py", "py2048/secret.py", "theirs/tasks.py"):
            path = tmp_path / "site" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("value = 7\n")
        tmp_path.chmod(0o755)
        monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "site"))
        course = tmp_path / "site" / "theirs"
        source = f"""
import os
from somelib import value
def f(): return value, os.listdir({str(course)!r}), os.listdir({str(course / "../py2048")!r})
"""
        check = Check("c", (Example("f()", (7, [], [])),))
        task = Task("1", "f", "f.", 1, (check,))
        grading = Grading("toy", "app", (task,), ("app.py",), libraries=("somelib",), folder=course)
        assert grade_source(source, grading, SandboxConfig(BUBBLEWRAP)).lost == ()

    def test_its_own_processes_only(self):
        """Other processes on the machine are invisible."""
        source = """
import os
def f(): return len([n for n in os.listdir("/proc") if n.isdigit()])
"""
        assert int(_answer(source, BUBBLEWRAP)) <= 4

    def test_a_scratch_folder_in_memory(self):
        """The total size of all files is limited."""
        source = """
def f():
    for n in range(100):
        open(str(n), "wb").write(b"x" * (4 << 20))
"""
        assert "No space left" in _answer(source, BUBBLEWRAP)
