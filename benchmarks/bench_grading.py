"""Measure the cost of grading a class: wall-clock time, CPU time and memory per course.

A class consists of the correct solutions in ``tests/courses`` and an even selection of mutants. It
is graded with ``py2048 course check``.

``--against TREE`` grades the same class alternately with this and another checkout, and compares
the two:

    python benchmarks/bench_grading.py --submissions 30 --against ../py2048-before

CPU time covers all processes: grader, submissions and displays. It is sampled fifty times a second,
because the CPU time of killed processes cannot be read afterwards. Memory is the peak total of all
processes, with shared memory counted once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from py2048.courses import COURSES
from py2048.courses.proving import trials
from py2048.lab.commands.bench import load, processor
from py2048.presentation.options import print_json

ROOT = Path(__file__).resolve().parent.parent

OURS, THEIRS = "now", "before"
TICKS = os.sysconf("SC_CLK_TCK")
LOOK_S = 0.02
LOOKS_PER_MEMORY = 25
Figures = dict[str, float]


def write_class(course: str, count: int, folder: Path) -> None:
    """Write `count` submissions: correct solutions and an even selection of mutants."""
    _, *programs = trials(COURSES[course])
    for number in range(count):
        program = programs[number * len(programs) // count % len(programs)]
        place = folder / f"{number:03}-{program.name}"
        place.mkdir(parents=True)
        program.write(place)


def family(pid: int) -> Iterator[Path]:
    """Yield the ``/proc`` folders of a process and all its descendants."""
    place = Path(f"/proc/{pid}")
    yield place
    children: list[str] = []
    with suppress(OSError):  # the process has just ended
        for task in (place / "task").iterdir():
            children += (task / "children").read_text().split()
    for child in children:
        yield from family(int(child))


def processor_seconds(place: Path) -> float:
    """Return the CPU seconds of a process and of the children it has waited for."""
    try:
        fields = (place / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / TICKS


def memory(place: Path) -> float:
    """Return the proportional memory (PSS) of a process in MiB."""
    try:
        lines = (place / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def grade_class(tree: Path, course: str, folder: Path, jobs: int) -> Figures:
    """Grade a class with the py2048 in `tree`; return the cost."""
    words = [sys.executable, "-m", "py2048", "course", "check", course, str(folder), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as answer:
        grader = subprocess.Popen(
            [*words, "--jobs", str(jobs)],
            cwd=folder,
            env=environment,
            stdout=answer,
            stderr=subprocess.DEVNULL,
        )
        used = before = peak = 0.0
        looks = 0
        while grader.poll() is None:
            running = list(family(grader.pid))
            now = sum(map(processor_seconds, running))
            used += max(0.0, now - before)
            before = now
            if looks % LOOKS_PER_MEMORY == 0:
                peak = max(peak, sum(map(memory, running)))
            looks += 1
            time.sleep(LOOK_S)
        took = time.perf_counter() - began
        answer.seek(0)
        submissions = json.load(answer)["submissions"]
    count = len(submissions)
    return {
        "seconds a submission": took / count,
        "processor seconds a submission": used / count,
        "peak memory, MiB": peak,
        "slowest submission, s": max(one["seconds"] for one in submissions),
    }


def measure(course: str, options: argparse.Namespace) -> dict[str, Figures]:
    """Grade a class with each checkout in turn; return the minimum over all rounds."""
    trees = {OURS: ROOT} | ({THEIRS: options.against.resolve()} if options.against else {})
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="py2048-class-") as folder:
        write_class(course, options.submissions, Path(folder, "class"))
        for number in range(options.rounds):
            for name in sorted(trees, reverse=bool(number % 2)):
                figures = grade_class(trees[name], course, Path(folder, "class"), options.jobs)
                known = found.setdefault(name, figures)
                found[name] = {what: min(figures[what], known[what]) for what in figures}
    return found


def main(words: list[str]) -> None:
    """Measure the given courses, by default all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("courses", nargs="*", metavar="COURSE", choices=COURSES)
    parser.add_argument("--submissions", type=int, default=30, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    machine = {"processor": processor(), "cores": str(os.cpu_count()), "load": load()}
    machine["settings"] = f"{options.submissions} submissions a course, --jobs {options.jobs}"
    found = {course: measure(course, options) for course in options.courses or COURSES}
    if options.json:
        print_json({"machine": machine, "courses": found})
        return
    print("\n".join(f"{name}: {value}" for name, value in machine.items()))
    for course, trees in found.items():
        print(f"\n{course}")
        for what, figure in trees[OURS].items():
            line = f"  {what:<32}{figure:8.2f}"
            if before := trees.get(THEIRS, {}).get(what):
                line += f"{before:10.2f} before: {figure / before:.2f} of it"
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
