"""Find and read submissions, given as a file, a folder, a ZIP, or a folder of a whole class.

A folder is a single submission if it contains the course's program. The program may have another
name if the folder also contains files that belong to it. In all other folders, each subfolder,
Python file and ZIP is a submission, and nested class folders are searched recursively. Files that
Canvas or Moodle attribute to the same student form one submission. ZIP files are untrusted: paths
must stay inside the folder, and the unpacked size is limited.

Notebooks, text that was typed into Moodle, and programs named ``.py.txt`` are converted to Python
files.

Python 2 programs are recognised by their text, and converted by fissix, which parses programs and
never runs them. Fissix is a maintained copy of lib2to3, a module that Python 3.13 removed.
"""

from __future__ import annotations

import ast
import codecs
import difflib
import html
import io
import json
import os
import re
import shutil
import stat
import time
import tokenize
import zipfile
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import count, pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from py2048.core.errors import CourseError, MissingExtraError, extra_for
from py2048.core.installation import install_line
from py2048.core.language import _, ngettext, use_language
from py2048.courses import COURSES
from py2048.courses.grading.tasks import Grading, printable

MAX_ARCHIVE_BYTES, MAX_ARCHIVE_FILES = 256 << 20, 20_000
MAX_BYTES, MAX_FILES = 64 << 20, 2000  # Limits per submission.
MAX_DEPTH = 4  # Maximum nesting of ZIPs.
MAX_CHARACTERS = 200_000  # Longer programs are not searched for Python 2 code.
MAX_LISTED = 4
IGNORED_NAMES = {"__pycache__", "__MACOSX", ".git", ".idea", ".vscode", ".venv", "venv"}
ADVICE = "--from-python2 converts it before it is graded"
TESTS = re.compile(r"(?:^|[^a-z])tests?(?:$|[^a-z])", re.IGNORECASE)
IMPORT_LINE = re.compile(r"^[ \t]*(?:import|from)\b.*", re.MULTILINE)
WINDOW = re.compile(r"\b(?:mainloop|Tk|GraphWin)\s*\(")
BLOCK = re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)
STARTS = re.compile(r"if\b.*__name__|while\b|.*\bmainloop\(|\w[\w.]*\(")
DEFINES = re.compile(r"(?:(?:def|class)\s+)?(\w+)\s*[(:=]")
USED = re.compile(r"\b(\w+)\s*[(.]")
SIGNATURE = re.compile(r"\b(\w+)\(([a-zA-Z_]\w*(?:, [a-zA-Z_]\w*)+)\)")
DEFINED = re.compile(r"^[ \t]*def[ \t]+(\w+)[ \t]*\(([^()]*)\)", re.MULTILINE)
ZELLE = "graphics.py"
IMPORTS_ZELLE = re.compile(r"^[ \t]*(?:from|import)[ \t]+graphics\b", re.MULTILINE)
IMPORTED = re.compile(r"^[ \t]*from[ \t]+(\w+(?:\.\w+)*)[ \t]+import\b", re.MULTILINE)
CANVAS = re.compile(
    r"^(?P<who>(?P<name>[^_]+)(?:_LATE)?_(?P<id>\d+))_(?:\d+_(?P<file>.+)|text\.html)$"
)
MOODLE = re.compile(
    r"^(?P<who>(?P<name>.+)_(?P<id>\d+))_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)$"
)
ONLINE_TEXT = "onlinetext.html"
PROGRAMS = (".py", ".py.txt", ".ipynb")
TAG = re.compile(r"""<[/!]?[a-zA-Z-](?:"[^"]*"|'[^']*'|[^'">])*>""")
MAGIC = re.compile(
    r"^([ \t]*)((?:\w[\w, ]*=[ \t]*)?)(?:%%?[a-zA-Z].*|!.*|\?\S.*|[\w.]+\?{1,2})$", re.MULTILINE
)


