"""`GameEnv` plays the same game as `py2048.Game` and follows Gymnasium's rules."""

from __future__ import annotations

import copy
import math
import pickle
import re
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as some
from tests.envs.following import board_of, exponents_of, mask_of

from py2048 import Board, Direction, Game, Rules, get_rules
from py2048.core.errors import BoardError, IllegalMoveError, RulesError, SeedError
from py2048.envs import GameEnv, GameState, GameVectorEnv, Transition, environment_ids
from py2048.envs.options import OptionError
from py2048.envs.single import ROWS

actions = st.lists(st.integers(0, 3), max_size=60)
STUCK = Board.from_rows([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])


def follow(env: GameEnv, game: Game, moves: list[int]) -> None:
    """Play moves on both and compare everything the environment returns."""
    for action in moves:
        if game.is_over:
            break
        score, was_legal = game.score, Direction(action) in game.legal_directions()
        observation, reward, terminated, truncated, info = env.step(action)
        assert game.attempt(Direction(action)) is was_legal
        assert board_of(observation) == game.board
        assert reward == game.score - score
        assert (terminated, truncated) == (game.is_over, False)
        assert info["action_mask"].tolist() == mask_of(game)
        assert info["score"] == env.score == game.score
        assert info["score"].dtype == np.int64, "as in a vector"


@given(rules=some.presets | some.rules(), seed=some.seeds, moves=actions)
def test_an_environment_plays_the_game_of_its_rules(
    rules: Rules, seed: int, moves: list[int]
) -> None:
    """Boards, rewards, ends and masks equal those of `Game` under any rules."""
    env = GameEnv(rules)
    observation, info = env.reset(seed=seed)
    game = Game(rules, seed=env.game_seed)
    assert board_of(observation) == game.board
    assert info["action_mask"].tolist() == mask_of(game)
    follow(env, game, moves)


def test_whole_games_agree() -> None:
    """Long games agree to their end, across many memory blocks."""
    env = GameEnv()
    chance = np.random.default_rng(5)
    for number in range(20):
        env.reset(seed=9 if number == 0 else None)
        game = Game(get_rules(), seed=env.game_seed)
        while not game.is_over:
            follow(env, game, [int(chance.choice([d.value for d in game.legal_directions()]))])
        assert game.ply > ROWS or number


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7"])
def test_what_is_not_a_seed_is_refused(seed: Any) -> None:
    """An invalid seed is refused before anything changes."""
    env = GameEnv()
    env.reset(seed=3)
    before = env.state()
    with pytest.raises(SeedError, match="is not a seed"):
        env.reset(seed=seed)
    assert env.state() == before


# --- observations and rewards --------------------------------------------------------------------


@given(game=some.games())
def test_every_form_of_observation_shows_the_board(game: Game) -> None:
    """One-hot and normalised observations contain the same board."""
    state = GameState.of(game.board)
    exponents = exponents_of(game.board)
    env = GameEnv(game.rules, observation="onehot")
    planes, _ = env.restore(state)
    assert planes in env.observation_space
    assert (planes.argmax(axis=0) == exponents).all()
    assert (planes.sum(axis=0) == 1).all()
    env = GameEnv(game.rules, observation="normalised")
    parts, _ = env.restore(state)
    assert parts in env.observation_space
    largest = GameEnv(game.rules).observation_space.high.flat[0]
    assert (np.rint(parts * largest) == exponents).all()


@pytest.mark.parametrize("observation", ["exponents", "onehot", "normalised"])
def test_what_a_step_returns_belongs_to_the_caller(observation: str) -> None:
    """Returned arrays never change later, and writing to them changes no game."""
    env, written = (GameEnv(observation=observation) for _ in range(2))
    env.reset(seed=1)
    written.reset(seed=1)
    kept, copies = [], []
    for number in range(3 * ROWS):
        board, _, terminated, _, info = env.step(number % 4)
        kept.append((board, info["action_mask"]))
        copies.append((board.copy(), info["action_mask"].copy()))
        other, _, _, _, told = written.step(number % 4)
        assert data_equivalence((other, told["action_mask"]), copies[-1], exact=True)
        other += 9
        told["action_mask"][:] = 0
        if terminated:
            env.reset()
            written.reset()
    assert data_equivalence(kept, copies, exact=True)


