"""Finding and reading what students hand in: a file, a folder, a ZIP, a class of them.

The rules, tried in this order on a folder: a folder that holds the course's program, or one
program under another name and files that belong to it, is one submission; otherwise each folder,
Python file and ZIP in it is one (a folder that holds several of those is searched in the same
way). Files that Canvas or Moodle has marked as one student's belong together. Names are kept as in
the download. ZIP files come from strangers: no path may leave the folder, and no bomb fills the
disk.

A notebook, text typed into Moodle's page and a program called ``.py.txt`` are read as programs, in
copies.

A program for Python 2 is recognized by its text. Converting it needs fissix, the maintained copy of
lib2to3, which Python 3.13 no longer has; it parses the program and never runs it.
"""

from __future__ import annotations

import ast
import codecs
import difflib
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
from html.parser import HTMLParser
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from py2048.core.errors import CourseError, MissingExtraError, install_line
from py2048.core.language import _, ngettext, use_language
from py2048.courses import COURSES
from py2048.courses.grading.tasks import Grading, printable

MAX_ARCHIVE_BYTES, MAX_ARCHIVE_FILES = 256 << 20, 20_000
MAX_BYTES, MAX_FILES = 64 << 20, 2000  # of one submission
MAX_DEPTH = 4  # ZIPs in ZIPs
MAX_CHARACTERS = 200_000  # of a program that is looked at for Python 2
MAX_LINES_NAMED = 4
LEFT_OUT = {"__pycache__", "__MACOSX", ".git", ".idea", ".vscode", ".venv", "venv"}
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
MAGIC = re.compile(
    r"^([ \t]*)((?:\w[\w, ]*=[ \t]*)?)(?:%%?[a-zA-Z].*|!.*|\?\S.*|[\w.]+\?{1,2})$", re.MULTILINE
)


class BadArchive(Exception):  # noqa: N818 - a finding about a file
    """A ZIP file that cannot or must not be unpacked; the message says why."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` into the new `folder`; raise `BadArchive` before anything odd is written.

    Names with backslashes, as some Windows programs write them, are read as paths. What counts is
    the size that really comes out, not the one that the file claims.
    """
    folder.mkdir(parents=True)
    left = MAX_ARCHIVE_BYTES
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [m for m in opened.infolist() if not m.filename.endswith(("/", "\\"))]
            if len(members) > MAX_ARCHIVE_FILES:
                raise BadArchive(f"{archive.name} holds {len(members)} files")
            for member, target in [(member, folder / _place_of(member)) for member in members]:
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
    except Exception as error:  # noqa: BLE001 - zipfile and each of its decompressors has its own
        reason = str(error) or type(error).__name__
        raise BadArchive(f"{archive.name} is not a readable ZIP file: {reason}") from None


def _place_of(member: zipfile.ZipInfo) -> Path:
    """Return where a member goes, relative to the folder; raise `BadArchive` if outside."""
    name = member.filename.replace("\\", "/")
    path = PurePosixPath(name)
    outside = path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive
    if outside or not path.parts or "\0" in name:
        raise BadArchive(f"a name leads out of the folder: {member.filename!r}")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise BadArchive(f"{member.filename!r} is a link")
    return Path(*path.parts)


class Unreadable(Exception):  # noqa: N818 - a finding about a submission
    """A submission cannot be graded at all; the message says why, for the student."""


@dataclass
class PreparedSubmission:
    """A prepared copy of one submission: every source in UTF-8, the program under its name.

    `file` has the student's own name for the program, `grading` is the variant of the course's
    that suits it, `given` the folder of the files that the course hands out. `quiet` says that only
    definitions are loaded (see ``agent/host.py``), `skip` names the lines of the statements to
    leave out; `notes` are lines for the student about how it was read, and `advice` is what to do
    if it cannot be loaded. `exchanged` says which functions have their
    parameters in another order.
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
    """Return the text of a source file, and a note when its encoding had to be guessed."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), "is written in UTF-16"
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding), ""
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("cp1252", errors="replace"), (
            _("is not written in UTF-8 and was read as Latin-1; Python itself would refuse it")
        )


