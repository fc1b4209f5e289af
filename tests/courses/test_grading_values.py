"""Values cross from a submission's process unchanged, and are compared strictly."""

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


def _crossed(value: object) -> object:
    return decode(json.loads(encode(value)))


@given(VALUES)
@settings(deadline=None)
def test_plain_data_crosses_unchanged(value):
    """Encoding and decoding give the same value of the same types."""
    assert same(value, _crossed(value))
    assert same(_crossed(value), value)


@given(VALUES)
@settings(deadline=None)
def test_what_crosses_is_ascii_json(value):
    """No text of a submission can break the line it travels on."""
    assert encode(value).isascii()


def test_big_and_odd_numbers_cross():
    """Huge integers, the infinities and not-a-number keep their value."""
    assert _crossed(-(7**5000)) == -(7**5000)
    assert _crossed([math.inf, -math.inf]) == [math.inf, -math.inf]
    assert math.isnan(_crossed(math.nan))


def test_subclasses_cross_as_what_they_extend():
    """A named tuple is a tuple, an IntEnum member an int, a lying list what it really holds."""

    class Liar(list):
        def __iter__(self):
            return iter([42])

        def __eq__(self, other):
            return True

        __hash__ = None

    assert _crossed(namedtuple("P", "x y")(1, 2)) == (1, 2)
    assert _crossed(enum.IntEnum("E", "A B").B) == 2
    assert _crossed(Liar([1])) == [1]


def test_numpy_values_cross_as_plain_ones():
    """Scalars become numbers; arrays are marked, so that they are not taken for lists."""
    numpy = pytest.importorskip("numpy")
    assert same([4, True, 0.5], _crossed([numpy.int64(4), numpy.bool_(True), numpy.float64(0.5)]))
    assert _crossed(numpy.array([[1, 2]])) == Array([[1, 2]])


def test_objects_cross_as_names_only():
    """Of anything else the type and a short text are known, whatever its repr does."""

    class Thing:
        def __repr__(self):
            raise KeyError

    assert _crossed(Thing()) == Opaque("Thing", "<Thing: its repr raised KeyError>")
    assert _crossed([len])[0].type == "builtin_function_or_method"


def test_endless_and_deep_data_is_cut():
    """A list in itself does not hang the encoder."""
    loop: list[object] = []
    loop.append(loop)
    assert "nested too deeply" in show(_crossed(loop))
    assert "with more than" in show(_crossed(list(range(100_000))))


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(True, 1), (1, True), (4, 4.0), ((1,), [1]), ([1], (1,)), (None, False), ("1", 1), ({1}, [1])],
)
def test_comparing_is_strict_about_types(expected, actual):
    """Python's == would let some of these pass; the documents do not."""
    assert not same(expected, actual)
    assert not same([expected], [actual])
    assert not same({"a": expected}, {"a": actual})


def test_matchers():
    """Each matcher accepts what it says and nothing else."""
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


def test_long_values_are_cut_when_shown():
    """A report stays readable."""
    assert len(show(list(range(10_000)))) < 700