class BadArchive(CourseError):  # noqa: N818 - a finding about a file
    """Raised if a ZIP file cannot or must not be unpacked. The message gives the reason."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a ZIP file into a new folder.

    Backslashes in names count as path separators, because some Windows programs write them. The
    size limit applies to the number of unpacked bytes, because the file may declare wrong sizes.

    Raises:
        BadArchive: If the file is damaged, too large, or contains unsafe paths.
    """
    folder.mkdir(parents=True)
    left = MAX_ARCHIVE_BYTES
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [m for m in opened.infolist() if not m.filename.endswith(("/", "\\"))]
            if len(members) > MAX_ARCHIVE_FILES:
                raise BadArchive(f"{archive.name} holds {len(members)} files")
            for member, target in [(member, folder / _safe_path(member)) for member in members]:
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(member) as source, target.open("xb") as file:
                    while part := source.read(1 << 16):
                        left -= len(part)
                        if left < 0:
                            size = f"{MAX_ARCHIVE_BYTES >> 20} MiB"
                            raise BadArchive(f"{archive.name} unpacks to more than {size}")
                        file.write(part)
                stamp = time.mktime((*member.date_time, 0, 0, -1))
                os.utime(target, (stamp, stamp))
    except BadArchive:
        raise
    except Exception as error:  # noqa: BLE001 - zipfile and its decompressors raise many kinds
        reason = str(error) or type(error).__name__
        raise BadArchive(f"{archive.name} is not a readable ZIP file: {reason}") from None


def _safe_path(member: zipfile.ZipInfo) -> Path:
    """Return the relative path of a member. Raise `BadArchive` if the path is unsafe."""
    name = member.filename.replace("\\", "/")
    path = PurePosixPath(name)
    outside = path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive
    if outside or not path.parts or "\0" in name:
        raise BadArchive(f"{member.filename!r} is outside the folder")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise BadArchive(f"{member.filename!r} is a link")
    return Path(*path.parts)


class Unreadable(Exception):  # noqa: N818 - a finding about a submission
    """Raised if a submission cannot be graded. The message tells the student why."""


@dataclass
class PreparedSubmission:
    """A copy of a submission that is ready to run, with all source files in UTF-8.

    Attributes:
        folder: Folder of the copy.
        file: The student's own file name for the program.
        grading: The variant of the course's grading that matches the program's language.
        given: Folder of the files handed out by the course.
        quiet: Load only definitions (see ``agent/host.py``).
        skip: Line numbers of the statements to skip.
        notes: Remarks for the student about how the submission was read.
        advice: Advice for the student if the program cannot be loaded.
        exchanged: Describes each function whose parameters are swapped, by name.
    """

    folder: Path
    file: str
    grading: Grading
    given: Path | None = None
    quiet: bool = False
    skip: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)
    advice: str = ""
    exchanged: dict[str, str] = field(default_factory=dict)


def decode_source(data: bytes) -> tuple[str, str]:
    """Decode a source file. Return the text, and a note if the file's encoding was guessed."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), "is written in UTF-16"
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding), ""
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("cp1252", errors="replace"), (
            _("is not in UTF-8 and was read as Latin-1; Python would refuse to run it")
        )


def text_of(path: Path) -> str:
    """Return the text of a source file, or "" if the file cannot be read."""
    try:
        return decode_source(path.read_bytes())[0]
    except OSError:
        return ""


def to_utf8(data: bytes) -> tuple[bytes, str]:
    """Convert a source file to UTF-8 and Unix line endings.

    Returns:
        The converted file, and a note for the student if the encoding was guessed.
    """
    text, note = decode_source(data)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").split("\n")
    for number, line in enumerate(lines[:2]):
        lines[number] = re.sub(r"^([ \t\f]*#.*?)coding[:=]", r"\1coding ", line)
    return "\n".join(lines).encode("utf-8", errors="replace"), note


def files_of(folder: Path) -> list[Path]:
    """Return a submission's files, except links, hidden files, and folders such as ``venv``."""
    found = []
    for path in sorted(folder.rglob("*")):
        hidden = any(map(_is_hidden, path.relative_to(folder).parts))
        if not hidden and path.is_file() and not path.is_symlink():
            found.append(path)
    return found


def defined_in(text: str, grading: Grading) -> int:
    """Count the expected names that are defined in a program's text."""
    patterns = (rf"(?m)^\s*(def|class)\s+{name}\b|^{name}\s*=" for name in grading.expects)
    return sum(bool(re.search(pattern, text)) for pattern in patterns)


def variant_for(text: str, grading: Grading) -> Grading:
    """Return the language variant for a program, based on the names that the program defines."""
    return max((grading, *grading.variants), key=lambda one: defined_in(text, one))


def defined_share(text: str, grading: Grading) -> float:
    """Return what share of the expected names a program defines.

    In a course without expected names, the share is 1 for programs that open a window, otherwise 0.
    """
    if not grading.expects:
        return float(bool(WINDOW.search(text)))
    return max(defined_in(text, one) / len(one.expects) for one in (grading, *grading.variants))


