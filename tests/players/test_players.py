"""Tests of all players: specs, legal moves and playing strength."""

from __future__ import annotations

import gc
import math
import weakref
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import boards, games

from py2048 import Board, Direction, Game, Player, get_rules, list_players, make_player
from py2048.core.errors import GameOverError, PlayerError, RulesError
from py2048.core.rules import RandomStart
from py2048.players import registry
from py2048.players.ntuple.heuristic import (
    DEFAULT,
    LASTING,
    STEEP,
    board_value,
    heuristic_for,
    line_value,
)
from py2048.players.ntuple.layout import NetworkLayout
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import save
from py2048.players.player import PlaysGames
from py2048.players.search.expectimax import Expectimax, heuristic_win_value
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.testing import check_player

QUICK = ("corner", "greedy", "random", "random:seed=3", "expectimax:depth=1")


@cache
def made(spec: str, *, again: bool = False) -> Player:
    """Create a player once, because creating its searchers is slow."""
    return make_player(spec)


few_rules = st.sampled_from(list(map(get_rules, ("classic", "cits1401", "3x4"))))
"""Not more rules than a player keeps searchers for."""


@pytest.mark.parametrize("spec", QUICK)
def test_every_player_keeps_the_laws(spec):
    """Built-in players pass `check_player` under every preset."""
    check_player(make_player(spec))


@pytest.mark.parametrize("spec", QUICK)
@settings(max_examples=30)
@given(game=games(few_rules, longest=30))
def test_a_player_makes_itself_again_from_its_name(spec, game):
    """A player's name is a spec that recreates it."""
    player = made(spec)
    again = made(player.name, again=True)
    assert again.name == player.name
    if not game.is_over:
        assert again.choose(game) == player.choose(game) or spec == "random"


@settings(max_examples=30)
@given(games(few_rules, longest=30))
def test_a_rating_player_chooses_its_best(game):
    """`choose` returns the direction that `rate` values highest."""
    for player in map(made, ("corner", "greedy", "expectimax:depth=1")):
        ratings = player.rate(game)
        if ratings:
            assert ratings[player.choose(game)] == max(ratings.values())


def test_the_registry_lists_what_it_makes():
    """Player names are sorted, described, and can be created."""
    names = list_players()
    assert names == tuple(sorted(names))
    assert {"corner", "expectimax", "greedy", "random"} <= set(names)
    for name in names:
        assert isinstance(make_player(name), Player)
        assert registry.describe_player(name)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("expectimx", "did you mean 'expectimax'"),
        ("", "no player is called ''"),
        ("expectimax:dept=3", "did you mean 'depth'"),
        ("expectimax:depth", "lacks a value"),
        ("expectimax:depth=", "'depth' of player 'expectimax' lacks a value: write depth=…, or"),
        ("ntuple:weights= ", "lacks a value: write weights=…, or leave it out"),
        ("expectimax:depth=two", "depth='two' of player 'expectimax' must be of type int"),
        ("expectimax:depth=0", "depth must be 1 to"),
        ("random:seed=x", "must be of type int"),
        ("random:depth=1", "no option 'depth'"),
        ("greedy:depth=1", "player 'greedy' has no options: leave out ':depth=1'"),
        ("random:seed=-1", "-1 is not a seed"),
        ("montecarlo:seed=-1", "-1 is not a seed"),
        ("montecarlo:games=0", "games must be 1 to"),
        ("beam:width=0", "width must be 1 to"),
        ("expectimax:threads=0", "threads must be 1 to 4"),
        ("expectimax:evaluation=guess", "evaluation must be heuristic or ntuple"),
        ("expectimax:evaluation=heuristic,weights=a.npz", "takes no weights"),
        ("expectimax:ms=1,weights=nowhere.npz", "nowhere.npz does not exist"),
        ("expectimax:depth=3,depth=4", "'depth' of player 'expectimax' is given twice"),
        ("perfect:goal=tile=3", "3 is not a tile"),
        ("perfect:file=/no/where", "No such file"),
        ("perfect:goal=x", "'x' is not a goal"),
        ("ntuple:weights=\x1b[31mred.npz", r"'\x1b' is not printable"),
        ("\ud800", r"'\ud800' is not printable"),
        ("x" * 1001, "a spec has at most 1,000 characters, not 1,001"),
        (f"random:{'x' * 900}", "has no option"),
        ("x" * 900, "no player is called"),
    ],
)
def test_a_wrong_spec_is_refused_with_the_fix(spec, reason):
    """The error is one line that names the value and the fix."""
    with pytest.raises(PlayerError) as caught:
        make_player(spec)
    assert reason in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_plugins_register_through_the_same_door(monkeypatch, cli):
    """Plugins register like built-in players, and a broken one affects only itself."""
    entries = {
        name: EntryPoint(name, f"tests.players.{place}", registry.GROUP)
        for name, place in [
            ("mine", "plugin:Mine"),
            ("broken", "nowhere:None_"),
            ("hasty", "plugin:Hasty"),
            ("nobody", "plugin:nobody"),
            ("vague", "plugin:vague"),
        ]
    }
    monkeypatch.setattr(registry, "entries", lambda: entries)
    assert list_players() == ("broken", "hasty", "mine", "nobody", "vague")
    player = make_player("mine:favourite=up,bold=yes,ratio=0.5")
    assert (player.favourite, player.bold, player.ratio) == ("up", True, 0.5)  # type: ignore[attr-defined]
    for name, reason in [
        ("broken", "'broken' cannot be loaded: ModuleNotFoundError"),
        ("hasty", "'hasty' cannot be created: ZeroDivisionError"),
        ("nobody", "'nobody' is invalid: None lacks name, choose or rate"),
        ("vague:speed=3", "the options of player 'vague' are unknown: NameError"),
    ]:
        with pytest.raises(PlayerError, match=reason):
            make_player(name)
    assert "cannot be loaded" in registry.describe_player("broken")
    listed = cli("players").splitlines()
    assert [line.split()[0] for line in listed] == list(list_players())
    assert "Plays its favourite direction" in listed[2]
    with pytest.raises(PlayerError, match="of type bool"):
        make_player("mine:bold=perhaps")


