"""Boards saved from games: starts to train from, and to measure what becomes of them.

The *last stretch* is the share of saved boards from which a player makes the next large tile. It
takes seconds to measure where whole games take hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import WeightsError
from py2048.core.game.turn import draw_start
from py2048.core.rng import derive_seed, key_of
from py2048.core.rules import Rules
from py2048.lab.training.trainer import ScoreTally
from py2048.players.ntuple.archive import open_archive, write_archive
from py2048.players.ntuple.network import START, Band, Network, StageRecord, TrackRecord
from py2048.players.search._expectimax_kernels import OVER, PLY, SCORE, STATE
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher, play_games, score_of

KIND = "py2048-boards"
HELD_OUT = 10
"""The boards of each game whose number this divides are for measurements, never for training."""
ROOM = 8
"""How many moves are made at once where a tile is waited for."""
SAMPLES = 32
"""How many boards of a game are compared with the points that followed."""

Stage = tuple[int, int]
"""The largest tile, and the least sum of all tiles."""
Cells = NDArray[np.uint8]
Result = TypeVar("Result")


@dataclass(frozen=True)
class SavedBoards:
    """Boards at which games entered a stage.

    Attributes:
        rules: the rules.
        cells: uint8 `[boards, cells]` of ranks.
        stages: int64 `[boards, 2]`: the stage that each entered.
        games: int64 `[boards]`: the game that each is from; continuations of one are one.
    """

    rules: Rules
    cells: Cells
    stages: NDArray[np.int64]
    games: NDArray[np.int64]

    @property
    def words(self) -> NDArray[np.uint64]:
        """The boards packed into words, uint64 `[boards, 2]`, if they have 16 cells or fewer."""
        places = np.arange(self.cells.shape[1], dtype=np.uint64) * np.uint64(4)
        ranks = self.cells.astype(np.uint64)
        halves = [ranks & np.uint64(15), ranks >> np.uint64(4)]
        return np.stack([(half << places).sum(axis=1, dtype=np.uint64) for half in halves], axis=1)

    def of(self, stage: Stage) -> SavedBoards:
        """Return the boards of a stage."""
        return self._some((self.stages == stage).all(axis=1))

    def last(self) -> SavedBoards:
        """Return the boards of the last stage."""
        return self.of(max(map(tuple, self.stages.tolist()), default=(0, 0)))

    def split(self) -> tuple[SavedBoards, SavedBoards]:
        """Return the boards for training, and those held out; no game has boards in both."""
        held_out = self.games % HELD_OUT == 0
        return self._some(~held_out), self._some(held_out)

    def spread(self, count: int) -> SavedBoards:
        """Return at most `count` boards, of as many games as possible."""
        order = np.argsort(_repeats(self.games), kind="stable")
        chosen = np.zeros(len(order), np.bool_)
        chosen[order[:count]] = True
        return self._some(chosen)

    def _some(self, chosen: NDArray[np.bool_]) -> SavedBoards:
        return SavedBoards(self.rules, self.cells[chosen], self.stages[chosen], self.games[chosen])

    def __len__(self) -> int:
        return len(self.cells)

    def save(self, path: Path) -> None:
        """Save the boards."""
        arrays = [(name, getattr(self, name)) for name in ("cells", "stages", "games")]
        write_archive(path, KIND, {"rules": str(self.rules)}, arrays)

    @classmethod
    def load(cls, path: Path) -> SavedBoards:
        """Return the boards of a file.

        Raises:
            WeightsError: if it is missing, damaged or of another kind.
        """
        with open_archive(path, KIND) as archive:
            arrays = [archive.read(name) for name in ("cells", "stages", "games")]
            rules = Rules.parse(str(archive.header.get("rules")))
        if len({len(array) for array in arrays}) != 1 or arrays[0].shape[1:] != (rules.cells,):
            raise WeightsError(f"{path} is damaged: its arrays do not fit together")
        return cls(rules, *arrays)


def joined(parts: Sequence[SavedBoards]) -> SavedBoards:
    """Return all boards; the games of each part count as others."""
    firsts = np.cumsum([0, *(part.games.max(initial=-1) + 1 for part in parts)])
    return SavedBoards(
        parts[0].rules,
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.stages for part in parts]),
        np.concatenate([part.games + first for part, first in zip(parts, firsts, strict=False)]),
    )


def _repeats(games: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each entry how many equal ones precede it."""
    order = np.argsort(games, kind="stable")
    _, firsts, counts = np.unique(games[order], return_index=True, return_counts=True)
    repeats = np.empty(len(games), np.int64)
    repeats[order] = np.arange(len(games)) - np.repeat(firsts, counts)
    return repeats


