"""`Campaign`: a training that is watched, evaluated and kept safe as it goes."""

from __future__ import annotations

import csv
import io
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from py2048.errors import WeightsError
from py2048.ntuple import weights
from py2048.ntuple.checkpoint import load_checkpoint, save_checkpoint
from py2048.ntuple.network import Network
from py2048.ntuple.plan import Plan, value_from
from py2048.ntuple.trainer import Tally, Trainer

CHECKPOINT, CURVE, WEIGHTS = "checkpoint.npz", "curve.csv", "weights.npz"

EVALUATION_SEED = 2048
FIRST_CHUNK = 100_000
CHUNK_SECONDS = 0.5


@dataclass(frozen=True)
class Goals:
    """When a training ends, and what happens on the way.

    Attributes:
        games: stop after so many games in all; 0 for no such end.
        moves: stop after so many moves in all; 0 for no such end.
        minutes: stop after so many minutes of training in all; 0 for no such end.
        evaluate_every: games between two points of the learning curve.
        evaluate_games: games played without learning for each point; 0 to leave that out.
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


def goals_from(values: Mapping[str, Any]) -> Goals:
    """Return the goals that plain values describe.

    Raises:
        WeightsError: if a name is unknown or a value has the wrong type.
    """
    return value_from(Goals, values, {})


@dataclass(frozen=True)
class Point:
    """One point of a learning curve.

    Attributes:
        seconds: of training so far, without evaluations.
        games: played so far.
        moves: played so far.
        mean: the mean score of the games since the point before, played while learning.
        error: its standard error.
        tile_2048: the share of those games that reached the tile; so for the others.
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


@dataclass(frozen=True)
class Status:
    """How far a training is, after each chunk of work."""

    seconds: float
    games: int
    moves: int
    games_per_second: float
    moves_per_second: float
    share: float
    """Of the goal that is nearest, 0 to 1; 0 if there is none."""
    curve: tuple[Point, ...]


class Campaign:
    """Trains in a folder, which then holds a checkpoint, the curve and the weights.

    Args:
        folder: where everything is kept.
        trainer: what is trained.
        curve: the points so far.
        seconds: the time trained so far.
    """

    def __init__(
        self, folder: Path, trainer: Trainer, curve: tuple[Point, ...] = (), seconds: float = 0.0
    ) -> None:
        self.folder = folder
        self.trainer = trainer
        self.curve = curve
        self.seconds = seconds
        self._before = trainer.tally

    @classmethod
    def begin(cls, folder: Path, plan: Plan, network: Network | None = None) -> Campaign:
        """Return a new campaign in a folder that has none.

        Raises:
            WeightsError: if the folder holds a training or cannot be made, or the network does not
                fit the plan.
        """
        if (folder / CHECKPOINT).exists():
            raise WeightsError(f"{folder} holds a training: go on with --resume, or name another")
        trainer = Trainer(plan, network)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WeightsError(f"{folder} cannot be made: {error}") from None
        return cls(folder, trainer)

    @classmethod
    def resume(cls, folder: Path, changes: Mapping[str, Any] | None = None) -> Campaign:
        """Return the campaign of a folder as its last checkpoint left it.

        Args:
            folder: where it is kept.
            changes: values of the plan from now on, as in `Plan.changed`.

        Raises:
            WeightsError: if there is no checkpoint that can be read, or a change is not possible.
        """
        trainer, notes = load_checkpoint(folder / CHECKPOINT, changes)
        try:
            curve = tuple(Point(**point) for point in notes["curve"])
            campaign = cls(folder, trainer, curve, float(notes["seconds"]))
            campaign._before = Tally.of_data(notes["before"])
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(f"{folder / CHECKPOINT} is damaged: {error!r}") from None
        return campaign

    def run(self, goals: Goals, watch: Callable[[Status], None] = lambda _: None) -> None:
        """Train until a goal is reached, or for ever; interrupted, keep what was learnt.

        `watch` is called about twice a second.
        """
        self.trainer.prepare()
        saved, chunk = self.seconds, FIRST_CHUNK
        try:
            while self._share(goals) < 1:
                spent, moves = self._step(goals, chunk, watch)
                chunk = max(int(moves * CHUNK_SECONDS / max(spent, 1e-3)), 1)
                if self.seconds - saved >= 60 * goals.checkpoint_minutes:
                    self.save()
                    saved = self.seconds
        finally:
            self.save()
            weights.save(self.network(), self.folder / WEIGHTS)

    def _step(self, goals: Goals, chunk: int, watch: Callable[[Status], None]) -> tuple[float, int]:
        trainer = self.trainer
        games, moves = trainer.games, trainer.moves
        room = goals.evaluate_every - games % goals.evaluate_every
        if goals.games:
            room = min(room, goals.games - games)
        if goals.moves:
            chunk = min(chunk, goals.moves - moves)
        start = time.perf_counter()
        trainer.run(games=room, moves=chunk)
        spent = time.perf_counter() - start
        self.seconds += spent
        if trainer.games % goals.evaluate_every == 0:
            self.curve += (self._point(goals),)
        done = trainer.games - games, trainer.moves - moves
        watch(self._status(goals, spent, *done))
        return spent, done[1]

    def _point(self, goals: Goals) -> Point:
        trainer = self.trainer
        tally = trainer.tally
        recent, self._before = tally - self._before, tally
        evaluated = trainer.evaluate(goals.evaluate_games, EVALUATION_SEED)
        return Point(
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

    def _status(self, goals: Goals, spent: float, games: int, moves: int) -> Status:
        trainer = self.trainer
        rates = games / max(spent, 1e-9), moves / max(spent, 1e-9)
        share = self._share(goals)
        return Status(self.seconds, trainer.games, trainer.moves, *rates, share, self.curve)

    def _share(self, goals: Goals) -> float:
        parts = (
            (self.trainer.games, goals.games),
            (self.trainer.moves, goals.moves),
            (self.seconds, 60 * goals.minutes),
        )
        return max((done / wanted for done, wanted in parts if wanted), default=0.0)

    def network(self) -> Network:
        """Return the network as it is now, with this training in its history."""
        note: dict[str, Any] = {
            "plan": self.trainer.plan.data(),
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
            "before": self._before.data(),
        }
        save_checkpoint(self.trainer, self.folder / CHECKPOINT, notes)
        write_curve(self.curve, self.folder / CURVE)


def write_curve(curve: tuple[Point, ...], path: Path) -> None:
    """Write a learning curve as CSV, one row a point."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Point)])
    writer.writerows([list(asdict(point).values()) for point in curve])
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text.getvalue(), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise WeightsError(f"{path} cannot be written: {error}") from None
