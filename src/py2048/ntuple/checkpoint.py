"""Checkpoints: a training on disk, from which it goes on as if it had never stopped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from py2048.errors import WeightsError
from py2048.ntuple._td_kernels import SCORES
from py2048.ntuple.archive import Archive, open_archive, write_archive
from py2048.ntuple.plan import plan_from
from py2048.ntuple.trainer import Trainer

KIND = "py2048-training"
COLUMNS = ("weights", "errors", "sizes")
KEPT = ("boards", "starts", "started", "progress", "scores", "tiles")
"""What of each learner outlives the end of a game."""
COUNTS = {"progress": 2, "scores": SCORES, "tiles": 64}
"""How many numbers of it can be added up: games and moves, and results."""


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
        "changes": [dict(entry) for entry in trainer.changes],
        "notes": notes or {},
    }
    write_archive(path, KIND, header, _arrays(trainer, trainer.plan.threads))


def load_checkpoint(
    path: Path, changes: Mapping[str, Any] | None = None
) -> tuple[Trainer, dict[str, Any]]:
    """Return the training that a checkpoint holds, and the notes with it.

    Args:
        path: the file.
        changes: other values for the plan, as in `Plan.changed`. A thread that is new begins with
            a seed of its own; what those that are no more had played counts for the first.

    Raises:
        WeightsError: if the file is missing, damaged or of another version, or a change is not
            possible.
    """
    with open_archive(path, KIND) as archive:
        plan = archive.header.get("plan")
        if not isinstance(plan, dict):
            raise WeightsError(f"{path} is damaged: it has no plan")
        before = plan_from(plan)
        trainer = Trainer(before.changed(changes or {}))
        trainer.history = tuple(archive.header.get("history", ()))
        trainer.changes = tuple(archive.header.get("changes", ()))
        for name, target in _arrays(trainer, min(before.threads, trainer.plan.threads)):
            target[...] = _read(archive, path, name, target)  # into the trainer's own arrays
        for number in range(trainer.plan.threads, before.threads):
            for name, count in COUNTS.items():
                total = getattr(trainer.learners[0], name)
                total[:count] += _read(archive, path, f"learner{number}/{name}", total)[:count]
        trainer.note_changes(before)
        return trainer, dict(archive.header.get("notes", {}))


def _read(archive: Archive, path: Path, name: str, target: NDArray[Any]) -> NDArray[Any]:
    array = archive.read(name)
    if array.shape != target.shape or array.dtype != target.dtype:
        raise WeightsError(f"{path} is damaged: {name} is {array.dtype} {array.shape}")
    return array


def _arrays(trainer: Trainer, threads: int) -> Iterator[tuple[str, NDArray[Any]]]:
    for number, name in enumerate(COLUMNS[: trainer.stride]):
        yield name, trainer.records[:, number]
    for number, learner in enumerate(trainer.learners[:threads]):
        for name in KEPT:
            yield f"learner{number}/{name}", getattr(learner, name)
