"""`BatchGames`: many games stepped together by compiled kernels on several threads.

A step of 65,536 games takes a fraction of a millisecond. The result of a game depends only on the
game's number, the seed and the directions. Other games and the number of threads do not affect the
result. `rollouts` plays random games from given positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import index
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RulesError
from py2048.core.game.game import History
from py2048.core.rules import Merging, Rules, list_rules
from py2048.engine import _batch_kernels as kernels
from py2048.engine import _simd_kernels as simd
from py2048.engine._batch_kernels import EPISODE, SLOT_KEY, BatchState, Tally
from py2048.engine._show_kernels import GAMES, ORDERS, RANDOM, RESET, STEPS
from py2048.engine.boards import (
    MAX_EXPONENT,
    bits_to_mask,
    checked_boards,
    checked_directions,
    derive_seeds,
    keys_of,
    tiles_of,
)
from py2048.engine.crew import Crew
from py2048.engine.cuda import BatchCard
from py2048.engine.jit import IS_PLAIN, available_threads, ready, shares, together
from py2048.engine.rules import MAX_INT32_RANK, CompiledRules

Number = TypeVar("Number", bound=np.generic)

DEVICES = "cpu", "cuda"
RESETS = ("same_step", "next_step", "disabled")
STEPS_PER_THREAD = 8192
"""Minimum number of steps per thread; with fewer steps, a thread costs more time than it saves."""
JOBS_PER_THREAD = 2 * simd.LANES
"""Minimum number of games per thread; with fewer games, a thread costs more time than it saves."""


class BatchGames:
    """`n` games under the same rules, stepped together.

    Game number ``e`` of slot ``i`` has the seed ``derive_seed(derive_seed(seed, i), e)``, and
    equals ``Game(rules, seed=...)`` with that seed and the same directions.

    >>> from py2048.core.rules import get_rules
    >>> batch = BatchGames(get_rules("classic"), n=1000, seed=7)
    >>> rewards = batch.step([0] * 1000)
    >>> batch.boards.shape, batch.legal_mask.shape
    ((1000, 4, 4), (1000, 4))

    The array properties `boards`, `scores`, `rewards`, `dones`, `illegal` and `legal_bits` are
    read-only views of the batch's memory, which the next step overwrites. Copy the arrays that you
    want to keep, or call `observe` for a copy of the boards.

    Args:
        rules: The rules. Boards may have at most 254 cells.
        n: Number of games.
        seed: A whole number from 0 to 2**64 - 1.
        threads: Maximum number of threads. Defaults to one per CPU.
        reset: When finished games restart: immediately (``"same_step"``), in the next step, which
            ignores their directions (``"next_step"``), or only when `reset` is called
            (``"disabled"``).
        history: Whether to record all directions, so that the method `history` can return them.
            Recording takes five bytes per step and game: one for the direction, and four for the
            game's number.
        device: ``"cpu"``, or ``"cuda"`` for a GPU. The GPU plays the same games, but only on 4x4
            boards with random spawns. Arrays on a GPU are CuPy arrays, which PyTorch and JAX import
            without a copy (``torch.from_dlpack``). History is not available on a GPU.

    Raises:
        BoardError: If the board is too big.
        RulesError: If a tile that can spawn is too large or ends the game immediately, or the GPU
            does not support the rules.
        ValueError: If `n`, `threads`, `reset` or `device` is invalid.
        MissingExtraError: If CuPy is not installed.
        Py2048Error: If there is no GPU.
        SeedError: If `seed` is not a valid seed.
    """

    def __init__(
        self,
        rules: Rules,
        n: int,
        seed: int = 0,
        threads: int | None = None,
        *,
        reset: str = "same_step",
        history: bool = False,
        device: str = "cpu",
    ) -> None:
        check_cells(rules, "a batch plays")
        if n < 1 or (threads is not None and threads < 1):
            raise ValueError(f"n and threads must be at least 1, not n={n} and threads={threads}")
        if reset not in RESETS:
            raise ValueError(f"reset must be one of {', '.join(RESETS)}, not {reset!r}")
        if device not in DEVICES or (history and device != "cpu"):
            raise ValueError(f"device must be cpu, or cuda without history, not {device!r}")
        self.rules, self.n, self.seed = rules, n, rng.checked_seed(seed)
        self.device = device
        self.threads = threads or available_threads()
        self._orders = np.zeros(ORDERS, np.int64)
        self._orders[[RESET, GAMES]] = RESETS.index(reset), n
        given = CompiledRules.of(rules)
        given.check_growth(MAX_INT32_RANK)
        given.check_end(given.start)
        self._blocks = -(-n // simd.LANES)
        self._set_up()
        self._state = self._on_device(BatchState.empty(self._blocks, rules.cells))
        self._start_crew()
        self._log = HistoryLog() if history else None
        self.reseed(self.seed)

    def _set_up(self) -> None:
        """Create the kernels and arrays that depend only on the rules."""
        rules = self.rules
        self._card = BatchCard(rules) if self.device == "cuda" else None
        self._rules = CompiledRules.of(rules).arrays

    def _start_crew(self) -> None:
        """Create the worker threads, which hold references to the state's arrays."""
        if self._card:
            return
        play = ready(kernels.play_classic if is_classic(self.rules) else kernels.play_any)
        threads = 1 if IS_PLAIN else min(self.threads, self._blocks)
        self._spaces = [simd.Workspace.of(self.rules) for _ in range(threads)]
        shared = self._orders, self._state, self._rules
        self._crew = Crew(play, [(*shared, space) for space in self._spaces], self._blocks)

    def __getstate__(self) -> dict[str, object]:
        """Exclude threads, workspaces and GPU handles from pickles; copies recreate them."""
        recreated = {"_rules", "_crew", "_spaces", "_card"}
        kept = {name: value for name, value in vars(self).items() if name not in recreated}
        return kept | {"_state": BatchState._make(map(self.host, self._state))}

    def __setstate__(self, kept: dict[str, object]) -> None:
        vars(self).update(kept)
        self._set_up()
        self._state = self._on_device(self._state)
        self._start_crew()

    def _on_device(self, state: BatchState) -> BatchState:
        return self._card.put(state) if self._card else state

    def host(self, array: Any) -> Any:
        """Copy a GPU array to host memory; return a host array unchanged."""
        return self._card.card.get(array) if self._card else array

    def _given(self, array: NDArray[Number]) -> NDArray[Number]:
        """Copy a host array to the device of this batch."""
        given: NDArray[Number] = self._card.card.put(array) if self._card else array
        return given

    # --- starting games --------------------------------------------------------------------------

    def reseed(self, seed: int) -> None:
        """Restart every slot with game number 0 of `seed`."""
        self.seed = rng.checked_seed(seed)
        slots = np.arange(len(self._state.rewards))
        key = np.full(len(slots), rng.key_of(self.seed), np.uint64)
        self.seed_slots(slots, derive_seeds(key, slots.astype(np.uint64)))
        if self._log is not None:
            self._log.clear()
        self._begin(slots)

    def seed_slots(self, slots: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Set the seeds of some slots; the next game in each of these slots is number 0.

        Game number ``e`` of a slot then has the seed ``derive_seed(seed, e)``.

        Args:
            slots: Slot numbers, int64 `[k]`.
            seeds: uint64 `[k]`.
        """
        self._state.words[SLOT_KEY, self._given(slots)] = self._given(keys_of(seeds))
        self._state.words[EPISODE, self._given(slots)] = np.uint64(rng.MASK)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Start the next game in the slots that `mask` (bool `[n]`) selects, or in all slots."""
        self._begin(np.arange(self.n) if mask is None else np.flatnonzero(np.asarray(mask, bool)))

    def set_boards(self, boards: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Start the next game in the selected slots from given positions, with a score of 0.

        Args:
            boards: Exponents, `[n, rows, columns]`. Boards of slots that are not selected are
                ignored.
            mask: bool `[n]`. Defaults to all slots.

        Raises:
            BoardError: If the shape differs from the batch's, or tiles are too large.
        """
        exponents = checked_boards(boards, self.rules)
        if exponents.shape != (self.n, *self.rules.shape):
            raise BoardError(f"boards must be {(self.n, *self.rules.shape)}, not {exponents.shape}")
        chosen = np.arange(self.n) if mask is None else np.flatnonzero(np.asarray(mask, bool))
        flat = exponents.reshape(self.n, self.rules.cells)
        self._begin(chosen, np.ascontiguousarray(flat[chosen]))
        if self._log is not None:
            for slot in chosen.tolist():
                self._log.starts[slot, int(self.episodes[slot])] = self.board(slot)

    def _begin(self, slots: NDArray[np.int64], boards: NDArray[np.uint8] | None = None) -> None:
        if boards is None:
            boards = np.zeros((0, self.rules.cells), np.uint8)
        if len(slots):
            slots = np.ascontiguousarray(slots, np.int64)
            self._state.rewards[self._given(slots)] = 0
            if self._card:
                self._card.enter(slots, boards, self._state)
                return
            enter = ready(kernels.enter_boards)
            enter(slots, boards, self._state, self._rules, self._spaces[0])

    # --- observing --------------------------------------------------------------------------------

    @property
    def boards(self) -> NDArray[np.uint8]:
        """A view of the boards as exponents (11 for 2048), uint8 `[n, rows, columns]`."""
        view = self._state.cells.reshape(*self.rules.shape, -1).transpose(2, 0, 1)[: self.n]
        return _read_only(view)

    def observe(self) -> NDArray[np.uint8]:
        """Return a copy of the boards as exponents, uint8 `[n, rows, columns]`."""
        if self._card:
            return cast(NDArray[np.uint8], self._card.card.arrays.array(self.boards, order="C"))
        out = np.empty((self.n, *self.rules.shape), np.uint8)
        flat, groups = out.reshape(self.n, self.rules.cells), 0
        if self.rules.cells == 16:
            words, groups = self._state.cells.view(np.uint64), self.n // 8
            parts = shares(groups, self._workers(1))
            together(simd.write_classic, [(*part, words, flat.view(np.uint64)) for part in parts])
        simd.write_boards(8 * groups, self.n, self._state.cells, flat)
        return out

    def board(self, slot: int) -> Board:
        """Return the board of one game."""
        return Board(tiles_of(self.host(self.boards[slot])).tolist())

    @property
    def scores(self) -> NDArray[np.int64]:
        """A view of the scores of the games, int64 `[n]`."""
        return _read_only(self._state.words[int(simd.SCORE // simd.WIDTH)].view(np.int64)[: self.n])

    @property
    def rewards(self) -> NDArray[np.int32]:
        """A view of the points of the last step, int32 `[n]`."""
        return _read_only(self._state.rewards[: self.n])

    @property
    def dones(self) -> NDArray[np.bool_]:
        """Whether each slot's game has ended, even in an earlier step. A view, bool `[n]`."""
        return self._flag(simd.DONE).view(np.bool_)

    @property
    def illegal(self) -> NDArray[np.bool_]:
        """Whether each game's last direction was illegal. A view, bool `[n]`."""
        return self._flag(simd.ILLEGAL).view(np.bool_)

    @property
    def directions(self) -> NDArray[np.uint8]:
        """A view of the directions of the last step, uint8 `[n]`."""
        return self._flag(simd.DIRECTION)

    @property
    def legal_bits(self) -> NDArray[np.uint8]:
        """A view of the legal directions as bits, or 0 if the game is over, uint8 `[n]`."""
        return self._flag(simd.LEGAL)

    @property
    def legal_mask(self) -> NDArray[np.bool_]:
        """The legal directions as a new array, bool `[n, 4]`."""
        if self._card:
            ways = self._given(np.arange(4, dtype=np.uint8))
            return (self.legal_bits[:, None] >> ways & np.uint8(1)).astype(np.bool_)
        return bits_to_mask(self.legal_bits)

    def _flag(self, row: np.uint64) -> NDArray[np.uint8]:
        return _read_only(self._state.flags[int(row // simd.WIDTH), : self.n])

    @property
    def last_boards(self) -> NDArray[np.uint8]:
        """A view of each slot's most recent final board, uint8 `[n, rows, columns]`."""
        return _read_only(self._state.last_cells.reshape(-1, *self.rules.shape)[: self.n])

    @property
    def last_scores(self) -> NDArray[np.int64]:
        """A view of each slot's most recent final score, int64 `[n]`."""
        return _read_only(self._state.last_scores[: self.n])

    @property
    def episodes(self) -> NDArray[np.int64]:
        """A view of the number of the current game in each slot, counted from 0, int64 `[n]`."""
        return _read_only(self._state.words[EPISODE].view(np.int64)[: self.n])

    @property
    def plies(self) -> NDArray[np.int64]:
        """The number of legal turns in each current game, as a new array: int64 `[n]`."""
        keys = keys_of(self.seeds)
        inverse = np.uint64(pow(rng.GOLDEN, -1, 2**64))
        counters = (self._state.words[0, : self.n] - keys) * inverse
        return (counters - np.uint64(1)).view(np.int64)

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """The seed of the current game in each slot, as a new array: uint64 `[n]`."""
        return self._seeds_of(self._state.words[EPISODE, : self.n])

    def _seeds_of(self, episodes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return derive_seeds(self._state.words[SLOT_KEY, : self.n], episodes)

    # --- playing ---------------------------------------------------------------------------------

    def step(self, directions: ArrayLike) -> NDArray[np.int32]:
        """Slide each board, spawn tiles, and restart games according to the reset mode.

        An illegal direction changes nothing, but the rules may deduct points for it.

        Args:
            directions: One direction (0 to 3) per game, `[n]`.

        Returns:
            The points gained, as the view `rewards` (int32 `[n]`).

        Raises:
            DirectionError: If `directions` is not an array of `n` numbers from 0 to 3.
        """
        self.enter(directions)
        self._run(1, is_random=False)
        return self.rewards

    def enter(self, directions: ArrayLike) -> None:
        """Set the directions for the next step.

        Raises:
            DirectionError: If `directions` is not an array of `n` numbers from 0 to 3.
        """
        if self._card:
            numbers = self._card.card.arrays.asarray(directions)
            is_right = numbers.dtype.kind in "iu" and numbers.shape == (self.n,)
            if not is_right or bool(((numbers < 0) | (numbers > 3)).any()):
                checked_directions(self.host(numbers), self.n)
            self._state.flags[0, : self.n] = numbers
            return
        numbers = np.asarray(directions)
        if numbers.dtype.kind not in "iu" or numbers.shape != (self.n,):
            checked_directions(directions, self.n)
        if numbers.dtype != np.uint8:
            numbers = numbers.astype(np.int64, copy=False)
        enter = ready(kernels.enter_directions, int(numbers.dtype == np.uint8))
        if not enter(np.ascontiguousarray(numbers), self._state.flags[0, : self.n]):
            checked_directions(directions, self.n)

    def play_random(self, steps: int = 1) -> Tally:
        """Play a number of steps in uniformly random legal directions.

        Directions come from bits 32 to 47 of the previous random number, because these bits hardly
        affect the spawned tiles. The seed determines the whole game.
        """
        steps = index(steps)
        if self._log is None:
            return self._run(steps, is_random=True)
        tallies = [self._run(1, is_random=True) for _ in range(steps)]
        return Tally(*(sum(column) for column in zip(*tallies, strict=True)))

    def _run(self, steps: int, *, is_random: bool) -> Tally:
        episodes = self.episodes.copy() if self._log is not None else None
        self._orders[STEPS], self._orders[RANDOM] = steps, is_random
        if self._card:
            return Tally(steps * self.n, *self._card.advance(self._orders, self._state)[:2])
        ended, score = self._crew.play(self._workers(steps))
        if self._log is not None and episodes is not None:
            self._log.steps.append((self.directions.copy(), episodes))
        return Tally(steps * self.n, ended, score)

    def _workers(self, steps: int) -> int:
        return min(len(self._spaces), -(-self.n * max(steps, 1) // STEPS_PER_THREAD))

    # --- states and records ----------------------------------------------------------------------

    def get_state(self) -> BatchState:
        """Return a copy of the state, for use with `set_state`."""
        return self._state.copy()

    def set_state(self, state: BatchState) -> None:
        """Restore a state that `get_state` returned for the same rules and number of games.

        The history is cleared, because it belongs to the previous games.

        Raises:
            BoardError: If the state has a different shape.
        """
        self._state.assign(state)
        if self._log is not None:
            self._log.clear()

    def history(self, slot: int, episode: int | None = None) -> History:
        """Return the directions of a game.

        Args:
            slot: The slot.
            episode: Number of the game in this slot. Defaults to the latest game with at least one
                turn.

        Raises:
            ValueError: If the batch was created without ``history=True``.
        """
        if self._log is None:
            raise ValueError("this batch keeps no history: create it with history=True")
        if episode is None:
            episode = self._log.last_episode(slot)
        seed = self._seeds_of(np.full(self.n, episode, np.uint64))[slot]
        directions = self._log.directions(slot, episode)
        return History(self.rules, int(seed), directions, self._log.starts.get((slot, episode)))


def check_cells(rules: Rules, what: str) -> None:
    """Reject rules whose boards are too large for batches.

    Raises:
        BoardError: If the board is too big.
    """
    if rules.cells > simd.MAX_CELLS:
        shape = f"{rules.rows}x{rules.columns}"
        raise BoardError(f"{what} on at most {simd.MAX_CELLS} cells, not on {shape}")


def is_classic(rules: Rules) -> bool:
    """Return whether the specialised kernels apply: 4x4 boards, merging once per slide."""
    return rules.shape == (4, 4) and rules.merging is Merging.ONCE


def _read_only(view: NDArray[Number]) -> NDArray[Number]:
    """Make a NumPy view read-only. CuPy has no read-only arrays, so GPU views stay writable."""
    if isinstance(view, np.ndarray):
        view.flags.writeable = False
    return view


# --- history --------------------------------------------------------------------------------------


@dataclass
class HistoryLog:
    """The directions of all games in a batch.

    Attributes:
        steps: Two arrays per step: the direction played in each slot, and the number of the game in
            which it was played.
        starts: Start positions that were given instead of drawn, by slot and game number.
    """

    steps: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = field(default_factory=list)
    starts: dict[tuple[int, int], Board] = field(default_factory=dict)

    def clear(self) -> None:
        """Delete all entries."""
        self.steps.clear()
        self.starts.clear()

    def last_episode(self, slot: int) -> int:
        """Return the number of the slot's latest game with at least one turn, or 0."""
        return int(self.steps[-1][1][slot]) if self.steps else 0

    def directions(self, slot: int, episode: int) -> tuple[Direction, ...]:
        """Return all directions tried in a game, including illegal directions."""
        steps = ((way[slot], number[slot]) for way, number in self.steps)
        return tuple(Direction(int(way)) for way, number in steps if number == episode)


# --- turns and random games from given positions --------------------------------------------------


def play_turns(
    rules: Rules,
    boards: NDArray[np.uint8],
    directions: NDArray[np.uint8],
    draws: NDArray[np.uint64],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.bool_]]:
    """Play one turn on each board with given random numbers, for `py2048.envs.functional.step`.

    Args:
        rules: Rules of the game.
        boards: Exponents, uint8 `[n, cells]`.
        directions: uint8 `[n]`.
        draws: uint64 `[n]`.

    Returns:
        The boards, the points (int32 `[n]`), and whether the games are over (bool `[n]`).

    Raises:
        BoardError: If the board is too big.
        RulesError: If a tile that can spawn is too large.
    """
    check_cells(rules, "turns are played")
    given = CompiledRules.of(rules)
    if given.spawn.ranks[-1] > MAX_EXPONENT:
        raise RulesError(f"the rules {rules.name} let tiles above 2**{MAX_EXPONENT} appear")
    n, blocks = len(boards), -(-len(boards) // simd.LANES)
    padded = blocks * simd.LANES
    after, points = np.empty((padded, rules.cells), np.uint8), np.empty(padded, np.int32)
    ways, words = np.zeros(padded, np.uint8), np.zeros(padded, np.uint64)
    over = np.empty(padded, np.bool_)
    after[:n], after[n:], ways[:n], words[:n] = boards, 0, directions, draws
    # Clear boards that already have the ending tile during the turn, so that no move is legal.
    if given.ending_tile:
        is_won = (boards >= given.ending_tile.bit_length() - 1).any(axis=1)
        after[:n][is_won] = 0
    play = ready(kernels.turn_boards_classic if is_classic(rules) else kernels.turn_boards_any)
    shared = after.reshape(-1), ways, words, points, over.view(np.uint8)
    workers = min(available_threads(), max(1, n // STEPS_PER_THREAD))
    parts = shares(blocks, workers)
    together(play, [(*part, *shared, given.arrays, simd.Workspace.of(rules)) for part in parts])
    if given.ending_tile:
        after[:n][is_won] = boards[is_won]
    return after[:n], points[:n], over[:n]


class Rollouts(NamedTuple):
    """The results of random games.

    Attributes:
        scores: Points gained per game, int64 `[m, count]`.
        plies: Number of turns per game, int64 `[m, count]`.
    """

    scores: NDArray[np.int64]
    plies: NDArray[np.int64]


def rollouts(
    rules: Rules,
    boards: ArrayLike,
    count: int,
    *,
    seed: int = 0,
    directions: ArrayLike | None = None,
    moves: int | None = None,
    threads: int | None = None,
) -> Rollouts:
    """Play `count` random games from each of `m` positions.

    All legal directions are equally likely. Game ``k`` from board ``i`` has the seed
    ``derive_seed(seed, i * count + k)``, so results do not depend on `threads`. Games from
    positions without a legal move score 0.

    >>> from py2048.core.rules import get_rules
    >>> start = [[[0, 0, 0, 1], [0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]]]
    >>> played = rollouts(get_rules("classic"), start, count=100, seed=7)
    >>> round(float(played.scores.mean()))  # expected points of random play
    1142

    Args:
        rules: The rules. Boards may have at most 254 cells.
        boards: Exponents, `[m, rows, columns]`, before the player's move.
        count: Games per position.
        seed: A whole number from 0 to 2**64 - 1.
        directions: Legal first directions, one per board, `[m]`. Defaults to random directions.
        moves: Maximum number of turns. By default, games run to their end, which is slow on large
            boards. Random 6x6 games last 4,300 turns on average; a few random 8x8 games took 18
            minutes to play.
        threads: Maximum number of threads. Defaults to one per CPU.

    Raises:
        BoardError: If the boards do not match the rules.
        RulesError: If a tile that can spawn is too large.
        DirectionError: If `directions` contains an invalid direction.
        ValueError: If `count` is negative, or `moves` is less than 1.
    """
    exponents = checked_boards(boards, rules)
    if exponents.ndim != 3:
        raise BoardError(f"boards must be [m, rows, columns], not {exponents.ndim}-dimensional")
    check_cells(rules, "random games are played")
    CompiledRules.of(rules).check_growth(MAX_INT32_RANK)
    if count < 0:
        raise ValueError(f"count must be 0 or more, not {count}")
    if moves is not None and moves < 1:
        raise ValueError(f"moves must be 1 or more, not {moves}")
    flat = np.ascontiguousarray(exponents.reshape(-1, rules.cells))
    firsts = np.zeros(len(flat), np.uint8)
    if directions is not None:
        firsts[:] = checked_directions(directions, len(flat)) + 1
    jobs = len(flat) * count
    max_moves = kernels.ENDLESS if moves is None else np.int64(min(moves, int(kernels.ENDLESS)))
    results = np.zeros(jobs, np.int64), np.zeros(jobs, np.int64)
    series = kernels.Series(
        count, max_moves, np.uint64(rng.checked_seed(seed)), flat, firsts, *results
    )
    _play_jobs(rules, series, jobs, threads or available_threads())
    scores, plies = (result.reshape(len(flat), count) for result in results)
    if CompiledRules.of(rules).sum_points:  # the kernel also scores the starting tiles
        scores -= np.where(plies > 0, tiles_of(flat).sum(axis=1)[:, None], 0)
    return Rollouts(scores, plies)


def _play_jobs(rules: Rules, series: kernels.Series, jobs: int, threads: int) -> None:
    """Play all jobs of a series, split between the threads."""
    rollout = kernels.rollout_classic if is_classic(rules) else kernels.rollout_any
    workers = min(threads, max(1, jobs // JOBS_PER_THREAD))
    arrays = CompiledRules.of(rules).arrays
    given = [
        (*part, series, kernels.Lanes.empty(), simd.Workspace.of(rules), arrays)
        for part in shares(jobs, workers)
    ]
    together(rollout, given)


# --- signature ------------------------------------------------------------------------------------


def behaviour_signature(steps: int = 200, games: int = 48) -> int:
    """Return a 64-bit hash of a fixed set of random games under every preset.

    Any change to the behaviour of the compiled engine changes the hash. A change may invalidate
    existing records and trained players, so it must be announced.

    Args:
        steps: Number of steps to play.
        games: Number of games per preset.
    """
    signature = np.uint64(0)
    for number, rules in enumerate(list_rules()):
        batch = BatchGames(rules, games, seed=number, threads=1)
        batch.play_random(steps)
        for array in (batch.observe(), batch.scores, batch.last_scores, batch.episodes):
            signature = _digest(signature, array)
    return int(signature)


def _digest(start: np.uint64, array: np.ndarray) -> np.uint64:
    """Continue the FNV-1a hash `start` with the bytes of an array."""
    prime, value = 0x100000001B3, int(start) ^ 0xCBF29CE484222325
    for byte in np.ascontiguousarray(array).tobytes():
        value = (value ^ byte) * prime & 2**64 - 1
    return np.uint64(value)
