"""The house: the use cases of a server, on its store. Methods may block; threads may share it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from py2048.board import Board
from py2048.errors import RecordError, StaleGameError, StorageError
from py2048.game import Game, Record
from py2048.game.record import direction_of, encode_step, encode_turn
from py2048.game.turn import start_from
from py2048.rules import Rules, get_rules
from py2048.server.bounds import checked_rules
from py2048.server.fairness import (
    commitment_of,
    daily_seed,
    draws_of,
    known_secret,
    new_day_secret,
    new_secret,
    revelation_of,
)
from py2048.server.table import BOT, DAILY, MODES, RANKED, RefusedError, Table
from py2048.session.tracked_game import TrackedGame
from py2048.storage import PATIENCE, Account, NewRound, RecordSummary, Round, SavedGame, open_store

if TYPE_CHECKING:
    from py2048.storage import Store

MOST_OPEN_GAMES = 100
"""So many games that go on may an account have."""

IDLE = timedelta(hours=1)
"""After so long a game without a move is thrown away."""

BOARDS = ("ranked", "assisted", "computer", "bot", "daily")
"""The boards of scores, each for itself."""


PERIODS = ("day", "week", "ever")
"""What a leaderboard covers: games that ended today or this week, in UTC, or all."""

LIVE = timedelta(minutes=5)
"""A game counts as live for so long after its last move."""

UNTOUCHED = timedelta(days=1)
"""After so long a guest's game without a move is swept."""


@dataclass(frozen=True)
class OpenGame:
    """A game that goes on, without its turns.

    Attributes:
        id: the game.
        owner: the account.
        name: its name, None for a guest.
        rules: the text of the rules.
        mode: ranked, casual or daily.
        score: the score now.
        position: how many turns are played.
        is_over: whether it is over.
        max_tile: the largest tile on the board; 0 before the first turn.
        computer: whether a computer player made a move.
        day: the date of a daily game.
        started: when it began, ISO 8601 in UTC.
        updated: when it last changed, likewise.
    """

    id: str
    owner: str
    name: str | None
    rules: str
    mode: str
    score: int
    position: int
    is_over: bool
    max_tile: int
    computer: bool
    day: str | None
    started: str
    updated: str

    @classmethod
    def of(cls, row: Any) -> OpenGame:
        """Return the game in a row of the store."""
        extra = {"max_tile": 0, "computer": False} | row.extra
        known = {**extra, **row._mapping}
        return cls(**{field.name: known[field.name] for field in fields(cls)})


