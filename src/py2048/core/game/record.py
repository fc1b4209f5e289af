"""`Record`: a saved game that anyone can replay and verify.

Record files are JSON with one field per line; ``docs/reference/record-format.md`` describes the
format. A record stores every spawn, so a replay does not depend on the generator. Reading is
strict: a file is rejected if a single byte differs from the file that py2048 would write.

Turns are stored as text in the notation of `py2048.core.game.turn`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeGuard

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.errors import Py2048Error, RecordError, os_errors_as, shown
from py2048.core.game.turn import (
    Outcome,
    Step,
    Turn,
    decode_steps,
    draw_spawn,
    draw_start,
    outcome_of,
    score_after,
    spawn_error,
)
from py2048.core.rules import MovePoints, Rules

Replayed = tuple[Board, Turn, int]
"""``(board, turn, score)``; the board and the score are those after the turn."""


@dataclass(frozen=True)
class Record:
    """A saved game.

    Attributes:
        rules: The rules of the game.
        start: The board before the first turn.
        turns: The turns, in the notation of `py2048.core.game.turn`.
        score: The final score as recorded; `verify` recomputes it.
        seed: The generator's seed, or None if the seed does not determine all spawns.
        player: Name of the player.
        started: Start time as ISO 8601 in UTC, or an empty string.
        finished: Time of the last turn, in the same format as `started`.
        undos: Number of turns that were undone.
        hints: Number of hints shown.
        times: Thinking time of each turn in milliseconds, or empty if not recorded.
    """

    rules: Rules
    start: Board
    turns: str
    score: int
    seed: int | None = None
    player: str = ""
    started: str = ""
    finished: str = ""
    undos: int = 0
    hints: int = 0
    times: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, kind in (("rules", Rules), ("start", Board), ("times", tuple)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise RecordError(f"{name} must be of type {kind.__name__}, not {shown(value)}")
        _check(self._plain())

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read a record from a file.

        Raises:
            RecordError: If the file cannot be read, is not a record, or differs from what `save`
                would write; the message names the file and the reason.
        """
        source = _path_of(path)
        with os_errors_as(RecordError, f"cannot read {path}"), source.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        try:
            if len(data) > MAX_BYTES:
                raise RecordError(f"this is not a record: it has more than {MAX_BYTES:,} bytes")
            return cls.from_json(data.decode())
        except UnicodeDecodeError:
            raise RecordError(f"{path}: this is not a record: it is not UTF-8 text") from None
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Parse the text of a record file, as strictly as `load`."""
        data = _parse(text)
        try:
            rules, start = Rules.parse(data["rules"]), Board.from_rows(data["start"])
        except Py2048Error as error:
            raise RecordError(str(error)) from None
        if start.shape != rules.shape:
            raise RecordError(
                f"the start has shape {start.shape}, but the rules have {rules.shape}"
            )
        values = data | {"rules": rules, "start": start, "times": tuple(data["times"])}
        record = cls(**values)
        if record.to_json() != text:
            raise RecordError("the record was changed after it was written: its layout differs")
        return record

    def save(self, path: str | Path) -> None:
        """Write the record to a file, atomically replacing an existing record.

        Raises:
            RecordError: If the file cannot be written, or an existing file at this path is not a
                record. The existing file then stays unchanged.
        """
        target, text = _path_of(path), self.to_json()
        with os_errors_as(RecordError, f"cannot write {path}"):
            if target.is_file():
                with target.open("rb") as file:
                    if (head := file.read(200)) and f'"{FORMAT}"'.encode() not in head:
                        reason = "the file exists and is not a record: choose another name"
                        raise OSError(errno.EEXIST, reason, str(path))
            write_atomically(target, text.encode())

    def to_json(self) -> str:
        """Return the text of the record file."""
        values = self._plain()
        data: dict[str, object] = {"format": FORMAT, "version": VERSION}
        data |= {name: values[name] for name in _CHECKS}
        return _lines(data | {"checksum": _checksum(data)})

    def __getstate__(self) -> dict[str, object]:
        """Exclude the cached replay from pickles and copies."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _plain(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        start = [list(row) for row in self.start.rows]
        return values | {"rules": str(self.rules), "start": start, "times": list(self.times)}

    @property
    def steps(self) -> Iterator[Step]:
        """The direction and spawn of each turn, not yet verified."""
        return decode_steps(self.turns, self.rules.shape)

    @property
    def plies(self) -> int:
        """Number of legal turns."""
        return sum(spawn is not None for _, spawn in self.steps)

    @cached_property
    def replayed(self) -> tuple[Replayed, ...]:
        """The items that `replay` yields (cached).

        Raises:
            RecordError: If a turn breaks the rules.
        """
        return tuple(self.replay())

    def replay(self) -> Iterator[Replayed]:
        """Yield ``(board, turn, score)`` after each turn, and verify the turn against the rules.

        Raises:
            RecordError: If a turn breaks the rules; the message names the turn's ply.
        """
        if "replayed" in vars(self):
            yield from self.replayed
            return
        board, score, ply, over = self.start, 0, 0, False
        for direction, spawn in self.steps:
            slide = board.slide(direction, self.rules.merging)
            turn = Turn(direction, slide, spawn)
            error = "the game was over" if over else self._rule_error(turn)
            if error:
                raise RecordError(f"ply {ply + 1} ({direction}): {error}")
            board = turn.board
            score = score_after(self.rules, score, turn, board)
            ply += turn.legal
            over = self.rules.ends_at_target and outcome_of(self.rules, board) is Outcome.WON
            yield board, turn, score

    def verify(self) -> None:
        """Verify that every move is legal, every spawn is possible and the score is correct.

        If the record has a seed, every spawn must also equal the tile that the generator draws for
        the seed. Dates must be valid or empty. There may be at most one thinking time per turn. The
        player's name must not contain control characters.

        Raises:
            RecordError: If the record is not valid; the message names the ply and the reason of the
                first error.
        """
        self._check_metadata()
        score, unseeded = self._check_turns()
        if score != self.score:
            raise RecordError(f"the record claims a score of {self.score}; its turns give {score}")
        if self.seed is not None and unseeded:
            raise RecordError(f"ply {unseeded}: the spawn is not the draw of seed {self.seed}")

    def _check_metadata(self) -> None:
        if self.player != plain_name(self.player):
            raise RecordError(f"player is {shown(self.player)}: a name has no control characters")
        for name, text in (("started", self.started), ("finished", self.finished)):
            if text and not _is_time(text):
                raise RecordError(
                    f"{name} is {shown(text)}, but must be a time such as 2026-11-23T12:00:00Z"
                )
        if self.times and len(self.times) > (turns := sum(1 for _ in self.steps)):
            raise RecordError(f"the record has {len(self.times)} thinking times for {turns} turns")

    def follows_seed(self) -> bool:
        """Return whether the record's seed produces all of its spawns."""
        return self.seed is not None and self._check_turns()[1] is None

    def _check_turns(self) -> tuple[int, int | None]:
        """Return the final score, and the ply of the first spawn that does not match the seed.

        The ply is None if all spawns match the seed.
        """
        key = rng.key_of(self.seed or 0)
        score, ply, unseeded = 0, 0, None
        for _, turn, reached in self.replayed:
            score = reached
            if turn.spawn is None:
                continue
            word = rng.draw(key, ply)
            ply += 1
            drawn = draw_spawn(self.rules, turn.slide.board, turn.direction, word)
            if turn.spawn != drawn and unseeded is None:
                unseeded = ply
        return score, unseeded

    def has_seeded_start(self) -> bool:
        """Return whether the record's seed produces its start position."""
        return self.seed is not None and self.start == draw_start(self.rules, rng.key_of(self.seed))

    def _rule_error(self, turn: Turn) -> str | None:
        if turn.spawn is None:
            if not isinstance(self.rules.scoring, MovePoints):
                return "an illegal attempt does not count under these rules"
            return "a legal move is written as an illegal attempt" if turn.slide.changed else None
        if not turn.slide.changed:
            return "the move changes nothing"
        return spawn_error(self.rules, turn.slide.board, turn.direction, turn.spawn)


