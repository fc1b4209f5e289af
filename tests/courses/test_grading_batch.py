"""Grading a class in parallel, and resuming an interrupted run."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from toys import GREET, GROW, RIGHT, TOY

from py2048.core.errors import CourseError
from py2048.courses.grading import Check, Example
from py2048.courses.grading.grader import ResultsFile, grade_all, result_key
from py2048.courses.grading.report import GradeReport
from py2048.courses.grading.sandbox import SandboxConfig, choose_protection
from py2048.courses.grading.submissions import Submission, collect

HERE = Path(__file__).parent
SLOW = f"{GREET}{GROW}\ndef add(a, b):\n    while True: pass\n"


def _class(tmp_path: Path, sources: dict[str, str]) -> list[Submission]:
    folder = tmp_path / "class"
    folder.mkdir()
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return collect([folder], TOY, tmp_path / "scratch")


def _graded(
    submissions: list[Submission], memory: ResultsFile | None = None, jobs: int = 2
) -> dict[str, GradeReport]:
    reports = grade_all(submissions, TOY, SandboxConfig(jobs=jobs), results=memory)
    return {report.name: report for report in reports}


def test_parallel_submissions_do_not_affect_each_other(tmp_path):
    """Marks do not depend on the number of jobs or on other submissions."""
    wrong = RIGHT.replace("a + b", "a - b")
    bomb = f"{RIGHT}\nimport os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
    sources = {"ann": RIGHT, "bob": wrong, "cy": SLOW, "dee": "def", "eve": bomb, "fay": RIGHT}
    reports = _graded(_class(tmp_path, sources), jobs=3)
    lost = {name: report.lost for name, report in reports.items()}
    everything = ("1", "2", "3")
    assert lost == {"ann": (), "bob": ("1",), "cy": ("1",), "dee": everything, "eve": (), "fay": ()}


def test_a_submission_that_cannot_start_affects_no_others(tmp_path):
    """A submission that fills its scratch folder has no mark; the others have theirs."""
    folder = tmp_path / "class"
    for name in ("ann", "bob", "cy"):
        (folder / name).mkdir(parents=True)
        (folder / name / "app.py").write_text(RIGHT)
    (folder / "bob" / "large.dat").write_bytes(bytes(63 << 20))
    for number in range(400):
        (folder / "bob" / f"{number}.txt").write_text("a page each")
    submissions = collect([folder], TOY, tmp_path / "scratch")
    memory = ResultsFile(tmp_path / "results.jsonl")
    reports = _graded(submissions, memory)
    if choose_protection().own_root:
        assert reports["bob"].failure.endswith("] No space left on device")
        assert len(ResultsFile(memory.path).stored) == 2, "failures are graded again"
    assert (reports["ann"].lost, reports["cy"].lost) == ((), ())


def test_results_are_yielded_as_they_are_ready(tmp_path):
    """A slow submission does not delay the others."""
    submissions = _class(tmp_path, {"aaa": SLOW, "bbb": RIGHT, "ccc": RIGHT})
    names = [r.name for r in grade_all(submissions, TOY, SandboxConfig(jobs=2))]
    assert names[-1] == "aaa"


def test_only_changed_files_are_graded_again(tmp_path):
    """Stored results are returned unchanged for the same files."""
    submissions = _class(tmp_path, {"ann": RIGHT.replace("a + b", "0"), "bob": RIGHT})
    path = tmp_path / "results.jsonl"
    started: list[str] = []

    def graded() -> dict[str, GradeReport]:
        memory, note = ResultsFile(path), lambda submission: started.append(submission.name)
        found = grade_all(submissions, TOY, SandboxConfig(), results=memory, on_start=note)
        return {report.name: report for report in found}

    first, written = graded(), path.read_bytes()
    assert sorted(started) == ["ann", "bob"]
    assert (graded(), path.read_bytes(), len(started)) == (first, written, 2)
    submissions[0].files[0].write_text(RIGHT)
    assert graded()["ann"].lost == ()
    assert started[2:] == ["ann"]


def test_undecided_results_are_graded_again(tmp_path):
    """A result that ran out of time has no total."""
    path = tmp_path / "results.jsonl"
    submissions = _class(tmp_path, {"ann": RIGHT})
    little = 1e-6  # less than a request takes
    for seconds, lines in [(little, 1), (60.0, 2), (60.0, 2), (little, 2)]:
        around = replace(SandboxConfig(), seconds=seconds)
        (report,) = grade_all(submissions, TOY, around, results=ResultsFile(path))
        assert len(path.read_text().splitlines()) == lines
        assert (report.score is None) == (lines == 1)


def test_another_version_of_the_grader_grades_again(tmp_path, monkeypatch):
    """A corrected grader does not repeat its old verdicts."""
    (submission,) = _class(tmp_path, {"ann": RIGHT})
    before = result_key(submission, TOY)
    monkeypatch.setattr("py2048.courses.grading.grader.grader_version", lambda _: "another")
    assert result_key(submission, TOY) != before


def test_a_truncated_line_is_graded_again(tmp_path):
    """A run killed while writing loses only that result."""
    path = tmp_path / "results.jsonl"
    submissions = _class(tmp_path, {"ann": RIGHT, "bob": RIGHT})
    _graded(submissions, ResultsFile(path))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][: len(lines[1]) // 2])
    assert len(ResultsFile(path).stored) == 1
    lost = {name: r.lost for name, r in _graded(submissions, ResultsFile(path)).items()}
    assert lost == {"ann": (), "bob": ()}
    assert len(ResultsFile(path).stored) == 2


def test_another_file_is_not_taken_for_results(tmp_path):
    """The file is rejected and stays as it is."""
    path = tmp_path / "essay.txt"
    path.write_text("It was a dark\nand stormy\nnight.\n")
    with pytest.raises(CourseError, match=r"is not a results file \(line 1\)"):
        ResultsFile(path)
    assert path.read_text().startswith("It was")


RUN = Path(__file__).with_name("run_toys.py.txt").read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_can_be_resumed(number, tmp_path):
    """It leaves no process behind, and the next run grades only the rest."""
    names = [f"s{n}" for n in range(6)]
    marker = f"marker_{os.getpid()}_{int(number)}"
    slow = f"{RIGHT}\nimport time\n{marker} = 1\n"
    submissions = _class(tmp_path, dict.fromkeys(names, slow))
    path = tmp_path / "results.jsonl"
    words = [HERE, tmp_path / "class", tmp_path / "scratch-2", path]
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert run.stdout.readline() == "s0\n"
    assert run.stdout.readline() == "s1\n"
    run.send_signal(number)
    run.communicate(timeout=30)
    done = set(ResultsFile(path).stored)
    assert 2 <= len(done) < 6
    started: list[str] = []
    memory, note = ResultsFile(path), lambda submission: started.append(submission.name)
    reports = grade_all(submissions, TOY, SandboxConfig(), results=memory, on_start=note)
    assert sorted(report.name for report in reports) == names
    assert len(started) == 6 - len(done)
    assert not _children_of_sandboxes()


def _children_of_sandboxes() -> list[str]:
    """Command lines of submissions' processes whose grader is gone."""
    for _ in range(50):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if any(word.endswith(b"/boot.py") for word in words) and parent == "1":
                found.append(b" ".join(words).decode())
        if not found:
            return []
        time.sleep(0.1)
    return found


