"""Training runs in a folder, with checkpoints, evaluations and a learning curve."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from py2048.core.errors import WeightsError, os_errors_as, shown
from py2048.core.game.record import write_atomically
from py2048.core.rules import Rules
from py2048.lab.interrupts import delayed_interrupts
from py2048.lab.training.bands import BandTask
from py2048.lab.training.boards import ScoreTally
from py2048.lab.training.card import CardTrainer
from py2048.lab.training.trainer import (
    Trainer,
    TrainingConfig,
    network_settings,
    setting_names,
    settings_from,
)
from py2048.players.ntuple import archive, weights
from py2048.players.ntuple.network import Network
from py2048.players.searching import network_for

CHECKPOINT, CURVE, WEIGHTS = "checkpoint.npz", "curve.csv", "weights.npz"
PLAN = "plan.toml"
"""Name of the file that marks a folder in which bands are trained."""

EVALUATION_SEED = 2048
FIRST_CHUNK_MOVES = 100_000
CHUNK_S = 0.5
LIMITS = "games", "moves", "minutes"
DEFAULT_MINUTES = 10.0

SHIPPED = "shipped"
"""Name of the weights bundled with py2048. To use a file with this name, write ``./shipped``."""

Settings = dict[str, Any]


@dataclass(frozen=True)
class StopCriteria:
    """Criteria that determine when a training run stops, evaluates and saves.

    Limits are counted from the beginning of the run. 0 means no limit.

    Attributes:
        games: Maximum number of games.
        moves: Maximum number of moves.
        minutes: Maximum training time in minutes.
        evaluate_every: Number of games between two points of the learning curve.
        evaluate_games: Number of evaluation games for each point of the learning curve. The default
            0 disables evaluation.
        checkpoint_minutes: Training minutes between checkpoints.
    """

    games: Annotated[int, Meta(ge=0, le=10**15)] = 0
    moves: Annotated[int, Meta(ge=0, le=10**18)] = 0
    minutes: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    evaluate_every: Annotated[int, Meta(ge=1, le=10**15)] = 5000
    evaluate_games: Annotated[int, Meta(ge=0, le=10**15)] = 0
    checkpoint_minutes: Annotated[float, Meta(ge=0.0, le=1e9)] = 5.0


@dataclass(frozen=True)
class CurvePoint:
    """One point of a learning curve.

    Attributes:
        seconds: Training time so far in seconds, excluding evaluations.
        games: Games played so far.
        moves: Moves played so far.
        mean: Mean score of the training games since the previous point.
        error: Standard error of `mean`.
        tile_2048: Fraction of the training games that reached 2048.
        tile_8192: Fraction of the training games that reached 8192.
        tile_16384: Fraction of the training games that reached 16384.
        tile_32768: Fraction of the training games that reached 32768.
        evaluated: Mean score of the evaluation games, or 0 if there are none.
        evaluated_error: Standard error of `evaluated`.
    """

    seconds: float
    games: int
    moves: int
    mean: float
    error: float
    tile_2048: float
    tile_8192: float
    tile_16384: float
    tile_32768: float
    evaluated: float
    evaluated_error: float


AnyTrainer = Trainer | CardTrainer


def check_free(folder: Path) -> None:
    """Check that a folder contains no training run.

    Raises:
        WeightsError: If the folder contains a training run.
    """
    for name in (CHECKPOINT, PLAN, WEIGHTS):
        if (folder / name).exists():
            raise WeightsError(
                f"{folder} holds a training run, {name}: continue it with --resume, or name another"
            )


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other process trains in it.

    The OS releases the lock if the process dies. On systems without file locks, the folder is not
    protected.

    Raises:
        WeightsError: If another process has locked the folder.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # the system or the disk may not support locks
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WeightsError(
                    f"another process trains in {folder}: wait until it ends, or use another one"
                ) from None
        yield


# --- settings ------------------------------------------------------------------------------------


def split_settings(values: Settings, changes: Settings) -> tuple[Settings, Settings]:
    """Apply changes to the settings in a file; return training settings and stop criteria.

    Raises:
        WeightsError: If a stop criterion is invalid.
    """
    own = values.get("run", {})
    if not isinstance(own, dict):
        raise WeightsError(f"run = {shown(own)} must be a table, [run]")
    merged = {name: values[name] for name in values if name != "run"} | own | changes
    limits = {name: merged.pop(name) for name in setting_names(StopCriteria) if name in merged}
    settings_from(StopCriteria, limits)  # reject invalid values before loading files
    return merged, limits


def stop_criteria(given: Settings, kept: StopCriteria | None = None) -> StopCriteria:
    """Merge the given stop criteria with a checkpoint's. The default is ten minutes."""
    values = asdict(kept) if kept else {}
    if any(given.get(name) for name in LIMITS):
        values |= dict.fromkeys(LIMITS, 0)
    values |= given
    if not any(values.get(name) for name in LIMITS):
        values["minutes"] = DEFAULT_MINUTES
    return settings_from(StopCriteria, values)


