"""Find similar programs by the statements they share.

Each program is reduced to a set of parts: its statements, and each statement paired with the
enclosing block. Within a part, the tokens are sorted, and placeholders stand for literals and the
program's own names. A copy therefore stays recognisable if its author renames, reorders or splits
functions, or adds dead code.

The similarity of two programs is the percentage of the smaller set's parts that are also in the
larger set. ``tests/courses/test_alike.py`` measures how well it separates disguised copies from
independent programs. Winnowing, copydetect and rapidfuzz performed worse.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from py2048.courses import Course, get_course
from py2048.courses.grading.submissions import collect, text_of
from py2048.courses.term.handins import HandIn
from py2048.courses.term.manual import Term

THRESHOLD = 70
"""Default minimum similarity in percent."""

MIN_PARTS = 20
"""Programs with fewer parts than this are too short to compare."""

MAX_REPAIRS = 200
KNOWN = {*keyword.kwlist, *dir(builtins), *dir(list), *dir(str), *dir(dict)}
STRING = r"[rbf]*(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
WORD = re.compile(rf"(?P<literal>{STRING}|\d[\w.]*)|(?P<name>\w+)|[^\w\s()\[\],:.]+")
BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


@dataclass(frozen=True)
class Program:
    """A program to compare, with the lines of each of its parts.

    Attributes:
        key: The owners of a hand-in. All attempts of the same owners have the same key. Other
            programs use their name.
        is_source: Whether the program is a possible source, such as a solution, and not a hand-in.
    """

    name: str
    key: frozenset[object]
    text: str
    parts: dict[str, set[int]]
    is_source: bool = False


@dataclass(frozen=True)
class Pair:
    """Two similar programs. `common` contains the code that many students share."""

    one: Program
    other: Program
    common: frozenset[str] = frozenset()

    @property
    def share(self) -> float:
        """Similarity in percent."""
        return similarity(set(self.one.parts), set(self.other.parts))

    @property
    def rare_share(self) -> float:
        """Similarity in percent, ignoring the parts that many students share."""
        one, other = (each.parts.keys() - self.common for each in (self.one, self.other))
        return similarity(one, other)

    def lines(self, program: Program) -> tuple[set[int], set[int]]:
        """Return a program's lines that few programs share, and those that many share."""
        both = self.one.parts.keys() & self.other.parts.keys()
        rare = {line for part in both - self.common for line in program.parts[part]}
        return rare, {line for part in both for line in program.parts[part]} - rare


_by_share = operator.attrgetter("share")


def similarity(one: set[str], other: set[str]) -> float:
    """Return the percentage of the smaller set that is also in the larger set."""
    return 100 * len(one & other) / max(1, min(len(one), len(other)))


def parse(text: str) -> ast.Module:
    """Parse a program without the lines that have syntax errors."""
    lines = text.split("\n")
    for _ in range(min(len(lines), MAX_REPAIRS)):
        try:
            return ast.parse("\n".join(lines))
        except SyntaxError as error:
            at = min(max(error.lineno or 1, 1), len(lines)) - 1
            plain = "if 0:" if lines[at].rstrip().endswith(":") else "pass"
            lines[at] = "" if plain in lines[at] else re.sub(r"\S.*", plain, lines[at])
        except (ValueError, RecursionError, MemoryError):
            break
    return ast.parse("")


