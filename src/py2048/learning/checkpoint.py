"""Checkpoints: a training on disk, from which it goes on as if it had never stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from py2048.errors import WeightsError
from py2048.evaluation.archive import open_archive, write_archive
from py2048.learning.plan import plan_from
from py2048.learning.trainer import Trainer

KIND = "py2048-training"
COLUMNS = ("weights", "errors", "sizes")
KEPT = ("boards", "starts", "started", "progress", "scores", "tiles")
"""What of each learner outlives the end of a game."""


def save_checkpoint(trainer: Trainer, path: Path, notes: dict[str, Any] | None = None) -> None:
    """Write everything that decides how the training goes on.

    The file is complete or not there at all: a crash leaves the one before.

    Args:
        trainer: a training between two of its runs.
        path: the file.
        notes: what else to remember, in plain JSON values, as `load_checkpoint` returns it.

    Raises:
        WeightsError: if it cannot be written.
    """
    header = {
        "plan": trainer.plan.data(),
        "history": [dict(entry) for entry in trainer.history],
        "notes": notes or {},
    }
    write_archive(path, KIND, header, _arrays(trainer))


def _arrays(trainer: Trainer) -> Iterator[tuple[str, NDArray[Any]]]:
    for number, name in enumerate(COLUMNS[: trainer.stride]):
        yield name, trainer.records[:, number]
    for number, learner in enumerate(trainer.learners):
        for name in KEPT:
            yield f"learner{number}/{name}", getattr(learner, name)


def load_checkpoint(path: Path) -> tuple[Trainer, dict[str, Any]]:
    """Return the training that a checkpoint holds, and the notes with it.

    Raises:
        WeightsError: if the file is missing, damaged or of another version.
    """
    with open_archive(path, KIND) as archive:
        plan = archive.header.get("plan")
        if not isinstance(plan, dict):
            raise WeightsError(f"{path} is damaged: it has no plan")
        trainer = Trainer(plan_from(plan))
        trainer.history = tuple(archive.header.get("history", ()))
        for name, target in _arrays(trainer):  # views, which the file's numbers go into
            array = archive.read(name)
            if array.shape != target.shape or array.dtype != target.dtype:
                raise WeightsError(f"{path} is damaged: {name} is {array.dtype} {array.shape}")
            target[...] = array
        return trainer, dict(archive.header.get("notes", {}))