def other_course(program: Path, grading: Grading) -> str:
    """Return the name of another course if the program clearly belongs to it, or ""."""
    text = text_with_imports(program)
    own = defined_share(text, grading)
    if own > 0.5:
        return ""
    gradings = [course.grading() for course in COURSES.values()]
    other = max((one for one in gradings if one.expects), key=lambda one: defined_share(text, one))
    return other.course if defined_share(text, other) > max(own, 0.5) else ""


def swapped_parameters(text: str, grading: Grading) -> dict[str, str]:
    """Describe the functions that have the required parameters in a different order."""
    asked_text = grading.words(" ".join(f"{task.title} {task.asked}" for task in grading.tasks))
    asked = {name: _parameters(listed) for name, listed in SIGNATURE.findall(asked_text)}
    found = {name: _parameters(listed) for name, listed in DEFINED.findall(text)}
    return {
        name: _("{name} takes ({ours}) but is called as {name}({asked})").format(
            name=name, ours=", ".join(ours), asked=", ".join(asked[name])
        )
        for name, ours in found.items()
        if name in asked and ours != asked[name] and sorted(ours) == sorted(asked[name])
    }


def _parameters(listed: str) -> list[str]:
    names = [re.split("[:=]", part)[0].strip() for part in listed.split(",")]
    return [name for name in names if name != "self"]


def text_with_imports(program: Path) -> str:
    """Return the text of a program and of all local files that it imports names from."""
    texts: dict[Path, str] = {}
    left = [program]
    while left:
        path = left.pop()
        if path not in texts and path.is_file() and not path.is_symlink():
            texts[path] = text_of(path)
            modules = [name.split(".") for name in IMPORTED.findall(texts[path])]
            left += [program.parent.joinpath(*parts).with_suffix(".py") for parts in modules]
    return "\n".join(texts.values())


def imported_names(path: Path) -> set[str]:
    """Return all words on the import lines of a file, including the names of modules."""
    return set(re.findall(r"\w+", " ".join(IMPORT_LINE.findall(text_of(path)))))


def names_in_use(sources: Iterable[Path]) -> set[str]:
    """Return the names that non-test files import from other files."""
    others = [imported_names(path) - {path.stem} for path in sources if not _is_test(path)]
    return set[str]().union(*others)


def score_of(path: Path, grading: Grading, in_use: Container[str]) -> tuple[int, int, int, int]:
    """Rate how likely a file is to be the program. The result is a key for `max`.

    Files are compared by their contents, then by name and depth. Names that are imported from local
    files count as defined.
    """
    named = path.name.lower() in {name.lower() for name in grading.files}
    if grading.expects:
        own = _defined_by_variant(text_of(path), grading)
        text = text_with_imports(path) if named else text_of(path)
        first = 2 * _defined_by_variant(text, grading) + named
    else:
        own = _opens_window(path)
        first = _main_score(path, in_use, named=named)
    return first, own, int(path.name == grading.files[0]), -len(path.parts)


def _defined_by_variant(text: str, grading: Grading) -> int:
    return defined_in(text, variant_for(text, grading))


def _main_score(path: Path, in_use: Container[str], *, named: bool) -> int:
    """Return a score for choosing the main file in courses without required functions.

    A file with a score below 2 is never the main file. The course's file name and code that opens a
    window raise the score. Test files and files imported by others qualify only with both.
    """
    opens = _opens_window(path)
    if path.stem not in in_use and not _is_test(path):
        return 2 + 3 * named + 2 * (opens and not TESTS.search(path.stem))
    return 3 * (named and _opens_window_when_run(path))


def _opens_window_when_run(path: Path) -> bool:
    """Return whether running a file opens a window, directly or through its own functions."""
    blocks = BLOCK.split(text_of(path))
    defined: dict[str, list[str]] = defaultdict(list)
    for block in blocks:
        if found := DEFINES.match(block):
            defined[found[1]].append(block)
    left = [block for block in blocks if STARTS.match(block)]
    while left:
        block = left.pop()
        if WINDOW.search(block):
            return True
        left += [part for name in USED.findall(block) for part in defined.pop(name, ())]
    return False


def _opens_window(path: Path) -> bool:
    return bool(WINDOW.search(text_of(path)))


