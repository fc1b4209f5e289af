"""Races: a game beside a rival's with the same tiles. What the screens show of it, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from py2048.board import Board
from py2048.errors import RecordError
from py2048.folders import expanded
from py2048.game import Position, Record
from py2048.game.importing import load_record
from py2048.players import make_player
from py2048.rules import Rules
from py2048.session import (
    PlayingRival,
    RecordedRival,
    Rival,
    Session,
    hint_player,
)
from py2048.ui.shared.words import counted

BEST, EXPERT = "best", "expert"
"""The rivals that are no file: a person's best game, and the player that gives hints."""

PLIES = 100
"""There is a split at every so many plies."""
LEAST_TILE = 16
"""There is a split at each new largest tile from this one on."""


def find_rival(
    session: Session,
    who: str,
    rules: Rules,
    player: str = "",
    *,
    load: Callable[[Path], Record] = load_record,
) -> Rival:
    """Return the rival that a person names.

    Args:
        session: where the person's games are.
        who: `BEST`, `EXPERT`, or the name of a file with a game.
        rules: the rules, unless a file has its own.
        player: the expert's spec; by default that of the player that gives hints.
        load: returns the game in a file; a screen's is `load_record_file`, which never waits.

    Raises:
        StorageError: if no game is finished yet.
        RecordError: if there is no such file, or no game in it.
        PlayerError: if there is no such player.
    """
    if who == BEST:
        return RecordedRival(session.best_record(rules), "your best game")
    if who == EXPERT:
        spec = player or hint_player(rules)
        return PlayingRival(rules, make_player(spec), spec)
    try:
        return RecordedRival(load(expanded(who)))
    except RecordError as error:
        if not expanded(who).exists():
            raise RecordError(f"{who!r} is neither {BEST}, {EXPERT} nor a file") from None
        raise error from None


class Mark(NamedTuple):
    """Where a game was at a split.

    Attributes:
        ply: the moves until then.
        score: the score, in points.
        elapsed_ms: the time until then in milliseconds; `None` if it was not kept.
    """

    ply: int
    score: int
    elapsed_ms: int | None

    def __str__(self) -> str:
        return " ".join(filter(None, (clock_text(self.elapsed_ms), f"{self.score:,}")))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


@dataclass(frozen=True, slots=True)
class Split:
    """A point that both games pass: a new largest tile, or a number of moves.

    Attributes:
        tile: the tile; 0 for a number of moves.
        ply: the number of moves; 0 for a tile.
        mine: where the person's game was; `None` before it.
        theirs: where the rival's was.
    """

    tile: int
    ply: int
    mine: Mark | None
    theirs: Mark | None

    @property
    def label(self) -> str:
        """What it is called: ``64`` or ``move 100``."""
        return f"{self.tile:,}" if self.tile else f"move {self.ply:,}"

    @property
    def ahead(self) -> str:
        """By how much the person was ahead (+) or behind; empty unless both have passed."""
        if self.mine is None or self.theirs is None:
            return ""
        moves = self.theirs.ply - self.mine.ply
        score = self.mine.score - self.theirs.score
        ahead = f"{score:+,}" if self.ply else f"{'+' * (moves >= 0)}{counted(moves, 'move')}"
        if self.mine.elapsed_ms is None or self.theirs.elapsed_ms is None:
            return ahead
        return f"{ahead}, {(self.theirs.elapsed_ms - self.mine.elapsed_ms) / 1000:+.0f} s"

    def __str__(self) -> str:
        assert self.mine is not None  # it is told when it is passed
        when = f"{self.label} at move {self.mine.ply:,}" if self.tile else self.label
        text = f"{when}, {self.mine}"
        return f"{text}: {self.ahead} against {self.theirs}" if self.ahead else text


@dataclass(frozen=True, slots=True)
class RaceView:
    """A race as the screens show it.

    Attributes:
        name: the rival.
        board: its board after as many moves as the person has made, or its last one.
        score: its score there.
        ply: its moves there.
        note: why it is not at the same move: it thinks, is over, or has failed; or empty.
        lead: the person's score less the rival's at the same move.
        splits: those that the person has passed, then those that only the rival has, up to the
            next one.
    """

    name: str
    board: Board
    score: int
    ply: int
    note: str
    lead: int
    splits: tuple[Split, ...]

    @property
    def standing(self) -> str:
        """Who is ahead, in words."""
        if not self.lead:
            return "Level"
        return f"You are {abs(self.lead):,} {'ahead' if self.lead > 0 else 'behind'}"

    @property
    def lines(self) -> tuple[str, str]:
        """The rival's score and who is ahead, a line each."""
        note = self.note and f", {self.note}"
        return f"{self.score:,} after {counted(self.ply, 'move')}{note}", f"{self.standing}."


