"""Replay texts of 2048verse become verified records."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import games

from py2048 import Board, Direction, Game, Record, get_rules
from py2048.errors import RecordError
from py2048.game.import_2048verse import from_verse, is_verse

OLD = "".join(map(chr, range(32, 127))) + "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø\u00d7ƒá"
NEW = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ\u00d7ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ¤¾"
)
OLD_NUMBERS = {Direction.UP: 0, Direction.RIGHT: 1, Direction.DOWN: 2, Direction.LEFT: 3}

Entry = tuple[Direction, int, tuple[int, int]]


def entries(game: Game) -> list[Entry]:
    """What a replay writes: the start tiles, then the turns."""
    rows = enumerate(game.start.rows)
    tiles = [(t, (r, c)) for r, row in rows for c, t in enumerate(row) if t]
    start = [(Direction.UP, tile, cell) for tile, cell in tiles]
    return start + [(t.direction, t.spawn.tile, t.spawn.cell) for t in game.turns if t.spawn]


def old_text(game: Game) -> str:
    """The older form: direction, tile, column, row in seven bits."""
    digits = "".join(
        OLD[OLD_NUMBERS[d] << 5 | (tile == 4) << 4 | column << 2 | row]
        for d, tile, (row, column) in entries(game)
    )
    return ("replay:" if digits[0] in ":_" else "replay") + digits


def new_text(game: Game, time: int = 0) -> str:
    """The newer form: 21 bits in three digits of base 128."""
    text = f"{game.rules.rows}x{game.rules.columns}-any thing_"
    for direction, tile, (row, column) in entries(game):
        bits = direction.value | (tile == 4) << 2 | column << 4 | row << 7 | time << 10
        text += NEW[bits >> 14] + NEW[bits >> 7 & 127] + NEW[bits & 127]
    return text


def played(name: str, seed: int, moves: int) -> Game:
    """A game by trying the directions in turn."""
    game = Game(get_rules(name), seed=seed)
    order = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)
    for _ in range(moves):
        if not game.is_over:
            next(filter(game.attempt, order))
    return game


@given(games(st.just(get_rules("classic"))))
def test_both_forms_give_the_game(game: Game) -> None:
    """Every turn of a classic game arrives, with its spawn, and the score is reproduced."""
    for text in (old_text(game), new_text(game)):
        record = from_verse(text)
        record.verify()
        assert record.turns == game.record().turns
        assert (record.start, record.score) == (game.start, game.score)


def test_a_first_tile_that_looks_like_a_separator_is_a_tile() -> None:
    """A 4 on the third cell of the third row is written as the colon that may follow the word.

    Two tiles alone could mean either; the turns of a game fit one of both readings.
    """
    seed = next(n for n in count() if old_text(played("classic", n, 0)).startswith("replay::"))
    game = played("classic", seed, 100)
    record = from_verse(old_text(game).replace("replay::", "replay:"))
    assert (record.start, record.turns) == (game.start, game.record().turns)


@pytest.mark.parametrize("name", ["classic", "3x3", "3x4", "2x4"])
def test_whole_games_of_every_size(name: str) -> None:
    """Sizes are rows x columns and become the presets of that size."""
    game = played(name, 3, 500)
    record = from_verse(new_text(game))
    assert (record.rules, record.score) == (game.rules, game.score)
    head = "replay" if name == "classic" else f"replay_{name}"
    assert from_verse(head + old_text(game).removeprefix("replay")).score == game.score


def test_a_text_written_by_hand() -> None:
    """' ' is all zeros: up, a 2, column 0, row 0; 'k' is 75: down, a 2, column 2, row 3."""
    record = from_verse("replay" + " " + "!" + "k")
    assert record.start == Board.parse("2 . . . / 2 . . . / . . . . / . . . .")
    assert [(b, s) for b, _, s in record.replay()] == [
        (Board.parse(". . . . / . . . . / . . . . / 4 . 2 ."), 4)
    ]


@pytest.mark.parametrize(("time", "millis"), [(0, 0), (5 << 3, 5), (2 << 3 | 1, 262), (2047, 0)])
def test_thinking_times_are_kept(time: int, millis: int) -> None:
    """A resolution and a multiplier; the largest of both marks a closed page."""
    record = from_verse(new_text(played("classic", 1, 3), time))
    assert record.times == (millis,) * 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "begins with replay or 4x4-"),
        ("replay", "start tiles"),
        ("replay !\x07", "no digit"),
        ("4x4-_000", "start tiles"),
        ("4x4-_0000", "multiple of 3"),
        ("1x1-_000000", "1x1"),
        ("4x4-_00000g00" + NEW[112], r"ply 1: cell \(0, 7\) is outside"),
        ("4x4-_00000g00g", r"ply 1 \(up\)"),
    ],
)
def test_damaged_replays_are_refused(text: str, reason: str) -> None:
    """Each refusal is one line with the place."""
    with pytest.raises(RecordError, match=reason):
        from_verse(text)


def test_two_start_tiles_on_one_cell_are_refused() -> None:
    """The second would overwrite the first."""
    with pytest.raises(RecordError, match="start tile"):
        from_verse("replay" + "  " + "@")


def test_ours_are_not_taken_for_theirs(tmp_path: Path) -> None:
    """A record of ours does not begin like a replay text."""
    record = played("classic", 1, 5).record()
    assert not is_verse(record.to_json())
    assert is_verse(old_text(played("classic", 1, 5)))
    path = tmp_path / "x"
    record.save(path)
    assert Record.load(path) == record
