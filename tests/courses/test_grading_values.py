"""Values returned by a submission arrive unchanged and are compared strictly."""

from __future__ import annotations

import enum
import json
import math
from collections import namedtuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py2048.courses.grading.agent.host import encode
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
    """A list that contains itself does not hang the encoder."""
    loop: list[object] = []
    loop.append(loop)
    assert "nested too deeply" in show(_round_trip(loop))
    assert "with more than" in show(_round_trip(list(range(100_000))))


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(True, 1), (1, True), (4, 4.0), ((1,), [1]), ([1], (1,)), (None, False), ("1", 1), ({1}, [1])],
)
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


def test_long_values_are_truncated():
    """Reports stay readable."""
    assert len(show(list(range(10_000)))) < 700
