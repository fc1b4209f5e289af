"""Courses: what each is, where its parts are, and where it is found.

A course is a folder: ``about.toml``, ``tasks.py`` with its grading, and what students get in
``starter``. Five are here; others are installed, under the entry point ``py2048.courses``, or named
by their path.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import runpy
import sys
import tomllib
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from py2048.core.errors import CourseError, MissingExtraError, did_you_mean, os_errors_as, shown

if TYPE_CHECKING:
    from py2048.courses.grading import Grading

CALL_S = 2.0
"""Seconds of work that a call of a submission may take, unless the course gives it others."""

SUBMISSION_S = 60.0
"""Seconds by the clock that a submission may take in all, unless the teacher gives it others."""


@dataclass(frozen=True)
class Course:
    """A course: its `name` here, its `title`, what it asks for, and its kind of `screen`.

    Its `folder` is the Python package `package`. Students receive the starter and the files of the
    folder that are `given`.
    """

    name: str
    title: str
    asks: str
    screen: str
    folder: Path
    package: str
    given: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path, package: str = "") -> Course:
        """Return the course in a folder, which may be a `package` already.

        Raises:
            CourseError: for what is wrong in its ``about.toml``, in one line.
        """
        path = folder / "about.toml"
        if not path.is_file():
            raise CourseError(f"{str(path)!r} is missing: py2048 course new makes such a folder")
        data = {"given": [], **read_toml(path)}
        for key in data.keys() - _ABOUT.keys():
            raise CourseError(f"{path}: {key} is not a setting{did_you_mean(key, _ABOUT)}")
        for key, kind in _ABOUT.items():
            if not isinstance(data.get(key), kind):
                wanted = "a text in quotes" if kind is str else "a list of files"
                raise CourseError(f"{path}: {key} is to be {wanted}, not {shown(data.get(key))}")
        given = tuple(map(str, data.pop("given")))
        package = package or _package_at(folder.resolve())
        return cls(**data, folder=folder.resolve(), package=package, given=given)

    @property
    def starter(self) -> Path:
        """The folder of files that a student receives."""
        return self.folder / "starter"

    @property
    def proof(self) -> Path:
        """The folder of right solutions and mutants; only a checkout has those of our courses."""
        if self.package != f"{__name__}.{self.name}":
            return self.folder
        return Path(__file__).parents[3] / "tests" / "courses" / self.name

    @property
    def handed_out(self) -> list[Path]:
        """The files that a student receives; raise `CourseError` if one is missing."""
        given = [self.starter / "TASKS.md", *map(self.folder.joinpath, self.given)]
        for path in given:
            if not path.is_file():
                raise CourseError(f"{str(path)!r} is missing")
        files = {*given, *filter(Path.is_file, self.starter.iterdir())}
        return sorted(files, key=lambda path: path.name)

    def hand_out(self, folder: Path) -> list[Path]:
        """Copy what a student receives into `folder`, made if needed; return the files written.

        Raises:
            CourseError: if any of the files is there already; nothing at all is written then.
        """
        files = {path.name: path.read_bytes() for path in self.handed_out}
        return write_new(folder, files, "the starter")

    def grading(self) -> Grading:
        """Return the tasks with their marks and checks.

        Raises:
            CourseError: where ``tasks.py`` cannot be imported, in one line with the place.
        """
        return _grading_of(self)

    def play(self, arguments: Sequence[str] = ()) -> int:
        """Run the reference solution, as ``python -m`` would; return its exit status."""
        if not (self.folder / "__main__.py").is_file():
            raise CourseError(f"{self.name} has no program to play: it would be __main__.py")
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


_ABOUT = {"name": str, "title": str, "asks": str, "screen": str, "given": list}


def read_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file; raise `CourseError`, in one line, if it cannot be read."""
    with os_errors_as(CourseError, f"{str(path)!r} cannot be read"):
        data = path.read_bytes()
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: this is not TOML in UTF-8: {error}") from None


def write_new(folder: Path, files: Mapping[str, bytes], what: str) -> list[Path]:
    """Write files into a folder, made if needed; return their paths.

    Raises:
        CourseError: if any of them is there already; nothing at all is written then.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{str(folder)!r} is a file: name a folder for {what}")
    copies = {folder / name: data for name, data in files.items()}
    for target in copies:
        if target.exists() or target.is_symlink():
            raise CourseError(
                f"{str(target)!r} is there already and is not overwritten: name another folder"
            )
    with os_errors_as(CourseError, f"{what} cannot be written to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        for target, data in copies.items():
            target.parent.mkdir(exist_ok=True)
            with target.open("xb") as file:
                file.write(data)
    return list(copies)


def _package_at(folder: Path) -> str:
    """Make a package of a folder that is not one; return its name."""
    name = f"course_{str(folder).encode(errors='surrogateescape').hex()}"
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = module_from_spec(spec)
    return name


@functools.cache
def _grading_of(course: Course) -> Grading:
    path = course.folder / "tasks.py"
    if not path.is_file():
        raise CourseError(f"{str(path)!r} is missing")
    try:
        found = importlib.import_module(f"{course.package}.tasks").GRADING
        if found.course != course.name:
            raise CourseError(f"{path}: the course is called {course.name!r}, not {found.course!r}")
        variants = tuple(replace(one, folder=course.folder) for one in found.variants)
        grading: Grading = replace(found, folder=course.folder, variants=variants)
    except (CourseError, MissingExtraError):
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        place = f"{path}, line {lines[-1]}" if lines else path
        raise CourseError(f"{place}: {type(error).__name__}: {error}") from error
    return grading


COURSES: dict[str, Course] = {
    name: Course.read(Path(__file__).parent / name, f"{__name__}.{name}")
    for name in ("cits1401", "cmput175", "comp1127", "ist", "qsan_qarut")
}
"""The courses that come with py2048."""


def _installed() -> Mapping[str, str]:
    """Return the packages of courses from elsewhere, by the names of their entry points."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    return {entry.name: entry.value for entry in entry_points(group="py2048.courses")}


def course_names() -> list[str]:
    """Return the names of our courses, then of those installed."""
    return [*COURSES, *_installed()]


def get_course(name: str) -> Course:
    """Return the course called `name`, or the one in the folder of this path.

    Raises:
        CourseError: with the nearest name, or for what is wrong with the course.
    """
    if name in COURSES:
        return COURSES[name]
    packages = _installed()
    if name in packages:
        spec = None
        with suppress(ImportError):
            spec = find_spec(packages[name])
        if spec is None or not spec.submodule_search_locations:
            raise CourseError(f"the package of the course {name!r} is missing: {packages[name]}")
        return Course.read(Path(spec.submodule_search_locations[0]), packages[name])
    if Path(name).is_dir():
        return Course.read(Path(name))
    near = did_you_mean(name, course_names())
    raise CourseError(f"no course or folder is called {name!r}{near}")


class OneLineParser(argparse.ArgumentParser):
    """A parser of a program's arguments whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"{self.prog}: {message}\n")
