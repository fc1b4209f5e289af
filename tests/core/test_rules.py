"""Rules are validated values that survive printing and parsing."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from tests.strategies import rules, weights

from py2048 import Rules, get_rules, list_rules
from py2048.core.errors import RulesError
from py2048.core.rules import (
    COURSE_PRESETS,
    EdgeSpawn,
    MergePoints,
    MovePoints,
    RandomStart,
    Weights,
    list_boards,
    preset_of,
)

PRESETS = """
classic     size=4x4  start=2           spawn=2:9+4:1   merging=once     scoring=merges      target=2048  end=stuck
comp1127    size=4x4  start=2           spawn=2:96+4:5  merging=cascade  scoring=merges      target=2048  end=target
cmput175    size=4x4  start=2x2:1       spawn=2:3+4:1   merging=once     scoring=merges      target=2048  end=stuck
cits1401    size=5x5  start=1..25x2:1   spawn=edge:2    merging=once     scoring=moves:1:-1  target=none  end=stuck
ist         size=4x4  start=2           spawn=2:4+4:1   merging=once     scoring=merges      target=2048  end=stuck
qsan_qarut  size=4x4  start=1           spawn=2:1+4:1   merging=once     scoring=sum         target=2048  end=stuck
"""  # noqa: E501 - a table


@pytest.mark.parametrize("row", PRESETS.strip().splitlines())
def test_presets_are_the_documents_rules(row):
    """Each preset matches its course document, and classic matches the original game."""
    name, *changes = row.split()
    assert str(get_rules(name)) == f"{name}:{','.join(changes)}"


def test_community_boards_are_presets():
    """Boards from 2x4 to 8x8 differ from classic only in size and target."""
    for name in ("2x4", "3x3", "3x4", "5x5", "6x6", "7x7", "8x8"):
        preset = get_rules(name)
        assert f"{preset.rows}x{preset.columns}" == name
        assert (preset.spawn, preset.scoring) == (get_rules("classic").spawn, MergePoints())


def test_boards_for_players_are_the_presets_that_belong_to_no_course():
    """The boards and the courses' presets are all presets, and no preset is both."""
    boards, names = ([each.name for each in presets] for presets in (list_boards(), list_rules()))
    assert boards == ["classic", "2x4", "3x3", "3x4", "5x5", "6x6", "7x7", "8x8"]
    assert sorted([*boards, *COURSE_PRESETS]) == sorted(names)
    assert names[0] == "classic"


@given(rules())
def test_any_rules_survive_being_printed_and_parsed(each):
    """`parse` is the inverse of `str`."""
    assert Rules.parse(str(each)) == each


def test_a_text_changes_a_preset():
    """Omitted settings come from the preset, or from classic."""
    assert Rules.parse("ist:size=5x3") == get_rules("ist", rows=5, columns=3)
    assert Rules("classic") == get_rules("classic")
    assert Rules.parse("mine:target=none") == Rules("mine", target=None)
    start = RandomStart(1, 1, Weights({2: 1}))
    assert Rules.parse("mine:start=1x2:1,spawn=edge,scoring=moves") == Rules(
        "mine", start=start, spawn=EdgeSpawn(2), scoring=MovePoints(1, -1)
    )
    assert Rules.parse("classic:spawn=2:0.9+4:1/10") == get_rules("classic")


def test_a_size_is_classic_of_that_size():
    """`2x3` means classic of that size, while presets named like a size keep their rules."""
    assert Rules.parse("2x3") == Rules.parse("2x3:size=2x3") == Rules("2x3", rows=2, columns=3)
    assert Rules.parse("2x3:target=64") == Rules("2x3", rows=2, columns=3, target=64)
    assert Rules.parse("2X3:target=64") == Rules.parse("2x3:target=64")
    assert Rules.parse("3x3:target=64") == get_rules("3x3", target=64)
    assert Rules.parse("3x3") == get_rules("3x3")
    with pytest.raises(RulesError, match="two cells"):
        Rules.parse("1x1")


@pytest.mark.parametrize("text", ["2x3:size=3x2", "3x3:size=4x4", "2x5:target=64,rows=3"])
def test_a_size_name_must_match_the_size(text):
    """Rules named like a size must have that size."""
    with pytest.raises(RulesError, match="another name"):
        Rules.parse(text)


@pytest.mark.parametrize("name", ["2x3", "3x3", "1x1", "99x99"])
def test_a_full_text_keeps_its_size_whatever_the_name(name):
    """A complete text may have any name and size, so that saved rules can always be read."""
    misleading = Rules(name, target=64)
    assert Rules.parse(str(misleading)) == misleading


@given(weights)
def test_weights_are_exact(each):
    """Probabilities sum to exactly one, and the integers are in lowest terms."""
    shares = [share for _, share in each.pairs]
    assert sum(shares) == 1
    total = sum(each.integers)
    assert [Fraction(number, total) for number in each.integers] == shares
    assert list(each.tiles) == sorted(each.tiles)


@pytest.mark.parametrize(
    "text",
    [
        *("1x2", "2x1", "64x64", "mine:size=64x64,start=4096", f"mine:target={2**63}"),
        *("mine:scoring=moves:1000000:-1000000", f"mine:spawn=2:{2**32 - 1}+4:1"),
    ],
)
def test_limits_can_be_reached(text):
    """The extreme values that rules allow are accepted."""
    assert Rules.parse(str(Rules.parse(text))) == Rules.parse(text)


