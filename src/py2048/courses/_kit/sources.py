"""Reading what students hand in: which file is the program, in which encoding it is written."""

from __future__ import annotations

import codecs
import hashlib
import io
import re
import shutil
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from py2048.courses._kit import python2
from py2048.courses._kit.tasks import Grading

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LEFT_OUT = {"__pycache__", "__MACOSX", ".git", ".idea", ".vscode", ".venv", "venv"}
LARGEST = 64 << 20
MOST_FILES = 2000
ADVICE = "--from-python2 converts it before it is graded"


class Unreadable(Exception):  # noqa: N818 - a finding about a submission
    """A submission cannot be graded at all; the message says why, for the student."""


@dataclass
class Workspace:
    """A prepared copy of one submission: every source in UTF-8, the program under its name.

    `file` has the student's own name for the program, `grading` is the variant of the course's
    that suits it. `way` is how the program has to be loaded (see ``agent/loading.py``), `skip`
    the lines of the statements to leave out; `notes` are lines for the student about how it was
    read, and `advice` is what to do if it cannot be loaded.
    """

    folder: Path
    file: str
    grading: Grading
    way: str = "whole"
    skip: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)
    advice: str = ""


def decode_source(data: bytes) -> tuple[str, str]:
    """The text of a source file, and a note when its encoding had to be guessed."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            note = "" if encoding == "utf-8-sig" else f"is written in {encoding.upper()}"
            return data.decode(encoding, errors="replace"), note
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding), ""
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("cp1252", errors="replace"), (
            "is not written in UTF-8 and was read as Latin-1; Python itself would refuse it"
        )


def to_utf8(data: bytes) -> tuple[bytes, str]:
    """A source file in UTF-8 with Unix line ends and without coding cookie, and a note."""
    text, note = decode_source(data)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").split("\n")
    for number, line in enumerate(lines[:2]):
        lines[number] = re.sub(r"^([ \t\f]*#.*?)coding[:=]", r"\1coding ", line)
    return "\n".join(lines).encode("utf-8", errors="replace"), note


def files_of(folder: Path) -> list[Path]:
    """The files of a submission, without links, tools' folders and hidden files."""
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part in LEFT_OUT or part.startswith((".", "._")) for part in parts)
        if not hidden and path.is_file() and not path.is_symlink():
            found.append(path)
    return found


def digest_of(paths: list[Path], root: Path) -> str:
    """A digest of the names and contents of some files."""
    hasher = hashlib.sha256()
    for path in paths:
        hasher.update(str(path.relative_to(root)).encode() + b"\0")
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    return hasher.hexdigest()


def defined_in(text: str, grading: Grading) -> int:
    """How many of the names that a program defines are defined in `text`."""
    return sum(
        bool(re.search(rf"^\s*(def|class)\s+{name}\b|^{name}\s*=", text, re.MULTILINE))
        for name in grading.expects
    )


def variant_for(text: str, grading: Grading) -> Grading:
    """The variant of a course's grading whose names a program defines most of."""
    return max((grading, *grading.variants), key=lambda one: defined_in(text, one))


def score_of(path: Path, grading: Grading) -> tuple[int, int, int]:
    """How much a file looks like the program: its name, what it defines, its depth."""
    text = decode_source(path.read_bytes())[0]
    defined = defined_in(text, variant_for(text, grading))
    named = path.name.lower() in {name.lower() for name in grading.files}
    return 2 * defined + named, int(path.name == grading.files[0]), -len(path.parts)


def find_program(paths: list[Path], grading: Grading) -> Path:
    """The file to grade among those of a submission."""
    given = {path.name for path in grading.given_files}
    sources = [p for p in paths if p.suffix.lower() == ".py" and p.name not in given]
    if not sources:
        raise Unreadable(f"there is no Python file; {grading.files[0]} was expected")
    return max(sources, key=lambda path: score_of(path, grading))


def prepare(
    paths: list[Path], grading: Grading, folder: Path, *, from_python2: bool = False
) -> Workspace:
    """Copy a submission's files into `folder`, ready to run; raise `Unreadable`.

    The program is there under the student's name for it, and under the course's for other files
    that import it. With `from_python2`, sources that only Python 2 understands are converted.
    """
    size = sum(path.stat().st_size for path in paths)
    if size > LARGEST or len(paths) > MOST_FILES:
        raise Unreadable(f"it is too large: {len(paths)} files, {size >> 20} MiB")
    program = find_program(paths, grading)
    text = decode_source(program.read_bytes())[0]
    work = Workspace(folder, program.name, variant_for(text, grading))
    if program.name not in grading.files:
        work.notes.append(f"{program.name} was taken for {grading.files[0]}")
    for path in paths:
        if path.parent.is_relative_to(program.parent):
            _copy(path, folder / path.relative_to(program.parent), work, from_python2)
    if program.name != f"{grading.module}.py":
        shutil.copyfile(folder / program.name, folder / f"{grading.module}.py")
    work.notes.extend(f"{program.name} {remark}" for remark in grading.remarks(text))
    return work


def _copy(path: Path, target: Path, work: Workspace, from_python2: bool) -> None:
    """Copy one file, sources as UTF-8 and for Python 3."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() != ".py":
        shutil.copyfile(path, target)
        return
    data, note = to_utf8(path.read_bytes())
    if note:
        work.notes.append(f"{path.name} {note}")
    text = data.decode()
    target.write_text(_for_python3(text, path.name, work, from_python2), "utf-8")


def _for_python3(text: str, name: str, work: Workspace, from_python2: bool) -> str:
    """The text of a source; if it is for Python 2, converted when that is asked for."""
    found = python2.signs(text)
    if not from_python2:
        if found:
            work.notes.append(f"{name} is written for Python 2: {', '.join(found)}; {ADVICE}")
            work.advice = ADVICE
        return text
    if not found and not python2.mixes_tabs(text):
        return text
    try:
        after = python2.convert(text)
    except ValueError as error:
        raise Unreadable(f"{name}: {error}") from None
    lines = list(python2.changed_lines(text, after))
    if lines:
        work.notes.append(f"{name} was converted from Python 2: {python2.places(lines)}")
    return after