def _is_test(path: Path) -> bool:
    return bool(TESTS.search(path.stem)) and not _opens_window(path)


def find_program(paths: Sequence[Path], grading: Grading) -> Path:
    """Return the submission's file to grade."""
    given = {path.name for path in grading.given_files}
    sources = [p for p in paths if p.suffix.lower() == ".py" and p.name not in given]
    if not sources:
        names = [path.name for path in paths]
        listed = f" ({', '.join(names[:MAX_LISTED])})" if names else ""
        words = _("there is no Python file{listed}: hand in {file}")
        raise Unreadable(words.format(listed=listed, file=grading.files[0]))
    in_use = names_in_use(sources)
    own = [path for path in sources if path.name != ZELLE] or sources
    return max(own, key=lambda path: score_of(path, grading, in_use))


def rival_notes(program: Path, paths: Sequence[Path], grading: Grading) -> list[str]:
    """Explain which other files were candidates for the program, and why they were not graded."""
    given = {ZELLE, *(path.name for path in grading.given_files)}
    sources = [path for path in paths if path.suffix.lower() == ".py" and path.name not in given]
    in_use = names_in_use(sources)
    rivals = [
        path
        for path in sources
        if path != program
        and path.stem not in in_use
        and not TESTS.search(path.stem)
        and score_of(path, grading, in_use)[0] >= 2
    ]
    if not rivals:
        return []
    best, *_rest = score_of(program, grading, in_use)
    if best > max(score_of(path, grading, in_use)[0] for path in rivals):
        why = _("{file} was graded instead of {names}, because it fits the tasks best")
    elif program.name in grading.files:
        why = _("{file} was graded instead of {names}, because it has the required name")
    else:
        why = _("{file} was graded instead of {names}, because it comes first")
    root = Path(os.path.commonpath([path.parent for path in (program, *rivals)]))
    names = ", ".join(str(path.relative_to(root)) for path in rivals[:MAX_LISTED])
    return [why.format(file=program.relative_to(root), names=names)]


def prepare(submission: Submission, grading: Grading, folder: Path) -> PreparedSubmission:
    """Copy the files of a submission into `folder`, ready to run.

    The program is stored under the student's file name, and also under the course's file name,
    because other files may import it under that name.

    Raises:
        Unreadable: If there is no program, or the program is empty or too large.
        MissingExtraError: If the program needs John Zelle's graphics.py, which is not installed.
    """
    paths = submission.files
    size = sum(path.stat().st_size for path in paths)
    if size > MAX_BYTES or len(paths) > MAX_FILES:
        raise Unreadable(f"the submission is too large: {len(paths)} files, {size >> 20} MiB")
    program = find_program(paths, grading)
    text = decode_source(program.read_bytes())[0]
    if len(text) <= MAX_CHARACTERS and not _STRINGS.sub("", text).strip():
        raise Unreadable(_("{file} is empty").format(file=program.name))
    variant = variant_for(text_with_imports(program), grading)
    with use_language(variant.language):
        return _copy_files(submission, program, variant, folder)


def _copy_files(
    submission: Submission, program: Path, grading: Grading, folder: Path
) -> PreparedSubmission:
    """Copy the files of a submission. Notes are written in the language of the program's names."""
    paths = submission.files
    work = PreparedSubmission(folder, program.name, grading, notes=list(submission.notes))
    if program.name not in grading.files:
        words = _("{file} was graded as {name}")
        work.notes.append(words.format(file=program.name, name=grading.files[0]))
    work.notes += rival_notes(program, paths, grading)
    work.exchanged = swapped_parameters(text_with_imports(program), grading)
    needs_zelle = IMPORTS_ZELLE.search(text_with_imports(program))
    has_zelle = any(path.name == ZELLE for path in paths) or find_spec("graphics")
    if grading.gui and needs_zelle and not has_zelle:
        raise MissingExtraError(
            "programs that import graphics need John Zelle's library, so run: "
            + install_line("zelle")
        )
    for path in paths:
        if path.parent.is_relative_to(program.parent):
            target = folder / path.relative_to(program.parent)
            _copy_file(path, target, work, submission.from_python2)
    if grading.given_files:
        work.given = folder.with_name(f"{folder.name}-given")
        work.given.mkdir()
        work.given.chmod(0o755)
        for path in grading.given_files:
            shutil.copy(path, work.given)
    usual = folder / f"{grading.module}.py"
    if not usual.exists():
        shutil.copyfile(folder / program.name, usual)
    work.notes.extend(f"{program.name} {remark}" for remark in grading.remarks(text_of(program)))
    return work


