"""Recorded calls, the course's own tests as transcripts, and what neither tests."""

from __future__ import annotations

import gzip
import json
from code import InteractiveInterpreter
from enum import IntEnum
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from py2048.courses.ist import adt

DATA = Path(__file__).parent


def load(name: str) -> Any:
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


def edges() -> list[list[str]]:
    return [line.split("  =>  ") for line in (DATA / "edges.txt").read_text().splitlines()]


@pytest.mark.parametrize(("call", "expected"), edges())
def test_odd_calls(call, expected):
    """Every recorded call with unusual arguments gives the recorded value or error."""
    names = vars(adt) | {"b": adt.create_board(), "C": adt.create_coordinate(1, 1)}
    try:
        actual = repr(eval(call, names))
    except (ValueError, AttributeError) as error:
        actual = f"{type(error).__name__}: {error}"
    assert actual == expected


@pytest.mark.parametrize("name", sorted(load("transcripts.json.gz")))
def test_course_transcript(name, monkeypatch, capsys):
    """The course's published tests print the published output, up to trailing spaces."""
    transcript = load("transcripts.json.gz")[name]
    statements = iter(transcript["statements"])

    def type_in(prompt: str) -> str:
        answer = next(statements)
        print(prompt + answer)
        return answer

    monkeypatch.setattr("builtins.input", type_in)
    names = vars(adt) | {"coordinate_in_list": coordinate_in_list}
    interpreter = InteractiveInterpreter(dict(names))
    for statement in statements:
        interpreter.runsource(statement)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == [line.rstrip() for line in transcript["stdout"].splitlines()]


def coordinate_in_list(c: Any, coordinates: list[Any]) -> bool:
    return any(adt.coordinates_equal(c, other) for other in coordinates)


def test_values_are_stored_as_plain_integers():
    """Instances of a subclass of int are stored as plain integers."""
    c = adt.create_coordinate(1, 1)
    b = adt.board_fill_position(adt.create_board(), c, IntEnum("Colour", "RED").RED)
    assert type(adt.board_position(b, c)) is int


def test_random_fill_needs_room():
    """`fill_random_position` refuses a full board."""
    b = adt.create_board()
    for row, column in product(range(1, 5), repeat=2):
        adt.board_fill_position(b, adt.create_coordinate(row, column), 2)
    with pytest.raises(ValueError, match=r"^fill_random_position: invalid arguments$"):
        adt.fill_random_position(b)
