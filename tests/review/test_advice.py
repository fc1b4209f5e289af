"""Hints from a player that is still being compiled: a quick hint first, then its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from tests.processes import python

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.engine.jit import kernel, progress
from py2048.engine.jit.progress import Compiling, NotReadyError
from py2048.players import Unit, make_player, meaning_of
from py2048.players.ntuple.weights import SHIPPED
from py2048.players.searching import SearchPlayer
from py2048.review import advice
from py2048.review.advice import Hint, PositionSnapshot, advise, review_game
from py2048.review.levels import parse_level


class CompiledPlayer:
    """A player whose kernel is not compiled yet."""

    name = "a player of the test, which no other process can make"

    def __init__(self) -> None:
        number = np.int64(time.time_ns())

        @kernel
        def rated(value):  # type: ignore[no-untyped-def]
            return value + number

        self._rated = rated

    def rate(self, game: Game) -> dict[Direction, float]:
        legal = game.legal_directions()
        return {direction: float(self._rated(direction.value)) for direction in legal}

    def choose(self, game: Game) -> Direction:
        return max(self.rate(game), key=self.rate(game).__getitem__)


@pytest.fixture
def player() -> CompiledPlayer:
    return CompiledPlayer()


def snapshot() -> PositionSnapshot:
    rules = get_rules("classic")
    return PositionSnapshot(rules, Board.parse("2 2 4 8/. . . ./. . . ./. . . 2"), 7)


def finished(answers: Iterator[Hint | Compiling]) -> list[Hint]:
    hints = []
    for answer in answers:
        if isinstance(answer, Hint):
            hints.append(answer)
        else:
            assert 0 <= answer.share < 1
            time.sleep(0.01)
    return hints


def test_a_player_that_is_not_compiled_sends_a_quick_one_ahead(player):
    """The first hint needs no compiling and names the player it replaces; the last is its own."""
    quick, full = finished(advise(snapshot(), player))
    assert (quick.player, quick.instead_of, quick.version) == ("quick", player.name, 7)
    game = Game(snapshot().rules, seed=0, board=snapshot().board)
    assert quick.direction in game.legal_directions()
    assert (full.player, full.instead_of) == (player.name, "")
    assert full.values == player.rate(game)
    (again,) = finished(advise(snapshot(), player))
    assert again == full
    assert progress.now() is None


def test_nobody_plays_for_a_player_that_is_being_compiled(player):
    """Autoplay waits for the chosen player, however long it compiles."""
    (hint,) = finished(advise(snapshot(), player, only_move=True))
    assert (hint.player, hint.instead_of, hint.values) == (player.name, "", {})


def preparing(spec: str, module: str = "players.preparing") -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-P", "-m", f"py2048.{module}", spec], subprocess.PIPE
    return subprocess.Popen([*command, "classic"], stdin=pipe, stdout=pipe, text=True)


def test_a_hint_for_a_level_does_not_load_the_search(monkeypatch):
    """The search's network may be large, so a level's hint does not ask the search."""
    player = make_player("expectimax")
    for name in ("rate", "choose", "meaning"):
        monkeypatch.setattr(SearchPlayer, name, None)
    *_, hint = finished(advise(snapshot(), player, parse_level("casual")))
    assert hint.judged is not None


def test_the_players_hint_precedes_that_for_a_level_that_is_not_compiled(monkeypatch):
    """It names the level that it replaces."""
    player, level = make_player("greedy"), parse_level("casual")
    hint = snapshot().ask(player)
    judge = Mock(side_effect=[NotReadyError(), *[hint] * 3])  # two of them compile the level
    monkeypatch.setattr(PositionSnapshot, "judge", judge)
    found = finished(advise(snapshot(), player, level, apart=False))
    assert found == [replace(hint, instead_of="casual"), hint]


@pytest.mark.parametrize("is_each", [True, False])
def test_a_game_on_a_board_that_is_solved_is_reviewed_against_perfect_play(is_each, monkeypatch):
    """Whatever the level; the review has the moves that came before it, in batches by time."""
    monkeypatch.setattr(advice, "BATCH_S", 0.0 if is_each else 1e9)
    game = Game("2x2", seed=1)
    while not game.is_over:
        game.play(game.legal_directions()[0])
    judge, *batches, review = review_game(game.record(), parse_level("casual"))
    assert (judge.name, review.judge, review.level) == ("exact", "exact", None)
    assert sum(batches, ()) == review.moves
    assert [*map(len, batches)] == ([1] * game.ply + [0] if is_each else [game.ply])


def test_any_other_game_is_reviewed_for_the_level():
    """Without a level, it is reviewed against perfect play."""
    for level in (parse_level("casual"), None):
        *_, review = review_game(Game("classic", seed=1).record(), level)
        assert review.level == level


def test_moves_are_ranked_by_their_values():
    """Losses are relative to the best move; ratings are not points."""
    hint = Hint(Direction.LEFT, {Direction.UP: 1.0, Direction.LEFT: 3.0}, "quick", 0)
    assert hint.ranked == [(Direction.LEFT, 3.0), (Direction.UP, 1.0)]
    assert (hint.losses, hint.points) == ([(Direction.LEFT, 0.0), (Direction.UP, 2.0)], None)


def test_the_process_that_compiles_ends_with_the_one_that_asked():
    """The compiling process ends when its work is done or its parent closes the pipe."""
    for name in (("greedy",), ("casual", "review.advice")):
        with preparing(*name) as process:
            assert process.wait(60) == 0
    with preparing("quick:ms=1e12") as process:  # would think forever
        process.stdin.close()
        assert process.wait(60) == 1


TINY = """
from py2048.engine.jit import kernel

