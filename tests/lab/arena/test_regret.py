"""Losses and luck: exact on solved boards, and means corrected for luck."""

from __future__ import annotations

import re
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

import py2048.lab.arena.statistics
from py2048 import Board, Game, Record, get_rules, make_player
from py2048.core.errors import TournamentError
from py2048.lab.arena import Tournament, compare_players
from py2048.lab.arena.statistics import estimate, judged, losses_and_luck, without_luck
from py2048.players.solving import solve
from py2048.review import Judge
from py2048.review.judges import ExactJudge

RULES = "classic:size=2x3"

POLICY = f"""
from py2048 import Board, Game, make_player
def act(exponents, mask):
    board = Board((2 ** exponents.astype(int) * (exponents > 0)).tolist())
    return make_player("perfect").choose(Game("{RULES}", board=board)).value
"""


def judge(rules: str = RULES, goal: str = "score") -> Judge:
    """Return the exact judge."""
    return ExactJudge(solve(rules, goal))


def test_a_game_given_up_loses_what_was_left():
    """Giving up a game adds its entire remaining value to the regret."""
    solution, game = solve(RULES), Game(RULES, seed=4)
    losses, _ = losses_and_luck(game.record(), ExactJudge(solution))
    assert losses == [solution.value_of(game.board)]


@pytest.mark.parametrize(
    "rules",
    [RULES, "classic:size=2x2,scoring=sum", "classic:size=2x2,scoring=moves:2:-1,start=1..3"],
)
def test_score_loss_and_luck_make_the_value_of_the_game(rules):
    """In every game the score plus the losses minus the luck is the value before the start."""
    solution = solve(rules)
    for seed in range(5):
        game, player = Game(rules, seed=seed), make_player(f"random:seed={seed}")
        while not game.is_over:
            game.play(player.choose(game))
        losses, luck = losses_and_luck(game.record(), ExactJudge(solution))
        assert game.score + sum(losses) - sum(luck) == pytest.approx(solution.value)


@pytest.mark.parametrize(
    ("player", "share"), [("greedy", 1.05), ("heuristic", 0.9), ("perfect", 0)]
)
def test_a_mean_without_luck_is_unbiased_and_better(player, share):
    """Over many small tournaments it is right on average, and varies less than mean scores."""
    tournament = Tournament((player,), get_rules("classic:size=2x2"), 300, recorded=True)
    records = [
        Record.from_json(game.record or "")
        for game in compare_players(tournament, jobs=1).of(player).values()
    ]
    exact = judge("classic:size=2x2")
    luck = [sum(losses_and_luck(record, exact)[1]) for record in records]
    parts = [
        ([record.score for record in records[n : n + 20]], luck[n : n + 20])
        for n in range(0, 300, 20)
    ]
    fair = [without_luck(*part).mean for part in parts]
    raw = [estimate(scores).mean for scores, _ in parts]
    difference = estimate([one - other for one, other in zip(fair, raw, strict=True)])
    assert abs(difference.mean) < 4 * difference.error
    assert stdev(fair) <= share * stdev(raw) + 1e-9


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**6), 10**6)), min_size=20))
def test_correcting_for_luck_never_widens_the_error(games):
    """Whatever the scores and the luck are, the variance is at most that of the scores."""
    scores, luck = zip(*games, strict=True)
    assert without_luck(scores, luck).error <= estimate(scores).error


def test_after_the_tile_is_made_there_is_nothing_to_regret():
    """When solving for a tile, regret ends once the tile is made."""
    board = Board.parse("16 16 2 / 4 2 .")
    game = Game(RULES, board=board)
    game.play("left")
    assert game.board.max_tile == 32
    while not game.is_over:
        game.play(game.legal_directions()[0])
    assert losses_and_luck(game.record(), judge(RULES, "tile=32"))[0] == [pytest.approx(0)]


def test_games_without_records_have_none():
    """The error for games without records says what to leave out."""
    results = compare_players(Tournament(("corner",), get_rules(RULES), 2), jobs=1)
    with pytest.raises(TournamentError, match="leave --log out"):
        next(judged(results, judge()))


def test_a_loss_per_move_has_the_error_of_a_ratio():
    """The standard error of the loss per move agrees with the jackknife over the games."""
    results = compare_players(Tournament(("corner",), get_rules(RULES), 60, recorded=True), jobs=1)
    (found,) = judged(results, judge())
    records = [Record.from_json(played.record) for played in results.of("corner").values()]
    lost = [losses_and_luck(record, judge())[0] for record in records]
    total, moves = sum(map(sum, lost)), sum(map(len, lost))
    without = [(total - sum(game)) / (moves - len(game)) for game in lost]
    assert found.per_move.mean == pytest.approx(total / moves)
    jackknife = stdev(without) * (len(lost) - 1) / len(lost) ** 0.5
    assert found.per_move.error == pytest.approx(jackknife, rel=0.1)


def test_the_command_tells_regret(cli, tmp_path, monkeypatch):
    """`evaluate --regret` reports policies too, as table and JSON, on large boards from a file."""
    words = ["evaluate", "corner", "perfect", "--rules", RULES, "--games", "5", "--quiet", "-j1"]
    out = cli(*words, "--regret")
    assert "regret" in out
    assert "100.0 %" in out
    (tmp_path / "perfect_policy.py").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found = cli.json(*words, "policy:perfect_policy:act", "--regret", "--json")
    corner, perfect, policy = found["judged"]
    assert policy == perfect | {"player": policy["player"]}
    assert perfect["per_game"]["mean"] == pytest.approx(0, abs=1e-9)
    assert corner["per_game"]["mean"] > 1
    assert corner["best_moves"]["share"] < perfect["best_moves"]["share"] == 1
    out = cli("evaluate", "corner", "--rules", "3x3", "--regret", "--quiet", "-n5")
    assert re.search(r"loss by judge expectimax:depth=2 +a move +95 % interval +best moves", out)
    file = tmp_path / "3x3.solution"
    solve("3x3", "tile=8", save=file)
    words = ["evaluate", "corner", "--rules", "3x3", "--solution", str(file), "--quiet"]
    assert "is for tile=8" in cli.error(*words)


def test_an_interruption_loses_no_game_and_no_regret_that_is_known(tmp_path, monkeypatch, cli):
    """Ctrl-C during the regret of the second player keeps all other results."""
    before = py2048.lab.arena.statistics.losses_and_luck

    def interrupted(record: Record, judge: Judge) -> tuple[list[float], list[float]]:
        if record.player == "perfect":
            raise KeyboardInterrupt
        return before(record, judge)

    monkeypatch.setattr(py2048.lab.arena.statistics, "losses_and_luck", interrupted)
    table = tmp_path / "games.csv"
    words = ["evaluate", "corner", "perfect", "--rules", RULES, "--games", "3", "--quiet", "-j1"]
    found = cli.json(*words, "--regret", "--json", "--csv", str(table), status=130)
    assert [each["player"] for each in found["judged"]] == ["corner"]
    assert len(table.read_text().splitlines()) == 1 + 2 * 3