def _copy_file(path: Path, target: Path, work: PreparedSubmission, from_python2: bool) -> None:
    """Copy a file. Source files are converted to UTF-8 and Python 3."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() != ".py":
        shutil.copyfile(path, target)
        return
    data, note = to_utf8(path.read_bytes())
    if note:
        work.notes.append(f"{path.name} {note}")
    text = data.decode()
    target.write_text(_for_python3(text, path.name, work, from_python2), "utf-8")


def _for_python3(text: str, name: str, work: PreparedSubmission, from_python2: bool) -> str:
    """Return the text of a source file, converted from Python 2 if requested."""
    found = python2_lines(text)
    if not from_python2:
        if found:
            work.notes.append(f"{name} is written for Python 2 ({line_numbers(found)}); {ADVICE}")
            work.advice = ADVICE
        return text
    if not found and not mixes_tabs(text):
        return text
    try:
        after = convert(text)
    except ValueError as error:
        raise Unreadable(f"{name}: {error}") from None
    lines = list(changed_lines(text, after))
    if lines:
        work.notes.append(f"{name} was converted from Python 2: {line_numbers(lines)}")
    return after


# --- Python 2 ---

_STRINGS = re.compile(
    r"'''(?:\\.|[^\\])*?'''"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'(?:\\.|[^'\\\n])*'"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|#[^\n]*",
    re.DOTALL,
)
_PYTHON2 = re.compile(
    r"^(?:.*:)?[ \t]*print\b(?:[ \t]+(?![ \t=(.,)\]]|(?:if|in|is)\b)|>>)"
    r"|\b(?:raw_input|xrange)[ \t]*\("
    r"|\.(?:iter(?:items|keys|values)|has_key)[ \t]*\("
    r"|\bexcept[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:"
    r"|\braise[ \t]+[\w.]+[ \t]*,"
    r"|^[ \t]*exec[ \t]+[^ \t=(.]"
    r"|<>"
    r"|^[ \t]*(?:import|from)[ \t]+"
    r"(?:Tkinter|tkMessageBox|tkSimpleDialog|tkFont|Queue|ConfigParser|StringIO|urllib2)\b",
    re.MULTILINE,
)


def python2_lines(text: str) -> list[int]:
    """Return the numbers of lines that are valid only in Python 2."""
    if len(text) > MAX_CHARACTERS:
        return []
    code = _STRINGS.sub(_blank, text)
    return [code.count("\n", 0, found.end()) + 1 for found in _PYTHON2.finditer(code)]


def mixes_tabs(text: str) -> bool:
    """Return whether the indentation mixes tabs and spaces in a way that Python 3 rejects."""
    indents = [re.match(r"[ \t]*", line)[0] for line in text.split("\n") if line.strip()]  # type: ignore[index]
    return any(not a.startswith(b) and not b.startswith(a) for a, b in pairwise(indents))


def _blank(match: re.Match[str]) -> str:
    """Replace a string or comment with text that has the same number of lines."""
    return '""' + "\n" * match[0].count("\n") if match[0][0] != "#" else ""


def line_numbers(lines: list[int]) -> str:
    """Format the first few line numbers for a message."""
    lines = sorted(set(lines))
    named = ", ".join(map(str, lines[:MAX_LISTED]))
    more = _(" and more") if len(lines) > MAX_LISTED else ""
    return ngettext("line {numbers}", "lines {numbers}", len(lines)).format(numbers=named + more)


def convert(text: str) -> str:
    """Convert a program to Python 3, keeping its line numbers where possible.

    A tab counts as eight spaces. Unless the program contains decimal numbers, ``/`` becomes ``//``,
    as in Python 2.

    Raises:
        ValueError: If the program is not valid Python 2.
        MissingExtraError: If fissix is not installed.
    """
    check_fissix()
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"with {len(text)} characters it is too long to convert")
    text = "\n".join(map(_without_tabs, text.split("\n"))).rstrip() + "\n"
    error: Exception = ValueError("nothing to convert")
    for options in ({}, {"print_function": True}):
        try:
            return _converted(text, options)
        except Exception as failure:  # noqa: BLE001 - the parser fails in many ways on odd input
            error = failure
    raise ValueError(f"not valid Python 2 either: {error}") from None


def _without_tabs(line: str) -> str:
    """Expand the tabs in a line's indentation."""
    code = line.lstrip(" \t\f")
    return line[: len(line) - len(code)].expandtabs(8) + code


