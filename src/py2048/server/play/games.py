"""Games on a server: an open game, and the service that manages all games.

Custom rules are limited, so that no score is too large for the store or the page. A game has at
most `MAX_ACTIONS` actions, and each adds a tile of at most `MAX_TILE`, so the sum of all tiles is
at most ``MAX_ACTIONS * MAX_TILE``. Merging two tiles ``t`` increases the sum of ``t * log2(t)``
over all tiles by the points earned, so a score is at most ``sum * log2(sum)``. This keeps scores
below 2**53, the limit of exact integers in JavaScript, and far below 2**63, the limit of integers
in the store.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from py2048 import Board, Direction, Game, Record, Rules, get_rules, list_rules
from py2048.app.session.session import Session
from py2048.app.session.tracked_game import TrackedGame
from py2048.app.storage import Account, GameChange, NewOnlineGame, OnlineGameInfo, SavedGame
from py2048.app.storage.values import OpenGame, RecordSummary, utc_now, utc_text
from py2048.core import fairness
from py2048.core.errors import Py2048Error, RecordError, StaleGameError, StorageError
from py2048.core.game.turn import decode_steps, direction_of, encode_step, encode_turn, start_from
from py2048.core.language import N_, _
from py2048.core.rules import preset_of
from py2048.presentation.events import Event
from py2048.review.advice import Hint
from py2048.server import schema
from py2048.server.bounds import MAX_ACTIONS, MAX_OPEN_GAMES, MAX_UNCOUNTED
from py2048.server.cache import Latest
from py2048.server.schema import BOT, CASUAL, DAILY, MODES, POSITION, ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
DAILY_RULES = get_rules("classic")

DISCARDABLE = timedelta(hours=1)
"""Age at which a game without moves can be discarded to make room for a new game."""

LIVE = timedelta(minutes=5)
"""How long a game counts as live after its last move."""

UNDOABLE = timedelta(minutes=10)
"""How long the last move of a finished casual game can be undone."""

UNTOUCHED = timedelta(days=1)
"""Age at which a guest's game with very few moves is deleted."""

LOST = timedelta(days=400)
"""Time without play after which a guest is deleted, because the guest's cookie has expired."""

MAX_SIDE = 16
MAX_TILE = 2**20  # Largest tile that rules may spawn.
MAX_TARGET = 2**40  # No game reaches a larger tile.
OWN = "own"  # New name for rules that have a preset's name but differ from the preset.

_FROM_POSITION = "from_position"
_PROCESS_START = datetime.now(UTC)
MAX_RULES_NAME = 40
MAX_RULES_TEXT = 400
_Drawn = tuple[TrackedGame, OnlineGameInfo]


@dataclass
class ThinkingClock:
    """Measures the thinking time of a program by the server's clock.

    The clock starts when a position is written to the network, and stops when the next move
    arrives. The measured time includes network latency, but a program's own measurement could not
    be verified. The first move is free, because programs connect and warm up before their first
    move.

    Attributes:
        since: Time at which the position was sent to the client, as returned by `time.monotonic`.
    """

    since: float
    _rest: float = field(default=0.0, repr=False)

    @classmethod
    def resumed(cls, updated: str) -> ThinkingClock:
        """Return the clock of a game that was loaded from the store.

        The clock has been running since the last move, except while this server was down.

        Args:
            updated: Time of the game's last change, ISO 8601 in UTC.
        """
        since = max(datetime.fromisoformat(updated), _PROCESS_START)
        elapsed = (datetime.now(UTC) - since).total_seconds()
        return cls(time.monotonic() - max(0.0, elapsed))

    def read(self, now: float) -> int:
        """Return the elapsed whole milliseconds.

        The fraction of a millisecond is carried over to the next move, so no time is lost to
        rounding.
        """
        elapsed = max(0.0, now - self.since) * 1000 + self._rest
        self._rest = elapsed % 1
        return int(elapsed)