def text_of(path: Path) -> str:
    """Return a source file's text; none if it cannot be read, as is said when it is graded."""
    try:
        return decode_source(path.read_bytes())[0]
    except OSError:
        return ""


def to_utf8(data: bytes) -> tuple[bytes, str]:
    """Return a source file in UTF-8 with Unix line ends, without coding cookie, and a note."""
    text, note = decode_source(data)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").split("\n")
    for number, line in enumerate(lines[:2]):
        lines[number] = re.sub(r"^([ \t\f]*#.*?)coding[:=]", r"\1coding ", line)
    return "\n".join(lines).encode("utf-8", errors="replace"), note


def files_of(folder: Path) -> list[Path]:
    """Return the files of a submission, without links, tools' folders and hidden files."""
    found = []
    for path in sorted(folder.rglob("*")):
        out = any(map(is_hidden, path.relative_to(folder).parts))
        if not out and path.is_file() and not path.is_symlink():
            found.append(path)
    return found


def defined_in(text: str, grading: Grading) -> int:
    """Return how many of the names that a program defines are defined in `text`."""
    return sum(
        bool(re.search(rf"^\s*(def|class)\s+{name}\b|^{name}\s*=", text, re.MULTILINE))
        for name in grading.expects
    )


def variant_for(text: str, grading: Grading) -> Grading:
    """Return the variant of a course's grading of which a program defines the most names."""
    return max((grading, *grading.variants), key=lambda one: defined_in(text, one))


def share_of(text: str, grading: Grading) -> float:
    """Return the share of a course's names a program defines; without any, if it has a window.

    The better of two languages counts.
    """
    if not grading.expects:
        return float(bool(WINDOW.search(text)))
    return max(defined_in(text, one) / len(one.expects) for one in (grading, *grading.variants))


def other_course(program: Path, grading: Grading) -> str:
    """Return the course that a program is clearly for, if that is another one."""
    text = text_with_imports(program)
    own = share_of(text, grading)
    if own > 0.5:
        return ""
    gradings = [course.grading() for course in COURSES.values()]
    other = max((one for one in gradings if one.expects), key=lambda one: share_of(text, one))
    return other.course if share_of(text, other) > max(own, 0.5) else ""


def exchanged_parameters(text: str, grading: Grading) -> dict[str, str]:
    """Return functions whose parameters have the asked names in another order, and words for it."""
    told = grading.words(" ".join(f"{task.title} {task.asked}" for task in grading.tasks))
    asked = {name: _parameters(listed) for name, listed in SIGNATURE.findall(told)}
    found = {name: _parameters(listed) for name, listed in DEFINED.findall(text)}
    return {
        name: _("{name} takes ({ours}), and is called as {name}({asked})").format(
            name=name, ours=", ".join(ours), asked=", ".join(asked[name])
        )
        for name, ours in found.items()
        if name in asked and ours != asked[name] and sorted(ours) == sorted(asked[name])
    }


def _parameters(listed: str) -> list[str]:
    names = [re.split("[:=]", part)[0].strip() for part in listed.split(",")]
    return [name for name in names if name != "self"]


def text_with_imports(program: Path) -> str:
    """Return the text of a program and of the files beside it from which it imports names."""
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
    """Return the words on the lines of a file that import, the names of modules among them."""
    return set(re.findall(r"\w+", " ".join(IMPORT_LINE.findall(text_of(path)))))


def names_in_use(sources: Iterable[Path]) -> set[str]:
    """Return the names that each file but the tests imports from others."""
    return {
        name
        for path in sources
        if not _is_test(path)
        for name in imported_names(path)
        if name != path.stem
    }


