"""Train the bands of a network one after another, from the end of the game backwards.

An *ascent* is a training run for all bands of a plan, in one folder. For each band, an ascent
collects boards from games, measures how much the base network overestimates these boards, and
trains the band on them. The band is kept if play from held-out boards improves at every search
depth. Each step is saved atomically, so you can interrupt an ascent and continue it later.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from py2048.core.errors import WeightsError
from py2048.core.rng import derive_seed
from py2048.core.rules import Rules, checked_tile
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import (
    Outcomes,
    SavedBoards,
    collect,
    concatenated,
    measure_overestimate,
    play_to_tile,
)
from py2048.lab.training.run import (
    WEIGHTS,
    AnyTrainer,
    folder_lock,
    load_checkpoint,
    make_trainer,
    save_checkpoint,
)
from py2048.lab.training.trainer import TrainingConfig, settings_from, tuples_text
from py2048.players.ntuple.layout import PACKED_RANKS, NetworkLayout, parse_tuples
from py2048.players.ntuple.network import Band, Network
from py2048.players.ntuple.weights import load, save, save_packed
from py2048.players.search.limits import MAX_DEPTH, SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.players.searching import network_for

STRETCHES = "last-stretch.csv"
COLUMNS = "tile", "least", "depth", "moves", "made", "boards"
"""Columns of `STRETCHES`. `moves` is the number of training moves so far, and `made` is the number
of games that reached the target tile from the held-out `boards`.
"""
SIX_TUPLES = "9abdef 4567ab abcdef 69abcd 56adef 489abf"
"""Default tuples of the first band of a network."""
DEFAULT_STEP = 48.0  # points
CHUNK_S, FIRST_CHUNK_MOVES = 2.0, 20_000
GAMES_PER_FILE = 500
MEASURED_BOARDS = 2000
"""Maximum number of boards used to measure the overestimate."""
SEARCHED_BOARDS = 200
"""Maximum number of games per measurement at search depths above 1."""


@dataclass(frozen=True)
class CollectPlan:
    """Settings for collecting boards from games.

    Attributes:
        tile: Largest tile of the boards.
        games: Number of games.
        depth: Search depth of the player.
        continuations: Number of continuations to play from each game's first board with `tile`.
        after: A smaller tile. Games continue from the latest saved boards with this tile. The
            default 0 starts games from the beginning.
    """

    tile: int
    games: Annotated[int, Meta(ge=1, le=10**9)]
    depth: Annotated[int, Meta(ge=1, le=MAX_DEPTH)] = 1
    continuations: Annotated[int, Meta(ge=1, le=10**6)] = 4
    after: int = 0

    def __post_init__(self) -> None:
        checked_tile(self.tile, "tile = ")


@dataclass(frozen=True)
class BandPlan:
    """A band to train.

    Attributes:
        tile: Largest tile of the band's boards.
        min_sum: Minimum tile sum of the band's boards.
        goal: Points that a game is expected to earn after it reaches the target tile.
        target_tile: The tile that ends the band when it is made. The default 0 means twice `tile`.
        moves: Number of training moves at each learning rate.
        rates: Learning rates, used one after another. Temporal coherence is reset each time.
    """

    tile: int
    min_sum: int
    goal: Annotated[float, Meta(ge=0.0, le=1e12)]
    target_tile: int = 0
    moves: tuple[Annotated[float, Meta(ge=1, le=1e15)], ...] = (4e9, 2e9, 1e9)
    rates: tuple[Annotated[float, Meta(ge=0.0, le=10.0)], ...] = (0.25, 0.05, 0.02)

    def __post_init__(self) -> None:
        if len(self.moves) != len(self.rates) or not self.rates:
            raise WeightsError(
                f"{self}: {len(self.moves)} moves for {len(self.rates)} rates: give as many of both"
            )
        for name, tile in (("tile", self.tile), ("target_tile", self.untrained.ending)):
            checked_tile(tile, f"{self}: {name} = ")
        if self.min_sum < self.tile:
            raise WeightsError(
                f"{self}: min_sum = {self.min_sum} is less than its tile, {self.tile}"
            )
        if self.min_sum >= self.untrained.end:
            raise WeightsError(f"{self} begins where {self.untrained.ending} is made")

    def __str__(self) -> str:
        return f"band {self.tile} {self.min_sum}"

    @property
    def untrained(self) -> Band:
        """The band before any measurement."""
        return Band(self.tile, self.min_sum, goal=self.goal, makes=self.target_tile)


@dataclass(frozen=True)
class AscentPlan:
    """Settings of an ascent.

    Attributes:
        collect: Settings for collecting boards from games.
        bands: The bands in the order of training. Bands of the same tile are trained in descending
            order of `min_sum`.
        weights: File with the initial weights. The default is the network that comes with py2048.
        rules_text: The rules.
        tuples: Tuples of the bands. Defaults to those of the network's existing bands, otherwise to
            `SIX_TUPLES`.
        ranks: Number of ranks that the weights of the bands distinguish. 0 means as many as in the
            network's existing bands, otherwise 16.
        margin: Points to add to the measured overestimate.
        step: Resolution of the bands' weights in points. 0 means the resolution of the network's
            existing bands, otherwise 48 points.
        lambda_: λ of TD(λ).
        restart_length: After a game with more moves than this, the next game starts from the middle
            of that game.
        depths: Search depths at which a band must improve play to be kept.
        judged: Maximum number of held-out boards to play when a band's improvement is measured.
        checkpoint_minutes: Training minutes between checkpoints.
        seed: Seed of all games.
        threads: Number of games played in parallel on the CPU.
        device: Device for training, as in `TrainingConfig`.
        games_at_once: Number of games played in parallel on devices other than the CPU.
    """

    collect: tuple[CollectPlan, ...] = ()
    bands: tuple[BandPlan, ...] = ()
    weights: str = ""
    rules_text: str = "classic"
    tuples: str = ""
    ranks: Annotated[int, Meta(ge=0, le=PACKED_RANKS)] = 0
    margin: Annotated[float, Meta(ge=0.0, le=1e12)] = 30_000.0
    step: Annotated[float, Meta(ge=0.0, le=1e12)] = 0.0
    lambda_: float = 0.5
    restart_length: int = 20
    depths: tuple[Annotated[int, Meta(ge=1, le=MAX_DEPTH)], ...] = (1, 2, 3)
    judged: Annotated[int, Meta(ge=1, le=10**9)] = 1000
    checkpoint_minutes: Annotated[float, Meta(ge=0.0, le=1e9)] = 5.0
    seed: int = 1
    threads: int = 1
    device: str = "cpu"
    games_at_once: int = 8448

    def __post_init__(self) -> None:
        _ = self.training
        if not self.depths:
            raise WeightsError("depths = [] is empty: give at least one depth")

    @property
    def training(self) -> TrainingConfig:
        """The settings that all kinds of training share.

        Raises:
            WeightsError: If a setting is invalid.
        """
        values = {"rules": self.rules_text, "lambda": self.lambda_}
        names = "restart_length", "seed", "threads", "device", "games_at_once"
        return TrainingConfig.from_data(values | {name: getattr(self, name) for name in names})


def plan_from(values: dict[str, Any]) -> AscentPlan:
    """Create a plan from the values in a TOML file.

    Raises:
        WeightsError: If a name is unknown or a value is invalid.
    """
    rest = {name: value for name, value in values.items() if name not in ("collect", "bands")}
    plan = replace(
        settings_from(AscentPlan, rest),
        collect=tuple(settings_from(CollectPlan, each) for each in values.get("collect", [])),
        bands=tuple(settings_from(BandPlan, each) for each in values.get("bands", [])),
    )
    collected = {each.tile for each in plan.collect}
    for each in plan.collect:
        if each.after and (each.after >= each.tile or each.after not in collected):
            raise WeightsError(
                f"games for {each.tile} cannot begin after {each.after}: "
                "name a smaller tile that is also collected"
            )
    for band in plan.bands:
        if band.tile not in collected:
            raise WeightsError(
                f"no games are collected for {band}: add a [[collect]] with tile = {band.tile}"
            )
    return plan


class Ascent:
    """An ascent in a folder.

    Args:
        folder: The folder with the boards, the checkpoint of the current band, and the weights.
        plan: The plan.
        report: Function that receives each line of progress.
    """

    def __init__(self, folder: Path, plan: AscentPlan, report: Callable[[str], None]) -> None:
        self.folder, self.plan, self._report = folder, plan, report
        self._rules = Rules.parse(plan.rules_text)
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Train every band of the plan that has not been trained in this folder yet.

        Raises:
            WeightsError: If existing bands have other tuples, ranks or steps than the plan, or
                another process is training in the folder.
        """
        path = self.folder / WEIGHTS
        with folder_lock(self.folder):
            is_begun = path.exists()
            network = load(path) if is_begun else network_for(self._rules, self.plan.weights)
            self._layout, self._step = self._layout_and_step(network)
            history = network.history
            inherited = len(history)
            if is_begun:
                inherited = max((int(entry.get("begun", 0)) for entry in history), default=0)
            done = {tuple(entry["band"]) for entry in history[inherited:] if "band" in entry}
            for number, band in enumerate(self.plan.bands):
                if (band.tile, band.min_sum) in done:
                    continue
                seed = derive_seed(self.plan.seed, number)
                network = self._trained(network, band, seed, inherited)
                if network.table.dtype == np.int16:
                    save_packed(network, path, step=network.step)
                else:
                    save(network, path, compress=True)
                self._checkpoint(band).unlink(missing_ok=True)

    def _layout_and_step(self, network: Network) -> tuple[NetworkLayout, float]:
        """Return the layout of the bands, and the resolution of their weights in points."""
        plan, existing, shape = self.plan, network.bands, self._rules.shape
        tuples = parse_tuples(plan.tuples or SIX_TUPLES, *shape)
        if existing is None:
            layout = NetworkLayout(*shape, tuples, ranks=plan.ranks or PACKED_RANKS)
            return layout, plan.step or DEFAULT_STEP
        layout = existing.layout
        for name, given, kept in (
            ("tuples", plan.tuples and tuples_text(tuples), tuples_text(layout.tuples)),
            ("ranks", plan.ranks, layout.ranks),
            ("step", plan.step, existing.step),
        ):
            if given and given != kept:
                raise WeightsError(
                    f"{name} = {given!r} does not fit existing bands, which have {name} = "
                    f"{kept!r}: leave {name} out, or start from weights without bands"
                )
        return layout, existing.step

    def _checkpoint(self, band: BandPlan) -> Path:
        return self.folder / f"band-{band.tile}-{band.min_sum}.npz"

    def _player(self, network: Network, depth: int) -> Callable[[], Searcher]:
        return partial(Searcher, self._rules, network, SearchLimits(depth))

    # --- boards ----------------------------------------------------------------------------------

    def boards(self, network: Network, tile: int) -> SavedBoards:
        """Load the saved start boards for a tile, or play games to collect start boards."""
        path, plan = self.folder / f"boards-{tile}.npz", self.plan
        if path.exists():
            return SavedBoards.load(path)
        stages = sorted(
            {(tile, tile), *((b.tile, b.min_sum) for b in plan.bands if b.tile == tile)}
        )
        batches = [
            (each, first, min(each.games - first, size))
            for each in plan.collect
            for size in [each.games if each.after else GAMES_PER_FILE]
            for first in range(0, each.games, size)
            if each.tile == tile
        ]
        parts = []
        for number, (each, first, games) in enumerate(batches):
            part = self.folder / f"boards-{tile}-{number}.npz"
            if not part.exists():
                self._report(f"boards with {tile}: games from {first:,} at depth {each.depth}")
                collect(
                    self._player(network, each.depth),
                    stages,
                    games,
                    starts=self.boards(network, each.after).last() if each.after else None,
                    seed=derive_seed(plan.seed, (tile << 32) + number),
                    continuations=each.continuations,
                    threads=plan.threads,
                ).save(part)
            parts.append(part)
        boards = concatenated([SavedBoards.load(part) for part in parts])
        boards.save(path)
        counts = (f"{len(boards.of(stage)):,} at {stage[1]}" for stage in stages)
        self._report(f"boards with {tile}: {', '.join(counts)}")
        for part in parts:
            part.unlink()
        return boards

    # --- a band ----------------------------------------------------------------------------------

    def _trained(self, network: Network, band: BandPlan, seed: int, inherited: int) -> Network:
        """Train a band, and return the network with the band if it improves play."""
        training, held_out = self.boards(network, band.tile).of((band.tile, band.min_sum)).split()
        if not len(training) or not len(held_out):
            raise WeightsError(
                f"{band}: too few games for {band.tile} reached a sum of {band.min_sum}: "
                "collect more games"
            )
        if not self._checkpoint(band).exists():
            without = self._measure_stretches(network, band, held_out, 0)
            self._report(f"{band}, before it is trained: {without}")
        trainer, notes = self._trainer(network, band, training, seed)
        for phase in range(notes["phase"], len(band.rates)):
            if phase > notes["phase"]:
                notes["phase"] = phase
                trainer.reset_coherence()
            self._train(trainer, notes, band, held_out)
        trained = trainer.with_band(self._step)
        entry = {
            "band": [band.tile, band.min_sum],
            "begun": inherited,
            "moves": trainer.moves,
            "games": trainer.games,
            "seconds": round(notes["seconds"], 1),
        }
        entry |= self._compare(band, network, trained, held_out, entry["moves"])
        kept = trained if entry["kept"] else network
        return replace(kept, history=(*network.history, entry))

    def _compare(
        self, band: BandPlan, network: Network, trained: Network, boards: SavedBoards, moves: int
    ) -> dict[str, Any]:
        """Compare play with and without a band; return entries for the history."""
        shares, gains = {}, {}
        some = boards.spread(self.plan.judged)
        for depth in self.plan.depths:
            before = self._play_on(network, band, some, depth, 0)
            after = self._play_on(trained, band, some, depth, moves)
            shares[str(depth)] = pair = before.last_stretch, after.last_stretch
            difference = after.worth(band.goal) - before.worth(band.goal)
            gain = difference.mean()
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            gains[str(depth)] = round(float(gain), 1), round(float(error), 1)
            self._report(
                f"{band}, depth {depth}: {gain:+,.0f} ± {error:,.0f} points; last "
                f"stretch {pair[0].share:.1%} before, {pair[1].share:.1%} ± {pair[1].error:.1%} "
                "with it"
            )
        is_better = all(gain > 0 for gain, _ in gains.values())
        self._report(f"{band}: {'kept' if is_better else 'not kept'}")
        return {"kept": is_better, "gain": gains, "last_stretch": shares}

    def _measure_stretches(
        self, network: Network, band: BandPlan, boards: SavedBoards, moves: int
    ) -> str:
        """Measure how often games reach the target tile at each search depth.

        At depths above 1, fewer boards are played, because search is slow.

        Returns:
            The results as text.
        """
        found = []
        for depth in self.plan.depths:
            most = min(SEARCHED_BOARDS if depth > 1 else len(boards), self.plan.judged)
            rate = self._play_on(network, band, boards.spread(most), depth, moves).last_stretch
            found.append(f"{rate.share:.1%} ± {rate.error:.1%} at depth {depth}")
        return f"last stretch {', '.join(found)}"

    def _play_on(
        self, network: Network, band: BandPlan, boards: SavedBoards, depth: int, moves: int
    ) -> Outcomes:
        """Play from saved boards, and append the success rate to ``last-stretch.csv``."""
        outcomes = play_to_tile(
            self._player(network, depth),
            boards,
            target_tile=band.target_tile,
            seed=self.plan.seed,
            threads=self.plan.threads,
        )
        with (self.folder / STRETCHES).open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            writer.writerow([band.tile, band.min_sum, depth, moves, *outcomes.last_stretch])
        return outcomes

    def _trainer(
        self, network: Network, band: BandPlan, boards: SavedBoards, seed: int
    ) -> tuple[AnyTrainer, dict[str, Any]]:
        """Return a band's trainer and progress, from its checkpoint if there is one."""
        path = self._checkpoint(band)
        tuples, ranks = tuples_text(self._layout.tuples), self._layout.ranks
        config = replace(self.plan.training, tuples=tuples, ranks=ranks, seed=seed)
        task = BandTask(network, band.untrained, boards.words)
        if path.exists():
            trainer, notes = load_checkpoint(path, config.data(), task)
            notes["moves"] += [0] * (len(band.rates) - len(notes["moves"]))
            return trainer, notes
        task = task._replace(band=self.measured(network, band, boards))
        trainer = make_trainer(config, task=task)
        notes = {"phase": 0, "moves": [0] * len(band.rates), "seconds": 0.0}
        save_checkpoint(trainer, path, notes)
        return trainer, notes

    def measured(self, network: Network, planned: BandPlan, boards: SavedBoards) -> Band:
        """Measure how much the base network overestimates the boards of a band.

        Returns:
            The planned band, with the overestimate as `level` and `slope`.
        """
        plan, band = self.plan, planned.untrained
        # Remove this band and earlier bands, so that the base network rates the boards.
        if network.bands:
            network = replace(network, bands=network.bands.beyond(band))
        others = network.bands.bands if network.bands else ()
        above = [b.least for b in others if b.tile == band.tile and b.least > band.least]
        level, slope = measure_overestimate(
            self._player(network, 1)(),
            self._player(replace(network, bands=None), 1)(),
            boards.spread(MEASURED_BOARDS),
            band,
            min([band.end, *above]),
            seed=plan.seed,
        )
        self._report(
            f"{planned}: the network overestimates by {level:,.0f} points, and by "
            f"{slope:+.1f} more per point of the sum"
        )
        return replace(band, level=level + plan.margin, slope=slope)

    def _train(
        self,
        trainer: AnyTrainer,
        notes: dict[str, Any],
        plan: BandPlan,
        held_out: SavedBoards,
    ) -> None:
        """Train until the current phase ends, with the learning rate of this phase."""
        phase, path = notes["phase"], self._checkpoint(plan)
        chunk, saved = FIRST_CHUNK_MOVES, time.monotonic()
        trainer.config = replace(trainer.config, learning_rate=float(plan.rates[phase]))
        while notes["moves"][phase] < plan.moves[phase]:
            before, clock, cpu = trainer.moves, time.perf_counter(), time.process_time()
            left = math.ceil(plan.moves[phase] - notes["moves"][phase])
            trainer.run(moves=min(chunk, left))
            moves = trainer.moves - before
            speed = moves / (time.perf_counter() - clock)
            notes["moves"][phase] += moves
            notes["seconds"] += time.process_time() - cpu
            chunk = max(int(speed * CHUNK_S), FIRST_CHUNK_MOVES)
            if time.monotonic() >= saved + 60 * self.plan.checkpoint_minutes:
                save_checkpoint(trainer, path, notes)
                trained = trainer.with_band(self._step)
                stretches = self._measure_stretches(trained, plan, held_out, trainer.moves)
                self._report(
                    f"{plan}: rate {plan.rates[phase]:g}, "
                    f"{notes['moves'][phase] / plan.moves[phase]:.0%} of {plan.moves[phase]:,.0f} "
                    f"moves, {speed:,.0f} a second, {trainer.passed:.1%} of games leave the band "
                    f"upwards; {stretches}"
                )
                saved = time.monotonic()
        save_checkpoint(trainer, path, notes)
