"""`TrainingRun`: a training in a folder, with checkpoints, evaluations and a learning curve."""

from __future__ import annotations

import csv
import io
import math
import os
import signal
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from py2048.core.errors import WeightsError, extra_for, os_errors_as
from py2048.core.game.record import write_atomically
from py2048.lab.training._td_kernels import SCORES
from py2048.lab.training.card import CardTrainer
from py2048.lab.training.trainer import (
    ScoreTally,
    Trainer,
    TrainingConfig,
    config_from,
    dataclass_from,
)
from py2048.players.ntuple import weights
from py2048.players.ntuple.archive import (
    Archive,
    Array,
    faults_of,
    is_sparse,
    open_archive,
    write_archive,
)
from py2048.players.ntuple.network import Network

CHECKPOINT, CURVE, WEIGHTS = "checkpoint.npz", "curve.csv", "weights.npz"
PLAN = "plan.toml"
"""The plan of an ascent, in its folder."""

EVALUATION_SEED = 2048
FIRST_CHUNK = 100_000
CHUNK_SECONDS = 0.5


@dataclass(frozen=True)
class StopCriteria:
    """When a training stops, evaluates and saves.

    Attributes:
        games: stop after this number of games in all; 0 for no limit.
        moves: stop after this number of moves in all; 0 for no limit.
        minutes: stop after this number of minutes of training in all; 0 for no limit.
        evaluate_every: games between two points of the learning curve.
        evaluate_games: games played without learning for each point; 0 for none.
        checkpoint_minutes: minutes of training between checkpoints.
    """

    games: int = 0
    moves: int = 0
    minutes: float = 0.0
    evaluate_every: int = 5000
    evaluate_games: int = 0
    checkpoint_minutes: float = 5.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf or (value == 0 and field.name == "evaluate_every"):
                raise WeightsError(f"{field.name} must not be {value}")


