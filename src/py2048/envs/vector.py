"""`GameVectorEnv`, a Gymnasium vector environment built on the compiled batch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from py2048.core import rng
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, IllegalMoveError, check_kind, shown
from py2048.core.rules import Rules, get_rules
from py2048.engine import _show_kernels as kernels
from py2048.engine._batch_kernels import BatchState
from py2048.engine._simd_kernels import BONUS, DONE, LANES, SCORE, WIDTH
from py2048.engine.batch import DEVICES, BatchGames
from py2048.engine.boards import checked_boards, derive_seeds
from py2048.envs.options import (
    DIRECTIONS,
    Array,
    Illegal,
    Info,
    OptionError,
    Options,
    Reward,
    Transition,
    check_reachable,
    count_of,
    encoding_of,
    known_word,
    largest_exponents,
    record_of,
    reset_options,
    space_of,
)
from py2048.envs.rendering import RENDER_FPS, Screen

Flags = NDArray[np.bool_]
Last = Callable[[], list[Array]]
"""Returns the final observation, mask and score of each episode, or zeros if it has not ended."""


class Shown(NamedTuple):
    """The outputs of one step, for all games.

    Attributes:
        observations: Observations, `[n, ...]`.
        rewards: Rewards, float64 `[n]`.
        masks: Legal actions, int8 `[n, 4]`.
        scores: Scores, int64 `[n]`.
        terminated: Whether each episode is over, bool `[n]`.
        truncated: Whether each episode is truncated, bool `[n]`.
    """

    observations: Array
    rewards: NDArray[np.float64]
    masks: NDArray[np.int8]
    scores: NDArray[np.int64]
    terminated: Flags
    truncated: Flags


OUT = ("observations", "rewards", "action_mask", "score", "terminations", "truncations")
"""Keys of the `out` argument of `step`, in the order of `Shown`."""


class Layout(NamedTuple):
    """Sizes and types of the arrays in a `Frame`.

    Attributes:
        n: Number of games.
        padded: `n`, rounded up to a multiple of the block size of a batch.
        shape: Shape of one observation.
        dtype: Element type of observations.
        has_last: Whether final positions are needed.
        penalty: Number that is added to the reward of an illegal action.
    """

    n: int
    padded: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    has_last: bool
    penalty: float


class Frame:
    """Buffers for the outputs of a step and the final positions of finished games.

    `places` holds the array addresses that are passed to the step kernel. Agents receive views of
    `block`, and its memory is not reused while a view exists.
    """

    def __init__(self, layout: Layout) -> None:
        parts: list[tuple[Any, tuple[int, ...]]] = [
            (np.float64, ()),
            (np.int64, ()),
            (np.int8, (DIRECTIONS,)),
            (layout.dtype, layout.shape),
            (np.bool_, ()),
            (np.bool_, ()),
        ]
        if layout.has_last:
            parts += [(record_of(layout.shape, layout.dtype), ()), (np.bool_, ())]
        sizes = [int(np.prod(shape)) * np.dtype(dtype).itemsize for dtype, shape in parts]
        self.block = np.zeros((sum(sizes), layout.padded), np.uint8)
        arrays, row = [], 0
        for (dtype, shape), rows in zip(parts, sizes, strict=True):
            array = self.block[row : row + rows].reshape(-1).view(dtype)
            arrays.append(array.reshape(layout.padded, *shape))
            row += rows
        shown, last = [arrays[part] for part in (3, 0, 2, 1, 4, 5)], arrays[6:]
        self._penalty = np.array([layout.penalty])
        self.places = np.zeros(9, np.int64)
        self.places[-1] = self._penalty.ctypes.data
        self.places[: 6 + len(last)] = [array.ctypes.data for array in (*shown, *last)]
        self._shown = Shown._make(array[: layout.n] for array in shown)
        names = ("observation", "mask", "score")
        self._last = [last[0][name][: layout.n] for name in names] if last else []
        for array in self._last:
            array.flags.writeable = False
        self.unused = 0

    def shown(self) -> Shown:
        """Return views of the step's outputs."""
        return Shown._make([array[:] for array in self._shown])

    def last(self) -> list[Array]:
        """Return read-only views of the final observations, masks and scores."""
        return [array[:] for array in self._last]


