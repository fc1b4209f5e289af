"""A batch plays the same games as `Game`, bit for bit, with any preset and number of threads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from boards import ODD_RULES
from tests.processes import python

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, DirectionError, RulesError, SeedError
from py2048.core.game import Game
from py2048.core.rules import Rules, get_rules, list_rules
from py2048.engine.batch import BatchGames, rollouts
from py2048.engine.boards import exponents_of, tiles_of

PRESETS = [rules.name for rules in list_rules()]
VARIANTS = [
    *ODD_RULES,
    *("classic:size=1x7,start=1,target=16,end=target", "classic:size=2x8", "classic:size=7x2"),
    "classic:spawn=16384:1",
    "qsan_qarut:size=2x2,spawn=67108864:1,start=4,merging=cascade",
]
TOO_LARGE = [
    ("classic:spawn=2:9+32768:1", "32768.* 4x4: at most 16384"),
    ("classic:size=2x2,start=2x134217728:1,scoring=sum", "134217728.* 2x2: at most 67108864"),
    ("8x8:spawn=64:1", "64.* 8x8: at most 32"),
]


def seed_of(batch: BatchGames, slot: int) -> int:
    """Return the documented seed of the current game in a slot."""
    return rng.derive_seed(rng.derive_seed(batch.seed, slot), int(batch.episodes[slot]))


def assert_same(batch: BatchGames, slot: int, game: Game) -> None:
    assert batch.board(slot) == game.board
    assert batch.scores[slot] == game.score
    assert batch.plies[slot] == game.ply
    legal = tuple(Direction(int(d)) for d in np.flatnonzero(batch.legal_mask[slot]))
    assert legal == game.legal_directions()


def choose(batch: BatchGames, random: np.random.Generator, *, strict: bool) -> np.ndarray:
    """Return a direction for each game; with `strict`, a legal one if possible."""
    ways = random.integers(0, 4, batch.n)
    if strict:
        mask = batch.legal_mask
        weights = random.random(mask.shape) * (mask + 1e-9)
        ways = weights.argmax(axis=1)
    return ways


@pytest.mark.parametrize("text", [*PRESETS, *VARIANTS])
def test_games_agree_with_game(text):
    """Boards, scores, rewards, masks, ends and resets agree with `Game` and the slot's seed."""
    rules = Rules.parse(text)
    batch = BatchGames(rules, 7, seed=11)
    games = [Game(rules, seed=seed_of(batch, slot)) for slot in range(batch.n)]
    random = np.random.default_rng(5)
    for step in range(120):
        for slot, game in enumerate(games):
            assert_same(batch, slot, game)
        ways = choose(batch, random, strict=step % 4 != 0)
        rewards = batch.step(ways)
        for slot, game in enumerate(games):
            before = game.score
            legal = game.attempt(Direction(int(ways[slot])))
            assert rewards[slot] == game.score - before
            assert batch.illegal[slot] == (not legal)
            assert batch.dones[slot] == game.is_over
            if game.is_over:
                assert batch.last_scores[slot] == game.score
                assert Board(tiles_of(batch.last_boards[slot]).tolist()) == game.board
                games[slot] = Game(rules, seed=seed_of(batch, slot))


def test_many_steps_at_once_are_many_steps():
    """``play_random(50)`` equals fifty calls of ``play_random(1)``."""
    once, often = (BatchGames(get_rules("3x3"), 20, seed=4) for _ in range(2))
    tally = once.play_random(50)
    tallies = [often.play_random() for _ in range(50)]
    assert np.array_equal(once.boards, often.boards)
    assert tally == tuple(map(sum, zip(*tallies, strict=True)))
    assert tally.games > 0


def test_random_directions_follow_from_the_draws():
    """The direction of a turn comes from bits 32 to 47 of the previous draw."""
    batch = BatchGames(get_rules("classic"), 30, seed=9)
    for _ in range(40):
        masks, seeds, plies = batch.legal_mask, batch.seeds, batch.plies
        batch.play_random()
        for slot in range(batch.n):
            word = rng.draw(rng.key_of(int(seeds[slot])), (int(plies[slot]) - 1) % 2**64)
            legal = np.flatnonzero(masks[slot])
            assert batch.directions[slot] == legal[(word >> 32 & 0xFFFF) * len(legal) >> 16]