def test_check_player_catches_what_breaks_the_laws():
    """`check_player` detects violations of each rule."""

    class Good:
        name = "good"

        def choose(self, game: Game) -> Direction:
            if not game.legal_directions():
                raise GameOverError("over")
            return game.legal_directions()[0]

        def rate(self, game: Game) -> dict[Direction, float]:
            return dict.fromkeys(game.legal_directions(), 0.0)

    def broken(**changed: object) -> Player:
        return type("Broken", (Good,), changed)()

    def illegal(_: Player, game: Game) -> Direction:
        return next((d for d in Direction if d not in game.legal_directions()), Direction.UP)

    def meddling(player: Player, game: Game) -> Direction:
        direction = Good.choose(player, game)  # type: ignore[arg-type]
        game.play(direction)
        return direction

    rules = [get_rules("classic")]
    check_player(Good(), rules)
    for player, law in [
        (broken(choose=illegal), "illegal"),
        (broken(choose=lambda _, game: (*game.legal_directions(), Direction.UP)[0]), "finished"),
        (broken(rate=lambda *_: {}), "rated"),
        (broken(rate=lambda _, game: dict.fromkeys(game.legal_directions(), math.inf)), "rated"),
        (broken(choose=meddling), "changed the game|illegal|rated"),
        (broken(name=""), "name"),
        (object(), "lacks"),
    ]:
        with pytest.raises(AssertionError, match=law):
            check_player(player, rules)  # type: ignore[arg-type]


@given(boards())
def test_the_heuristic_is_the_same_for_symmetric_boards(board):
    """Symmetric boards have the same heuristic value, which is positive."""
    turned = Board.from_rows([row[::-1] for row in zip(*board.rows, strict=True)])
    assert board_value(turned) == pytest.approx(board_value(board))
    assert board_value(board) > 0


def test_the_heuristic_likes_order_and_room():
    """Empty cells and equal neighbours raise the heuristic, and disorder lowers it."""
    assert line_value((8, 4, 2, 0)) > line_value((8, 2, 4, 0))
    assert line_value((8, 8, 0, 0)) > line_value((8, 4, 0, 0))
    assert line_value((8, 0, 0, 0)) > line_value((8, 4, 2, 4))


