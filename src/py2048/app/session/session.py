"""`Session`: the use cases that every screen shares. No screen code, no rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from py2048.app.session.autosave import NO_STORE, Autosave, StoreAutosave, skipped
from py2048.app.session.tracked_game import TrackedGame
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import StorageError
from py2048.core.game import Game, Record, Turn
from py2048.core.rules import Rules, get_rules
from py2048.players import Player, list_players, make_player
from py2048.presentation import events
from py2048.presentation.events import Event
from py2048.review.advice import Hint, PositionSnapshot, advise

if TYPE_CHECKING:
    from py2048.app.session.notebook import Notebook, PuzzleBook
    from py2048.app.storage import RecordSummary, SavedGame, ScoreSummary, Store
    from py2048.app.storage.values import GameEnd
    from py2048.engine.jit.progress import Compiling

HINT_PLAYER = "expectimax"
"""The player that gives hints where none is perfect, unless another is asked for."""

PERFECT_SUMS = {(2, 2): 60, (2, 3): 252, (2, 4): 1020, (3, 3): 1150}
"""The shapes whose best moves under the classic rules come with py2048, and up to which sum."""

STORE_TIMEOUT_S = 1.0
"""Seconds after which the store gives up waiting for another process that writes."""


T = TypeVar("T")


def hint_player(rules: Rules, board: Board | None = None) -> str:
    """Return the spec of the player that gives hints, unless another is asked for.

    Args:
        rules: the rules.
        board: the board that the hint is for; by default one that games begin with. No best move
            is known on those that are set up by hand and no game meets; on some of the largest
            sums finding it takes many seconds.
    """
    if rules.shape not in PERFECT_SUMS:
        return HINT_PLAYER
    classic = get_rules("classic", rows=rules.rows, columns=rules.columns)
    alike = replace(rules, name=classic.name, target=classic.target) == classic
    most = PERFECT_SUMS[rules.shape]
    is_known = board is None or (board.sum <= most and _has_new_tile(rules, board))
    return "perfect" if alike and is_known else HINT_PLAYER


def _has_new_tile(rules: Rules, board: Board) -> bool:
    return any(tile in rules.spawn_weights.tiles for row in board.rows for tile in row)


def is_by_computer(record: Record) -> bool:
    """Return whether a computer player played a game."""
    return record.player.partition(":")[0] in list_players()


class Session:
    """One player with one current game: its history, its best score, and all a player can do.

    Every change is handed to autosave before the call returns. Each call returns what happened
    as `py2048.presentation.events`, in order. A failing store never stops play: that comes as
    `StorageFailed` or `SavingChanged` among the events, of a later call if this one returns none.

    Args:
        autosave: saves games, records, scores and settings; by default only settings are kept,
            in memory.
        player: the name written in records.
    """

    def __init__(self, autosave: Autosave | None = None, *, player: str = "") -> None:
        self._autosave = autosave or Autosave()
        self._events: list[Event] = []
        self._unsaved = ""
        self._player = player
        self._best_scores: dict[str, int] = {}
        self._players: dict[str, Player] = {}
        self._version = 0
        self._counted_hint: tuple[int, str] = -1, ""
        self._won = False
        self._current = TrackedGame(Game(get_rules("classic"), player=player))
        self._rules_text = str(self.rules)

    def _take_events(self) -> tuple[Event, ...]:
        """Return what happened since the last call that returned events."""
        happened, self._events = tuple(self._events), []
        return happened

    # The current game

    @property
    def game(self) -> Game:
        """The game, to be read; change it through the session."""
        return self._current.game

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.game.rules

    @property
    def best(self) -> int:
        """The best score of a person under these rules, this game included."""
        return self._best_scores.get(self._rules_text, 0)

    @property
    def category(self) -> str:
        """``plain``, ``assisted`` or ``computer``: on which list the score counts."""
        return self._current.category

    @property
    def in_progress(self) -> bool:
        """Whether there is something to lose: a turn was made and the game is not over."""
        return self.game.can_undo and not self.game.is_over

    @property
    def game_over(self) -> events.GameOver:
        """The event that tells of the end of the game, which is over."""
        game, current = self.game, self._current
        is_best = current.may_be_best and 0 < game.score == self.best
        return events.GameOver(game.outcome, game.score, self.best, is_best, current.computer)

    @property
    def version(self) -> int:
        """Grows with every change of the position; a `Hint` for an older one is outdated."""
        return self._version

    # Starting and resuming

    def start(
        self, rules: Rules | None = None, *, seed: int | None = None, board: Board | None = None
    ) -> tuple[Event, ...]:
        """Start a new game, under the same rules if none are given.

        The game before it is not lost: a finished one becomes a record, one in progress stays
        among the `saved_games`.

        Raises:
            SeedError: if `seed` is not a seed.
            BoardError: if `board` has another size than the rules ask for.
        """
        wanted = rules or self.rules
        game = Game(wanted, seed=seed, board=board, player=self._player)
        return self._set_game(TrackedGame(game))

    def resume(self, rules: Rules | None = None) -> tuple[Event, ...]:
        """Resume the last unfinished game (under `rules`, if given).

        Returns:
            What happened; nothing if there is none, or it cannot be read back, which the next call
            tells.

        Raises:
            StorageError: if the store cannot be read.
        """
        saved = self._autosave.current_game(None if rules is None else str(rules))
        if saved is None:
            return ()
        try:
            return self._set_game(TrackedGame.from_saved(saved), saved)
        except StorageError as error:
            self._events.append(events.StorageFailed(skipped(error)))
            return ()

    def switch_rules(self, rules: Rules) -> tuple[Event, ...]:
        """Resume the last unfinished game under `rules`, or start one.

        If the store cannot be read, that is announced and a new game starts.
        """
        return self._guard(lambda: self.resume(rules)) or self.start(rules)

    def resume_game(self, game_id: str) -> tuple[Event, ...]:
        """Resume one of the `saved_games` as it is now.

        Returns:
            What happened; nothing if the game is no longer in progress.

        Raises:
            StorageError: if the store cannot be read, or the game cannot be read back.
        """
        saved = self._autosave.saved_game(game_id)
        return () if saved is None else self._set_game(TrackedGame.from_saved(saved), saved)

    def play_tracked(self, game: TrackedGame, best: int = 0) -> tuple[Event, ...]:
        """Play a game whose changes the caller takes and saves.

        Args:
            game: the game.
            best: its player's best score under its rules.
        """
        self._best_scores[str(game.game.rules)] = best
        return self._set_game(game)

    def start_from(self, record: Record, turns: int | None = None) -> tuple[Event, ...]:
        """Continue the game of `record`; all its turns can be undone.

        It counts as assisted, or still as a computer player's; its score, some of which another
        may have made, is not a best of any player.

        Args:
            record: the game.
            turns: continue after this many turns; those after them are undone.

        Raises:
            RecordError: if a turn of the record breaks its rules.
        """
        game = TrackedGame.from_record(record, computer=is_by_computer(record))
        while turns is not None and game.position > turns:
            game.undo()
        return self._set_game(game)

    def _set_game(self, game: TrackedGame, saved: SavedGame | None = None) -> tuple[Event, ...]:
        """Replace the current game by another: by what is `saved`, or one new to the store."""
        self._autosave.release(self._current)
        self._current = game
        self._autosave.begin(game, saved)
        self._won = self.game.has_won
        self._rules_text = text = str(self.rules)
        stored = self._guard(lambda: self._autosave.best_score(text)) or 0
        self._best_scores[text] = max(stored, self._best_scores.get(text, 0))
        self._raise_best()
        self._version += 1
        now, score, is_resumed = self.game.board, self.game.score, saved is not None
        self._events.append(events.GameStarted(now, score, self.best, is_resumed))
        if self.game.is_over:
            self._events.append(self.game_over)
        return self.check_saving()

    def close(self) -> None:
        """Save everything and close the store.

        Raises:
            StorageError: if something could not be saved within some seconds; it is lost.
        """
        self._autosave.release(self._current)
        self._autosave.close()

    # Playing

    def move(self, direction: Direction, think_ms: int | None = None) -> tuple[Event, ...]:
        """Slide in `direction`.

        Returns `Moved` or `IllegalMove`, then `Won` and `GameOver` where they apply.

        Args:
            direction: where to.
            think_ms: the thinking time in milliseconds, if the caller has measured it.
        """
        before, score = self.game.board, self.game.score
        turn = self._current.attempt(direction, think_ms)
        if turn is not None:
            self._raise_best()
            self._save_change()
        if turn is None or not turn.legal:
            now = self.game.score
            self._events.append(events.IllegalMove(direction, now - score, now))
        else:
            self._played(turn, before, score)
        return self._take_events()

    def undo(self) -> tuple[Event, ...]:
        """Take back the last turn. Returns `Undone`, nothing if there is no turn."""
        before = self.game.board
        turn = self._current.undo()
        if turn is None:
            return ()
        self._save_change()
        self._events.append(events.Undone(turn, before, self.game.board, self.game.score))
        return self._take_events()

    def redo(self) -> tuple[Event, ...]:
        """Play the last undone turn again, as `move`. Returns nothing if there is no such turn."""
        before, score = self.game.board, self.game.score
        turn = self._current.redo()
        if turn is None:
            return ()
        self._save_change()
        self._played(turn, before, score, redone=True)
        return self._take_events()

    def adopt(self, game: TrackedGame) -> None:
        """Continue with a copy of the game that was played on elsewhere.

        No event tells of its turns: announce the position.
        """
        self._current = game
        self._won = self.game.has_won
        self._save_change()

    def _save_change(self) -> None:
        self._version += 1
        self._save()

    def _played(self, turn: Turn, before: Board, score: int, *, redone: bool = False) -> None:
        """Announce a turn and what it led to."""
        now, game = self.game.score, self.game
        self._events.append(
            events.Moved(before, turn, game.board, now - score, now, self.best, redone)
        )
        if game.has_won and not self._won:
            self._won = True
            assert self.rules.target is not None  # has_won needs one
            plays_on, by_computer = not self.rules.ends_at_target, self._current.computer
            self._events.append(events.Won(self.rules.target, plays_on, by_computer))
        if game.is_over:
            self._events.append(self.game_over)

    # Advice and computer players

    def snapshot(self) -> PositionSnapshot:
        """Return a snapshot of the position, for a worker to think about."""
        return PositionSnapshot(self.rules, self.game.board, self._version)

    def show_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Count a hint found by a worker. Returns `Hinted`, nothing if the hint is outdated."""
        if hint.version != self._version:
            return ()
        asked = hint.version, hint.player
        if self._counted_hint != asked:  # else it was counted with the quick one
            self._current.count_hint()
            self._save()
        self._counted_hint = hint.version, hint.instead_of
        self._events.append(events.Hinted(hint))
        return self._take_events()

    def count_help(self) -> None:
        """Count what a screen has told of the worth of this position as a hint, once a position.

        It is saved with the next turn; at once where it makes the game assisted.
        """
        if self._counted_hint[0] == self._version:
            return
        self._counted_hint = self._version, ""
        before = self.category
        self._current.count_hint()
        if self.category != before:
            self._save()

    def play_hint(self, hint: Hint) -> tuple[Event, ...]:
        """Play the move that a worker chose, as `move`. Returns nothing if the hint is outdated.

        The game counts as a computer's from then on, and its record says whose.
        """
        if hint.version != self._version:
            return ()
        self._current.computer = True
        self._current.game.player = hint.player
        return self.move(hint.direction)

    def advise(
        self, snapshot: PositionSnapshot, player: str | None = None, *, only_move: bool = False
    ) -> Iterator[Hint | Compiling]:
        """Ask a player in a worker's thread, as `py2048.app.session.advise`, which a screen shows.

        Raises:
            PlayerError: if there is no such player, or it answers with an illegal direction.
        """
        return advise(snapshot, self.get_player(player), only_move=only_move)

    def autoplay_step(self, player: Player | str) -> tuple[Event, ...]:
        """Let a player make the next move, and wait for it. Returns nothing if the game is over.

        Raises:
            PlayerError: if there is no such player, or it answers with an illegal direction.
        """
        if self.game.is_over:
            return ()
        return self.play_hint(self.snapshot().ask(self.get_player(player), only_move=True))

    def get_player(self, player: Player | str | None = None) -> Player:
        """Return the player itself, or the one that the spec names, made once.

        Raises:
            PlayerError: if there is no such player.
        """
        if player is not None and not isinstance(player, str):
            return player
        spec = player or hint_player(self.rules, self.game.board)
        if spec not in self._players:
            self._players[spec] = make_player(spec)
        return self._players[spec]

    # Records, scores, settings

    def record(self) -> Record:
        """Return the current game as a record, with its undos, hints and times."""
        return self._current.record()

    def save_record(self, path: str | Path) -> None:
        """Write the current game to a file, in the place of another record if there is one.

        Raises:
            RecordError: if it cannot be written, or the file that is there is not a record.
        """
        self.record().save(path)

    def saved_games(self) -> list[SavedGame]:
        """Return the games in progress without their turns, the last played first.

        Raises:
            StorageError: if the store cannot be read.
        """
        return self._autosave.saved_games()

    def scores(self, rules: Rules | None = None) -> list[ScoreSummary]:
        """Return the best scores and averages by rules and category.

        Raises:
            StorageError: if the store cannot be read.
        """
        text = None if rules is None else str(rules)
        return self._autosave.read(
            lambda store, owner: store.scores.summaries(owner, rules=text), []
        )

    def finished(self, rules: Rules | None = None, *, limit: int = 20) -> list[RecordSummary]:
        """Return finished games, the best first.

        Raises:
            StorageError: if the store cannot be read.
        """
        text = None if rules is None else str(rules)
        return self._autosave.read(
            lambda store, owner: store.records.select(rules=text, owner=owner, limit=limit), []
        )

    def ends(self) -> list[GameEnd]:
        """Return how a person's latest games under these rules ended; none if that is not known."""
        text = self._rules_text
        try:
            return self._autosave.read(lambda store, owner: store.records.ends(owner, text), [])
        except StorageError:
            return []

    def finished_record(self, record_id: str) -> Record:
        """Return one of the `finished` games.

        Raises:
            StorageError: if there is none of that name.
            RecordError: if it is damaged.
        """
        text = self._autosave.read(lambda store, _: store.records.load(record_id), None)
        if text is None:
            raise StorageError(NO_STORE)
        return Record.from_json(text)

    def notebook(self) -> Notebook:
        """Return the player's notebook of mistakes.

        Raises:
            StorageError: if this session keeps nothing.
        """
        from py2048.app.session.notebook import Notebook

        return Notebook(*self._store_and_owner())

    def puzzle_book(self) -> PuzzleBook:
        """Return the player's answers to puzzles.

        Raises:
            StorageError: if this session keeps nothing.
        """
        from py2048.app.session.notebook import PuzzleBook

        return PuzzleBook(*self._store_and_owner())

    def _store_and_owner(self) -> tuple[Store, str]:
        found = self._autosave.read(lambda store, owner: (store, owner), None)
        if found is None:
            raise StorageError(NO_STORE)
        return found

    def get_setting(self, key: str, default: Any = None) -> Any:
        """Return the value that `set_setting` stored, or `default`."""
        value = self._guard(lambda: self._autosave.get_setting(key))
        return default if value is None else value

    def set_setting(self, key: str, value: object) -> None:
        """Store a JSON value for the next session."""
        self._autosave.set_setting(key, value)
        self._look_at_saving()

    # Saving

    @property
    def unsaved(self) -> str:
        """Why something is not saved yet, in one line; empty if all is saved."""
        return self._autosave.unsaved

    @property
    def keeps_games(self) -> bool:
        """Whether a game that the session leaves can be resumed later."""
        return self._autosave.keeps_games

    def settle(self) -> str:
        """Wait some seconds for a store that is only slow; return what `unsaved` says then."""
        self._autosave.settle()
        self._look_at_saving()
        return self.unsaved

    def check_saving(self) -> tuple[Event, ...]:
        """Return how saving has changed since the last check, and what no call has told yet.

        Every change does this; a screen does it from time to time while something is unsaved.
        """
        self._look_at_saving()
        return self._take_events()

    def _look_at_saving(self) -> None:
        for notice in self._autosave.take_notices():
            self._events.append(events.StorageFailed(notice))
        unsaved = self.unsaved
        if unsaved != self._unsaved:
            self._unsaved = unsaved
            self._events.append(events.SavingChanged(unsaved))

    def _guard(self, read: Callable[[], T]) -> T | None:
        """Read from the store; a failure is announced and yields `None`."""
        try:
            return read()
        except StorageError as error:
            self._events.append(events.StorageFailed(str(error)))
            return None

    def _save(self) -> None:
        self._autosave.save(self._current)
        self._look_at_saving()

    def _raise_best(self) -> None:
        """Let the current score count as the best, at once and for good."""
        text, score = self._rules_text, self.game.score
        if score <= self._best_scores.get(text, 0) or not self._current.may_be_best:
            return
        self._best_scores[text] = score
        self._autosave.note_score(text, self.category, score)


def open_session(
    url: str | None = None, *, owner: str = "local", player: str = "", finalize: bool = True
) -> Session:
    """Open a session on the store at `url` (by default the player's own).

    Args:
        url: the store.
        owner: whose games.
        player: the name written in records.
        finalize: make records of games that were over when their process ended; one that only
            reads leaves them, as another window may show them still.

    Raises:
        StorageError: if the store cannot be opened.
    """
    from py2048.app.storage import open_store

    autosave = StoreAutosave(open_store(url, timeout_s=STORE_TIMEOUT_S), owner)
    if finalize:
        autosave.finalize_orphans()
    return Session(autosave, player=player)