def _drawn(seed: str) -> list[Example]:
    numbers = random.Random(seed).sample(range(1000), 3)
    return [Example("add(2, 2)", 4), *(Example(f"add({n}, {n})", 2 * n) for n in numbers)]


def test_a_secret_gives_each_submission_its_own_examples(tmp_path):
    """They depend on the secret and the files, so grading can be repeated.

    Without a secret they are the same for everyone, and a table of the answers passes.
    """
    seeds: list[int] = []
    draws = Check("draws", run=lambda session: seeds.append(session.seed_for(7)))
    task = replace(TOY.tasks[0], checks=(Check("doubles", _drawn), draws))
    grading = replace(TOY, tasks=(task,))
    public = re.findall(r"add\((\d+),", str(_drawn("")))
    table = f"def add(a, b):\n    return {{int(n): 2 * int(n) for n in {public}}}.get(a)\n"
    wrong = "def add(a, b):\n    return 4 if a == 2 else {}\n"
    sources = {"ann": RIGHT, "bob": table, "cy": wrong.format(1), "dee": wrong.format(3)}
    class_ = _class(tmp_path, sources)

    def graded(secret: str) -> dict[str, GradeReport]:
        found = grade_all(class_, grading, SandboxConfig(jobs=2), secret=secret)
        return {report.name: report for report in found}

    without, first, second, other = map(graded, ("", "one", "one", "other"))
    assert {name for name, report in without.items() if report.lost} == {"cy", "dee"}
    assert {name for name, report in first.items() if report.lost} == {"bob", "cy", "dee"}
    shown = [
        [reports[name].tasks[0].checks[0].example for name in ("cy", "dee")]
        for reports in (without, first, second, other)
    ]
    assert shown[0][0] == shown[0][1]
    assert shown[1][0] != shown[1][1]
    assert shown[1] == shown[2]
    assert shown[1][0] != shown[3][0]
    assert [reports["ann"].seed == "" for reports in (without, first)] == [True, False]
    public_seeds, *drawn = [set(seeds[n : n + 4]) for n in range(0, 16, 4)]
    assert public_seeds == {7}
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 4
    keys = {result_key(class_[0], grading, secret) for secret in ("", "one", "other")}
    assert len(keys) == 3