@given(seed=some.seeds, moves=actions, rules=some.presets)
def test_the_log_reward_is_the_logarithm_of_the_points(
    seed: int, moves: list[int], rules: Rules
) -> None:
    """``log`` is ``log2(1 + points)`` with the sign of the points."""
    plain, logged = GameEnv(rules), GameEnv(rules, reward="log")
    plain.reset(seed=seed)
    logged.reset(seed=seed)
    for action in moves:
        points, terminated = plain.step(action)[1:3]
        assert logged.step(action)[1] == math.copysign(math.log2(1 + abs(points)), points)
        if terminated:
            break


def test_a_custom_reward_sees_the_whole_step() -> None:
    """A custom reward receives boards, action, points, legality and end."""
    seen: list[Transition] = []

    def count_empty(transition: Transition) -> float:
        seen.append(transition)
        return float((transition.after == 0).sum())

    env, plain = GameEnv("2x4", reward=count_empty), GameEnv("2x4")
    board, _ = env.reset(seed=4)
    plain.reset(seed=4)
    terminated = False
    while not terminated:
        action = len(seen) % 4
        after, reward, terminated, _, _ = env.step(action)
        _, points, ended, _, _ = plain.step(action)
        was = seen[-1]
        assert reward == (after == 0).sum()
        assert np.array_equal(was.before, board)
        assert np.array_equal(was.after, after)
        assert was[1:2] + was[3:] == (action, points, not np.array_equal(board, after), ended)
        board = after


# --- illegal actions -----------------------------------------------------------------------------


def at_the_left(rules: str = "classic", **options: Any) -> GameEnv:
    """Return an environment in a position where sliding left is illegal."""
    env = GameEnv(rules, **options)
    size = env.rules.columns
    env.restore(GameState.of(Board([[2, *[0] * (size - 1)], *[[0] * size] * (size - 1)])))
    return env


@pytest.mark.parametrize(
    ("options", "reward"),
    [
        ({}, 0.0),
        ({"penalty": -5.0}, -5.0),
        ({"illegal": "penalty"}, -1.0),
        ({"illegal": "penalty", "penalty": -8}, -8.0),
        ({"rules": "cits1401"}, -1.0),
        ({"rules": "cits1401", "illegal": "penalty"}, -2.0),
        ({"illegal": "terminate"}, 0.0),
        ({"illegal": "terminate", "penalty": -3}, -3.0),
    ],
)
def test_an_illegal_action_changes_nothing_and_costs_what_was_said(
    options: dict[str, Any], reward: float
) -> None:
    """An illegal action keeps the board and costs the rules' points plus the penalty."""
    env = at_the_left(**options)
    before, mask = env.state(), env.action_masks()
    observation, received, terminated, truncated, info = env.step(Direction.LEFT.value)
    assert received == reward
    assert terminated is (options.get("illegal") == "terminate")
    assert truncated is False
    assert observation.tobytes() == before.exponents == env.state().exponents
    assert info["action_mask"].tolist() == mask.tolist() == [0, 1, 0, 1]
    assert env.state().ply == before.ply


def test_an_illegal_action_can_raise() -> None:
    """With ``raise``, the error names direction and board, and nothing changes."""
    env = at_the_left("cits1401", illegal="raise")
    before = env.state()
    with pytest.raises(IllegalMoveError, match="left changes nothing on 2 "):
        env.step(Direction.LEFT.value)
    assert env.state() == before
    assert env.step(Direction.RIGHT.value)[1] == 1.0


@pytest.mark.parametrize("action", [-1, 4, 2**40, 2**70, 1.5, None, "left", [1]])
def test_what_is_not_an_action_is_refused(action: Any) -> None:
    """Values other than 0 to 3 are refused and change nothing."""
    env = GameEnv()
    env.reset(seed=1)
    before = env.state()
    with pytest.raises(OptionError, match=f"^action {re.escape(repr(action))} is not one: give 0"):
        env.step(action)
    assert env.state() == before


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.uint8, np.array])
def test_actions_of_every_integer_kind_are_welcome(kind: Any) -> None:
    """Python and NumPy integers and 0-d arrays are accepted as actions."""
    env, other = GameEnv(), GameEnv()
    env.reset(seed=6)
    other.reset(seed=6)
    assert np.array_equal(env.step(kind(1))[0], other.step(1)[0])


# --- the order of calls, and the end -------------------------------------------------------------


