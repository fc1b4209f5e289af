"""The five course systems: what each is, and where its parts are.

``COURSES`` is the one list that the command line, the grader and the tests read.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from py2048.errors import CourseError, did_you_mean

if TYPE_CHECKING:
    from py2048.courses.grading import Grading


@dataclass(frozen=True)
class Course:
    """A course: its `name` here, its `title`, what it asks for, and its kind of `screen`.

    Students receive the starter and the files of the package that are `given`.
    """

    name: str
    title: str
    asks: str
    screen: str
    given: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """The package that holds the reference solution, the starter and the tasks."""
        return f"{__name__}.{self.name}"

    @property
    def starter(self) -> Path:
        """The folder of files that a student receives."""
        return Path(__file__).parent / self.name / "starter"

    @property
    def right(self) -> Path:
        """The folder of right solutions, which a checkout has and an installed package has not."""
        return Path(__file__).parents[3] / "tests" / "courses" / self.name / "right"

    @property
    def handed_out(self) -> list[Path]:
        """The files that a student receives."""
        files = [path for path in self.starter.iterdir() if path.is_file()]
        return sorted(
            [*files, *map(self.starter.parent.joinpath, self.given)], key=lambda path: path.name
        )

    def hand_out(self, folder: Path) -> list[Path]:
        """Copy what a student receives into `folder`, made if needed; return the files written.

        Raises:
            CourseError: if any of the files is there already; nothing at all is written then.
        """
        if folder.exists() and not folder.is_dir():
            raise CourseError(f"{str(folder)!r} is a file: name a folder for the starter")
        copies = {folder / path.name: path.read_bytes() for path in self.handed_out}
        for target in copies:
            if target.exists() or target.is_symlink():
                raise CourseError(
                    f"{str(target)!r} is there already and is not overwritten: name another folder"
                )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for target, data in copies.items():
                with target.open("xb") as file:
                    file.write(data)
        except OSError as error:
            raise CourseError(
                f"the starter cannot be written to {str(folder)!r}: {error.strerror}"
            ) from None
        return list(copies)

    def grading(self) -> Grading:
        """The tasks with their marks and checks."""
        found: Grading = importlib.import_module(f"{self.package}.tasks").GRADING
        return found

    def play(self, arguments: Sequence[str] = ()) -> int:
        """Run the reference solution, as ``python -m`` would; return its exit status."""
        before = sys.argv
        sys.argv = [self.package, *arguments]
        # runpy warns of a program that was imported before.
        sys.modules.pop(f"{self.package}.__main__", None)
        try:
            runpy.run_module(self.package, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            sys.argv = before
        return 0


COURSES: dict[str, Course] = {
    course.name: course
    for course in (
        Course(
            "cits1401",
            "CITS1401/4406 Project 2",
            "a 5x5 game with clicks on the border and a computer player",
            "window",
        ),
        Course(
            "cmput175",
            "CMPUT 175 assignment: 2048",
            "the classes Grid and Game, in six tasks",
            "terminal",
            given=("tests.py",),
        ),
        Course(
            "comp1127",
            "COMP1127 Project 2048 (Shanice's game)",
            "the functions behind a given window, in 21 problems",
            "window",
            given=("gui.py", "gui_window.py", "../pictures.py"),
        ),
        Course(
            "ist",
            "IST Foundations of Programming, project 2: 2048",
            "the data types coordinate and board, and a text game",
            "terminal",
        ),
        Course(
            "qsan_qarut",
            "Qsan Qarut",
            "an N x N desktop game as model, view and controller",
            "window",
        ),
    )
}


def get_course(name: str) -> Course:
    """The course called `name`; raise `CourseError` with the nearest name otherwise."""
    try:
        return COURSES[name]
    except KeyError:
        raise CourseError(f"no course is called {name!r}{did_you_mean(name, COURSES)}") from None


class OneLineParser(argparse.ArgumentParser):
    """A parser of a program's arguments whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"{self.prog}: {message}\n")
