"""Result types of the store: frozen values, independent of the database."""

from __future__ import annotations

import secrets
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar

from py2048.core.errors import StorageError

_LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", " ": "", ".": "", "-": "", "_": ""})


_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def utc_now() -> str:
    """Return the current time in the format of `utc_text`."""
    return datetime.now(UTC).strftime(_TIME_FORMAT)


def utc_text(moment: datetime) -> str:
    """Format a UTC time as fixed-width ISO 8601, which sorts chronologically as text."""
    return moment.strftime(_TIME_FORMAT)


def name_key(name: str) -> str:
    """Normalise a name: spellings that differ in case, width or spaces share a key."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def lookalike_key(name: str) -> str:
    """Return a key shared by names that look alike, such as *Al* and *A.1*.

    New names are ASCII. Names of older accounts may contain other letters, which are compared
    unchanged.
    """
    return name_key(name).translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


@dataclass(frozen=True, kw_only=True)
class SavedGame:
    """A game in progress, in the state of the last saved change. By default it has no turns yet.

    Attributes:
        id: Id of the game and later of its record.
        owner: Owner of the game.
        rules: Rules as text.
        seed: Seed of the generator, an integer of any size, or None.
        start: Start board as text, opaque to the store.
        player: Player name.
        started: Start time, ISO 8601 in UTC.
        updated: Time of the last change, ISO 8601 in UTC.
        turns: One opaque code per turn, including undone turns at the end.
        position: Number of `turns` that are not undone.
        score: Score at `position`.
        is_over: Whether the game is over at `position`.
        revision: Incremented by every change; a write must name the current revision.
        undos: Number of undos.
        hints: Number of hints.
        extra: Additional data of the caller, opaque to the store.
        millis: Thinking time of each turn in milliseconds, or None if it was not measured.
    """

    id: str = field(default_factory=lambda: secrets.token_hex(8))
    owner: str
    rules: str
    seed: int | None
    start: str
    player: str
    started: str = field(default_factory=utc_now)
    updated: str = field(default_factory=utc_now)
    turns: tuple[str, ...] = ()
    position: int = 0
    score: int = 0
    is_over: bool = False
    revision: int = 0
    undos: int = 0
    hints: int = 0
    extra: Mapping[str, object] = field(default_factory=dict)
    millis: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class RecordSummary:
    """A finished game without its turns; `Records.load` returns the record.

    Attributes:
        id: Id of the record.
        owner: Owner of the game.
        rules: Rules as text.
        player: Player name.
        category: ``"plain"``, ``"assisted"``, ``"computer"`` or another score category.
        started: Start time, ISO 8601 in UTC.
        finished: End time, ISO 8601 in UTC.
        score: Final score.
        max_tile: Largest tile of the final board.
        plies: Number of turns.
        outcome: How the game ended, such as ``"won"`` or ``"lost"``.
        think_ms: Total thinking time of a program on a leaderboard, otherwise None.
    """

    id: str
    owner: str
    rules: str
    player: str
    category: str
    started: str
    finished: str
    score: int
    max_tile: int
    plies: int
    outcome: str
    think_ms: int | None = None
    is_over: ClassVar = True


@dataclass(frozen=True)
class Career:
    """The summary of a player's finished games under one set of rules.

    Attributes:
        scores: Number of games by score. If there are more games than `recent` can hold, scores are
            rounded down, by less than a sixteenth.
        tiles: Number of games by largest tile.
        recent: The last games, oldest first.
    """

    scores: Counter[int] = field(default_factory=Counter)
    tiles: Counter[int] = field(default_factory=Counter)
    recent: list[RecordSummary] = field(default_factory=list)

    def scores_today(self, now: datetime) -> list[int]:
        """Return the scores of today's games, or nothing if `recent` does not hold them all."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
        found = [end.score for end in self.recent if end.finished >= utc_text(midnight)]
        return [] if len(found) == len(self.recent) < self.scores.total() else found


@dataclass(frozen=True)
class GameChange:
    """Changes to a game between two revisions: turns, undos and redos.

    Attributes:
        id: Id of the game.
        seen: Revision before the changes.
        revision: Revision after the changes.
        length: Number of turns, including undone ones.
        position: Number of turns that are not undone.
        score: Score at `position`.
        is_over: Whether the game is over at `position`.
        undos: Number of undos.
        hints: Number of hints.
        extra: Additional data of the caller.
        turns: New turns as ``(ply, code, millis)``. If a ply occurs twice, the last turn counts.
    """

    id: str
    seen: int
    revision: int
    length: int
    position: int
    score: int
    is_over: bool
    undos: int
    hints: int
    extra: Mapping[str, object]
    turns: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class NewOnlineGame:
    """A new game on a server, not yet in the store.

    Attributes:
        game: The game, at revision 0 and without turns.
        info: Server data of the game.
    """

    game: SavedGame
    info: OnlineGameInfo

    @property
    def id(self) -> str:
        """Id of the game."""
        return self.game.id


