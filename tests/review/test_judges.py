"""Judges: luck averages zero, threads change nothing, and every rule set has a judge."""

from __future__ import annotations

from itertools import product

import pytest

from py2048 import Board, Direction, Game, get_rules, make_player
from py2048.core.errors import PlayerError
from py2048.core.game import Turn
from py2048.core.game.turn import Spawn, possible_cells
from py2048.players.solving import Formation, build_table, find_ending, tables
from py2048.review import Grade, Judge, judge_for, judges, review
from py2048.review.moves import Position

LUCKY = (
    "ist:size=2x3",
    "qsan_qarut:size=2x3",
    "classic:size=3x3,spawn=2:1+4:1+8:1",
    "comp1127:size=3x3,target=8",
    "3x3",
)


def mean_luck(judge: Judge, board: Board) -> float:
    """Return the mean luck over all spawns after the first legal move."""
    slide = board.slide(board.legal_directions()[0], judge.rules.merging)
    cells = possible_cells(judge.rules, slide.board, slide.direction)
    total = 0.0
    for tile, chance in judge.rules.spawn_weights.pairs:
        for cell in cells:
            turn = Turn(slide.direction, slide, Spawn(tile, cell))
            found = judge.review_move(Position(1, board, board.sum, slide.direction), turn)
            total += float(chance) / len(cells) * found.luck
    return total


SEARCHES = [f"expectimax:{limit}" for limit in ("depth=1", "depth=2", "nodes=50")]


@pytest.mark.parametrize(
    ("rules", "spec"), [*product(LUCKY, SEARCHES), ("2x3", "greedy"), ("2x3", "perfect")]
)
def test_luck_has_no_mean(rules, spec):
    """Luck averages zero over all spawns of a move, for all rules and judges."""
    chosen = get_rules(rules)
    judge, game = judge_for(chosen, spec), Game(chosen, seed=3)
    for _ in range(6):
        values = judge.rate(game.board)
        scale = max(1.0, *map(abs, values.values()))
        assert abs(mean_luck(judge, game.board)) < 1e-5 * scale
        game.play(game.legal_directions()[-1])
        if game.is_over:
            break


@pytest.mark.parametrize("spec", ["montecarlo:games=8,seed=1", "perfect"])
def test_a_score_by_the_sum_counts_once(spec):
    """In a deterministic game, every move's expected score is the final score, exact or not."""
    game = Game("qsan_qarut:size=1x2,start=1,spawn=2:1", seed=1)
    while not game.is_over:
        game.play(game.legal_directions()[0])
    found = review(game.record(), spec)
    assert {move.expected for move in found.moves} == {game.score} == {6}
    assert found.is_exact is (spec == "perfect")


def test_where_the_best_move_is_known_no_other_is_worth_more():
    """On 3x3 the search gives the values, but no move exceeds the shipped best move."""
    game, player = Game("3x3", seed=2), make_player("perfect")
    while game.ply < 60:
        game.play(player.choose(game))
    found = review(game.record())
    assert found.judge.startswith("expectimax")
    assert not found.is_exact
    assert (found.accuracy, set(found.mistakes)) == (100.0, set())
    assert {move.played for move in found.moves} == {move.best for move in found.moves}


def test_a_table_of_endings_decides_where_it_knows_the_board(monkeypatch, tmp_path):
    """A table decides the share lost and is named as the source, if its chance is high enough."""
    monkeypatch.setenv("PY2048_HOME", str(tmp_path))
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = ". . . # / . . . # / # # # # / # # # #".replace(" / ", "\n")
    wide = Formation.of("wide", {"picture": rows, "slack": 10})
    table = build_table(wide, 32, folder / "wide-32.table")
    board = Board.parse("2 . 4 1024 / . . 2 4096 / 64 128 256 8192 / 16384 32768 65536 131072")
    chances = table.move_chances(board)
    worst = min(chances, key=chances.__getitem__)
    judge, at = judge_for(get_rules("classic"), "heuristic:depth=1"), Position(1, board, 0, worst)
    most = max(chances.values())
    monkeypatch.setattr(tables, "MIN_CHANCE", 0.0)
    monkeypatch.setattr(judges, "MIN_TABLE_CHANCE", most + 0.01)
    assert judge.review_move(at).source == "heuristic:depth=1"
    monkeypatch.setattr(judges, "MIN_TABLE_CHANCE", most - 0.01)
    found = judge.review_move(at)
    assert (found.source, found.chances) == ("wide-32", chances)
    assert found.share == pytest.approx(1 - chances[worst] / most, abs=1e-6)
    assert found.loss == pytest.approx(found.share * found.values[found.best], rel=1e-4)
    assert found.grade is Grade.BLUNDER
    elsewhere = Board.parse("2 2 . . / . 4 . . / . . . . / . . . .")
    other = judge.review_move(Position(1, elsewhere, 0, Direction.DOWN))
    assert (other.source, other.chances, other.survival) == ("heuristic:depth=1", {}, False)
    sure = find_ending(board, judge.rules)._replace(chances=dict.fromkeys(chances, 1.0))
    monkeypatch.setattr(judges, "find_ending", lambda *_: sure)  # it ranks no move
    assert judge.review_move(at).source == "heuristic:depth=1"


@pytest.mark.parametrize(
    ("rules", "moves"),
    [
        *(("cits1401:size=3x3,start=2x2:1", 12), ("8x8", 3), ("9x9", 2), ("1x8", 5)),
        ("cits1401:size=2x3,start=2x2:1", 3),
        ("classic:spawn=2:1+8589934592:9", 3),
    ],
)
def test_every_board_has_a_judge(rules, moves):
    """Rules that search does not support have a judge; deterministic spawns have no luck."""
    game = Game(rules, seed=6)
    while game.ply < moves and not game.is_over:
        for direction in ("up", "right", "left", "down"):
            game.attempt(direction)
    spec = "heuristic:depth=1" if 8 < game.rules.cells <= 64 else ""
    found = review(game.record(), spec)
    assert [move.ply for move in found.moves] == list(range(1, game.ply + 1))
    if game.rules.is_deterministic:
        assert found.luck == 0


def test_a_start_too_large_to_be_solved_is_searched():
    """Starts too large to solve are searched; asking for exact values explains the failure."""
    game = Game("2x3", board=Board.parse("65536 131072 2 / . . ."), seed=1)
    game.play("down")
    assert review(game.record()).judge == "expectimax:depth=3"
    with pytest.raises(PlayerError, match="a board with a sum of 196610 cannot be solved"):
        review(game.record(), "perfect")


def test_no_exact_judge_for_a_large_board():
    """The error explains how to solve the rules."""
    with pytest.raises(PlayerError, match="py2048 solve RULES --output FILE makes one"):
        judge_for(get_rules("classic"), "perfect")