class OnlineGame:
    """An open game in one process. Not thread-safe.

    Clients number their actions, so that a repeated message is not played twice. The number of an
    action must be the game's current version plus 1. Actions with a lower number have already been
    played, and are ignored without returning events. Actions with a higher number are rejected.

    Args:
        store: Provides best scores.
        saved: The stored game.
        info: The game's owner, mode, secret and other server data.
        is_finished: Whether only the game's record remains, so the game can no longer change.

    Attributes:
        is_finished: As given.
        allows_help: Whether the mode allows undo, hints and computer players.
        tracked: The game with all of its turns, including unsaved turns.
        clock: The program's thinking clock.
        think_ms: Total thinking time of a program in milliseconds.
        window: Start and end of play in a battle, or None for other games.
    """

    def __init__(
        self, store: Store, saved: SavedGame, info: OnlineGameInfo, *, is_finished: bool = False
    ) -> None:
        self.id = saved.id
        self.info = info
        self.is_finished = is_finished
        self.allows_help = info.mode == CASUAL
        self.commitment = fairness.commitment_of(info.secret)
        self.window: tuple[str, str] | None = None
        self.tracked = TrackedGame.from_saved(saved, fairness.draws_of(info.secret))
        self._is_drawn_here = not (saved.turns or is_finished) and self.tracked.category == "plain"
        self.session = Session(player=saved.player, game=self.tracked)
        # A game has a record as soon as it is over, even if its last move can still be undone.
        without = "" if is_finished else saved.id
        bests = store.scores.bests(saved.rules, saved.owner, without=without)
        best = max((0, *(best for kind, best in bests.items() if kind != "computer")))
        self.session.play_tracked(self.tracked, best)
        self.session.paces = store.scores.milestones(saved.rules, saved.owner)
        self.clock = ThinkingClock.resumed(saved.updated)
        self.tracked.last_turn_time = self.clock.since  # time away counts as thinking time
        self.think_ms = sum(millis or 0 for millis in saved.millis[: saved.position])

    @property
    def version(self) -> int:
        """Number of actions that have changed the game."""
        return self.tracked.revision

    @property
    def is_over(self) -> bool:
        """Whether no more moves can be played."""
        is_late = self.window is not None and utc_now() >= self.window[1]
        return self.is_finished or is_late or not self.tracked.game.position.legal

    @property
    def can_undo(self) -> bool:
        """Whether a turn can be undone."""
        return self.allows_help and not self.is_finished and self.session.game.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether an undone turn can be redone."""
        return self.allows_help and not self.is_finished and self.session.game.can_redo

    @property
    def category(self) -> str:
        """`POSITION`, or the session's category."""
        return POSITION if self.tracked.extra.get(_FROM_POSITION) else self.tracked.category

    def drawn(self) -> _Drawn | None:
        """Return a copy of the game, or None if its tiles must be verified.

        Tiles that this process has generated need no verification.
        """
        is_drawn = self._is_drawn_here and not self.tracked.offline
        return (self.tracked.copy(), self.info) if is_drawn else None

    @property
    def secret(self) -> str | None:
        """The secret that determines the tiles, or None until it may be revealed."""
        return fairness.public_secret(self.info.secret, self.info.day, is_over=self.is_over)

    # Numbered actions

    def move(
        self, number: int, direction: Direction, arrived: float | None = None
    ) -> tuple[Event, ...]:
        """Make a move.

        Args:
            number: Number of the action.
            direction: Direction of the move.
            arrived: When the move arrived, from `time.monotonic`. A program's thinking
                time ends then.

        Raises:
            ActionRejected: If the number is too high (``gap``), the game is over (``over``) or its
                battle has not started (``early``).
        """
        if not self._is_next(number):
            return ()
        if self.window is not None and utc_now() < self.window[0]:
            raise ActionRejected("early", _("the battle has not started: wait for the countdown"))
        if self.is_over:
            raise self.over()
        if self.info.mode != BOT or arrived is None:
            return self.session.move(direction)
        before = self.version
        think_ms = self.clock.read(arrived) if before else 0  # the first move is free
        events = self.session.move(direction, think_ms)
        if self.version > before:
            self.think_ms += think_ms
        return events

    def undo(self, number: int) -> tuple[Event, ...]:
        """Undo the last turn.

        Raises:
            ActionRejected: For the same reasons as `move`, or if the mode forbids it (``mode``) or
                there is nothing to undo (``nothing``).
        """
        return self._step(number, self.session.undo, N_("there is nothing to undo"))

    def redo(self, number: int) -> tuple[Event, ...]:
        """Redo the last undone turn. Raises the same errors as `undo`."""
        return self._step(number, self.session.redo, N_("there is nothing to redo"))

    def show_hint(self, number: int, hint: Hint) -> tuple[Event, ...]:
        """Count a hint.

        Raises:
            ActionRejected: If the game has changed since the hint was requested (``gap``) or the
                mode forbids hints (``mode``).
        """
        self.check_help()
        if not (self._is_next(number) and (events := self.session.show_hint(hint))):
            raise ActionRejected("gap", _("the game has changed since you asked for the hint"))
        return events

    def play_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Play a computer player's move, unless the move is stale.

        Raises:
            ActionRejected: If the game has reached its maximum length (``over``).
        """
        self._check_length()
        return self.session.play_hint(hint)

    def check_offline(self, number: int) -> None:
        """Check that turns played offline may be appended.

        Args:
            number: Number of the first turn.

        Raises:
            ActionRejected: For the same reasons as `check_help`, or if the game has changed while
                the player was offline (``gap``).
        """
        self.check_help()
        if number != self.version + 1:
            raise ActionRejected("gap", f"the game is already at action {self.version}")

    def take_offline(self, number: int, played: TrackedGame) -> None:
        """Append turns that were played offline.

        The tiles of offline turns cannot be verified, so the game counts in the player's own
        statistics, but not on leaderboards.

        Args:
            number: Number of the first turn.
            played: A copy of the game with these turns, from `replay_offline`.

        Raises:
            ActionRejected: For the same reasons as `check_offline`, or if the game would become too
                long (``over``).
        """
        self.check_offline(number)
        self._check_length(played.revision - self.version)
        self.tracked = played
        self.session.adopt(played)

    def check_help(self) -> None:
        """Check that the game allows help.

        Raises:
            ActionRejected: If the mode forbids help (``mode``) or the game is finished (``over``).
        """
        if not self.allows_help:
            text = _("this kind of game does not allow undo, hints or autoplay")
            raise ActionRejected("mode", text)
        if self.is_finished:
            raise self.over()

    def _step(
        self, number: int, step: Callable[[], tuple[Event, ...]], nothing: str
    ) -> tuple[Event, ...]:
        self.check_help()
        if not self._is_next(number):
            return ()
        if not (events := step()):
            raise ActionRejected("nothing", _(nothing))
        return events

    def _is_next(self, number: int) -> bool:
        following = self.tracked.revision + 1
        if number > following:
            raise ActionRejected("gap", f"action {number} comes before action {following}")
        if number == following > MAX_ACTIONS:
            self._check_length()
        return number == following

    def _check_length(self, actions: int = 1) -> None:
        if self.version + actions > MAX_ACTIONS:
            text = _("the game has reached its limit of {n} actions: start a new one")
            raise ActionRejected("over", text.format(n=MAX_ACTIONS))

    def over(self) -> ActionRejected:
        """Return the rejection of an action in a game that has ended."""
        if self.window is None or self.session.game.is_over:
            return ActionRejected("over", _("the game is over: start a new one"))
        starts, ends = self.window
        if starts == ends:
            return ActionRejected("over", _("you have left this battle: your score stands"))
        return ActionRejected("over", _("time is up: the battle is over"))

    # Changes by other processes

    def apply(self, change: GameChange) -> tuple[Event, ...] | None:
        """Apply a change that another process has saved, if the change only added turns.

        Returns:
            The events, or None if the game must be reloaded.
        """
        actions = change.revision - change.seen
        if self.tracked.is_changed or change.seen != self.version or actions != len(change.turns):
            return None
        events: list[Event] = []
        for _ply, code, millis in change.turns:
            events += self.session.move(direction_of(code), millis)
            self.think_ms += millis
        self.clock = ThinkingClock(time.monotonic())
        # Replaying draws the tiles from the secret, so the result must equal the stored turns.
        return tuple(events) if self.tracked.take_change() == change else None

    def has_same_turns(self, other: OnlineGame) -> bool:
        """Whether another copy of the game has the same revision, position, details and turns."""
        mine, its = self.tracked, other.tracked
        return (mine.revision, mine.position, mine.details, mine.codes) == (
            its.revision, its.position, its.details, its.codes,
        )  # fmt: skip


class GameService:
    """Starts, loads, finishes and finds games. Methods may block, and are thread-safe.

    Args:
        store: The store.

    Attributes:
        store: As given.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._swept = ""  # The last day on which all guests with expired cookies were deleted.
        self._uncounted = Latest[str, None](MAX_UNCOUNTED)  # Games that failed verification.

    def account(self, account_id: str) -> Account:
        """Return an account, or a new guest's account that has not been stored yet."""
        found = self.store.accounts.find(account_id)
        return found or Account(account_id, None, None, 0, "")

    def sign_in_state(self, account_id: str) -> tuple[Account, str | None]:
        """Return an account and the id of its latest game in progress, if any."""
        with self.store.snapshot():
            latest = self.store.online.open_games(account_id, limit=1)
            return self.account(account_id), latest[0].id if latest else None

    # Beginning a game

    def begin_game(self, account_id: str, rules: str, mode: str) -> OnlineGame:
        """Start a game, or return today's daily game if it already exists.

        Raises:
            ActionRejected: If the rules or the mode are not allowed, or the account has too many
                games in progress.
            StorageError: If the store cannot be read or written.
        """
        if mode not in MODES:
            raise schema.malformed(f"no mode is called {mode!r}: take one of {', '.join(MODES)}")
        if mode != DAILY:
            return self.begin(account_id, checked_rules(rules), mode, fairness.new_secret())
        if begun := self.daily(account_id):
            return self.load(begun.game_id)
        day = datetime.now(UTC).date().isoformat()
        secret = self.store.online.day_secret(day, fairness.new_secret(fairness.DAILY))
        return self.begin(account_id, DAILY_RULES, mode, secret, day=day)

    def begin(
        self,
        account_id: str,
        rules: Rules,
        mode: str,
        secret: str,
        *,
        day: str | None = None,
        position: Board | None = None,
    ) -> OnlineGame:
        """Start a game with tiles drawn from a secret.

        The game can belong to a day's challenge, or start from a given position.

        Raises:
            ActionRejected, StorageError: As `begin_game`.
        """
        start = position or dealt(rules, secret)
        with self.store.snapshot():
            account = self.account(account_id)
            _check_mode(account, mode)
            in_progress = [] if day else self.store.online.open_games(account_id)
            saved = SavedGame(
                rules=str(rules), seed=None, start=str(start), owner=account_id,
                player=account.name or guest_name(account_id),
                extra={_FROM_POSITION: True} if position else {},
            )  # fmt: skip
            info = OnlineGameInfo(saved.id, account_id, mode, day, secret, account.name)
            game = OnlineGame(self.store, saved, info)
        self._make_room(in_progress)
        if self.store.online.begin(NewOnlineGame(saved, info)):
            return game
        return self.begin_game(account_id, "", DAILY)  # a concurrent request began it

    def daily(self, account_id: str) -> OnlineGameInfo | None:
        """Return the account's game for today's challenge, or None."""
        return self.store.online.daily(account_id, datetime.now(UTC).date().isoformat())

    def _make_room(self, games: Sequence[OpenGame]) -> None:
        """If the account has too many games, discard the oldest games without moves.

        Raises:
            ActionRejected: If the account still has too many games (``too_many``).
        """
        excess = len(games) - MAX_OPEN_GAMES + 1
        if excess <= 0:
            return
        idle = utc_text(datetime.now(UTC) - DISCARDABLE)
        empty = [each for each in games if not (each.length or each.day) and each.updated < idle]
        if len(empty) < excess:
            text = _("you have {n} games in progress: finish one first")
            raise ActionRejected("too_many", text.format(n=MAX_OPEN_GAMES))
        for game in empty[-excess:]:
            self.store.online.discard(game.id, game.revision)

    # Looking games up

    def find(self, game_id: str) -> RecordSummary | OpenGame | None:
        """Return a finished game or a game in progress without its turns, if it exists."""
        # Records are queried last, because the game may be finished between the two queries.
        in_progress = self.store.online.open_game(game_id)
        return self.store.records.summary(game_id) or in_progress

    def load(self, game_id: str) -> OnlineGame:
        """Load a game in progress or a finished game.

        Raises:
            ActionRejected: If the game does not exist (``unknown_game``).
            StorageError: If the game cannot be read.
        """
        with self.store.snapshot():
            info = self.store.online.info(game_id)
            open_game = self.store.games.find(game_id)
            saved = open_game or self._finished_game(game_id)
            if info is None or saved is None:
                text = _("there is no game {id} here").format(id=game_id)
                raise ActionRejected("unknown_game", text)
            game = OnlineGame(self.store, saved, info, is_finished=open_game is None)
            if info.mode == schema.BATTLE:
                game.window = self.store.battles.window(game_id)
            return game

    def check_visible(self, game_id: str, account_id: str) -> None:
        """Reject access to other players' daily games until the secret of their day is revealed.

        All players of a daily challenge get the same tiles, so a player could copy the moves of
        another player's game, or predict the tiles from the secret. Both are hidden until the day's
        games no longer count.

        Raises:
            ActionRejected: If the day's secret is still hidden (``sealed``).
        """
        info = self.store.online.info(game_id)
        if info is not None:
            check_sealed(info, account_id)

    def challenge(self, day: str) -> tuple[str | None, str | None]:
        """Return the commitment to a day's secret, and the secret if it has been revealed.

        The commitment and the secret are None for a day without games.
        """
        secret = self.store.online.find_day_secret(day)
        if secret is None:
            return None, None
        is_known = datetime.now(UTC) >= fairness.revelation_of(day)
        return fairness.commitment_of(secret), secret if is_known else None

    def live_games_of(self, account_id: str) -> list[OpenGame]:
        """Return the recently played games of an account, latest first."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = self.store.online.open_games(account_id)
        return [game for game in games if game.updated >= since and game.max_tile]

    def export(self, account_id: str) -> dict[str, object]:
        """Return all of an account's stored data, except the secrets of games in progress."""
        exported = self.store.accounts.export(account_id)
        in_progress = {game["id"] for game in exported["games"]}
        for row in exported["rounds"]:
            secret, is_over = row["secret"], row["game_id"] not in in_progress
            if fairness.public_secret(secret, row["day"], is_over=is_over) is None:
                row["secret"] = fairness.commitment_of(secret)
        return exported

    def _finished_game(self, game_id: str) -> SavedGame | None:
        """Return a finished game in its final position, as read from its record."""
        summary = self.store.records.summary(game_id)
        if summary is None:
            return None
        record = Record.from_json(self.store.records.load(game_id))
        turns = tuple(encode_step(*step, record.rules.shape) for step in record.steps)
        return SavedGame(
            id=game_id, owner=summary.owner, rules=summary.rules, seed=record.seed,
            start=str(record.start), player=record.player, started=summary.started,
            updated=summary.finished, turns=turns, position=len(turns), score=record.score,
            is_over=True, revision=len(turns) + 2 * record.undos + record.hints,
            undos=record.undos, hints=record.hints,
            extra={
                "computer": summary.category == "computer",
                _FROM_POSITION: summary.category == POSITION,
            },
            millis=record.times or (0,) * len(turns),
        )  # fmt: skip

    def finished_game(self, game_id: str) -> RecordSummary:
        """Return the summary of a game that was finished on this server.

        Raises:
            ActionRejected: If there is no such record (``unknown_game``).
        """
        found = self.store.records.summary(game_id)
        if found is None or self.store.online.info(game_id) is None:
            raise ActionRejected("unknown_game", _("there is no record of this game yet"))
        return found

    def record_text(self, game_id: str) -> str:
        """Return the record of a finished game as text. Raises the errors of `finished_game`."""
        return self.store.records.load(self.finished_game(game_id).id)

    # Finishing and sweeping

    def finish(
        self, game_id: str, drawn: _Drawn | None = None, *, is_stopped: bool = False
    ) -> str | None:
        """Create the record of a finished game, verified against its secret.

        A casual game is kept beside its record until its last move can no longer be undone,
        `UNDOABLE` after its end.

        Args:
            game_id: The game.
            drawn: Result of `OnlineGame.drawn`. By default, the game is read from the store and its
                tiles are verified.
            is_stopped: Whether to end a game that still has legal moves, for example when the time
                of a battle is up.

        Returns:
            The category of the new record, or None if no record was created.

        Raises:
            RecordError: If the game does not follow its rules and secret.
            StorageError: If the store cannot be written.
        """
        if drawn is None:
            with self.store.snapshot():
                saved, info = self.store.games.find(game_id), self.store.online.info(game_id)
            if saved is None or info is None:
                return None
            drawn = replayed(saved, info), info
        tracked, info = drawn
        game, board = tracked.game, _board_of(tracked, info)
        if not (game.is_over or is_stopped):
            return None
        outcome = game.outcome.value if game.is_over else "ended"
        try:
            is_new = self.store.records.finish(
                game_id, tracked.revision, tracked.record().to_json(), score=game.score,
                max_tile=game.board.max_tile, plies=game.ply, outcome=outcome,
                category=board,
                think_ms=sum(tracked.think_ms) if info.mode == BOT else None,
                can_undo=info.mode == CASUAL, offline=tracked.offline,
            )  # fmt: skip
        except StaleGameError:
            return None  # finished by another process, or undone
        return board if is_new else None

    def finalize_orphans(self) -> dict[str, str]:
        """Finish games that are over but have no record.

        Returns:
            Errors by game id. Games that cannot be verified are not tried again, unlike games that
            failed because of the store.
        """
        bad = {}
        for game_id in self.store.online.orphans(spare=self._uncounted):
            try:
                self.finish(game_id)
            except Exception as error:  # noqa: BLE001 - the other games must still finish
                bad[game_id] = str(error) or repr(error)
                _log.error("a game was not counted", extra={"game": game_id, "fault": bad[game_id]})
                if not (isinstance(error, StorageError) and error.kind):
                    self._uncounted[game_id] = None
        return bad

    def sweep(self, open_ids: Collection[str]) -> None:
        """Delete expired data of games that are not open in a room.

        Guests are deleted with all of their data once their cookie has expired, or if they have no
        games. Guests' games with very few moves and the leaderboards of past periods are also
        deleted. For finished casual games that can no longer be undone, only the record is kept.
        """
        self.store.leaderboards.forget_periods()
        ages, today = (UNDOABLE, UNTOUCHED, LOST), utc_now()[:10]
        ended, before, lost = (utc_text(datetime.now(UTC) - age) for age in ages)
        if self._swept != today and not self.store.accounts.forget_guests(lost):
            self._swept = today
        self.store.online.close_ended(ended)
        self.store.online.sweep_guests(before, spare=open_ids)