def open_run(folder: Path, values: Settings, initial: str, *, resume: bool) -> TrainingRun:
    """Begin a training run, or resume one with changed settings.

    Args:
        folder: The folder.
        values: Settings as plain values.
        initial: File with the initial weights, `SHIPPED`, or an empty string.
        resume: Whether to resume.

    Raises:
        WeightsError: If the folder, the settings or the weights cannot be used.
    """
    if resume:
        return TrainingRun.resume(folder, values)
    network = None
    if initial:
        rules = Rules.parse(str(values.get("rules", "classic")))
        network = network_for(rules) if initial == SHIPPED else weights.load(initial)
        values = network_settings(network) | values
    return TrainingRun.begin(folder, TrainingConfig.from_data(values), network)


def make_trainer(
    config: TrainingConfig, network: Network | None = None, task: BandTask | None = None
) -> AnyTrainer:
    """Create the trainer for the device that the settings name."""
    kind = Trainer if config.device == "cpu" else CardTrainer
    return kind(config, network, task)


@dataclass
class TrainingRun:
    """A training run of a network, with its checkpoint, learning curve and weights in a folder.

    Attributes:
        folder: The folder.
        trainer: The trainer.
        curve: Points of the learning curve so far.
        seconds: Training time so far.
        stop: The stop criteria of the last `run`, or None before the first.
        before: Scores of all games up to the latest point of the learning curve.
        moves_per_second: Current training speed.
    """

    folder: Path
    trainer: AnyTrainer
    curve: tuple[CurvePoint, ...] = ()
    seconds: float = 0.0
    stop: StopCriteria | None = None
    before: ScoreTally = field(default_factory=ScoreTally)
    moves_per_second: float = field(default=0.0, init=False)

    @classmethod
    def begin(
        cls, folder: Path, config: TrainingConfig, network: Network | None = None
    ) -> TrainingRun:
        """Begin a training run in a folder that has not been used for training.

        Raises:
            WeightsError: If the folder contains a training run or cannot be created, or the network
                does not match the settings.
        """
        check_free(folder)
        trainer = make_trainer(config, network)
        with os_errors_as(WeightsError, f"{folder} cannot be made"):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, trainer)

    @classmethod
    def resume(cls, folder: Path, changes: Mapping[str, object] | None = None) -> TrainingRun:
        """Resume the training run in a folder from its last checkpoint.

        Args:
            folder: The folder.
            changes: New settings, as in `TrainingConfig.changed`.

        Raises:
            WeightsError: If the checkpoint cannot be read, a setting cannot be changed, or another
                process is training in the folder.
        """
        path = folder / CHECKPOINT
        if not path.exists():
            raise WeightsError(f"{folder} holds no {CHECKPOINT} to continue: leave out --resume")
        with folder_lock(folder):
            trainer, notes = load_checkpoint(path, changes)
        with archive.faults_of(path, "notes"):
            curve = tuple(settings_from(CurvePoint, point) for point in notes["curve"])
            stop = settings_from(StopCriteria, notes["stop"]) if notes.get("stop") else None
            seconds, before = float(notes["seconds"]), ScoreTally.from_data(notes["before"])
            return cls(folder, trainer, curve, seconds, stop, before)

    def run(
        self,
        stop: StopCriteria,
        watch: Callable[[], None] = lambda: None,
        show: Callable[[CurvePoint], None] = lambda _: None,
    ) -> None:
        """Train until a limit is reached or the run is interrupted, and then save.

        Args:
            stop: The limits.
            watch: Called about twice a second.
            show: Called with each new point of the curve.

        Raises:
            WeightsError: If another process trains in the folder, or files cannot be written.
        """
        with folder_lock(self.folder):
            self.trainer.prepare()
            self.stop = stop
            saved, chunk = self.seconds, FIRST_CHUNK_MOVES
            try:
                while self.share_of(stop) < 1:
                    before = len(self.curve)
                    self._train(stop, chunk)
                    for point in self.curve[before:]:
                        show(point)
                    chunk = max(int(self.moves_per_second * CHUNK_S), 1)
                    watch()
                    if self.seconds - saved >= 60 * stop.checkpoint_minutes:
                        self.save()
                        saved = self.seconds
            finally:
                with delayed_interrupts(redeliver=False):
                    self.save()
                    network = self.network()
                    packed = archive.is_sparse(network.weights)
                    weights.save(network, self.folder / WEIGHTS, compress=packed)

    def share_of(self, stop: StopCriteria) -> float:
        """Return the progress towards the nearest limit, from 0 to 1, or 0 without a limit."""
        parts = (
            (self.trainer.games, stop.games),
            (self.trainer.moves, stop.moves),
            (self.seconds, 60 * stop.minutes),
        )
        return max((done / wanted for done, wanted in parts if wanted), default=0.0)

    def _train(self, stop: StopCriteria, chunk: int) -> None:
        """Train for about `chunk` moves, or until a limit or the next point of the curve."""
        trainer = self.trainer
        games, moves = trainer.games, trainer.moves
        max_games = stop.evaluate_every - games % stop.evaluate_every
        if stop.games:
            max_games = min(max_games, stop.games - games)
        if stop.moves:
            chunk = min(chunk, stop.moves - moves)
        start = time.perf_counter()
        trainer.run(games=max_games, moves=chunk)
        spent = time.perf_counter() - start
        self.seconds += spent
        self.moves_per_second = (trainer.moves - moves) / max(spent, 1e-3)
        if trainer.games // stop.evaluate_every > games // stop.evaluate_every:
            self.curve += (self._point(stop),)

    def _point(self, stop: StopCriteria) -> CurvePoint:
        trainer = self.trainer
        tally = trainer.tally
        recent, self.before = tally - self.before, tally
        count = stop.evaluate_games
        evaluated = trainer.evaluate(count, EVALUATION_SEED) if count else ScoreTally()
        tiles = recent.rate(2048), recent.rate(8192), recent.rate(16384), recent.rate(32768)
        return CurvePoint(
            *(round(self.seconds, 3), trainer.games, trainer.moves),
            *(recent.mean, recent.error, *tiles, evaluated.mean, evaluated.error),
        )

    def network(self) -> Network:
        """Return a copy of the network with this training run in its history."""
        note: dict[str, object] = {
            "plan": self.trainer.config.data(),
            "games": self.trainer.games,
            "moves": self.trainer.moves,
            "seconds": round(self.seconds, 1),
        }
        if self.curve:
            note["last"] = asdict(self.curve[-1])
        if self.trainer.changes:
            note["changes"] = [dict(change) for change in self.trainer.changes]
        return self.trainer.network(note)

    def save(self) -> None:
        """Write the checkpoint and the curve."""
        notes = {
            "curve": [asdict(point) for point in self.curve],
            "seconds": self.seconds,
            "stop": asdict(self.stop) if self.stop else None,
            "before": self.before.data(),
        }
        save_checkpoint(self.trainer, self.folder / CHECKPOINT, notes)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(each.name for each in fields(CurvePoint))
        writer.writerows(map(astuple, self.curve))
        with os_errors_as(WeightsError, f"{self.folder / CURVE} cannot be written"):
            write_atomically(self.folder / CURVE, text.getvalue().encode())


