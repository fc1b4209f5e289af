"""The immutable result types of the store, which do not depend on the database."""

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
    """Return the current time as text in the format of `utc_text`."""
    return datetime.now(UTC).strftime(_TIME_FORMAT)


def utc_text(moment: datetime) -> str:
    """Format a UTC time as fixed-width ISO 8601 text, which sorts chronologically."""
    return moment.strftime(_TIME_FORMAT)


def name_key(name: str) -> str:
    """Normalise a name, so that spellings that differ in case, width or spaces share a key."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def lookalike_key(name: str) -> str:
    """Return a key that is the same for names that look alike, such as *Al* and *A.1*.

    Non-ASCII letters are not replaced. Only old names contain them.
    """
    return name_key(name).translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w")


@dataclass(frozen=True, kw_only=True)
class SavedGame:
    """A game in progress, as last saved. By default the game has no turns.

    Attributes:
        id: Id of the game and, after its end, of its record.
        owner: Owner of the game.
        rules: Rules as text.
        seed: Seed of the generator, an integer of any size, or None.
        start: Start board as text, which the store does not interpret.
        player: Player name.
        started: Start time, ISO 8601 in UTC.
        updated: Time of the last change, ISO 8601 in UTC.
        turns: Codes of the turns, including undone turns at the end. The store does not interpret
            them.
        position: Number of `turns` that have not been undone.
        score: Score at `position`.
        is_over: Whether the game is over at `position`.
        revision: Incremented by every change. Every write must name the current revision.
        undos: Number of undos.
        hints: Number of hints.
        extra: The caller's additional data, which the store does not interpret.
        millis: Thinking time of each turn in milliseconds, or None if the time was not measured.
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
    """A finished game without its turns. `Records.load` returns the complete record.

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
        think_ms: Total thinking time of a program on a leaderboard, or None for other games.
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
    """A summary of a player's finished games under one set of rules.

    Attributes:
        scores: Number of games by score. Scores are rounded down to five significant bits, unless
            `recent` contains all games.
        tiles: Number of games by largest tile.
        recent: The last games, oldest first.
    """

    scores: Counter[int] = field(default_factory=Counter)
    tiles: Counter[int] = field(default_factory=Counter)
    recent: list[RecordSummary] = field(default_factory=list)

    def scores_today(self, now: datetime) -> list[int]:
        """Return today's scores, or [] if `recent` does not reach back to midnight."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
        found = [end.score for end in self.recent if end.finished >= utc_text(midnight)]
        return [] if len(found) == len(self.recent) < self.scores.total() else found


@dataclass(slots=True)  # creating a frozen instance takes three times as long
class GameChange:
    """The turns, undos and redos of a game between two revisions.

    Attributes:
        id: Id of the game.
        seen: Revision before the changes.
        revision: Revision after the changes.
        length: Number of turns, including undone ones.
        position: Number of turns that have not been undone.
        score: Score at `position`.
        is_over: Whether the game is over at `position`.
        undos: Number of undos.
        hints: Number of hints.
        extra: Additional data of the caller.
        turns: New turns as ``(ply, code, millis)``. If a ply occurs twice, the later turn counts.
        reached: Milestone tiles reached without help, as ``(tile, millis, moves)``.
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
    reached: tuple[tuple[int, int, int], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class NewOnlineGame:
    """A server's game that is not in the store yet.

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
    """The server rejected a request, for example because a name is taken."""


@dataclass(frozen=True)
class Account:
    """A player's account on a server.

    Attributes:
        id: Id of the account that owns the games.
        name: Public name, or None for a guest.
        password: Password hash, or None for a guest.
        generation: Incremented when a guest logs out, which invalidates the guest's cookies.
        created: Creation time, ISO 8601 in UTC.
        bot_of: Id of the owner's account if this is a program's account, otherwise None.
    """

    id: str
    name: str | None
    password: str | None
    generation: int
    created: str
    bot_of: str | None = None


@dataclass(frozen=True)
class LoginSession:
    """A browser's login session.

    Attributes:
        id: SHA-256 of the session token.
        label: Description of the browser, such as ``Firefox on Linux``.
        created: Login time, ISO 8601 in UTC.
        seen: Time of the last recorded use, ISO 8601 in UTC.
    """

    id: str
    label: str
    created: str
    seen: str