def test_no_step_before_the_first_reset() -> None:
    """A step before the first reset is refused even without Gymnasium's wrapper."""
    with pytest.raises(ResetNeeded):
        GameEnv().step(0)
    with pytest.raises(ResetNeeded):
        GameVectorEnv(2).step(np.zeros(2, int))
    with pytest.raises(ResetNeeded):
        GameVectorEnv(2).reset(options={"reset_mask": np.array([True, False])})


def test_no_step_after_the_end() -> None:
    """After the end of an episode, only `reset` is allowed."""
    env = GameEnv("2x4")
    env.reset(seed=1)
    steps = 0
    while not env.step(steps % 4)[2]:
        steps += 1
    assert not env.action_masks().any()
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_a_game_that_is_over_from_the_start_ends_at_its_first_step() -> None:
    """A game without legal moves at the start ends at its first step."""
    env = GameEnv("classic:target=2,end=target")
    _, info = env.reset(seed=1)
    assert not info["action_mask"].any()
    _, reward, terminated, _, _ = env.step(0)
    assert (reward, terminated) == (0.0, True)


# --- keeping and restoring -----------------------------------------------------------------------


@given(rules=some.presets, seed=some.seeds, before=actions, after=actions)
def test_a_restored_game_continues_as_it_did(
    rules: Rules, seed: int, before: list[int], after: list[int]
) -> None:
    """From a restored state, the same actions give the same game."""
    env = GameEnv(rules)
    env.reset(seed=seed)
    for action in before:
        if env.step(action)[2]:
            break
    state = pickle.loads(pickle.dumps(env.state()))
    other = GameEnv(rules)
    runs = []
    for each in (env, other, env):
        shown = each.restore(state)
        assert each.state() == state
        run = [shown]
        for action in after:
            run.append(each.step(action))
            if run[-1][2]:
                break
        runs.append(run)
    assert data_equivalence(runs[0], runs[1], exact=True)
    assert data_equivalence(runs[0], runs[2], exact=True)


def test_restoring_overwrites_no_earlier_observation() -> None:
    """Observations are views of blocks of memory, but each keeps its board for ever."""
    env = GameEnv()
    boards = 10 * [Board.empty(4, 4).with_tile(divmod(cell, 4), 2) for cell in range(16)]
    found = [env.restore(GameState.of(board, score=number)) for number, board in enumerate(boards)]
    assert [board_of(observation) for observation, _ in found] == boards
    assert [info["score"] for _, info in found] == list(range(len(boards)))


def test_reset_can_start_from_a_state() -> None:
    """``reset(options={'state': state})`` restores through wrappers."""
    env = gymnasium.make("py2048/Classic-v0", max_episode_steps=5)
    env.reset(seed=1)
    board = Board.from_rows([[4, 0, 0, 0], [0] * 4, [0] * 4, [0, 0, 0, 8]])
    observation, _ = env.reset(options={"state": GameState.of(board, score=12)})
    assert board_of(observation) == board
    for options, message in (
        ({"board": board}, "no option 'board'"),
        ({1: 2, "state": None}, "no option 1; known: state"),
        (5, "the options of reset are a dict, not 5"),
    ):
        with pytest.raises(OptionError, match=message):
            env.reset(options=options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (GameState.of(Board([[2, 0], [0, 2]])), "4 cells"),
        (GameState.of(Board([[2**18, 0, 0, 0], *[[0] * 4] * 3])), r"1 tile\(s\) of 2\*\*18"),
        (GameState.of(Board([[2**17, 2**17, 0, 0], *[[0] * 4] * 3])), r"2 tile\(s\) of 2\*\*17"),
        (GameEnv("ist").state(), r"of the rules ist:.* not of classic:"),
        ("foo", "'foo' is not a state"),
        (GameState(bytes(16), 0, -1, 0), "ply from 0 .* 0 and -1"),
        (GameState(bytes(16), 2**62, 0, 0), "below"),
        (GameState(bytes(16), "7", 0, 0), "'7'"),  # type: ignore[arg-type]
        (GameState([0] * 16, 0, 0, 0), "bytes"),  # type: ignore[arg-type]
    ],
)
def test_a_state_that_cannot_be_is_refused(state: Any, message: str) -> None:
    """The error names the invalid part, and the game continues."""
    env = GameEnv()
    env.reset(seed=1)
    before = env.state()
    for take in (env.restore, lambda each: env.reset(options={"state": each})):
        with pytest.raises((BoardError, OptionError), match=message):
            take(state)
    assert env.state() == before