class FramePool:
    """Reuses the memory of frames that are no longer in use.

    Each step returns new arrays. Allocating new memory would take five times as long as writing the
    outputs, because the OS maps memory page by page. The pool reuses a frame when no array refers
    to its memory any more.
    """

    MAX_FRAMES = 4
    """Maximum number of frames; agents usually hold the outputs of two or three steps."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._frames: list[Frame] = []

    def take(self) -> Frame:
        """Return a frame with arbitrary contents."""
        if sys.implementation.name == "cpython":
            for frame in self._frames:
                if sys.getrefcount(frame.block) == frame.unused:
                    return frame
        frame = Frame(self._layout)
        frame.unused = sys.getrefcount(frame.block)
        self._frames = [*self._frames[1 - self.MAX_FRAMES :], frame]
        return frame

    def __reduce__(self) -> tuple[object, ...]:
        """Exclude frames from copies."""
        return FramePool, (self._layout,)


class ShownBatch(BatchGames):
    """A game batch that writes its results to the output arrays of an environment."""

    def __init__(
        self,
        options: Options,
        n: int,
        threads: int | None,
        reset: str,
        limit: int | None,
        device: str,
        rules: Rules,
    ) -> None:
        super().__init__(rules, n, threads=threads, reset=reset, device=device)
        padded, has_last = len(self._state.rewards), reset == "same_step"
        penalty = options.penalty if options.custom_reward is None else 0.0
        self._penalty, space = penalty, space_of(options)
        layout = Layout(n, padded, space.shape, space.dtype, has_last, penalty)
        self._frames = FramePool(layout)
        orders = self._orders
        orders[kernels.IS_TERMINAL] = options.illegal is Illegal.TERMINATE
        orders[kernels.LIMIT] = limit or 0
        orders[kernels.OBSERVATION], orders[kernels.LEVELS] = encoding_of(options)
        orders[kernels.SIZE] = np.prod(space.shape) * space.dtype.itemsize
        orders[kernels.RECORD] = record_of(space.shape, space.dtype).itemsize
        orders[kernels.IS_LOG] = options.reward == "log"

    def begin(self, mask: Flags, boards: ArrayLike | None = None) -> None:
        """Start the next game in the slots that `mask` selects, optionally from `boards`.

        If the game is already over in its start position, the first step ends the episode. If games
        are scored by their tile sum, the initial score includes the tiles of given boards, so that
        they do not count as a reward.
        """
        slots = self._given(np.flatnonzero(mask))
        if boards is None:
            self.reset(mask)
        else:
            self.set_boards(boards, mask)
            words = self._state.words
            words[int(SCORE // WIDTH), slots] += words[int(BONUS // WIDTH), slots]
            words[int(BONUS // WIDTH), slots] = 0
        self._state.flags[int(DONE // WIDTH), slots] = 0

    def show(self, steps: int = 0, out: Sequence[Array | None] = ()) -> tuple[Last, Shown, int]:
        """Play `steps` steps with the actions that `enter` has stored.

        Returns: A function that returns the final positions of finished episodes, the outputs of
            the last step, and the number of finished episodes. Later steps do not overwrite the
            outputs while a view of them is in use.
        """
        if self._card:
            if out:
                raise OptionError("out holds arrays of a CPU: leave it out with device='cuda'")
            return self._show_on_card(steps)
        frame = self._frames.take()
        shown, places = frame.shown(), frame.places
        if out:
            shown, places = self._directed(out, shown, places)
        orders = self._orders
        orders[kernels.OBSERVATIONS :] = places
        orders[kernels.STEPS] = steps
        ended, _ = self._crew.play(self._workers(1))
        orders[kernels.OBSERVATIONS] = 0
        if out:
            shown = Shown._make(starmap(_delivered, zip(out, shown, strict=True)))
        return frame.last, shown, ended

    def _show_on_card(self, steps: int) -> tuple[Last, Shown, int]:
        """Play `steps` steps on the GPU; return the outputs in new GPU arrays."""
        assert self._card
        orders, on_card = self._orders, self._card.card.arrays
        orders[kernels.STEPS] = steps
        ended, _, ends = self._card.advance(orders, self._state)
        over, masks = ends[:2, : self.n].view(np.bool_), self.legal_mask.view(np.int8)
        rewards = self.rewards.astype(np.float64)
        if orders[kernels.IS_LOG]:
            rewards = on_card.copysign(on_card.log2(1.0 + abs(rewards)), rewards)
        rewards += self._penalty * self.illegal
        shown = Shown(self._encoded(self.boards), rewards, masks, self.scores.copy(), *over)

        def last() -> list[Array]:
            ways, legal = on_card.arange(DIRECTIONS, dtype=np.uint8), ends[2, : self.n, None]
            masks = (legal >> ways & np.uint8(1)).view(np.int8)
            final, ended = (self._encoded(self.last_boards), masks, self.last_scores), over.any(0)
            return [each * ended.reshape(-1, *[1] * (each.ndim - 1)) for each in final]

        return last, shown, ended

    def _encoded(self, boards: NDArray[np.uint8]) -> Array:
        """Encode boards in GPU memory as observations."""
        assert self._card
        on_card, levels = self._card.card.arrays, int(self._orders[kernels.LEVELS])
        match self._orders[kernels.OBSERVATION]:
            case kernels.ONEHOT:
                planes = on_card.arange(levels, dtype=np.uint8)[:, None, None]
                boards = on_card.minimum(boards, np.uint8(levels - 1))[:, None] == planes
                return boards.view(np.uint8)
            case kernels.NORMALISED:
                return boards.astype(np.float32, order="C") / np.float32(levels)
        return boards.astype(np.uint8, order="C")

    def _directed(
        self, out: Sequence[Array | None], shown: Shown, places: NDArray[np.int64]
    ) -> tuple[Shown, NDArray[np.int64]]:
        """Let the kernel write directly to the caller's arrays if possible.

        Raises:
            OptionError: If the outputs cannot be copied to an array.
        """
        arrays: list[Array] = list(shown)
        for name, given, own in zip(OUT, out, arrays, strict=True):
            if given is not None and not (
                given.shape == own.shape and np.can_cast(own.dtype, given.dtype, "same_kind")
            ):
                raise OptionError(
                    f"out[{name!r}] is {given.dtype} {given.shape}, not {own.dtype} {own.shape}"
                )
        if self.n % LANES:
            return shown, places
        places = places.copy()
        for part, given in enumerate(out):
            own = arrays[part]
            if given is None or not given.flags.carray:
                continue
            if (given.dtype, given.shape) == (own.dtype, own.shape):
                arrays[part], places[part] = given, given.ctypes.data
        return Shown._make(arrays), places


def _delivered(given: Array | None, own: Array) -> Array:
    """Copy an output to the caller's array, if there is one; return the array that holds it."""
    if given is None:
        return own
    if given is not own:
        np.copyto(given, own, casting="same_kind")
    return given