def test_disabled_reset_waits():
    """With ``disabled``, finished games stay unchanged until `reset`, even after a win."""
    rules = Rules.parse("classic:target=16,end=target")
    batch = BatchGames(rules, 60, seed=3, reset="disabled")
    batch.play_random(400)
    assert batch.dones.all()
    boards, scores = batch.observe(), batch.scores.copy()
    assert boards.max(axis=(1, 2)).min() >= 4
    for direction in range(4):
        assert not batch.step([direction] * 60).any()
    assert np.array_equal(batch.boards, boards)
    assert np.array_equal(batch.scores, scores)
    assert np.array_equal(batch.last_scores, scores)
    batch.reset(np.arange(60) < 10)
    assert batch.dones.sum() == 50
    assert np.array_equal(batch.episodes, np.arange(60) < 10)
    assert not batch.scores[:10].any()


def test_set_boards_begins_from_given_positions():
    """Given positions play like `Game(board=...)`, and finished ones are detected immediately."""
    rules = get_rules("qsan_qarut")
    batch = BatchGames(rules, 3, seed=8, history=True)
    board = Board([[2, 4, 8, 16], [0, 0, 2, 2], [0] * 4, [0] * 4])
    stuck = Board([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    boards = exponents_of([board.rows, stuck.rows, board.rows])
    batch.set_boards(boards, [True, True, False])
    assert batch.episodes.tolist() == [1, 1, 0]
    assert batch.dones.tolist() == [False, True, False]
    game = Game(rules, seed=seed_of(batch, 0), board=board)
    for direction in (Direction.LEFT, Direction.DOWN, Direction.RIGHT):
        batch.step([direction.value] * 3)
        game.attempt(direction)
        assert_same(batch, 0, game)
    assert Game.from_history(batch.history(0, 1)).record().turns == game.record().turns


@pytest.mark.parametrize("name", PRESETS)
def test_records_can_be_verified(name):
    """The record of any game, finished or not, verifies and equals the game."""
    batch = BatchGames(get_rules(name), 5, seed=6, history=True)
    random = np.random.default_rng(1)
    for step in range(60):
        batch.step(choose(batch, random, strict=step % 5 != 0))
    for slot in range(batch.n):
        record = Game.from_history(batch.history(slot, int(batch.episodes[slot]))).record()
        record.verify()
        assert record.seed == batch.seeds[slot]
        assert record.score == batch.scores[slot]
        boards = [record.start, *(board for board, _, _ in record.replay())]
        assert boards[-1] == batch.board(slot)
        Game.from_history(batch.history(slot)).record().verify()


def test_history_must_be_requested():
    """Without ``history=True`` there is no history, and the error says what to do."""
    with pytest.raises(ValueError, match="history=True"):
        BatchGames(get_rules("classic"), 2).history(0)


@pytest.mark.parametrize("name", ["classic", "2x4", "5x5", "3x3"])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 530])
def test_observations_are_independent(name, n):
    """`observe` copies `boards`, a read-only view, for any number of games."""
    batch = BatchGames(get_rules(name), n)
    seen = batch.observe()
    assert np.array_equal(seen, batch.boards)
    batch.play_random(5)
    assert not np.array_equal(seen, batch.boards)
    with pytest.raises(ValueError, match="read-only"):
        batch.boards[0, 0, 0] = 3


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n": 0}, ValueError, "n=0"),
        ({"threads": 0}, ValueError, "threads=0"),
        ({"reset": "often"}, ValueError, "same_step"),
        ({"seed": -1}, SeedError, "-1"),
        ({"rules": get_rules("classic", rows=16, columns=16)}, BoardError, "16x16"),
    ],
)
def test_nonsense_is_refused(change, error, message):
    """Invalid arguments are rejected with the value."""
    arguments = {"rules": get_rules("classic"), "n": 4} | change
    with pytest.raises(error, match=message):
        BatchGames(**arguments)


@pytest.mark.parametrize(("text", "message"), TOO_LARGE)
def test_tiles_that_could_outgrow_the_points_are_refused(text, message):
    """Rules whose turns could overflow 32-bit scores are rejected with the tile and limit."""
    rules = Rules.parse(text)
    with pytest.raises(RulesError, match=message):
        BatchGames(rules, 4)
    with pytest.raises(RulesError, match=message):
        rollouts(rules, np.ones((1, *rules.shape), np.uint8), 1)


@pytest.mark.parametrize("merging", ["once", "cascade"])
@pytest.mark.parametrize("scoring", ["merges", "sum"])
def test_the_largest_tiles_are_counted_exactly(merging, scoring):
    """The largest possible tiles score the same as in `Game`."""
    rules = Rules.parse(f"x:spawn=16384:1,merging={merging},scoring={scoring}")
    ranks = [[26, 26, 27, 28], [14, 14, 15, 16], [17, 18, 19, 20], [21, 22, 23, 24]]
    batch, game = BatchGames(rules, 1), Game(rules, board=Board(tiles_of(ranks).tolist()))
    batch.set_boards([ranks])
    game.play(Direction.LEFT)
    assert batch.step([Direction.LEFT.value])[0] == batch.scores[0] == game.score


