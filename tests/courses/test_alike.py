"""Likeness: what is copied is found under other names; what all were given is not."""

from __future__ import annotations

import random
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
    """A program of lines that others hardly share."""
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


def likes(tmp_path: Path, texts: dict[str, str], ground: set[int] | None = None) -> dict:
    hand_ins = handed_in(tmp_path, texts)
    pairs = pairs_of(programs_of(hand_ins, set(), ground or set()), 30)
    return {(pair.one.name, pair.other.name): pair.share for pair in pairs}


def test_a_copy_is_found_whatever_its_names(tmp_path):
    """Names, literals, comments and blank lines do not hide it; other programs are left out."""
    renamed = program(1).replace("value", "b").replace("7", "99").replace("\n", "  # so\n\n")
    others = {str(seed): program(seed) for seed in range(2, 8)}
    assert likes(tmp_path, {"ann": program(1), "bob": renamed, **others}) == {("ann", "bob"): 100}


def test_a_part_that_is_copied_is_a_share(tmp_path):
    """Half of the shorter program is in the other."""
    mixed = program(1, 30) + program(9, 30)
    ((pair, share),) = likes(tmp_path, {"ann": program(1), "bob": mixed}).items()
    assert pair == ("ann", "bob")
    assert 35 < share < 65


def test_what_all_were_given_does_not_count(tmp_path):
    """Neither the course's own text, nor what most of the class has."""
    start = program(1, 40)
    texts = {str(seed): start + program(seed, 40) for seed in range(2, 12)}
    assert not likes(tmp_path, texts)
    two = dict(list(texts.items())[:2])
    assert likes(tmp_path, two)
    assert not likes(tmp_path, two, all_prints(start))


def test_a_student_is_not_compared_with_herself(tmp_path):
    """Nor with her group: two attempts are one person's."""
    one, other = handed_in(tmp_path, {"a": program(1), "b": program(1)})
    both = (Student("a"), Student("b"))
    hand_ins = [HandIn(each.entry, both, each.when, "", each.submission) for each in (one, other)]
    assert not pairs_of(programs_of(hand_ins, set(), set()))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(0, 30))
def test_a_common_passage_of_the_guaranteed_length_is_found(seed, before, after):
    """Wherever it stands: winnowing's law."""
    lines, passage = program(seed, 40).splitlines(keepends=True), ""
    while len(tokens_of(passage)) < LENGTH + WINDOW - 1:
        passage += lines.pop()
    here = prints_of(program(seed + 1, before, "a") + passage)
    there = prints_of(passage + program(seed + 2, after, "b"))
    assert here.keys() & there.keys()


def test_the_lines_of_a_common_passage_are_known(tmp_path):
    """In each program those that both have, and no others."""
    hand_ins = handed_in(tmp_path, {"ann": program(1), "bob": program(2, 20) + program(1)})
    (pair,) = pairs_of(programs_of(hand_ins, set(), set()))
    shorter, longer = sorted(lines_in_both(pair), key=min)
    assert shorter >= set(range(5, 55))
    assert longer >= set(range(25, 75))
    assert min(longer) > 15