def parts_of(text: str) -> dict[str, set[int]]:
    """Split a program into parts for comparison; return their line numbers by part."""
    tree = parse(text)
    nodes = [node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    own = {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}
    found: dict[str, set[int]] = defaultdict(set)

    def add_below(above: ast.AST, above_words: str) -> None:
        for node in [node for node in ast.iter_child_nodes(above) if isinstance(node, BLOCKS)]:
            with suppress(RecursionError):  # in a very long expression
                words, lines = _words(node, own), _lines(node)
                if words not in {"pass", "0"}:
                    found[words].update(lines)
                    found[f"{above_words}\n{words}".lstrip()].update(lines)
                is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
                add_below(node, "" if is_definition else words)

    add_below(tree, "")
    return found


def _words(node: ast.AST, own: set[str]) -> str:
    """Return the normalised, sorted words of a statement, excluding nested statements."""
    alone = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and any(isinstance(each, BLOCKS) for each in value):
            setattr(alone, name, [])
    words: list[str] = []
    for found in WORD.finditer(ast.unparse(alone)):
        word = found[0]
        if found["literal"]:
            words.append("0")
        elif found["name"]:
            words.append(word if word in KNOWN - own else "v")
        elif re.fullmatch(r"[^<>!=]+=", word):  # treat x += 1 like x = x + 1
            words += [*words, "=", word[:-1]]
        else:
            words.append(word.replace("!", "=").replace(">", "<"))
    return " ".join(sorted(word for word in words if word != "not"))


def _lines(node: ast.AST) -> range:
    """Return the lines of a statement, excluding nested statements."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
    below = [each.lineno for each in getattr(node, "body", ()) if isinstance(each, ast.stmt)]
    return range(first, max(first + 1, min(below, default=last + 1)))


# --- programs ---


def course_parts(course: Course, examples: Path) -> set[str]:
    """Return the parts of all code that the course or the teacher hands out."""
    paths = {*course.handout_files, *examples.rglob("*.py")}
    texts = [text_of(path) for path in paths if path.suffix == ".py"]
    for path in course.folder.rglob("*.md"):
        texts += re.findall(r"```\w*\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    return {part for text in texts for part in parts_of(text)}


def compared(
    term: Term, name: str, hand_ins: Sequence[HandIn], scratch: Path
) -> tuple[list[Program], frozenset[str]]:
    """Return the programs to compare, and their common parts (see `common_parts`).

    An assignment's hand-ins are compared with each other, with the course's solutions, and with the
    programs in the term's folder ``archive``. Code from the course or from the term's folder
    ``examples`` is ignored.
    """
    assignment = term.settings.assignment(name)
    course, grading = get_course(assignment.course), term.grading(assignment)
    given = {path.name for path in (*course.handout_files, *grading.given_files)}
    given -= set(grading.files)
    ignored = course_parts(course, term.folder / "examples")

    def program(name: str, files: Iterable[Path], owners: Iterable[object] | None) -> Program:
        python = [path for path in files if path.suffix.lower() == ".py" and path.name not in given]
        text = "\n".join(map(text_of, python))
        parts = {part: lines for part, lines in parts_of(text).items() if part not in ignored}
        return Program(name, frozenset(owners or [name]), text, parts, owners is None)

    programs = [program(o.submission.name, o.submission.files, o.owners) for o in hand_ins]
    common = common_parts(programs)
    modules = [path for path in course.folder.glob("*.py") if path.name != "tasks.py"]
    sources: list[tuple[str, Iterable[Path]]] = [(f"solution of {course.name}", modules)]
    sources += [(f"solution {p.name}", [p]) for p in (course.folder / "right").glob("*.py")]
    archive = term.folder / "archive"
    if archive.is_dir() and any(archive.iterdir()):
        old = collect([archive], grading, scratch / "archive")
        sources += [(f"archive/{one.name}", one.files) for one in old]
    return programs + [program(name, files, None) for name, files in sources], common


def common_parts(programs: Iterable[Program]) -> frozenset[str]:
    """Return the parts that more than a quarter, and at least four, of the students share."""
    having: dict[str, set[object]] = defaultdict(set)
    for program in programs:
        for part in program.parts:
            having[part].add(program.key)
    many = max(3, len({program.key for program in programs}) // 4)
    return frozenset(part for part, keys in having.items() if len(keys) > many)


def pairs_of(
    programs: Iterable[Program], common: frozenset[str], threshold: float = THRESHOLD
) -> list[Pair]:
    """Return the most similar pair of programs for any two students or sources, best first."""
    long = [program for program in programs if len(program.parts) >= MIN_PARTS]
    bit = {part: 1 << n for n, part in enumerate({p for program in long for p in program.parts})}
    masks = [sum(bit[part] for part in program.parts) for program in long]
    found: dict[object, tuple[float, Pair]] = {}
    for (one, a), (other, b) in combinations(zip(long, masks, strict=True), 2):
        share = 100 * (a & b).bit_count() / min(len(one.parts), len(other.parts))
        if share < threshold or one.key & other.key or (one.is_source and other.is_source):
            continue
        key = frozenset((one.key, other.key))
        if key not in found or share > found[key][0]:
            found[key] = share, Pair(one, other, common)
    return sorted((pair for _, pair in found.values()), key=_by_share, reverse=True)


def clusters_of(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Group pairs into clusters of connected programs, largest cluster first."""
    clusters: list[tuple[set[frozenset[object]], list[Pair]]] = []
    for pair in pairs:
        keys, inside = {pair.one.key, pair.other.key}, [pair]
        for cluster in [cluster for cluster in clusters if cluster[0] & keys]:
            clusters.remove(cluster)
            keys, inside = keys | cluster[0], [*cluster[1], *inside]
        clusters.append((keys, inside))
    clusters.sort(key=lambda cluster: -len(cluster[0]))
    return [sorted(inside, key=_by_share, reverse=True) for _, inside in clusters]


def described(cluster: Sequence[Pair]) -> str:
    """Describe how many programs a cluster contains, and how similar they are."""
    count = len({program.key for pair in cluster for program in (pair.one, pair.other)})
    least, most = f"{cluster[-1].share:.0f}", f"{cluster[0].share:.0f}"
    return f"{count} programs, {least if least == most else f'{least} to {most}'} % similar"
