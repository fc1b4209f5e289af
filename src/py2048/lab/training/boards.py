"""Boards saved from games, for training bands and for measuring late-game play.

The *last stretch* is the share of saved boards from which a player reaches the next large tile.
Measuring this share takes seconds, whereas complete games take hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.game.turn import draw_start
from py2048.core.rng import derive_seed, key_of
from py2048.core.rules import Rules
from py2048.players.ntuple.archive import open_archive, write_archive
from py2048.players.ntuple.network import START, Band, Network, StageRecord, TrackRecord
from py2048.players.search._expectimax_kernels import OVER, PLY, SCORE, STATE
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games, score_of

KIND = "py2048-boards"
HELD_OUT_EVERY = 10
"""One game in this many is held out from training and used for measurements."""
MOVES_PER_CALL = 8
"""Minimum number of moves per kernel call while playing towards a tile."""
SAMPLES_PER_GAME = 32
"""Number of boards per game whose values are compared with actual outcomes."""

Stage = tuple[int, int]
"""A stage of the game, given by its largest tile and the minimum sum of all tiles."""
Cells = NDArray[np.uint8]
Result = TypeVar("Result")


@dataclass(frozen=True)
class SavedBoards:
    """Boards that were saved when a game reached a new stage.

    Attributes:
        rules: The rules.
        cells: Ranks, uint8 `[boards, cells]`.
        stages: The stage of each board, int64 `[boards, 2]`.
        games: Number of the game that each board comes from, int64 `[boards]`. Continuations of a
            game have the number of the original game.
    """

    rules: Rules
    cells: Cells
    stages: NDArray[np.int64]
    games: NDArray[np.int64]

    @property
    def words(self) -> NDArray[np.uint64]:
        """Boards with up to 16 cells, packed into words, uint64 `[boards, 2]`."""
        places = np.arange(self.cells.shape[1], dtype=np.uint64) * np.uint64(4)
        ranks = self.cells.astype(np.uint64)
        halves = [ranks & np.uint64(15), ranks >> np.uint64(4)]
        return np.stack([(half << places).sum(axis=1, dtype=np.uint64) for half in halves], axis=1)

    def of(self, stage: Stage) -> SavedBoards:
        """Select the boards of a stage."""
        return self._some((self.stages == stage).all(axis=1))

    def last(self) -> SavedBoards:
        """Return the boards of the last stage."""
        return self.of(max(map(tuple, self.stages.tolist()), default=(0, 0)))

    def split(self) -> tuple[SavedBoards, SavedBoards]:
        """Split the boards into training boards and held-out boards, keeping games together."""
        held_out = self.games % HELD_OUT_EVERY == 0
        return self._some(~held_out), self._some(held_out)

    def spread(self, count: int) -> SavedBoards:
        """Select at most `count` boards, from as many different games as possible."""
        order = np.argsort(_repeats(self.games), kind="stable")
        chosen = np.zeros(len(order), np.bool_)
        chosen[order[:count]] = True
        return self._some(chosen)

    def _some(self, chosen: NDArray[np.bool_]) -> SavedBoards:
        return SavedBoards(self.rules, self.cells[chosen], self.stages[chosen], self.games[chosen])

    def __len__(self) -> int:
        return len(self.cells)

    def save(self, path: Path) -> None:
        """Save the boards to a file."""
        arrays = [(name, getattr(self, name)) for name in ("cells", "stages", "games")]
        write_archive(path, KIND, {"rules": str(self.rules)}, arrays)

    @classmethod
    def load(cls, path: Path) -> SavedBoards:
        """Load boards from a file.

        Raises:
            WeightsError: If the file is missing, damaged, or not a file of saved boards.
        """
        with open_archive(path, KIND) as archive:
            arrays = [archive.read(name) for name in ("cells", "stages", "games")]
            rules = Rules.parse(str(archive.header.get("rules")))
        if len({len(array) for array in arrays}) != 1 or arrays[0].shape[1:] != (rules.cells,):
            raise WeightsError(f"{path} is damaged: its arrays do not fit together")
        return cls(rules, *arrays)


def concatenated(parts: Sequence[SavedBoards]) -> SavedBoards:
    """Concatenate boards, and renumber the games so that each game keeps a unique number."""
    firsts = np.cumsum([0, *(part.games.max(initial=-1) + 1 for part in parts)])
    return SavedBoards(
        parts[0].rules,
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.stages for part in parts]),
        np.concatenate([part.games + first for part, first in zip(parts, firsts, strict=False)]),
    )


def _repeats(games: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each board, return the number of earlier boards from the same game."""
    order = np.argsort(games, kind="stable")
    _, firsts, counts = np.unique(games[order], return_index=True, return_counts=True)
    repeats = np.empty(len(games), np.int64)
    repeats[order] = np.arange(len(games)) - np.repeat(firsts, counts)
    return repeats


