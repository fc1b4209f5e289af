"""Games on a server: `OnlineGame`, one that is open here, and `GameService`, all of them.

The rules that strangers may ask for are bounded, so that no game can outgrow the store or the page.
A game has at most `MAX_ACTIONS` actions, each of which adds one tile of at most `MAX_TILE`.
With `n` tiles their sum is at most ``n * MAX_TILE``, and merges earn at most
``sum * log2(sum)`` points: a merge of two tiles ``t`` raises the sum of ``t * log2(t)`` by the
points that it earns. That stays below 2**53, which JavaScript's numbers hold exactly, and far
below the 2**63 of the store's columns.
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
from py2048.app.session.tracked_game import TrackedGame
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
from py2048.core.game.record import decode_steps, direction_of, encode_step
from py2048.core.game.turn import Outcome, start_from
from py2048.core.language import N_, _
from py2048.core.rules import Rules, get_rules, list_rules
from py2048.presentation.events import Event
from py2048.review.advice import Hint
from py2048.server import schema
from py2048.server.schema import BOT, CASUAL, DAILY, MODES, POSITION, ActionRejected

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
MAX_ACTIONS = 1_000_000
"""The moves, undos, redos and hints of a game together."""

MAX_OPEN_GAMES = 100
"""The games in progress of an account."""

IDLE = timedelta(hours=1)
"""After this time a game without a move gives way to a new one, where there are too many."""

DAILY_RULES = get_rules("classic")
"""The game of a day is played by these rules."""

LIVE = timedelta(minutes=5)
"""A game counts as live for this long after its last move."""

UNDOABLE = timedelta(minutes=10)
"""The end of a casual game can be undone for this long."""

UNTOUCHED = timedelta(days=1)
"""After this time without a move a guest's game that is hardly begun is removed."""

LOST = timedelta(days=400)
"""After this time without a move any game of a guest is removed: the cookie has ended."""

MAX_SIDE = 16
MAX_TILE = 2**20
"""The largest tile that may appear by itself, at the start or after a move."""

MAX_TARGET = 2**40
"""No game reaches a larger tile."""

OWN = "own"
"""What rules are called whose text borrows the name of a preset."""

_FROM_POSITION = "from_position"
_STARTED = datetime.now(UTC)
MAX_RULES_NAME = 40
MAX_RULES_TEXT = 400


@dataclass
class Clock:
    """How long a program thinks about a position, by the server's clock alone.

    It runs from the moment when a position is handed to the network until the next move has come,
    so the network's part is in it; what a program says of its own thinking, or of its distance,
    cannot be checked. The first move is free: a program connects and warms up in it.

    Attributes:
        since: when the position was handed to the network, as of `time.monotonic`.
    """

    since: float
    _rest: float = field(default=0.0, repr=False)

    @classmethod
    def resumed(cls, updated: str) -> Clock:
        """Return the clock of a game that was loaded from the store.

        It has run since the last move, but not while this server was down.

        Args:
            updated: when the game last changed, ISO 8601 in UTC.
        """
        since = max(datetime.fromisoformat(updated), _STARTED)
        elapsed = (datetime.now(UTC) - since).total_seconds()
        return cls(time.monotonic() - max(0.0, elapsed))

    def read(self, now: float) -> int:
        """Return the whole milliseconds until `now`; what is left over counts with the next.

        So the times of many moves add up to the true time, however short each is.
        """
        elapsed = max(0.0, now - self.since) * 1000 + self._rest
        self._rest = elapsed % 1
        return int(elapsed)


