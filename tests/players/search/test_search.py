"""Tests of the compiled search: agreement with the plain search, and search limits."""

from __future__ import annotations

from itertools import count, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.boards import ODD_RULES
from tests.processes import python

from py2048 import Board, Direction, Game, Rules, get_rules
from py2048.core.errors import BoardError, RulesError
from py2048.engine.boards import exponents_of, tiles_of
from py2048.engine.jit import plain_form
from py2048.players.ntuple.heuristic import DEFAULT, board_value
from py2048.players.ntuple.layout import NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import shipped_network
from py2048.players.search import _expectimax_kernels as kernels
from py2048.players.search import limits
from py2048.players.search._expectimax_kernels import ALL, SearchParams
from py2048.players.search.expectimax import Expectimax
from py2048.players.search.limits import UNLIMITED_NODES, SearchLimits, SearchSpeed
from py2048.players.search.searcher import Searcher, play_games
from py2048.players.solving import solve

SMALL_LAYOUT = NetworkLayout(2, 3, ((0, 1, 2), (0, 1, 3, 4)))
# The tuples are those of a shipped network: on 4x4 each set of them has a search of its own.
SQUARE_LAYOUT = NetworkLayout(4, 4, parse_tuples("01234 01245 45689 12456", 4, 4), stages=(256,))


def sized(name: str, rows: int, columns: int) -> Rules:
    """Return rules for another board size, with one starting tile and no target."""
    return get_rules(f"{name}:size={rows}x{columns},start=1x2:1,target=none,end=stuck")


def random_board(generator: np.random.Generator, rows: int, columns: int, empty: float) -> Board:
    """Return a random board with about a share of `empty` cells."""
    ranks = generator.integers(1, 12, (rows, columns))
    ranks[generator.random((rows, columns)) < empty] = 0
    return Board.from_rows(tiles_of(ranks))


def random_network(layout: NetworkLayout, rules: Rules, step: float) -> Network:
    """Return a network with random weights, quantised unless `step` is 1."""
    table = np.random.default_rng(4).integers(-100, 300, layout.weights, np.int16)
    return Network(layout, rules, table.astype(np.float32) if step == 1 else table, step=step)


def assert_same(found: dict[Direction, float], expected: dict[Direction, float]) -> None:
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "depth", "empty", "cutoff"),
    [
        ("classic", 4, 4, 1, 0.4, 0.0),
        ("classic", 4, 4, 2, 0.3, 0.0),
        ("comp1127", 4, 4, 2, 0.3, 0.0),
        ("qsan_qarut", 4, 4, 2, 0.2, 0.0),
        ("classic", 4, 4, 3, 0.05, 0.0),
        ("classic", 2, 3, 3, 0.5, 0.0),
        ("cmput175", 3, 3, 3, 0.2, 0.0),
        ("cits1401", 5, 5, 3, 0.4, 0.0),
        ("classic", 5, 4, 2, 0.1, 0.0),
        ("cits1401", 3, 4, 3, 0.3, 0.0),
        ("classic", 4, 4, 4, 0.05, 2**-9),
        ("classic", 4, 4, 3, 0.3, 2**-5),
        ("comp1127", 4, 4, 4, 0.05, 2**-8),
        ("classic", 2, 3, 6, 0.3, 2**-12),
        ("cmput175", 3, 3, 4, 0.2, 2**-9),
        ("cits1401", 3, 4, 8, 0.3, 2**-6),
    ],
)
def test_the_search_is_the_plain_recursion(name, rows, columns, depth, empty, cutoff):
    """The compiled search agrees with the reference on every kind of board.

    With a cutoff, both prune the same paths.
    """
    rules, given, cuts = sized(name, rows, columns), SearchLimits(depth, cutoff=cutoff), 0
    scale = {"cits1401": 0.05, "qsan_qarut": 0.1}.get(name, 1.0)
    most = given.max_cost if cutoff else None
    plain = Expectimax(rules, lambda board: scale * board_value(board), depth, max_cost=most)
    compiled = Searcher(rules, limits=given)
    generator = np.random.default_rng(rows * columns + depth)
    for _ in range(3 if cutoff else 2):
        board = random_board(generator, rows, columns, empty)
        assert_same(compiled.rate(board), plain.rate(board))
        cuts += int(compiled.workers[0].contexts[0].cuts)
    assert cuts > 0 or not cutoff


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    "text", [*ODD_RULES[::2], *(pytest.param(x, marks=pytest.mark.slow) for x in ODD_RULES[1::2])]
)
def test_rules_that_no_preset_has_are_searched_alike(text, depth):
    """Heuristic leaves are scaled to the points of the rules, and a win has a value of its own."""
    game = Game(text, seed=5)
    while game.ply < 6:
        game.play(game.legal_directions()[-1])
    compiled = Searcher(game.rules, limits=SearchLimits(depth))
    context = compiled.workers[0].contexts[0]
    scale, win_value = float(context.scale), float(context.win_value)
    leaf = lambda board: scale * board_value(board)  # noqa: E731 - only here
    plain = Expectimax(game.rules, leaf, depth, win_value=win_value)
    assert_same(compiled.rate(game.board), plain.rate(game.board))


