"""The game as pure functions that take and return arrays.

Boards are uint8 exponents `[..., rows, columns]`, with 0 for an empty cell and any number of
leading axes. All other per-board inputs and outputs have the same leading axes. The actions are 0
for up, 1 for down, 2 for left and 3 for right. Randomness is explicit. In a turn, the player's
slide leads to an *afterstate*, and a 64-bit draw then determines the spawn. The draws that
`draws_of` returns reproduce the games of `py2048.Game`, but any other random numbers can be used.

>>> from py2048 import get_rules
>>> from py2048.envs import functional
>>> rules = get_rules("classic")
>>> boards = functional.reset(rules, [1, 2, 3])
>>> after, points, legal = functional.afterstates(rules, boards)
>>> boards.shape, after.shape, points.shape, legal.shape
((3, 4, 4), (3, 4, 4, 4), (3, 4), (3, 4))

This module does not need Gymnasium.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048.core.direction import Direction
from py2048.core.errors import BoardError, shown
from py2048.core.rules import Rules, whole_number
from py2048.engine._batch_kernels import enter_directions, slide_boards, slide_each
from py2048.engine._bits_kernels import draw, key_of
from py2048.engine._board_kernels import (
    Words,
    legal_cells,
    place_cells,
    place_fixed_cells,
)
from py2048.engine.batch import play_turns
from py2048.engine.boards import checked_boards, start_boards
from py2048.engine.jit import kernel
from py2048.engine.rules import CompiledRules
from py2048.envs.options import OptionError

Boards = NDArray[np.uint8]
Number = TypeVar("Number", bound=np.generic)

__all__ = [
    "afterstates",
    "chance_outcomes",
    "draws_of",
    "legal",
    "reset",
    "slide",
    "spawn",
    "step",
    "symmetries",
]


def reset(rules: Rules, seeds: ArrayLike) -> Boards:
    """Return the initial board of the game with each seed: uint8 `[..., rows, columns]`.

    Args:
        rules: Rules of the game.
        seeds: Whole numbers from 0 to 2**64 - 1, `[...]`.

    Raises:
        OptionError: If a seed is not a whole number or is out of range.
    """
    numbers = _words(seeds, "seeds")
    return start_boards(rules, _flat(numbers)).reshape(*numbers.shape, *rules.shape)


def legal(rules: Rules, boards: Boards) -> NDArray[np.bool_]:
    """Return which actions are legal, bool `[..., 4]`. If the game is over, no action is legal."""
    cells = _cells(rules, boards)
    allowed = np.empty((len(cells), 4), np.bool_)
    _legal_all(cells, *rules.shape, CompiledRules.of(rules).ending_rank, allowed)
    return allowed.reshape(*boards.shape[:-2], 4)


def slide(
    rules: Rules, boards: Boards, actions: ArrayLike
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Slide each board.

    Returns:
        The afterstates (`[..., rows, columns]`), the points of the merges (int64 `[...]`), and
        whether any tile moved (bool `[...]`). If no tile moves, the afterstate is the board itself.
    """
    cells = _cells(rules, boards)
    points = np.empty(len(cells), np.int64)
    cascade = CompiledRules.of(rules).cascade
    lead = boards.shape[:-2]
    slide_boards(cells, _actions(actions, lead), *rules.shape, cascade, points)
    moved = (points >= 0).reshape(lead)
    return cells.reshape(boards.shape), np.maximum(points, 0).reshape(lead), moved


