"""What the store hands out: plain frozen values, detached from the database."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar

from py2048.core.errors import StorageError

_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", " ": "", ".": "", "-": "", "_": ""})


def utc_now() -> str:
    """Return the present as ISO 8601 in UTC, of one width so that texts sort as times."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """Return a moment in UTC as the store writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def name_key(name: str) -> str:
    """Return what all spellings of one name have in common: case, width and spaces aside."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def looks_of(name: str) -> str:
    """Return what names have in common that people take for each other, as *Al* and *A.1*.

    Names are of ASCII letters; those of accounts from before that rule have looks of their own.
    """
    return name_key(name).translate(_ALIKE).replace("rn", "m").replace("vv", "w")


@dataclass(frozen=True, kw_only=True)
class SavedGame:
    """A game in progress, as it was after its last saved change; by default one that begins now.

    Attributes:
        id: The store's name for the game; the finished record keeps it.
        owner: Whose game it is.
        rules: The text of the rules.
        seed: The generator's seed, any whole number, or None.
        start: The start board as text; the store never looks inside.
        player: Who plays.
        started: When the game began, ISO 8601 in UTC.
        updated: When it was last changed, ISO 8601 in UTC.
        turns: One opaque code per turn, undone turns at the end included.
        position: How many of `turns` are played; the rest can be redone.
        score: The score at `position`.
        is_over: Whether the game is over at `position`.
        revision: Grows by one with each change; a writer must know it.
        undos: How many undos the player took.
        hints: How many hints the player took.
        extra: Further facts of the caller, opaque to the store.
        millis: The thinking time of each turn in milliseconds, None where not measured.
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
    """A finished game without its turns; `Records.load` has the whole record.

    Attributes:
        id: The record's name in the store.
        owner: Whose game it was.
        rules: The text of the rules.
        player: Who played.
        category: ``"plain"``, ``"assisted"``, ``"computer"`` or another board of scores.
        started: When the game began, ISO 8601 in UTC.
        finished: When it ended, ISO 8601 in UTC.
        score: The final score.
        max_tile: The highest tile of the final board.
        plies: How many turns it took.
        outcome: How it ended, for instance ``"won"`` or ``"lost"``.
        think_ms: How long a program thought about all its moves, on leaderboards; else None.
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
    revision: ClassVar = 0


@dataclass(frozen=True)
class GameEnd:
    """How a game ended.

    Attributes:
        finished: When it ended, ISO 8601 in UTC.
        score: The final score.
        max_tile: The highest tile at the end.
    """

    finished: str
    score: int
    max_tile: int


@dataclass(frozen=True)
class GameChange:
    """What happened in a game between two revisions: one or more turns, undos, redos.

    Attributes:
        id: The game.
        seen: The revision that the changes start from.
        revision: The revision that they lead to.
        length: How many turns there are, undone ones included.
        position: How many of them are played.
        score: The score at `position`.
        is_over: Whether the game is over at `position`.
        undos: How many undos the player took.
        hints: How many hints the player took.
        extra: Further facts of the caller.
        turns: The new turns, as ``(ply, code, millis)``; the last of equal plies counts.
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
    """A game that a server deals, not yet in the store.

    Attributes:
        game: The game, at revision 0 and without turns.
        info: What it has besides.
    """

    game: SavedGame
    info: OnlineGameInfo

    @property
    def id(self) -> str:
        """The store's name for the game."""
        return self.game.id


class AccountError(StorageError):
    """An account cannot have what is asked for: a name that is taken, a program too many."""


@dataclass(frozen=True)
class Account:
    """Somebody who plays on a server.

    Attributes:
        id: The store's name for the account, which owns its games.
        name: The name that everybody sees, None for a guest.
        password: The hash of the password, None for a guest.
        generation: 0, or more of a guest who has logged out: no cookie is worth anything.
        created: When the account began, ISO 8601 in UTC.
        bot_of: The account of the person whose program this is, None for a person.
    """

    id: str
    name: str | None
    password: str | None
    generation: int
    created: str
    bot_of: str | None = None


@dataclass(frozen=True)
class LoginSession:
    """Somebody signed in, in one browser.

    Attributes:
        id: The SHA-256 of its token.
        label: What is known of the browser, such as ``Firefox on Linux``.
        created: When it began, ISO 8601 in UTC.
        seen: When it was last noted to be in use, likewise.
    """

    id: str
    label: str
    created: str
    seen: str


@dataclass(frozen=True)
class OnlineGameInfo:
    """What a game on a server has besides its turns.

    Attributes:
        game_id: The game, in progress or finished.
        owner: The account that plays it.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: The date of a daily game, such as ``2048-01-31``.
        secret: What its draws come from, in hexadecimal digits; empty where a seed decides.
        name: The name of the account, None for a guest.
    """

    game_id: str
    owner: str
    mode: str
    day: str | None
    secret: str
    name: str | None = None