class House:
    """A server's games: dealt, seated, finished and looked up.

    Args:
        store: where everything is kept.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._swept = ""  # where the sweep goes on

    def account(self, account_id: str) -> Account:
        """Return the account, or what a guest's will be when it is written down."""
        found = self.store.find_account(account_id)
        return found or Account(account_id, None, None, 0, "")

    def deal(self, account_id: str, rules: str, mode: str) -> Table:
        """Begin a game; a daily one of today that was begun already is returned instead.

        Raises:
            RefusedError: if the rules or the mode make no game here, or too many games go on.
            StorageError: if the store cannot be written.
        """
        table = self.plan(account_id, rules, mode)
        new, table.unwritten = table.unwritten, None
        if new is None or not self.store.write_changes([new]):
            return table
        return self.seat_daily(account_id, new)

    def plan(self, account_id: str, rules: str, mode: str) -> Table:
        """Return the table of a game that begins once its `unwritten` round is in the store.

        A daily game of today that has begun has none.

        Raises:
            RefusedError, StorageError: as `deal`.
        """
        if mode not in MODES:
            raise RefusedError("malformed", f"no mode is called {mode!r}: take one of {MODES}")
        if mode == DAILY:
            return self._plan_daily(account_id)
        wanted = checked_rules(rules)
        secret = new_secret()
        start = start_from(wanted, draws_of(secret))
        with self.store.reading():
            headers = self.store.open_rounds(account_id)
            table = self._planned(account_id, wanted, start, mode=mode, secret=secret)
        self._make_room(headers)
        return table

    def seat_daily(self, account_id: str, rival: NewRound) -> Table:
        """Return the daily game that was there before `rival`, which could not be written.

        Raises:
            StorageError: if there is none.
        """
        there = self.store.find_daily(account_id, rival.round.day or "")
        if there is None:
            raise StorageError("the game could not begin: try again")
        return self.seat(there.game_id)

    def _plan_daily(self, account_id: str) -> Table:
        today = datetime.now(UTC).date()
        there = self.store.find_daily(account_id, today.isoformat())
        if there is not None:
            return self.seat(there.game_id)
        rules, day = get_rules("classic"), today.isoformat()
        secret = self.store.day_secret(day, new_day_secret())
        start = start_from(rules, draws_of(secret))
        with self.store.reading():
            return self._planned(account_id, rules, start, mode=DAILY, day=day, secret=secret)

    def _planned(
        self,
        account_id: str,
        rules: Rules,
        start: Board,
        *,
        mode: str,
        secret: str,
        day: str | None = None,
    ) -> Table:
        account = self.account(account_id)
        if account.bot_of is not None and mode != BOT:
            raise RefusedError("mode", f"programs play {BOT} games: leave the mode out")
        if account.bot_of is None and mode == BOT:
            raise RefusedError(
                "mode", f"{BOT} games are for programs: get a token on your account page"
            )
        game = SavedGame.new(
            rules=str(rules), seed=None, start=str(start), owner=account_id,
            player=account.name or guest_name(account_id),
        )  # fmt: skip
        round_ = Round(game.id, account_id, mode, day, secret, account.name)
        table = Table(self.store, game, round_)
        table.unwritten = NewRound(game, round_)
        return table

    def _make_room(self, headers: Sequence[Any]) -> None:
        """Discard old games without a move, and refuse more than an account may have."""
        idle = _utc(datetime.now(UTC) - IDLE)
        empty = [row for row in headers if not row.length and not row.day and row.updated < idle]
        for row in empty:
            self.store.discard_round(row.id, row.revision)
        if len(headers) - len(empty) >= MOST_OPEN_GAMES:
            raise RefusedError(
                "too_many", f"{MOST_OPEN_GAMES} of your games go on: finish one before the next"
            )

    def seat(self, game_id: str) -> Table:
        """Return a table with a game that goes on or is over.

        Raises:
            RefusedError: if there is none.
            StorageError: if it cannot be read back.
        """
        with self.store.reading():
            round_ = self.store.find_round(game_id)
            saved = self.saved_game(game_id) or self._finished_game(game_id)
            if round_ is None or saved is None:
                raise RefusedError("unknown_game", f"no game {game_id!r} goes on here")
            return Table(self.store, saved, round_)

    def greet(self, account_id: str) -> tuple[Account, str | None]:
        """Return the account, and the game to go on with: the last changed one, if any."""
        with self.store.reading():
            going_on = self.store.open_rounds(account_id, limit=1)
            return self.account(account_id), going_on[0].id if going_on else None

    def open_games(self, account_id: str) -> list[OpenGame]:
        """Return the account's games that go on, the last changed first."""
        return [OpenGame.of(row) for row in self.store.open_rounds(account_id)]

    def open_game(self, game_id: str) -> OpenGame | None:
        """Return a game that goes on, or is over and not yet a record; None if there is none."""
        row = self.store.find_open_round(game_id)
        return None if row is None else OpenGame.of(row)

    def live_games(self, ids: Collection[str]) -> list[OpenGame]:
        """Return those of the games that go on, the last changed first."""
        return [OpenGame.of(row) for row in self.store.live_games(ids)]

    def live_games_of(self, account_id: str) -> list[OpenGame]:
        """Return the account's games that changed in the last minutes, the last first."""
        since = _utc(datetime.now(UTC) - LIVE)
        games = self.open_games(account_id)
        return [game for game in games if game.updated >= since and game.max_tile]

    def sweep(self, open_ids: Collection[str]) -> None:
        """Throw away some of what nobody needs, except games that are open.

        These are guests' games without a move, guests who have nothing else, and the leaderboards
        of days and weeks that are over.
        """
        self.store.forget_periods()
        before = _utc(datetime.now(UTC) - UNTOUCHED)
        self._swept = self.store.sweep_guests(before, since=self._swept, spare=open_ids)

    def export(self, account_id: str) -> dict[str, Any]:
        """Return all that is kept of an account; secrets of games that go on stay secret."""
        exported = self.store.export_account(account_id)
        going_on = {game["id"] for game in exported["games"]}
        for round_ in exported["rounds"]:
            secret, is_over = round_["secret"], round_["game_id"] not in going_on
            if secret and known_secret(Round(**round_), is_over=is_over) is None:
                round_["secret"] = commitment_of(secret)
        return exported

    def saved_game(self, game_id: str) -> SavedGame | None:
        """Return a game that goes on, None if it does not or does not exist."""
        return self.store.find_game(game_id)

    def _finished_game(self, game_id: str) -> SavedGame | None:
        """Return a finished game as it was when it was over."""
        summary = self.store.find_summary(game_id)
        if summary is None:
            return None
        record = Record.from_json(self.store.load_record(game_id))
        turns = tuple(encode_step(*step, record.rules.shape) for step in record.steps)
        return SavedGame(
            id=game_id, owner=summary.owner, rules=summary.rules, seed=record.seed,
            start=str(record.start), player=summary.player, started=summary.started,
            updated=summary.finished, turns=turns, position=len(turns), score=record.score,
            is_over=True, revision=len(turns) + 2 * record.undos + record.hints,
            undos=record.undos, hints=record.hints,
            extra={"computer": summary.category == "computer"},
            millis=record.times or (0,) * len(turns),
        )  # fmt: skip

    def record(self, game_id: str) -> tuple[RecordSummary, Record] | None:
        """Return a finished game, None if there is none.

        Raises:
            RecordError: if it is damaged.
        """
        summary = self.store.find_summary(game_id)
        if summary is None:
            return None
        return summary, Record.from_json(self.store.load_record(game_id))

    def record_text(self, game_id: str) -> str | None:
        """Return the file of a finished game's record, None if there is none.

        Records of games that were not played on the server are not given away.
        """
        if self.store.find_round(game_id) is None or self.store.find_summary(game_id) is None:
            return None
        return self.store.load_record(game_id)

    def commitment(self, round_: Round) -> str | None:
        """Return what was shown of a game's secret at its start; None for a known seed."""
        return commitment_of(round_.secret) if round_.secret else None

    def finish(self, game_id: str) -> str | None:
        """Make a record of a game that is over, after playing it again from its first draw.

        Returns:
            The board of scores that it counts for; None if there was nothing to do.

        Raises:
            RecordError: if the game is not what its secret or its seed and its rules allow.
            StorageError: if the store cannot be written.
        """
        saved, round_ = self.saved_game(game_id), self.store.find_round(game_id)
        if saved is None or round_ is None or not saved.is_over:
            return None
        play = played_again(saved, round_)
        board = board_of(round_, play, saved.updated)
        game = play.game
        try:
            self.store.finish_game(
                game_id, saved.revision, play.record().to_json(), score=game.score,
                max_tile=game.board.max_tile, plies=game.ply, outcome=game.outcome.value,
                category=board,
            )  # fmt: skip
        except StaleGameError:
            return None  # another process finishes it, or it was taken back
        return board

    def finish_left_behind(self, age: timedelta) -> list[str]:
        """Finish the games that were over at least so long ago; return those that cannot be."""
        bad = []
        for game_id in self.store.rounds_left_behind(_utc(datetime.now(UTC) - age)):
            try:
                self.finish(game_id)
            except (RecordError, StorageError):
                bad.append(game_id)
        return bad


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def played_again(saved: SavedGame, round_: Round) -> TrackedGame:
    """Play a game again from its secret, or from the seed of its day: the same must come of it.

    Raises:
        RecordError: if it is not what was dealt, or a turn is not what the rules and draws give.
    """
    is_seeded = bool(round_.day) and not round_.secret  # from before days had secrets
    if is_seeded and saved.seed != daily_seed(date.fromisoformat(round_.day or "")):
        raise RecordError(f"the seed {saved.seed} is not the one of {round_.day}")
    draws = draws_of(round_.secret) if round_.secret else None
    game = Game(Rules.parse(saved.rules), seed=saved.seed, player=saved.player, draws=draws)
    if game.start != Board.parse(saved.start):
        raise RecordError("the start is not the one that was dealt")
    turns = saved.turns[: saved.position]
    for ply, code in enumerate(turns):
        game.attempt(direction_of(code))
        turn = game.last_turn
        if game.turn_count == ply or turn is None or encode_turn(turn) != code:
            raise RecordError(f"turn {ply + 1}: {code} is not the move and tile that were dealt")
    if game.score != saved.score or not game.is_over:
        raise RecordError(f"the turns give {game.score} points, not a game over with {saved.score}")
    return TrackedGame(
        game, list(turns), [millis or 0 for millis in saved.millis[: saved.position]],
        saved.undos, saved.hints, bool(saved.extra.get("computer")),
    )  # fmt: skip


def board_of(round_: Round, play: TrackedGame, updated: str) -> str:
    """Return the board of scores for a game: an honest game counts as what it was dealt as.

    A daily game that went on after its secret was known counts as one with help.
    """
    late = bool(round_.day and round_.secret) and updated >= _utc(revelation_of(round_.day or ""))
    if play.category == "plain" and not late:
        return {RANKED: "ranked", DAILY: "daily", BOT: "bot"}.get(round_.mode, "assisted")
    return "assisted" if play.category == "plain" else play.category


def guest_name(account_id: str) -> str:
    """Return what a player without a name is called."""
    return f"guest {account_id[:4].upper()}"


def new_account_id() -> str:
    """Return the id of a new guest."""
    return secrets.token_hex(16)


def open_house(
    url: str | None = None,
    durability: Literal["disk", "process"] = "disk",
    patience: float = PATIENCE,
) -> House:
    """Open the house at a database URL (by default the player's own store); see `open_store`.

    Raises:
        StorageError: if the store cannot be opened.
    """
    return House(open_store(url, durability=durability, patience=patience))