def test_a_move_that_loses_much_is_not_followed():
    """Pruning losing moves saves nodes and does not change the decision."""
    board = Board.parse("2 . 8 64 / 2 8 16 128 / . 2 8 1024")
    rules = get_rules("3x4")
    searcher = Searcher(rules, shipped_network(rules), SearchLimits(6, cutoff=2**-12))
    kept = searcher.rate(board)
    nodes = searcher.nodes
    searcher.workers[0].contexts[0].loss_cost = 0.0
    every = searcher.rate(board)
    assert max(kept, key=kept.__getitem__) == max(every, key=every.__getitem__)
    assert max(kept.values()) == pytest.approx(max(every.values()), rel=1e-3)
    assert nodes < searcher.nodes / 2


LATE = [
    ("classic", "2 4 64 256 / 8 2 32 . / . 4 16 16384 / . 2 8192 32768"),
    ("5x5", "2 4 64 256 2 / 8 2 32 . 4 / . 4 16 512 8 / . 2 1024 4096 2 / 4 2 8 16384 131072"),
]


@pytest.mark.parametrize(("name", "rows"), LATE)
def test_a_search_reads_the_steps_of_shipped_networks(name, rows):
    """A search on quantised weights yields the values of the network."""
    rules = get_rules(name)
    network = shipped_network(rules)
    assert network.table.dtype == np.int16
    board = Board.parse(rows)
    for depth in (1, 2):
        plain = Expectimax(rules, network.value, depth).rate(board)
        searcher = Searcher(rules, network, SearchLimits(depth))
        held = searcher.workers[0].weights
        assert (held[0] if network.bands else held) is network.table
        found = searcher.rate(board)
        assert found == {move: pytest.approx(value) for move, value in plain.items()}


@pytest.mark.parametrize("layout", [SMALL_LAYOUT, SQUARE_LAYOUT])
@pytest.mark.parametrize("threads", [1, 3])
def test_many_boards_are_rated_as_each_by_itself(layout, threads):
    """An array of boards gets the ratings of its boards, with any shape and thread count."""
    rules = sized("classic", layout.rows, layout.columns)
    network, generator = random_network(layout, rules, 0.5), np.random.default_rng(2)
    boards = [random_board(generator, layout.rows, layout.columns, 0.3) for _ in range(40)]
    exponents = exponents_of([board.rows for board in boards]).reshape(2, 20, *rules.shape)
    exponents.setflags(write=False)
    searcher = Searcher(rules, network, SearchLimits(1), threads=threads)
    rated = searcher.rate(exponents).reshape(-1, 4)
    assert searcher.nodes == np.isfinite(rated).sum()
    for board, values in zip(boards, rated, strict=True):
        found = {each: values[each.value] for each in Direction if np.isfinite(values[each.value])}
        assert_same(found, Expectimax(rules, network.value, 1).rate(board))
    values = searcher.values(exponents)
    assert searcher.nodes == 40
    assert values.reshape(-1) == pytest.approx([network.value(board) for board in boards], rel=1e-5)


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("square:size=2x2,start=1,spawn=2:9+4:1,target=none", "2 8 / . 4"),
        ("oblong:size=2x3,start=1,spawn=2:9+4:1,target=16,end=target", "4 8 2 / . . 2"),
    ],
)
def test_a_deep_search_reaches_the_optimum(text, board):
    """A search that reaches the end of the game returns the values of perfect play."""
    rules = Rules.parse(text)
    start = Board.parse(board)
    layout = NetworkLayout(rules.rows, rules.columns, ((0, 1),))
    compiled = Searcher(rules, Network.zeros(layout, rules), SearchLimits(24))
    assert_same(compiled.rate(start), solve(rules).move_values(start))


