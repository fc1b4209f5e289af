"""Values returned by a submission arrive unchanged and are compared strictly."""

from __future__ import annotations

import enum
import functools
import json
import math
from collections import namedtuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py2048.courses.grading.agent.host import MAX_DEPTH, MAX_NODES, encode
from py2048.courses.grading.tasks import (
    Array,
    Loosely,
    OneOf,
    Opaque,
    Raised,
    Raises,
    Satisfies,
    TextLines,
    decode,
    fact_of,
    printable,
    same,
    show,
)

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.frozensets(st.integers())
)
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner)
        | st.sets(st.integers())
    ),
    max_leaves=20,
)


def _round_trip(value: object) -> object:
    return decode(json.loads(encode(value)))


@given(VALUES)
@settings(deadline=None)
def test_plain_data_is_preserved(value):
    """Encoding and decoding keep values and types; no text can break the protocol."""
    assert encode(value).isascii()
    assert same(value, _round_trip(value))
    assert same(_round_trip(value), value)


def test_unusual_numbers_are_preserved():
    """Huge integers, infinities and not-a-number keep their value."""
    assert _round_trip(-(7**5000)) == -(7**5000)
    assert _round_trip([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert math.isnan(_round_trip(math.nan))


def test_subclasses_become_their_base_type():
    """A list that lies about its members is read correctly."""

    class Liar(list):
        def __iter__(self):
            return iter([42])

        def __eq__(self, other):
            return True

        __hash__ = None

    assert _round_trip(namedtuple("P", "x y")(1, 2)) == (1, 2)
    assert _round_trip(enum.IntEnum("E", "A B").B) == 2
    assert _round_trip(Liar([1])) == [1]


def test_numpy_values_become_plain_ones():
    """Scalars become numbers, and arrays are distinguished from lists."""
    numpy = pytest.importorskip("numpy")
    assert same(
        [4, True, 0.5], _round_trip([numpy.int64(4), numpy.bool_(True), numpy.float64(0.5)])
    )
    assert _round_trip(numpy.array([[1, 2]])) == Array([[1, 2]])


def test_objects_become_names():
    """Other objects become their type's name and a text, even if their repr fails."""

    class Thing:
        def __repr__(self):
            raise KeyError

    assert _round_trip(Thing()) == Opaque("Thing", "<Thing: its repr raised KeyError>")
    assert _round_trip(object()) == Opaque("object", "<object object>")
    assert _round_trip([len])[0].type == "builtin_function_or_method"


def test_recursive_and_large_data_is_cut():
    """Values are preserved up to a depth and a number; `hostile.toml` has a list in itself."""
    deep = functools.reduce(lambda inner, _: [inner], range(MAX_DEPTH), 7)
    assert same(_round_trip(deep), deep)
    assert "nested too deeply" in show(_round_trip([deep]))
    assert _round_trip([0] * (MAX_NODES - 1)) == [0] * (MAX_NODES - 1)
    assert show(_round_trip([0] * MAX_NODES)) == f"<list with more than {MAX_NODES} values>"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (True, 1), (1, True), (4, 4.0), ((1,), [1]), ([1], (1,)), (None, False), ("1", 1),
        ({1}, [1]), ([1], [1, 2]), ([1, 2], [1]), ({1: 2}, {1: 2, 3: 4}), ({1: 2, 3: 4}, {1: 2}),
        ({1: 2}, {1: 3}),
    ],
)  # fmt: skip
def test_comparing_is_strict_about_types(expected, actual):
    """Values that are equal in Python differ if their types do."""
    assert not same(expected, actual)
    assert not same([expected], [actual])
    assert not same({"a": expected}, {"a": actual})


def test_matchers():
    """Each matcher accepts what it describes and nothing else."""
    error = Raised("MyError", ("MyError", "ValueError", "Exception"), "bad")
    assert same(Raises("ValueError"), error)
    assert same(Raises("ValueError", "bad"), error)
    assert not same(Raises("ValueError", "worse"), error)
    assert not same(Raises("KeyError"), error)
    assert not same(Raises("ValueError"), "ValueError")
    assert same(OneOf(1, [2]), [2])
    assert not same(OneOf(1, 2), True)
    assert same(Loosely(4), 4.0)
    assert same(TextLines("a\nb"), "a \nb")
    assert not same(TextLines("a\nb"), "a b")
    assert same([Satisfies("even", lambda n: n % 2 == 0)], [4])
    assert not same(Satisfies("even", lambda n: n % 2 == 0), None)
    assert not same(Satisfies("anything", lambda _: True), error)


SHOWN = {
    Raised("E"): "E", Raised("E", (), "bad", "a.py", 3): "E: bad (a.py, line 3)",
    Raised("E", (), "", "a.py", 1): "E (a.py, line 1)", Raised("E", (), "bad"): "E: bad",
    Raised("T", ("OutOfTime",)): "does not end: an infinite loop?",
    Raises("E"): "E", Raises("E", "bad"): "E: bad", OneOf(1, "a", (2,)): "1 or 'a' or (2,)",
    TextLines("a\nb"): "\na\nb", Loosely("a"): "'a'", Opaque("T", ""): "<T>", Array(7): "array(7)",
}  # fmt: skip


def test_a_report_shows_values_and_matchers():
    """Exceptions have a place if their line is known."""
    assert {value: show(value) for value in SHOWN} == SHOWN


FACTS = {
    None: "None", False: "False", 7: "another int", (): "another tuple",
    Opaque("T", "t"): "another object", Raised("KeyError"): "KeyError",
    Raised("T", ("OutOfTime",)): "does not end",
}  # fmt: skip


def test_a_fact_has_no_text_of_the_submission():
    """It is the name of a built-in type or exception, or a phrase of the grader."""
    assert {value: fact_of(value) for value in FACTS} == FACTS
    own = Raised("int"), Raised("len"), Raised("Mine")
    assert {*map(fact_of, own)} == {"an exception defined by the program"}


def test_long_values_are_truncated():
    """They are formatted up to a length, and end with their full length."""
    assert show("x" * 598) == repr("x" * 598)
    assert show("x" * 599) == f"'{'x' * 599}… (601 characters)"
    assert show([*range(22)]) == f"[{', '.join(map(str, range(21)))},\n 21]"
    assert show([*range(500)]).splitlines()[1].startswith(" 2")
    assert show([*range(503)]) == f"{str([*range(503)])[:600]}… (2405 characters)"


def test_unprintable_characters_are_escaped():
    """Controls, invisible characters and those that reorder a line; not tabs and line ends."""
    safe = "\t\n ~\xa0\xac\xae\u061b\u061d\u200a\u200c\u200d\u2010\u2027\u202f\u205f\u2070\ufefe"
    assert printable(safe) == safe
    codes = (0, 8, 11, 31, 127, 159, 0xAD)
    assert printable("".join(map(chr, codes))) == "".join(f"\\x{code:02x}" for code in codes)
    codes = (0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x202E, 0x2060, 0x206F, 0xFEFF, 0xD800)
    assert printable("".join(map(chr, codes))) == "".join(f"\\u{code:04x}" for code in codes)


def test_members_that_cannot_be_hashed_become_texts():
    """A set of an odd class may have equal lists as members."""
    assert decode({"set": [[1], 2]}) == {"[1]", 2}
    assert decode({"dict": [[[1], {"tuple": [2]}]]}) == {"[1]": (2,)}
    with pytest.raises(ValueError, match="unknown tag 'text'"):
        decode({"text": "42"})