def test_a_start_that_ends_the_game_is_refused():
    """Rules are rejected if their start could already end the game."""
    for text in ("comp1127:target=4", "x:start=1..2x8:1,target=8,end=target"):
        with pytest.raises(RulesError, match="would end the game"):
            BatchGames(Rules.parse(text), 4)


@pytest.mark.parametrize(
    ("directions", "message"),
    [([0, 1, 4], "4 is not a direction"), ([0, 1], r"\[2\]"), ([0.0, 1.0, 2.0], "float64")],
)
def test_wrong_directions_are_refused(directions, message):
    """Directions are validated before anything moves."""
    batch = BatchGames(get_rules("classic"), 3)
    with pytest.raises(DirectionError, match=message):
        batch.step(directions)


def test_wrong_boards_are_refused():
    """Boards and states with a wrong shape or impossible exponents are rejected."""
    batch = BatchGames(get_rules("classic"), 2)
    with pytest.raises(BoardError, match="5, 5"):
        batch.set_boards(np.zeros((2, 5, 5), int))
    with pytest.raises(BoardError, match="exponents"):
        batch.set_boards(np.full((2, 4, 4), 31))
    with pytest.raises(BoardError, match="sum to 2,147,483,648: the limit is 1,073,741,824"):
        batch.set_boards([[[30, 30, 0, 0], *[[0] * 4] * 3]] * 2)
    with pytest.raises(BoardError, match="does not fit"):
        batch.set_state(BatchGames(get_rules("3x3"), 2).get_state())


@pytest.mark.parametrize("reset", ["same_step", "next_step", "disabled"])
def test_a_copy_in_another_process_plays_on(reset):
    """A batch pickled during games continues identically, including its history."""
    batch = BatchGames(get_rules("2x4"), 600, seed=3, reset=reset, history=True)
    batch.play_random(40)
    code = """if True:
        import pickle, sys
        batch = pickle.load(sys.stdin.buffer)
        tally = batch.play_random(60)
        pickle.dump((tally, batch.get_state(), batch.history(5)), sys.stdout.buffer)
    """
    data, command = pickle.dumps(batch), [sys.executable, "-c", code]
    output = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    tally, state, history = pickle.loads(output)
    assert tally == batch.play_random(60)
    assert tally.games
    assert all(map(np.array_equal, state, batch.get_state()))
    assert history == batch.history(5)


def test_any_integer_type_and_layout_is_accepted():
    """Kernels without type lookup receive converted arrays, whatever the type of the arguments."""
    plain, other = (BatchGames(get_rules("classic"), 40, seed=1) for _ in range(2))
    ways = np.random.default_rng(1).integers(0, 4, 40)
    fixed = ways.astype(np.uint8)
    fixed.flags.writeable = False
    for form in (fixed, ways.astype(np.int16), ways.astype(">i8"), np.repeat(ways, 2)[::2]):
        np.testing.assert_array_equal(plain.step(ways.tolist()), other.step(form))
        np.testing.assert_array_equal(plain.boards, other.boards)
    slots, seeds = np.arange(0, 40, 4), np.arange(10, dtype=np.uint64)
    plain.seed_slots(slots, seeds)
    other.seed_slots(np.arange(0, 40, 2).astype(np.int32)[::2], seeds)
    np.testing.assert_array_equal(plain.boards, other.boards)


def test_number_of_random_steps_is_whole():
    """A fractional number of steps is rejected, not truncated."""
    with pytest.raises(TypeError):
        BatchGames(get_rules("classic"), 1).play_random(1.5)  # type: ignore[arg-type]


def test_first_step_from_the_cache_loads_no_compiler():
    """With cached kernels, a first step loads only ``numba`` itself, not its compiler."""
    code = """if True:
        import sys
        from py2048.engine.batch import BatchGames
        from py2048.core.rules import get_rules
        BatchGames(get_rules("classic"), 600).step([0] * 600)
        late = {"numba.np.arrayobj", "numba.cpython.listobj", "numpy.ma", "concurrent.futures"}
        print(*late & set(sys.modules))
    """
    for _ in range(2):  # compiles if necessary
        output = python("-c", code, check=True, PY2048_JIT="1")
    assert output.stdout.split() == []


def test_batch_survives_a_fork():
    """A child process forked after a threaded step can itself step on several threads."""
    code = """
import os
from py2048.engine.batch import BatchGames
from py2048.core.rules import get_rules
batch = BatchGames(get_rules("classic"), 20_000, threads=2)
batch.play_random(2)
child = os.fork()
if child == 0:
    batch.play_random(2)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    python("-W", "ignore", "-c", code, check=True)
