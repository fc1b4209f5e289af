"""The records of a contest: a folder for each player, a file for each game."""

from __future__ import annotations

import re
from pathlib import Path

from py2048.arena.contest import Contest
from py2048.arena.jobs import Played
from py2048.errors import ContestError
from py2048.game.record import write_atomically

_UNSAFE = re.compile(r"[^\w.=-]+")


class RecordFolder:
    """Where the games of a contest are written down: ``1-greedy/000000.2048.json`` and on.

    A game's file is the same to the byte whoever played it, and ``py2048 verify`` checks it.

    Args:
        path: the folder; it is made if its parent exists.
        contest: the contest.

    Raises:
        ContestError: if a folder cannot be made.
    """

    def __init__(self, path: Path, contest: Contest) -> None:
        self._folders = {
            spec: path / f"{number}-{_UNSAFE.sub('_', spec)}"
            for number, spec in enumerate(contest.players, 1)
        }
        for folder in [path, *self._folders.values()]:
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                reason = error.strerror or error
                raise ContestError(f"cannot make the folder {folder}: {reason}") from None

    def path_of(self, played: Played) -> Path:
        """Return the file of a game."""
        return self._folders[played.player] / f"{played.game:06}.2048.json"

    def has(self, played: Played) -> bool:
        """Return whether a game of the contest is written down."""
        return played.player in self._folders and self.path_of(played).exists()

    def save(self, played: Played) -> None:
        """Write a game down.

        Raises:
            ContestError: if that is not possible.
        """
        assert played.record is not None, "the contest was to be recorded"
        path = self.path_of(played)
        try:
            write_atomically(path, played.record.encode())
        except OSError as error:
            raise ContestError(f"cannot write {path}: {error.strerror or error}") from None