@given(seed=some.seeds, moves=actions)
def test_the_largest_spawns_are_counted_exactly(seed: int, moves: list[int]) -> None:
    """Scores are exact in 64 bits, and larger tiles are refused."""
    env = GameEnv(f"x:spawn={2**41}:1,merging=cascade")
    env.reset(seed=seed)
    follow(env, Game(env.rules, seed=env.game_seed), moves)
    with pytest.raises(RulesError, match=f"at most {2**41}"):
        GameEnv(f"x:spawn={2**42}:1,merging=cascade")


@given(board=some.boards())
def test_a_state_gives_its_board_back(board: Board) -> None:
    """`GameState.board` inverts `GameState.of`."""
    rules = get_rules("classic", rows=board.shape[0], columns=board.shape[1])
    assert GameState.of(board).board(rules) == board


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]
)
@pytest.mark.parametrize("observation", ["exponents", "onehot"])
def test_a_copy_plays_on_by_itself(duplicate: Any, observation: str) -> None:
    """Copied and unpickled environments continue independently."""
    env = GameEnv(observation=observation)
    env.reset(seed=8)
    for number in range(ROWS + 3):
        env.step(number % 4)
    twin = duplicate(env)
    state = env.state()
    ahead = [env.step(number % 4) for number in range(8)]
    assert twin.state() == state
    assert data_equivalence(ahead, [twin.step(number % 4) for number in range(8)], exact=True)


# --- what users type -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (GameEnv, {"observation": "one-hot"}, "did you mean 'onehot'"),
        (GameEnv, {"reward": "point"}, "did you mean 'points'"),
        (GameEnv, {"illegal": "ignore"}, "known: noop, penalty, raise, terminate"),
        (GameEnv, {"render_mode": "rgb"}, "did you mean 'rgb_array'"),
        (GameEnv, {"illegal": "raise", "penalty": -1}, "takes no penalty"),
        (GameEnv, {"penalty": "x"}, "penalty must be a finite number, not 'x'"),
        (GameEnv, {"penalty": math.nan}, "penalty must be a finite number, not nan"),
        (GameEnv, {"penalty": 10**400}, "penalty must be a finite number, not 1000"),
        (GameEnv, {"observation": None}, "observation=None is unknown; known: exponents"),
        (GameEnv, {"rules": "clasic"}, "did you mean 'classic'"),
        (GameVectorEnv, {"autoreset_mode": "Nextstep"}, "did you mean 'NextStep'"),
        (GameVectorEnv, {"render_mode": "human"}, "rgb_array and ansi"),
        (GameVectorEnv, {"rules": "classic:size=20x20"}, "254 cells"),
        (GameVectorEnv, {"num_envs": 0}, "num_envs must be a whole number of at least 1, not 0"),
        (GameVectorEnv, {"num_envs": 1.5}, r"at least 1, not 1\.5"),
        (GameVectorEnv, {"threads": "two"}, "at least 1, not 'two'"),
        (GameVectorEnv, {"max_episode_steps": 2.5}, r"at least 1, not 2\.5"),
        (GameVectorEnv, {"rules": "comp1127:target=4"}, "would end the game"),
        (GameVectorEnv, {"rules": "classic:spawn=32768:1"}, "at most 16384"),
    ],
)
def test_mistaken_arguments_are_explained(
    kind: type[Any], arguments: dict[str, Any], message: str
) -> None:
    """Errors suggest the closest valid argument."""
    with pytest.raises((OptionError, RulesError, BoardError), match=message):
        kind(**arguments)


# --- Gymnasium's and Stable-Baselines3's own checks ----------------------------------------------

VARIANTS = [
    *({"id": identifier} for identifier in environment_ids().values()),
    *(
        {"id": "py2048/Classic-v0", **options}
        for options in (
            {"observation": "onehot"},
            {"observation": "normalised", "reward": "log"},
            {"illegal": "terminate", "penalty": -1.0},
        )
    ),
]


def check_all(variant: dict[str, Any]) -> None:
    env = gymnasium.make(**variant)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_gymnasium_s_checker_is_content(
    variant: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check_env` gives no warnings without a display."""
    monkeypatch.delenv("DISPLAY", raising=False)
    check_all(variant)


@pytest.mark.gui
def test_gymnasium_s_checker_is_content_with_a_window(display: str) -> None:
    """`check_env` gives no warnings with a window."""
    check_all(VARIANTS[0])