@dataclass(frozen=True)
class CurvePoint:
    """One point of a learning curve.

    Attributes:
        seconds: the training time so far, without evaluations.
        games: the games so far.
        moves: the moves so far.
        mean: the mean score of the training games since the last point.
        error: its standard error.
        tile_2048: the share of these games that reached the tile; likewise the next three.
        evaluated: the mean score of games played without learning, 0 if there were none.
        evaluated_error: its standard error.
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


Listener = Callable[[CurvePoint], None]
"""Called with each new point of a curve."""


def event_log(folder: Path) -> Listener:
    """Return what writes each point into a log in `folder`, which TensorBoard shows by games.

    Raises:
        MissingExtraError: if TensorBoard is not installed.
    """
    with extra_for("a log for TensorBoard", "tensorboard"):
        from tensorboard.summary import Writer

    writer = cache(lambda: Writer(str(folder)))  # the folder is made when training begins

    def write(point: CurvePoint) -> None:
        for name, value in asdict(point).items():
            if point.evaluated or "evaluated" not in name:
                writer().add_scalar(name, value, point.games)
        writer().flush()

    return write


def check_free(folder: Path) -> None:
    """Make sure that a folder holds no training, of a network or of bands.

    Raises:
        WeightsError: if it does.
    """
    for name in (CHECKPOINT, PLAN, WEIGHTS):
        if (folder / name).exists():
            raise WeightsError(
                f"{folder} holds a training, {name}: continue it with --resume, or name another"
            )


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM while a training is saved: they would lose it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler or signal.SIG_DFL)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from training in a folder, where the system can lock one.

    The lock ends with the process.

    Raises:
        WeightsError: if one trains there.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # not every system has locks, nor every disk
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WeightsError(
                    f"another process trains in {folder}: wait for its end, or name another folder"
                ) from None
        yield


def trainer_of(config: TrainingConfig, network: Network | None = None) -> Trainer | CardTrainer:
    """Return the trainer of the device that the settings name."""
    return Trainer(config, network) if config.device == "cpu" else CardTrainer(config, network)


class TrainingRun:
    """A training in a folder, which holds its checkpoint, learning curve and weights.

    Args:
        folder: the folder.
        trainer: the trainer.
        curve: the points so far.
        seconds: the training time so far.
        stop: the criteria of the last `run`, if there was one.

    Attributes:
        moves_per_second: how fast it is at present.
    """

    def __init__(
        self,
        folder: Path,
        trainer: Trainer | CardTrainer,
        curve: tuple[CurvePoint, ...] = (),
        seconds: float = 0.0,
        stop: StopCriteria | None = None,
    ) -> None:
        self.folder = folder
        self.trainer = trainer
        self.curve = curve
        self.seconds = seconds
        self.stop = stop
        self.moves_per_second = 0.0
        self._before = trainer.tally

    @classmethod
    def begin(
        cls, folder: Path, config: TrainingConfig, network: Network | None = None
    ) -> TrainingRun:
        """Return a new training in a folder that has none.

        Raises:
            WeightsError: if the folder holds a training or cannot be made, or the network does not
                fit the settings.
        """
        check_free(folder)
        trainer = trainer_of(config, network)
        with os_errors_as(WeightsError, f"{folder} cannot be made"):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, trainer)

    @classmethod
    def resume(cls, folder: Path, changes: Mapping[str, object] | None = None) -> TrainingRun:
        """Return the training of a folder, continued from its last checkpoint.

        Args:
            folder: the folder.
            changes: new settings, as in `TrainingConfig.changed`.

        Raises:
            WeightsError: if no checkpoint can be read, a change is impossible, or another process
                trains there.
        """
        path = folder / CHECKPOINT
        if not path.exists():
            raise WeightsError(f"{folder} holds no {CHECKPOINT} to continue: leave out --resume")
        with folder_lock(folder):
            trainer, notes = load_checkpoint(path, changes)
        with faults_of(path, "notes"):
            curve = tuple(dataclass_from(CurvePoint, point) for point in notes["curve"])
            stop = dataclass_from(StopCriteria, notes["stop"]) if notes.get("stop") else None
            run = cls(folder, trainer, curve, float(notes["seconds"]), stop)
            run._before = ScoreTally.of_data(notes["before"])
        return run

    def run(
        self,
        stop: StopCriteria,
        watch: Callable[[], None] = lambda: None,
        listeners: Sequence[Listener] = (),
    ) -> None:
        """Train until a limit is reached, or an interrupt; then save.

        Args:
            stop: the limits.
            watch: called about twice a second.
            listeners: called with each new point of the curve.

        Raises:
            WeightsError: if another process trains in the folder, or files cannot be written.
        """
        with folder_lock(self.folder):
            self._run(stop, watch, listeners)

    def _run(
        self, stop: StopCriteria, watch: Callable[[], None], listeners: Sequence[Listener]
    ) -> None:
        self.trainer.prepare()
        self.stop = stop
        saved, chunk = self.seconds, FIRST_CHUNK
        try:
            while self.share_of(stop) < 1:
                told = len(self.curve)
                self._train(stop, chunk)
                for point, listener in product(self.curve[told:], listeners):
                    listener(point)
                chunk = max(int(self.moves_per_second * CHUNK_SECONDS), 1)
                watch()
                if self.seconds - saved >= 60 * stop.checkpoint_minutes:
                    self.save()
                    saved = self.seconds
        finally:
            with _without_interrupts():
                self.save()
                network = self.network()
                packed = is_sparse(network.weights)
                weights.save(network, self.folder / WEIGHTS, compress=packed)

    def share_of(self, stop: StopCriteria) -> float:
        """Return how much of the work up to the nearest limit is done; 0 without a limit."""
        parts = (
            (self.trainer.games, stop.games),
            (self.trainer.moves, stop.moves),
            (self.seconds, 60 * stop.minutes),
        )
        return max((done / wanted for done, wanted in parts if wanted), default=0.0)

    def _train(self, stop: StopCriteria, chunk: int) -> None:
        """Train for about `chunk` moves, at most to the next point of the curve or a limit."""
        trainer = self.trainer
        games, moves = trainer.games, trainer.moves
        room = stop.evaluate_every - games % stop.evaluate_every
        if stop.games:
            room = min(room, stop.games - games)
        if stop.moves:
            chunk = min(chunk, stop.moves - moves)
        start = time.perf_counter()
        trainer.run(games=room, moves=chunk)
        spent = time.perf_counter() - start
        self.seconds += spent
        self.moves_per_second = (trainer.moves - moves) / max(spent, 1e-3)
        if trainer.games // stop.evaluate_every > games // stop.evaluate_every:
            self.curve += (self._point(stop),)

    def _point(self, stop: StopCriteria) -> CurvePoint:
        trainer = self.trainer
        tally = trainer.tally
        recent, self._before = tally - self._before, tally
        evaluated = trainer.evaluate(stop.evaluate_games, EVALUATION_SEED)
        return CurvePoint(
            round(self.seconds, 3),
            trainer.games,
            trainer.moves,
            recent.mean,
            recent.error,
            recent.rate(2048),
            recent.rate(8192),
            recent.rate(16384),
            recent.rate(32768),
            evaluated.mean,
            evaluated.error,
        )

    def network(self) -> Network:
        """Return a copy of the network, with this training in its history."""
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
            "before": self._before.data(),
        }
        save_checkpoint(self.trainer, self.folder / CHECKPOINT, notes)
        text = io.StringIO()
        writer = csv.DictWriter(
            text, [field.name for field in fields(CurvePoint)], lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(map(asdict, self.curve))
        with os_errors_as(WeightsError, f"{self.folder / CURVE} cannot be written"):
            write_atomically(self.folder / CURVE, text.getvalue().encode())


# --- checkpoints ---------------------------------------------------------------------------------

CHECKPOINT_KIND = "py2048-training"
COLUMNS = ("weights", "errors", "sizes")
KEPT = ("boards", "starts", "started", "progress", "scores", "tiles")
"""The parts of a worker's state that are saved, between two games."""
COUNTS = {"progress": 2, "scores": SCORES, "tiles": 64}
"""How many of their numbers are sums, over games, moves or results."""


