"""`GameVectorEnv`: many games as one Gymnasium vector environment, on the compiled batch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from py2048 import rng
from py2048.compiled._batch_kernels import BatchState
from py2048.compiled._simd_kernels import DONE, WIDTH
from py2048.compiled.batch import BatchGames
from py2048.compiled.boards import checked_boards, checked_directions, derive_seeds
from py2048.compiled.jit import ready, together
from py2048.direction import Direction
from py2048.envs import _vector_kernels as kernels
from py2048.envs.options import (
    DIRECTIONS,
    Array,
    Illegal,
    Info,
    Observation,
    OptionError,
    Options,
    Reward,
    Transition,
    check_reachable,
    count_of,
    known_word,
    observed,
    reset_options,
)
from py2048.envs.rendering import RENDER_FPS, Screen
from py2048.errors import BoardError, IllegalMoveError, shown
from py2048.rules import Rules

Flags = NDArray[np.bool_]


class Shown(NamedTuple):
    """What agents are given of all games.

    Attributes:
        boards: exponents, uint8 `[n, rows, columns]`.
        masks: legal actions, int8 `[n, 4]`.
        scores: int64 `[n]`.
        rewards: float64 `[n]`.
        over: which episodes are over, bool `[n]`.
    """

    boards: NDArray[np.uint8]
    masks: NDArray[np.int8]
    scores: NDArray[np.int64]
    rewards: NDArray[np.float64]
    over: Flags


class Frame:
    """Memory for what agents are given of a step, and of the last positions of games that ended.

    Kernels write to `target` and `final`, arrays as views of one block; agents are given views of
    these. A view that is held keeps the block.

    Args:
        rules: the rules.
        n: the number of games.
        padded: the same in whole blocks of the batch.
        has_final: whether there is room for last positions.
    """

    def __init__(self, rules: Rules, n: int, padded: int, has_final: bool) -> None:
        size = rules.cells + 21
        self.block = np.zeros((2 * size if has_final else size, padded), np.uint8)
        self.target = _target_of(self.block[:size], rules)
        self.final = _target_of(self.block[size:], rules)
        self._shown = _shown_of(self.target, rules, n)
        self._last = _shown_of(self.final, rules, n)[:3]
        for array in self._last:
            array.flags.writeable = False
        self.unused = 0

    def shown(self) -> Shown:
        """Return the step."""
        return Shown._make([array[:] for array in self._shown])

    def last(self) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.int64]]:
        """Return boards, masks and scores of episodes that are over, 0 for others: read-only."""
        boards, masks, scores = self._last
        return boards[:], masks[:], scores[:]

    def set_last(self, slots: Flags) -> None:
        """Take over the step as the last position in `slots`, whose games the batch plays on."""
        here = np.flatnonzero(slots)
        last, step = self.final, self.target
        last.boards[here], last.masks[here] = step.boards[here], step.masks[here]
        last.scores[here], last.over[here] = step.scores[here], kernels.LATE


def _target_of(block: NDArray[np.uint8], rules: Rules) -> kernels.Target:
    padded = block.shape[1] if len(block) else 0
    scores, rewards, masks = (block[a:b].reshape(-1) for a, b in ((0, 8), (8, 16), (16, 20)))
    over, boards = block[20:21].reshape(-1), block[21:].reshape(padded, rules.cells)
    in_fours = rules.cells % 4 == 0
    return kernels.Target(
        boards,
        boards.view(np.uint32) if in_fours else np.empty((0, 0), np.uint32),
        masks.view(np.uint32),
        scores.view(np.int64),
        rewards.view(np.float64),
        over,
        over.view(np.uint64),
    )


def _shown_of(target: kernels.Target, rules: Rules, n: int) -> Shown:
    masks = target.masks.view(np.int8).reshape(-1, DIRECTIONS)[:n]
    boards = target.boards.reshape(-1, *rules.shape)[:n]
    return Shown(
        boards, masks, target.scores[:n], target.rewards[:n], target.over[:n].view(np.bool_)
    )


class FramePool:
    """Hands out frames, never one of which a part is still in use.

    An agent's arrays are new at each step. Fresh memory costs five times as much as what is
    written to it, because the system hands it out page by page, so memory is used again once only
    its frame refers to it.

    Args:
        rules: the rules.
        n: the number of games.
        padded: the same in whole blocks of the batch.
        has_final: whether last positions are asked for.
    """

    KEPT = 4
    """How many frames wait to be used again; an agent holds two or three at a time."""

    def __init__(self, rules: Rules, n: int, padded: int, has_final: bool) -> None:
        self._shape = rules, n, padded, has_final
        self._kept: list[Frame] = []

    def take(self) -> Frame:
        """Return a frame with any content."""
        if sys.implementation.name == "cpython":
            for frame in self._kept:
                if sys.getrefcount(frame.block) == frame.unused:
                    return frame
        frame = Frame(*self._shape)
        frame.unused = sys.getrefcount(frame.block)
        self._kept = [*self._kept[1 - self.KEPT :], frame]
        return frame

    def __reduce__(self) -> tuple[object, ...]:
        """Leave the frames out of copies."""
        return FramePool, self._shape


class ShownBatch(BatchGames):
    """A batch that shows itself to agents as options say; the others are those of `BatchGames`."""

    def __init__(self, options: Options, n: int, threads: int | None, reset: str) -> None:
        super().__init__(options.rules, n, threads=threads, reset=reset)
        self._frames = FramePool(options.rules, n, len(self.memory.rewards), reset == "same_step")
        penalty = options.penalty if options.custom_reward is None else 0.0
        is_terminal = options.illegal is Illegal.TERMINATE
        self._options = penalty, options.reward == "log", is_terminal

    def begin(self, mask: Flags, boards: ArrayLike | None = None) -> None:
        """Begin the next game in the slots of `mask`, from `boards` if there are any.

        Games that are over from their start end at their first step, which says so.
        """
        if boards is None:
            self.reset(mask)
        else:
            self.set_boards(boards, mask)
        self.memory.flags[DONE // WIDTH, np.flatnonzero(mask)] = 0

    def show(self) -> tuple[Frame, int]:
        """Return what agents are given of the last step, and how many last positions there are.

        The frame is new: no later step writes to it while a part of it is held.
        """
        frame, state = self._frames.take(), self.memory
        given = self.n, state, state.flags[DONE // WIDTH].view(np.uint64)
        jobs = [
            (*part, *given, *self._options, frame.target, frame.final, space.halves)
            for part, space in zip(self.block_shares(), self._spaces, strict=False)
        ]
        return frame, sum(together(ready(kernels.show), jobs))

    def show_again(self, slots: Flags, shown: Shown) -> None:
        """Show in the `slots` what their games are now."""
        shown.boards[slots] = self.boards[slots]
        shown.masks[slots] = self.legal_mask[slots]
        shown.scores[slots] = self.scores[slots]


@dataclass(frozen=True)
class VectorState:
    """A copy of everything that decides how a vector environment continues.

    Attributes:
        rules: the rules.
        batch: the games.
        ended: which episodes are over and wait for their reset.
        late: those of them that the batch does not know to be over.
        lengths: the steps of each episode, if they are counted.
    """

    rules: Rules
    batch: BatchState
    ended: Flags
    late: Flags
    lengths: NDArray[np.int64]


class GameVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` games of 2048 under the same rules, advanced by one compiled call.

    ``docs/reference/environments.md`` describes spaces, rewards, ends and the three ways to reset.
    The first five arguments after `num_envs` are those of `GameEnv`.

    Args:
        num_envs: the number of games.
        rules: a preset's name, a text for `Rules.parse`, or `Rules`; at most 254 cells.
        observation: ``exponents``, ``onehot`` or ``normalised``.
        reward: ``points``, ``log``, or a function of a `Transition` of arrays.
        illegal: what an illegal action does: ``noop``, ``penalty``, ``terminate`` or ``raise``.
        penalty: what is added to the reward of an illegal action.
        autoreset_mode: when an episode that is over begins anew: ``NextStep``, ``SameStep`` or
            ``Disabled``, or Gymnasium's `AutoresetMode`.
        max_episode_steps: the steps after which an episode is truncated; by default never.
        threads: how many threads may work; by default one for each processor.
        render_mode: ``ansi``, ``rgb_array`` or None.

    Raises:
        RulesError: if the rules do not exist, or a tile that appears is too large for a batch or
            ends the game at its start.
        BoardError: if the board is too big for a batch.
        OptionError: if another argument is unknown, or `max_episode_steps` is less than 1.
    """

    metadata = {  # noqa: RUF012  # Gymnasium's own name and form
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "classic",
        *,
        observation: str = "exponents",
        reward: str | Reward = "points",
        illegal: str = "noop",
        penalty: float | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._options = Options.of(rules, observation, reward, illegal, penalty)
        self.rules = self._options.rules
        modes = {mode.value: mode for mode in AutoresetMode}
        mode = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self._mode = modes[known_word(mode, "autoreset_mode", list(modes))]
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        if render_mode == "human":
            raise OptionError("render_mode='human' shows one game; a vector has rgb_array and ansi")
        self.render_mode = render_mode
        self._screen = Screen(render_mode)
        self.num_envs = count = count_of(num_envs, "num_envs")
        self.single_action_space = spaces.Discrete(DIRECTIONS)
        self.single_observation_space, self._encode = observed(
            self.rules, self._options.observation
        )
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        workers = None if threads is None else count_of(threads, "threads")
        self._batch = ShownBatch(self._options, count, workers, self._mode.name.lower())
        limit = max_episode_steps
        self._limit = None if limit is None else count_of(limit, "max_episode_steps")
        self._can_be_late = self._options.illegal is Illegal.TERMINATE or self._limit is not None
        self._is_begun = False
        self._ended = np.zeros(count, np.bool_)
        self._late = np.zeros(count, np.bool_)
        self._lengths = np.zeros(count, np.int64)

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, Info]:
        """Begin the next episode in all environments, or in those of a mask.

        Environment ``i`` after ``reset(seed=s)`` is a `GameEnv` after
        ``reset(seed=derive_seed(s, i))``, and with a list of seeds after ``reset(seed=seeds[i])``.

        Args:
            seed: starts the series of games of this seed; without one, or where a list has None,
                the series continue.
            options: ``reset_mask``, bool `[num_envs]`, resets only where it is true; ``boards``,
                exponents `[num_envs, rows, columns]`, are the positions to start from, with a
                score of 0 (those of a mask if there is one).

        Raises:
            OptionError: if another option is given, or the mask does not fit.
            BoardError: if the boards do not fit, or cannot occur under the rules.
            SeedError: if a seed is not a whole number from 0 to 2**64 - 1.
        """
        reset_mask, boards = reset_options(options, "reset_mask", "boards")
        mask = _checked_mask(reset_mask, self.num_envs)
        if not (self._is_begun or mask.all()):
            raise ResetNeeded("reset all environments once before some of them")
        if boards is not None:
            boards = checked_boards(boards, self.rules)
            if len(boards) == len(mask):
                check_reachable(boards[mask], self.rules)
        is_new, seeds = self._slot_seeds(seed)
        slots = np.flatnonzero(mask & is_new)
        self._batch.seed_slots(slots, seeds[slots])
        self._batch.begin(mask, boards)
        self._is_begun = True
        self._ended[mask], self._late[mask], self._lengths[mask] = False, False, 0
        return self._told(self._batch.show()[0].shown())

    def step(self, actions: NDArray[np.integer]) -> tuple[Array, Array, Array, Array, Info]:
        """Play one action in each environment; all arrays returned are new.

        Args:
            actions: whole numbers 0 to 3, `[num_envs]`.

        Raises:
            ResetNeeded: before the first `reset`, and where an episode that is over was not reset
                and ``autoreset_mode`` is ``Disabled``.
            DirectionError: if the actions are not `num_envs` numbers from 0 to 3.
            IllegalMoveError: if one is illegal and `illegal` is ``raise``; nothing was played.
        """
        self._check(actions)
        before = None if self._options.custom_reward is None else self._batch.observe()
        self._batch.step(actions)
        if self._can_be_late and self._late.any():
            self._batch.begin(self._late)
        frame, ended = self._batch.show()
        shown, final = frame.shown(), None
        rewards, terminated = shown.rewards, shown.over
        truncated = self._count_steps(terminated)
        over = terminated if self._limit is None else terminated | truncated
        late = over & ~self._batch.dones if self._can_be_late else None
        if self._mode is AutoresetMode.SAME_STEP:
            if late is not None and late.any():
                frame.set_last(late)
                ended += 1
            final = frame.last() if ended else None
        if before is not None:
            after = shown.boards.copy()
            if final is not None:
                after[over] = final[0][over]
            rewards = self._custom_rewards(before, actions, after, rewards, terminated)
        self._set_over(over, late, shown)
        observations, info = self._told(shown)
        if final is not None:
            info |= self._final_info(*final, over.copy())
        return observations, rewards, terminated, truncated, info

    def render(self) -> tuple[Any, ...] | None:
        """Return a text (``ansi``) or a picture (``rgb_array``) of each board, in a tuple."""
        if self.render_mode is None:
            return None
        pairs = zip(self._batch.observe(), self._batch.scores, strict=True)
        return tuple(self._screen.show(board, int(score)) for board, score in pairs)

    # --- more than Gymnasium asks for ------------------------------------------------------------

    @property
    def game_seeds(self) -> NDArray[np.uint64]:
        """The seeds of the games: `py2048.Game` with the same seed is the same game."""
        return self._batch.seeds

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal now: bool `[num_envs, 4]`."""
        return self._batch.legal_mask

    def state(self) -> VectorState:
        """Return a copy of all games as they stand, to come back to with `restore`."""
        waits = self._ended.copy(), self._late.copy(), self._lengths.copy()
        return VectorState(self.rules, self._batch.get_state(), *waits)

    def restore(self, state: VectorState) -> tuple[Array, Info]:
        """Go to `state`, also one of another environment with the same arguments.

        Returns observations and infos as `reset` does.

        Raises:
            BoardError: if the state is of other rules or another number of games.
            OptionError: if it is not a state.
        """
        if not isinstance(state, VectorState):
            raise OptionError(f"{shown(state)} is not a state: give a VectorState")
        if state.rules != self.rules:
            raise BoardError(f"the state is of the rules {state.rules}, not of {self.rules}")
        if len(state.ended) != self.num_envs:
            raise BoardError(f"the state has {len(state.ended)} games, not {self.num_envs}")
        self._batch.set_state(state.batch)
        self._ended[:], self._late[:] = state.ended, state.late
        self._lengths[:] = state.lengths
        self._is_begun = True
        return self._told(self._batch.show()[0].shown())

    # --- the inside ------------------------------------------------------------------------------

    def _slot_seeds(
        self, seed: int | Sequence[int | None] | NDArray[np.integer] | None
    ) -> tuple[Flags, NDArray[np.uint64]]:
        """Return which environments begin a new series of games, and the seed of each series."""
        count = self.num_envs
        if isinstance(seed, np.ndarray):
            seed = seed.tolist()
        if isinstance(seed, Sequence):
            if len(seed) != count:
                raise OptionError(f"{len(seed)} seeds for {count} environments")
            given = [(n, rng.checked_seed(each)) for n, each in enumerate(seed) if each is not None]
            is_new, seeds = self._slot_seeds(None)
            for slot, number in given:
                is_new[slot], seeds[slot] = True, number
            return is_new, seeds
        if seed is not None:
            seed = rng.checked_seed(seed)
            super().reset(seed=seed)
        elif self._is_begun:
            return np.zeros(count, np.bool_), np.zeros(count, np.uint64)
        else:
            seed = int(self.np_random.integers(2**64, dtype=np.uint64))
        keys = np.full(count, rng.key_of(seed), np.uint64)
        return np.ones(count, np.bool_), derive_seeds(keys, np.arange(count, dtype=np.uint64))

    def _check(self, actions: NDArray[np.integer]) -> None:
        """Refuse a step that cannot be."""
        if not self._is_begun:
            raise ResetNeeded("step() was called before reset()")
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            slot = int(np.flatnonzero(self._ended)[0])
            raise ResetNeeded(f"environment {slot} is over: reset it with a reset_mask")
        if self._options.illegal is not Illegal.RAISE:
            return
        actions, bits = checked_directions(actions, self.num_envs), self._batch.legal_bits
        wrong = (bits >> actions.astype(np.uint8) & 1 == 0) & (bits != 0) & ~self._ended
        if wrong.any():
            slot = int(np.flatnonzero(wrong)[0])
            board = " / ".join(str(self._batch.board(slot)).splitlines())
            direction = Direction(int(actions[slot]))
            raise IllegalMoveError(f"environment {slot}: {direction} changes nothing on {board}")

    def _count_steps(self, terminated: Flags) -> Flags:
        """Count the step and return which episodes it truncates."""
        if self._limit is None:
            return np.zeros(self.num_envs, np.bool_)
        self._lengths += 1
        if self._mode is AutoresetMode.NEXT_STEP:
            self._lengths[self._ended] = 0
        return (self._lengths >= self._limit) & ~terminated

    def _told(self, shown: Shown) -> tuple[Array, Info]:
        """Return what is shown as observations and infos."""
        return self._encode(shown.boards), {"action_mask": shown.masks, "score": shown.scores}

    def _final_info(
        self, boards: Array, masks: NDArray[np.int8], scores: NDArray[np.int64], over: Flags
    ) -> Info:
        """Return ``final_obs`` and ``final_info`` as Gymnasium names them, each with its mask."""
        observations = boards
        if self._options.observation is not Observation.EXPONENTS:
            encoded = self._encode(boards[over])
            observations = np.zeros((self.num_envs, *encoded.shape[1:]), encoded.dtype)
            observations[over] = encoded
        info = {"action_mask": masks, "_action_mask": over, "score": scores, "_score": over}
        return {
            "final_obs": observations,
            "_final_obs": over,
            "final_info": info,
            "_final_info": over,
        }

    def _custom_rewards(
        self,
        before: NDArray[np.uint8],
        actions: NDArray[np.integer],
        after: NDArray[np.uint8],
        points: NDArray[np.float64],
        terminated: Flags,
    ) -> NDArray[np.float64]:
        """Return the rewards that the user's function gives."""
        reward, illegal = self._options.custom_reward, self._batch.illegal
        assert reward is not None
        rewards = np.zeros(self.num_envs)
        values = before, np.asarray(actions), after, points, ~illegal, terminated
        rewards += reward(Transition(*values))
        rewards += self._options.penalty * illegal
        if self._mode is AutoresetMode.NEXT_STEP:
            rewards[self._ended] = 0.0
        return rewards

    def _set_over(self, over: Flags, late: Flags | None, shown: Shown) -> None:
        """Remember which episodes are over, or begin anew at once those that the batch did not."""
        if self._mode is not AutoresetMode.SAME_STEP:
            self._ended = over.copy()
            self._late = self._late if late is None else late
            return
        if self._limit is not None:
            self._lengths[over] = 0
        if late is not None and late.any():
            self._batch.begin(late)
            self._batch.show_again(late, shown)


def _checked_mask(mask: object, count: int) -> Flags:
    """Return which environments `reset` is asked to reset."""
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"reset_mask must be a bool array [{count}], not {shown(mask)}")
    if not mask.any():
        raise OptionError("reset_mask chooses no environment: at least one must be true")
    return mask.copy()