def score_of(path: Path, grading: Grading, in_use: Container[str]) -> tuple[int, int, int, int]:
    """Rate how much a file looks like the program: its name, what it defines, its depth.

    The course's program may be in parts: what it imports from them counts as defined by it.
    """
    named = path.name.lower() in {name.lower() for name in grading.files}
    if grading.expects:
        own = _defined_by_variant(text_of(path), grading)
        text = text_with_imports(path) if named else text_of(path)
        first = 2 * _defined_by_variant(text, grading) + named
    else:
        own = _opens_window(path)
        first = _likeness_of_what_is_run(path, in_use, named=named)
    return first, own, int(path.name == grading.files[0]), -len(path.parts)


def _defined_by_variant(text: str, grading: Grading) -> int:
    return defined_in(text, variant_for(text, grading))


def _likeness_of_what_is_run(path: Path, in_use: Container[str], *, named: bool) -> int:
    """Rate how much a file seems to be what is run, where the course prescribes no functions.

    No other file imports it, and it has the course's name or opens a window; or else it has that
    name and opens its window by itself. What is not run has less than 2.
    """
    opens = _opens_window(path)
    if path.stem not in in_use and not _is_test(path):
        return 2 + 3 * named + 2 * (opens and not TESTS.search(path.stem))
    return 3 * (named and _starts(path))


def _starts(path: Path) -> bool:
    """Return whether a file opens its window when it is run, by what is defined in it."""
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
    """Return the file to grade among those of a submission."""
    given = {path.name for path in grading.given_files}
    sources = [p for p in paths if p.suffix.lower() == ".py" and p.name not in given]
    if not sources:
        names = [path.name for path in paths]
        listed = f" ({', '.join(names[:MAX_LINES_NAMED])})" if names else ""
        words = _("there is no Python file{listed}; {file} was expected")
        raise Unreadable(words.format(listed=listed, file=grading.files[0]))
    in_use = names_in_use(sources)
    own = [path for path in sources if path.name != ZELLE] or sources
    return max(own, key=lambda path: score_of(path, grading, in_use))


def rivals_of(program: Path, paths: Sequence[Path], grading: Grading) -> list[str]:
    """Return the files that could have been graded instead, and the words for why they were not."""
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
        why = _(
            "{file} was graded, because it has most of what the course asks for, and not {names}"
        )
    elif program.name in grading.files:
        why = _(
            "{file} was graded, because it has the name that the course asks for, and not {names}"
        )
    else:
        why = _("{file} was graded, because it comes first, and not {names}")
    root = Path(os.path.commonpath([path.parent for path in (program, *rivals)]))
    names = ", ".join(str(path.relative_to(root)) for path in rivals[:MAX_LINES_NAMED])
    return [why.format(file=program.relative_to(root), names=names)]


def prepare(submission: Submission, grading: Grading, folder: Path) -> PreparedSubmission:
    """Copy a submission's files into `folder`, ready to run; raise `Unreadable`.

    The program is there under the student's name for it, and under the course's for other files
    that import it.

    Raises:
        MissingExtraError: if it needs John Zelle's graphics.py, which is not installed.
    """
    paths = submission.files
    size = sum(path.stat().st_size for path in paths)
    if size > MAX_BYTES or len(paths) > MAX_FILES:
        raise Unreadable(f"it is too large: {len(paths)} files, {size >> 20} MiB")
    program = find_program(paths, grading)
    text = decode_source(program.read_bytes())[0]
    if len(text) <= MAX_CHARACTERS and not _STRINGS.sub("", text).strip():
        raise Unreadable(_("{file} is empty").format(file=program.name))
    variant = variant_for(text_with_imports(program), grading)
    with use_language(variant.language):
        return _copied(submission, program, variant, folder)