def test_a_search_is_named_by_its_options():
    """Names contain all options that differ from the defaults."""
    for spec in (
        *("expectimax:nodes=500", "expectimax:depth=2,cutoff=0.01", "heuristic:depth=1"),
        *("expectimax:depth=2,cutoff=0.0009765625", "expectimax:ms=20", "quick:ms=1234.5678"),
    ):
        assert make_player(spec).name == spec
    assert make_player("expectimax").name == "expectimax:depth=3"
    assert make_player("expectimax:ms=2.5,threads=2").name == "expectimax:ms=2.5,threads=2"


@pytest.mark.parametrize(("rules", "nodes", "expected"), [
    ("classic", 20_000, STEEP), ("classic", 1000, DEFAULT), ("3x4", 20_000, DEFAULT),
    ("5x5", 20_000, DEFAULT), ("qsan_qarut", 1000, LASTING),
])  # fmt: skip
def test_the_heuristic_follows_the_board_and_how_the_rules_score(rules, nodes, expected):
    """Deep 4x4 searches and other scoring rules have their own heuristics."""
    game = Game(get_rules(rules), board=Board.empty(*get_rules(rules).shape).with_tile((0, 0), 64))
    rated = make_player(f"expectimax:nodes={nodes},evaluation=heuristic").rate(game)
    assert rated == Searcher(game.rules, expected, SearchLimits(nodes=nodes)).rate(game.board)


@pytest.mark.parametrize("spec", ["heuristic:depth=2", "ntuple"])
def test_whole_games_are_those_of_choose(spec):
    """Compiled games are those that the player plays move by move."""
    rules = get_rules("2x4")
    player = make_player(spec)
    assert isinstance(player, PlaysGames)
    assert player.play_games(rules, []) == []
    (finished,) = player.play_games(rules, [11])
    game = Game(rules, seed=11)
    while not game.is_over:
        game.play(player.choose(game))
    assert finished == (game.score, game.board.max_tile, game.ply)


@pytest.mark.parametrize(
    "text",
    [
        "classic:spawn=2:9+8589934592:1",
        "classic:target=4,end=target",
        "cits1401:spawn=edge:8589934592",
    ],
)
def test_rules_that_the_compiled_search_does_not_take_are_played_too(text):
    """Huge spawned tiles and spawns that end the game use the plain search."""
    player, game = make_player("expectimax"), Game(text, seed=2)
    with pytest.raises(RulesError, match=r"is too big|would end the game"):
        Searcher(game.rules)
    assert player.choose(game) in game.legal_directions()
    if game.rules.ends_at_target:
        assert isinstance(player, PlaysGames)
        (finished,) = player.play_games(game.rules, [2])
        assert finished.max_tile == 4


@pytest.mark.parametrize(
    ("spec", "text", "depth"),
    [
        ("expectimax:ms=0.01", "9x9", 1),
        ("expectimax:nodes=1000", "9x9", 1),
        ("expectimax", "9x9", 2),
        ("expectimax", "16x16", 1),
        ("expectimax", "cits1401:size=64x64,start=9x2:1", 2),
    ],
)
def test_boards_too_large_to_compile_for_are_searched_in_time(spec, text, depth):
    """The plain search is two plies deep only if the limits allow it."""
    rules = get_rules(text)
    game = Game(rules, seed=1)
    value = partial(board_value, heuristic=heuristic_for(rules))
    expected = Expectimax(rules, value, depth, heuristic_win_value(rules)).rate(game.board)
    assert make_player(spec).rate(game) == expected


@pytest.mark.parametrize(("tiles", "depth"), [(4, 3), (5, 2)])
def test_a_search_is_less_deep_where_many_tiles_may_appear(tiles, depth):
    """On 64 cells, an exhaustive search is limited to two plies."""
    spawn = "+".join(f"{2 << rank}:1" for rank in range(tiles))
    rules = get_rules(f"8x8:spawn={spawn}")
    for spec, expected in [("expectimax", depth), ("heuristic", depth), ("expectimax:depth=1", 1)]:
        player = make_player(spec)
        assert player.new_searcher(rules).limits.max_depth == expected


def test_a_player_keeps_few_searchers_whatever_the_rules_are_called():
    """Renamed rules share a searcher, and few searchers are kept."""
    player = make_player("heuristic:depth=1")
    kept = weakref.WeakSet[Searcher]()
    for number in range(20):
        rules = get_rules(f"classic:size=2x{number + 2}")
        named = [replace(rules, name=f"{name}-{number}") for name in ("mine", "yours")]
        first, second = (player.searcher(each) for each in named)
        assert first is second
        kept.add(first)
    del first, second
    gc.collect()
    assert len(kept) <= 4