# --- playing -------------------------------------------------------------------------------------


class OngoingGame:
    """A game that a searcher plays from a given board.

    Args:
        searcher: The player.
        cells: Ranks of the board.
        seed: Seed of the spawns.
    """

    def __init__(self, searcher: Searcher, cells: Cells, seed: int) -> None:
        self.searcher, self.cells = searcher, cells.copy()
        self._key = key_of(seed)
        self._state = np.zeros(STATE, np.int64)
        self._unit = max(searcher.rules.spawn_weights.tiles)

    @classmethod
    def new(cls, searcher: Searcher, seed: int) -> OngoingGame:
        """Start a game from the beginning."""
        start = draw_start(searcher.rules, key_of(seed))
        return cls(searcher, searcher.cells_of(start), seed)

    @property
    def is_over(self) -> bool:
        """Whether no legal move is left."""
        return bool(self._state[OVER])

    @property
    def tile(self) -> int:
        """The largest tile."""
        return 1 << int(self.cells.max())

    @property
    def sum(self) -> int:
        """The sum of the tiles."""
        return int((1 << self.cells[self.cells > 0].astype(np.int64)).sum())

    @property
    def score(self) -> int:
        """Points earned since the given board, under the rules."""
        points, moves = self._state[SCORE], self._state[PLY]
        return int(score_of(self.searcher.rules, points, moves, self.cells))

    def value(self, searcher: Searcher | None = None) -> float:
        """Return the points that the player, or another searcher, expects from this position."""
        points, values = (searcher or self.searcher).rate_cells(self.cells)
        return float(values[points >= 0].max()) if points.max() >= 0 else 0.0

    def play_to(self, stage: Stage) -> bool:
        """Play until the game reaches a stage or ends; return whether the stage was reached."""
        tile, min_sum = stage
        while not self.is_over:
            missing = min_sum - self.sum
            if missing <= 0 and self.tile >= tile:
                return True
            missing = max(missing, (tile - self.sum) if self.tile < tile else 0)
            moves = max(missing // self._unit, 1 if self.tile >= tile else MOVES_PER_CALL)
            self.searcher.play_on(self.cells, self._state, self._key, moves)
        return False

    def play_until(self, tile: int) -> bool:
        """Play until the game reaches a tile or ends; return whether the tile was reached."""
        rank = tile.bit_length() - 1
        while not (self.cells == rank).any():
            if self.is_over:
                return False
            min_sum = tile + (self.tile if tile <= self.tile else 0)
            moves = max((min_sum - self.sum) // self._unit, MOVES_PER_CALL)
            self.searcher.play_on(self.cells, self._state, self._key, moves)
        return True

    def play_out(self) -> None:
        """Play to the end."""
        while not self.is_over:
            self.play_until(2 * self.tile)


def on_threads(
    make_searcher: Callable[[], Searcher],
    work: Callable[[Searcher, int], Result],
    count: int,
    threads: int,
) -> Iterator[Result]:
    """Call `work` with each number from 0 to `count - 1` on threads; yield the results.

    Each thread has its own searcher.
    """
    searchers = [make_searcher() for _ in range(threads)]
    searchers[0].prepare()

    def with_searcher(number: int) -> Result:
        searcher = searchers.pop()
        try:
            return work(searcher, number)
        finally:
            searchers.append(searcher)

    with ThreadPoolExecutor(threads, "py2048-boards") as pool:
        yield from pool.map(with_searcher, range(count))


def collect(
    make_searcher: Callable[[], Searcher],
    stages: Sequence[Stage],
    games: int,
    *,
    starts: SavedBoards | None = None,
    seed: int = 1,
    continuations: int = 1,
    threads: int = 1,
) -> SavedBoards:
    """Play games; collect the first board of each game in each stage.

    Args:
        make_searcher: Function that creates the player for a thread.
        stages: Stages of the same tile in ascending order.
        games: Number of games.
        starts: Boards to start from; at most `games` are used. By default, games start as the rules
            define.
        seed: Seed of all games.
        continuations: Number of times to continue each game from the first stage. The continuations
            have different spawns.
        threads: Number of games played in parallel.
    """
    chosen = None if starts is None else starts.spread(games)

    def play(searcher: Searcher, number: int) -> list[tuple[Cells, Stage, int]]:
        own = derive_seed(seed, number)
        if chosen is None:
            origin, game = number, OngoingGame.new(searcher, own)
        else:
            origin, cells = int(chosen.games[number]), chosen.cells[number]
            game = OngoingGame(searcher, cells, own)
        if not game.play_to(stages[0]):
            return []
        found = [(game.cells, stages[0], origin)]
        for again in range(continuations if len(stages) > 1 else 0):
            later = OngoingGame(searcher, game.cells, derive_seed(own, again))
            for stage in stages[1:]:
                if not later.play_to(stage) or later.tile > stage[0]:
                    break
                found.append((later.cells.copy(), stage, origin))
        return found

    rules = make_searcher().rules
    count = games if chosen is None else len(chosen)
    rows = [row for part in on_threads(make_searcher, play, count, threads) for row in part]
    cells, reached, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return SavedBoards(
        rules,
        np.array(cells, np.uint8).reshape(-1, rules.cells),
        np.array(reached, np.int64).reshape(-1, 2),
        np.array(numbers, np.int64),
    )


@dataclass(frozen=True)
class ScoreTally:
    """Accumulated scores of complete games.

    Attributes:
        games: Number of games.
        total: Sum of scores.
        squares: Sum of squared scores.
        ranks: Number of games by the rank of their largest tile, int64 `[64]`.
    """

    games: int = 0
    total: float = 0.0
    squares: float = 0.0
    ranks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(64, np.int64))

    @property
    def mean(self) -> float:
        """Mean score, or 0 if there are no games."""
        return self.total / self.games if self.games else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean, or 0 if there are fewer than two games."""
        if self.games < 2:
            return 0.0
        spread = max(self.squares - self.total * self.mean, 0.0) / (self.games - 1)
        return float(np.sqrt(spread / self.games))

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ScoreTally:
        """Create a tally from the plain values that `data` returns."""
        ranks = np.array(data["ranks"], np.int64).reshape(64)
        return cls(int(data["games"]), float(data["total"]), float(data["squares"]), ranks)

    def data(self) -> dict[str, object]:
        """Return the tally as plain values."""
        return {**vars(self), "ranks": self.ranks.tolist()}

    def rate(self, tile: int) -> float:
        """Return the fraction of games that reached `tile`."""
        return float(self.ranks[tile.bit_length() - 1 :].sum()) / max(self.games, 1)

    def __sub__(self, other: ScoreTally) -> ScoreTally:
        """Return the tally of the games played since an earlier tally."""
        return ScoreTally(
            self.games - other.games,
            self.total - other.total,
            self.squares - other.squares,
            self.ranks - other.ranks,
        )


class SuccessRate(NamedTuple):
    """How often play from saved boards reached a tile."""

    successes: int
    boards: int

    @property
    def share(self) -> float:
        """Share of successes, 0 to 1."""
        return self.successes / max(self.boards, 1)

    @property
    def error(self) -> float:
        """Standard error of the rate, which is positive even if the rate is 0 or 1.

        The error is the standard deviation of the posterior for a uniform prior (Laplace's rule of
        succession).
        """
        likely = (self.successes + 1) / (self.boards + 2)
        return float(np.sqrt(likely * (1 - likely) / (self.boards + 3)))


class Outcomes(NamedTuple):
    """Outcomes of games played from saved boards towards a tile.

    Attributes:
        successes: Whether the tile was reached, bool `[boards]`.
        points: Points earned until the tile was reached or until the game ended, int64 `[boards]`.
    """

    successes: NDArray[np.bool_]
    points: NDArray[np.int64]

    @property
    def last_stretch(self) -> SuccessRate:
        """Success rate over all boards."""
        return SuccessRate(int(self.successes.sum()), len(self.successes))

    def worth(self, goal: float) -> NDArray[np.float64]:
        """Return game points, plus `goal` for games that reached the tile: float64 `[boards]`."""
        return self.points + goal * self.successes


def play_to_tile(
    make_searcher: Callable[[], Searcher],
    boards: SavedBoards,
    *,
    target_tile: int = 0,
    seed: int = 1,
    threads: int = 1,
) -> Outcomes:
    """Play from each board until a tile is reached or the game ends.

    With equal boards and seeds, players get the same spawns as long as they make the same moves.

    Args:
        make_searcher: Function that creates the player for a thread.
        boards: The boards.
        target_tile: The tile to reach. 0 means twice the largest tile of each board.
        seed: Seed of all games.
        threads: Number of games played in parallel.
    """

    def play(searcher: Searcher, number: int) -> tuple[bool, int]:
        game = OngoingGame(searcher, boards.cells[number], derive_seed(seed, number))
        return game.play_until(target_tile or 2 * game.tile), game.score

    rows = list(on_threads(make_searcher, play, len(boards), threads))
    successes, points = zip(*rows, strict=True) if rows else ((), ())
    return Outcomes(np.array(successes, np.bool_), np.array(points, np.int64))


def evaluate(network: Network, games: int, seed: int, *, threads: int = 1) -> ScoreTally:
    """Play games with a network, without search and without learning.

    Game N has the seed ``derive_seed(seed, N)``.
    """

    def play(searcher: Searcher, number: int) -> tuple[int, int]:
        played = play_games(searcher, [derive_seed(seed, number)])
        return int(played.scores[0]), int(played.tiles[0])

    player = partial(Searcher, network.rules, network, SearchLimits(1))
    scores, tiles = np.array(list(on_threads(player, play, games, threads)), np.float64).T
    ranks = np.bincount(np.log2(tiles).astype(np.int64), minlength=64)
    return ScoreTally(games, float(scores.sum()), float((scores**2).sum()), ranks)


# --- calibration ---------------------------------------------------------------------------------


def usual_stages() -> list[Stage]:
    """Return the stages for calibration: the start and five stages per tile from 32 to 65536.

    The five stages begin when the sum of the board reaches 1, 1.25, 1.5, 1.75 and 1.875 times the
    largest tile.
    """
    tiles = [1 << rank for rank in range(5, 17)]
    parts = [(tile, tile * part // 8) for tile in tiles for part in (8, 10, 12, 14, 15)]
    return [(START, 0), *parts]


def calibrate(
    make_searcher: Callable[[], Searcher],
    stages: Sequence[Stage],
    games: int,
    *,
    seed: int = 1,
    threads: int = 1,
) -> TrackRecord:
    """Compare the points that a player expects at each stage with the points earned later."""

    def play(searcher: Searcher, number: int) -> list[tuple[Stage, float, float, int]]:
        game = OngoingGame.new(searcher, derive_seed(seed, number))
        seen = [(stage, game.value(), game.score) for stage in stages if game.play_to(stage)]
        game.play_out()
        return [(stage, value, game.score - before, game.tile) for stage, value, before in seen]

    found: dict[Stage, list[tuple[float, float, int]]] = {}
    for rows in on_threads(make_searcher, play, games, threads):
        for stage, predicted, realised, tile in rows:
            found.setdefault(stage, []).append((predicted, realised, tile))
    records = tuple(_record(each, found[each]) for each in stages if each in found)
    return TrackRecord(games, seed, records)


def _record(stage: Stage, rows: Sequence[tuple[float, float, int]]) -> StageRecord:
    tile, min_sum = stage
    predicted, realised, tiles = np.array(rows).T
    overestimate, count = predicted - realised, len(rows)
    error = float(overestimate.std(ddof=1) / np.sqrt(count)) if count > 1 else 0.0
    larger = [2 * tile << more for more in range(int(np.log2(tiles.max() / tile)))]
    made = {goal: int((tiles >= goal).sum()) for goal in larger}
    means = float(predicted.mean()), float(realised.mean())
    return StageRecord(tile, min_sum, count, *means, error, made)


def measure_overestimate(
    searcher: Searcher, rater: Searcher, boards: SavedBoards, band: Band, end: int, *, seed: int = 1
) -> tuple[float, float]:
    """Fit the overestimate of a network as a linear function of the board's sum.

    The games are played in a single thread, because they are too short to use several threads.

    Args:
        searcher: The player.
        rater: Searcher that evaluates the network whose overestimate is measured.
        boards: Starting boards in the band.
        band: The band.
        end: Tile sum at which the comparison stops.
        seed: Seed of all games.

    Returns:
        The overestimate in points at the band's minimum tile sum, and its increase per unit of the
        tile sum.
    """
    spacing = max((end - band.least) // SAMPLES_PER_GAME, 1)
    rows: list[tuple[float, float]] = []
    for number, cells in enumerate(boards.cells):
        game = OngoingGame(searcher, cells, derive_seed(seed, number))
        seen = []
        while not game.is_over and game.sum < end:
            seen.append((game.sum - band.least, game.value(rater), game.score))
            game.play_to((band.tile, game.sum + spacing))
        outcome = band.goal * game.play_until(band.ending) + game.score
        rows += [(beyond, value - (outcome - before)) for beyond, value, before in seen]
    beyond, overestimate = np.array(rows).T
    slope, level = np.polyfit(beyond, overestimate, 1)
    return float(level), float(slope)
