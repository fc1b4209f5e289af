"""Games on a server: a single open game, and the service that manages all games.

Rules from users are bounded so that no game can outgrow the store or the page. A game has at most
`MAX_ACTIONS` actions, and each adds one tile of at most `MAX_TILE`. So the sum of the tiles is at
most ``MAX_ACTIONS * MAX_TILE``. Merging two tiles ``t`` raises the sum of ``t * log2(t)`` over all
tiles by the points earned, so a score is at most ``sum * log2(sum)``. This is below 2**53, the
limit of exact integers in JavaScript, and far below the 2**63 of the store's columns.
"""

from __future__ import annotations

import functools
import logging
import operator
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from py2048.app.session.session import Session
from py2048.app.session.tracked_game import HUMAN_CATEGORIES, TrackedGame
from py2048.app.storage import (
    Account,
    GameChange,
    NewOnlineGame,
    OnlineGameInfo,
    RecordSummary,
    SavedGame,
)
from py2048.app.storage.values import OpenGame, utc_now, utc_text
from py2048.core import fairness
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, RecordError, StaleGameError, StorageError
from py2048.core.game import Game, Record
from py2048.core.game.turn import decode_steps, direction_of, encode_step, start_from
from py2048.core.language import N_, _
from py2048.core.rules import Rules, get_rules, list_rules
from py2048.presentation.events import Event
from py2048.review.advice import Hint
from py2048.server import schema
from py2048.server.schema import BOT, CASUAL, DAILY, MODES, POSITION, ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
MAX_ACTIONS = 1_000_000  # Moves, undos, redos and hints in a game.
MAX_OPEN_GAMES = 100  # Per account.
DAILY_RULES = get_rules("classic")

DISCARDABLE = timedelta(hours=1)
"""Age at which a game without moves may be discarded to make room for a new one."""

LIVE = timedelta(minutes=5)
"""How long a game counts as live after its last move."""

UNDOABLE = timedelta(minutes=10)
"""How long the end of a casual game can be undone."""

UNTOUCHED = timedelta(days=1)
"""Age at which a guest's game with hardly any moves is deleted."""

LOST = timedelta(days=400)
"""Age at which any guest's game is deleted, because the guest's cookie has expired."""

MAX_SIDE = 16
MAX_TILE = 2**20  # Largest tile that rules may spawn.
MAX_TARGET = 2**40  # No game reaches a larger tile.
OWN = "own"  # Replaces the name of a preset in custom rules.

_FROM_POSITION = "from_position"
_PROCESS_START = datetime.now(UTC)
MAX_RULES_NAME = 40
MAX_RULES_TEXT = 400


@dataclass
class ThinkingClock:
    """Measures a program's thinking time with the server's clock.

    The clock starts when a position is handed to the network and stops when the next move arrives,
    so it includes network latency; a program's own measurement could not be verified. The first
    move is free, because programs connect and warm up during it.

    Attributes:
        since: When the position was handed to the network, from `time.monotonic`.
    """

    since: float
    _rest: float = field(default=0.0, repr=False)

    @classmethod
    def resumed(cls, updated: str) -> ThinkingClock:
        """Return the clock of a game loaded from the store.

        It has been running since the last move, except while this server was down.

        Args:
            updated: When the game last changed, ISO 8601 in UTC.
        """
        since = max(datetime.fromisoformat(updated), _PROCESS_START)
        elapsed = (datetime.now(UTC) - since).total_seconds()
        return cls(time.monotonic() - max(0.0, elapsed))

    def read(self, now: float) -> int:
        """Return the whole milliseconds until `now` and carry the fraction over to the next move.

        The times of many short moves thus add up to the true total.
        """
        elapsed = max(0.0, now - self.since) * 1000 + self._rest
        self._rest = elapsed % 1
        return int(elapsed)


