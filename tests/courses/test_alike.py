"""Disguised copies are found, and independent programs are not."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from disguises import DISGUISES, PROGRAMS, disguised, whole
from toys import grade_path, grading_of

from py2048.cli import main
from py2048.courses import COURSES
from py2048.courses.term.alike import (
    THRESHOLD,
    Pair,
    Program,
    clusters_of,
    common_parts,
    course_parts,
    described,
    pairs_of,
    parts_of,
    similarity,
)
from py2048.courses.term.roster import Student

RIGHT = sorted((COURSES["cmput175"].proof / "right").glob("*.py"))
STACK, GROUPS = (whole("cmput175", PROGRAMS["cmput175"][name]) for name in ("stack", "groups"))
GIVEN = {course: course_parts(COURSES[course], Path("no examples")) for course in PROGRAMS}


def own_parts(text: str, course: str = "cmput175") -> dict[str, list[int]]:
    """The lines of each part that the course does not give."""
    return {part: at for part, at in parts_of(text).items() if part not in GIVEN[course]}


def alike(one: str, other: str, course: str = "cmput175") -> float:
    """The similarity of two programs, in percent."""
    return similarity(own_parts(one, course).keys(), own_parts(other, course).keys())


def handed_in(texts: dict[str, str]) -> list[Program]:
    return [
        Program(f"{who} attempt 1", frozenset({Student(who)}), text, own_parts(text))
        for who, text in texts.items()
    ]


@pytest.mark.parametrize("course", PROGRAMS)
@pytest.mark.parametrize("kind", DISGUISES)
def test_disguised_copies_are_found(kind, course):
    """Each program of the set is found in its copy, far above the threshold."""
    found = {
        name: alike(whole(course, text), disguised(course, name, kind), course)
        for name, text in PROGRAMS[course].items()
    }
    assert min(found.values()) >= THRESHOLD + 15, found


@pytest.mark.parametrize(("course", "solution"), [("cmput175", "game.py"), ("ist", "adt.py")])
def test_independent_programs_stay_below(course, solution):
    """No two right programs reach the threshold: those of the set and the course's."""
    texts = {name: whole(course, text) for name, text in PROGRAMS[course].items()}
    right = (COURSES[course].proof / "right").glob("*.py")
    texts |= {
        str(path): path.read_text("utf-8") for path in (COURSES[course].folder / solution, *right)
    }
    parts = {name: own_parts(text, course).keys() for name, text in texts.items()}
    found = {pair: similarity(*map(parts.get, pair)) for pair in combinations(parts, 2)}
    assert len(found) == {"cmput175": 105, "ist": 55}[course]
    assert max(found.values()) <= THRESHOLD - 10, max(found, key=found.get)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("course", "name"), [(course, name) for course in PROGRAMS for name in PROGRAMS[course]]
)
def test_the_programs_are_right(tmp_path, course, name):
    """Each program and its copy with all disguises earn full marks."""
    for text in (whole(course, PROGRAMS[course][name]), disguised(course, name, "all")):
        path = tmp_path / COURSES[course].grading().files[0]
        path.write_text(text)
        report = grade_path(path, grading_of(course))
        assert report.earned == report.marks


def test_a_ring_is_reported():
    """Copies by a quarter of the class stay alike; only the share without common code vanishes."""
    copies = {f"r{n}": f"{STACK}# {n}" for n in range(16)}
    others = {name: whole("cmput175", text) for name, text in PROGRAMS["cmput175"].items()}
    del others["stack"]
    programs = handed_in(copies | others | {"a": GROUPS})
    ring, pair = clusters_of(pairs_of(programs, common_parts(programs)))
    assert len(ring) == 16 * 15 / 2
    shares = [each.share for each in pairs_of(programs, frozenset(), 20)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1] >= 20
    assert {(one.share, one.rare_share) for one in ring} == {(100, 0)}
    assert [(one.share, one.rare_share) for one in pair] == [(100, 100)]


