"""What an environment can be asked for: its rules, observations, rewards, illegal actions."""

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
    """An environment was asked for something that it does not have."""


class Observation(Enum):
    """What the agent sees of the board."""

    EXPONENTS = "exponents"
    """The base-2 logarithm of each tile, 0 for an empty cell: uint8 `[rows, columns]`."""

    ONEHOT = "onehot"
    """A plane of zeros and ones for each exponent: uint8 `[planes, rows, columns]`."""

    NORMALISED = "normalised"
    """The exponents divided by the largest possible one: float32 `[rows, columns]`, 0 to 1."""


class Illegal(Enum):
    """What an action does that slides nothing."""

    NOOP = "noop"
    """Nothing, except what the rules themselves take for it."""

    PENALTY = "penalty"
    """Nothing to the board; the penalty is added to the reward (-1 unless another is given)."""

    TERMINATE = "terminate"
    """It ends the episode."""

    RAISE = "raise"
    """It raises `IllegalMoveError` and changes nothing."""


Exponents = NDArray[np.uint8]
Array = NDArray[Any]
"""Observations, of one of the types above."""
Each = Any
"""A value, or an array of them with one for each environment."""
Info = dict[str, Any]


class Transition(NamedTuple):
    """What a user's reward is computed from.

    In a `GameEnv` each field describes one step. In a `GameVectorEnv` each is an array with a
    first axis of `num_envs`, so that a function which only does arithmetic serves both.

    Attributes:
        before: the exponents before the step, uint8 `[rows, columns]`.
        action: the action, 0 to 3.
        after: the exponents after it, the new tile included; of a finished game its last board.
        points: what the rules give for it.
        legal: whether it was a legal move.
        terminated: whether the episode is over.
    """

    before: Exponents
    action: Each
    after: Exponents
    points: Each
    legal: Each
    terminated: Each


Reward = Callable[[Transition], Each]
"""Computes a reward: a number, or in a vector environment float64 `[num_envs]`."""

REWARDS = ("points", "log")
"""The rewards known by name; `py2048.envs._step_kernels.reward_of` computes them."""


@dataclass(frozen=True, slots=True)
class Options:
    """The checked arguments of an environment.

    Attributes:
        rules: the rules of its games.
        observation: what the agent sees.
        reward: the name of a reward, or None for a custom one.
        custom_reward: that one.
        illegal: what an illegal action does.
        penalty: what is added to the reward of an illegal action.
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
        """Return the options that these arguments ask for.

        Raises:
            RulesError: if the rules do not exist.
            OptionError: if another argument is unknown; the message suggests one.
        """
        chosen = Illegal(known_word(illegal, "illegal", [kind.value for kind in Illegal]))
        seen = Observation(
            known_word(observation, "observation", [kind.value for kind in Observation])
        )
        if penalty is None:
            penalty = -1.0 if chosen is Illegal.PENALTY else 0.0
        elif chosen is Illegal.RAISE:
            raise OptionError("illegal='raise' takes no penalty: leave penalty out")
        return cls(
            rules=get_rules(rules),
            observation=seen,
            reward=None if callable(reward) else known_word(reward, "reward", REWARDS),
            custom_reward=reward if callable(reward) else None,
            illegal=chosen,
            penalty=_finite(penalty, "penalty"),
        )


def known_word(word: str, argument: str, words: Sequence[str]) -> str:
    """Return `word` if it is one of `words`.

    Raises:
        OptionError: if not; the message names the argument and suggests a word.
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
    """Return a whole number of at least 1.

    Raises:
        OptionError: if `value` is anything else.
    """
    number = whole_number(value)
    if number is None or number < 1:
        raise OptionError(f"{argument} must be a whole number of at least 1, not {shown(value)}")
    return number


def reset_options(options: object, *names: str) -> list[Any]:
    """Return the values of the options that `reset` takes, None for those not given.

    Raises:
        OptionError: if another is given.
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
    """Return what the largest tile of a board, the next one, … cannot exceed: uint8 `[cells]`.

    The best that can happen is one tile of each size, doubling along the board, and the largest
    tile that spawns twice: 17 (131072), 16, ... 2 on the classic board.
    """
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    smallest = tile.bit_length() - 1
    exponents = np.arange(smallest, smallest + rules.cells)[::-1]
    return np.minimum(exponents, np.iinfo(np.uint8).max).astype(np.uint8)


def check_reachable(boards: Exponents, rules: Rules) -> None:
    """Check that boards, uint8 `[n, rows, columns]`, have no tiles that a game cannot make.

    Raises:
        BoardError: if a tile is too large, or there are too many large ones.
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
    """Return the space of the observations of one board."""
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
    """Return how kernels observe a board, and the largest exponent or the number of planes."""
    largest = int(largest_exponents(options.rules)[0])
    planes = min(largest + 1, MAX_PLANES)  # exponents beyond the last share it
    is_onehot = options.observation is Observation.ONEHOT
    return list(Observation).index(options.observation), planes if is_onehot else largest


def record_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.dtype[np.void]:
    """Return the type of what is told of one position, as ``_show_kernels.py`` writes it."""
    told = [("score", np.int64), ("mask", np.int8, DIRECTIONS), ("observation", dtype, shape)]
    return np.dtype(told, align=True)