class OnlineGame:
    """A game on a server, as one process sees it. Not for several threads at a time.

    Every action carries the number that the game's version will have after it. The next number
    is done, an earlier one was done before, a later one is rejected. An action returns what
    happened, in order: nothing if the number was done before.

    Args:
        store: reads best scores.
        saved: the game as the store has it.
        info: what it has besides.
        is_finished: whether only its record is left, so that nothing can change it any more.

    Attributes:
        is_finished: as given.
        tracked: its turns, and what of them is not written.
        clock: how long a program thinks.
        think_ms: how long a program has thought about all its moves.
        window: from when to when moves can be made, in a battle; None for ever.
    """

    def __init__(
        self, store: Store, saved: SavedGame, info: OnlineGameInfo, *, is_finished: bool = False
    ) -> None:
        self.id = saved.id
        self.info = info
        self.is_finished = is_finished
        self.commitment = fairness.commitment_of(info.secret)
        self.window: tuple[str, str] | None = None
        self.tracked = TrackedGame.from_saved(saved, fairness.draws_of(info.secret))
        self.session = Session(player=saved.player)
        is_undoable = saved.is_over and not is_finished
        self._best_before = _best_score(store, saved, without=saved.id if is_undoable else None)
        self.session.play_tracked(self.tracked, self._best_before)
        self.clock = Clock.resumed(saved.updated)
        self.think_ms = sum(millis or 0 for millis in saved.millis[: saved.position])

    @property
    def version(self) -> int:
        """How many actions changed the game."""
        return self.tracked.revision

    @property
    def is_over(self) -> bool:
        """Whether no move can be made any more."""
        is_late = self.window is not None and utc_now() >= self.window[1]
        return self.is_finished or is_late or self.session.game.is_over

    @property
    def outcome(self) -> Outcome:
        """How the game stands; one that is over although moves are left has ended."""
        outcome = self.session.game.outcome
        return Outcome.ENDED if outcome is Outcome.PLAYING and self.is_over else outcome

    @property
    def can_undo(self) -> bool:
        """Whether a turn may be taken back."""
        return self.allows_help and not self.is_finished and self.session.game.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether an undone turn may be played again."""
        return self.allows_help and not self.is_finished and self.session.game.can_redo

    @property
    def category(self) -> str:
        """`POSITION`, or that of its session."""
        return POSITION if self.tracked.extra.get(_FROM_POSITION) else self.session.category

    @property
    def allows_help(self) -> bool:
        """Whether the game's mode allows undo, hints and computer players."""
        return self.info.mode == CASUAL

    @property
    def secret(self) -> str | None:
        """What the draws come from, once the game is over and it may be known."""
        return fairness.public_secret(self.info.secret, self.info.day, is_over=self.is_over)

    # Numbered actions

    def move(
        self, number: int, direction: Direction, arrived: float | None = None
    ) -> tuple[Event, ...]:
        """Slide.

        Args:
            number: the number of the action.
            direction: where to.
            arrived: when the move came, as of `time.monotonic`: programs have a clock.

        Raises:
            ActionRejected: if the number is not the next (``gap``), the game is over (``over``) or
                its battle has not started (``early``).
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
        """Take back the last turn.

        Raises:
            ActionRejected: as `move`, or where the mode forbids it (``mode``) or there is none.
        """
        events = self._step(number, self.session.undo, N_("there is nothing to undo"))
        self.session.reset_best(self._best_before)
        return events

    def redo(self, number: int) -> tuple[Event, ...]:
        """Play the last undone turn again; rejected as `undo`."""
        return self._step(number, self.session.redo, N_("there is nothing to redo"))

    def show_hint(self, number: int, hint: Hint) -> tuple[Event, ...]:
        """Count a hint.

        Raises:
            ActionRejected: if the game has changed since the hint was asked for (``gap``), or the
                mode forbids it.
        """
        self.check_help()
        if not (self._is_next(number) and (events := self.session.show_hint(hint))):
            raise ActionRejected("gap", _("the game has changed since the hint was asked for"))
        return events

    def play_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Play the move that a computer player chose, unless it is outdated.

        Raises:
            ActionRejected: reason ``over`` if the game is as long as a game may be.
        """
        self._check_length()
        return self.session.play_hint(hint)

    def check_offline(self, number: int) -> None:
        """Refuse turns that were played in a browser without its server, if they do not fit.

        Args:
            number: what the first of them would have as an action of its own.

        Raises:
            ActionRejected: as `undo`, or if the number is not the next (``gap``).
        """
        self.check_help()
        if number != self.version + 1:
            raise ActionRejected("gap", f"the game is at action {self.version} by now")

    def take_offline(self, number: int, played: TrackedGame) -> None:
        """Continue with what `played_offline` returned, unless the game has changed since.

        No one vouches for their tiles, so the game counts on no board of scores.

        Raises:
            ActionRejected: as `check_offline`, or if the game would be too long (``over``).
        """
        self.check_offline(number)
        self._check_length(played.revision - self.version)
        self.tracked = played
        self.session.adopt(played)

    def check_help(self) -> None:
        """Refuse help where the mode forbids it.

        Raises:
            ActionRejected: reason ``mode``, or ``over`` when only its record is left.
        """
        if not self.allows_help:
            text = _("this kind of game goes without undo, hints and autoplay")
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
        if number > self.version + 1:
            raise ActionRejected("gap", f"action {number} comes before action {self.version + 1}")
        if number == self.version + 1:
            self._check_length()
        return number == self.version + 1

    def _check_length(self, actions: int = 1) -> None:
        if self.version + actions > MAX_ACTIONS:
            text = _("the game ends here: it has {n} actions")
            raise ActionRejected("over", text.format(n=MAX_ACTIONS))

    def over(self) -> ActionRejected:
        """Return the rejection of what cannot be done in a game that is over."""
        if self.window is None or self.session.game.is_over:
            return ActionRejected("over", _("the game is over: begin a new one"))
        starts, ends = self.window
        if starts == ends:
            return ActionRejected("over", _("you have left this battle: your score stands"))
        return ActionRejected("over", _("time is up: the battle is over"))

    # Other processes

    def follow(self, change: GameChange) -> tuple[Event, ...] | None:
        """Follow what another process has written, if it only added turns.

        Returns:
            Their events. `None` says that more has happened: the game must be loaded again.
        """
        actions = change.revision - change.seen
        if self.tracked.is_changed or change.seen != self.version or actions != len(change.turns):
            return None
        events: list[Event] = []
        for _ply, code, millis in change.turns:
            events += self.session.move(direction_of(code), millis)
            self.think_ms += millis
        self.clock = Clock(time.monotonic())
        # The tiles are drawn here too; nothing that comes from elsewhere is believed.
        return tuple(events) if self.tracked.take_change() == change else None

    def leads_where(self, other: OnlineGame) -> bool:
        """Say whether another copy of the game has the same turns and facts, written or not."""
        mine, its = self.tracked, other.tracked
        return (mine.revision, mine.position, mine.details, mine.codes) == (
            its.revision, its.position, its.details, its.codes,
        )  # fmt: skip