@dataclass(frozen=True)
class OnlineGameInfo:
    """The server's data about a game.

    Attributes:
        game_id: Id of the game, which may be in progress or finished.
        owner: Account that plays the game.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: Date of a daily game, such as ``2048-01-31``.
        secret: Hexadecimal secret that determines the tiles, or an empty string if the game has a
            seed.
        name: Name of the account, or None for a guest.
        streak: Number of consecutive days with a finished daily game, including this game, or None
            for other games.
        offline: Whether a browser chose some of the tiles, or None until the game is finished.
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
        category: Score category, or None if the game has no record yet.
        score: Score, or None if the game has no record yet.
        streak: Number of consecutive days with a finished daily game, up to this day. None if this
            game is unfinished or does not count towards a streak.
    """

    day: str
    game_id: str
    category: str | None
    score: int | None
    streak: int | None


@dataclass(frozen=True)
class OpenGame:
    """A game in progress on a server, without its turns.

    Attributes:
        id: Id of the game.
        owner: Account that plays the game.
        name: Name of the account, or None for a guest.
        rules: Rules as text.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: Date of a daily game.
        score: Current score.
        position: Number of turns that have not been undone.
        length: Number of turns, including undone ones.
        revision: Number of changes.
        is_over: Whether the game is over.
        max_tile: Largest tile on the board, or 0 before the first turn.
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
        """Create an instance from a database row."""
        usual = {"max_tile": 0, "computer": False, "from_position": False}
        known = {**usual, **row.extra, **row._mapping}
        return cls(**{field.name: known[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class ScoreSummary:
    """An owner's results under one set of rules in one category.

    Attributes:
        rules: Rules as text.
        category: Score category.
        best: Best score of the finished games, or 0 if there are none.
        games: Number of finished games.
        mean_score: Mean score of the finished games, or 0.0 if there are none.
        max_tile: Largest tile in any finished game, or 0 if there are none.
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
        position: The canonical board, which symmetric boards share. Unique per owner and rules.
        board: Board as text, which the store does not interpret.
        score: Score before the move.
        game: Hash of the game before this move.
        played: Direction that was played.
        moves: Value of each legal direction.
        unit: Unit of the values.
        source: Name of the evaluator that computed the values.
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
    """Statistics about mistakes that share a theme.

    Attributes:
        theme: The theme.
        mistakes: Number of mistakes.
        due: Number of mistakes that are due for practice.
        known: Number of mistakes that the player has learned to avoid.
        tries: Number of attempts.
        successes: Number of successful attempts.
        next_due: When the next mistake is due, ISO 8601 in UTC.
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
    """A player's answers to a puzzle. Only the first answer changes ratings.

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
        seat: Seat number, counted from 1 in the order of joining.
        account: Id of the account, or None if the account was deleted.
        name: Name of the account, or None for a guest.
        game_id: Id of the game, or None before the battle starts.
        has_left: Whether the player has left the battle after its start.
        score: Final score, or None while the player can still play.
        max_tile: Largest tile in the final position.
        plies: Number of moves up to the final position.
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
    """A timed contest. Every player has a separate game, with tiles from the same secret.

    Attributes:
        id: Id of the battle.
        rules: Rules as text.
        minutes: Duration in minutes.
        secret: Secret that determines the tiles of all games.
        created: Creation time, ISO 8601 in UTC.
        starts: Start time, or None before the battle starts.
        ends: End time, or None before the battle starts.
        is_settled: Whether the scores are final.
        rematch: Id of the rematch, or None if there is none.
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
        """Return the account's entry in the battle, or None if the account is not in the battle."""
        return next((each for each in self.players if each.account == account), None)


@dataclass(frozen=True)
class StoredReview:
    """A stored review without the data about moves, which `Reviews.moves` loads.

    Attributes:
        game_id: Id of the game.
        owner: Owner of the game.
        version: Version of the reviewer, followed by details of the request. The store does not
            interpret the details.
        asked: Time of the request, ISO 8601 in UTC.
        attempts: Number of times that a process has started the review.
        claimed: Time of the claim's last renewal, or None if there is no claim.
        done: Number of reviewed moves.
        finished: Time of completion or failure, or None while the review is pending.
        fault: Reason for a failure, as one line.
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
    """A process's exclusive claim to compute a review.

    Attributes:
        game_id: Id of the game.
        attempt: Number of this attempt, counted from 1.
        version: Version that was requested.
    """

    game_id: str
    attempt: int
    version: str