@pytest.mark.parametrize("spec", ["heuristic:depth=1", "quick:ms=0.001"])
def test_a_search_without_compiling_wants_to_win(spec):
    """A winning board is worth more than one that may still win."""
    rules = replace(get_rules("9x9"), target=8, ends_at_target=True)
    board = Board.empty(9, 9).with_tile((0, 0), 4).with_tile((0, 1), 4)
    game = Game(rules, board=board.with_tile((8, 8), 2))
    assert make_player(spec).choose(game) in (Direction.LEFT, Direction.RIGHT)


def test_a_network_rates_boards_too_large_to_compile_for(tmp_path):
    """The plain search uses the network on 9x9."""
    rules = get_rules("classic", rows=9, columns=9)
    weights = np.random.default_rng(1).normal(size=16**2).astype(np.float32)
    network = Network(NetworkLayout(9, 9, ((0, 1),)), rules, weights)
    save(network, tmp_path / "large.npz")
    game = Game(rules, seed=1)
    rated = make_player(f"ntuple:weights={tmp_path / 'large.npz'}").rate(game)
    assert rated == Expectimax(rules, network.value, 1).rate(game.board)


def test_a_new_player_reads_a_file_that_has_changed(tmp_path):
    """A new player reads a changed file, and an existing one keeps its network."""
    (tmp_path / "c++").mkdir()
    file, rules = tmp_path / "c++" / "w.npz", get_rules("classic", rows=9, columns=9)
    layout, game = NetworkLayout(9, 9, ((0, 1),)), Game(rules, seed=1)

    def saved(weight: float) -> Player:
        save(Network(layout, rules, np.full(16**2, weight, np.float32)), file)
        return make_player(f"ntuple:weights={file}")

    before = saved(0.0)
    rated = before.rate(game)
    after = saved(1.0)
    assert before.rate(game) == rated
    assert min(after.rate(game).values()) > max(rated.values())


def test_the_planner_plays_games_without_chance():
    """The planner follows its plan, replans after other moves and rejects random spawns."""
    rules = get_rules("cits1401")
    small = replace(rules, rows=3, columns=3, start=RandomStart(2, 2, rules.start_weights))
    check_player(make_player("beam:width=4"), [small], positions=6)
    game, player = Game(small, seed=5), make_player("beam:width=8")
    while not game.is_over:
        game.play(player.choose(game))
    other = Game(small, seed=5)
    while not other.is_over:
        other.play(other.legal_directions()[0])
    assert game.score > 2 * other.score
    with pytest.raises(PlayerError, match="beam needs deterministic spawns"):
        player.choose(Game(get_rules("classic"), seed=1))


@pytest.mark.parametrize(
    ("scoring", "to_come", "score"), [("moves:1:-1", 17, 17), ("merges", 80, 80), ("sum", 34, 36)]
)
def test_the_planner_puts_off_a_target_that_ends_the_game(scoring, to_come, score):
    """The planner delays a game-ending target and plays the longest game."""
    rules = get_rules(f"cits1401:size=2x3,start=1x2:1,target=16,end=target,scoring={scoring}")
    game, player = Game(rules, seed=1), make_player("beam")
    assert max(player.rate(game).values()) == to_come
    while not game.is_over:
        game.play(player.choose(game))
    assert game.score == score


def test_the_planner_refuses_rules_under_which_moves_cost_points():
    """Rules under which moves cost points are rejected with an alternative."""
    game = Game(get_rules("3x3:spawn=edge:2,start=1x2:1,scoring=moves:-1:-1"), seed=1)
    with pytest.raises(PlayerError, match=r"scoring=moves:-1:-1.*use expectimax"):
        make_player("beam").rate(game)


def test_random_games_rate_directions():
    """The same seed yields the same ratings, in points of random games."""
    check_player(make_player("montecarlo:games=8,seed=1"), positions=3)
    game = Game(get_rules("classic"), seed=4)
    first = make_player("montecarlo:games=2000,seed=3")
    assert first.rate(game) == make_player(first.name).rate(game)
    assert all(800 < points < 1500 for points in first.rate(game).values())