class AccountError(StorageError):
    """A request about an account cannot be granted, for example because the name is taken."""


@dataclass(frozen=True)
class Account:
    """A player's account on a server.

    Attributes:
        id: Id of the account, which owns its games.
        name: Public name, None for a guest.
        password: Password hash, None for a guest.
        generation: Incremented when a guest logs out; if positive, none of the guest's cookies is
            valid.
        created: Creation time, ISO 8601 in UTC.
        bot_of: For a program, the account of the person responsible.
    """

    id: str
    name: str | None
    password: str | None
    generation: int
    created: str
    bot_of: str | None = None


@dataclass(frozen=True)
class LoginSession:
    """A login in one browser.

    Attributes:
        id: SHA-256 of the session token.
        label: Description of the browser, such as ``Firefox on Linux``.
        created: Login time, ISO 8601 in UTC.
        seen: Last recorded use, ISO 8601 in UTC.
    """

    id: str
    label: str
    created: str
    seen: str


@dataclass(frozen=True)
class OnlineGameInfo:
    """Server data of a game.

    Attributes:
        game_id: Id of the game, in progress or finished.
        owner: Account that plays the game.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: Date of a daily game, such as ``2048-01-31``.
        secret: Hexadecimal secret from which tiles are derived; empty if the game has a seed.
        name: Name of the account, None for a guest.
        streak: Days in a row up to this finished daily game, None for other games.
        offline: Whether a browser chose some of the tiles; known once the game is finished.
    """

    game_id: str
    owner: str
    mode: str
    day: str | None
    secret: str
    name: str | None = None
    streak: int | None = None
    offline: bool | None = None


@dataclass(frozen=True)
class DailyResult:
    """An account's daily game, without turns.

    Attributes:
        day: Date, such as ``2048-01-31``.
        game_id: Id of the game.
        category: Score category, None until the game has a record.
        score: Score, None until the game has a record.
        streak: Days in a row up to this one, None unless the game counts.
    """

    day: str
    game_id: str
    category: str | None
    score: int | None
    streak: int | None


