"""The session API, which every screen uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.app.session.autosave import NO_STORE, StoreAutosave, unreadable_notice
from py2048.app.session.levels import LEVEL_SETTING, ME, find_level
from py2048.app.session.tracked_game import HUMAN_CATEGORIES, TrackedGame
from py2048.app.storage.values import Career
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import StorageError
from py2048.core.game import Game, Position, Record, Turn
from py2048.core.rules import Rules, get_rules
from py2048.players import Player, list_players, make_player
from py2048.presentation import events
from py2048.presentation.events import Event
from py2048.review.advice import Hint, PositionSnapshot
from py2048.review.milestones import Milestone, Pace, race_of

if TYPE_CHECKING:
    from py2048.app.session.notebook import Notebook, PuzzleBook
    from py2048.app.storage import RecordSummary, SavedGame, ScoreSummary, Store
    from py2048.review.levels import Level
    from py2048.review.report import CareerTotals

HINT_PLAYER = "expectimax"

# For each board shape, the largest tile sum that the perfect-play tables look up quickly.
PERFECT_SUMS = {(2, 2): 60, (2, 3): 252, (2, 4): 1020, (3, 3): 1150}

STORE_TIMEOUT_S = 1.0  # maximum wait for the write lock of another process

T = TypeVar("T")


def hint_player(rules: Rules, board: Board | None = None) -> str:
    """Return the spec of the default hint player.

    Args:
        rules: Rules of the game.
        board: The board for the hint, by default a start position. The perfect player is chosen
            only if a fast table lookup gives the best move.
    """
    if rules.shape not in PERFECT_SUMS:
        return HINT_PLAYER
    classic = get_rules("classic", rows=rules.rows, columns=rules.columns)
    is_classic = replace(rules, name=classic.name, target=classic.target) == classic
    max_sum = PERFECT_SUMS[rules.shape]
    new_tiles = set(rules.spawn_weights.tiles)
    is_solved = board is None or (
        board.sum <= max_sum and not new_tiles.isdisjoint(chain(*board.rows))
    )
    return "perfect" if is_classic and is_solved else HINT_PLAYER


def is_by_computer(record: Record) -> bool:
    """Return whether a computer player played the record."""
    return record.player.partition(":")[0] in list_players()


class Session:
    """A player's current game and best score, and every action that the player can take.

    Methods return a sequence of `py2048.presentation.events` and pass each change to autosave. If
    the store fails, play continues, and a `StorageFailed` or `SavingChanged` event reports the
    failure. Methods that return another value queue their events for the next method that
    returns events.

    Args:
        autosave: Saves games, records, scores and settings. By default, nothing is saved, and
            settings are kept in memory.
        player: Player name for records.
        game: The first game, which is not saved. Defaults to a new classic game.

    Attributes:
        game: The current game. Only the session's methods may change the game.
        best: Best score under these rules in games without computer moves, including the current
            game. Read-only.
        best_before: Best score of the player's other games. Read-only.
        is_continued: Whether the game continues a record, which excludes it from best scores.
            Read-only.
        paces: The player's best time to each milestone tile, or None before the times are loaded.
        version: Incremented whenever the position changes, which makes older hints stale.
            Read-only.
    """

    def __init__(
        self,
        autosave: StoreAutosave | None = None,
        *,
        player: str = "",
        game: TrackedGame | None = None,
    ) -> None:
        self._autosave = autosave
        self._events: list[Event] = []
        self._reported_unsaved = ""
        self._player = player
        self.best = self.best_before = 0
        self._best_scores: dict[str, int] = {}  # by rules
        self._settings: dict[str, object] = {}
        self._players: dict[str, Player] = {}
        self.version = 0
        self._counted_hint: tuple[int, str] = -1, ""
        self._won = self.is_continued = False
        self.paces: Mapping[int, Pace] | None = None
        self._current = game or TrackedGame(Game(get_rules("classic"), player=player))
        self.game = self._current.game
        self._rules_text = str(self.rules)

    def _take_events(self) -> tuple[Event, ...]:
        """Return and clear the pending events."""
        pending, self._events = tuple(self._events), []
        return pending

    # The current game

    @property
    def rules(self) -> Rules:
        """Rules of the current game."""
        return self.game.rules

    @property
    def category(self) -> str:
        """Score category: ``plain``, ``assisted`` or ``computer``."""
        return self._current.category

    @property
    def in_progress(self) -> bool:
        """Whether at least one turn was played and the game is not over."""
        return self.game.can_undo and not self.game.is_over

    @property
    def game_over(self) -> events.GameOver:
        """The `GameOver` event for a finished game."""
        game, current = self.game, self._current
        is_best = current.may_be_best and self.best_before < game.score
        return events.GameOver(game.outcome, game.score, self.best, is_best, current.computer)

    # Starting and resuming

    def start(
        self, rules: Rules | None = None, *, seed: int | None = None, board: Board | None = None
    ) -> tuple[Event, ...]:
        """Start a new game, by default under the current rules.

        If the previous game is finished, it becomes a record. Otherwise, it is kept in
        `saved_games`.

        Raises:
            SeedError: If `seed` is invalid.
            BoardError: If the size of `board` does not match the rules.
        """
        game = Game(rules or self.rules, seed=seed, board=board, player=self._player)
        return self._set_game(TrackedGame(game))

    def resume(self, rules: Rules | None = None) -> tuple[Event, ...]:
        """Resume the last unfinished game under `rules` or, by default, under any rules.

        Returns:
            The events, or none if no game can be resumed. If the game cannot be read, a
            `StorageFailed` event is queued.

        Raises:
            StorageError: If the store cannot be read.
        """
        text = None if rules is None else str(rules)
        if self._autosave is None or (saved := self._autosave.current_game(text)) is None:
            return ()
        try:
            return self._set_game(TrackedGame.from_saved(saved), saved)
        except StorageError as error:
            self._events.append(events.StorageFailed(unreadable_notice(error)))
            return ()

    def switch_rules(self, rules: Rules) -> tuple[Event, ...]:
        """Resume the last unfinished game under `rules`, or start a new game.

        If the store cannot be read, a new game starts and an event reports the error.
        """
        return self._try_read(lambda: self.resume(rules)) or self.start(rules)

    def resume_game(self, game_id: str) -> tuple[Event, ...]:
        """Resume one of the `saved_games` in its latest state.

        Returns:
            The events, or none if the game is no longer in progress.

        Raises:
            StorageError: If the store or the game cannot be read.
        """
        saved = None if self._autosave is None else self._autosave.saved_game(game_id)
        return () if saved is None else self._set_game(TrackedGame.from_saved(saved), saved)

    def play_tracked(self, game: TrackedGame, best: int = 0) -> tuple[Event, ...]:
        """Play a game that is saved by the caller.

        Args:
            game: The game to play.
            best: The player's best score under the game's rules.
        """
        self._best_scores[str(game.game.rules)] = best
        return self._set_game(game)

    def reset_best(self, best: int) -> None:
        """Set the best score to `best`, unless the current score is eligible and higher."""
        self.best = self.best_before = self._best_scores[self._rules_text] = best
        self._update_best()

    def start_from(self, record: Record, turns: int | None = None) -> tuple[Event, ...]:
        """Continue the game of `record`. The recorded turns can be undone.

        The new game's category is ``computer`` if a computer player played the record, otherwise
        ``assisted``. The game cannot set a best score, because the record may be another person's.

        Args:
            record: The record to continue.
            turns: Number of recorded turns to play. Later turns can be redone.

        Raises:
            RecordError: If a turn breaks the record's rules.
        """
        game = TrackedGame.from_record(record, computer=is_by_computer(record))
        while turns is not None and game.position > turns:
            game.undo()
        return self._set_game(game)

    def _set_game(self, game: TrackedGame, saved: SavedGame | None = None) -> tuple[Event, ...]:
        """Replace the current game. `saved` is the game's stored state, if any."""
        autosave, previous, text, stored = self._autosave, self._current, str(game.game.rules), None
        self._current, self.game, self._rules_text = game, game.game, text
        self._won, self.is_continued, self.paces = self.game.has_won, game.is_continued, None
        if autosave is not None:
            autosave.release(previous)
            autosave.begin(game, saved)
            stored = self._try_read(lambda: autosave.best_score(text))
        # Without a readable store, fall back to the best score of this session.
        self.reset_best(self._best_scores.get(text, 0) if stored is None else stored)
        self.version += 1
        board, score, is_resumed = self.game.board, self.game.score, saved is not None
        self._events.append(events.GameStarted(board, score, self.best, is_resumed))
        if self.game.is_over:
            self._events.append(self.game_over)
        return self.check_saving()

    def close(self) -> None:
        """Save everything and close the store.

        Raises:
            StorageError: If changes could not be saved within a few seconds. These changes are
                lost.
        """
        if self._autosave is not None:
            self._autosave.release(self._current)
            self._autosave.close()

    # Playing

    def move(self, direction: Direction, think_ms: int | None = None) -> tuple[Event, ...]:
        """Slide in `direction`.

        Returns a `Moved` or `IllegalMove` event, and then `Won` and `GameOver` events if they
        apply.

        Args:
            direction: Direction to slide.
            think_ms: Thinking time in milliseconds, if the caller has measured it.
        """
        before = self.game.position
        turn = self._current.attempt(direction, think_ms)
        if turn is not None:
            self._keep_change()
        if turn is None or turn.spawn is None:
            score = self.game.position.score
            self._events.append(events.IllegalMove(direction, score - before.score, score))
        else:
            self._report_turn(turn, before)
        return self._take_events()

    def undo(self) -> tuple[Event, ...]:
        """Undo the last turn and return an `Undone` event, if there is a turn to undo."""
        turn = self._current.undo()
        if turn is None:
            return ()
        self.reset_best(self.best_before)
        self._keep_change()
        self._events.append(events.Undone(turn, self.game.board, self.game.score))
        return self._take_events()

    def redo(self) -> tuple[Event, ...]:
        """Redo the last undone turn, and return the same events as `move`.

        Returns nothing if there is no turn to redo.
        """
        before = self.game.position
        turn = self._current.redo()
        if turn is None:
            return ()
        self._keep_change()
        self._report_turn(turn, before, redone=True)
        return self._take_events()

    def adopt(self, game: TrackedGame) -> None:
        """Replace the game with a copy that has been continued, for example offline.

        The new turns produce no events, so the caller must show the position.
        """
        self._current, self.game = game, game.game
        self._won = self.game.has_won
        self._keep_change()

    def _report_turn(self, turn: Turn, before: Position, *, redone: bool = False) -> None:
        after = self.game.position
        points = after.score - before.score
        self._events.append(
            events.Moved(before.board, turn, after.board, points, after.score, redone)
        )
        if after.has_won and not self._won:
            self._won = True
            rules, by_computer = self.game.rules, self._current.computer
            assert rules.target is not None
            self._events.append(events.Won(rules.target, bool(after.legal), by_computer))
        if not after.legal:
            self._events.append(self.game_over)

    # Advice and computer players

    def snapshot(self) -> PositionSnapshot:
        """Return a snapshot of the position for use in a worker thread."""
        game = self.game
        return PositionSnapshot(
            self.rules, game.board, self.version, ply=game.ply + 1, score=game.score
        )

    def show_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Count a hint and return a `Hinted` event. Stale hints are ignored."""
        if hint.version != self.version:
            return ()
        # A final hint that replaces a quick hint is not counted again.
        was_counted = self._counted_hint[0] == hint.version
        if not (was_counted and (hint.judged or self._counted_hint[1] == hint.player)):
            self._current.count_hint()
            self._save()
        self._counted_hint = hint.version, hint.instead_of
        self._events.append(events.Hinted(hint))
        return self._take_events()

    def count_help(self) -> bool:
        """Count all advice shown for this position as one hint.

        The first hint marks the game as assisted and is saved immediately. Later hints are saved
        together with the next turn.

        Returns:
            Whether the category of the game has changed.
        """
        before = self.category
        if self._counted_hint[0] != self.version:
            self._counted_hint = self.version, ""
            self._current.count_hint()
            if self.category != before:
                self._save()
        return self.category != before

    def play_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Play a hint's move and return its events. Stale hints are ignored.

        Playing a hint makes the game a computer game, whose record names the computer player.
        """
        if hint.version != self.version:
            return ()
        self._current.computer = True
        self._current.game.player = hint.player
        self.reset_best(self.best_before)
        return self.move(hint.direction)

    def autoplay_step(self, player: Player | str) -> tuple[Event, ...]:
        """Wait for a player's move and play it. Return nothing if the game is over.

        Raises:
            PlayerError: If the player does not exist or returns an illegal direction.
        """
        if self.game.is_over:
            return ()
        return self.play_hint(self.snapshot().ask(self.get_player(player), only_move=True))

    @property
    def best_player(self) -> str:
        """Spec of the best player for the current board."""
        return hint_player(self.rules, self.game.board)

    def get_player(self, player: Player | str) -> Player:
        """Return a player. Players that are given as a spec are created once and cached.

        An empty spec selects the best player for the current board.

        Raises:
            PlayerError: If the player does not exist.
        """
        if not isinstance(player, str):
            return player
        spec = player or self.best_player
        if spec not in self._players:
            self._players[spec] = make_player(spec)
        return self._players[spec]

    def release_players(self) -> None:
        """Free the memory of cached players and their networks."""
        self._players.clear()

    # Records, scores, settings

    def record(self) -> Record:
        """Return a record of the current game, with its undos, hints and thinking times."""
        return self._current.record()

    def save_record(self, path: str | Path) -> None:
        """Write the current game to a file, replacing an existing record.

        Raises:
            RecordError: If the file cannot be written, or exists and is not a record.
        """
        self.record().save(path)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, most recently played first.

        Raises:
            StorageError: If the store cannot be read.
        """
        return [] if self._autosave is None else self._autosave.saved_games()

    def scores(self, rules: str | None = None) -> list[ScoreSummary]:
        """Return best scores and averages for each combination of rules and category.

        Args:
            rules: Rules as text. Defaults to all rules.

        Raises:
            StorageError: If the store cannot be read.
        """
        return self._read(lambda store, owner: store.scores.summaries(owner, rules=rules), [])

    def finished(self, rules: str | None = None, *, limit: int = 20) -> list[RecordSummary]:
        """Return finished games, best first.

        Args:
            rules: Rules as text. Defaults to all rules.
            limit: Maximum number of games.

        Raises:
            StorageError: If the store cannot be read.
        """
        return self._read(
            lambda store, owner: store.records.select(rules=rules, owner=owner, limit=limit), []
        )

    def career(self, rules: str = "") -> Career:
        """Summarise the player's games under the same rules, except games with computer moves.

        The summary is empty if the store cannot be read.

        Args:
            rules: Rules as text. By default, the current rules are used and the current game is
                excluded.
        """
        text = rules or self._rules_text
        without = "" if rules or self._autosave is None else self._autosave.current_id
        with suppress(StorageError):
            return self._read(
                lambda store, owner: store.records.career(owner, text, without=without), Career()
            )
        return Career()

    def totals(self) -> list[CareerTotals]:
        """Return the totals for each set of rules, excluding games with computer moves.

        Raises:
            StorageError: If the store cannot be read.
        """
        return self._read(_totals, [])

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the current game's first move."""
        return self._current.elapsed_ms

    def race(self) -> list[Milestone]:
        """Return the current game's milestones, with the player's best times before this game.

        The best times are loaded on the first call in each game. If the game has
        already reached milestones by then, the best times may include its own times.
        """
        if self.paces is None:
            text, none = self._rules_text, dict[int, Pace]()
            read = partial(self._read, lambda store, owner: store.scores.milestones(text, owner))
            self.paces = self._try_read(partial(read, none)) or none
        return race_of(self.game.positions(), self._current.think_ms, self.rules, self.paces)

    def finished_record(self, record_id: str) -> Record:
        """Load one of the `finished` games.

        Raises:
            StorageError: If the record does not exist.
            RecordError: If the record is damaged.
        """
        text = self._read(lambda store, _: store.records.load(record_id), "")
        if not text:
            raise StorageError(NO_STORE)
        return Record.from_json(text)

    def notebook(self) -> Notebook:
        """Return the player's notebook of mistakes.

        Raises:
            StorageError: If the session has no store.
        """
        from py2048.app.session.notebook import Notebook

        return Notebook(*self._store_and_owner())

    def puzzle_book(self) -> PuzzleBook:
        """Return the player's puzzle answers.

        Raises:
            StorageError: If the session has no store.
        """
        from py2048.app.session.notebook import PuzzleBook

        return PuzzleBook(*self._store_and_owner())

    def level(self, rules: Rules | None = None, text: str = "") -> Level | None:
        """Return the skill level for judging moves, or `None` for perfect play.

        If the store cannot be read, the player's own level defaults to the level of a new player.

        Args:
            rules: Rules of the game, by default the current rules.
            text: Name of a level, as in `find_level`. Defaults to the level that the player has
                chosen.
        """
        text = text or str(self.get_setting(LEVEL_SETTING, ME))
        rules = rules or self.rules
        initial = find_level(None, "", rules, text)
        with suppress(StorageError):
            return self._read(lambda store, owner: find_level(store, owner, rules, text), initial)
        return initial

    def _store_and_owner(self) -> tuple[Store, str]:
        if self._autosave is None:
            raise StorageError(NO_STORE)
        return self._autosave.read(lambda store, owner: (store, owner))

    def _read(self, query: Callable[[Store, str], T], default: T) -> T:
        """Call `query` with the store and the owner. Without a store, return `default`."""
        return default if self._autosave is None else self._autosave.read(query)

    def get_setting(self, key: str, default: Any = None) -> Any:
        """Return a setting stored with `set_setting`, or `default`."""
        value = self._try_read(lambda: self._setting(key))
        return default if value is None else value

    def _setting(self, key: str) -> object:
        if key not in self._settings:
            self._settings[key] = self._read(lambda store, _: store.settings.get(key), None)
        return self._settings[key]

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value as a setting for this and future sessions."""
        self._settings[key] = value
        if self._autosave is not None:
            self._autosave.set_setting(key, value)
            self._poll_saving()

    # Saving

    @property
    def unsaved(self) -> str:
        """The reason why a write failed or is slow, as one line, or "" if there is none."""
        return "" if self._autosave is None else self._autosave.writer.unsaved

    @property
    def keeps_games(self) -> bool:
        """Whether games are saved, so that the player can resume them later."""
        return self._autosave is not None

    def flush(self) -> str:
        """Wait up to a few seconds for pending writes, then return the new value of `unsaved`."""
        if self._autosave is not None:
            self._autosave.writer.flush()
            self._poll_saving()
        return self.unsaved

    def check_saving(self) -> tuple[Event, ...]:
        """Update the saving state, and return all pending events, including `SavingChanged`.

        Screens call this method repeatedly while changes are unsaved.
        """
        self._poll_saving()
        return self._take_events()

    def _poll_saving(self) -> None:
        autosave = self._autosave
        if autosave is None:
            return
        while autosave.notices:
            self._events.append(events.StorageFailed(autosave.notices.popleft()))
        unsaved = autosave.writer.unsaved
        if unsaved != self._reported_unsaved:
            self._reported_unsaved = unsaved
            self._events.append(events.SavingChanged(unsaved))

    def _try_read(self, read: Callable[[], T]) -> T | None:
        """Read from the store, or report the failure and return `None`."""
        try:
            return read()
        except StorageError as error:
            self._events.append(events.StorageFailed(str(error)))
            return None

    def _keep_change(self) -> None:
        """Save the game after a change, and update the best score."""
        self._update_best()
        self.version += 1
        self._save()

    def _save(self) -> None:
        if self._autosave is not None:
            self._autosave.save(self._current)
            self._poll_saving()

    def _update_best(self) -> None:
        """Update the best score if the current score is higher and eligible as a best score."""
        score = self.game.position.score
        if score > self.best and self._current.may_be_best:
            self.best = self._best_scores[self._rules_text] = score


def _totals(store: Store, owner: str) -> list[CareerTotals]:
    from py2048.presentation.result import quantile
    from py2048.review.report import CareerTotals

    found: dict[str, list[ScoreSummary]] = {}
    for each in store.scores.summaries(owner):
        if each.category in HUMAN_CATEGORIES:
            found.setdefault(each.rules, []).append(each)
    totals = []
    for rules, kinds in found.items():
        career, target = store.records.career(owner, rules), Rules.parse(rules).target
        if games := career.scores.total():
            won = sum(count for tile, count in career.tiles.items() if target and tile >= target)
            mean = sum(each.games * each.mean_score for each in kinds) / games
            best, moves = max(each.best for each in kinds), sum(each.plies for each in kinds)
            facts = games, won, best, mean, quantile(career.scores, 0.5), max(career.tiles), moves
            totals.append(CareerTotals(rules, *facts, dict(sorted(career.tiles.items()))))
    return totals


def open_session(
    url: str | None = None, *, owner: str = "local", player: str = "", finalize: bool = True
) -> Session:
    """Open a session on the store at `url`, by default the player's own store.

    Args:
        url: URL of the store.
        owner: Owner of the games.
        player: Player name for records.
        finalize: Whether to create records of finished games whose process has exited. Pass False
            for read-only access, because a finished game may still be open in another window.

    Raises:
        StorageError: If the store cannot be opened.
    """
    from py2048.app.storage import open_store

    autosave = StoreAutosave(open_store(url, timeout_s=STORE_TIMEOUT_S), owner)
    if finalize:
        autosave.finalize_orphans()
    return Session(autosave, player=player)
