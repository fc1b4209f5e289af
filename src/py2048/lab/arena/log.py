"""The log file and the records of a tournament.

The first line of the log contains the rules and the seed, and each later line contains a finished
game. All lines are JSON. An interrupted tournament continues with the games that are missing from
its log. An incomplete last line is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path

import msgspec

from py2048.core.errors import TournamentError, os_errors_as
from py2048.core.game.record import write_atomically
from py2048.lab.arena.external import any_player
from py2048.lab.arena.jobs import COLUMNS, GameResult, warm_up
from py2048.lab.arena.pools import local_pool
from py2048.lab.arena.ray_cluster import RayCluster
from py2048.lab.arena.tournament import Results, Tournament, run_tournament

FORMAT = "py2048 arena log"
VERSION = 1

_UNSAFE = re.compile(r"[^\w.=-]+")


class GameLog:
    """A log file, to which each finished game is appended.

    Args:
        path: The file. An existing file must belong to a tournament with the same rules and seed.
        tournament: The tournament. The players and the number of games may differ from those in the
            existing file.
        to_add: Whether to open the file for appending.

    Raises:
        TournamentError: If the file is damaged, belongs to another tournament, or cannot be
            written.
    """

    def __init__(self, path: Path, tournament: Tournament, *, to_add: bool = True) -> None:
        self._path = path
        rules, seed = str(tournament.rules), tournament.public_seed
        head = {"format": FORMAT, "version": VERSION, "rules": rules, "seed": seed}
        with os_errors_as(TournamentError, f"cannot read {path}"):
            data = path.read_bytes() if path.exists() else b""
        whole, new = data[: data.rfind(b"\n") + 1], json.dumps(head).encode()
        # If the file is not a log, leave it unchanged.
        first, *lines = whole.splitlines() or [new if new.startswith(data) else data]
        self._check_head(first, head)
        self.played = [self._game(number, line) for number, line in enumerate(lines, 2)]
        if not to_add:
            return
        with self._writing():
            self._file = path.open("a", encoding="utf-8")
            self._file.truncate(len(whole))
        if not whole:
            self._write(head)

    def add(self, played: GameResult) -> None:
        """Append a game and flush the file."""
        self._write({name: getattr(played, name) for name in COLUMNS})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check_head(self, line: bytes, wanted: Mapping[str, object]) -> None:
        try:
            head = msgspec.json.decode(line, type=dict)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            head = {}
        if head.get("format") != FORMAT:
            raise TournamentError(f"{self._path} is not a tournament log: choose another file")
        for name, value in wanted.items():
            if head.get(name) != value:
                raise TournamentError(
                    f"{self._path} belongs to a tournament with {name} {head.get(name)!r}, "
                    f"not {value!r}: choose another file"
                )

    def _game(self, number: int, line: bytes) -> GameResult:
        try:
            return msgspec.json.decode(line, type=GameResult)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise TournamentError(f"{self._path}: line {number} is not a game: {error}") from None

    def _writing(self) -> AbstractContextManager[None]:
        return os_errors_as(TournamentError, f"cannot write {self._path}")

    def _write(self, data: Mapping[str, object]) -> None:
        with self._writing():
            self._file.write(json.dumps(data) + "\n")
            self._file.flush()


class RecordFolder:
    """A folder that contains one record per game, such as ``1-greedy/000000.2048.json``.

    A game gives the same record on every machine, byte for byte. ``py2048 verify`` can check the
    records.

    Args:
        path: The folder.
        tournament: The tournament.
    """

    def __init__(self, path: Path, tournament: Tournament) -> None:
        self._path = path
        self._folders = {
            spec: path / f"{number}-{_UNSAFE.sub('_', spec)}"
            for number, spec in enumerate(tournament.players, 1)
        }

    def make(self) -> None:
        """Create the folder. Its parent folder must exist.

        Raises:
            TournamentError: If the folder cannot be created.
        """
        for folder in [self._path, *self._folders.values()]:
            with os_errors_as(TournamentError, f"cannot make the folder {folder}"):
                folder.mkdir(exist_ok=True)

    def path_of(self, played: GameResult) -> Path:
        """Return the file of a game."""
        return self._folders[played.player] / f"{played.game:06}.2048.json"

    def has(self, played: GameResult) -> bool:
        """Return whether the record of a game exists."""
        return played.player in self._folders and self.path_of(played).exists()

    def save(self, played: GameResult) -> None:
        """Write the record of a game.

        Raises:
            TournamentError: If the record cannot be written.
        """
        assert played.record is not None, "the tournament is recorded"
        path = self.path_of(played)
        with os_errors_as(TournamentError, f"cannot write {path}"):
            write_atomically(path, played.record.encode())


def play_and_save(
    tournament: Tournament,
    jobs: int | None,
    log_path: Path | None,
    records: Path | None,
    tell: Callable[[str], None],
    cluster: str | None = None,
) -> Results:
    """Play a tournament to its end or until Ctrl-C, and save each game when it ends.

    Args:
        tournament: The tournament.
        jobs: Number of processes. Defaults to one per processor.
        log_path: Log file, if games are logged.
        records: Folder for records, if games are recorded.
        tell: Called with lines of progress.
        cluster: Address of a Ray cluster that plays the games instead of this machine.

    Raises:
        PlayerError: If a spec describes no player, or a player fails.
    """
    for spec in tournament.players:
        any_player(spec)
    results = Results(tournament)
    with ExitStack() as stack:
        if folder := RecordFolder(records, tournament) if records else None:
            folder.make()
        log = stack.enter_context(closing(GameLog(log_path, tournament))) if log_path else None
        for game in log.played if log else ():
            if folder is None or folder.has(game):
                results.add(game)

        def save(game: GameResult) -> None:
            if folder:  # every game in the log must have a record
                folder.save(game)
            if log:
                log.add(game)

        with suppress(KeyboardInterrupt):  # If interrupted, return incomplete results.
            for spec in () if cluster else tournament.players:  # Compile once, not in each process.
                warm_up(spec, tournament.rules, recorded=tournament.recorded)
            workers = RayCluster(cluster) if cluster else local_pool(jobs)
            pool = stack.enter_context(closing(workers))
            tell(f"{results.total - results.count:,} games {pool.place}")
            for _ in run_tournament(results, pool, save=save):
                tell(_news(results))
    return results


def _news(results: Results) -> str:
    found = {spec: results.so_far(spec) for spec in results.tournament.players}
    means = [f"{spec} mean {mean:,.0f}" for spec, (count, mean) in found.items() if count]
    return f"{results.count:,} of {results.total:,}: {'; '.join(means)}"
