"""Settings are read from TOML, and a wrong one is named with its value."""

from __future__ import annotations

import pytest
from msgspec import Struct

from py2048.core.data import convert, read_toml
from py2048.core.errors import CourseError


class Part(Struct, frozen=True, forbid_unknown_fields=True):
    count: int


class Whole(Struct, forbid_unknown_fields=True):
    part: Part = Part(0)
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] = {}


@pytest.mark.parametrize(
    ("text", "above", "reason"),
    [
        ("part.cuont = 1", "", "part.cuont is not a setting; did you mean 'count'?"),
        ("prat = 1", "", "prat is not a setting; did you mean 'part'?"),
        ("prat = 1", "course", "course.prat is not a setting; did you mean 'part'?"),
        ("part.count = 'x'", "", "part.count = 'x': expected `int`, got `str`"),
        ("part.count = 'x'", "course", "course.part.count = 'x': expected `int`, got `str`"),
        ("part = {}", "", "part = {}: object missing required field `count`"),
        ("parts = [{count = 'x'}]", "", "parts[0].count: expected `int`, got `str`"),
        ("named.a.count = 'x'", "", "named.count: expected `int`, got `str`"),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(tmp_path, text, above, reason):
    """Keys begin with the part of the source that the data comes from."""
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8-sig")
    with pytest.raises(CourseError) as caught:
        convert(read_toml(path, CourseError), Whole, CourseError, "x.toml", above)
    assert str(caught.value) == f"x.toml: {reason}"


def test_data_of_another_shape_has_no_key():
    """Data that fits is converted; other data has only its type."""
    assert convert({"part": {"count": 5}}, Whole, CourseError, "x") == Whole(part=Part(5))
    with pytest.raises(CourseError, match=r"^x: expected `object`, got `int`$"):
        convert(5, Whole, CourseError, "x")
    with pytest.raises(CourseError, match=r"^x: \[0\]\.count: expected `int`, got `str`$"):
        convert([{"count": "x"}], list[Part], CourseError, "x")


@pytest.mark.parametrize("data", [b"x = ", b"x = '\xff'", b"x = " + 10**5 * b"["])
def test_a_file_that_is_not_toml_is_named(tmp_path, data):
    """Syntax, encoding and nesting are refused alike; so is a missing file."""
    path = tmp_path / "x.toml"
    with pytest.raises(CourseError, match=r"x\.toml cannot be read: No such file"):
        read_toml(path, CourseError)
    path.write_bytes(data)
    with pytest.raises(CourseError, match=r"x\.toml is not valid TOML in UTF-8: "):
        read_toml(path, CourseError)