class OnlineGame:
    """An open game in one process. Not thread-safe.

    Every action carries the version that the game will have after it. An action with the next
    version is played; one with an earlier version has been played before and is ignored; one with a
    later version is rejected. Actions return their events; ignored actions return none.

    Args:
        store: Provides best scores.
        saved: The stored game.
        info: The stored metadata of the online game.
        is_finished: Whether only the record is stored, so the game can no longer change.

    Attributes:
        is_finished: As given.
        allows_help: Whether the mode allows undo, hints and computer players.
        tracked: The turns, and which of them are unsaved.
        clock: The program's thinking clock.
        think_ms: Total thinking time of a program.
        window: Start and end of play in a battle; None in other games.
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
        self.session = Session(player=saved.player)
        is_undoable = saved.is_over and not is_finished
        best = _best_score(store, saved, without=saved.id if is_undoable else "")
        self.session.play_tracked(self.tracked, best)
        self.clock = ThinkingClock.resumed(saved.updated)
        self.think_ms = sum(millis or 0 for millis in saved.millis[: saved.position])

    @property
    def version(self) -> int:
        """Number of actions that changed the game."""
        return self.tracked.revision

    @property
    def is_over(self) -> bool:
        """Whether no more moves can be made."""
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

    @property
    def secret(self) -> str | None:
        """The secret that the tiles come from, once it may be revealed."""
        return fairness.public_secret(self.info.secret, self.info.day, is_over=self.is_over)

    # Numbered actions

    def move(
        self, number: int, direction: Direction, arrived: float | None = None
    ) -> tuple[Event, ...]:
        """Make a move.

        Args:
            number: Number of the action.
            direction: Direction of the move.
            arrived: When the move arrived, from `time.monotonic`; used to time programs.

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
        """Redo the last undone turn; raises the same errors as `undo`."""
        return self._step(number, self.session.redo, N_("there is nothing to redo"))

    def show_hint(self, number: int, hint: Hint) -> tuple[Event, ...]:
        """Count a hint.

        Raises:
            ActionRejected: If the game has changed since the hint was requested (``gap``) or the
                mode forbids hints (``mode``).
        """
        self.check_help()
        if not (self._is_next(number) and (events := self.session.show_hint(hint))):
            raise ActionRejected("gap", _("the game has changed since the hint was asked for"))
        return events

    def play_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Play a computer player's move, unless it is stale.

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
            ActionRejected: For the same reasons as `undo`, or if the number is not the next
                (``gap``).
        """
        self.check_help()
        if number != self.version + 1:
            raise ActionRejected("gap", f"the game is at action {self.version} by now")

    def take_offline(self, number: int, played: TrackedGame) -> None:
        """Continue with the game that `replay_offline` returned, unless the game has changed since.

        The tiles of offline turns are not verifiable, so the game counts on no leaderboard. It
        counts like any other among the player's own games.

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
            text = _("the game has reached its limit of {n} actions: begin a new one")
            raise ActionRejected("over", text.format(n=MAX_ACTIONS))

    def over(self) -> ActionRejected:
        """Return the rejection of an action in a game that is over."""
        if self.window is None or self.session.game.is_over:
            return ActionRejected("over", _("the game is over: begin a new one"))
        starts, ends = self.window
        if starts == ends:
            return ActionRejected("over", _("you have left this battle: your score stands"))
        return ActionRejected("over", _("time is up: the battle is over"))

    # Changes by other processes

    def apply(self, change: GameChange) -> tuple[Event, ...] | None:
        """Apply a change that another process has saved, if it only added turns.

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
        # This process drew the tiles itself, so the result must match the stored change.
        return tuple(events) if self.tracked.take_change() == change else None

    def has_same_turns(self, other: OnlineGame) -> bool:
        """Whether another copy of the game has the same turns and details."""
        mine, its = self.tracked, other.tracked
        return (mine.revision, mine.position, mine.details, mine.codes) == (
            its.revision, its.position, its.details, its.codes,
        )  # fmt: skip


def _best_score(store: Store, saved: SavedGame, without: str) -> int:
    """Return the owner's best score without autoplay in finished games other than `without`."""
    bests = store.scores.bests(saved.rules, saved.owner, without=without)
    return max(bests.get(board, 0) for board in (*HUMAN_CATEGORIES, schema.RANKED, DAILY, BOT))