def check_sealed(info: OnlineGameInfo, account_id: str) -> None:
    """Reject access to a daily game whose secret is hidden, as in `GameService.check_visible`.

    Raises:
        ActionRejected: If the day's secret is still hidden (``sealed``).
    """
    if info.owner != account_id and (since := fairness.sealed_until(info.day)):
        text = _("games of this challenge are hidden until {day} (UTC)")
        raise ActionRejected("sealed", text.format(day=since))


def dealt(rules: Rules, secret: str) -> Board:
    """Return the start position that a secret determines.

    Raises:
        ActionRejected: If no move is possible in the start position (``rules``).
    """
    start = start_from(rules, fairness.draws_of(secret))
    if Game(rules, board=start).is_over:
        text = _("the game would be over at its start under {rules}")
        raise ActionRejected("rules", text.format(rules=rules))
    return start


def _check_mode(account: Account, mode: str) -> None:
    """Reject programs in games for people, and people in games for programs."""
    if account.bot_of is not None and mode != BOT:
        raise ActionRejected("mode", f"programs play {BOT} games only: omit the mode")
    if account.bot_of is None and mode == BOT:
        text = f"{BOT} games are for programs: get a token on your account page"
        raise ActionRejected("mode", text)


def replay_offline(tracked: TrackedGame, text: str, category: str = "plain") -> TrackedGame:
    """Play offline turns in a copy of a game, and return this copy.

    Args:
        tracked: The copy.
        text: The turns in record notation.
        category: Category that the browser reports, because the server cannot know what help an
            offline player used.

    Raises:
        ActionRejected: If a turn cannot be parsed or breaks the rules (``offline``).
    """
    game = tracked.game
    try:
        for direction, spawn in decode_steps(text, game.rules.shape):
            if spawn is None and direction in game.legal_directions():
                raise RecordError(f"{direction} moves the tiles: it needs the tile that appeared")
            if tracked.attempt(direction, spawn=spawn) is None:
                raise RecordError(f"{direction} moves nothing, which is not a turn here")
    except Py2048Error as error:
        raise ActionRejected("offline", f"a move made offline is invalid: {error}") from None
    tracked.offline = True
    tracked.computer |= category == "computer"
    tracked.hints += category == "assisted" and tracked.category == "plain"
    return tracked