def _best_score(store: Store, saved: SavedGame, without: str | None) -> int:
    """Return the owner's best score of finished games that a person played, `without` one game."""
    bests = store.scores.bests(saved.rules, saved.owner, without=without)
    return max(bests.get(board, 0) for board in (schema.RANKED, DAILY, "assisted", BOT))


class GameService:
    """A server's games: begun, loaded, finished and looked up.

    Its methods may block; threads may share it.

    Args:
        store: where everything is kept.

    Attributes:
        store: as given.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._broken: set[str] = set()  # games that cannot be finished

    def account(self, account_id: str) -> Account:
        """Return the account, or what a guest's will be when it is stored."""
        found = self.store.accounts.find(account_id)
        return found or Account(account_id, None, None, 0, "")

    def sign_in_state(self, account_id: str) -> tuple[Account, str | None]:
        """Return the account, and the game to continue: the last changed one, if any."""
        with self.store.snapshot():
            latest = self.store.online.open_games(account_id, limit=1)
            return self.account(account_id), latest[0].id if latest else None

    # Beginning a game

    def begin_game(self, account_id: str, rules: str, mode: str) -> OnlineGame:
        """Begin a game; a daily one of today that has begun is returned as it is.

        Raises:
            ActionRejected: if the rules or the mode are not played here, or the account has too
                many games in progress.
            StorageError: if the store cannot be read or written.
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
        """Begin a game with a secret: that of a day, or one from a position, if these are given.

        Raises:
            ActionRejected, StorageError: as `begin_game`.
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
        return self.begin_game(account_id, "", DAILY)  # the account began that of the day meanwhile

    def daily(self, account_id: str) -> OnlineGameInfo | None:
        """Return the account's game of today's challenge, None if it has not begun."""
        return self.store.online.daily(account_id, datetime.now(UTC).date().isoformat())

    def _make_room(self, in_progress: Sequence[OpenGame]) -> None:
        """Discard an account's oldest game without a move, where it has all that it may have.

        Raises:
            ActionRejected: if each of them has a move or is new.
        """
        excess = len(in_progress) - MAX_OPEN_GAMES + 1
        if excess <= 0:
            return
        idle = utc_text(datetime.now(UTC) - IDLE)
        empty = [
            each for each in in_progress if not (each.length or each.day) and each.updated < idle
        ]
        if len(empty) < excess:
            raise ActionRejected(
                "too_many",
                _("you have {n} games in progress: finish one before the next").format(
                    n=MAX_OPEN_GAMES
                ),
            )
        for game in empty[-excess:]:
            self.store.online.discard(game.id, game.revision)

    # Looking games up

    def find(self, game_id: str) -> RecordSummary | OpenGame | None:
        """Return a finished game, or one in progress, without its turns; None if there is none."""
        # In this order: a game that is finished meanwhile is found in one of the two.
        in_progress = self.store.online.open_game(game_id)
        return self.store.records.summary(game_id) or in_progress

    def load(self, game_id: str) -> OnlineGame:
        """Return a game in progress, or one that is over.

        Raises:
            ActionRejected: if there is none.
            StorageError: if it cannot be read back.
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
        """Refuse to show a daily game to others before the secret of its day is known.

        Players who move alike meet the same tiles, so a game that is seen can be copied; and
        who knows the secret can plan. Both are kept until an honest game of the day can neither
        begin nor finish.

        Raises:
            ActionRejected: reason ``sealed``.
        """
        info = self.store.online.info(game_id)
        if info is not None:
            check_sealed(info, account_id)

    def challenge(self, day: str) -> tuple[str | None, str | None]:
        """Return the commitment to a day's secret, and the secret once it may be known.

        Both are None for a day on which there were no games.
        """
        secret = self.store.online.find_day_secret(day)
        if secret is None:
            return None, None
        is_known = datetime.now(UTC) >= fairness.revelation_of(day)
        return fairness.commitment_of(secret), secret if is_known else None

    def live_games_of(self, account_id: str) -> list[OpenGame]:
        """Return the account's games that changed in the last minutes, the last first."""
        since = utc_text(datetime.now(UTC) - LIVE)
        games = self.store.online.open_games(account_id)
        return [game for game in games if game.updated >= since and game.max_tile]

    def export(self, account_id: str) -> dict[str, object]:
        """Return all that is kept of an account; secrets of games in progress stay secret."""
        exported = self.store.accounts.export(account_id)
        in_progress = {game["id"] for game in exported["games"]}
        for row in exported["rounds"]:
            secret, is_over = row["secret"], row["game_id"] not in in_progress
            if fairness.public_secret(secret, row["day"], is_over=is_over) is None:
                row["secret"] = fairness.commitment_of(secret)
        return exported

    def _finished_game(self, game_id: str) -> SavedGame | None:
        """Return a finished game as it was when it was over."""
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
                summary.category: summary.category in ("computer", "offline"),
                _FROM_POSITION: summary.category == POSITION,
            },
            millis=record.times or (0,) * len(turns),
        )  # fmt: skip

    def record_text(self, game_id: str) -> str:
        """Return the file of a finished game's record.

        Records of games that were not played on the server are not given away.

        Raises:
            ActionRejected: if there is none.
        """
        online, records = self.store.online, self.store.records
        if online.info(game_id) is None or records.summary(game_id) is None:
            raise ActionRejected("unknown_game", _("there is no record of such a game yet"))
        return records.load(game_id)

    # Finishing and sweeping

    def finish(self, game_id: str, *, is_stopped: bool = False) -> str | None:
        """Make a record of a game that is over, after replaying it from its first draw.

        A casual game stays beside its record for `UNDOABLE`: until then an undo takes both back.

        Args:
            game_id: the game.
            is_stopped: whether the game is over even if moves are left, as the time is up.

        Returns:
            The board of scores that it counts for, or `POSITION`; None if there was nothing to do.

        Raises:
            RecordError: if the game is not what its secret and its rules allow.
            StorageError: if the store cannot be written.
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
                can_undo=info.mode == CASUAL,
            )  # fmt: skip
        except StaleGameError:
            return None  # another process finishes it, or it was taken back
        return board

    def finalize_orphans(self) -> dict[str, str]:
        """Finish the games that are over and have no record.

        Returns:
            Why games cannot be finished, by their ids. They are not tried again, unless the store
            as a whole failed.
        """
        bad = {}
        for game_id in self.store.online.orphans(spare=self._broken):
            try:
                self.finish(game_id)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one, others follow
                bad[game_id] = str(error) or repr(error)
                _log.error("a game was not counted", extra={"game": game_id, "fault": bad[game_id]})
                if not (isinstance(error, StorageError) and error.kind):
                    self._broken.add(game_id)
        return bad

    def sweep(self, open_ids: Collection[str]) -> None:
        """Remove some of what is not needed, except games that are open.

        These are guests' games that are hardly begun or lost, guests who have nothing else, ends
        that could be undone, and the leaderboards of days and weeks that are over.
        """
        self.store.leaderboards.forget_periods()
        ages = UNDOABLE, UNTOUCHED, LOST
        ended, before, lost = (utc_text(datetime.now(UTC) - age) for age in ages)
        self.store.online.close_ended(ended)
        self.store.online.sweep_guests(before, lost, spare=open_ids)


def check_sealed(info: OnlineGameInfo, account_id: str) -> None:
    """Refuse to show a game to an account, as `GameService.check_visible`.

    Raises:
        ActionRejected: reason ``sealed``.
    """
    if info.owner != account_id and (since := fairness.sealed_until(info.day)):
        text = _("games of this challenge are shown from {day} on (UTC)")
        raise ActionRejected("sealed", text.format(day=since))


def dealt(rules: Rules, secret: str) -> Board:
    """Return the board that a game with a secret begins with.

    Raises:
        ActionRejected: reason ``rules``, if the game would be over.
    """
    start = start_from(rules, fairness.draws_of(secret))
    if Game(rules, board=start).is_over:
        text = _("the game would be over at its start under {rules}")
        raise ActionRejected("rules", text.format(rules=rules))
    return start


def _check_mode(account: Account, mode: str) -> None:
    """Refuse people's games to programs, and programs' games to people."""
    if account.bot_of is not None and mode != BOT:
        raise ActionRejected("mode", f"programs play {BOT} games: leave the mode out")
    if account.bot_of is None and mode == BOT:
        raise ActionRejected(
            "mode", f"{BOT} games are for programs: get a token on your account page"
        )


def played_offline(tracked: TrackedGame, text: str) -> TrackedGame:
    """Play turns that were played without the server in a copy of a game, and return it.

    Args:
        tracked: the copy.
        text: the turns in the notation of records.

    Raises:
        ActionRejected: reason ``offline``, if one cannot be read or breaks the rules.
    """
    game = tracked.game
    try:
        for direction, spawn in decode_steps(text, game.rules.shape):
            if spawn is None and direction in game.legal_directions():
                raise RecordError(f"{direction} moves the tiles: it needs the tile that appeared")
            if tracked.attempt(direction, spawn=spawn) is None:
                raise RecordError(f"{direction} moves nothing, which is not a turn here")
    except Py2048Error as error:
        raise ActionRejected("offline", f"a move made offline is not possible: {error}") from None
    tracked.offline = True
    return tracked


def replayed(saved: SavedGame, info: OnlineGameInfo) -> TrackedGame:
    """Replay a game; unless turns were made offline, its secret must deal the same tiles.

    Raises:
        RecordError: if the start or a turn is not what the rules and the secret give.
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
    """Return the board of scores for a game: an honest game counts by its mode.

    A daily game that continued after its secret was known counts as one with help.
    """
    if saved.extra.get(_FROM_POSITION):
        return POSITION
    if game.category != "plain":
        return game.category
    if info.day and saved.updated >= utc_text(fairness.revelation_of(info.day)):
        return "assisted"
    return "assisted" if info.mode == CASUAL else info.mode


