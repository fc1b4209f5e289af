"""Find and load courses.

A course is a folder with ``about.toml``, ``tasks.py`` (the tasks and their checks) and ``starter``
(the files that students receive). Five courses come with py2048. Other courses can be installed as
packages with an entry point in the group ``py2048.courses``, or selected by the path of their
folder.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import runpy
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import msgspec

from py2048.core.data import convert, read_toml
from py2048.core.errors import CourseError, MissingExtraError, os_errors_as, unknown

if TYPE_CHECKING:
    from py2048.courses.grading import Grading


CALL_S = 1.0
"""Default CPU time limit of a single call, in seconds."""

SUBMISSION_S = 600.0
"""Default wall-clock limit for checking a whole submission, in seconds."""


class Course(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A course's description, and the location of its files.

    Attributes:
        name: Identifier, such as ``cits1401``.
        title: Title to display.
        asks: Short description of the program that students write.
        screen: ``terminal`` or ``window``.
        folder: Folder that holds ``about.toml``.
        package: Import name of the folder.
        given: Files handed out along with the starter code, as paths relative to `folder`.
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
        """Read a course from its folder. `package` is the folder's import name, if known.

        Raises:
            CourseError: If ``about.toml`` is missing or invalid.
        """
        path = folder / "about.toml"
        if not path.is_file():
            raise CourseError(f"{str(path)!r} is missing: create a course with py2048 course new")
        folder = folder.resolve()
        places = {"folder": folder, "package": package or _package_at(folder)}
        return convert(read_toml(path, CourseError) | places, cls, CourseError, path)

    @property
    def starter(self) -> Path:
        """Folder with the starter files."""
        return self.folder / "starter"

    @property
    def proof(self) -> Path:
        """Folder with correct solutions and mutants.

        For the built-in courses, this folder exists only in a source checkout.
        """
        if self.package != f"{__name__}.{self.name}":
            return self.folder
        return Path(__file__).parents[3] / "tests" / "courses" / self.name

    @property
    def handout_files(self) -> list[Path]:
        """Files that students receive, sorted by name.

        Raises:
            CourseError: If one of the files is missing.
        """
        given = [self.starter / "TASKS.md", *map(self.folder.joinpath, self.given)]
        for path in given:
            if not path.is_file():
                raise CourseError(f"{str(path)!r} is missing")
        files = {*given, *filter(Path.is_file, self.starter.iterdir())}
        return sorted(files, key=lambda path: path.name)

    def hand_out(self, folder: Path) -> list[Path]:
        """Copy the files that students receive into `folder`, and return their paths.

        Raises:
            CourseError: If any of the files already exists. In this case nothing is written.
        """
        files = {path.name: path.read_bytes() for path in self.handout_files}
        return write_new(folder, files, "the starter")

    def grading(self) -> Grading:
        """Import the course's tasks with their marks and checks.

        Raises:
            CourseError: If ``tasks.py`` cannot be imported. The message names the line.
        """
        return _grading_of(self)

    def play(self, arguments: Sequence[str] = ()) -> int:
        """Run the reference solution as ``python -m`` would, and return its exit status."""
        if not (self.folder / "__main__.py").is_file():
            raise CourseError(f"{self.name} has no __main__.py, so it cannot be played")
        before = sys.argv
        sys.argv = [self.package, *arguments]
        # runpy warns if the module has already been imported
        sys.modules.pop(f"{self.package}.__main__", None)
        try:
            runpy.run_module(self.package, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            sys.argv = before
        return 0


def write_new(folder: Path, files: Mapping[str, bytes], what: str) -> list[Path]:
    """Write new files into a folder, which is created if needed. Return the files' paths.

    Raises:
        CourseError: If any of the files already exists. In this case nothing is written.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{str(folder)!r} is a file: choose a folder for {what}")
    copies = {folder / name: data for name, data in files.items()}
    for target in copies:
        if target.exists() or target.is_symlink():
            raise CourseError(f"{str(target)!r} already exists: choose another folder")
    with os_errors_as(CourseError, f"{what} cannot be written to {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        for target, data in copies.items():
            target.parent.mkdir(exist_ok=True)
            with target.open("xb") as file:
                file.write(data)
    return list(copies)


def _package_at(folder: Path) -> str:
    """Register a folder as an importable package, and return the package's name."""
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
            raise CourseError(f"the course is {course.name!r} in about.toml, not {found.course!r}")
        variants = tuple(replace(one, folder=course.folder) for one in found.variants)
        grading: Grading = replace(found, folder=course.folder, variants=variants)
    except MissingExtraError:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(path)]
        place = f"{path}, line {lines[-1]}" if lines else path
        kind = "" if isinstance(error, CourseError) else f"{type(error).__name__}: "
        raise CourseError(f"{place}: {kind}{error}") from error
    return grading


COURSES: dict[str, Course] = {
    name: Course.read(Path(__file__).parent / name, f"{__name__}.{name}")
    for name in ("cits1401", "cmput175", "comp1127", "ist", "qsan_qarut")
}
"""Built-in courses by name."""


def _installed() -> Mapping[str, str]:
    """Return the package names of installed third-party courses, by entry point name."""
    from importlib.metadata import entry_points  # slow to import and rarely needed

    return {entry.name: entry.value for entry in entry_points(group="py2048.courses")}


def course_names() -> list[str]:
    """Return the names of all courses: built-in courses, then installed third-party courses."""
    return [*COURSES, *_installed()]


def get_course(name: str) -> Course:
    """Return the course with the given name, or the course in the given folder.

    Raises:
        CourseError: If the course is invalid or unknown. For unknown names, the error message
            suggests the closest match.
    """
    if name in COURSES:
        return COURSES[name]
    packages = _installed()
    if name in packages:
        spec = None
        with suppress(ImportError):
            spec = find_spec(packages[name])
        if spec is None or not spec.submodule_search_locations:
            raise CourseError(
                f"the course {name!r} is registered, but its package {packages[name]} is missing"
            )
        return Course.read(Path(spec.submodule_search_locations[0]), packages[name])
    if Path(name).is_dir():
        return Course.read(Path(name))
    raise CourseError(f"there is no course or folder {unknown(name, course_names())}")


class OneLineParser(argparse.ArgumentParser):
    """Argument parser that reports errors on a single line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2."""
        self.exit(2, f"{self.prog}: {message}\n")