def afterstates(
    rules: Rules, boards: Boards
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Slide each board in all four directions.

    Returns:
        The results of `slide` with an additional axis of length 4 for the action, `[..., 4, rows,
        columns]` and `[..., 4]`.
    """
    cells = _cells(rules, boards)
    after, points = np.empty((len(cells), 4, rules.cells), np.uint8), np.empty((len(cells), 4), int)
    slide_each(cells, *rules.shape, CompiledRules.of(rules).cascade, after, points)
    lead = *boards.shape[:-2], 4
    moved = (points >= 0).reshape(lead)
    return after.reshape(*lead, *rules.shape), np.maximum(points, 0).reshape(lead), moved


def spawn(rules: Rules, after: Boards, actions: ArrayLike, draws: ArrayLike) -> Boards:
    """Spawn a tile on each afterstate.

    Args:
        rules: Rules of the game.
        after: Afterstates of legal slides.
        actions: The action that led to each afterstate, which determines the cell of a
            deterministic spawn.
        draws: Random 64-bit numbers `[...]`, for example from `draws_of`. Deterministic spawns
            ignore them.

    Raises:
        BoardError: If a board is full.
    """
    cells = _cells(rules, after)
    if not (cells == 0).any(axis=1).all():
        raise BoardError("a board is full: no tile can appear on it")
    lead = after.shape[:-2]
    words = _flat(_spread(_words(draws, "draws"), "draws", lead))
    given = CompiledRules.of(rules)
    directions = _actions(actions, lead)
    _spawn_all(cells, directions, words, *given.spawn[:2], given.landing, given.is_fixed)
    return cells.reshape(after.shape)


def step(
    rules: Rules, boards: Boards, actions: ArrayLike, draws: ArrayLike
) -> tuple[Boards, NDArray[np.int64], NDArray[np.bool_]]:
    """Play a turn on each board: a slide and, if any tile moved, a spawn.

    Returns:
        The boards, the points of the turn under the rules (int64 `[...]`), and whether the game is
        over (bool `[...]`). If games are scored by their tile sum, the points are the amount by
        which the sum increases. Boards of finished games do not change.
    """
    _check(rules, boards)
    lead = boards.shape[:-2]
    words = _flat(_spread(_words(draws, "draws"), "draws", lead))
    cells = boards.reshape(-1, rules.cells)
    after, points, over = play_turns(rules, cells, _actions(actions, lead), words)
    return after.reshape(boards.shape), points.astype(np.int64).reshape(lead), over.reshape(lead)


def draws_of(seeds: ArrayLike, plies: ArrayLike) -> NDArray[np.uint64]:
    """Return the 64-bit random draw for each pair of seed and ply. Plies are counted from 0.

    Raises:
        OptionError: If an input is not a whole number from 0 to 2**64 - 1, or the shapes cannot be
            broadcast.
    """
    keys, turns = _words(seeds, "seeds"), _words(plies, "plies")
    try:
        pair = np.broadcast_arrays(keys, turns)
    except ValueError:
        raise OptionError(
            f"seeds {list(keys.shape)} do not fit plies {list(turns.shape)}"
        ) from None
    draws = np.empty(pair[0].size, np.uint64)
    _draw_all(_flat(pair[0]), _flat(pair[1]), draws)
    return draws.reshape(pair[0].shape)


def chance_outcomes(rules: Rules, after: Boards, action: int) -> tuple[Boards, NDArray[np.float64]]:
    """Return all boards that can follow an afterstate, with their probabilities.

    Args:
        rules: Rules of the game.
        after: The afterstate of a legal slide, uint8 `[rows, columns]`.
        action: The action of that slide.

    Returns:
        The boards (uint8 `[k, rows, columns]`) and their probabilities (float64 `[k]`), which sum
        to 1. The boards are ordered by cell in row-major order, then by tile.
    """
    _check(rules, after)
    if after.ndim != 2:
        raise BoardError(f"give one afterstate, not {list(after.shape[:-2])} of them")
    given, cells = CompiledRules.of(rules), np.flatnonzero(after == 0).tolist()
    if given.is_fixed:
        cells = [cell for cell in given.landing[Direction(action).value] if cell in cells][:1]
    if not cells:
        raise BoardError("the board is full: no tile can appear on it")
    ranks, shares = given.spawn.ranks, given.spawn.probabilities
    outcomes = np.repeat(after.reshape(1, -1), len(cells) * len(ranks), axis=0)
    outcomes[np.arange(len(outcomes)), np.repeat(cells, len(ranks))] = np.tile(ranks, len(cells))
    return outcomes.reshape(-1, *rules.shape), np.tile(shares / len(cells), len(cells))


def symmetries(boards: Boards) -> Boards:
    """Return the rotations and reflections of each board: uint8 `[s, ..., rows, columns]`.

    The unchanged board comes first. There are eight symmetries of a square board, and four of a
    rectangular board.
    """
    images = [boards, boards[..., ::-1], boards[..., ::-1, :], boards[..., ::-1, ::-1]]
    if boards.shape[-1] == boards.shape[-2]:
        images += [image.swapaxes(-1, -2) for image in images]
    return np.stack(images)


# --- conversions ---------------------------------------------------------------------------------


def _check(rules: Rules, boards: Any) -> None:
    """Raise an error unless `boards` is an array of boards that the engine supports."""
    if not isinstance(boards, np.ndarray) or boards.dtype != np.uint8:
        kind = boards.dtype if isinstance(boards, np.ndarray) else shown(boards)
        raise BoardError(f"boards are an array of uint8 exponents, not {kind}")
    checked_boards(boards, rules)


def _cells(rules: Rules, boards: Boards) -> Boards:
    """Check boards, and return a copy with the shape `[n, cells]`."""
    _check(rules, boards)
    return np.array(boards, order="C").reshape(-1, rules.cells)


def _actions(actions: ArrayLike, lead: tuple[int, ...]) -> NDArray[np.uint8]:
    """Check actions, and return one action for each board (uint8 `[n]`)."""
    numbers = np.asarray(actions)
    if np.can_cast(numbers.dtype, np.int64):
        flat = _flat(_spread(numbers.astype(np.int64, copy=False), "actions", lead))
        found = np.empty(len(flat), np.uint8)
        if enter_directions(flat, found):
            return found
    raise OptionError("actions are 0 up, 1 down, 2 left and 3 right, as whole numbers")


def _words(numbers: ArrayLike, what: str) -> Words:
    """Check that all numbers are integers from 0 to 2**64 - 1, and convert them to uint64."""
    # NumPy converts a list with small and large integers to floats.
    array = numbers if isinstance(numbers, np.ndarray) else np.array(numbers, object)
    wrong: list[Any] = []
    if array.dtype.kind == "O":
        found = [(each, whole_number(each)) for each in array.flat]
        wrong = [each for each, whole in found if whole is None or not 0 <= whole < 2**64]
    elif array.dtype.kind != "u" and (array.dtype.kind != "i" or (array < 0).any()):
        wrong = [array]
    if wrong:
        raise OptionError(f"{what} are whole numbers from 0 to 2**64 - 1, not {shown(wrong[0])}")
    return array.astype(np.uint64, copy=False)


def _spread(array: NDArray[Number], what: str, lead: tuple[int, ...]) -> NDArray[Number]:
    """Broadcast an array to the leading axes of the boards."""
    if array.shape == lead:
        return array
    try:
        return np.broadcast_to(array, lead)
    except ValueError:
        raise OptionError(f"{what} {list(array.shape)} do not fit boards {list(lead)}") from None


def _flat(numbers: NDArray[Number]) -> NDArray[Number]:
    return np.require(numbers, requirements=["C", "W"]).reshape(-1)


# --- kernels --------------------------------------------------------------------------------------


@kernel("(uint8[:, ::1], int64, int64, int64, boolean[:, ::1])")
def _legal_all(
    boards: Boards, rows: int, columns: int, target: int, legal: NDArray[np.bool_]
) -> None:
    """Write the legal directions of each board to `legal`."""
    for number in range(len(boards)):
        bits = legal_cells(boards[number], rows, columns, target)
        for direction in range(4):
            legal[number, direction] = bits >> direction & 1 != 0


@kernel("(uint8[:, ::1], uint8[::1], uint64[::1], uint8[::1], uint64[::1], int64[:, ::1], boolean)")
def _spawn_all(
    boards: Boards,
    directions: Boards,
    draws: Words,
    ranks: Boards,
    sums: Words,
    landing: NDArray[np.int64],
    is_fixed: bool,
) -> None:
    """Spawn a tile on each board, in a random or a fixed empty cell."""
    for number in range(len(boards)):
        if is_fixed:
            place_fixed_cells(boards[number], landing[directions[number]], ranks[0])
        else:
            place_cells(boards[number], draws[number], ranks, sums)


@kernel("(uint64[::1], uint64[::1], uint64[::1])")
def _draw_all(seeds: Words, plies: Words, draws: Words) -> None:
    """Write the draw of each turn."""
    for number in range(len(seeds)):
        draws[number] = draw(key_of(seeds[number]), plies[number])
