"""What each protection prevents, and that its description is accurate."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import sysconfig
import tomllib
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from threading import Event, Thread

import pytest
from tests.processes import python
from toys import RIGHT, TOY, failures, grade_source

from py2048.core.errors import CourseError
from py2048.courses.grading import Check, Example, Grading, SubmissionSession, Task
from py2048.courses.grading.agent import boot
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
from py2048.courses.grading.submissions import PreparedSubmission
from py2048.courses.grading.tasks import SubmissionCrash

SANDBOXED = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text())["sandboxed"]
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
    source = SANDBOXED["leaves"].replace("{name}", name)
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
    assert places
    assert _answer(SANDBOXED["reads"].replace("{places}", str(places)), protection) == "[]"


def test_solutions_next_to_the_interpreter_are_hidden(tmp_path, monkeypatch):
    """This matters if py2048 is installed without a virtual environment."""
    package = tmp_path / "lib/python3.99/site-packages/py2048"
    package.mkdir(parents=True)
    monkeypatch.setattr("sys.base_exec_prefix", str(tmp_path))
    assert package in copies_of_py2048()


@pytest.mark.parametrize("protection", HERE, ids=lambda p: p.name)
def test_a_submission_is_never_root(protection):
    """This holds under any protection, even if root runs the grader."""
    assert _answer(SANDBOXED["becomes root"], protection) == "0"


@pytest.mark.parametrize(
    ("ids", "first"), [("0 0 2000001", 1_000_000), ("0 0 2000000", 60_000), ("", 60_000)]
)
def test_submissions_of_root_have_users_on_every_machine(ids, first):
    """Rootless containers map few user ids, and some kernels have no list of mapped ids."""
    done = python(
        "-c",
        "import os, pathlib; from py2048.courses.grading.sandbox import USERS, next_user;"
        f"os.geteuid = int; pathlib.Path.read_text = lambda *_, **__: {ids!r} or open('');"
        f"print(next_user() - {first} in range(USERS))",
    )
    assert done.stdout == "True\n", done.stderr


PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
ALL = ["/base/python", f"/usr/local/bin/{PYTHON}", f"/usr/bin/{PYTHON}"]


@pytest.mark.parametrize(
    ("user", "landlock", "bwrap", "expected"),
    [
        (0, 3, None, [[], ALL, ALL]),
        (0, 0, "/usr/bin/bwrap", [ALL[:1], [], ALL]),
        (7, 3, None, [[], [], ALL]),
    ],
)
def test_a_protection_needs_its_parts(user, landlock, bwrap, expected, monkeypatch):
    """Landlock needs root and a kernel that has it, and bubblewrap its program.

    The base interpreter is tried first. Only bubblewrap can always show it to submissions.
    """
    tried: list[str] = []

    def fail(words: list[str], **_: object) -> CompletedProcess[bytes]:
        tried.append(words[words.index("-I") - 1])
        return CompletedProcess(words, 1)

    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr("shutil.which", lambda _: bwrap)
    monkeypatch.setattr("subprocess.run", fail)
    monkeypatch.setattr(boot, "landlock_version", lambda: landlock)
    monkeypatch.setattr("sys._base_executable", ALL[0])
    for protection, interpreters in zip(PROTECTIONS, expected, strict=True):
        tried.clear()
        assert interpreter_for.__wrapped__(protection) is None
        assert tried == interpreters


def test_leaving_the_pool_kills_what_runs(tmp_path):
    """A call that is waiting for its reply fails; a session without a process is left alone."""
    sandbox, submission = SandboxConfig(), PreparedSubmission(tmp_path, "app.py", TOY)
    begun = Event()

    def loop() -> None:
        begun.set()
        session.run("while True: pass")

    with SubmissionSession(submission, sandbox) as session, SubmissionSession(submission, sandbox):
        session.fresh()
        session.seconds = 20
        with sandbox.pool() as pool:
            running = pool.submit(loop)
            begun.wait()
        with pytest.raises(SubmissionCrash) as crash:
            running.result()
    assert crash.value.exit_code == -9


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


@pytest.mark.gui
@pytest.mark.parametrize("protection", HIDING, ids=lambda p: p.name)
def test_a_private_installation_can_grade(protection, tmp_path, monkeypatch):
    """If only root can read py2048, as on Gradescope, submissions use a copy of the agent."""
    monkeypatch.setattr("py2048.courses.grading.sandbox.AGENT", tmp_path / "private")
    shutil.copytree(AGENT, tmp_path / "private")
    (tmp_path / "private").chmod(0o700)
    # The code for windows is loaded last. The system's Python, outside bubblewrap, may lack Tk.
    grading = replace(TOY, gui=protection is BUBBLEWRAP)
    agent_folder.cache_clear()
    try:
        report = grade_source(RIGHT, grading, SandboxConfig(protection))
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
        source = SANDBOXED["connects"].replace("{port}", str(port))
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
        assert int(_answer(SANDBOXED["lists"], BUBBLEWRAP)) <= 4

    def test_a_scratch_folder_in_memory(self):
        """The total size of all files is limited."""
        assert "No space left" in _answer(SANDBOXED["fills its folder"], BUBBLEWRAP)