def check_fissix() -> None:
    """Raise `MissingExtraError` if fissix is not installed."""
    with extra_for("--from-python2", "python2"):
        import fissix.refactor  # noqa: F401 - only checks that it exists


def _converted(text: str, options: dict[str, bool]) -> str:
    from fissix.pgen2 import token
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    tool = RefactoringTool(get_fixers_from_package("fissix.fixes"), options)
    tree: Any = tool.refactor_string(text, "the program")
    leaves = list(tree.leaves())
    if not any(leaf.type == token.NUMBER and "." in leaf.value for leaf in leaves):
        for leaf in leaves:
            if leaf.type in (token.SLASH, token.SLASHEQUAL):
                leaf.value = leaf.value.replace("/", "//")
    return str(tree)


def changed_lines(before: str, after: str) -> Iterator[int]:
    """Yield the line numbers in `before` of the lines that differ in `after`."""
    old = list(map(_without_tabs, before.split("\n")))
    matcher = difflib.SequenceMatcher(None, old, after.split("\n"), autojunk=False)
    for kind, start, end, *_new in matcher.get_opcodes():
        if kind != "equal":
            yield from range(start + 1, end + 1)


# --- finding submissions ---


@dataclass(frozen=True)
class Submission:
    """One student's work.

    Attributes:
        name: Name in reports.
        root: Folder that contains the files. Their names are relative to it.
        files: All files of the submission.
        problem: Why the submission cannot be graded, or an empty string.
        from_python2: Whether to convert Python 2 programs before grading.
        notes: Remarks on how the files were read.
    """

    name: str
    root: Path
    files: tuple[Path, ...] = ()
    problem: str = ""
    from_python2: bool = False
    notes: tuple[str, ...] = ()


# --- notebooks, online text and misnamed programs ---


def is_program(path: Path) -> bool:
    """Return whether a file can be read as a program."""
    return path.name.lower().endswith(PROGRAMS) or path.name.lower() == ONLINE_TEXT


