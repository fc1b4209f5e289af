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
from py2048.compiled._simd_kernels import DONE, LANES, WIDTH
from py2048.compiled.batch import BatchGames
from py2048.compiled.boards import derive_seeds
from py2048.compiled.threads import together
from py2048.direction import Direction
from py2048.envs import _vector_kernels as kernels
from py2048.envs.options import (
    DIRECTIONS,
    Illegal,
    Observation,
    OptionError,
    Options,
    Reward,
    Transition,
    encoder,
    observation_space,
)
from py2048.envs.rendering import RENDER_FPS, Screen
from py2048.errors import IllegalMoveError, did_you_mean
from py2048.rules import Rules

Flags = NDArray[np.bool_]
Info = dict[str, Any]

FINAL_BYTES = 13
"""The bytes that `ShownBatch.show_final` keeps of a game besides its cells: a score, a mask, and
whether its episode is over."""

_RESETS = {
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.DISABLED: "disabled",
}


class ArrayPool:
    """Hands out arrays of one shape and type, never one that somebody still holds.

    An agent's arrays are new at each step. Fresh memory costs five times as much as what is
    written to it, because the system hands it out page by page, so memory is used again once the
    pool holds the only reference to it. Only views may be given away: a view keeps its array.

    Args:
        shape: the shape.
        dtype: the type of the elements.
    """

    KEPT = 4
    """So many arrays wait to be used again; an agent holds two or three at a time."""

    def __init__(self, shape: int | tuple[int, ...], dtype: Any) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._kept: list[NDArray[Any]] = [np.empty(0)]
        self._unused = sys.getrefcount(self._kept[0])
        self._kept.clear()

    def take(self) -> NDArray[Any]:
        """Return an array with any content."""
        if sys.implementation.name == "cpython":
            for number in range(len(self._kept)):
                if sys.getrefcount(self._kept[number]) == self._unused:
                    return self._kept[number]
        array = np.zeros(self._shape, self._dtype)
        self._kept = [*self._kept[1 - self.KEPT :], array]
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the arrays out of copies."""
        return ArrayPool, (self._shape, self._dtype)


class Shown(NamedTuple):
    """What agents are given of all games, padded to whole blocks of the batch.

    Attributes:
        boards: exponents, uint8 `[padded, cells]`.
        masks: legal actions, a byte for each: uint32 `[padded]`.
        scores: int64 `[padded]`.
    """

    boards: NDArray[np.uint8]
    masks: NDArray[np.uint32]
    scores: NDArray[np.int64]


class ShownBatch(BatchGames):
    """A batch that shows itself to agents; the arguments are those of `BatchGames`."""

    def __init__(self, rules: Rules, n: int, **options: Any) -> None:
        super().__init__(rules, n, **options)
        padded = len(self.memory.rewards)
        self._boards = ArrayPool((padded, rules.cells), np.uint8)
        self._masks, self._scores = ArrayPool(padded, np.uint32), ArrayPool(padded, np.int64)
        self._float_rewards, self._over = ArrayPool(padded, float), ArrayPool(padded, np.uint8)
        self._final = ArrayPool((rules.cells + FINAL_BYTES, padded), np.uint8)

    def seed_slots(self, slots: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Begin game number 0 of each seed, as `BatchGames.seed_slots` does."""
        super().seed_slots(slots, seeds)
        self._play_on(slots)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Begin the next game in the slots of `mask`, as `BatchGames.reset` does."""
        super().reset(mask)
        self._play_on(slice(None) if mask is None else np.flatnonzero(mask))

    def _play_on(self, slots: slice | NDArray[np.int64]) -> None:
        """Let games that are over from their start end at their first step, which says so."""
        self.memory.flags[DONE // WIDTH, slots] = 0

    def show(
        self, *, penalty: float, is_log: bool, is_terminal: bool
    ) -> tuple[Shown, NDArray[np.float64], Flags]:
        """Return what agents are given of the last step, its rewards, and which episodes are over.

        The arrays are new: no later step writes to them while somebody holds them.

        Args:
            penalty: what is added to the reward of an illegal action.
            is_log: whether the reward is the logarithm of the points.
            is_terminal: whether an illegal action ends the episode.
        """
        shown, rewards, over = self._new_shown(), self._float_rewards.take(), self._over.take()
        in_fours = self.rules.cells % 4 == 0
        quads = shown.boards.view(np.uint32) if in_fours else np.empty((0, 0), np.uint32)
        options = (penalty, is_log, is_terminal)
        target = (shown.boards, quads, shown.masks, rewards, over, shown.scores)
        together(
            kernels.show,
            [
                (*part, *self.memory[:4], *options, *target, np.empty(4 * LANES, np.uint32))
                for part in self.block_shares()
            ],
        )
        return shown, rewards[: self.n], over[: self.n].view(np.bool_)

    def show_again(self, slots: Flags, shown: Shown) -> None:
        """Show in the `slots` what their games are now."""
        here = np.flatnonzero(slots)
        shown.boards[here] = self.boards[slots].reshape(-1, self.rules.cells)
        shown.masks.view(np.uint8).reshape(-1, DIRECTIONS)[here] = self.legal_mask[slots]
        shown.scores[here] = self.scores[slots]

    def show_final(self, shown: Shown, over: Flags) -> Shown:
        """Return the last position of each episode that is over, 0 for the others: read-only."""
        # All in one block, which still says what rows of it were used the last time.
        block, padded = self._final.take(), len(self.memory.rewards)
        scores, masks = block[:8].reshape(-1).view(np.int64), block[8:12].reshape(-1)
        final = Shown(block[13:].reshape(padded, -1), masks.view(np.uint32), scores)
        last = self.memory.flags, self.memory.last_cells, self.memory.last_scores
        given: tuple[NDArray[Any], ...] = (*last, *shown, *final)
        kernels.show_final(over.view(np.uint8), block[12], block[12].view(np.uint64), *given)
        for array in final:
            array.flags.writeable = False
        return final

    def _new_shown(self) -> Shown:
        return Shown(self._boards.take(), self._masks.take(), self._scores.take())


@dataclass(frozen=True)
class VectorState:
    """A copy of everything that decides how a vector environment continues.

    Attributes:
        batch: the games.
        ended: which episodes are over and wait for their reset.
        late: those of them that the batch does not know to be over.
        lengths: the steps of each episode, if they are counted.
    """

    batch: BatchState
    ended: Flags
    late: Flags
    lengths: NDArray[np.int64]


class GameVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
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
        max_episode_steps: after so many steps an episode is truncated; by default never.
        threads: how many threads may work; by default one for each processor.
        render_mode: ``ansi``, ``rgb_array`` or None.

    Raises:
        RulesError: if the rules do not exist.
        BoardError: if the board is too big for a batch.
        OptionError: if another argument is unknown.
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
        self._mode = _mode_of(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        if render_mode == "human":
            raise OptionError("render_mode='human' shows one game; a vector has rgb_array and ansi")
        self.render_mode = render_mode
        self._screen = Screen(render_mode, self.rules.shape)
        self.num_envs = num_envs
        self.single_action_space = spaces.Discrete(DIRECTIONS)
        self.single_observation_space = observation_space(self.rules, self._options.observation)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._encode = encoder(self.rules, self._options.observation)
        self._batch = ShownBatch(self.rules, num_envs, threads=threads, reset=_RESETS[self._mode])
        self._limit = max_episode_steps
        self._can_be_late = self._options.illegal is Illegal.TERMINATE or self._limit is not None
        self._is_begun = False
        self._ended = np.zeros(num_envs, np.bool_)
        self._late = np.zeros(num_envs, np.bool_)
        self._lengths = np.zeros(num_envs, np.int64)

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], Info]:
        """Begin the next episode in all environments, or in those of a mask.

        Environment ``i`` after ``reset(seed=s)`` is a `GameEnv` after
        ``reset(seed=derive_seed(s, i))``, and with a list of seeds after ``reset(seed=seeds[i])``.

        Args:
            seed: starts the series of games of this seed; without one the series continue.
            options: ``{"reset_mask": mask}``, bool `[num_envs]`, resets only where it is true.

        Raises:
            OptionError: if another option is given, or the mask does not fit.
            SeedError: if a seed is not a whole number from 0 to 2**64 - 1.
        """
        mask = _mask_of(options, self.num_envs)
        if not (self._is_begun or mask.all()):
            raise ResetNeeded("reset all environments once before some of them")
        self._begin(mask, self._slot_seeds(seed))
        self._is_begun = True
        self._ended[mask], self._late[mask], self._lengths[mask] = False, False, 0
        return self._told(self._show()[0])

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], Info]:
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
            self._batch.reset(self._late)
        shown, rewards, terminated = self._show()
        truncated = self._count_steps(terminated)
        over = terminated if self._limit is None else terminated | truncated
        final = None
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            final = self._batch.show_final(shown, over)
        if before is not None:
            after = self._boards_of(shown).copy()
            if final is not None:
                after[over] = self._boards_of(final)[over]
            rewards = self._custom_rewards(before, actions, after, rewards, terminated)
        self._set_over(over, shown)
        observations, info = self._told(shown)
        if final is not None:
            info |= self._final_info(final, over.copy())
        return observations, rewards, terminated, truncated, info

    def render(self) -> Any:
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
        return VectorState(self._batch.get_state(), *waits)

    def restore(self, state: VectorState) -> tuple[NDArray[Any], Info]:
        """Go to `state`, also one of another environment with the same arguments.

        Returns observations and infos as `reset` does.

        Raises:
            BoardError: if the state is of other rules or another number of games.
        """
        self._batch.set_state(state.batch)
        self._ended[:], self._late[:] = state.ended, state.late
        self._lengths[:] = state.lengths
        self._is_begun = True
        return self._told(self._show()[0])

    # --- the inside ------------------------------------------------------------------------------

    def _slot_seeds(self, seed: int | Sequence[int] | None) -> NDArray[np.uint64] | None:
        """Return the seed of each environment's series of games; None to continue the old ones."""
        if isinstance(seed, Sequence):
            if len(seed) != self.num_envs:
                raise OptionError(f"{len(seed)} seeds for {self.num_envs} environments")
            return np.array([rng.checked_seed(each) for each in seed], np.uint64)
        if seed is not None:
            rng.checked_seed(seed)
            super().reset(seed=seed)
            return slot_seeds(seed, self.num_envs)
        if self._is_begun:
            return None
        return slot_seeds(int(self.np_random.integers(2**64, dtype=np.uint64)), self.num_envs)

    def _begin(self, mask: Flags, seeds: NDArray[np.uint64] | None) -> None:
        if seeds is None:
            self._batch.reset(mask)
        else:
            slots = np.flatnonzero(mask)
            self._batch.seed_slots(slots, seeds[slots])

    def _show(self) -> tuple[Shown, NDArray[np.float64], Flags]:
        options = self._options
        return self._batch.show(
            penalty=0.0 if options.custom_reward is not None else options.penalty,
            is_log=options.reward == "log",
            is_terminal=options.illegal is Illegal.TERMINATE,
        )

    def _check(self, actions: NDArray[Any]) -> None:
        """Refuse a step that cannot be."""
        if not self._is_begun:
            raise ResetNeeded("step() was called before reset()")
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            slot = int(np.flatnonzero(self._ended)[0])
            raise ResetNeeded(f"environment {slot} is over: reset it with a reset_mask")
        if self._options.illegal is Illegal.RAISE:
            self._check_legality(np.asarray(actions))

    def _check_legality(self, actions: NDArray[Any]) -> None:
        bits = self._batch.legal_bits
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

    def _boards_of(self, shown: Shown) -> NDArray[np.uint8]:
        return shown.boards[: self.num_envs].reshape(-1, *self.rules.shape)

    def _told(self, shown: Shown) -> tuple[NDArray[Any], Info]:
        """Return what is shown as observations and infos."""
        return self._encode(self._boards_of(shown)), self._info(shown)

    def _info(self, shown: Shown) -> Info:
        count = self.num_envs
        masks = shown.masks[:count].view(np.int8).reshape(count, DIRECTIONS)
        return {"action_mask": masks, "score": shown.scores[:count]}

    def _final_info(self, final: Shown, over: Flags) -> Info:
        """Return ``final_obs`` and ``final_info`` as Gymnasium names them, each with its mask."""
        observations = self._boards_of(final)
        if self._options.observation is not Observation.EXPONENTS:
            encoded = self._encode(observations[over])
            observations = np.zeros((self.num_envs, *encoded.shape[1:]), encoded.dtype)
            observations[over] = encoded
        info = self._info(final) | {"_action_mask": over, "_score": over}
        return {
            "final_obs": observations,
            "_final_obs": over,
            "final_info": info,
            "_final_info": over,
        }

    def _custom_rewards(
        self,
        before: NDArray[np.uint8],
        actions: NDArray[Any],
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

    def _set_over(self, over: Flags, shown: Shown) -> None:
        """Remember which episodes are over, or begin anew at once those that the batch did not."""
        late = over & ~self._batch.dones if self._can_be_late else None
        if self._mode is not AutoresetMode.SAME_STEP:
            self._ended = over.copy()
            self._late = self._late if late is None else late
            return
        if self._limit is not None:
            self._lengths[over] = 0
        if late is not None and late.any():
            self._batch.reset(late)
            self._batch.show_again(late, shown)


def slot_seeds(seed: int, count: int) -> NDArray[np.uint64]:
    """Return ``derive_seed(seed, i)`` for each environment ``i``: uint64 `[count]`."""
    keys = np.full(count, rng.key_of(seed), np.uint64)
    return derive_seeds(keys, np.arange(count, dtype=np.uint64))


def _mode_of(mode: str | AutoresetMode) -> AutoresetMode:
    known = [each.value for each in AutoresetMode]
    if not isinstance(mode, AutoresetMode) and mode not in known:
        raise OptionError(f"autoreset_mode={mode!r} is unknown{did_you_mean(str(mode), known)}")
    return AutoresetMode(mode)


def _mask_of(options: dict[str, Any] | None, count: int) -> Flags:
    """Return which environments `reset` is asked to reset."""
    unknown = set(options or {}) - {"reset_mask"}
    if unknown:
        raise OptionError(f"reset has no option {min(unknown)!r}; known: reset_mask")
    mask = options.get("reset_mask") if options else None
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"reset_mask must be a bool array [{count}], not {mask!r:.80}")
    if not mask.any():
        raise OptionError("reset_mask chooses no environment: at least one must be true")
    return mask.copy()
