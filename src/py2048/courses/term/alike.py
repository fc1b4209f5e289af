"""Programs that have much in common, by winnowing.

S. Schleimer, D. Wilkerson and A. Aiken, "Winnowing: local algorithms for document fingerprinting",
SIGMOD 2003. A program becomes a row of tokens in which names and literals are all the same; of each
window of hashes of `LENGTH` tokens the least is kept. So a common passage of `LENGTH` + `WINDOW`
- 1 tokens is always found, and none shorter than `LENGTH`. What the course hands out or prints, and
what a quarter of the class has, is taken away first.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from py2048.courses import get_course
from py2048.courses.grading.submissions import text_of
from py2048.courses.term.handins import HandIn
from py2048.courses.term.marks import Course
from py2048.courses.term.roster import Student

LENGTH, WINDOW = 25, 20
THRESHOLD = 50
"""The share in percent of the smaller program's fingerprints from which a pair is shown."""

FEW = 8
"""Programs with fewer fingerprints of their own are too short to be compared."""

SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.NEWLINE}


@dataclass(frozen=True)
class Program:
    """A hand-in's text, and the lines where each of its own fingerprints stands."""

    name: str
    owners: frozenset[Student]
    text: str
    prints: dict[int, set[int]]


@dataclass(frozen=True)
class Pair:
    """Two programs, and the share in percent of the smaller one that both have."""

    one: Program
    other: Program
    share: float


def tokens_of(text: str) -> list[tuple[str, int]]:
    """Return the tokens of a program with their lines, as far as it is one."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = token.string
            if token.type in SKIPPED:
                continue
            if token.type == tokenize.NAME and not keyword.iskeyword(kind):
                kind = "N"
            elif token.type in (tokenize.NUMBER, tokenize.STRING):
                kind = "L"
            elif token.type in (tokenize.INDENT, tokenize.DEDENT):
                kind = tokenize.tok_name[token.type]
            found.append((kind, token.start[0]))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def prints_of(text: str) -> dict[int, set[int]]:
    """Return the fingerprints of a program, each with the lines that it covers."""
    tokens = tokens_of(text)
    words = [word for word, _ in tokens]
    starts = range(len(tokens) - LENGTH + 1)
    hashes = [zlib.crc32(" ".join(words[at : at + LENGTH]).encode()) for at in starts]
    kept: dict[int, set[int]] = defaultdict(set)
    windows = max(1, len(hashes) - WINDOW + 1) if hashes else 0
    chosen = -1
    for first in range(windows):
        window = range(first, min(first + WINDOW, len(hashes)))
        least = min(window, key=lambda at: (hashes[at], -at))
        if least != chosen:
            chosen = least
            kept[hashes[least]].update(line for _, line in tokens[least : least + LENGTH])
    return kept


def all_prints(text: str) -> set[int]:
    """Return every hash of a text that is taken away, not only those that winnowing keeps."""
    words = [word for word, _ in tokens_of(text)]
    return {
        zlib.crc32(" ".join(words[at : at + LENGTH]).encode())
        for at in range(len(words) - LENGTH + 1)
    }


def common_ground(package: Path, given: Iterable[Path]) -> set[int]:
    """Return the hashes of what a course hands out, its reference, and its document's programs."""
    texts = [text_of(path) for path in {*package.rglob("*.py"), *given} if path.suffix == ".py"]
    for path in package.rglob("*.md"):
        texts += re.findall(r"```\w*\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    return {hash_ for text in texts for hash_ in all_prints(text)}


def compared(course: Course, name: str, hand_ins: Sequence[HandIn]) -> list[Program]:
    """Return the programs of an assignment without what its course gives."""
    assignment = course.settings.assignment(name)
    found, grading = (
        get_course(assignment.course or course.settings.course),
        course.grading(assignment),
    )
    given = [*found.handed_out, *grading.given_files]
    names = {path.name for path in given} - set(grading.files)
    return programs_of(hand_ins, names, common_ground(found.folder, given))


def programs_of(hand_ins: Sequence[HandIn], given: set[str], ground: set[int]) -> list[Program]:
    """Return the programs of hand-ins without what they all began with."""
    programs = []
    for one in hand_ins:
        files = [f for f in one.submission.files if f.suffix.lower() == ".py"]
        text = "\n".join(text_of(path) for path in files if path.name not in given)
        owners = frozenset(one.owners)
        programs.append(Program(one.submission.name, owners, text, prints_of(text)))
    having: dict[int, set[object]] = defaultdict(set)
    for program in programs:
        for print_ in program.prints:
            having[print_].add(program.owners or program.name)
    many = max(3, len({program.owners or program.name for program in programs}) // 4)
    usual = ground | {print_ for print_, owners in having.items() if len(owners) > many}
    return [
        Program(p.name, p.owners, p.text, {k: v for k, v in p.prints.items() if k not in usual})
        for p in programs
    ]


def pairs_of(programs: Sequence[Program], threshold: float = THRESHOLD) -> list[Pair]:
    """Return the pairs of different students from a threshold on, the most alike first."""
    long = [program for program in programs if len(program.prints) >= FEW]
    having: dict[int, list[int]] = defaultdict(list)
    for place, program in enumerate(long):
        for print_ in program.prints:
            having[print_].append(place)
    shared = Counter(pair for places in having.values() for pair in combinations(places, 2))
    found: dict[tuple[object, object], Pair] = {}
    for (a, b), count in shared.items():
        one, other = long[a], long[b]
        share = 100 * count / min(len(one.prints), len(other.prints))
        key = (one.owners or one.name, other.owners or other.name)
        if share >= threshold and not one.owners & other.owners:
            found[key] = max(found.get(key, Pair(one, other, 0)), Pair(one, other, share), key=_by)
    return sorted(found.values(), key=_by, reverse=True)


def _by(pair: Pair) -> float:
    return pair.share


def lines_in_both(pair: Pair) -> tuple[frozenset[int], frozenset[int]]:
    """Return the lines of each program in which what both have stands."""
    both = pair.one.prints.keys() & pair.other.prints.keys()
    one, other = (
        frozenset(line for print_ in both for line in program.prints[print_])
        for program in (pair.one, pair.other)
    )
    return one, other
