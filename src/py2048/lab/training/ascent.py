"""An *ascent*: bands of a network trained one after the other, backwards, in a folder.

For each band of the plan, in its order: games are played from which boards are saved (once for each
tile); the value below is compared with what comes; the band is trained from the saved boards; and
it is kept if it makes more points from held-out boards than what it replaces, at every depth. All
is in files that are replaced when they are complete, so an ascent continues where it was ended,
however it was ended.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from py2048.core.errors import WeightsError
from py2048.core.rng import checked_seed, derive_seed
from py2048.core.rules import Rules, checked_tile
from py2048.lab.training.bands import BandTrainer, CardBandTrainer
from py2048.lab.training.boards import (
    Outcomes,
    SavedBoards,
    Share,
    collect,
    excess_by_sum,
    joined,
    played_on,
)
from py2048.lab.training.run import WEIGHTS, folder_lock
from py2048.lab.training.trainer import check_device, check_ranges, dataclass_from
from py2048.players.ntuple.layout import (
    PACKED_RANKS,
    NetworkLayout,
    Tuple,
    cells_text,
    parse_tuples,
)
from py2048.players.ntuple.network import Band, Network
from py2048.players.ntuple.weights import load, save, save_packed, shipped_network
from py2048.players.search.limits import MAX_DEPTH, SearchLimits
from py2048.players.search.searcher import Searcher

STRETCHES = "last-stretch.csv"
COLUMNS = "tile", "least", "depth", "moves", "made", "boards"
"""Those of that file: how many held-out boards of a band made its tile, when they were played on at
a depth after that number of moves of training; after none, by the network before."""
SIX_TUPLES, STEP = "9abdef 4567ab abcdef 69abcd 56adef 489abf", 48.0
"""The tuples and the step, in points, of the first band of a network by default."""
CHUNK_SECONDS, FIRST_CHUNK = 2.0, 20_000
PORTION = 500
"""How many games are saved at once."""
EXCESS_BOARDS = 2000
"""The most boards from which the value below is compared with what comes."""
SEARCHED_BOARDS = 200
"""The most boards from which searches play on while a band is trained."""


@dataclass(frozen=True)
class CollectPlan:
    """Games from which boards are saved.

    Attributes:
        tile: the largest tile of the boards.
        games: how many games.
        depth: the depth at which they are played.
        continuations: how often each is played on from the first board with the tile.
        after: a smaller tile; games are played on from its last saved boards, not from the start.
    """

    tile: int
    games: int
    depth: int = 1
    continuations: int = 4
    after: int = 0

    def __post_init__(self) -> None:
        checked_tile(self.tile, "tile = ")
        check_ranges(
            self, ("games", 1, 10**9), ("depth", 1, MAX_DEPTH), ("continuations", 1, 10**6)
        )


@dataclass(frozen=True)
class BandPlan:
    """A band to train.

    Attributes:
        tile: the largest tile of its boards.
        least: the least sum of their tiles.
        goal: the points to come once the tile to make is made.
        makes: the tile to make; 0 for twice `tile`.
        moves: for how many moves it is trained at each learning rate.
        rates: the learning rates; with each, weights forget their errors.
    """

    tile: int
    least: int
    goal: float
    makes: int = 0
    moves: tuple[float, ...] = (4e9, 2e9, 1e9)
    rates: tuple[float, ...] = (0.25, 0.05, 0.02)

    def __post_init__(self) -> None:
        if len(self.moves) != len(self.rates) or not self.rates:
            raise WeightsError("a band needs a number of moves for each learning rate")
        check_ranges(self, ("goal", 0.0, 1e12), ("moves", 1, 1e15), ("rates", 0.0, 10.0))
        for name, tile in (("tile", self.tile), ("makes", self.untrained.ending)):
            checked_tile(tile, f"{self}: {name} = ")
        if self.least < self.tile:
            raise WeightsError(f"{self}: least = {self.least}: a {self.tile} alone is more")
        if self.least >= self.untrained.end:
            raise WeightsError(f"{self} begins where {self.untrained.ending} is made")

    def __str__(self) -> str:
        return f"band {self.tile} {self.least}"

    @property
    def untrained(self) -> Band:
        """The band, with nothing measured yet."""
        return Band(self.tile, self.least, goal=self.goal, makes=self.makes)


@dataclass(frozen=True)
class AscentPlan:
    """The settings of an ascent.

    Attributes:
        collect: the games from which boards are saved.
        bands: the bands in the order of their training, those of one tile backwards.
        weights: the weights file to begin with; by default those that come with py2048.
        rules_text: the rules.
        tuples: the tuples of the bands; by default those of the bands that are there, or six.
        ranks: how many ranks their weights distinguish; 0 for those of the bands there, or 16.
        margin: how much lower than measured the value below is taken, in points.
        step: the points of one step of a band's weights; 0 for that of the bands there, or 48.
        lambda_: λ of TD(λ).
        restart_length: games of more moves are followed by one from their middle.
        depths: the depths at which a band must be better than what it replaces.
        judged: how many held-out boards that is measured on.
        checkpoint_minutes: minutes of training between checkpoints.
        seed: the seed of all games.
        threads: how many games are played at the same time.
        device: where bands are trained, as in `TrainingConfig`.
        games_at_once: how many games are played at the same time there, instead of `threads`.
    """

    collect: tuple[CollectPlan, ...] = ()
    bands: tuple[BandPlan, ...] = ()
    weights: str = ""
    rules_text: str = "classic"
    tuples: str = ""
    ranks: int = 0
    margin: float = 30_000.0
    step: float = 0.0
    lambda_: float = 0.5
    restart_length: int = 20
    depths: tuple[int, ...] = (1, 2, 3)
    judged: int = 1000
    checkpoint_minutes: float = 5.0
    seed: int = 1
    threads: int = 1
    device: str = "cpu"
    games_at_once: int = 8448

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        check_device(self.device)
        if not self.depths:
            raise WeightsError("depths = []: a band is judged at one depth or more")
        check_ranges(
            self,
            ("ranks", 0, PACKED_RANKS),
            ("margin", 0.0, 1e12),
            ("step", 0.0, 1e12),
            ("lambda_", 0.0, 1.0),
            ("restart_length", 0, 10**8),
            ("depths", 1, MAX_DEPTH),
            ("judged", 1, 10**9),
            ("checkpoint_minutes", 0.0, 1e9),
            ("threads", 1, 1024),
            ("games_at_once", 1, 1 << 20),
        )


def plan_from(values: dict[str, Any]) -> AscentPlan:
    """Return the plan that the values of a TOML file describe.

    Raises:
        WeightsError: if a name is unknown or a value cannot be used.
    """
    rest = {name: value for name, value in values.items() if name not in ("collect", "bands")}
    plan = replace(
        dataclass_from(AscentPlan, rest),
        collect=tuple(dataclass_from(CollectPlan, each) for each in values.get("collect", [])),
        bands=tuple(dataclass_from(BandPlan, each) for each in values.get("bands", [])),
    )
    collected = {each.tile for each in plan.collect}
    for each in plan.collect:
        if each.after and (each.after >= each.tile or each.after not in collected):
            raise WeightsError(
                f"games for {each.tile} cannot begin after {each.after}: "
                "it takes a smaller tile that is collected, too"
            )
    for band in plan.bands:
        if band.tile not in collected:
            raise WeightsError(f"no games are collected for the bands of {band.tile}")
    return plan


def _text(value: tuple[Tuple, ...] | float) -> str:
    """Return a setting as a plan has it."""
    if isinstance(value, tuple):
        return f'"{" ".join(map(cells_text, value))}"'
    return f"{value:g}"


class Ascent:
    """An ascent in a folder.

    Args:
        folder: the folder, which holds boards, the band in training, and the weights so far.
        plan: the plan.
        tell: called with each line of progress.
    """

    def __init__(self, folder: Path, plan: AscentPlan, tell: Callable[[str], None]) -> None:
        self.folder, self.plan, self._tell = folder, plan, tell
        self._rules = Rules.parse(plan.rules_text)
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Train every band of the plan that has not been trained in this folder.

        Raises:
            WeightsError: if the plan's tuples, ranks or step are not those of the bands there are,
                or another process trains in the folder.
        """
        with folder_lock(self.folder):
            self._run()

    def _run(self) -> None:
        network = self._network()
        self._shape_of(network)
        begun = self._begun(network)
        done = {tuple(entry["band"]) for entry in network.history[begun:] if "band" in entry}
        for number, band in enumerate(self.plan.bands):
            if (band.tile, band.least) not in done:
                network = self._trained(network, band, derive_seed(self.plan.seed, number), begun)
                if network.table.dtype == np.int16:
                    save_packed(network, self.folder / WEIGHTS, step=network.step)
                else:
                    save(network, self.folder / WEIGHTS, compress=True)
                self._checkpoint(band).unlink(missing_ok=True)

    def _network(self) -> Network:
        if (self.folder / WEIGHTS).exists():
            return load(self.folder / WEIGHTS)
        network = load(self.plan.weights) if self.plan.weights else shipped_network(self._rules)
        if network is None:
            raise WeightsError(f"no weights come with py2048 for the rules {self._rules.name}")
        return network

    def _begun(self, network: Network) -> int:
        """Return the length of the history with which the ascent began."""
        if (self.folder / WEIGHTS).exists():
            return max((int(entry.get("begun", 0)) for entry in network.history), default=0)
        return len(network.history)

    def _shape_of(self, network: Network) -> tuple[NetworkLayout, float]:
        """Return the tuples and ranks of the bands, and the points of a step of their weights."""
        plan, there = self.plan, network.bands
        if there is None:
            tuples = parse_tuples(plan.tuples or SIX_TUPLES, *self._rules.shape)
            layout = NetworkLayout(*self._rules.shape, tuples, ranks=plan.ranks or PACKED_RANKS)
            return layout, plan.step or STEP
        for name, given, kept in (
            ("tuples", parse_tuples(plan.tuples, *self._rules.shape), there.layout.tuples),
            ("ranks", plan.ranks, there.layout.ranks),
            ("step", plan.step, there.step),
        ):
            if given and given != kept:
                raise WeightsError(
                    f"{name} = {_text(given)}: the bands that are there have {name} = "
                    f"{_text(kept)}; leave {name} out, or begin with weights without bands"
                )
        return there.layout, there.step

    def _checkpoint(self, band: BandPlan) -> Path:
        return self.folder / f"band-{band.tile}-{band.least}.npz"

    def _player(self, network: Network, depth: int) -> Callable[[], Searcher]:
        return partial(Searcher, self._rules, network, SearchLimits(depth))

    # --- boards ----------------------------------------------------------------------------------

    def boards(self, network: Network, tile: int) -> SavedBoards:
        """Return the boards of a tile, from their file or from games that are played now."""
        path, plan = self.folder / f"boards-{tile}.npz", self.plan
        if path.exists():
            return SavedBoards.load(path)
        stages = sorted({(tile, tile), *((b.tile, b.least) for b in plan.bands if b.tile == tile)})
        portions = [
            (each, first, min(each.games - first, portion))
            for each in plan.collect
            for portion in [each.games if each.after else PORTION]
            for first in range(0, each.games, portion)
            if each.tile == tile
        ]
        parts = []
        for number, (each, first, games) in enumerate(portions):
            part = self.folder / f"boards-{tile}-{number}.npz"
            if not part.exists():
                self._tell(f"boards with {tile}: games from {first:,} at depth {each.depth}")
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
        found = joined([SavedBoards.load(part) for part in parts])
        found.save(path)
        counts = (f"{len(found.of(stage)):,} at {stage[1]}" for stage in stages)
        self._tell(f"boards with {tile}: {', '.join(counts)}")
        for part in parts:
            part.unlink()
        return found

    # --- a band ----------------------------------------------------------------------------------

    def _trained(self, network: Network, band: BandPlan, seed: int, begun: int) -> Network:
        """Return the network with a band if that makes it better; its history says."""
        training, held_out = self.boards(network, band.tile).of((band.tile, band.least)).split()
        if not len(training) or not len(held_out):
            raise WeightsError(
                f"{band}: of the games for {band.tile} too few came to a sum of {band.least}: "
                "collect more games"
            )
        if not self._checkpoint(band).exists():
            without = self._noted_stretches(network, band, held_out, 0)
            self._tell(f"{band}, before it is trained: {without}")
        trainer, notes = self._trainer(network, band, training, seed)
        for phase in range(notes["phase"], len(band.rates)):
            if phase > notes["phase"]:
                notes["phase"] = phase
                trainer.reset_coherence()
            self._train(trainer, notes, band, held_out)
        better = trainer.finished(self._shape_of(network)[1])
        entry = {
            "band": [band.tile, band.least],
            "begun": begun,
            "moves": trainer.moves,
            "games": trainer.games,
            "seconds": round(notes["seconds"], 1),
        }
        entry |= self._judged(band, network, better, held_out, entry["moves"])
        kept = better if entry["kept"] else network
        return replace(kept, history=(*network.history, entry))

    def _judged(
        self, band: BandPlan, network: Network, better: Network, boards: SavedBoards, moves: int
    ) -> dict[str, Any]:
        """Return whether a band is kept, and why: what comes of boards without it and with it."""
        shares, gains = {}, {}
        for depth in self.plan.depths:
            before, after = (
                self._outcomes(each, band, boards, depth) for each in (network, better)
            )
            shares[str(depth)] = pair = before.last_stretch, after.last_stretch
            self._note(band, depth, 0, before.last_stretch)
            self._note(band, depth, moves, after.last_stretch)
            more = after.worth(band.goal) - before.worth(band.goal)
            gain, error = more.mean(), more.std(ddof=1) / np.sqrt(len(more))
            gains[str(depth)] = round(float(gain), 1), round(float(error), 1)
            self._tell(
                f"{band}, depth {depth}: {gain:+,.0f} ± {error:,.0f} points; last "
                f"stretch {pair[0].share:.1%} before, {pair[1].share:.1%} ± {pair[1].error:.1%} "
                "with it"
            )
        is_better = all(gain > 0 for gain, _ in gains.values())
        self._tell(f"{band}: {'kept' if is_better else 'not kept'}")
        return {"kept": is_better, "gain": gains, "last_stretch": shares}

    def _outcomes(
        self, network: Network, band: BandPlan, boards: SavedBoards, depth: int
    ) -> Outcomes:
        plan = self.plan
        chosen, player = boards.spread(plan.judged), self._player(network, depth)
        return played_on(player, chosen, makes=band.makes, seed=plan.seed, threads=plan.threads)

    def _noted_stretches(
        self, network: Network, band: BandPlan, boards: SavedBoards, moves: int
    ) -> str:
        """Note the last stretch at each depth, of fewer boards with search; return it as text."""
        found = []
        for depth in self.plan.depths:
            some = boards.spread(SEARCHED_BOARDS) if depth > 1 else boards
            share = self._outcomes(network, band, some, depth).last_stretch
            self._note(band, depth, moves, share)
            found.append(f"{share.share:.1%} ± {share.error:.1%} at depth {depth}")
        return f"last stretch {', '.join(found)}"

    def _note(self, band: BandPlan, depth: int, moves: int, share: Share) -> None:
        with (self.folder / STRETCHES).open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(COLUMNS)
            writer.writerow([band.tile, band.least, depth, moves, *share])

    def _trainer(
        self, network: Network, band: BandPlan, boards: SavedBoards, seed: int
    ) -> tuple[BandTrainer | CardBandTrainer, dict[str, Any]]:
        """Return the trainer of a band, and its notes; from the checkpoint if there is one."""
        plan, path = self.plan, self._checkpoint(band)
        layout, _ = self._shape_of(network)
        saved = BandTrainer.band_of(path) if path.exists() else None
        on_threads = partial(BandTrainer, threads=plan.threads)
        at_once = partial(CardBandTrainer, device=plan.device, games_at_once=plan.games_at_once)
        make: Callable[..., BandTrainer | CardBandTrainer]
        make = on_threads if plan.device == "cpu" else at_once
        trainer = make(
            network,
            layout,
            saved or self.measured(network, band, boards),
            boards.words,
            lambda_=plan.lambda_,
            restart_length=plan.restart_length,
            seed=seed,
        )
        if saved:
            notes = trainer.restore(path)
            notes["moves"] += [0] * (len(band.rates) - len(notes["moves"]))
            return trainer, notes
        notes = {"phase": 0, "moves": [0] * len(band.rates), "seconds": 0.0}
        trainer.save(path, notes)
        return trainer, notes

    def measured(self, network: Network, planned: BandPlan, boards: SavedBoards) -> Band:
        """Return a band with what the value below is too high by."""
        plan, band = self.plan, planned.untrained
        # Play as it is when the training begins, by the value below, until the band above.
        if network.bands:
            network = replace(network, bands=network.bands.beyond(band))
        others = network.bands.bands if network.bands else ()
        above = [b.least for b in others if b.tile == band.tile and b.least > band.least]
        rater = self._player(replace(network, bands=None), 1)()
        level, slope = excess_by_sum(
            self._player(network, 1)(),
            rater,
            boards.spread(EXCESS_BOARDS),
            band,
            min([band.end, *above]),
            seed=plan.seed,
        )
        self._tell(
            f"{planned}: the value below is {level:,.0f} too high, and "
            f"{slope:+.1f} for each point of the sum"
        )
        return band._replace(level=level + plan.margin, slope=slope)

    def _train(
        self,
        trainer: BandTrainer | CardBandTrainer,
        notes: dict[str, Any],
        plan: BandPlan,
        held_out: SavedBoards,
    ) -> None:
        """Train at the learning rate of the notes until its moves are made."""
        phase, path = notes["phase"], self._checkpoint(plan)
        chunk, saved = FIRST_CHUNK, time.monotonic()
        while notes["moves"][phase] < plan.moves[phase]:
            before, clock, cpu = trainer.moves, time.perf_counter(), time.process_time()
            left = math.ceil(plan.moves[phase] - notes["moves"][phase])
            trainer.run(min(chunk, left), plan.rates[phase])
            made = trainer.moves - before
            speed = made / (time.perf_counter() - clock)
            notes["moves"][phase] += made
            notes["seconds"] += time.process_time() - cpu
            chunk = max(int(speed * CHUNK_SECONDS), FIRST_CHUNK)
            if time.monotonic() >= saved + 60 * self.plan.checkpoint_minutes:
                trainer.save(path, notes)
                self._report(trainer, notes, plan, speed, held_out)
                saved = time.monotonic()
        trainer.save(path, notes)

    def _report(
        self,
        trainer: BandTrainer | CardBandTrainer,
        notes: dict[str, Any],
        plan: BandPlan,
        speed: float,
        held_out: SavedBoards,
    ) -> None:
        """Tell how far a training is, and how far play comes with it."""
        phase = notes["phase"]
        better = trainer.finished(self._shape_of(trainer.network)[1])
        stretches = self._noted_stretches(better, plan, held_out, trainer.moves)
        self._tell(
            f"{plan}: rate {plan.rates[phase]:g}, {notes['moves'][phase] / plan.moves[phase]:.0%} "
            f"of {plan.moves[phase]:,.0f} moves, {speed:,.0f} a second, "
            f"{trainer.passed:.1%} leave it upwards; "
            f"{stretches}"
        )
