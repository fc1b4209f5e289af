"""Options of environments: rules, observations, rewards and illegal actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    """How the agent sees the board."""

    EXPONENTS = "exponents"
    """Base-2 logarithm of each tile, 0 for an empty cell: uint8 `[rows, columns]`."""

    ONEHOT = "onehot"
    """One plane of zeros and ones per exponent: uint8 `[planes, rows, columns]`."""

    NORMALISED = "normalised"
    """Exponents divided by the largest possible exponent: float32 `[rows, columns]`."""


class Illegal(Enum):
    """The effect of an action that moves no tile."""

    NOOP = "noop"
    """The action has no effect, but the rules may deduct points."""

    PENALTY = "penalty"
    """The board stays, and the penalty (default -1) is added to the reward."""

    TERMINATE = "terminate"
    """The episode ends."""

    RAISE = "raise"
    """`IllegalMoveError` is raised and nothing changes."""


Exponents = NDArray[np.uint8]
Array = NDArray[Any]
"""Observations, of a kind listed in `Observation`."""
Each = Any
"""A value, or an array with one value per environment."""
Info = dict[str, Any]


class Transition(NamedTuple):
    """The arguments of a custom reward.

    In a `GameEnv`, the fields describe one step. In a `GameVectorEnv`, each field is an array whose
    first axis has length `num_envs`, so a function that only does arithmetic works in both
    environments.

    Attributes:
        before: Exponents before the step, uint8 `[rows, columns]`.
        action: The action, 0 to 3.
        after: Exponents after the step, including the new tile. For a finished game, the final
            board.
        points: Points by the rules.
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
"""Computes a reward: a number, or float64 `[num_envs]` in a vector environment."""

REWARDS = ("points", "log")
"""Names of built-in rewards, computed by `py2048.envs._step_kernels.reward_of`."""


@dataclass(frozen=True, slots=True)
class Options:
    """Checked arguments of an environment.

    Attributes:
        rules: Rules of the games.
        observation: How the agent sees the board.
        reward: Name of a built-in reward, or None for a custom one.
        custom_reward: The custom reward, if any.
        illegal: Effect of an illegal action.
        penalty: Added to the reward of an illegal action.
    """

    rules: Rules
    observation: Observation
    reward: str | None
    custom_reward: Reward | None
    illegal: Illegal
    penalty: float

    @classmethod
    def of(
        cls,
        rules: str | Rules,
        observation: str,
        reward: str | Reward,
        illegal: str,
        penalty: float | None,
    ) -> Options:
        """Check an environment's arguments.

        Raises:
            RulesError: If the rules do not exist.
            OptionError: If another argument is invalid.
        """
        chosen = Illegal(known_word(illegal, "illegal", [kind.value for kind in Illegal]))
        form = Observation(
            known_word(observation, "observation", [kind.value for kind in Observation])
        )
        if penalty is None:
            penalty = -1.0 if chosen is Illegal.PENALTY else 0.0
        elif chosen is Illegal.RAISE:
            raise OptionError("illegal='raise' takes no penalty: leave penalty out")
        return cls(
            rules=get_rules(rules),
            observation=form,
            reward=None if callable(reward) else known_word(reward, "reward", REWARDS),
            custom_reward=reward if callable(reward) else None,
            illegal=chosen,
            penalty=_finite(penalty, "penalty"),
        )


def known_word(word: str, argument: str, words: Sequence[str]) -> str:
    """Return `word` if it is one of `words`.

    Raises:
        OptionError: If `word` is not one of them. The message suggests the closest match.
    """
    if word not in words:
        near = did_you_mean(str(word or ""), words)
        raise OptionError(f"{argument}={shown(word)} is unknown{near}")
    return word


def _finite(value: Any, argument: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{argument} must be a finite number, not {shown(value)}")
    return number


def count_of(value: object, argument: str) -> int:
    """Return `value` as a whole number of at least 1.

    Raises:
        OptionError: If `value` is anything else.
    """
    number = whole_number(value)
    if number is None or number < 1:
        raise OptionError(f"{argument} must be a whole number of at least 1, not {shown(value)}")
    return number


def reset_options(options: object, *names: str) -> list[Any]:
    """Return the values of the options that `reset` accepts, None for missing ones.

    Raises:
        OptionError: If an unknown option is given.
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
    """Return upper bounds of a board's exponents, sorted in descending order: uint8 `[cells]`.

    The bounds hold because a board has at most two tiles of the largest spawning size and one tile
    of each larger size: 17 (131072), 16, ... 2 on the classic board.
    """
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    smallest = tile.bit_length() - 1
    exponents = np.arange(smallest, smallest + rules.cells)[::-1]
    return np.minimum(exponents, np.iinfo(np.uint8).max).astype(np.uint8)


def check_reachable(boards: Exponents, rules: Rules) -> None:
    """Check that boards, uint8 `[n, rows, columns]`, contain only tiles that games can reach.

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
    """Return the observation space of one board."""
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
    """Return the kernels' observation code, and the largest exponent or number of planes."""
    largest = int(largest_exponents(options.rules)[0])
    planes = min(largest + 1, MAX_PLANES)  # larger exponents share the last plane
    is_onehot = options.observation is Observation.ONEHOT
    return list(Observation).index(options.observation), planes if is_onehot else largest


def record_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.dtype[np.void]:
    """Return the dtype of one position's score, mask and observation, for ``_show_kernels.py``."""
    fields = [("score", np.int64), ("mask", np.int8, DIRECTIONS), ("observation", dtype, shape)]
    return np.dtype(fields, align=True)