def test_equal_ratios_are_equal_weights():
    """Weights compare by ratio, and a missing tile has probability zero."""
    assert Weights({2: 9, 4: 1}) == Weights([(4, "0.1"), (2, "0.9")])
    assert Weights({2: 9, 4: 1}).probability(8) == 0


def test_rules_are_frozen():
    """Rules are immutable and hashable."""
    classic = get_rules("classic")
    assert {classic: 1}[get_rules("classic")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        classic.rows = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("x:size=1x1", "1x1", "two cells"),
        ("x:size=65x4", "65", "1 to 64"),
        ("x:size=4x0", "0", "columns must be 1 to 64"),
        ("x:size=4", "'4'", "rows x columns"),
        ("x:size=5x", "size='5x'", "such as size=4x4"),
        ("x:size=2_0x3", "size='2_0x3'", "such as size=4x4"),
        ("x:target=٢٠٤٨", "٢٠٤٨", "whole number"),
        ("x:spawn=2:0", "'0'", "positive"),
        ("x:spawn=2:1/0", "'1/0'", "positive"),
        ("x:spawn=2:1e3", "'1e3'", "positive"),
        ("x:spawn=3:1", "3", "power of two"),
        ("x:spawn=2:1+2:1", "[2, 2]", "twice"),
        (f"x:spawn=2:{2**32}+4:1", f"2:{2**32}", "simpler"),
        ("x:spawn=2:many", "'many'", "positive"),
        ("x:spawn=2:-1", "'-1'", "positive"),
        ("x:spawn=2", "'2'", "weight"),
        ("x:start=17", "17", "fit"),
        ("x:start=0", "0", "at least 1"),
        ("x:start=5..3", "5..3", "smaller number first"),
        ("x:target=6", "6", "power of two"),
        (f"x:target={2**64}", "2**64", "up to 2**63"),
        (f"x:spawn=2:9+{2**70}:1", "2**70", "up to 2**63"),
        (f"x:start=1x{2**64}:1", "2**64", "up to 2**63"),
        (f"x:start=1x2:1,spawn=edge:{2**64}", "2**64", "up to 2**63"),
        ("x:scoring=moves:1000001:-1", "1000001", "at most 1000000"),
        ("x:scoring=moves:1:-1000001", "-1000001", "at most 1000000"),
        ("x:target=none,end=target", "target", "needs a target"),
        ("x:spawn=edge:2", "edge", "start"),
        ("x:spawn=middle:2", "'middle'", "whole number"),
        ("x:spawn=edge:6", "6", "power of two"),
        ("x:merging=twice", "'twice'", "once or cascade"),
        ("x:scoring=points", "'points'", "merges"),
        ("x:end=never", "'never'", "stuck or target"),
        ("x:zzz=1", "zzz=1", "known:"),
        ("x:sze=4x4", "sze", "did you mean 'size'"),
        ("x:size=", "size=", "lacks a value"),
        ("clasic", "'clasic'", "did you mean 'classic'"),
        ("x:end=stuck,end=target", "end=target", "a second time"),
        ("", "''", "start with a name"),
        ("size=4x4", "size=4x4", "start with a name"),
    ],
)
def test_bad_rules_are_refused_with_the_value_and_the_reason(text, value, reason):
    """Invalid rules are rejected in one line with the value and the fix."""
    with pytest.raises(RulesError) as caught:
        Rules.parse(text)
    message = str(caught.value)
    assert value in message
    assert reason in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "name", ["", "a b", "a:b", "a,b", "a=b", "a\x1b[1m", "a\ud800", "a\u202eb"]
)
def test_names_that_cannot_be_parsed_are_refused(name):
    """Names must be printable and free of grammar characters."""
    with pytest.raises(RulesError, match="not a valid name"):
        Rules(name)


def test_wrong_fields_are_refused():
    """A misspelled field is rejected with a suggestion, and sizes must be whole numbers."""
    with pytest.raises(RulesError, match=r"^merging must be of type Merging, not 'once'$"):
        Rules(name="mine", merging="once")
    with pytest.raises(RulesError, match="did you mean 'columns'"):
        get_rules("classic", colums=5)
    with pytest.raises(RulesError, match=r"2\.5"):
        get_rules("classic", rows=2.5)
    with pytest.raises(RulesError, match=r"^3 is not a tile"):  # as `Weights` words it
        Rules.parse("x:spawn=3:1")
    for weight in (None, float("inf")):
        with pytest.raises(RulesError, match=f"{weight} of tile 2 is not a positive number"):
            Weights({2: weight})
    for wrong in (5, [2, 4], [(2, 4, 8)]):
        with pytest.raises(RulesError, match="are not weights"):
            Weights(wrong)


def test_a_size_and_a_name_do_not_hide_a_preset():
    """Of presets that differ only in size and name, the one with the same name is preferred."""
    assert preset_of(get_rules("5x5", name="5X5", rows=9)) == get_rules("5x5")
    assert preset_of(Rules("mine", rows=9, columns=9)) == get_rules("classic")
    assert preset_of(Rules("classic", target=4096)) is None


def test_given_rules_can_be_changed_like_a_preset():
    """`get_rules` accepts the results of `list_rules`."""
    for each in list_rules():
        assert get_rules(each) == each == get_rules(each.name)
    assert get_rules(get_rules("ist"), target=4096) == get_rules("ist", target=4096)
    assert get_rules(name="3x3", rows=4) == get_rules("3x3", rows=4)
