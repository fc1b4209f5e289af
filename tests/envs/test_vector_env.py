"""Each game of a vector environment equals the same game played alone."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests import strategies as some
from tests.engine import emulation
from tests.engine.boards import ODD_RULES
from tests.envs.following import board_of, exponents_of, mask_of

from py2048 import Board, Direction, Game, Rules, get_rules, list_rules
from py2048.core.errors import BoardError, DirectionError, IllegalMoveError, RulesError, SeedError
from py2048.core.rng import derive_seed
from py2048.engine.cuda import Card
from py2048.envs import GameEnv, GameVectorEnv, Transition
from py2048.envs.options import OptionError

MODES = [mode.value for mode in AutoresetMode]


class Alone:
    """Single environments that are reset like those of a vector."""

    def __init__(self, count: int, mode: str, **options: Any) -> None:
        self.mode, self.limit = mode, options.pop("max_episode_steps", None)
        self.envs = [GameEnv(**options) for _ in range(count)]
        self.over = [False] * count
        self.lengths = [0] * count

    def reset(self, seed: int | None, slots: list[int] | None = None) -> list[Any]:
        shown = []
        for slot in slots if slots is not None else range(len(self.envs)):
            seeds = None if seed is None else derive_seed(seed, slot)
            shown.append(self.envs[slot].reset(seed=seeds))
            self.over[slot], self.lengths[slot] = False, 0
        return shown

    def step(self, actions: list[int]) -> list[dict[str, Any]]:
        return [self.step_one(slot, action) for slot, action in enumerate(actions)]

    def step_one(self, slot: int, action: int) -> dict[str, Any]:
        env, final = self.envs[slot], None
        if self.mode == "NextStep" and self.over[slot]:
            (observation, info), reward, ended, cut = self.reset(None, [slot])[0], 0.0, False, False
        else:
            observation, reward, ended, _, info = env.step(action)
            self.lengths[slot] += 1
            cut = self.limit is not None and self.lengths[slot] >= self.limit
            self.over[slot] = ended or cut
        if self.mode == "SameStep" and self.over[slot]:
            final = (observation, info)
            observation, info = self.reset(None, [slot])[0]
        told = {"observation": observation, "reward": reward, "ended": ended, "cut": cut}
        return told | {"info": info, "final": final}


def compare(told: list[dict[str, Any]], step: Any) -> None:
    """Compare outputs of single environments with those of the vector."""
    observations, rewards, terminations, truncations, infos = step
    for slot, alone in enumerate(told):
        assert np.array_equal(observations[slot], alone["observation"])
        assert rewards[slot] == alone["reward"]
        assert (terminations[slot], truncations[slot]) == (alone["ended"], alone["cut"])
        assert np.array_equal(infos["action_mask"][slot], alone["info"]["action_mask"])
        assert infos["score"][slot] == alone["info"]["score"]
        if alone["final"] is None:
            assert "_final_obs" not in infos or not infos["_final_obs"][slot]
        else:
            assert infos["_final_obs"][slot]
            assert infos["_final_info"][slot]
            assert np.array_equal(infos["final_obs"][slot], alone["final"][0])
            assert not infos["final_obs"][slot].flags.writeable
            for name, value in alone["final"][1].items():
                assert np.array_equal(infos["final_info"][name][slot], value)


def play_both(alone: Alone, vector: GameVectorEnv, seed: int, steps: int) -> int:
    """Play random actions on both; return the number of finished episodes."""
    chance, ended = np.random.default_rng(seed), 0
    observations, infos = vector.reset(seed=seed)
    for slot, (observation, info) in enumerate(alone.reset(seed)):
        assert np.array_equal(observations[slot], observation)
        assert np.array_equal(infos["action_mask"][slot], info["action_mask"])
    for _ in range(steps):
        actions = chance.integers(0, 4, vector.num_envs)
        told = alone.step(actions.tolist())
        step = vector.step(actions)
        compare(told, step)
        assert step[0] in vector.observation_space
        ended += sum(alone.over) if alone.mode != "SameStep" else sum(t["cut"] for t in told)
        ended += sum(t["ended"] for t in told) if alone.mode == "SameStep" else 0
        if alone.mode == "Disabled" and any(alone.over):
            mask = np.array(alone.over)
            shown = alone.reset(None, np.flatnonzero(mask).tolist())
            observations, _ = vector.reset(options={"reset_mask": mask})
            assert np.array_equal(observations[mask], np.array([each[0] for each in shown]))
    return ended


def empty_cells(transition: Transition) -> Any:
    """Return a reward that uses all fields."""
    before, action, after, points, legal, terminated = transition
    gained = (after == 0).sum(axis=(-1, -2)) - (before == 0).sum(axis=(-1, -2))
    return gained + 10 * terminated + action * legal + points


VARIANTS: list[dict[str, Any]] = [
    {},
    {"observation": "onehot", "reward": "log", "penalty": -0.5},
    {"observation": "normalised"},
    {"illegal": "terminate", "penalty": -2.0},
    {"illegal": "penalty"},
    {"max_episode_steps": 9, "illegal": "terminate"},
    {"reward": empty_cells, "penalty": -3.0},
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", VARIANTS)
def test_each_game_is_the_one_it_would_be_alone(mode: str, options: dict[str, Any]) -> None:
    """Slot ``i`` equals a `GameEnv` seeded with ``derive_seed(seed, i)`` in all modes."""
    alone = Alone(5, mode, rules="2x4", **options)
    vector = GameVectorEnv(5, "2x4", autoreset_mode=mode, **options)
    assert play_both(alone, vector, 11, 150) > 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", [{}, {"illegal": "terminate"}, {"max_episode_steps": 2}])
def test_games_that_are_over_from_the_start_end_at_their_first_step(
    mode: str, options: dict[str, Any]
) -> None:
    """Games that start without legal moves end at their first step, however begun."""
    rules = Rules.parse("classic:size=1x2,start=2,spawn=2:1+4:1")
    vector = GameVectorEnv(6, rules, autoreset_mode=mode, **options)
    infos = vector.reset(seed=3)[1]
    assert not infos["action_mask"].any(axis=1).all()
    assert play_both(Alone(6, mode, rules=rules, **options), vector, 3, 40) > 20


@pytest.mark.parametrize("text", [*(rules.name for rules in list_rules()), *ODD_RULES])
def test_every_preset_agrees(text: str) -> None:
    """All presets and unusual rules agree with single environments."""
    rules = Rules.parse(text)
    play_both(Alone(3, "SameStep", rules=rules), GameVectorEnv(3, rules), 5, 120)


def test_the_number_of_threads_decides_nothing() -> None:
    """Results do not depend on the number of threads."""
    chance = np.random.default_rng(0)
    vectors = [GameVectorEnv(20_000, threads=threads) for threads in (1, 2, 3)]
    shown = [vector.reset(seed=1) for vector in vectors]
    for _ in range(150):
        assert data_equivalence(shown[0], shown[1], exact=True)
        assert data_equivalence(shown[0], shown[2], exact=True)
        actions = chance.integers(0, 4, 20_000)
        shown = [vector.step(actions) for vector in vectors]


# --- on a GPU -------------------------------------------------------------------------------------


def host(card: Card, told: Any) -> Any:
    """Copy all arrays of an output to host memory."""
    if isinstance(told, dict):
        return {name: host(card, each) for name, each in told.items()}
    if isinstance(told, tuple):
        return tuple(host(card, each) for each in told)
    assert isinstance(told, card.arrays.ndarray)
    return np.array(card.get(told))


card = emulation.every_card


@pytest.mark.parametrize("mode", MODES)
def test_a_gpu_plays_the_same_episodes(mode: str, card: Card) -> None:
    """All outputs are new arrays of the GPU, equal to those of the CPU."""
    rules, chance = "classic:target=32,end=target", np.random.default_rng(4)
    for options in VARIANTS:
        vector, other = (
            GameVectorEnv(7, rules, autoreset_mode=mode, device=device, **options)
            for device in ("cpu", "cuda")
        )
        expected, told, ended = [vector.reset(seed=3)], [other.reset(seed=3)], 0
        copies = [host(card, told[0])]
        for _ in range(60):
            actions = chance.integers(0, 4, 7)
            expected.append(vector.step(actions))
            told.append(other.step(card.put(actions)))
            copies.append(host(card, told[-1]))
            over = expected[-1][2] | expected[-1][3]
            ended += over.sum()
            if mode == "Disabled" and over.any():
                again = {"reset_mask": over, "boards": np.ones((7, 4, 4), np.uint8)}
                expected.append(vector.reset(options=again))
                told.append(other.reset(options=again))
                copies.append(host(card, told[-1]))
        assert ended > 5
        for each in (copies, [host(card, step) for step in told]):  # nothing was overwritten
            assert data_equivalence(expected, each, exact=options.get("reward") != "log")
        twin = pickle.loads(pickle.dumps(other))
        assert data_equivalence(
            vector.restore(vector.state()), host(card, twin.restore(other.state())), exact=True
        )
        with pytest.raises(OptionError, match="leave it out with device='cuda'"):
            other.step(actions, out={"rewards": np.zeros(7)})


# --- resets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_mode_is_declared(mode: AutoresetMode) -> None:
    """The autoreset mode is in the instance's metadata, not in the class's."""
    for given_mode in (mode, mode.value):
        vector = gymnasium.make_vec("py2048/Classic-v0", num_envs=2, autoreset_mode=given_mode)
        assert vector.autoreset_mode is mode
    assert vector.metadata["autoreset_mode"] is mode
    assert GameVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_disabled_waits_for_the_reset_mask() -> None:
    """With ``Disabled``, finished episodes must be reset before the next step."""
    vector = GameVectorEnv(8, "2x4", autoreset_mode="Disabled")
    vector.reset(seed=1)
    vector.action_space.seed(1)
    while not (over := vector.step(vector.action_space.sample())[2]).any():
        pass
    with pytest.raises(ResetNeeded, match=f"environment {over.argmax()} is over"):
        vector.step(np.zeros(8, int))
    options = {"reset_mask": over}
    vector.reset(options=options)
    assert list(options) == ["reset_mask"]
    vector.step(np.zeros(8, int))


def test_none_among_seeds_continues_a_series() -> None:
    """A slot whose seed is None continues its series."""
    vector = GameVectorEnv(3, "3x3")
    vector.reset(seed=[1, None, 3])
    assert vector.game_seeds[[0, 2]].tolist() == [derive_seed(1, 0), derive_seed(3, 0)]
    vector.reset(seed=[5, 6, 7])
    vector.reset(seed=[8, None, 9])
    assert vector.game_seeds.tolist() == [derive_seed(8, 0), derive_seed(6, 1), derive_seed(9, 0)]
    mask = np.array([True, True, False])
    vector.reset(seed=[None, 4, 4], options={"reset_mask": mask})
    assert vector.game_seeds.tolist() == [derive_seed(8, 1), derive_seed(4, 0), derive_seed(9, 0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "-1 is not a seed"),
        ({"seed": [1, 2, 3]}, "3 seeds for 2"),
        ({"options": {"state": 1}}, "no option 'state'"),
        ({"options": 5}, "the options of reset are a dict, not 5"),
        ({"options": {"reset_mask": [True, False]}}, "reset_mask"),
        ({"options": {"reset_mask": np.array([1, 0])}}, "reset_mask"),
        ({"options": {"reset_mask": np.array([True])}}, "reset_mask"),
        ({"options": {"reset_mask": np.array([False, False])}}, "reset_mask chooses no"),
        ({"options": {"rules": "clasic"}}, "did you mean 'classic'"),
        ({"options": {"rules": "3x3"}}, "have another board"),
        ({"options": {"rules": "classic:spawn=8:1"}}, "or larger tiles"),
        ({"options": {"rules": "ist", "reset_mask": np.array([True, False])}}, "leave out reset_m"),
    ],
)
def test_mistaken_resets_are_explained(arguments: dict[str, Any], message: str) -> None:
    """Invalid reset masks are refused with a reason."""
    vector = GameVectorEnv(2)
    vector.reset(seed=1)
    with pytest.raises((OptionError, RulesError, SeedError), match=message):
        vector.reset(**arguments)


# --- what is returned is the caller's -------------------------------------------------------------


def writable_arrays(step: Any) -> list[NDArray[Any]]:
    infos = [value for name, value in step[4].items() if name != "final_obs"]
    return [value for value in (*step[:4], *infos) if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("mode", MODES[:2])
@pytest.mark.parametrize("observation", ["exponents", "onehot", "normalised"])
def test_nothing_returned_is_ever_overwritten(mode: str, observation: str) -> None:
    """Returned arrays never change later, and writing to them changes no game."""
    vector = GameVectorEnv(50, "2x4", autoreset_mode=mode, observation=observation)
    twin = GameVectorEnv(50, "2x4", autoreset_mode=mode, observation=observation)
    kept, copies = [vector.reset(seed=1)], [copy.deepcopy(twin.reset(seed=1))]
    for number in range(60):
        actions = np.arange(number, number + 50) % 4
        kept.append(vector.step(actions))
        copies.append(copy.deepcopy(twin.step(actions)))
        for array in writable_arrays(kept[-1]):
            assert array.flags.writeable
    assert data_equivalence(kept, copies, exact=True)
    for array in writable_arrays(kept[-1]):
        array[...] = 1
    assert data_equivalence(vector.step(actions), twin.step(actions), exact=True)


# --- rewards, illegal actions, mistakes -----------------------------------------------------------


def test_illegal_actions_can_raise() -> None:
    """With ``raise``, the first illegal action is named and nothing is played."""
    vector = GameVectorEnv(3, illegal="raise")
    before, _ = vector.reset(seed=3)
    for _ in range(200):
        masks = vector.action_masks()
        if not masks[1].all() and masks.any(axis=1).all():
            break
        before = vector.step(masks.argmax(axis=1))[0]
    actions = masks.argmax(axis=1)
    actions[1] = masks[1].argmin()
    with pytest.raises(IllegalMoveError, match=r"environment 1: \w+ changes nothing on"):
        vector.step(actions)
    assert np.array_equal(vector.restore(vector.state())[0], before)
    actions[1] = masks[1].argmax()
    vector.step(actions)


@pytest.mark.parametrize("illegal", ["noop", "raise"])
@pytest.mark.parametrize(
    "actions", [[0, 1], [0, 1, 4], [-1, 0, 0], [0.0, 1.0, 2.0], 2, None, "left", ["a", "b", "c"]]
)
def test_wrong_actions_are_refused(actions: Any, illegal: str) -> None:
    """Actions must be one whole number from 0 to 3 per environment."""
    vector = GameVectorEnv(3, illegal=illegal)
    vector.reset(seed=1)
    for form in (actions, np.array(actions)):
        with pytest.raises(DirectionError):
            vector.step(form)


@pytest.mark.parametrize("count", [3, 1024])
@pytest.mark.parametrize("rewards", [np.float64, np.float32])
def test_a_step_writes_to_the_callers_arrays(count: int, rewards: type) -> None:
    """Arrays in `out` are filled and returned; missing ones are new."""
    vector, twin = GameVectorEnv(count, "2x4"), GameVectorEnv(count, "2x4")
    assert data_equivalence(vector.reset(seed=1), twin.reset(seed=1), exact=True)
    out = {"observations": np.zeros((count, 2, 4), np.uint8), "rewards": np.zeros(count, rewards)}
    for number in range(40):
        actions = np.arange(number, number + count) % 4
        told, expected = vector.step(actions, out=out), twin.step(actions)
        assert told[0] is out["observations"]
        assert told[1] is out["rewards"]
        assert np.array_equal(told[1], expected[1])
        assert data_equivalence((told[0], *told[2:]), (expected[0], *expected[2:]), exact=True)
    with pytest.raises(OptionError, match="out='reward' is unknown"):
        vector.step(actions, out={"reward": out["rewards"]})
    for name, wrong in (("action_mask", np.zeros((count, 4), bool)), ("rewards", np.zeros(9))):
        with pytest.raises(OptionError, match=name):
            vector.step(actions, out={name: wrong})
    assert np.array_equal(vector.step(actions)[1], twin.step(actions)[1])  # nothing had changed


# --- states, pictures, wrappers -------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_restored_vector_continues_as_it_did(mode: str) -> None:
    """From a restored state, the same actions give the same games and truncations."""
    options = {"autoreset_mode": mode, "illegal": "terminate", "max_episode_steps": 7}
    vector, other = GameVectorEnv(9, "3x3", **options), GameVectorEnv(9, "3x3", **options)
    vector.reset(seed=5)
    for number in range(20):
        vector.step(np.full(9, number % 4))
    state = copy.deepcopy(vector.state())
    runs = []
    for each in (vector, other, vector):
        shown = [each.restore(state)]
        runs.append([*shown, *(each.step(np.full(9, number % 4)) for number in range(30))])
    assert data_equivalence(runs[0], runs[1], exact=True)
    assert data_equivalence(runs[0], runs[2], exact=True)
    with pytest.raises(BoardError, match="the state is of the rules 3x3:"):
        GameVectorEnv(9, "ist:size=3x3").restore(state)
    with pytest.raises(BoardError, match="the state has 9 games, not 8"):
        GameVectorEnv(8, "3x3").restore(state)
    with pytest.raises(OptionError, match="5 is not a state: give a VectorState"):
        GameVectorEnv(9).restore(5)  # type: ignore[arg-type]


duplicates = st.sampled_from([copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
kinds = {
    "illegal": st.sampled_from(["noop", "terminate", "penalty"]),
    "observation": st.sampled_from(["exponents", "onehot", "normalised"]),
    "reward": st.sampled_from(["points", "log"]),
    "max_episode_steps": st.none() | st.integers(1, 30),
}


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=30)
@given(
    duplicate=duplicates,
    count=st.sampled_from([1, 9, 600]),
    options=st.fixed_dictionaries(kinds),
    rules=st.sampled_from(["2x4", "classic:size=2x4,start=1,spawn=2:1"]),
    seed=some.seeds,
    steps=st.integers(0, 40),
)
def test_a_copy_plays_on_as_the_original(
    mode: str,
    duplicate: Any,
    count: int,
    options: dict[str, Any],
    rules: str,
    seed: int,
    steps: int,
) -> None:
    """Copies continue identically and independently in every mode."""
    vector = GameVectorEnv(count, "2x4", threads=2, autoreset_mode=mode, **options)
    vector.reset(seed=seed, options={"rules": rules})
    copies, chance = [vector], np.random.default_rng(seed)
    for number in range(steps + 20):
        if number == steps:
            copies.append(duplicate(vector))
        actions = chance.integers(0, 4, count)
        told = [each.step(actions) for each in copies]
        assert data_equivalence(told[0], told[-1], exact=True)
        over = told[0][2] | told[0][3]
        if mode == "Disabled" and over.any():
            told = [each.reset(options={"reset_mask": over}) for each in copies]
            assert data_equivalence(told[0], told[-1], exact=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", VARIANTS)
def test_a_reset_can_change_the_rules(mode: str, options: dict[str, Any]) -> None:
    """New rules apply to all games, and the series of seeds continue."""
    rules = "comp1127:size=2x4,target=32"
    vector = GameVectorEnv(5, "2x4", autoreset_mode=mode, **options)
    vector.reset(seed=3)
    vector.reset(options={"rules": rules})
    assert vector.game_seeds.tolist() == [derive_seed(derive_seed(3, n), 1) for n in range(5)]
    with pytest.raises(BoardError, match="the state is of the rules comp1127:"):
        GameVectorEnv(5, "2x4").restore(vector.state())
    assert play_both(Alone(5, mode, rules=rules, **options), vector, 11, 60) > 5


def test_a_reset_can_start_from_positions() -> None:
    """Games can start from given boards, respecting seed and mask."""
    rules = get_rules("ist")
    board = Board([[2, 4, 8, 16], [0, 0, 2, 2], [0] * 4, [0] * 4])
    stuck = Board([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    boards = np.array([exponents_of(each) for each in (board, stuck, board)])
    vector = GameVectorEnv(3, rules)
    shown, infos = vector.reset(seed=8, options={"boards": boards})
    assert np.array_equal(shown, boards)
    assert vector.game_seeds.tolist() == [derive_seed(derive_seed(8, slot), 0) for slot in range(3)]
    games = [Game(rules, seed=int(seed), board=board) for seed in vector.game_seeds]
    assert infos["action_mask"].tolist() == [mask_of(games[0]), [0] * 4, mask_of(games[2])]
    for action in (2, 1, 3):
        shown, _, terminated, _, infos = vector.step(np.full(3, action))
        for slot in (0, 2):
            games[slot].attempt(Direction(action))
            assert board_of(shown[slot]) == games[slot].board
            assert infos["score"][slot] == games[slot].score
        assert terminated.tolist() == [False, action == 2, False]
    mask = np.array([True, False, False])
    again = vector.reset(options={"boards": boards, "reset_mask": mask})[0]
    assert np.array_equal(again[mask], boards[mask])
    assert np.array_equal(again[~mask], shown[~mask])
    summed = GameVectorEnv(3, "classic:scoring=sum")
    sums = summed.reset(options={"boards": boards})[1]["score"]
    assert sums.tolist() == [board.sum, stuck.sum, board.sum]
    _, rewards, *_, infos = summed.step(np.full(3, 2))
    assert set(rewards[[0, 2]]) <= {2, 4}  # the new tile, and not the whole board
    boards[0, 2, :2] = 17
    for wrong, message in ((boards, "2 tile"), (boards[:2], r"not \(2, 4, 4\)"), (5, "whole")):
        with pytest.raises(BoardError, match=message):
            vector.reset(options={"boards": wrong})


def test_pictures_and_texts_of_all_games() -> None:
    """`render` returns a tuple of images or texts, or None without a mode."""
    frames = {}
    for mode in ("rgb_array", "ansi", None):
        vector = gymnasium.make_vec("py2048/2x4-v0", num_envs=3, render_mode=mode)
        vector.reset(seed=1)
        frames[mode] = vector.render()
        vector.close()
    assert [frame.shape[2] for frame in frames["rgb_array"]] == [3, 3, 3]
    assert len(set(frames["ansi"])) == 3
    assert frames[None] is None


@pytest.mark.parametrize("mode", MODES[:2])
def test_gymnasium_s_vector_wrappers_work(mode: str) -> None:
    """Gymnasium's vector wrappers give correct statistics and infos."""
    vector = gymnasium.make_vec("py2048/2x4-v0", num_envs=16, autoreset_mode=mode)
    env = DictInfoToList(RecordEpisodeStatistics(vector))
    env.reset(seed=1)
    vector.action_space.seed(1)
    finished = []
    for _ in range(150):
        infos = env.step(vector.action_space.sample())[4]
        for info in infos:
            if "episode" in info:
                score = info["final_info"]["score"] if mode == "SameStep" else info["score"]
                finished.append((info["episode"]["r"], score))
    assert len(finished) > 16
    assert all(returned == score for returned, score in finished)