def as_programs(submission: Submission, grading: Grading, folder: Path) -> Submission:
    """Convert notebooks and similar files to Python files, in a copy in the new `folder`.

    Submissions without notebooks or similar files are returned unchanged.
    """
    odd = [f for f in submission.files if is_program(f) and f.suffix.lower() != ".py"]
    if not odd:
        return submission
    notes = []
    for path in submission.files:
        target = folder / path.relative_to(submission.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path not in odd:
            shutil.copyfile(path, target)
    for path in odd:
        target = folder / path.relative_to(submission.root).parent / _python_name(path, grading)
        if target.exists() or (path.name.lower() == ONLINE_TEXT and any(folder.rglob("*.py"))):
            notes.append(f"{path.name} was not graded, because there is also a Python file")
            continue
        try:
            text = _program_in(path)
        except (ValueError, TypeError, AttributeError, RecursionError):
            notes.append(f"{path.name} is not a readable notebook")
            continue
        target.write_text(text, "utf-8", errors="replace")
        notes.append(f"{path.name} was read as {target.name}")
    return replace(submission, root=folder, files=tuple(files_of(folder)), notes=tuple(notes))


def _python_name(path: Path, grading: Grading) -> str:
    if path.name.lower() == ONLINE_TEXT:
        return grading.files[0]
    ending = next(each for each in PROGRAMS[1:] if path.name.lower().endswith(each))
    return path.name[: -len(ending)] + ".py"


def _program_in(path: Path) -> str:
    """Extract the program from a file in a format other than Python."""
    if path.suffix.lower() == ".ipynb":
        return program_of_notebook(path.read_bytes())
    text = decode_source(path.read_bytes())[0]
    return program_of_page(text) if path.name.lower() == ONLINE_TEXT else text


def program_of_notebook(data: bytes) -> str:
    """Return the code cells of a notebook in order, without IPython syntax."""
    notebook = json.loads(data)
    cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
    parts = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            text = "".join(source) if isinstance(source, list) else str(source)
            # Skip cells in other languages, and cells that only write a file.
            if re.match(r"\s*%%(?!time|capture)", text):
                continue
            parts.append(text if _parses(text) else MAGIC.sub(r"\1\2None", text))
    return "\n\n".join(parts) + "\n"


def _parses(text: str) -> bool:
    try:
        compile(text, "", "exec", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def program_of_page(text: str) -> str:
    """Return the text of an HTML page with its line breaks, without the title that Canvas adds."""
    text = re.sub(r"(?is)<(title|h1)\b.*?</\1>", "", text)
    text = re.sub(r"(?i)<br\b[^>]*>|</(?:p|div|li|pre)\b[^>]*>", "\n", text)
    return html.unescape(TAG.sub("", text)).replace("\xa0", " ")


# --- a class ---


def collect(
    paths: Sequence[Path], grading: Grading, scratch: Path, *, from_python2: bool = False
) -> list[Submission]:
    """Return all submissions in `paths`. ZIP files are unpacked into `scratch`.

    Raises:
        CourseError: If a path does not exist or contains no submission, or if fissix is missing.
    """
    if from_python2:
        check_fissix()
    found: list[Submission] = []
    for path in paths:
        if not path.exists():
            raise CourseError(f"{str(path)!r} does not exist")
        collector = Collector(grading, scratch / str(len(found)))
        here = list(map(collector.read, collector.at(path)))
        if not here:
            raise CourseError(f"{str(path)!r} contains no Python file, folder or ZIP to grade")
        found.extend(here)
    named = with_unique_names((printable(one.name), one) for one in found)
    return [replace(one, from_python2=from_python2) for one in named]


def with_unique_names(named: Iterable[tuple[str, Submission]]) -> Iterator[Submission]:
    """Yield submissions under the given names. Repeated names get a number."""
    seen: dict[str, int] = defaultdict(int)
    for name, submission in named:
        seen[name] += 1
        again = f" ({seen[name]})" if seen[name] > 1 else ""
        yield replace(submission, name=name + again)


class Collector:
    """Finds the submissions in a path given by the teacher."""

    def __init__(self, grading: Grading, scratch: Path) -> None:
        self.grading = grading
        self.names = {name.lower() for name in grading.files}
        self._new_folders = (scratch / str(number) for number in count())

    def at(self, path: Path) -> Iterator[Submission]:
        """Yield the submissions in a path."""
        if path.is_dir():
            bottom = _descend(path)
            name = "/".join([path.resolve().name, *bottom.relative_to(path).parts])
            yield from self.inside(bottom, name, "", 0)
        elif path.suffix.lower() == ".zip":
            yield from self.inside(self.unpack(path), path.stem, "", 1)
        elif path.name.lower().endswith(PROGRAMS):
            yield Submission(path.stem, path.parent, (path,))
        else:
            raise CourseError(f"{str(path)!r} is not a Python file, folder or ZIP")

    def merge(self, name: str, paths: Sequence[Path]) -> Submission:
        """Combine all files that a student handed in at the same time into one submission."""
        root = paths[0] if len(paths) == 1 and paths[0].is_dir() else self._gathered(paths)
        for _depth in range(MAX_DEPTH):
            files = files_of(root)
            archives = [path for path in files if path.suffix.lower() == ".zip"]
            if not archives or any(map(is_program, files)):
                break
            try:
                root = self.unpack(archives[0])
            except BadArchive as error:
                return Submission(name, root, (), str(error))
        return self.read(Submission(name, root, tuple(files)))

    def read(self, submission: Submission) -> Submission:
        """Return a submission with notebooks and similar files converted."""
        return as_programs(submission, self.grading, self.new_folder())

    def _gathered(self, paths: Sequence[Path]) -> Path:
        """Copy one student's files into a new folder, and restore their original names."""
        folder = self.new_folder()
        folder.mkdir(parents=True)
        for path in paths:
            for file in files_of(path) if path.is_dir() else [path]:
                inside = file.relative_to(path) if path.is_dir() else Path(_own_name(path.name))
                target = folder / inside
                if target.exists():  # keep both files
                    target = folder / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
        return folder

    def new_folder(self) -> Path:
        """Return an unused path for a folder."""
        return next(self._new_folders)

    def unpack(self, archive: Path) -> Path:
        """Unpack a ZIP file into a new folder. Raise `BadArchive` if that fails."""
        folder = self.new_folder()
        unpack(archive, folder)
        return folder

    def inside(self, folder: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """Yield the submissions in a folder.

        `above` is the path from the class folder to the parent folder, and `name` is the folder's
        own name. Together, they begin the name of every submission in the folder.
        """
        folder = _descend(folder)
        if self._is_one(folder):
            yield Submission(above + name, folder, tuple(files_of(folder)))
            return
        groups: dict[tuple[str, bool], list[Path]] = defaultdict(list)
        for path in sorted(path for path in folder.iterdir() if not is_ignored(path)):
            match = CANVAS.match(path.name) or MOODLE.match(path.name)
            is_file = path.is_file() and is_program(Path(_own_name(path.name)))
            if is_file or path.is_dir() or path.suffix.lower() == ".zip":
                own = path.stem if is_file else path.name
                groups[match["who"] if match else own, is_file].append(path)
        for (who, is_file), paths in groups.items():
            path = paths[0]
            name = who if is_file else path.name if path.is_dir() else path.stem
            found: Iterable[Submission]
            if len(paths) > 1 or (is_file and _own_name(path.name) != path.name):
                found = map(self.merge, [above + name], [paths])
            elif is_file:
                found = [Submission(above + name, folder, (path,))]
            else:
                found = self._student(path, name, above, depth)
            yield from _isolated(above + name, folder, found)

    def _student(self, path: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """Yield the submissions of one student or a whole class from a folder or ZIP.

        Raises:
            BadArchive: If a ZIP cannot be unpacked.
        """
        folder = path
        if not path.is_dir():
            if depth >= MAX_DEPTH:
                raise BadArchive("ZIPs are nested too deeply")
            folder, depth = _descend(self.unpack(path)), depth + 1
        files = files_of(folder)
        holders = {file.parent for file in files if file.name.lower() in self.names}
        has_source = any(map(is_program, files))
        archives = [file for file in files if file.suffix.lower() == ".zip"]
        outermost = [one for one in holders if holders.isdisjoint(one.parents)]
        if len(outermost) > 1 or (len(archives) > 1 and not has_source):
            yield from self.inside(folder, name, f"{above}{name}/", depth)
        elif has_source or not archives:
            yield Submission(above + name, folder, tuple(files))
        else:
            yield from self._student(archives[0], name, above, depth)

    def _is_one(self, folder: Path) -> bool:
        """Return whether a folder directly contains the program, possibly under another name."""
        files = [path for path in folder.iterdir() if path.is_file() and not is_ignored(path)]
        if any(path.name.lower() in self.names for path in files):
            return True
        sources = [path for path in files if path.suffix.lower() == ".py"]
        in_use = names_in_use(sources)
        programs = [path for path in sources if score_of(path, self.grading, in_use)[0] >= 2]
        return len(sources) > 1 and len(programs) == 1 and _go_together(programs[0], sources)


def _own_name(name: str) -> str:
    """Return the original name of a file that Canvas or Moodle has renamed."""
    if match := CANVAS.match(name):
        return re.sub(r"-\d+(?=\.\w+$)", "", match["file"] or ONLINE_TEXT)
    match = MOODLE.match(name)
    return (match["file"] if match else "") or name


def _isolated(name: str, folder: Path, found: Iterable[Submission]) -> list[Submission]:
    """Collect a student's submissions. An error is recorded as the submission's `problem`."""
    try:
        return list(found)
    except BadArchive as error:
        return [Submission(name, folder, (), str(error))]
    except Exception as error:  # noqa: BLE001 - one submission must not end the class's run
        return [Submission(name, folder, (), f"the submission cannot be read: {error}")]


def _go_together(program: Path, sources: Sequence[Path]) -> bool:
    """Return whether all other files test the program, import it, or are imported by it."""
    in_use = imported_names(program)
    return all(
        path == program
        or TESTS.search(path.stem)
        or path.stem in in_use
        or program.stem in imported_names(path)
        for path in sources
    )


def _is_hidden(name: str) -> bool:
    """Return whether a file name is hidden, or belongs to a development tool."""
    return name in IGNORED_NAMES or name.startswith(".")


def is_ignored(path: Path) -> bool:
    """Return whether a path is a link, is hidden, or belongs to a development tool."""
    return _is_hidden(path.name) or path.is_symlink()


def _descend(folder: Path) -> Path:
    """Descend through folders whose only content is another folder."""
    while True:
        entries = [path for path in folder.iterdir() if not is_ignored(path)]
        if len(entries) != 1 or not entries[0].is_dir():
            return folder
        folder = entries[0]
