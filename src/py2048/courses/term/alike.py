"""Find similar programs by winnowing.

S. Schleimer, D. Wilkerson and A. Aiken, "Winnowing: local algorithms for document fingerprinting",
SIGMOD 2003. A program is tokenized; all names become the same token, and so do all literals. Each
run of `LENGTH` tokens is hashed, and the minimum of each window of `WINDOW` hashes becomes a
fingerprint. A shared passage of at least `LENGTH` + `WINDOW` - 1 tokens is therefore always
detected, and a passage shorter than `LENGTH` never is. Fingerprints of the course's own material,
and those found in more than a quarter of the class, are removed first.
"""

from __future__ import annotations

import io
import keyword
import operator
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
from py2048.courses.term.marks import Term
from py2048.courses.term.roster import Student

LENGTH, WINDOW = 25, 20
THRESHOLD = 50
"""Default minimum similarity, in percent of the smaller program's fingerprints."""

MIN_PRINTS = 8
"""Programs with fewer fingerprints than this are too short to compare."""

SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.NEWLINE}


@dataclass(frozen=True)
class Program:
    """A hand-in's source text, with the lines covered by each fingerprint."""

    name: str
    owners: frozenset[Student]
    text: str
    prints: dict[int, set[int]]


_share = operator.attrgetter("share")


@dataclass(frozen=True)
class Pair:
    """Two programs and their similarity in percent of the smaller one's fingerprints."""

    one: Program
    other: Program
    share: float


def tokens_of(text: str) -> list[tuple[str, int]]:
    """Return the normalised tokens with their line numbers, up to the first syntax error."""
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
    """Return a program's fingerprints, each with the lines it covers."""
    tokens = tokens_of(text)
    hashes = _hashes(tokens)
    kept: dict[int, set[int]] = defaultdict(set)
    windows = max(1, len(hashes) - WINDOW + 1) if hashes else 0
    chosen = -1
    for first in range(windows):
        window = range(first, min(first + WINDOW, len(hashes)))
        minimum = min(window, key=lambda at: (hashes[at], -at))
        if minimum != chosen:
            chosen = minimum
            kept[hashes[minimum]].update(line for _, line in tokens[minimum : minimum + LENGTH])
    return kept


def _hashes(tokens: Sequence[tuple[str, int]]) -> list[int]:
    """Hash each run of `LENGTH` tokens."""
    words = [word for word, _ in tokens]
    runs = range(len(words) - LENGTH + 1)
    return [zlib.crc32(" ".join(words[at : at + LENGTH]).encode()) for at in runs]


def all_prints(text: str) -> set[int]:
    """Return all token hashes of a program, not only those that winnowing selects."""
    return set(_hashes(tokens_of(text)))


def course_prints(package: Path, given: Iterable[Path]) -> set[int]:
    """Return the hashes of a course's starter, reference solution and example code."""
    texts = [text_of(path) for path in {*package.rglob("*.py"), *given} if path.suffix == ".py"]
    for path in package.rglob("*.md"):
        texts += re.findall(r"```\w*\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    return {hash_ for text in texts for hash_ in all_prints(text)}


def compared(term: Term, name: str, hand_ins: Sequence[HandIn]) -> list[Program]:
    """Fingerprint an assignment's programs, excluding code handed out by the course."""
    assignment = term.settings.assignment(name)
    course = get_course(assignment.course or term.settings.course)
    grading = term.grading(assignment)
    given = [*course.handout_files, *grading.given_files]
    names = {path.name for path in given} - set(grading.files)
    return programs_of(hand_ins, names, course_prints(course.folder, given))


def programs_of(hand_ins: Sequence[HandIn], given: set[str], course: set[int]) -> list[Program]:
    """Fingerprint hand-ins, excluding code from the course and code common to the class."""
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
    usual = course | {print_ for print_, owners in having.items() if len(owners) > many}
    return [
        Program(p.name, p.owners, p.text, {k: v for k, v in p.prints.items() if k not in usual})
        for p in programs
    ]


def pairs_of(programs: Sequence[Program], threshold: float = THRESHOLD) -> list[Pair]:
    """Return pairs of similar programs by different students, most similar first."""
    long = [program for program in programs if len(program.prints) >= MIN_PRINTS]
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
            found[key] = max(
                found.get(key, Pair(one, other, 0)), Pair(one, other, share), key=_share
            )
    return sorted(found.values(), key=_share, reverse=True)


def lines_in_both(pair: Pair) -> tuple[frozenset[int], frozenset[int]]:
    """Return the line numbers covered by shared fingerprints, for both programs."""
    both = pair.one.prints.keys() & pair.other.prints.keys()
    one, other = (
        frozenset(line for print_ in both for line in program.prints[print_])
        for program in (pair.one, pair.other)
    )
    return one, other
