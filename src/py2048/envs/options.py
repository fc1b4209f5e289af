"""Environment options: rules, observations, rewards and the effect of illegal actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import BoardError, Py2048Error, did_you_mean, shown, unknown
from py2048.core.rules import Rules, get_rules, whole_number
from py2048.engine._show_kernels import MAX_PLANES

if TYPE_CHECKING:
    from gymnasium import spaces


class OptionError(Py2048Error, ValueError):
    """An environment received an invalid argument."""


class Observation(Enum):
    """The encoding in which the agent sees the board."""

    EXPONENTS = "exponents"
    """The base-2 logarithm of each tile, or 0 for an empty cell, as uint8 `[rows, columns]`."""

    ONEHOT = "onehot"
    """A plane of zeros and ones for each exponent, as uint8 `[planes, rows, columns]`."""

    NORMALISED = "normalised"
    """Exponents divided by the largest possible exponent, as float32 `[rows, columns]`."""


class Illegal(Enum):
    """The effect of an action that does not move any tile."""

    NOOP = "noop"
    """The action has no effect, but the rules may deduct points."""

    PENALTY = "penalty"
    """The penalty (default -1) is added to the reward; the board stays the same."""

    TERMINATE = "terminate"
    """The episode ends."""

    RAISE = "raise"
    """`IllegalMoveError` is raised and nothing changes."""


Exponents = NDArray[np.uint8]
Array = NDArray[Any]
"""An array with one or more observations."""
Each = Any
"""A single value, or an array with one value per environment."""
Info = dict[str, Any]


class Transition(NamedTuple):
    """The arguments of a custom reward.

    In a `GameEnv`, the fields describe a single step. In a `GameVectorEnv`, each field is an array
    whose first axis has length `num_envs`. Reward functions that only use arithmetic work in both
    environments.

    Attributes:
        before: Exponents before the step, uint8 `[rows, columns]`.
        action: The action, 0 to 3.
        after: Exponents after the step, including the new tile. If the game is over, `after` is the
            final board.
        points: Points under the rules.
        legal: Whether the move was legal.
        terminated: Whether the episode is over.
    """

    before: Exponents
    action: Each
    after: Exponents
    points: Each
    legal: Each
    terminated: Each


Reward = Callable[[Transition], Each]
"""Computes a reward. In a vector environment, computes all rewards, float64 `[num_envs]`."""

REWARDS = ("points", "log")
"""Names of the built-in rewards, which `py2048.envs._step_kernels.reward_of` computes."""


class Options:
    """Checked arguments of an environment.

    Attributes:
        rules: Rules of the games.
        observation: Kind of observation that the agent receives.
        reward: Name of a built-in reward, or None for a custom reward.
        custom_reward: The custom reward, or None for a built-in reward.
        illegal: Effect of an illegal action.
        penalty: Number that is added to the reward of an illegal action.

    Raises:
        RulesError: If the rules do not exist.
        OptionError: If another argument is invalid.
    """

    def __init__(
        self,
        rules: str | Rules,
        observation: str,
        reward: str | Reward,
        illegal: str,
        penalty: float | None,
    ) -> None:
        self.rules = get_rules(rules)
        self.illegal = Illegal(known_word(illegal, "illegal", [kind.value for kind in Illegal]))
        self.observation = Observation(
            known_word(observation, "observation", [kind.value for kind in Observation])
        )
        self.reward = None if callable(reward) else known_word(reward, "reward", REWARDS)
        self.custom_reward = reward if callable(reward) else None
        if penalty is None:
            penalty = -1.0 if self.illegal is Illegal.PENALTY else 0.0
        elif self.illegal is Illegal.RAISE:
            raise OptionError("illegal='raise' takes no penalty: leave penalty out")
        self.penalty = _finite(penalty)


def known_word(word: str, argument: str, words: Sequence[str]) -> str:
    """Return `word`, or raise an error if it is not one of `words`.

    Raises:
        OptionError: If `word` is unknown. The message suggests the closest match.
    """
    if word not in words:
        near = did_you_mean(str(word or ""), words)
        raise OptionError(f"{argument}={shown(word)} is unknown{near}")
    return word


def _finite(penalty: Any) -> float:
    try:
        number = float(penalty)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"penalty must be a finite number, not {shown(penalty)}")
    return number


def count_of(value: object, argument: str) -> int:
    """Return `value` after checking that it is an integer of at least 1.

    Raises:
        OptionError: If `value` is anything else.
    """
    number = whole_number(value)
    if number is None or number < 1:
        raise OptionError(f"{argument} must be a whole number of at least 1, not {shown(value)}")
    return number


def reset_options(options: object, *names: str) -> list[Any]:
    """Return the values of the options that `reset` accepts, or None for missing options.

    Raises:
        OptionError: If the options contain an unknown name.
    """
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        raise OptionError(f"the options of reset are a dict, not {shown(options)}")
    for other in given.keys() - {*names}:
        raise OptionError(f"reset has no option {unknown(other, names)}")
    return [given.get(name) for name in names]


# --- observations ---------------------------------------------------------------------------------

DIRECTIONS = 4


def largest_exponents(rules: Rules) -> Exponents:
    """Return upper bounds for a board's exponents, in descending order: uint8 `[cells]`.

    For example, the bounds for the classic rules are the integers from 17 (131072) down to 2 (4,
    the largest tile that spawns).
    """
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    smallest = tile.bit_length() - 1
    exponents = np.arange(smallest, smallest + rules.cells)[::-1]
    return np.minimum(exponents, np.iinfo(np.uint8).max).astype(np.uint8)


def check_reachable(boards: Exponents, rules: Rules) -> None:
    """Check that boards (uint8 `[n, rows, columns]`) contain only tiles that games can reach.

    Raises:
        BoardError: If a tile is too large, or there are too many large tiles.
    """
    ranked = np.sort(boards.reshape(-1, rules.cells), axis=1)[:, ::-1]
    wrong = np.argwhere(ranked > largest_exponents(rules))
    if len(wrong):
        board, place = wrong[0]
        exponent, largest = ranked[board, place], largest_exponents(rules)[place]
        raise BoardError(
            f"{place + 1} tile(s) of 2**{exponent} or more cannot occur under the rules "
            f"{rules.name}: at most 2**{largest} can"
        )


def space_of(options: Options) -> spaces.Box:
    """Return the observation space for a single board."""
    from gymnasium import spaces

    shape, (_, levels) = options.rules.shape, encoding_of(options)
    match options.observation:
        case Observation.EXPONENTS:
            return spaces.Box(0, levels, shape, np.uint8)
        case Observation.ONEHOT:
            return spaces.Box(0, 1, (levels, *shape), np.uint8)
        case Observation.NORMALISED:
            return spaces.Box(0.0, 1.0, shape, np.float32)


def encoding_of(options: Options) -> tuple[int, int]:
    """Return the number of the observation type, and its parameter, for the kernels.

    The parameter of ``onehot`` is the number of planes; for all other types, it is the largest
    exponent.
    """
    largest = int(largest_exponents(options.rules)[0])
    planes = min(largest + 1, MAX_PLANES)  # larger exponents share the last plane
    is_onehot = options.observation is Observation.ONEHOT
    return list(Observation).index(options.observation), planes if is_onehot else largest


def record_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.dtype[np.void]:
    """Return the dtype of a row of outputs: the score, the action mask and the observation.

    The kernels in ``engine/_show_kernels.py`` write rows in this layout.
    """
    fields = [("score", np.int64), ("mask", np.int8, DIRECTIONS), ("observation", dtype, shape)]
    return np.dtype(fields, align=True)