def save_checkpoint(
    trainer: Trainer | CardTrainer, path: Path, notes: Mapping[str, object] | None = None
) -> None:
    """Save everything that a training needs to continue.

    The file is replaced when it is complete: a crash leaves the previous one.

    Args:
        trainer: a trainer between two calls of `run`.
        path: the file.
        notes: more values, in plain JSON, that `load_checkpoint` returns.

    Raises:
        WeightsError: if it cannot be written.
    """
    header = {
        "plan": trainer.config.data(),
        "history": [dict(entry) for entry in trainer.history],
        "changes": [dict(entry) for entry in trainer.changes],
        "notes": notes or {},
    }
    if isinstance(trainer, CardTrainer):
        arrays: Iterable[tuple[str, Array]] = trainer.arrays().items()
    else:
        arrays = _arrays(trainer, trainer.config.threads)
    write_archive(path, CHECKPOINT_KIND, header, arrays)


def load_checkpoint(
    path: Path, changes: Mapping[str, object] | None = None
) -> tuple[Trainer | CardTrainer, dict[str, Any]]:
    """Return the trainer of a checkpoint, and its notes.

    Args:
        path: the file.
        changes: new settings, as in `TrainingConfig.changed`. An additional thread has a seed of
            its own; the games of a removed thread count as those of the first.

    Raises:
        WeightsError: if the file is missing, damaged or of another version, or a change is
            impossible.
    """
    with open_archive(path, CHECKPOINT_KIND) as archive:
        header = archive.header
        with faults_of(path, "plan"):
            before = config_from(dict(header["plan"]))
        trainer = trainer_of(before.changed(changes or {}))
        with faults_of(path, "history, changes or notes"):
            trainer.history = tuple(map(dict, header["history"]))
            trainer.changes = tuple(map(dict, header["changes"]))
            notes = dict(header["notes"])
        if isinstance(trainer, CardTrainer):
            trainer.take_arrays(
                {name: _read(archive, path, name, own) for name, own in trainer.arrays().items()}
            )
        else:
            _read_workers(archive, path, trainer, before.threads)
        trainer.note_changes(before)
        return trainer, notes


def _read_workers(archive: Archive, path: Path, trainer: Trainer, threads: int) -> None:
    """Fill the arrays of a trainer from the checkpoint of one with `threads` threads."""
    for name, target in _arrays(trainer, min(threads, trainer.config.threads)):
        target[...] = _read(archive, path, name, target)  # into the trainer's own arrays
    for number in range(trainer.config.threads, threads):
        for name, count in COUNTS.items():
            total = getattr(trainer.workers[0], name)
            total[:count] += _read(archive, path, f"learner{number}/{name}", total)[:count]


def _read(archive: Archive, path: Path, name: str, target: Array) -> Array:
    array = archive.read(name)
    if array.shape != target.shape or array.dtype != target.dtype:
        raise WeightsError(f"{path} is damaged: {name} is {array.dtype} {array.shape}")
    return array


def _arrays(trainer: Trainer, threads: int) -> Iterator[tuple[str, Array]]:
    for number, name in enumerate(COLUMNS[: trainer.stride]):
        yield name, trainer.records[:, number]
    for number, worker in enumerate(trainer.workers[:threads]):
        for name in KEPT:
            yield f"learner{number}/{name}", getattr(worker, name)


def load_toml(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file.

    Raises:
        WeightsError: if it cannot be read.
    """
    try:
        with os_errors_as(WeightsError, f"{path} cannot be read"):
            return tomllib.loads(path.read_bytes().decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise WeightsError(f"{path} is not TOML: {error}") from None