class GameService:
    """Starts, loads, finishes and looks up games. Methods may block and are thread-safe.

    Args:
        store: The store.

    Attributes:
        store: As given.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._broken: set[str] = set()  # games that failed verification

    def account(self, account_id: str) -> Account:
        """Return the account, or a new guest's account that is not stored yet."""
        found = self.store.accounts.find(account_id)
        return found or Account(account_id, None, None, 0, "")

    def sign_in_state(self, account_id: str) -> tuple[Account, str | None]:
        """Return the account and the id of its most recent game in progress, if any."""
        with self.store.snapshot():
            latest = self.store.online.open_games(account_id, limit=1)
            return self.account(account_id), latest[0].id if latest else None

    # Beginning a game

    def begin_game(self, account_id: str, rules: str, mode: str) -> OnlineGame:
        """Start a game. If today's daily game already exists, return it.

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
        """Start a game with a secret, on a challenge's day or from a position if given.

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
        """Return the account's game of today's challenge, if it exists."""
        return self.store.online.daily(account_id, datetime.now(UTC).date().isoformat())

    def _make_room(self, in_progress: Sequence[OpenGame]) -> None:
        """Discard the oldest games without a move if the account has reached its limit.

        Raises:
            ActionRejected: If no game without moves is old enough (``too_many``).
        """
        excess = len(in_progress) - MAX_OPEN_GAMES + 1
        if excess <= 0:
            return
        idle = utc_text(datetime.now(UTC) - DISCARDABLE)
        empty = [
            each for each in in_progress if not (each.length or each.day) and each.updated < idle
        ]
        if len(empty) < excess:
            raise ActionRejected(
                "too_many",
                _("you have {n} games in progress: finish one first").format(n=MAX_OPEN_GAMES),
            )
        for game in empty[-excess:]:
            self.store.online.discard(game.id, game.revision)

    # Looking games up

    def find(self, game_id: str) -> RecordSummary | OpenGame | None:
        """Return a game without its turns, finished or in progress, or None."""
        # A game that is finished between the two queries is found by the second one.
        in_progress = self.store.online.open_game(game_id)
        return self.store.records.summary(game_id) or in_progress

    def load(self, game_id: str) -> OnlineGame:
        """Load a game in progress or a finished game.

        Raises:
            ActionRejected: If the game does not exist (``unknown_game``).
            StorageError: If it cannot be read.
        """
        with self.store.snapshot():
            info = self.store.online.info(game_id)
            open_game = self.store.games.find(game_id)
            saved = open_game or self._finished_game(game_id)
            if info is None or saved is None:
                raise ActionRejected(
                    "unknown_game", _("there is no game {id} here").format(id=game_id)
                )
            game = OnlineGame(self.store, saved, info, is_finished=open_game is None)
            if info.mode == schema.BATTLE:
                game.window = self.store.battles.window(game_id)
            return game

    def check_visible(self, game_id: str, account_id: str) -> None:
        """Reject access to other players' daily games until the secret of the day is revealed.

        The same moves get the same tiles, so a visible game could be copied, and the secret would
        allow planning. Both stay hidden until honest games of that day can neither start nor
        finish.

        Raises:
            ActionRejected: If the game is sealed (``sealed``).
        """
        info = self.store.online.info(game_id)
        if info is not None:
            check_sealed(info, account_id)

    def challenge(self, day: str) -> tuple[str | None, str | None]:
        """Return the commitment to a day's secret, and the secret once it is revealed.

        Both are None for a day without games.
        """
        secret = self.store.online.find_day_secret(day)
        if secret is None:
            return None, None
        is_known = datetime.now(UTC) >= fairness.revelation_of(day)
        return fairness.commitment_of(secret), secret if is_known else None

    def live_games_of(self, account_id: str) -> list[OpenGame]:
        """Return the account's recently played games, the latest first."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = self.store.online.open_games(account_id)
        return [game for game in games if game.updated >= since and game.max_tile]

    def export(self, account_id: str) -> dict[str, object]:
        """Return all stored data of an account, without the secrets of games in progress."""
        exported = self.store.accounts.export(account_id)
        in_progress = {game["id"] for game in exported["games"]}
        for row in exported["rounds"]:
            secret, is_over = row["secret"], row["game_id"] not in in_progress
            if fairness.public_secret(secret, row["day"], is_over=is_over) is None:
                row["secret"] = fairness.commitment_of(secret)
        return exported

    def _finished_game(self, game_id: str) -> SavedGame | None:
        """Return a finished game in its final position, from its record."""
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

    def record_text(self, game_id: str) -> str:
        """Return the record file of a finished game that was played on this server.

        Raises:
            ActionRejected: If there is none (``unknown_game``).
        """
        online, records = self.store.online, self.store.records
        if online.info(game_id) is None or records.summary(game_id) is None:
            raise ActionRejected("unknown_game", _("there is no record of this game yet"))
        return records.load(game_id)

    # Finishing and sweeping

    def finish(self, game_id: str, *, is_stopped: bool = False) -> str | None:
        """Create the record of a game that is over, after verifying it against its secret.

        A casual game is kept beside its record for `UNDOABLE`, so that an undo can restore it.

        Args:
            game_id: The game.
            is_stopped: Finish the game even if moves are left, because time is up.

        Returns:
            The category of the record, or None if there is no game to finish.

        Raises:
            RecordError: If the game does not follow its rules and secret.
            StorageError: If the store cannot be written.
        """
        saved, info = self.store.games.find(game_id), self.store.online.info(game_id)
        if saved is None or info is None or not (saved.is_over or is_stopped):
            return None
        if self.store.records.summary(game_id) is not None:
            return None
        tracked = replayed(saved, info)
        game, board = tracked.game, _board_of(saved, info, tracked)
        outcome = game.outcome.value if saved.is_over else "ended"
        try:
            self.store.records.finish(
                game_id, saved.revision, tracked.record().to_json(), score=game.score,
                max_tile=game.board.max_tile, plies=game.ply, outcome=outcome,
                category=board,
                think_ms=sum(tracked.think_ms) if info.mode == BOT else None,
                can_undo=info.mode == CASUAL, offline=tracked.offline,
            )  # fmt: skip
        except StaleGameError:
            return None  # finished by another process, or undone
        return board

    def finalize_orphans(self) -> dict[str, str]:
        """Finish games that are over but have no record.

        Returns:
            Errors by game id. Games with an error are not retried, unless the store itself failed.
        """
        bad = {}
        for game_id in self.store.online.orphans(spare=self._broken):
            try:
                self.finish(game_id)
            except Exception as error:  # noqa: BLE001 - the other games must still finish
                bad[game_id] = str(error) or repr(error)
                _log.error("a game was not counted", extra={"game": game_id, "fault": bad[game_id]})
                if not (isinstance(error, StorageError) and error.kind):
                    self._broken.add(game_id)
        return bad

    def sweep(self, open_ids: Collection[str]) -> None:
        """Delete expired data of games that are not open.

        This covers guests' games that were hardly begun or are out of reach, guests without games,
        casual games that can no longer be undone, and leaderboards of past periods.
        """
        self.store.leaderboards.forget_periods()
        ages = UNDOABLE, UNTOUCHED, LOST
        ended, before, lost = (utc_text(datetime.now(UTC) - age) for age in ages)
        self.store.online.close_ended(ended)
        self.store.online.sweep_guests(before, lost, spare=open_ids)


def check_sealed(info: OnlineGameInfo, account_id: str) -> None:
    """Reject access to a sealed game, as `GameService.check_visible` does.

    Raises:
        ActionRejected: If the game is sealed (``sealed``).
    """
    if info.owner != account_id and (since := fairness.sealed_until(info.day)):
        text = _("games of this challenge are hidden until {day} (UTC)")
        raise ActionRejected("sealed", text.format(day=since))


def dealt(rules: Rules, secret: str) -> Board:
    """Return the start position that a secret deals.

    Raises:
        ActionRejected: If no move is possible in it (``rules``).
    """
    start = start_from(rules, fairness.draws_of(secret))
    if Game(rules, board=start).is_over:
        text = _("the game would be over at its start under {rules}")
        raise ActionRejected("rules", text.format(rules=rules))
    return start


def _check_mode(account: Account, mode: str) -> None:
    """Reject people's modes for programs and the programs' mode for people."""
    if account.bot_of is not None and mode != BOT:
        raise ActionRejected("mode", f"programs play {BOT} games only: omit the mode")
    if account.bot_of is None and mode == BOT:
        raise ActionRejected(
            "mode", f"{BOT} games are for programs: get a token on your account page"
        )


def replay_offline(tracked: TrackedGame, text: str, category: str = "plain") -> TrackedGame:
    """Play turns from offline play in a copy of a game and return it.

    Args:
        tracked: The copy.
        text: The turns in record notation.
        category: Category of the game in the browser, which knows what help the player used.

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
    """Replay a stored game and verify its tiles against the secret, except offline turns.

    Raises:
        RecordError: If the start or a turn does not follow the rules and the secret.
    """
    try:
        tracked = TrackedGame.from_saved(saved, fairness.draws_of(info.secret))
    except StorageError as error:
        raise RecordError(str(error)) from None
    game = tracked.game
    if not tracked.offline:
        start = None if saved.extra.get(_FROM_POSITION) else game.start
        fairness.check_draws(info.secret, game.rules, start, game.turns)
    if game.score != saved.score or game.is_over != saved.is_over:
        how = "a game over" if saved.is_over else "a game in progress"
        raise RecordError(f"the turns give {game.score} points, not {how} with {saved.score}")
    return tracked


