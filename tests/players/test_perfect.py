"""Tests of the `perfect` player."""

from __future__ import annotations

import pytest
from tests.players.solving.making import maker

from py2048 import Board, Game, get_rules, make_player
from py2048.app.session.session import PERFECT_SUMS
from py2048.core.errors import PlayerError
from py2048.engine.jit.progress import ready_only
from py2048.players import Meaning, Unit, meaning_of
from py2048.players.perfect import PerfectPlayer
from py2048.players.solving import solve
from py2048.players.solving.distilled import shipped_moves
from py2048.presentation.hints import describe_outlook
from py2048.review.advice import PositionSnapshot
from py2048.testing import check_player

SMALL = [get_rules(text) for text in ("classic:size=1x5", "ist:size=2x3", "qsan_qarut:size=1x5")]
SHIPPED = [get_rules(f"classic:size={size}") for size in ("2x2", "2x3", "2x4", "3x3")]


def test_it_keeps_the_laws_of_players():
    """The player follows the protocol on boards it solves itself."""
    check_player(make_player("perfect"), SMALL)


@pytest.mark.parametrize("rules", SHIPPED, ids=lambda rules: f"{rules.rows}x{rules.columns}")
def test_shipped_moves_need_only_the_slide_compiled(rules):
    """The bundled moves work without compiling search kernels."""
    make_player("perfect").choose(Game(rules, seed=1))  # compiles the slide
    with ready_only():
        check_player(make_player("perfect"), [rules])


def test_beyond_what_is_shipped_it_searches(monkeypatch):
    """Boards beyond the bundled moves are solved exactly, with values."""
    rules = get_rules("classic:size=2x3")
    solution = solve(rules)
    monkeypatch.setitem(maker.COVERED, rules.shape, 40)
    moves = maker.distil(solution)
    monkeypatch.setattr("py2048.players.perfect.shipped_moves", lambda _: moves)
    player = PerfectPlayer()
    for seed in range(10):
        game = Game(rules, seed=seed)
        while not game.is_over:
            values = solution.move_values(game.board)
            direction = player.choose(game)
            assert values[direction] == pytest.approx(max(values.values()))
            game.play(direction)
    game = Game(rules, board="32 16 2 / . . 2")
    assert player.rate(game) == pytest.approx(solution.move_values(game.board))
    assert meaning_of(player, game) == Meaning(Unit.POINTS, "perfect", is_exact=True)
    below = Game(rules, board="16 8 2 / . . 2")
    assert meaning_of(player, below) == Meaning(Unit.RATING, is_exact=True)


def test_a_hint_is_exact_with_and_without_values(tmp_path):
    """A hint has the points of perfect play, or only the best move where no values are known."""
    file = tmp_path / "2x3.solution"
    value = solve("classic:size=2x3", save=file).value_of(board := Board.parse("2 2 . / . . ."))
    player = make_player(f"perfect:file={file}")
    hint = PositionSnapshot(get_rules("classic:size=2x3"), board, 1).ask(player)
    assert describe_outlook(hint) == f"Exactly {value:,.2f} points to come with perfect play."
    snapshot = PositionSnapshot(get_rules("3x3"), Board.parse("4 4 2 / . . . / . . ."), 1)
    hint = snapshot.ask(make_player("perfect"))
    assert (hint.points, hint.losses) == (None, [(hint.direction, 0)])
    assert describe_outlook(hint) == "This is proven: no move is better."


def test_hints_are_perfect_up_to_the_largest_sum_that_is_known():
    """The boards and sums with perfect hints are those that the bundled moves cover."""
    assert {rules.shape: shipped_moves(rules).covered for rules in SHIPPED} == PERFECT_SUMS


def test_a_file_serves_its_rules_and_goal(tmp_path):
    """A file is also used for equivalent rules, and the player's name recreates it."""
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


def test_what_cannot_be_solved_is_refused():
    """The error is one line that names a way out."""
    reason = "perfect needs a file for 3x4 on 3x4: py2048 solve RULES --output FILE"
    with pytest.raises(PlayerError, match=reason):
        make_player("perfect").rate(Game("3x4", seed=1))