@dataclass(frozen=True)
class DailyResult:
    """An account's daily game of a day, without its turns.

    Attributes:
        day: The date, such as ``2048-01-31``.
        game_id: The game.
        category: Which board of scores it counts for, None while it has no record.
        score: Its score, None while it has no record.
    """

    day: str
    game_id: str
    category: str | None
    score: int | None


@dataclass(frozen=True)
class OpenGame:
    """A game in progress on a server, without its turns.

    Attributes:
        id: The game.
        owner: The account.
        name: Its name, None for a guest.
        rules: The text of the rules.
        mode: ``"ranked"``, ``"casual"``, ``"daily"`` or ``"bot"``.
        day: The date of a daily game.
        score: The score now.
        position: How many turns are played.
        length: How many turns there are, undone ones included.
        revision: How often it was changed.
        is_over: Whether it is over.
        max_tile: The largest tile on the board; 0 before the first turn.
        computer: Whether a computer player made a move.
        from_position: Whether it began from a position of another game.
        offline: Whether tiles appeared in a browser without its server.
        started: When it began, ISO 8601 in UTC.
        updated: When it last changed, likewise.
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
    offline: bool
    started: str
    updated: str

    @classmethod
    def of(cls, row: Any) -> OpenGame:
        """Return the game in a row of the store."""
        usual = {"max_tile": 0, "computer": False, "from_position": False, "offline": False}
        known = {**usual, **row.extra, **row._mapping}
        return cls(**{field.name: known[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class ScoreSummary:
    """All that an owner reached under one set of rules in one category.

    Attributes:
        rules: The text of the rules.
        category: The board of scores.
        best: The best score, of a game in progress too.
        games: How many games are finished.
        mean_score: Their mean score; 0.0 when there is none.
        max_tile: The highest tile of a finished game; 0 when there is none.
        plies: The turns of all finished games together.
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
        rules: The text of the rules.
        position: What it shares with its symmetric images; an owner has one of each.
        board: The board as text; the store never looks inside.
        score: The score before the move.
        game: What tells the game, up to the move, from others.
        played: The direction that was played.
        moves: What each legal direction is worth.
        unit: The unit of that.
        source: What valued them.
        theme: What kind of mistake it was.
        box: How well it is known: see `py2048.review.mistakes`.
        due: When it is to be practised again, ISO 8601 in UTC.
        tries: How often it was practised.
        successes: How often with success.
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
    """The mistakes of one theme.

    Attributes:
        theme: The theme.
        mistakes: How many there are.
        due: How many are due.
        known: How many are in the last box.
        tries: How often they were practised.
        successes: How often with success.
        next_due: When the next one is due, ISO 8601 in UTC.
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
    """The first answer to a puzzle.

    Attributes:
        puzzle: The number of the puzzle.
        is_solved: Whether it was right.
        rating: The player's rating after it.
        deviation: How uncertain that is.
        answered: When it was given, ISO 8601 in UTC.
    """

    puzzle: int
    is_solved: bool
    rating: float
    deviation: float
    answered: str = field(default_factory=utc_now)


@dataclass(frozen=True)
class BattlePlayer:
    """Somebody in a battle.

    Attributes:
        seat: The number of the place in the order of coming, from 1.
        account: The account, None when it was deleted.
        name: Its name, None for a guest.
        game_id: The game, None while players gather.
        has_left: Whether the player left after the start.
        score: The score when the battle was over or the player left, None before.
        max_tile: The largest tile then.
        plies: The moves then.
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
    """Games of several players, for a while, with one secret.

    Attributes:
        id: The battle.
        rules: The text of the rules.
        minutes: How long it lasts.
        secret: What the draws of all its games come from.
        created: When it was offered, ISO 8601 in UTC.
        starts: When it starts, None while players gather.
        ends: When time is up.
        is_settled: Whether the scores are final.
        rematch: The battle that follows it, None without one.
        players: Who takes part, by their seats.
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
        """Return the player with an account, None for anyone else."""
        return next((each for each in self.players if each.account == account), None)


@dataclass(frozen=True)
class StoredReview:
    """The review of a finished game, without what it says of each move; see `Reviews.moves`.

    Attributes:
        game_id: The game.
        owner: Whose game it is.
        version: The version of who reviews.
        asked: When it was asked for, ISO 8601 in UTC.
        attempts: How often a process has begun it.
        claimed: When the process that computes it last said so, None while it waits.
        done: How many moves are reviewed so far.
        finished: When it was finished, or given up, None while it is pending.
        fault: Why it was given up, in a line for people.
        summary: The review, as the caller gave it.
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
    """The right to compute a review.

    Attributes:
        game_id: The game.
        attempt: The number of this attempt, from 1.
    """

    game_id: str
    attempt: int