# --- playing -------------------------------------------------------------------------------------


class Playing:
    """A game that a searcher plays on from a board.

    Args:
        searcher: the player.
        cells: the board, as ranks.
        seed: the seed of the spawns.
    """

    def __init__(self, searcher: Searcher, cells: Cells, seed: int) -> None:
        self.searcher, self.cells = searcher, cells.copy()
        self._key = key_of(seed)
        self._state = np.zeros(STATE, np.int64)
        self._unit = max(searcher.rules.spawn_weights.tiles)

    @classmethod
    def new(cls, searcher: Searcher, seed: int) -> Playing:
        """Return a game from the beginning."""
        start = draw_start(searcher.rules, key_of(seed))
        return cls(searcher, searcher.cells_of(start), seed)

    @property
    def is_over(self) -> bool:
        """Whether no move is left."""
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
        """The score since the game began, or was taken over, by the rules."""
        points, moves = self._state[SCORE], self._state[PLY]
        return int(score_of(self.searcher.rules, points, moves, self.cells))

    def value(self, searcher: Searcher | None = None) -> float:
        """Return the points to come, as the player, or another searcher, values the board."""
        points, values = (searcher or self.searcher).rate_cells(self.cells)
        return float(values[points >= 0].max()) if points.max() >= 0 else 0.0

    def play_to(self, stage: Stage) -> bool:
        """Play until a tile and a sum are reached; return whether they are, on a board in play."""
        tile, least = stage
        while not self.is_over:
            missing = least - self.sum
            if missing <= 0 and self.tile >= tile:
                return True
            missing = max(missing, (tile - self.sum) if self.tile < tile else 0)
            room = max(missing // self._unit, 1 if self.tile >= tile else ROOM)
            self.searcher.play_on(self.cells, self._state, self._key, room)
        return False

    def play_until(self, tile: int) -> bool:
        """Play until a tile is made; return whether it is."""
        rank = tile.bit_length() - 1
        while not (self.cells == rank).any():
            if self.is_over:
                return False
            least = tile + (self.tile if tile <= self.tile else 0)
            room = max((least - self.sum) // self._unit, ROOM)
            self.searcher.play_on(self.cells, self._state, self._key, room)
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
    """Yield the results for each number below `count`; each thread has its own searcher."""
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
    """Play games; save the board at which each enters each stage.

    Args:
        make_searcher: returns the player, once for each thread.
        stages: the stages, ascending, all of one tile.
        games: the number of games.
        starts: the boards from which they are played on, at most `games` of them; by default from
            the start of the game.
        seed: the seed of all games.
        continuations: how often each game is played on from the first stage.
        threads: how many games are played at the same time.
    """
    chosen = None if starts is None else starts.spread(games)

    def play(searcher: Searcher, number: int) -> list[tuple[Cells, Stage, int]]:
        own, origin = derive_seed(seed, number), number
        if chosen is not None:
            origin, game = int(chosen.games[number]), Playing(searcher, chosen.cells[number], own)
        else:
            game = Playing.new(searcher, own)
        if not game.play_to(stages[0]):
            return []
        found = [(game.cells, stages[0], origin)]
        for again in range(continuations if len(stages) > 1 else 0):
            later = Playing(searcher, game.cells, derive_seed(own, again))
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


class Share(NamedTuple):
    """A share of boards, and how uncertain it is."""

    made: int
    boards: int

    @property
    def share(self) -> float:
        """The share, 0 to 1."""
        return self.made / max(self.boards, 1)

    @property
    def error(self) -> float:
        """Its standard error, which is not 0 where none or all of the boards made it.

        The standard deviation of the probability, by Laplace's rule of succession: before the
        boards were played, all probabilities were as likely.
        """
        likely = (self.made + 1) / (self.boards + 2)
        return float(np.sqrt(likely * (1 - likely) / (self.boards + 3)))


class Outcomes(NamedTuple):
    """The outcome of boards that were played on until a tile was made, or to the end.

    Attributes:
        made: which of them made it: bool `[boards]`.
        points: the points until then: int64 `[boards]`.
    """

    made: NDArray[np.bool_]
    points: NDArray[np.int64]

    @property
    def last_stretch(self) -> Share:
        """How many made the tile."""
        return Share(int(self.made.sum()), len(self.made))

    def worth(self, goal: float) -> NDArray[np.float64]:
        """Return the points, with `goal` more for the tile: float64 `[boards]`."""
        return self.points + goal * self.made


def played_on(
    make_searcher: Callable[[], Searcher],
    boards: SavedBoards,
    *,
    makes: int = 0,
    seed: int = 1,
    threads: int = 1,
) -> Outcomes:
    """Play on from boards, each until it has a tile that it lacks, or to its end.

    Equal boards and seeds give players the same spawns, as long as they move alike.

    Args:
        make_searcher: returns the player, once for each thread.
        boards: the boards.
        makes: the tile; 0 for twice the largest of each board.
        seed: the seed of all games.
        threads: how many games are played at the same time.
    """

    def play(searcher: Searcher, number: int) -> tuple[bool, int]:
        game = Playing(searcher, boards.cells[number], derive_seed(seed, number))
        return game.play_until(makes or 2 * game.tile), game.score

    rows = list(on_threads(make_searcher, play, len(boards), threads))
    made, points = zip(*rows, strict=True) if rows else ((), ())
    return Outcomes(np.array(made, np.bool_), np.array(points, np.int64))


def evaluate(network: Network, games: int, seed: int, *, threads: int = 1) -> ScoreTally:
    """Play games with a network, without search and without learning.

    Game number N has the seed ``derive_seed(seed, N)``.
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
    """Return the start of the game, and the stages of each tile from 32 to 65536.

    Those of a tile are by quarters of the way to the next, and the last eighth.
    """
    tiles = [1 << rank for rank in range(5, 17)]
    return [
        (START, 0),
        *((tile, tile * part // 8) for tile in tiles for part in (8, 10, 12, 14, 15)),
    ]


def calibrate(
    make_searcher: Callable[[], Searcher],
    stages: Sequence[Stage],
    games: int,
    *,
    seed: int = 1,
    threads: int = 1,
) -> TrackRecord:
    """Play games; compare the points that a player expects in each stage with those that came."""

    def play(searcher: Searcher, number: int) -> list[tuple[Stage, float, float, int]]:
        game = Playing.new(searcher, derive_seed(seed, number))
        seen = [(stage, game.value(), game.score) for stage in stages if game.play_to(stage)]
        game.play_out()
        return [(stage, value, game.score - before, game.tile) for stage, value, before in seen]

    found: dict[Stage, list[tuple[float, float, int]]] = {}
    for rows in on_threads(make_searcher, play, games, threads):
        for stage, predicted, realised, tile in rows:
            found.setdefault(stage, []).append((predicted, realised, tile))
    return TrackRecord(
        games, seed, tuple(_record(each, found[each]) for each in stages if each in found)
    )


def _record(stage: Stage, rows: Sequence[tuple[float, float, int]]) -> StageRecord:
    tile, least = stage
    predicted, realised, tiles = np.array(rows).T
    excess, count = predicted - realised, len(rows)
    error = float(excess.std(ddof=1) / np.sqrt(count)) if count > 1 else 0.0
    larger = [2 * tile << more for more in range(int(np.log2(tiles.max() / tile)))]
    made = {goal: int((tiles >= goal).sum()) for goal in larger}
    return StageRecord(
        tile, least, count, float(predicted.mean()), float(realised.mean()), error, made
    )


def excess_by_sum(
    searcher: Searcher,
    rater: Searcher,
    boards: SavedBoards,
    band: Band,
    end: int,
    *,
    seed: int = 1,
) -> tuple[float, float]:
    """Return by how much values are too high where boards begin, and more for each point of sum.

    On one thread: pieces of games are so short that threads would wait for each other.

    Args:
        searcher: the player.
        rater: what values the boards on the way.
        boards: boards of the band.
        band: the band: its first sum, the tile that ends it, and its goal.
        end: the sum up to which values are compared.
        seed: the seed of all games.
    """
    spacing = max((end - band.least) // SAMPLES, 1)
    rows: list[tuple[float, float]] = []
    for number, cells in enumerate(boards.cells):
        game = Playing(searcher, cells, derive_seed(seed, number))
        seen = []
        while not game.is_over and game.sum < end:
            seen.append((game.sum - band.least, game.value(rater), game.score))
            game.play_to((band.tile, game.sum + spacing))
        came = band.goal * game.play_until(band.ending) + game.score
        rows += [(beyond, value - (came - before)) for beyond, value, before in seen]
    beyond, excess = np.array(rows).T
    slope, level = np.polyfit(beyond, excess, 1)
    return float(level), float(slope)