def replayed(saved: SavedGame, info: OnlineGameInfo) -> TrackedGame:
    """Replay a stored game. Except for offline turns, the tiles are verified against the secret.

    Raises:
        RecordError: If the start position or a turn does not follow the rules and the secret.
    """
    is_drawn = not saved.extra.get("offline")
    try:
        draws = fairness.draws_of(info.secret)
        tracked = TrackedGame.from_saved(saved, draws, draw_again=is_drawn)
    except StorageError as error:
        raise RecordError(str(error)) from None
    game = tracked.game
    if is_drawn and not (saved.extra.get(_FROM_POSITION) or game.has_drawn_start()):
        raise RecordError("the start differs from the secret's draw")
    if is_drawn and list(map(encode_turn, game.turns)) != tracked.codes[: saved.position]:
        raise RecordError("a tile differs from the secret's draw")
    if game.score != saved.score or game.is_over != saved.is_over:
        how = "a game over" if saved.is_over else "a game in progress"
        raise RecordError(f"the turns give {game.score} points, not {how} with {saved.score}")
    return tracked


def _board_of(tracked: TrackedGame, info: OnlineGameInfo) -> str:
    """Return the leaderboard for a finished game, based on its mode and the help used.

    A daily game that continued after its secret was revealed counts as assisted.
    """
    if tracked.extra.get(_FROM_POSITION):
        return POSITION
    if tracked.category != "plain" or info.mode == CASUAL:
        return tracked.category
    ended = tracked.game.finished or 0.0
    is_late = info.day and ended >= fairness.revelation_of(info.day).timestamp()
    return "assisted" if is_late else info.mode


