"""Finding the submissions in what a teacher has: a file, a folder, a ZIP, a class of them.

The rules, tried in this order on a folder: a folder that holds the course's program, or one
program under another name and files that go with it, is one submission; otherwise each folder,
Python file and ZIP in it is one (a folder that holds several of those is looked into in the same
way). Files that Canvas has put in front of each other's names belong together. Names are kept as
the download gave them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from py2048.courses._kit.archives import BadArchive, unpack
from py2048.courses._kit.sources import LEFT_OUT, decode_source, files_of, score_of
from py2048.courses._kit.tasks import Grading
from py2048.errors import CourseError

DEEPEST = 4  # ZIPs in ZIPs
TESTS = re.compile(r"(?:^|[^a-z])tests?(?:$|[^a-z])", re.IGNORECASE)
CANVAS = re.compile(r"^(?P<who>[^_]+(?:_LATE)?_\d+)_\d+_(?P<file>.+)$")


@dataclass(frozen=True)
class Submission:
    """One student's work: its name, its files under `root`, and why it cannot be graded, if so.

    With `from_python2` a program for Python 2 is converted before it is graded.
    """

    name: str
    root: Path
    files: tuple[Path, ...] = ()
    problem: str = ""
    from_python2: bool = False


def collect(paths: Sequence[Path], grading: Grading, scratch: Path) -> list[Submission]:
    """All submissions in `paths`, in order of name; ZIPs are unpacked under `scratch`.

    Raises `CourseError` for a path that does not exist or holds nothing to grade.
    """
    found: list[Submission] = []
    for path in paths:
        if not path.exists():
            raise CourseError(f"there is no file or folder {str(path)!r}")
        here = list(Collector(grading, scratch / str(len(found))).at(path))
        if not here:
            raise CourseError(f"{str(path)!r} holds no Python file, no folder and no ZIP to grade")
        found.extend(here)
    return _named_apart(found)


def _named_apart(found: list[Submission]) -> list[Submission]:
    """Give submissions of the same name different ones."""
    seen: dict[str, int] = defaultdict(int)
    apart = []
    for submission in found:
        seen[submission.name] += 1
        count = seen[submission.name]
        name = submission.name if count == 1 else f"{submission.name} ({count})"
        apart.append(Submission(name, submission.root, submission.files, submission.problem))
    return apart


class Collector:
    """Looks through one path given by the teacher."""

    def __init__(self, grading: Grading, scratch: Path) -> None:
        self.grading = grading
        self.names = {name.lower() for name in grading.files}
        self.scratch = scratch
        self.unpacked = 0

    def at(self, path: Path) -> Iterator[Submission]:
        """The submissions at a path on the command line."""
        if path.suffix.lower() == ".zip":
            folder = self._unpack(path)
            yield from self.inside(folder, path.stem, "", 1)
        elif path.is_dir():
            bottom = _descend(path)
            name = "/".join([path.resolve().name, *bottom.relative_to(path).parts])
            yield from self.inside(bottom, name, "", 0)
        elif path.suffix.lower() == ".py":
            yield Submission(path.stem, path.parent, (path,))
        else:
            raise CourseError(f"{str(path)!r} is no Python file, no folder and no ZIP")

    def _unpack(self, archive: Path) -> Path:
        """Unpack a ZIP that the teacher named."""
        self.unpacked += 1
        folder = self.scratch / f"zip-{self.unpacked}"
        try:
            unpack(archive, folder)
        except BadArchive as error:
            raise CourseError(str(error)) from None
        return folder

    def inside(self, folder: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """The submissions in a folder called `name`, itself in the class folder `above`."""
        folder = _descend(folder)
        if self._is_one(folder):
            yield Submission(above + name, folder, tuple(files_of(folder)))
            return
        entries = sorted(path for path in folder.iterdir() if not _skipped(path))
        yield from self._loose([path for path in entries if path.suffix.lower() == ".py"], above)
        for path in entries:
            if path.is_dir():
                yield from self._student(path, path.name, above, depth)
            elif path.suffix.lower() == ".zip":
                yield from self._archive(path, above, depth)

    def _loose(self, sources: list[Path], above: str) -> Iterator[Submission]:
        """Python files side by side: each is a submission, but Canvas's belong together."""
        groups: dict[str, list[Path]] = defaultdict(list)
        for path in sources:
            match = CANVAS.match(path.name)
            groups[match["who"] if match else path.stem].append(path)
        for name, paths in groups.items():
            if len(paths) == 1 and not CANVAS.match(paths[0].name):
                yield Submission(above + name, paths[0].parent, (paths[0],))
            else:
                yield self._renamed(above + name, paths)

    def _renamed(self, name: str, paths: list[Path]) -> Submission:
        """Canvas's files of one student under the names the student gave them."""
        self.unpacked += 1
        folder = self.scratch / f"canvas-{self.unpacked}"
        folder.mkdir(parents=True)
        for path in paths:
            match = CANVAS.match(path.name)
            plain = match["file"] if match else path.name
            (folder / re.sub(r"-\d+(?=\.py$)", "", plain)).write_bytes(path.read_bytes())
        return Submission(name, folder, tuple(files_of(folder)))

    def _student(self, folder: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """A folder in a class folder: a student's, or a class of its own."""
        holders = {path.parent for path in files_of(folder) if path.name.lower() in self.names}
        sources = [path for path in files_of(folder) if path.suffix.lower() == ".py"]
        archives = [path for path in files_of(folder) if path.suffix.lower() == ".zip"]
        if len(_apart(holders)) > 1:
            yield from self.inside(folder, name, f"{above}{name}/", depth)
        elif sources or not archives:
            yield Submission(above + name, folder, tuple(files_of(folder)))
        elif len(archives) == 1:
            yield from self._archive(archives[0], above, depth, name)
        else:
            yield from self.inside(folder, name, f"{above}{name}/", depth)

    def _archive(
        self, archive: Path, above: str, depth: int, name: str = ""
    ) -> Iterator[Submission]:
        """A ZIP in a class folder: a student's; what is wrong with it is that student's alone."""
        name = name or archive.stem
        self.unpacked += 1
        folder = self.scratch / f"zip-{self.unpacked}"
        try:
            if depth >= DEEPEST:
                raise BadArchive("too many ZIPs inside each other")
            unpack(archive, folder)
        except BadArchive as error:
            yield Submission(above + name, archive.parent, (), str(error))
            return
        yield from self._student(_descend(folder), name, above, depth + 1)

    def _is_one(self, folder: Path) -> bool:
        """Whether the course's program lies in this folder itself, maybe under another name."""
        files = [path for path in folder.iterdir() if path.is_file() and not _skipped(path)]
        if any(path.name.lower() in self.names for path in files):
            return True
        sources = [path for path in files if path.suffix.lower() == ".py"]
        programs = [path for path in sources if score_of(path, self.grading)[0] >= 2]
        return len(sources) > 1 and len(programs) == 1 and _go_together(programs[0], sources)


def _go_together(program: Path, sources: Sequence[Path]) -> bool:
    """Whether all other files test the program, import it or are imported by it."""

    def imports(path: Path, module: str) -> bool:
        text = decode_source(path.read_bytes())[0]
        return bool(re.search(rf"^\s*(import|from)\b.*\b{re.escape(module)}\b", text, re.MULTILINE))

    return all(
        path == program
        or TESTS.search(path.stem)
        or imports(path, program.stem)
        or imports(program, path.stem)
        for path in sources
    )


def _apart(folders: set[Path]) -> list[Path]:
    """Those of `folders` that lie in none of the others."""
    return [one for one in folders if not any(other in one.parents for other in folders)]


def _skipped(path: Path) -> bool:
    """Whether a name is a tool's and no student's."""
    return path.name in LEFT_OUT or path.name.startswith(".") or path.is_symlink()


def _descend(folder: Path) -> Path:
    """The first folder on the way down that holds more than one other folder."""
    while True:
        entries = [path for path in folder.iterdir() if not _skipped(path)]
        if len(entries) != 1 or not entries[0].is_dir():
            return folder
        folder = entries[0]