def test_a_group_is_described_by_its_least_and_most_similar_pair():
    """Pairs of a group are sorted by similarity, whatever their order."""
    one, two, three = (
        Program(each, frozenset({each}), "", {part: [1] for part in each})
        for each in ("abcd", "abce", "abfe")
    )
    (group,) = clusters_of([Pair(one, three), Pair(two, three), Pair(one, two)])
    assert described(group) == "3 programs, 50 to 75 % similar"


def test_attempts_and_sources_are_not_compared_among_themselves():
    """Neither two attempts of a student nor two solutions make a pair."""
    ann, bob = handed_in({"ann": STACK, "bob": STACK})
    both = Program("both", ann.key | {Student("cy")}, STACK, parts_of(STACK))
    sources = [
        Program(name, frozenset({name}), STACK, parts_of(STACK), is_source=True)
        for name in ("x", "y")
    ]
    found = pairs_of([ann, ann, bob, both, *sources], frozenset())
    keys = {frozenset((pair.one.name, pair.other.name)) for pair in found}
    assert len(keys) == len(found) == 2 + 3 * 2
    assert {"x", "y"} not in keys
    assert {ann.name, "both"} not in keys


def test_shared_lines_are_located():
    """The lines of shared statements are returned, those that many students have apart."""
    text = f"class A:\n{PROGRAMS['cmput175']['stack']}"
    one, other = (Program(key, frozenset({key}), text, parts_of(text)) for key in ("one", "other"))
    (pair,) = pairs_of([one, other], frozenset(part for part in one.parts if "return" in part))
    rare, common = pair.lines(other)
    lines = text.split("\n")
    returns = {n for n, line in enumerate(lines, 1) if line.strip().startswith("return")}
    assert common == returns
    assert rare | common == {n for n, x in enumerate(lines, 1) if x.strip() not in {"", "else:"}}


def test_augmented_assignments_are_expanded():
    """``x //= 2`` is the same statement as ``x = x // 2``."""
    assert parts_of("x //= 2") == parts_of("x = x // 2")


@pytest.mark.parametrize("seed", range(5))
def test_a_program_with_syntax_errors_is_compared(seed):
    """A broken line or a very long expression hides only itself."""
    lines = GROUPS.split("\n")
    broken = random.Random(seed).sample(range(40, len(lines)), 5)
    text = "\n".join(line + " ) (" * (n in broken) for n, line in enumerate(lines))
    text = f"x = 1{' + 1' * 900}\n{text}"
    assert alike(text, GROUPS) > 80


def test_a_term_is_compared_with_its_sources(tmp_path, capsys):
    """Solutions and the archive are sources; code in the folder ``examples`` is ignored."""
    term = tmp_path / "term"
    assert main(["course", "new-term", str(term), "--course", "cmput175"]) == 0
    (term / "roster.csv").write_text("id,name\nann,Ann\nbob,Bob\ncy,Cy\n")
    texts = {"ann": RIGHT[0].read_text(), "bob/1": "# none yet"}
    texts["bob/2"] = disguised("cmput175", "groups", "all")
    texts["cy"] = (COURSES["cmput175"].folder / "game.py").read_text()
    files = {f"submissions/project/{who}/game.py": text for who, text in texts.items()}
    files["archive/2025/old.py"] = GROUPS
    for name, text in files.items():
        (term / name).parent.mkdir(parents=True, exist_ok=True)
        (term / name).write_text(text)
    capsys.readouterr()
    assert main(["course", "alike", str(term), "project"]) == 0
    output = capsys.readouterr().out
    assert "bob attempt 2, archive/old" in output
    assert "cy attempt 1, solution of cmput175" in output
    assert "2 groups of similar programs" in output
    (term / "examples").mkdir()
    (term / "examples" / "lesson.py").write_text(texts["cy"])
    assert main(["course", "alike", str(term), "project"]) == 0
    assert "1 group of similar programs" in capsys.readouterr().out