def _board_of(saved: SavedGame, info: OnlineGameInfo, game: TrackedGame) -> str:
    """Return the leaderboard of a finished game: that of its mode, or of the help it used.

    A daily game that continued after its secret was revealed counts as assisted.
    """
    if saved.extra.get(_FROM_POSITION):
        return POSITION
    if game.category != "plain":
        return game.category
    if info.day and saved.updated >= utc_text(fairness.revelation_of(info.day)):
        return "assisted"
    return game.category if info.mode == CASUAL else info.mode


def guest_name(account_id: str) -> str:
    """Return the display name of a guest."""
    return f"guest {account_id[:4].upper()}"


def is_known(account: Account) -> bool:
    """Whether an account has a name and was created before today (UTC)."""
    return account.name is not None and account.created < datetime.now(UTC).date().isoformat()


def new_account_id() -> str:
    """Return the id of a new guest."""
    return secrets.token_hex(16)


def checked_rules(text: str) -> Rules:
    """Parse a user's rules text.

    Only presets, in any size, may have the name of a preset; other rules are renamed to `OWN`.

    Raises:
        ActionRejected: If the text is invalid or exceeds a limit (``rules``).
    """
    if len(text) > MAX_RULES_TEXT:
        raise ActionRejected(
            "rules", f"the rules are too long: at most {MAX_RULES_TEXT} characters"
        )
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


@functools.lru_cache(maxsize=1024)
def preset_of(rules: Rules) -> Rules | None:
    """Return the preset that equals these rules apart from size and name, or None.

    If several match, such as classic and 5x5, the name decides.
    """
    names = [each.name for each in fields(Rules) if each.name not in ("name", "rows", "columns")]
    wanted = operator.attrgetter(*names)
    same = [preset for preset in list_rules() if wanted(preset) == wanted(rules)]
    first = same[0] if same else None
    return next((each for each in same if each.name == rules.name.casefold()), first)