def plain_name(name: str) -> str:
    """Remove control characters from a name, because they could change a terminal's state."""
    return "".join(c for c in name if not (c < " " or "\x7f" <= c < "\xa0"))


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def utc(moment: float) -> str:
    """Format seconds since the epoch as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


# --- record files ---------------------------------------------------------------------------------

FORMAT = "py2048 record"
VERSION = 1
MAX_BYTES = 1 << 26
"""Maximum size of a record file in bytes; a million turns take about six million bytes."""


def _parse(text: str) -> dict[str, Any]:
    """Parse a record file into field values, and check their types.

    Raises:
        RecordError: If the text is not a record, is damaged, has a newer version, or has wrong
            fields.
    """
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"this is not a record: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f'this is not a record: "format" must be "{FORMAT}"')
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise RecordError(f"version {shown(version)} is not a version of the record format")
    if version > VERSION:
        raise RecordError(
            f"the record has version {version}, this py2048 reads up to {VERSION}: update py2048"
        )
    claimed = data.pop("checksum", None)
    if claimed != _checksum(data):
        raise RecordError("the record was changed after it was written: its checksum is wrong")
    values = {key: data[key] for key in data.keys() - {"format", "version"}}
    _check(values)
    return values


def _check(values: Mapping[str, object]) -> None:
    """Check the names and types of a record's fields.

    Raises:
        RecordError: If a field is missing, unknown or of the wrong type.
    """
    unknown = values.keys() - _CHECKS.keys()
    missing = _CHECKS.keys() - values.keys()
    if unknown or missing:
        what, names = ("unknown", unknown) if unknown else ("missing", missing)
        raise RecordError(f"{what} fields: {', '.join(sorted(names))}")
    for name, (is_valid, meaning) in _CHECKS.items():
        if not is_valid(values[name]):
            raise RecordError(f"{name} is {shown(values[name])}, but must be {meaning}")


def _path_of(path: str | Path) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise RecordError(f"{shown(path)} is not the name of a file") from None


def check_replaceable(path: Path) -> None:
    """Check that `path` is a regular file or does not exist.

    Raises:
        OSError: If `path` is a device, a pipe or a folder.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it exists and is not a regular file", str(path))


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` once it is complete and on disk.

    If the ``with`` block raises an exception, the file at `path` stays unchanged.

    Args:
        path: The file to replace.
        mode: Permissions of the finished file; the temporary file is private.

    Raises:
        OSError: If the file cannot be written.
    """
    check_replaceable(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_atomically(path: Path, data: bytes) -> None:
    """Atomically replace the file at `path`; an OSError leaves the old file in place."""
    with replacing(path) as file:
        file.write(data)


def _lines(data: Mapping[str, object]) -> str:
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _checksum(data: Mapping[str, object]) -> str:
    return "sha256:" + hashlib.sha256(_lines(data).encode()).hexdigest()


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def _is_counts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


_TEXT = (lambda value: isinstance(value, str), "a text")
_COUNT = (_is_count, "a whole number from 0")
_CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "rules": _TEXT,
    "player": _TEXT,
    "started": _TEXT,
    "finished": _TEXT,
    "seed": (lambda value: value is None or (_is_count(value) and value < 2**64), "a seed or null"),
    "start": (
        lambda value: isinstance(value, list) and all(map(_is_counts, value)),
        "rows of whole numbers",
    ),
    "turns": _TEXT,
    "score": (lambda value: type(value) is int, "a whole number"),
    "undos": _COUNT,
    "hints": _COUNT,
    "times": (_is_counts, "a list of milliseconds"),
}