def _copied(
    submission: Submission, program: Path, variant: Grading, folder: Path
) -> PreparedSubmission:
    """Return the copies of a submission's files, and notes in the language of its names."""
    paths, grading = submission.files, variant
    work = PreparedSubmission(folder, program.name, variant, notes=list(submission.notes))
    if program.name not in grading.files:
        words = _("{file} was taken for {name}")
        work.notes.append(words.format(file=program.name, name=grading.files[0]))
    work.notes += rivals_of(program, paths, grading)
    work.exchanged = exchanged_parameters(text_with_imports(program), variant)
    needs_zelle = IMPORTS_ZELLE.search(text_with_imports(program))
    has_zelle = any(path.name == ZELLE for path in paths) or find_spec("graphics")
    if variant.gui and needs_zelle and not has_zelle:
        raise MissingExtraError(
            "programs that import graphics need John Zelle's library: "
            + install_line("py2048[zelle]")
        )
    for path in paths:
        if path.parent.is_relative_to(program.parent):
            target = folder / path.relative_to(program.parent)
            _copy(path, target, work, submission.from_python2)
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


def _copy(path: Path, target: Path, work: PreparedSubmission, from_python2: bool) -> None:
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


def _for_python3(text: str, name: str, work: PreparedSubmission, from_python2: bool) -> str:
    """Return the text of a source; if it is for Python 2, converted when that is asked for."""
    found = old_lines(text)
    if not from_python2:
        if found:
            work.notes.append(f"{name} is written for Python 2 ({places(found)}); {ADVICE}")
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
        work.notes.append(f"{name} was converted from Python 2: {places(lines)}")
    return after


# --- programs for Python 2 ---