def guest_name(account_id: str) -> str:
    """Return the name that is displayed for a guest."""
    return f"guest {account_id[:4].upper()}"


def is_known(account: Account) -> bool:
    """Whether an account has a name and was created before today (UTC)."""
    return account.name is not None and account.created < datetime.now(UTC).date().isoformat()


def new_account_id() -> str:
    """Return the id of a new guest."""
    return secrets.token_hex(16)


def checked_rules(text: str) -> Rules:
    """Parse a user's rules text.

    Custom rules with the name of a preset are renamed to `OWN`. A preset keeps its name on boards
    of any size.

    Raises:
        ActionRejected: If the text is invalid or exceeds a limit (``rules``).
    """
    if len(text) > MAX_RULES_TEXT:
        fault = f"the rules are too long: at most {MAX_RULES_TEXT} characters"
        raise ActionRejected("rules", fault)
    try:
        rules = Rules.parse(text)
    except (Py2048Error, ValueError, OverflowError) as error:
        raise ActionRejected("rules", str(error)) from None
    tile = max(*rules.spawn_weights.tiles, *rules.start_weights.tiles)
    for value, limit, fault in (
        (len(rules.name), MAX_RULES_NAME, f"the name {rules.name!r} is too long"),
        (max(rules.shape), MAX_SIDE, f"size={rules.rows}x{rules.columns} is too large"),
        (tile, MAX_TILE, f"new tiles of {tile} are too large"),
        (rules.target or 0, MAX_TARGET, f"target={rules.target} is too large"),
        (len(str(rules)), MAX_RULES_TEXT, "the rules written in full are too long"),
    ):
        if value > limit:
            raise ActionRejected("rules", f"{fault} here: use at most {limit}")
    if not rules.name.isascii():  # homoglyphs could imitate a preset
        fault = f"the name {rules.name!r} has characters outside ASCII"
        raise ActionRejected("rules", f"{fault}: use unaccented letters and digits")
    is_borrowed = any(rules.name.casefold() == preset.name for preset in list_rules())
    return replace(rules, name=OWN) if is_borrowed and preset_of(rules) is None else rules