# --- checkpoints ---------------------------------------------------------------------------------

CHECKPOINT_KIND = "py2048-training"


def save_checkpoint(
    trainer: AnyTrainer, path: Path, notes: Mapping[str, object] | None = None
) -> None:
    """Save the complete state of a trainer between two calls of `run`.

    The file is replaced atomically, so the previous file survives a crash.

    Args:
        trainer: The trainer.
        path: The file.
        notes: JSON values that `load_checkpoint` returns.

    Raises:
        WeightsError: If the file cannot be written.
    """
    header = {
        "plan": trainer.config.data(),
        "history": [dict(entry) for entry in trainer.history],
        "changes": [dict(entry) for entry in trainer.changes],
        "notes": notes or {},
    }
    if trainer.task:
        header["band"] = asdict(trainer.task.band)
    archive.write_archive(path, CHECKPOINT_KIND, header, trainer.arrays().items())


def load_checkpoint(
    path: Path, changes: Mapping[str, object] | None = None, task: BandTask | None = None
) -> tuple[AnyTrainer, dict[str, Any]]:
    """Load a checkpoint; return the trainer and the notes given to `save_checkpoint`.

    Args:
        path: The file.
        changes: New settings, as in `TrainingConfig.changed`.
        task: The band that was trained, or None for a whole network. The overestimate of the band's
            base network is read from the checkpoint.

    Raises:
        WeightsError: If the file cannot be read or belongs to another band, or if a setting cannot
            be changed.
    """
    with archive.open_archive(path, CHECKPOINT_KIND) as file:
        header = file.header
        if task:
            band = weights.band_of(path, header.get("band"))
            if (band.tile, band.least) != (task.band.tile, task.band.least):
                raise WeightsError(f"{path} is from training another band")
            task = task._replace(band=band)
        elif "band" in header:
            raise WeightsError(f"{path} is from training a band, not a whole network")
        with archive.faults_of(path, "plan"):
            before = TrainingConfig.from_data(dict(header["plan"]))
        trainer = make_trainer(before.changed(changes or {}), task=task)
        with archive.faults_of(path, "history, changes or notes"):
            trainer.history = tuple(map(dict, header["history"]))
            trainer.changes = tuple(map(dict, header["changes"]))
            notes = dict(header["notes"])

        def read(name: str, target: archive.Array) -> archive.Array:
            array = file.read(name)
            if array.shape != target.shape or array.dtype != target.dtype:
                raise WeightsError(f"{path} is damaged: {name} is {array.dtype} {array.shape}")
            return array

        trainer.restore(read, before)
        return trainer, notes
