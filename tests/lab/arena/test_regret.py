"""Regret: exact for planted mistakes, zero for perfect play, less noisy than scores."""

from __future__ import annotations

import json
from statistics import fmean

import pytest

import py2048.lab.arena.statistics
from py2048 import Board, Game, Record, get_rules, make_player
from py2048.cli import main
from py2048.core.errors import TournamentError
from py2048.lab.arena import Tournament, compare_players
from py2048.lab.arena.statistics import regrets, regrets_of
from py2048.players.solving import Solution, solve

RULES = "classic:size=2x3"

POLICY = f"""
from py2048 import Board, Game, make_player
def act(exponents, mask):
    board = Board((2 ** exponents.astype(int) * (exponents > 0)).tolist())
    return make_player("perfect").choose(Game("{RULES}", board=board)).value
"""


def test_one_planted_mistake_is_all_the_regret():
    """The regret of otherwise perfect play is what the one mistake loses."""
    solution, player = solve(RULES), make_player("perfect")
    game, planted = Game(RULES, seed=4), 0.0
    while not game.is_over:
        values = solution.move_values(game.board)
        worst = min(values, key=values.__getitem__)
        loss = max(values.values()) - values[worst]
        if not planted and loss > 1:
            planted = loss
            game.play(worst)
        else:
            game.play(player.choose(game))
    losses = regrets_of(game.record(), solution)
    assert len(losses) == game.ply
    assert sum(losses) == pytest.approx(planted)
    assert sum(loss > 1e-9 for loss in losses) == 1


def test_a_game_given_up_loses_what_was_left():
    """Giving up a game adds its entire remaining value to the regret."""
    solution, game = solve(RULES), Game(RULES, seed=4)
    assert regrets_of(game.record(), solution) == [solution.value_of(game.board)]


def test_score_and_regret_make_the_value_of_the_game():
    """Mean score plus mean regret is the game's value, with a smaller error by regret."""
    solution = solve(RULES)
    tournament = Tournament(("random", "corner"), get_rules(RULES), 400, recorded=True)
    results = compare_players(tournament, jobs=1)
    for each in regrets(results, solution):
        scores = [played.score for played in results.of(each.player).values()]
        assert abs(fmean(scores) + each.per_game.mean - solution.value) < 25
        assert each.best_moves.share < 0.6
        assert each.per_move.mean > 1


def test_after_the_tile_is_made_there_is_nothing_to_regret():
    """When solving for a tile, regret ends once the tile is made."""
    solution = solve(RULES, "tile=32")
    board = Board.parse("16 16 2 / 4 2 .")
    game = Game(RULES, board=board)
    game.play("left")
    assert game.board.max_tile == 32
    while not game.is_over:
        game.play(game.legal_directions()[0])
    assert regrets_of(game.record(), solution) == [pytest.approx(0)]


def test_games_without_records_have_none():
    """The error for games without records says what to leave out."""
    results = compare_players(Tournament(("corner",), get_rules(RULES), 2), jobs=1)
    with pytest.raises(TournamentError, match="leave --log out"):
        next(regrets(results, solve(RULES)))


def test_the_command_tells_regret(capsys, tmp_path, monkeypatch):
    """`evaluate --regret` reports policies too, as table and JSON, on large boards from a file."""
    words = ["evaluate", "corner", "perfect", "--rules", RULES, "--games", "5", "--quiet", "-j1"]
    assert main([*words, "--regret"]) == 0
    out = capsys.readouterr().out
    assert "regret" in out
    assert "100.0 %" in out
    (tmp_path / "perfect_policy.py").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert main([*words, "policy:perfect_policy:act", "--regret", "--json"]) == 0
    corner, perfect, policy = json.loads(capsys.readouterr().out)["regret"]
    assert policy == perfect | {"player": policy["player"]}
    assert perfect["per_game"]["mean"] == pytest.approx(0, abs=1e-9)
    assert corner["per_game"]["mean"] > 1
    assert corner["best_moves"]["share"] < perfect["best_moves"]["share"] == 1
    assert main(["evaluate", "corner", "--rules", "3x3", "--regret", "--quiet"]) == 2
    assert "py2048 solve RULES --save FILE makes one" in capsys.readouterr().err
    file = tmp_path / "3x3.solution"
    solve("3x3", "tile=8", save=file)
    assert main(["evaluate", "corner", "--rules", "3x3", "--solution", str(file), "--quiet"]) == 2
    assert "is for tile=8" in capsys.readouterr().err


def test_an_interruption_loses_no_game_and_no_regret_that_is_known(tmp_path, monkeypatch, capsys):
    """Ctrl-C during the regret of the second player keeps all other results."""
    judged = py2048.lab.arena.statistics.regrets_of

    def interrupted(record: Record, solution: Solution) -> list[float]:
        if record.player == "perfect":
            raise KeyboardInterrupt
        return judged(record, solution)

    monkeypatch.setattr(py2048.lab.arena.statistics, "regrets_of", interrupted)
    table = tmp_path / "games.csv"
    words = ["evaluate", "corner", "perfect", "--rules", RULES, "--games", "3", "--quiet", "-j1"]
    assert main([*words, "--regret", "--json", "--csv", str(table)]) == 130
    assert [each["player"] for each in json.loads(capsys.readouterr().out)["regret"]] == ["corner"]
    assert len(table.read_text().splitlines()) == 1 + 2 * 3