@dataclass(frozen=True)
class OpenGame:
    """A game in progress on a server, without turns.

    Attributes:
        id: Id of the game.
        owner: Account that plays the game.
        name: Name of the account, None for a guest.
        rules: Rules as text.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: Date of a daily game.
        score: Current score.
        position: Number of turns that are not undone.
        length: Number of turns, including undone ones.
        revision: Number of changes.
        is_over: Whether the game is over.
        max_tile: Largest tile on the board; 0 before the first turn.
        computer: Whether a computer player made a move.
        from_position: Whether the game started from a position of another game.
        undos: Number of undos.
        hints: Number of hints.
        started: Start time, ISO 8601 in UTC.
        updated: Time of the last change, ISO 8601 in UTC.
    """

    id: str
    owner: str
    name: str | None
    rules: str
    mode: str
    day: str | None
    score: int
    position: int
    length: int
    revision: int
    is_over: bool
    max_tile: int
    computer: bool
    from_position: bool
    undos: int
    hints: int
    started: str
    updated: str

    @classmethod
    def of(cls, row: Any) -> OpenGame:
        """Create the value from a database row."""
        usual = {"max_tile": 0, "computer": False, "from_position": False}
        known = {**usual, **row.extra, **row._mapping}
        return cls(**{field.name: known[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class ScoreSummary:
    """An owner's results under one set of rules in one category.

    Attributes:
        rules: Rules as text.
        category: Score category.
        best: Best score of finished games; 0 if there is none.
        games: Number of finished games.
        mean_score: Mean score of finished games; 0.0 if there are none.
        max_tile: Largest tile of any finished game; 0 if there are none.
        plies: Total number of turns of all finished games.
    """

    rules: str
    category: str
    best: int
    games: int
    mean_score: float
    max_tile: int
    plies: int


@dataclass(frozen=True, kw_only=True)
class SavedMistake:
    """A mistake to practise.

    Attributes:
        rules: Rules as text.
        position: Canonical board, shared by symmetric boards; unique per owner and rules.
        board: Board as text, opaque to the store.
        score: Score before the move.
        game: Digest of the game up to the move.
        played: Direction that was played.
        moves: Value of each legal direction.
        unit: Unit of the values.
        source: Name of the evaluator that produced the values.
        theme: Kind of mistake.
        box: Repetition box; see `py2048.review.mistakes`.
        due: Time of the next repetition, ISO 8601 in UTC.
        tries: Number of attempts.
        successes: Number of successful attempts.
    """

    rules: str
    position: str
    board: str
    score: int
    game: str
    played: str
    moves: Mapping[str, float]
    unit: str
    source: str
    theme: str
    box: int
    due: str
    tries: int = 0
    successes: int = 0


@dataclass(frozen=True)
class ThemeSummary:
    """Statistics about the mistakes with one theme.

    Attributes:
        theme: The theme.
        mistakes: Number of mistakes.
        due: Number of mistakes that are due.
        known: Number of mistakes in the last box.
        tries: Number of attempts.
        successes: Number of successful attempts.
        next_due: Time when the next mistake is due, ISO 8601 in UTC.
    """

    theme: str
    mistakes: int
    due: int
    known: int
    tries: int
    successes: int
    next_due: str


@dataclass(frozen=True)
class PuzzleAnswer:
    """The answers to a puzzle, of which only the first is rated.

    Attributes:
        puzzle: Number of the puzzle.
        is_solved: Whether the first answer was correct.
        rating: The player's rating after the last answer.
        deviation: Uncertainty of the rating.
        answered: Time of the last answer, ISO 8601 in UTC.
    """

    puzzle: int
    is_solved: bool
    rating: float
    deviation: float
    answered: str = field(default_factory=utc_now)


@dataclass(frozen=True)
class BattlePlayer:
    """A participant of a battle.

    Attributes:
        seat: Seat number in order of joining, from 1.
        account: The account, None if it was deleted.
        name: Name of the account, None for a guest.
        game_id: Id of the game, None until the battle starts.
        has_left: Whether the player left after the battle had started.
        score: Final score, None until the battle ends or the player leaves.
        max_tile: Largest tile when the score became final.
        plies: Number of moves when the score became final.
    """

    seat: int
    account: str | None
    name: str | None
    game_id: str | None
    has_left: bool
    score: int | None
    max_tile: int | None
    plies: int | None


@dataclass(frozen=True)
class Battle:
    """A timed contest: each player plays a separate game, with tiles from a shared secret.

    Attributes:
        id: Id of the battle.
        rules: Rules as text.
        minutes: Duration in minutes.
        secret: Secret from which the tiles of all games are derived.
        created: Creation time, ISO 8601 in UTC.
        starts: Start time, None until the battle starts.
        ends: End time, None until the battle starts.
        is_settled: Whether the scores are final.
        rematch: Id of the rematch, if any.
        players: Participants, ordered by seat.
    """

    id: str
    rules: str
    minutes: int
    secret: str = field(repr=False)
    created: str
    starts: str | None
    ends: str | None
    is_settled: bool
    rematch: str | None
    players: tuple[BattlePlayer, ...]

    def seat_of(self, account: str) -> BattlePlayer | None:
        """Return the account's participant, or None if it does not take part."""
        return next((each for each in self.players if each.account == account), None)


@dataclass(frozen=True)
class StoredReview:
    """The review of a finished game without its per-move data, which `Reviews.moves` returns.

    Attributes:
        game_id: Id of the game.
        owner: Owner of the game.
        version: Version of the reviewer and what was requested of it, in the caller's terms.
        asked: Time of the request, ISO 8601 in UTC.
        attempts: Number of times a process has started the review.
        claimed: Last renewal of the claim, None if unclaimed.
        done: Number of reviewed moves.
        finished: Time of completion or failure, None while pending.
        fault: One-line reason for a failure.
        summary: The caller's JSON summary.
    """

    game_id: str
    owner: str
    version: str
    asked: str
    attempts: int
    claimed: str | None
    done: int
    finished: str | None
    fault: str | None
    summary: Any


@dataclass(frozen=True)
class ReviewClaim:
    """A process's claim to compute a review.

    Attributes:
        game_id: Id of the game.
        attempt: Number of the attempt, from 1.
        version: Version that was requested.
    """

    game_id: str
    attempt: int
    version: str