class _Track:
    """The marks of one game, as far as it has come."""

    def __init__(self) -> None:
        self.marks: dict[tuple[int, int], Mark] = {}
        self._largest: list[int] = []

    def __len__(self) -> int:
        return len(self._largest)

    def cut(self, length: int) -> None:
        """Forget what came after the first `length` positions."""
        del self._largest[length:]
        self.marks = {key: mark for key, mark in self.marks.items() if mark.ply < length}

    def extend(
        self, positions: Iterable[Position], elapsed_ms: Callable[[int], int | None]
    ) -> None:
        """Add positions that follow."""
        for position in positions:
            ply, tile = len(self._largest), position.board.max_tile
            mark = Mark(ply, position.score, elapsed_ms(ply))
            if ply and tile >= LEAST_TILE and tile > self._largest[-1]:
                self.marks[tile, 0] = mark
            if ply and not ply % PLIES:
                self.marks[0, ply] = mark
            self._largest.append(max(tile, self._largest[-1] if ply else 0))


class Race:
    """The race of a session's game against its rival.

    Args:
        session: where the game is.
        rival: the rival.
        clock: seconds, for the person's time.
    """

    def __init__(
        self, session: Session, rival: Rival, clock: Callable[[], float] = monotonic
    ) -> None:
        self._session, self._rival, self._clock = session, rival, clock
        self._mine, self._theirs = _Track(), _Track()
        self._since = clock()
        positions, self._elapsed = _played(session)
        self._mine.extend(positions, lambda ply: self._elapsed[ply])

    def moved(self) -> Split | None:
        """Note the person's move; return the split that it has passed, if any."""
        game, now = self._session.game, self._clock()
        if game.ply == len(self._mine):
            self._elapsed.append(self._elapsed[-1] + round(1000 * (now - self._since)))
            position = Position(game.board, game.score, game.ply)
            self._mine.extend([position], lambda ply: self._elapsed[ply])
        self._since = now
        passed = [split for split in self.view.splits if split.mine and split.mine.ply == game.ply]
        return passed[-1] if passed else None

    def undone(self) -> None:
        """Note that moves were taken back; their time counts all the same."""
        length = self._session.game.ply + 1
        last = self._elapsed[-1]
        del self._elapsed[length:]
        self._elapsed[-1] = last
        self._mine.cut(length)

    @property
    def is_behind(self) -> bool:
        """Whether the rival still has to come to the person's move."""
        ply = self._session.game.ply
        return len(self._rival.positions(ply)) <= ply and not self._rival.is_over

    @property
    def view(self) -> RaceView:
        """The race as it is now."""
        game, rival = self._session.game, self._rival
        positions = rival.positions(game.ply + PLIES)
        self._theirs.extend(positions[len(self._theirs) :], rival.elapsed_ms)
        at = positions[min(game.ply, len(positions) - 1)]
        return RaceView(
            rival.name,
            at.board,
            at.score,
            at.ply,
            self._note(at),
            game.score - at.score,
            tuple(self._splits()),
        )

    def _note(self, at: Position) -> str:
        if at.ply >= self._session.game.ply and not self._rival.fault:
            return ""
        return self._rival.fault or ("where it ended" if self._rival.is_over else "thinking …")

    def _splits(self) -> Iterable[Split]:
        mine, theirs = self._mine.marks, self._theirs.marks
        for key in mine:
            yield Split(*key, mine[key], theirs.get(key))
        for key, mark in theirs.items():
            if key not in mine:
                yield Split(*key, None, mark)
                if mark.ply >= len(self._mine):
                    return


def _played(session: Session) -> tuple[list[Position], list[int]]:
    """Return the positions of a session's game and the time until each, in milliseconds."""
    start, *others = session.game.positions()
    positions, elapsed = [start], [0]
    for position, time in zip(others, session.record().times, strict=True):
        if position.ply == len(positions):
            positions.append(position)
            elapsed.append(elapsed[-1] + time)
        else:  # an illegal move that costs points
            positions[-1] = position
            elapsed[-1] += time
    return positions, elapsed


def clock_text(elapsed_ms: int | None) -> str:
    """Return a time as people read clocks: ``1:02``; an empty text for none."""
    if elapsed_ms is None:
        return ""
    minutes, seconds = divmod(elapsed_ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
