"""`GameEnv`, a Gymnasium environment with one game."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, IllegalMoveError, check_kind, shown
from py2048.core.rules import Rules, whole_number
from py2048.engine._show_kernels import SHOWN_AT
from py2048.engine.jit import ready
from py2048.engine.rules import CompiledRules
from py2048.envs import _step_kernels as kernels
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
    encoding_of,
    record_of,
    reset_options,
    space_of,
)
from py2048.envs.rendering import MODES, RENDER_FPS, Picture, Screen, shown_modes

ROWS = 64
"""Number of steps that write to the same memory block.

Returned observations are views of a block, so blocks are never reused.
"""


class GameState(NamedTuple):
    """The immutable state of a game in progress, which is hashable and picklable.

    Restoring a state and repeating the actions repeats the game, because spawns depend only on
    `seed` and `ply`. Another seed gives different spawns: ``state._replace(seed=5)``.

    Attributes:
        exponents: Base-2 logarithms of the tiles in row-major order, or 0 for empty cells.
        score: Points so far.
        ply: Number of legal moves so far.
        seed: Seed of the game, as in `py2048.Game`.
        rules: Rules of the game, or None for a state that is valid under any rules with this board
            size.
    """

    exponents: bytes
    score: int
    ply: int
    seed: int
    rules: Rules | None = None

    @classmethod
    def of(cls, board: Board, *, score: int = 0, ply: int = 0, seed: int = 0) -> GameState:
        """Create the state of a game in progress on `board`."""
        tiles = (tile for row in board.rows for tile in row)
        return cls(bytes(tile.bit_length() - 1 if tile else 0 for tile in tiles), score, ply, seed)

    def board(self, rules: Rules) -> Board:
        """Return the board, in the shape that the rules define."""
        tiles = [1 << exponent if exponent else 0 for exponent in self.exponents]
        starts = range(0, rules.cells, rules.columns)
        return Board([tiles[start : start + rules.columns] for start in starts])

    def check(self, rules: Rules) -> None:
        """Check that the state can occur under `rules`.

        Raises:
            BoardError: If the state has different rules, or a board that cannot occur under
                `rules`.
            OptionError: If another field is invalid.
        """
        score, ply = whole_number(self.score), whole_number(self.ply)
        if score is None or ply is None or ply < 0 or max(abs(score), ply) >= 2**62:
            raise OptionError(
                f"a state has a whole score, and a ply from 0 on, below 2**62: not "
                f"{shown(self.score)} and {shown(self.ply)}"
            )
        if not isinstance(self.exponents, bytes):
            raise OptionError(f"the exponents of a state are bytes, not {shown(self.exponents)}")
        if self.rules not in (None, rules):
            raise BoardError(f"the state is of the rules {self.rules}, not of {rules}")
        if len(self.exponents) != rules.cells:
            raise BoardError(
                f"the state has {len(self.exponents)} cells, the board of {rules.name} "
                f"{rules.rows}x{rules.columns}"
            )
        check_reachable(np.frombuffer(self.exponents, np.uint8), rules)


class GameEnv(gymnasium.Env[Array, SupportsIndex]):
    """One game of 2048 under any rules.

    ``docs/reference/environments.md`` describes the spaces, the rewards, and when an episode ends.

    Args:
        rules: The name of a preset, a string for `Rules.parse`, or `Rules`.
        observation: ``exponents``, ``onehot`` or ``normalised``.
        reward: ``points``, ``log``, or a function of a `Transition`.
        illegal: Effect of an illegal action: ``noop``, ``penalty``, ``terminate`` or ``raise``.
        penalty: Number added to the reward of an illegal action. Defaults to -1 if `illegal` is
            ``penalty``, and to 0 otherwise.
        render_mode: ``ansi``, ``rgb_array``, ``human`` or None.

    Raises:
        RulesError: If the rules do not exist, or a spawning tile is too large.
        OptionError: If another argument is invalid.
    """

    metadata = {  # noqa: RUF012  # Gymnasium's own name and form
        "render_modes": list(MODES),
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        rules: str | Rules = "classic",
        *,
        observation: str = "exponents",
        reward: str | Reward = "points",
        illegal: str = "noop",
        penalty: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        options = Options(rules, observation, reward, illegal, penalty)
        self.rules = options.rules
        self.action_space = spaces.Discrete(DIRECTIONS)
        self.observation_space = space = space_of(options)
        self._record = record_of(space.shape, space.dtype)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_modes": shown_modes()}
        self._penalty = options.penalty
        self._refuses = options.illegal is Illegal.RAISE
        self._reward = options.custom_reward
        self._is_plain = self._reward is None and render_mode != "human"
        self._screen = Screen(render_mode)
        self._game = _game_array(options, space)
        self._advance = ready(kernels.advance)
        self._seed: int | None = None
        self._episode = 0
        self._game_seed = 0
        self._cells = self._before = np.zeros(self.rules.cells, np.uint8)
        self._row = self._renew_rows()

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Info]:
        """Start the next game.

        After ``reset(seed=s)``, game number ``e``, counted from 0, is
        ``Game(rules, seed=derive_seed(s, e))``. `game_seed` returns the seed of the current game.

        Args:
            seed: Seed that starts a new series of games. Without a seed, the series continues.
            options: ``{"state": state}`` starts from a `GameState` instead of a new game.

        Raises:
            OptionError: If an option is unknown, or the state is invalid.
            BoardError: If the state's board cannot occur under these rules.
            SeedError: If `seed` is not a whole number from 0 to 2**64 - 1.
        """
        (state,) = reset_options(options, "state")
        seed = None if seed is None else rng.checked_seed(seed)
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._episode = seed, 0
        if state is not None:
            return self.restore(state)
        if self._seed is None:
            self._seed = int(self.np_random.integers(2**64, dtype=np.uint64))
        self._game_seed = rng.derive_seed(self._seed, self._episode)
        self._episode += 1
        if self._row == ROWS:
            self._row = self._renew_rows()
        kernels.begin(self._game, self._rows, self._row, np.uint64(self._game_seed))
        return self._shown()

    def step(self, action: SupportsIndex) -> tuple[Array, float, bool, bool, Info]:
        """Play an action: 0 for up, 1 for down, 2 for left or 3 for right.

        Raises:
            ResetNeeded: Before the first `reset`, and after the end of an episode.
            OptionError: If `action` is not a number from 0 to 3.
            IllegalMoveError: If the action is illegal and `illegal` is ``raise``.
        """
        row = self._row
        if row == ROWS:
            row = self._renew_rows()
        try:
            reward, flags = self._advance(self._game, self._rows, row, index(action))
        except Exception:  # Numba raises various exceptions for integers with more than 64 bits
            if whole_number(action) in range(4):
                raise
            raise _no_action(action) from None
        self._row = row + 1
        info = {"action_mask": self._masks[row], "score": self._scores[row]}
        if self._is_plain and not flags:
            return self._boards[row], reward, False, False, info
        penalty = self._penalty_of(flags, action) if flags else 0.0
        ended = flags & kernels.IS_ENDED != 0
        if self._reward is not None:
            legal = flags & kernels.IS_ILLEGAL == 0
            reward = self._reward_of(index(action), reward, legal, ended)
        if self.render_mode == "human":
            self.render()
        return self._boards[row], reward + penalty, ended, False, info

    def render(self) -> Picture:
        """Return the board as text (``ansi``) or image (``rgb_array``), or show it."""
        return self._screen.show(self._cells.reshape(self.rules.shape), self.score)

    def close(self) -> None:
        """Close the window, if any."""
        self._screen.close()

    # --- beyond Gymnasium's interface ------------------------------------------------------------

    @property
    def score(self) -> int:
        """Points of the game so far."""
        return int(self._game[kernels.SCORE])

    @property
    def game_seed(self) -> int:
        """Seed of the current game. ``Game(rules, seed=game_seed)`` has the same spawns."""
        return self._game_seed

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, bool `[4]`. MaskablePPO calls this method."""
        return np.array([self._game[kernels.LEGAL] >> d & 1 for d in range(DIRECTIONS)], np.bool_)

    def state(self) -> GameState:
        """Return the current state, for `restore`."""
        ply = int(self._game[kernels.PLY])
        return GameState(self._cells.tobytes(), self.score, ply, self._game_seed, self.rules)

    def restore(self, state: GameState) -> tuple[Array, Info]:
        """Continue from a state, which may come from another environment with the same rules.

        Returns an observation and an info, as `reset` does. Calling `restore` does not affect the
        games that later resets start.

        Raises:
            BoardError: If the state has different rules, or a board that these rules cannot reach.
            OptionError: If `state` is not a valid state.
        """
        check_kind(state, GameState, OptionError, "a state: give a GameState")
        state.check(self.rules)
        self._game_seed = rng.checked_seed(state.seed)
        self._cells[:] = np.frombuffer(state.exponents, np.uint8)
        words = self._game.view(np.uint64)
        words[kernels.KEY], words[kernels.PLY] = rng.key_of(state.seed), state.ply
        self._game[kernels.SCORE] = state.score
        if self._row == ROWS:
            self._row = self._renew_rows()
        kernels.look(self._game, self._rows, self._row)
        return self._shown()

    # --- implementation --------------------------------------------------------------------------

    def _renew_rows(self) -> int:
        """Allocate a new block of output rows; return 0, the index of the first row.

        The last row holds the board.
        """
        records = np.zeros(ROWS + 1, self._record)
        self._rows = records.view(np.uint8).reshape(ROWS + 1, -1)
        place = self._rows[-1, SHOWN_AT : SHOWN_AT + self.rules.cells]
        place[:] = self._cells
        self._cells = place
        self._boards = list(records["observation"][:-1])
        self._masks = list(records["mask"][:-1])
        self._scores = records["score"]
        return 0

    def _shown(self) -> tuple[Array, Info]:
        """Return the most recently written row as an observation and an info."""
        row = self._row
        self._row = row + 1
        self._before = self._cells.copy()
        if self.render_mode == "human":
            self.render()
        return self._boards[row], {"action_mask": self._masks[row], "score": self._scores[row]}

    def _reward_of(self, action: int, points: float, legal: bool, ended: bool) -> float:
        """Compute the user's custom reward."""
        assert self._reward is not None
        before, self._before = self._before, self._cells.copy()
        boards = [cells.reshape(self.rules.shape) for cells in (before, self._before.copy())]
        return float(self._reward(Transition(boards[0], action, boards[1], points, legal, ended)))

    def _penalty_of(self, flags: int, action: SupportsIndex) -> float:
        """Return a step's penalty, or raise the error that its flags indicate."""
        if flags & kernels.IS_NO_ACTION:
            raise _no_action(action)
        if flags & kernels.IS_AFTER_THE_END:
            raise ResetNeeded("step() was called before reset() or after the end of an episode")
        if not flags & kernels.IS_ILLEGAL:
            return 0.0
        if self._refuses:
            board = " / ".join(str(self.state().board(self.rules)).splitlines())
            raise IllegalMoveError(f"{Direction(index(action))} changes nothing on {board}")
        return self._penalty

    def __getstate__(self) -> dict[str, object]:
        """Exclude the window and the output buffers from copies."""
        left_out = ("_rows", "_boards", "_masks", "_scores", "_cells", "_screen", "_advance")
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        return kept | {"_cells": self._cells.copy(), "_game": self._game.copy()}

    def __setstate__(self, kept: dict[str, object]) -> None:
        vars(self).update(kept)
        self._screen = Screen(self.render_mode)
        self._advance = ready(kernels.advance)
        self._row = self._renew_rows()


def _no_action(action: object) -> OptionError:
    return OptionError(f"action {shown(action)} is not one: give 0 up, 1 down, 2 left or 3 right")


_POLICIES = {Illegal.TERMINATE: kernels.TERMINATE, Illegal.RAISE: kernels.REFUSE}


def _game_array(options: Options, space: spaces.Box) -> NDArray[np.int64]:
    """Create the array of a game. The game rejects steps until `begin` is called."""
    rules = CompiledRules.of(options.rules)
    head = [
        *rules.arrays.numbers,
        rules.landing.shape[1],
        kernels.LOG if options.reward == "log" else kernels.POINTS,
        _POLICIES.get(options.illegal, kernels.NOOP),
        *(len(rules.start.ranks), len(rules.spawn.ranks)),
        *(*encoding_of(options), np.prod(space.shape) * space.dtype.itemsize),
        *(0, 0, 0, 0, kernels.ENDED),
    ]
    tables = *rules.start[:2], *rules.spawn[:2], rules.landing.ravel()
    return np.concatenate([np.asarray(part, np.int64) for part in (head, *tables)])
