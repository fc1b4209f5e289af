"""The tournament log keeps every finished game."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from py2048 import get_rules
from py2048.core.errors import TournamentError
from py2048.lab.arena import GameResult, Tournament
from py2048.lab.arena.log import GameLog

TOURNAMENT = Tournament(("greedy", "corner"), get_rules("2x4"), 5, seed=8)
GAMES = [
    GameResult("greedy", 0, 11, 100, 16, 30, 0.25),
    GameResult("corner", 0, 11, 84, 16, 28, 0.125),
    GameResult("greedy", 1, 12, 20, 8, 9, 1e-6),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a log with three games."""
    path = tmp_path / "games.log"
    with closing(GameLog(path, TOURNAMENT)) as log:
        for game in GAMES:
            log.add(game)
    return path


def test_what_is_added_is_read_again(path):
    """Added games are read back exactly, except for their records."""
    with closing(GameLog(path, TOURNAMENT)) as log:
        assert log.played == GAMES
        log.add(replace(GAMES[0], game=4, record="{}"))
    with closing(GameLog(path, TOURNAMENT)) as log:
        assert log.played == [*GAMES, replace(GAMES[0], game=4)]


@pytest.mark.parametrize("cut", [1, 20, 70])
def test_a_line_cut_short_is_left_out(path, cut):
    """An incomplete last line is removed before the next game is written."""
    path.write_bytes(path.read_bytes()[:-cut])
    with closing(GameLog(path, TOURNAMENT)) as log:
        assert log.played == GAMES[:2]
        log.add(GAMES[2])
    with closing(GameLog(path, TOURNAMENT)) as log:
        assert log.played == GAMES


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seed": 9}, "belongs to a tournament with seed 8, not 9"),
        ({"rules": get_rules("3x3")}, "belongs to a tournament with rules '2x4:"),
    ],
)
def test_a_log_of_another_tournament_is_refused(path, change, reason):
    """A log of other rules or another seed is refused."""
    before = path.read_bytes()
    with pytest.raises(TournamentError, match=reason):
        GameLog(path, replace(TOURNAMENT, **change))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello\n", "is not a tournament log"),
        ("a line without an end", "is not a tournament log"),
        ('{"format": "py2048 record"}\n', "is not a tournament log"),
        ('{"format": "py2048 arena log", "version": 2}\n', "version 2, not 1"),
    ],
)
def test_another_file_is_refused_and_left_alone(tmp_path, text, reason):
    """A file that is not a log is refused and not changed."""
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(TournamentError, match=reason):
        GameLog(path, TOURNAMENT)
    assert path.read_text() == text


def test_a_first_line_cut_short_is_written_again(path):
    """An incomplete first line is rewritten."""
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    with closing(GameLog(path, TOURNAMENT)) as log:
        assert log.played == []
    assert path.read_bytes() == whole[: whole.find(b"\n") + 1]


def test_a_damaged_line_is_named(path):
    """The error for a damaged line has its number and its content."""
    path.write_text(path.read_text().replace('"score": 84', '"score": "84"'))
    with pytest.raises(TournamentError, match="line 3 is not a game"):
        GameLog(path, TOURNAMENT)