@kernel
def worth(number):
    return 10 * number

class TinyPlayer:
    name = "tiny"

    def rate(self, game):
        return {d: float(worth(d.value)) for d in game.legal_directions()}

    def choose(self, game):
        return max(self.rate(game), key=self.rate(game).get)
"""
COLD = """
from tests.review.test_advice import finished, snapshot
from py2048.players import make_player
from py2048.review.advice import advise
from tiny_kernels import worth
quick, full = finished(advise(snapshot(), make_player("tiny")))
assert quick.instead_of == full.player == "tiny", (quick, full)
print(full.direction, sum(worth._cache_hits.values()), sum(worth._cache_misses.values()))
"""


def test_another_process_compiles_into_the_cache(tmp_path):
    """With an empty cache, this process loads what the other process compiled."""
    (tmp_path / "tiny_kernels.py").write_text(TINY)
    metadata = tmp_path / "tiny-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[py2048.players]\ntiny = tiny_kernels:TinyPlayer\n")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    done = python("-c", COLD, **settings)
    assert (done.stderr, done.stdout) == ("", "right 1 0\n")


CLASSIC = "{} 2 4 8/. . . ./. . . ./. . . 2"
LATE = "16384 8192 4096 2048/. . . ./. . . ./. . . 2"
TOO_LATE = "32768 8192 . ./. . . ./. . . ./. . . 2"


@pytest.mark.parametrize(
    ("spec", "board", "unit", "policy"),
    [
        ("ntuple", CLASSIC.format(2), Unit.POINTS, "ntuple"),
        ("ntuple", CLASSIC.format(8192), Unit.POINTS, "ntuple"),
        ("expectimax:depth=2", CLASSIC.format(16384), Unit.POINTS, "ntuple"),
        ("ntuple", LATE, Unit.POINTS, "ntuple"),
        ("ntuple", TOO_LATE, Unit.RATING, "ntuple"),
        ("ntuple", CLASSIC.format(131072), Unit.RATING, ""),
        ("heuristic", CLASSIC.format(2), Unit.RATING, ""),
        ("expectimax:evaluation=heuristic", CLASSIC.format(2), Unit.RATING, ""),
        ("expectimax", ". 2/2 .", Unit.RATING, ""),
        ("quick", ". 2/2 .", Unit.RATING, ""),
        ("greedy", ". 2/2 .", Unit.RATING, ""),
        ("corner", ". 2/2 .", Unit.RATING, ""),
        ("random", ". 2/2 .", Unit.RATING, ""),
        ("montecarlo", CLASSIC.format(2), Unit.POINTS, "random"),
        ("montecarlo:moves=10", CLASSIC.format(2), Unit.RATING, ""),
        ("montecarlo", "2 2 . . . ./" + "/".join([". . . . . ."] * 5), Unit.RATING, ""),
    ],
)
def test_values_are_points_only_where_play_has_shown_it(spec, board, unit, policy):
    """Values are points for calibrated stages and complete rollouts, and ratings otherwise."""
    position = Board.parse(board)
    rows, columns = position.shape
    rules = get_rules("classic", rows=rows, columns=columns)
    meaning = meaning_of(make_player(spec), Game(rules, seed=0, board=position))
    assert (meaning.unit, meaning.policy) == (unit, policy)
    assert (meaning.chance is not None) == (policy == "ntuple")


def test_weights_without_records_give_a_rating(tmp_path):
    """Weights without calibration records give ratings, even if they distinguish every tile."""
    shutil.copy(SHIPPED / "2x4.npz", tmp_path / "mine.npz")
    player = make_player(f"ntuple:weights={tmp_path / 'mine.npz'}")
    hint = PositionSnapshot(get_rules("2x4"), Board.parse("2 4 8 ./. . . 2"), 0).ask(player)
    assert hint.meaning.unit is Unit.RATING
    assert (hint.points, hint.meaning.policy, hint.meaning.chance) == (None, "", None)


def test_a_hint_corrects_points_by_the_records():
    """The correction applies to all directions alike, so losses do not change."""
    player = make_player("ntuple")
    shot = PositionSnapshot(get_rules("2x4"), Board.parse("256 64 8 4/. . . 2"), 0)
    hint, rated = shot.ask(player), player.rate(Game(shot.rules, seed=0, board=shot.board))
    meaning = meaning_of(player, Game(shot.rules, seed=0, board=shot.board))
    assert meaning.excess
    assert hint.values == {way: value - meaning.excess for way, value in rated.items()}
    assert hint.points == max(hint.values.values())
    assert meaning.chance.tile == 512
    assert 0 <= meaning.chance.made < meaning.chance.games
    moved = shot.ask(player, only_move=True)
    assert (moved.points, moved.meaning.chance) == (None, None)


def test_a_hint_promises_points_on_a_board_that_is_nearly_lost():
    """Expected points stay positive, however large the stage's overestimate is."""
    player, board = make_player("ntuple"), Board.parse("8 16 128 256/. 2 4 8")
    hint = PositionSnapshot(get_rules("2x4"), board, 0).ask(player)
    assert hint.points is not None
    assert 0 < hint.points < hint.meaning.excess
