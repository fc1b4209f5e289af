"""Copies are found under other names; code that everybody was given is not."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from py2048.courses.grading.submissions import Submission
from py2048.courses.term.alike import (
    LENGTH,
    WINDOW,
    all_prints,
    lines_in_both,
    pairs_of,
    prints_of,
    programs_of,
    tokens_of,
)
from py2048.courses.term.handins import HandIn
from py2048.courses.term.roster import Student


def program(seed: int, lines: int = 60, name: str = "value") -> str:
    """A program whose lines other programs hardly share."""
    draw = random.Random(seed)
    parts = ["+", "-", "*", "//", "%", "<", ">", "==", "and", "or", "|", "&", "^", "<<"]
    text = []
    for _ in range(lines):
        words = [name]
        for _ in range(draw.randrange(2, 9)):
            words += [draw.choice(parts), draw.choice([name, "7", "(1)", "[2]", f"{name}[0]"])]
        text.append(f"{name} = {' '.join(words)}")
    return "\n".join(text) + "\n"


def handed_in(tmp_path: Path, texts: dict[str, str]) -> list[HandIn]:
    found = []
    for who, text in texts.items():
        path = tmp_path / who / "app.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        submission = Submission(who, path.parent, (path,))
        found.append(HandIn(who, (Student(who),), datetime.now(UTC), "", submission))
    return found


def similarities(tmp_path: Path, texts: dict[str, str], course: set[int] | None = None) -> dict:
    hand_ins = handed_in(tmp_path, texts)
    pairs = pairs_of(programs_of(hand_ins, set(), course or set()), 30)
    return {(pair.one.name, pair.other.name): pair.share for pair in pairs}


def test_a_renamed_copy_is_found(tmp_path):
    """Names, literals, comments and blank lines cannot hide a copy."""
    renamed = program(1).replace("value", "b").replace("7", "99").replace("\n", "  # so\n\n")
    others = {str(seed): program(seed) for seed in range(2, 8)}
    assert similarities(tmp_path, {"ann": program(1), "bob": renamed, **others}) == {
        ("ann", "bob"): 100
    }


def test_a_partial_copy_is_partly_similar(tmp_path):
    """Copying half of the shorter program gives about half."""
    mixed = program(1, 30) + program(9, 30)
    ((pair, share),) = similarities(tmp_path, {"ann": program(1), "bob": mixed}).items()
    assert pair == ("ann", "bob")
    assert 35 < share < 65


def test_common_code_does_not_count(tmp_path):
    """The course's own code and code of most of the class are ignored."""
    start = program(1, 40)
    texts = {str(seed): start + program(seed, 40) for seed in range(2, 12)}
    assert not similarities(tmp_path, texts)
    two = dict(list(texts.items())[:2])
    assert similarities(tmp_path, two)
    assert not similarities(tmp_path, two, all_prints(start))


def test_attempts_of_a_student_are_not_compared(tmp_path):
    """Two attempts of the same owners are not a pair."""
    one, other = handed_in(tmp_path, {"a": program(1), "b": program(1)})
    both = (Student("a"), Student("b"))
    hand_ins = [HandIn(each.entry, both, each.when, "", each.submission) for each in (one, other)]
    assert not pairs_of(programs_of(hand_ins, set(), set()))


def test_a_student_is_counted_once_in_the_class(tmp_path):
    """Code of more than a quarter of the class is common, however many attempts there are."""
    texts = {str(n): program(9 if n < 5 else 10 + n) + f"v = {n}\n" for n in range(16)}
    hand_ins = [
        replace(one, submission=replace(one.submission, name=f"{one.entry} attempt {attempt}"))
        for one in handed_in(tmp_path, texts)
        for attempt in (1, 2)
    ]
    assert not pairs_of(programs_of(hand_ins, set(), set()))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(0, 30))
def test_a_common_passage_of_the_guaranteed_length_is_found(seed, before, after):
    """Winnowing finds such passages wherever they are."""
    lines, passage = program(seed, 40).splitlines(keepends=True), ""
    while len(tokens_of(passage)) < LENGTH + WINDOW - 1:
        passage += lines.pop()
    here = prints_of(program(seed + 1, before, "a") + passage)
    there = prints_of(passage + program(seed + 2, after, "b"))
    assert here.keys() & there.keys()


def test_common_lines_are_located(tmp_path):
    """The lines found in both programs are returned, and no others."""
    hand_ins = handed_in(tmp_path, {"ann": program(1), "bob": program(2, 20) + program(1)})
    (pair,) = pairs_of(programs_of(hand_ins, set(), set()))
    shorter, longer = sorted(lines_in_both(pair), key=min)
    assert shorter >= set(range(5, 55))
    assert longer >= set(range(25, 75))
    assert min(longer) > 15