def guest_name(account_id: str) -> str:
    """Return what a player without a name is called."""
    return f"guest {account_id[:4].upper()}"


def is_known(account: Account) -> bool:
    """Say whether an account has a name, and is from before today (UTC)."""
    return account.name is not None and account.created < datetime.now(UTC).date().isoformat()


def new_account_id() -> str:
    """Return the id of a new guest."""
    return secrets.token_hex(16)


def checked_rules(text: str) -> Rules:
    """Return the rules that a stranger's text describes.

    The names of presets are kept for presets, in any size: other rules are called `OWN`.

    Raises:
        ActionRejected: if it describes none, or rules that are not played on a server; the message
            names the value and what is possible.
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
    for value, most, fault in (
        (len(rules.name), MAX_RULES_NAME, f"the name {rules.name!r} is too long"),
        (max(rules.shape), MAX_SIDE, f"size={rules.rows}x{rules.columns} is too large"),
        (tile, MAX_TILE, f"new tiles of {tile} are too large"),
        (rules.target or 0, MAX_TARGET, f"target={rules.target} is too large"),
        (len(str(rules)), MAX_RULES_TEXT, "the rules written in full are too long"),
    ):
        if value > most:
            raise ActionRejected("rules", f"{fault} here: use at most {most}")
    if not rules.name.isascii():  # it may look like the name of a preset
        fault = f"the name {rules.name!r} has characters outside ASCII"
        raise ActionRejected("rules", f"{fault}: use unaccented letters and digits")
    is_borrowed = any(rules.name.casefold() == preset.name for preset in list_rules())
    return replace(rules, name=OWN) if is_borrowed and preset_of(rules) is None else rules


@functools.lru_cache(maxsize=1024)
def preset_of(rules: Rules) -> Rules | None:
    """Return the preset that these rules are, in any size and under any name; None if none.

    Where several are, as of classic and 5x5, it is the one of that name, if any.
    """
    names = [each.name for each in fields(Rules) if each.name not in ("name", "rows", "columns")]
    wanted = operator.attrgetter(*names)
    same = [preset for preset in list_rules() if wanted(preset) == wanted(rules)]
    first = same[0] if same else None
    return next((each for each in same if each.name == rules.name.casefold()), first)
