"""`perfect`: exactly the best move wherever a solution says it, and a clear reason elsewhere."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev

import pytest

from py2048 import Board, Game, get_rules, make_player
from py2048.errors import PlayerError
from py2048.players import Unit, meaning_of
from py2048.session.advice import PositionSnapshot
from py2048.solving import solve
from py2048.testing import check_player
from py2048.ui.shared.describe import describe_hint

pytestmark = pytest.mark.timeout(600)  # the first on a machine compiles the kernels

SMALL = [get_rules(text) for text in ("classic:size=2x2", "ist:size=2x3", "qsan_qarut:size=1x5")]


def test_it_keeps_the_laws_of_players() -> None:
    """On boards that it solves by itself, under scores by merges and by sum."""
    check_player(make_player("perfect"), SMALL)


def test_games_are_worth_what_the_solution_says() -> None:
    """The mean of 1,500 games is the exact value, within three standard errors."""
    rules, player = get_rules("classic:size=2x3"), make_player("perfect")
    scores = []
    for seed in range(1500):
        game = Game(rules, seed=seed)
        while not game.is_over:
            game.play(player.choose(game))
        scores.append(game.score)
    error = stdev(scores) / len(scores) ** 0.5
    assert abs(fmean(scores) - solve(rules).value) < 3 * error


def test_a_hint_is_exact() -> None:
    """It says so, in points of perfect play."""
    board = Board.parse("2 2 . / . . .")
    hint = PositionSnapshot(get_rules("classic:size=2x3"), board, 1).ask(make_player("perfect"))
    assert hint.meaning.is_exact
    value = solve("classic:size=2x3").value_of(board)
    assert hint.points == pytest.approx(value)
    assert f"Exactly {value:,.2f} points to come under perfect play." in describe_hint(hint)


def test_a_file_serves_its_rules_and_goal(tmp_path: Path) -> None:
    """Rules that play the same are served too; the name makes the player again."""
    file = tmp_path / "2x3.solution"
    solution = solve("classic:size=2x3", "tile=64", save=file)
    player = make_player(f"perfect:goal=tile=64,file={file}")
    game = Game(get_rules("classic:size=2x3,target=32"), seed=3)
    chances = {d: 100 * value for d, value in solution.move_values(game.board).items()}
    assert player.rate(game) == make_player(player.name).rate(game) == chances
    assert meaning_of(player, game).unit is Unit.RATING
    won = Game(get_rules("classic:size=2x3"), board=Board.parse("64 2 . / 2 . ."))
    assert set(player.rate(won).values()) == {100.0}
    with pytest.raises(PlayerError, match="is for tile=64: give goal=tile=64"):
        make_player(f"perfect:file={file}")


@pytest.mark.parametrize(
    ("spec", "text", "reason"),
    [
        ("perfect", "3x3", "perfect needs a file for 3x3 on 3x3: py2048 solve RULES --save FILE"),
        ("perfect", "cits1401:size=2x2,start=2x2:1", "only rules whose tiles appear at random"),
    ],
)
def test_what_cannot_be_solved_is_refused(spec: str, text: str, reason: str) -> None:
    """The reason is one line, and names the way out."""
    with pytest.raises(PlayerError, match=reason):
        make_player(spec).rate(Game(get_rules(text), seed=1))


def test_boards_that_no_game_meets_are_refused() -> None:
    """A board that was set up may be one."""
    game = Game("classic:size=2x2", board="64 64 / . .")
    with pytest.raises(PlayerError, match="no game under classic meets the board 64 64"):
        make_player("perfect").rate(game)


@pytest.mark.parametrize(
    "spec", ["perfect:goal=tile=3", "perfect:file=/no/where", "perfect:goal=x"]
)
def test_wrong_options_are_named(spec: str) -> None:
    """One line that names the value."""
    with pytest.raises(PlayerError, match=r"3 is not a tile|No such file|'x' is no goal"):
        make_player(spec)