@dataclass(frozen=True)
class VectorState:
    """A copy of the state of a vector environment.

    Attributes:
        rules: Rules of the game.
        num_envs: Number of games.
        batch: State of the games.
    """

    rules: Rules
    num_envs: int
    batch: BatchState


class GameVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` games of 2048 under the same rules, advanced by a single compiled call.

    ``docs/reference/environments.md`` describes the spaces, the rewards, the autoreset modes, and
    when an episode ends.

    Args:
        num_envs: Number of games.
        rules: The name of a preset, a string for `Rules.parse`, or `Rules`. Boards may have at most
            254 cells.
        observation: ``exponents``, ``onehot`` or ``normalised``.
        reward: ``points``, ``log``, or a function of a `Transition` of arrays.
        illegal: Effect of an illegal action: ``noop``, ``penalty``, ``terminate`` or ``raise``.
        penalty: Number that is added to the reward of an illegal action. Defaults to -1 if
            `illegal` is ``penalty``, and to 0 otherwise.
        autoreset_mode: When finished episodes restart: ``SameStep``, ``NextStep`` or ``Disabled``,
            or an `AutoresetMode` of Gymnasium.
        max_episode_steps: Number of steps after which an episode is truncated. By default, no
            episode is truncated.
        threads: Maximum number of threads. The default is one per processor.
        render_mode: ``ansi``, ``rgb_array`` or None.
        device: ``cpu``, or ``cuda`` for a GPU. The GPU plays the same games, but only on 4x4 boards
            with random spawns. On a GPU, `reset` and `step` return CuPy arrays, and actions may be
            GPU arrays.

    Raises:
        RulesError: If the rules do not exist, or are not supported by batches or by the GPU.
        BoardError: If the board is too large for a batch.
        OptionError: If another argument is invalid.
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If there is no GPU.
    """

    metadata = {  # noqa: RUF012  # Gymnasium's own name and form
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
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
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        threads: int | None = None,
        render_mode: str | None = None,
        device: str = "cpu",
    ) -> None:
        self._options = Options(rules, observation, reward, illegal, penalty)
        self.rules = self._options.rules
        modes = {mode.value: mode for mode in AutoresetMode}
        mode = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self.autoreset_mode = modes[known_word(mode, "autoreset_mode", list(modes))]
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        if render_mode == "human":
            raise OptionError("render_mode='human' shows one game; a vector has rgb_array and ansi")
        self.render_mode = render_mode
        self._screen = Screen(render_mode)
        self.num_envs = count = count_of(num_envs, "num_envs")
        self.single_action_space = spaces.Discrete(DIRECTIONS)
        self.single_observation_space = space_of(self._options)
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        workers = None if threads is None else count_of(threads, "threads")
        limit = max_episode_steps
        self._batch_of = partial(
            ShownBatch,
            self._options,
            count,
            workers,
            self.autoreset_mode.name.lower(),
            None if limit is None else count_of(limit, "max_episode_steps"),
            known_word(device, "device", DEVICES),
        )
        self._batch = self._batch_of(self.rules)
        self._is_begun = False

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, Info]:
        """Start the next episode in all environments, or in the environments that a mask selects.

        Environment ``i`` after ``reset(seed=s)`` equals a `GameEnv` after
        ``reset(seed=derive_seed(s, i))``. With a list of seeds, environment ``i`` equals a
        `GameEnv` after ``reset(seed=seeds[i])``.

        Args:
            seed: Seed for a new series of games in each environment, or a list of seeds, one per
                environment. If a seed is None, the environment continues its current series.
            options: ``reset_mask`` (bool `[num_envs]`) selects environments. ``boards`` (exponents
                `[num_envs, rows, columns]`) sets start positions. If games are scored by their tile
                sum, the initial score is the sum of the given tiles, otherwise 0. ``rules``
                replaces the rules of all environments. The new rules must have the same board shape
                as the original rules, and must not allow larger tiles.

        Raises:
            OptionError: If an option is unknown or invalid.
            RulesError: If the rules do not exist, or cannot be played in a batch.
            BoardError: If the boards have the wrong shape or cannot occur under the rules.
            SeedError: If a seed is not a whole number from 0 to 2**64 - 1.
        """
        reset_mask, boards, given = reset_options(options, "reset_mask", "boards", "rules")
        mask = _checked_mask(reset_mask, self.num_envs)
        rules = self.rules if given is None else self._compatible_rules(given, mask)
        if not (self._is_begun or mask.all()):
            raise ResetNeeded("reset all environments once before some of them")
        if boards is not None:
            boards = checked_boards(boards, rules)
            if len(boards) == len(mask):
                check_reachable(boards[mask], rules)
        is_new, seeds = self._slot_seeds(seed)
        if rules != self.rules:
            batch = self._batch_of(rules)
            batch.set_state(self._batch.get_state())
            self.rules, self._batch = rules, batch
        slots = np.flatnonzero(mask & is_new)
        self._batch.seed_slots(slots, seeds[slots])
        self._batch.begin(mask, boards)
        self._is_begun = True
        return self._observations_and_infos(self._batch.show()[1])

    def step(
        self, actions: NDArray[np.integer], out: Mapping[str, Array] | None = None
    ) -> tuple[Array, Array, Array, Array, Info]:
        """Play one action in each environment. All returned arrays are new.

        Args:
            actions: Whole numbers from 0 to 3, `[num_envs]`.
            out: Arrays to write to and return, by name: ``observations``, ``rewards``,
                ``terminations``, ``truncations``, ``action_mask``, ``score``. Missing arrays are
                allocated. If `num_envs` is a multiple of 512, contiguous arrays of the right type
                are filled without a copy.

        Raises:
            ResetNeeded: Before the first `reset`, or if an episode is over and autoreset is
                disabled.
            DirectionError: If the actions are not `num_envs` numbers from 0 to 3.
            OptionError: If `out` has an unknown name or an unsuitable array.
            IllegalMoveError: If an action is illegal and `illegal` is ``raise``. In this case, no
                game changes.
        """
        self._check_begun()
        self._batch.enter(actions)
        if self._options.illegal is Illegal.RAISE:
            self._check_legal()
        before = None
        if self._options.custom_reward is not None:
            moves = self._batch.directions.astype(np.int64)
            before = self._batch.observe(), self._waits(), moves
        last, shown, ended = self._batch.show(1, () if out is None else _buffers(out))
        observations, info = self._observations_and_infos(shown)
        restarts = self.autoreset_mode is AutoresetMode.SAME_STEP and ended
        over = shown.terminated | shown.truncated if restarts else None
        if before is not None:
            self._reward(before, over, shown)
        if over is not None:
            info |= _last_info(last(), over)
        return observations, shown.rewards, shown.terminated, shown.truncated, info

    def render(self) -> tuple[Any, ...] | None:
        """Return each board as text (``ansi``) or image (``rgb_array``), in a tuple."""
        if self.render_mode is None:
            return None
        boards, scores = map(self._batch.host, (self._batch.observe(), self._batch.scores))
        pairs = zip(boards, scores, strict=True)
        return tuple(self._screen.show(board, int(score)) for board, score in pairs)

    # --- beyond Gymnasium's interface ------------------------------------------------------------

    @property
    def game_seeds(self) -> NDArray[np.uint64]:
        """Seeds of the games. A `py2048.Game` with the same seed has the same spawns."""
        return self._batch.seeds

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions as a mask, bool `[num_envs, 4]`."""
        return self._batch.legal_mask

    def state(self) -> VectorState:
        """Return a copy of the current state, which `restore` accepts."""
        return VectorState(self.rules, self.num_envs, self._batch.get_state())

    def restore(self, state: VectorState) -> tuple[Array, Info]:
        """Continue from a state, which may come from another environment with the same arguments.

        Returns observations and infos like `reset`.

        Raises:
            BoardError: If the state has different rules or a different number of games.
            OptionError: If `state` is not a `VectorState`.
        """
        check_kind(state, VectorState, OptionError, "a state: give a VectorState")
        if state.rules != self.rules:
            raise BoardError(f"the state is of the rules {state.rules}, not of {self.rules}")
        if state.num_envs != self.num_envs:
            raise BoardError(f"the state has {state.num_envs} games, not {self.num_envs}")
        self._batch.set_state(state.batch)
        self._is_begun = True
        return self._observations_and_infos(self._batch.show()[1])

    # --- implementation --------------------------------------------------------------------------

    def _slot_seeds(
        self, seed: int | Sequence[int | None] | NDArray[np.integer] | None
    ) -> tuple[Flags, NDArray[np.uint64]]:
        """Return a mask of the environments that get a new seed, and the seeds."""
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

    def _compatible_rules(self, given: str | Rules, mask: Flags) -> Rules:
        """Return the new rules after checking that their boards fit the observation space."""
        rules, first = get_rules(given), self._options.rules
        if not mask.all():
            raise OptionError("rules are those of all environments: leave out reset_mask")
        if rules.shape != first.shape or largest_exponents(rules)[0] > largest_exponents(first)[0]:
            raise OptionError(f"the rules {rules} have another board than {first}, or larger tiles")
        return rules

    def _check_begun(self) -> None:
        """Raise an error if an environment must be reset first."""
        if not self._is_begun:
            raise ResetNeeded("step() was called before reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._batch.dones.any():
            slot = int(self._batch.dones.argmax())
            raise ResetNeeded(f"environment {slot} is over: reset it with a reset_mask")

    def _check_legal(self) -> None:
        """Raise an error if an action is illegal."""
        bits, moves = self._batch.legal_bits, self._batch.directions
        wrong = (bits >> moves & 1 == 0) & (bits != 0) & ~self._waits()
        if wrong.any():
            slot = int(wrong.argmax())
            board = " / ".join(str(self._batch.board(slot)).splitlines())
            direction = Direction(int(moves[slot]))
            raise IllegalMoveError(f"environment {slot}: {direction} changes nothing on {board}")

    def _waits(self) -> Flags:
        """Return a mask of the finished episodes that restart at the next step or reset."""
        return self._batch.dones & (self.autoreset_mode is not AutoresetMode.SAME_STEP)

    def _observations_and_infos(self, shown: Shown) -> tuple[Array, Info]:
        """Return outputs as observations and infos."""
        return shown.observations, {"action_mask": shown.masks, "score": shown.scores}

    def _reward(self, before: tuple[Array, Flags, Array], over: Flags | None, shown: Shown) -> None:
        """Replace the points with the rewards that the user's function returns.

        Args:
            before: The boards before the step, a mask of the episodes that were already over, and
                the moves.
            over: Mask of the episodes that have ended and restarted, or None.
            shown: The outputs of the step.
        """
        boards, waited, moves = before
        reward, illegal = self._options.custom_reward, self._batch.illegal
        assert reward is not None
        after = self._batch.observe()
        if over is not None:
            after[over] = self._batch.last_boards[over]
        points, terminated = shown.rewards.copy(), shown.terminated.copy()
        shown.rewards[:] = reward(Transition(boards, moves, after, points, ~illegal, terminated))
        shown.rewards[:] += self._options.penalty * illegal
        shown.rewards[waited] = 0.0


def _buffers(out: Mapping[str, Array]) -> list[Array | None]:
    """Return the arrays of `out` in the order of `Shown`, or None for missing arrays."""
    for name in out:
        known_word(name, "out", OUT)
    return [out.get(name) for name in OUT]


def _last_info(last: list[Array], over: Flags) -> Info:
    """Return Gymnasium's ``final_obs`` and ``final_info``, with their masks."""
    observations, masks, scores = last
    info = {"action_mask": masks, "_action_mask": over, "score": scores, "_score": over}
    return {"final_obs": observations, "_final_obs": over, "final_info": info, "_final_info": over}


def _checked_mask(mask: object, count: int) -> Flags:
    """Return the mask of the environments to reset, by default all environments."""
    if mask is None:
        return np.ones(count, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        raise OptionError(f"reset_mask must be a bool array [{count}], not {shown(mask)}")
    if not mask.any():
        raise OptionError("reset_mask chooses no environment: at least one must be true")
    return mask.copy()