_STRINGS = re.compile(
    r"'''(?:\\.|[^\\])*?'''"
    r'|"""(?:\\.|[^\\])*?"""'
    r"|'(?:\\.|[^'\\\n])*'"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|#[^\n]*",
    re.DOTALL,
)
_OLD = re.compile(
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


def old_lines(text: str) -> list[int]:
    """Return the numbers of the lines that only Python 2 understands."""
    if len(text) > MAX_CHARACTERS:
        return []
    code = _STRINGS.sub(_blank, text)
    return [code.count("\n", 0, found.end()) + 1 for found in _OLD.finditer(code)]


def mixes_tabs(text: str) -> bool:
    """Return whether lines are indented with tabs and blanks in a way that Python 3 refuses."""
    indents = [re.match(r"[ \t]*", line)[0] for line in text.split("\n") if line.strip()]  # type: ignore[index]
    return any(not a.startswith(b) and not b.startswith(a) for a, b in pairwise(indents))


def _blank(match: re.Match[str]) -> str:
    """Return a text or a remark without its contents, as many lines long."""
    return '""' + "\n" * match[0].count("\n") if match[0][0] != "#" else ""


def places(lines: list[int]) -> str:
    """Return some line numbers in words, the first few of them."""
    lines = sorted(set(lines))
    named = ", ".join(map(str, lines[:MAX_LINES_NAMED]))
    more = _(" and more") if len(lines) > MAX_LINES_NAMED else ""
    return ngettext("line {numbers}", "lines {numbers}", len(lines)).format(numbers=named + more)


def convert(text: str) -> str:
    """Convert a program for Python 3, line by line the same as far as can be.

    Tabs count eight blanks, and ``/`` divides whole numbers as it did in Python 2, unless the
    program has numbers with a point.

    Raises:
        ValueError: if it is not a program of Python 2 either.
        CourseError: where fissix is not installed.
    """
    check_fissix()
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it is too long to be converted: {len(text)} characters")
    text = "\n".join(map(_without_tabs, text.split("\n"))).rstrip() + "\n"
    error: Exception = ValueError("nothing to convert")
    for options in ({}, {"print_function": True}):
        try:
            return _converted(text, options)
        except Exception as failure:  # noqa: BLE001 - the parser fails in many ways on odd texts
            error = failure
    raise ValueError(f"it cannot be read as Python 2 either: {error}") from None


def _without_tabs(line: str) -> str:
    """Return a line with its indentation in blanks only."""
    code = line.lstrip(" \t\f")
    return line[: len(line) - len(code)].expandtabs(8) + code


def check_fissix() -> None:
    """Raise `CourseError` where fissix is missing."""
    try:
        import fissix.refactor  # noqa: F401 - only whether it is there
    except ImportError:
        raise CourseError(
            f"--from-python2 needs fissix: {install_line('py2048[python2]')}"
        ) from None


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
    """Yield the numbers of the lines of `before` that are different in `after`."""
    old = list(map(_without_tabs, before.split("\n")))
    matcher = difflib.SequenceMatcher(None, old, after.split("\n"), autojunk=False)
    for kind, start, end, *_new in matcher.get_opcodes():
        if kind != "equal":
            yield from range(start + 1, end + 1)


# --- finding submissions ---


@dataclass(frozen=True)
class Submission:
    """One student's work: its name, its files under `root`, and why it cannot be graded, if so.

    With `from_python2` a program for Python 2 is converted before it is graded. `notes` say how its
    files were read.
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
    """Return a submission as Python files only, in the new `folder` if any must be read.

    The student's own files stay as they are.
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
            notes.append(f"{path.name} was not graded: there is a Python file beside it")
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
    """Return the program in a file that is not a Python file."""
    if path.suffix.lower() == ".ipynb":
        return program_of_notebook(path.read_bytes())
    text = decode_source(path.read_bytes())[0]
    return program_of_page(text) if path.name.lower() == ONLINE_TEXT else text


def program_of_notebook(data: bytes) -> str:
    """Return a notebook's code cells in order, without what only IPython understands."""
    notebook = json.loads(data)
    cells = notebook.get("cells") or notebook["worksheets"][0]["cells"]
    parts = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            text = "".join(source) if isinstance(source, list) else str(source)
            if re.match(r"\s*%%(?!time|capture)", text):  # another language, or a file
                continue
            parts.append(text if _parses(text) else MAGIC.sub(r"\1\2None", text))
    return "\n\n".join(parts) + "\n"


def _parses(text: str) -> bool:
    try:
        compile(text, "", "exec", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _Page(HTMLParser):
    """The text of what was typed into a page, with its lines."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.parts.append(data.replace("\xa0", " "))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """End a line."""
        if tag == "br":
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph."""
        if tag in {"p", "div", "li", "pre"}:
            self.parts.append("\n")


def program_of_page(text: str) -> str:
    """Return the text of a page without its marks, and without Canvas's title of it."""
    page = _Page()
    page.feed(re.sub(r"(?is)<(title|h1)\b.*?</\1>", "", text))
    page.close()
    return "".join(page.parts)


# --- a class ---


def collect(
    paths: Sequence[Path], grading: Grading, scratch: Path, *, from_python2: bool = False
) -> list[Submission]:
    """Return all submissions in `paths`, in order of name; ZIPs are unpacked under `scratch`.

    Raises:
        CourseError: for a path that does not exist or holds nothing to grade.
        MissingExtraError: if programs are to be converted, and nothing here can.
    """
    if from_python2:
        check_fissix()
    found: list[Submission] = []
    for path in paths:
        if not path.exists():
            raise CourseError(f"there is no file or folder {str(path)!r}")
        collector = Collector(grading, scratch / str(len(found)))
        here = list(map(collector.read, collector.at(path)))
        if not here:
            raise CourseError(f"{str(path)!r} holds no Python file, no folder and no ZIP to grade")
        found.extend(here)
    seen: dict[str, int] = defaultdict(int)
    apart = []
    for submission in found:
        name = printable(submission.name)
        seen[name] += 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        apart.append(replace(submission, name=name, from_python2=from_python2))
    return apart


class Collector:
    """Finds the submissions in one path given by the teacher."""

    def __init__(self, grading: Grading, scratch: Path) -> None:
        self.grading = grading
        self.names = {name.lower() for name in grading.files}
        self.scratch = scratch
        self.unpacked = 0

    def at(self, path: Path) -> Iterator[Submission]:
        """Yield the submissions at a path on the command line."""
        if path.is_dir():
            bottom = _descend(path)
            name = "/".join([path.resolve().name, *bottom.relative_to(path).parts])
            yield from self.inside(bottom, name, "", 0)
        elif path.suffix.lower() == ".zip":
            try:
                folder = self._unpack(path)
            except BadArchive as error:
                raise CourseError(str(error)) from None
            yield from self.inside(folder, path.stem, "", 1)
        elif path.name.lower().endswith(PROGRAMS):
            yield Submission(path.stem, path.parent, (path,))
        else:
            raise CourseError(f"{str(path)!r} is not a Python file, a folder or a ZIP")

    def one(self, name: str, paths: Sequence[Path]) -> Submission:
        """Return all that one student has handed in at a time, as one submission."""
        root = paths[0] if len(paths) == 1 and paths[0].is_dir() else self._gathered(paths)
        for _depth in range(MAX_DEPTH):
            files = files_of(root)
            archives = [path for path in files if path.suffix.lower() == ".zip"]
            if not archives or any(map(is_program, files)):
                break
            try:
                root = self._unpack(archives[0])
            except BadArchive as error:
                return Submission(name, root, (), str(error))
        return self.read(Submission(name, root, tuple(files)))

    def read(self, submission: Submission) -> Submission:
        """Return a submission with its notebooks and online texts read as programs."""
        self.unpacked += 1
        return as_programs(submission, self.grading, self.scratch / f"read-{self.unpacked}")

    def _gathered(self, paths: Sequence[Path]) -> Path:
        """Gather one student's files and folders in one folder, under the student's names."""
        self.unpacked += 1
        folder = self.scratch / f"gathered-{self.unpacked}"
        folder.mkdir(parents=True)
        for path in paths:
            for file in files_of(path) if path.is_dir() else [path]:
                inside = file.relative_to(path) if path.is_dir() else Path(_own_name(path.name))
                target = folder / inside
                if target.exists():  # under one name again: both are there to be graded
                    target = folder / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
        return folder

    def _unpack(self, archive: Path) -> Path:
        """Unpack a ZIP into a new folder."""
        self.unpacked += 1
        folder = self.scratch / f"zip-{self.unpacked}"
        unpack(archive, folder)
        return folder

    def inside(self, folder: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """Yield the submissions in a folder called `name`, itself in the class folder `above`."""
        folder = _descend(folder)
        if self._is_one(folder):
            yield Submission(above + name, folder, tuple(files_of(folder)))
            return
        entries = sorted(path for path in folder.iterdir() if not _skipped(path))
        yield from self._loose([p for p in entries if p.is_file() and _is_handed_in(p)], above)
        moodle: dict[str, list[Path]] = defaultdict(list)
        for path in entries:
            if path.is_dir() and (match := MOODLE.match(path.name)):
                moodle[match["who"]].append(path)
        together = [paths for paths in moodle.values() if len(paths) > 1]
        for paths in together:  # a file and a text of one student
            name = above + paths[0].name
            yield from _alone(name, folder, map(self.one, [name], [paths]))
        for path in entries:
            if any(path in paths for paths in together):
                continue
            if path.is_dir():
                here = self._student(path, path.name, above, depth)
                yield from _alone(above + path.name, folder, here)
            elif path.suffix.lower() == ".zip":
                yield from _alone(above + path.stem, folder, self._archive(path, above, depth))

    def _loose(self, sources: list[Path], above: str) -> Iterator[Submission]:
        """Yield Python files side by side, each alone, but those of one student on a platform."""
        groups: dict[str, list[Path]] = defaultdict(list)
        for path in sources:
            match = CANVAS.match(path.name) or MOODLE.match(path.name)
            groups[match["who"] if match else path.stem].append(path)
        for name, files in groups.items():
            if len(files) == 1 and _own_name(files[0].name) == files[0].name:
                yield Submission(above + name, files[0].parent, (files[0],))
            else:
                found = map(self.one, [above + name], [files])
                yield from _alone(above + name, files[0].parent, found)

    def _student(self, folder: Path, name: str, above: str, depth: int) -> Iterator[Submission]:
        """Yield a folder in a class folder: a student's, or a class."""
        files = files_of(folder)
        holders = {path.parent for path in files if path.name.lower() in self.names}
        has_source = any(map(is_program, files))
        archives = [path for path in files if path.suffix.lower() == ".zip"]
        if len(_apart(holders)) > 1 or (len(archives) > 1 and not has_source):
            yield from self.inside(folder, name, f"{above}{name}/", depth)
        elif has_source or not archives:
            yield Submission(above + name, folder, tuple(files))
        else:
            yield from self._archive(archives[0], above, depth, name)

    def _archive(
        self, archive: Path, above: str, depth: int, name: str = ""
    ) -> Iterator[Submission]:
        """Yield a student's ZIP in a class folder; a bad one is that student's problem only."""
        name = name or archive.stem
        try:
            if depth >= MAX_DEPTH:
                raise BadArchive("too many ZIPs inside each other")
            folder = self._unpack(archive)
        except BadArchive as error:
            yield Submission(above + name, archive.parent, (), str(error))
            return
        yield from self._student(_descend(folder), name, above, depth + 1)

    def _is_one(self, folder: Path) -> bool:
        """Return whether the course's program is in the folder itself, maybe under another name."""
        files = [path for path in folder.iterdir() if path.is_file() and not _skipped(path)]
        if any(path.name.lower() in self.names for path in files):
            return True
        sources = [path for path in files if path.suffix.lower() == ".py"]
        in_use = names_in_use(sources)
        programs = [path for path in sources if score_of(path, self.grading, in_use)[0] >= 2]
        return len(sources) > 1 and len(programs) == 1 and _go_together(programs[0], sources)


def _is_handed_in(path: Path) -> bool:
    """Return whether a file is a program under the student's own name for it."""
    return is_program(Path(_own_name(path.name)))


def _own_name(name: str) -> str:
    """Return a student's own name for a file that Canvas or Moodle has named anew."""
    if match := CANVAS.match(name):
        return re.sub(r"-\d+(?=\.\w+$)", "", match["file"] or ONLINE_TEXT)
    match = MOODLE.match(name)
    return (match["file"] if match else "") or name


def _alone(name: str, folder: Path, found: Iterator[Submission]) -> list[Submission]:
    """Return what is `found` of one student in a class `folder`; errors there end nothing else."""
    try:
        return list(found)
    except Exception as error:  # noqa: BLE001 - one submission must not end the class's run
        return [Submission(name, folder, (), f"it cannot be read: {error}")]


def _go_together(program: Path, sources: Sequence[Path]) -> bool:
    """Return whether all other files test the program, import it or are imported by it."""
    in_use = imported_names(program)
    return all(
        path == program
        or TESTS.search(path.stem)
        or path.stem in in_use
        or program.stem in imported_names(path)
        for path in sources
    )


def _apart(folders: set[Path]) -> list[Path]:
    """Return those of `folders` that are in none of the others."""
    return [one for one in folders if not any(other in one.parents for other in folders)]


def is_hidden(name: str) -> bool:
    """Return whether a name is a tool's, not a student's."""
    return name in LEFT_OUT or name.startswith(".")


def _skipped(path: Path) -> bool:
    return is_hidden(path.name) or path.is_symlink()


def _descend(folder: Path) -> Path:
    """Return the first folder on the way down that holds more than one other folder."""
    while True:
        entries = [path for path in folder.iterdir() if not _skipped(path)]
        if len(entries) != 1 or not entries[0].is_dir():
            return folder
        folder = entries[0]