def test_nothing_that_helps_changes_a_value():
    """Tables, caches and threads do not change a single bit of the values."""
    rules = sized("classic", 4, 4)
    board = Board.parse("2 4 8 16 / 64 . 2 4 / 8 2 16 . / 4 32 2 8")
    given = [
        SearchLimits(3),
        SearchLimits(4, cutoff=0.01),
        SearchLimits(nodes=3000),
        SearchLimits(nodes=40_000),
    ]
    for limit in given:
        reference = Searcher(rules, limits=limit).rate(board)
        for threads in (2, 3, 4):
            assert Searcher(rules, limits=limit, threads=threads).rate(board) == reference
    network = random_network(SQUARE_LAYOUT, rules, 1 / 64)
    for limit, evaluation in product(given[:2], (DEFAULT, network)):
        searcher = Searcher(rules, evaluation, limit)
        reference = searcher.rate(board)
        searcher.workers[0].contexts[0].table_size = np.uint64(1)
        searcher.workers[0].contexts[0].cache_size = np.uint64(1)
        assert searcher.rate(board) == reference


NODES_AFTER_LIMIT = 4 * 16 * 2 * 4
"""Boards that may be rated after the last look at a limit: below one chance node of each move."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("nodes", [100, 5000, 80_000])
def test_nodes_are_a_limit(nodes, threads):
    """A search stays within its node budget, or twice of it on several threads."""
    board = Board.parse("2 4 8 16 / . . 2 4 / 8 2 . . / 4 32 2 .")
    searcher = Searcher(get_rules("classic"), limits=SearchLimits(nodes=nodes), threads=threads)
    searcher.rate(board)
    assert nodes / 20 < searcher.nodes <= min(threads, 2) * nodes + NODES_AFTER_LIMIT


class Tree:
    """Synthetic search tree for iterative deepening in plain Python.

    Attributes:
        searches: Cost limit, node limit and nodes of each iteration.
    """

    def __init__(self, breadth: float, growth: float) -> None:
        self.breadth, self.growth = breadth, growth
        self.searches: list[tuple[int, float, int]] = []
        self.context = Searcher(get_rules("classic"), limits=SearchLimits(ms=1)).workers[0][0][0]

    def search(
        self, root: None, depth: int, cost: int, limit: float, *rest: Any
    ) -> tuple[int, int, bool]:
        *_, current = rest
        nodes = int(2 ** (self.breadth + self.growth * cost))
        current[:] = cost
        self.searches.append((cost, limit, min(nodes, int(limit))))
        return self.searches[-1][2], 1, nodes <= limit

    def deepened(self, params: kernels.SearchParams, legal: int = 4) -> float:
        """Run iterative deepening; return the cost limit of the kept iteration, or -1."""
        self.searches.clear()
        values, current = np.full(4, -1.0), np.zeros(4)
        deepen = plain_form(kernels.make_deepening(self.search))
        deepen(
            None,
            params,
            self.context,
            None,
            np.repeat((0, -1), (legal, 4 - legal)),
            values,
            current,
        )
        return float(values[0])


@given(
    breadth=st.floats(2, 14), growth=st.floats(0.05, 0.6), budget=st.integers(5, 10**6),
    max_cost=st.integers(8, 200), timed=st.booleans(),
)  # fmt: skip
def test_deepening_goes_further_each_time_within_its_boards(
    breadth: float, growth: float, budget: int, max_cost: int, timed: bool
) -> None:
    """Each iteration goes deeper within the budget, and the last completed one is kept."""
    tree = Tree(breadth, growth)
    params = SearchParams(ALL, 9, max_cost, UNLIMITED_NODES, budget, int(timed))
    for _ in range(3 if timed else 1):
        kept = tree.deepened(params)
        complete = [cost for cost, limit, nodes in tree.searches if nodes < int(limit)]
        assert kept == max(complete, default=-1.0) or kept in [c for c, *_ in tree.searches]
        assert all(one < two for one, two in pairwise(complete))
        assert all(cost <= max_cost for cost, *_ in tree.searches)
        rated = sum(nodes for *_, nodes in tree.searches)
        assert rated <= budget * (limits.MAX_MOVE_FACTOR if timed else 1)


def test_a_forced_move_takes_no_time():
    """Forced moves leave their time to later ones, up to the limit of a move."""
    tree, params = Tree(6, 0.2), SearchParams(ALL, 9, 500, UNLIMITED_NODES, 100, 1)
    assert kernels.node_budget(params, 1, 1.0, tree.context) == (0.0, 0.0)
    assert kernels.node_budget(params, 2, 1.0, tree.context) == (100.0, 300.0)
    kernels.record_move(params, 300.0, 5.0, tree.context)
    assert kernels.node_budget(params, 2, 1.0, tree.context) == (75.0, 300.0)
    assert kernels.node_budget(params._replace(is_timed=0), 2, 1.0, tree.context) == (100.0, 100.0)
    tree.deepened(params, legal=1)
    assert kernels.node_budget(params, 2, 1.0, tree.context)[0] == pytest.approx(87.5, abs=1)
    for _ in range(50):
        tree.deepened(params, legal=1)
    assert tree.searches == []
    assert kernels.node_budget(params, 2, 1.0, tree.context) == (300.0, 300.0)
    assert tree.context.breadth == 5.0  # so that no search is worth two boards
    assert kernels.first_cost_limit(1.0, params, tree.context) == -1
    untimed = params._replace(is_timed=0)
    assert kernels.first_cost_limit(1.0, untimed, tree.context) == kernels.FIRST_COST_LIMIT


def test_easy_moves_leave_their_time_to_hard_ones():
    """A clear lead makes a move easy, and a change of the best move makes it hard."""
    before, points = np.array([5.0, 4.0, 9.0, 9.0]), np.array([0, 0, 0, -1])
    for after, worth in [
        ([1.0, 2.0, 9.0, 99.0], limits.EASY_MOVE_FACTOR),
        ([1.0, 8.99, 9.0, 99.0], 1.0),
        ([1.0, 12.0, 9.0, 99.0], limits.HARD_MOVE_FACTOR),
    ]:
        assert kernels.time_factor(points, before, np.array(after)) == worth


@pytest.mark.parametrize(("side", "ms"), [(4, 0.1), (8, 0.1), (8, 1.0)])
def test_a_time_is_kept_on_every_board(side, ms, monkeypatch):
    """Games keep their time on average, whatever overhead a move has."""
    searcher = Searcher(sized("classic", side, side), limits=SearchLimits(ms=ms))
    cells = searcher.cells_of(Game(searcher.rules, seed=3).board)
    state, spent = np.zeros(kernels.STATE, np.int64), searcher.workers[0].contexts.total_nodes

    def seconds() -> float:
        return 2e-5 * int(state[kernels.PLY]) + int(spent[0]) / 3e6

    monkeypatch.setattr("time.thread_time", seconds)
    for moves in (100, 500):
        start = seconds()
        for _ in range(moves):
            searcher.play_on(cells, state, 5, 1)
    assert (seconds() - start) / moves == pytest.approx(ms / 1000, rel=0.1)


@pytest.mark.parametrize("threads", [1, 2])
def test_one_move_ahead_is_searched_in_any_time(threads):
    """One ply is searched even without any time."""
    board, rules = Board.parse("2 4 8 16 / . . 2 4 / 8 2 . . / 4 32 2 ."), get_rules("classic")
    searcher = Searcher(rules, limits=SearchLimits(ms=1), threads=threads)
    searcher.prepare()
    searcher.speed.nodes_per_second = 1.0
    assert searcher.rate(board) == Searcher(rules, limits=SearchLimits(1)).rate(board)


def test_preparing_is_no_part_of_the_first_move():
    """Preparing measures the speed and does not count towards the first move."""
    searcher = Searcher(get_rules("2x4"), limits=SearchLimits(ms=0.5))
    searcher.prepare()
    assert searcher.speed.nodes_per_second != limits.INITIAL_NODES_PER_SECOND
    context = searcher.workers[0].contexts[0]
    assert (context.breadth, context.overrun) == (0.0, 0.0)


def test_a_time_is_processor_time(monkeypatch):
    """Time limits count CPU time, so other programs do not shorten a search."""
    searcher, expected = Searcher(get_rules("classic"), limits=SearchLimits(ms=20)), SearchSpeed()
    searcher.prepare()
    clocks = {"perf_counter": count(0, 1000), "thread_time": count(0, 1)}
    for name, clock in clocks.items():
        monkeypatch.setattr(f"time.{name}", lambda clock=clock: float(next(clock)))
    searcher.speed = SearchSpeed()
    searcher.rate(Board.parse("2 4 8 16 / . . 2 4 / 8 2 . . / 4 32 2 ."))
    expected.record(searcher.nodes, seconds=1.0)
    assert searcher.speed.nodes_per_second == expected.nodes_per_second


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("classic", SearchLimits(2)),
        ("comp1127", SearchLimits(1)),
        ("qsan_qarut", SearchLimits(1)),
        ("3x3", SearchLimits(2)),
        ("cits1401", SearchLimits(1)),
        ("2x4", SearchLimits(3, cutoff=0.05)),
        ("2x4", SearchLimits(nodes=300)),
    ],
)
def test_compiled_games_are_games(name, given):
    """`play_games` plays the same games as `Game` with the best rated moves."""
    rules = get_rules(name)
    searcher = Searcher(rules, limits=given, threads=2 if given.nodes else 1)
    seeds = [3, 2**64 - 1]
    games = play_games(searcher, seeds)
    for number, seed in enumerate(seeds):
        game = Game(rules, seed=seed)
        for ply, move in enumerate(games.directions[number]):
            if ply % 16 == 0:
                rated = searcher.rate(game.board)
                assert move == max(rated, key=rated.__getitem__).value
            game.play(Direction(int(move)))
        assert game.is_over
        found = games.scores[number], games.plies[number], games.tiles[number]
        assert found == (game.score, game.ply, game.board.max_tile)


def test_many_games_are_the_same_in_pieces(monkeypatch):
    """Games do not depend on the number of moves per call or on other games."""
    searcher = Searcher(get_rules("3x3"), limits=SearchLimits(1))
    whole = play_games(searcher, range(20))
    nodes = searcher.nodes
    alone = [play_games(searcher, [seed]) for seed in range(20)]
    monkeypatch.setattr("py2048.players.search.searcher.MAX_MOVES_PER_CALL", 7)
    pieces = play_games(searcher, range(20))
    assert searcher.nodes == nodes > whole.plies.sum()
    for number, single in enumerate(alone):
        for games, place in ((whole, number), (pieces, number)):
            assert (games.directions[place] == single.directions[0]).all()
            assert games.scores[place] == single.scores[0]
    nothing = play_games(searcher, [])
    assert (len(nothing.scores), nothing.directions) == (0, [])


def test_a_search_beyond_what_is_known():
    """A board with too large a tile is rated like the downgraded board."""
    rules = sized("classic", 4, 4)
    searcher = Searcher(rules, limits=SearchLimits(1))
    large = Board.parse("131072 131072 4096 2 / . . . . / 2 . . . / . . . 4")
    lowered = Board.parse("32768 32768 4096 2 / . . . . / 2 . . . / . . . 4")
    one, two = searcher.rate(large), searcher.rate(lowered)
    for direction in (Direction.UP, Direction.DOWN):  # the two do not merge
        assert one[direction] == pytest.approx(two[direction])


def test_what_cannot_be_searched_is_refused():
    """Invalid boards and rules are named in the error."""
    with pytest.raises(RulesError, match="at most 64 cells"):
        Searcher(sized("classic", 9, 9))
    for text in ("x:target=4,end=target", "x:start=1x8:1,target=8,end=target"):
        with pytest.raises(RulesError, match="would end the game"):
            Searcher(Rules.parse(text))
    searcher = Searcher(get_rules("classic"), limits=SearchLimits(1))
    with pytest.raises(BoardError, match="2x2 board does not fit"):
        searcher.rate(Board.parse("2 2 / . ."))
    assert Searcher(Rules.parse(f"x:target={2**63},end=target"))
    with pytest.raises(BoardError, match="too large to search"):
        searcher.rate(Board.empty(4, 4).with_tile((0, 0), 2**32))


def test_the_kernels_mean_the_same_uncompiled():
    """The kernels return the same values as plain Python."""
    code = """
import numpy as np
from py2048 import Board, Rules, get_rules
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games
np.seterr(over="ignore")
for name, board in [
    ("classic", "2 4 8 16 / 4 8 . 4 / 2 4 2 32 / 8 2 4 16"),
    ("3x3", "2 4 . / 8 16 2 / 2 4 8"),
    ("cits1401", "2 4 2 4 2 / 4 8 16 2 4 / 2 . . 4 2 / 8 4 2 16 4 / 2 8 4 2 8"),
]:
    for limits in SearchLimits(2), SearchLimits(3, cutoff=0.2), SearchLimits(nodes=60):
        print(*(f"{value:.4f}" for value in
            Searcher(get_rules(name), limits=limits).rate(Board.parse(board)).values()))
for name in "classic:size=2x3", "comp1127:size=2x3", "cits1401:size=2x3,start=4x2:1":
    games = play_games(Searcher(Rules.parse(name), limits=SearchLimits(1)), range(2))
    print(*(found.tolist() for found in games[:3]), *(len(moves) for moves in games.directions))
"""
    texts = [python("-c", code, check=True, PY2048_JIT=jit).stdout for jit in ("0", "1")]
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == 12
