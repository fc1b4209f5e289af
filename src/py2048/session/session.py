"""`Session`: the use cases that every screen shares. No screen code, no rule of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from py2048.board import Board
from py2048.direction import Direction
from py2048.game import Game, Record
from py2048.game.spawning import Draws
from py2048.players import Player, list_players, make_player
from py2048.rules import Rules, get_rules
from py2048.session.advice import Hint, Question, advise
from py2048.session.events import (
    GameOver,
    GameStarted,
    Hinted,
    Moved,
    Refused,
    Undone,
    Won,
)
from py2048.session.keeper import PERSON, Keeper
from py2048.session.play import Play
from py2048.session.shelf import Shelf

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.storage import SavedGame

HINT_PLAYER = "expectimax"
"""The player that gives hints unless another is asked for."""

PATIENCE = 1.0
"""Seconds after which the store gives up waiting for another process that writes."""


class Session(Shelf):
    """One player at one table: a game, its history, its best score, and what may be done.

    Every change is handed to the keeper before the call returns, and announced to the listeners
    as an event (`py2048.session.events`) in the order in which it happened. A failing store
    never stops play: it is announced as `SavingChanged`.

    Args:
        keeper: keeps games, records, scores and settings; `None` keeps them in memory.
        player: the name written in records.
    """

    def __init__(self, keeper: Keeper | None = None, *, player: str = "") -> None:
        super().__init__(keeper or Keeper())
        self._player = player
        self._bests: dict[str, int] = {}
        self._advisers: dict[str, Player] = {}
        self._version = 0
        self._awaited: tuple[int, str] = -1, ""
        self._won = False
        self._play = Play(Game(get_rules("classic"), player=player))
        self._text = (self.rules, str(self.rules))

    # What is on the table

    @property
    def game(self) -> Game:
        """The game, to be read; change it through the session."""
        return self._play.game

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.game.rules

    @property
    def best(self) -> int:
        """The best score of a person under these rules, this game included."""
        return self._bests.get(self._rules_text(), 0)

    @property
    def category(self) -> str:
        """``plain``, ``assisted`` or ``computer``: on which list the score counts."""
        return self._play.category

    @property
    def in_progress(self) -> bool:
        """Whether there is something to lose: a turn was made and the game is not over."""
        return self.game.can_undo and not self.game.is_over

    @property
    def can_undo(self) -> bool:
        """Whether there is a turn to take back."""
        return self.game.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is a turn to play again."""
        return self.game.can_redo

    @property
    def version(self) -> int:
        """Grows with every change of the position; a `Hint` for an older one is outdated."""
        return self._version

    # Starting and resuming

    def start(
        self,
        rules: Rules | None = None,
        *,
        seed: int | None = None,
        board: Board | None = None,
        draws: Draws | None = None,
    ) -> None:
        """Begin a new game, under the same rules if none are given.

        The game before it is not lost: a finished one becomes a record, one in progress stays
        among the `saved_games`.

        Raises:
            SeedError: if `seed` is no seed.
            BoardError: if `board` has another size than the rules ask for.
        """
        wanted = rules or self.rules
        self._lay(Play(Game(wanted, seed=seed, board=board, player=self._player, draws=draws)))

    def resume(self, rules: Rules | None = None) -> bool:
        """Take up the last unfinished game (under `rules`, if given); return whether there is one.

        Raises:
            StorageError: if the store cannot be read.
        """
        saved = self._keeper.current_game(None if rules is None else str(rules))
        if saved is None:
            return False
        self.resume_saved(saved)
        return True

    def turn_to(self, rules: Rules) -> None:
        """Take up the last unfinished game under `rules`, or begin one.

        A store that cannot be read is announced, and hinders nobody.
        """
        if not self._guard(lambda: self.resume(rules)):
            self.start(rules)

    def resume_saved(self, saved: SavedGame, draws: Draws | None = None) -> None:
        """Take up one of the `saved_games`, with the draws it began with if they are its own.

        Raises:
            StorageError: if it cannot be read back.
        """
        self._keeper.leave(self._play)
        self._play = self._keeper.load(saved, draws)
        self._announce(resumed=True)

    def start_from(self, record: Record, turns: int | None = None) -> None:
        """Go on with the game of `record`, with all its turns to be undone.

        A game of a computer player stays one.

        Args:
            record: the game.
            turns: go on after so many of its turns; those after them are undone.

        Raises:
            RecordError: if a turn of the record breaks its rules.
        """
        play = Play.of(record, computer=record.player.partition(":")[0] in list_players())
        while turns is not None and play.position > turns:
            play.undo()
        self._lay(play)

    def _lay(self, play: Play) -> None:
        """Put a game that the store does not know yet on the table."""
        self._keeper.leave(self._play)
        self._play = play
        self._keeper.begin(play)
        self._announce(resumed=False)

    def _announce(self, *, resumed: bool) -> None:
        self._won = self.game.has_won
        self._load_best()
        self._changed()
        self._emit(GameStarted(self.game.board, self.game.score, self.best, resumed))
        if self.game.is_over:
            self._end()

    def close(self) -> None:
        """Leave the table: save what is to be saved and close the store.

        Raises:
            StorageError: if something could not be saved within some seconds; it is lost.
        """
        self._keeper.leave(self._play)
        self._keeper.close()

    # Playing

    def move(self, direction: Direction) -> bool:
        """Slide in `direction`; return whether the move was legal.

        Emits `Moved` or `Refused`, then `Won` and `GameOver` where they apply.
        """
        before, score = self.game.board, self.game.score
        turn = self._play.attempt(direction)
        points = self.game.score - score
        if turn is not None:
            self._changed()
            self._raise_best()
            self._save()
        if turn is None or not turn.legal:
            self._emit(Refused(direction, points, self.game.score))
            return False
        self._emit(Moved(before, turn, self.game.board, points, self.game.score, self.best))
        self._consequences()
        return True

    def undo(self) -> bool:
        """Take back the last turn; return whether there was one. Emits `Undone`."""
        before = self.game.board
        turn = self._play.undo()
        if turn is None:
            return False
        self._changed()
        self._save()
        self._emit(Undone(turn, before, self.game.board, self.game.score))
        return True

    def redo(self) -> bool:
        """Play the last undone turn again; return whether there was one. Emits `Moved`."""
        before, score = self.game.board, self.game.score
        turn = self._play.redo()
        if turn is None:
            return False
        self._changed()
        self._save()
        points = self.game.score - score
        self._emit(Moved(before, turn, self.game.board, points, self.game.score, self.best, True))
        self._consequences()
        return True

    def _changed(self) -> None:
        self._version += 1

    def _consequences(self) -> None:
        if self.game.has_won and not self._won:
            self._won = True
            assert self.rules.target is not None  # has_won needs one
            self._emit(Won(self.rules.target, not self.rules.ends_at_target))
        if self.game.is_over:
            self._end()

    def _end(self) -> None:
        game = self.game
        is_best = self.category in PERSON and 0 < game.score == self.best
        self._emit(GameOver(game.outcome, game.score, self.best, is_best))

    # Advice and computer players

    def question(self) -> Question:
        """Return a snapshot of the position, for a worker to think about."""
        return Question(self.rules, self.game.board, self._version)

    def show_hint(self, hint: Hint) -> bool:
        """Announce a hint found by a worker, unless it is outdated; return whether it was shown."""
        if hint.version != self._version:
            return False
        if self._awaited != (hint.version, hint.player):  # else it was counted with the quick one
            self._play.hints += 1
            self._save()
        self._awaited = hint.version, hint.instead_of
        self._emit(Hinted(hint))
        return True

    def play_hint(self, hint: Hint) -> bool:
        """Play the move that a worker chose, unless it is outdated; return whether it was played.

        The game counts as a computer's from then on, and its record says whose.
        """
        if hint.version != self._version:
            return False
        self._play.computer = True
        self._play.game.player = hint.player
        return self.move(hint.direction)

    def hint(self, player: Player | str | None = None) -> Hint:
        """Ask a player (by default `HINT_PLAYER`) what to do, and wait for the answer.

        Emits `Hinted`. A screen that must not wait uses `question` and `show_hint`.

        Raises:
            GameOverError: if the game is over.
            PlayerError: if there is no such player, or it answers with an illegal direction.
        """
        hint = self.question().ask(self.adviser(player))
        self.show_hint(hint)
        return hint

    def advise(
        self, question: Question, player: str | None = None, *, only_move: bool = False
    ) -> Iterator[Hint | Compiling]:
        """Ask a player in a worker's thread, as `py2048.session.advise`, which a screen shows.

        Raises:
            PlayerError: if there is no such player, or it answers with an illegal direction.
        """
        return advise(question, self.adviser(player), only_move=only_move)

    def autoplay_step(self, player: Player | str) -> bool:
        """Let a player make the next move, and wait for it; return whether it moved.

        Raises:
            PlayerError: if there is no such player, or it answers with an illegal direction.
        """
        if self.game.is_over:
            return False
        return self.play_hint(self.question().choose(self.adviser(player)))

    def adviser(self, player: Player | str | None = None) -> Player:
        """Return the player itself, or the one that the spec names, made once.

        Raises:
            PlayerError: if there is no such player.
        """
        if player is not None and not isinstance(player, str):
            return player
        spec = player or HINT_PLAYER
        if spec not in self._advisers:
            self._advisers[spec] = make_player(spec)
        return self._advisers[spec]

    # Records

    def record(self) -> Record:
        """Return the game on the table as a record, with its undos, hints and times."""
        return self._play.record()

    def save_record(self, path: str | Path) -> None:
        """Write the game on the table to a file.

        Raises:
            RecordError: if it cannot be written.
        """
        self.record().save(path)

    # The store

    def _save(self) -> None:
        self._keeper.save(self._play)
        self.look_after_saving()

    def _load_best(self) -> None:
        text = self._rules_text()
        stored = self._guard(lambda: self._keeper.best_score(text))
        self._bests[text] = max(stored or 0, self._bests.get(text, 0))
        self._raise_best()

    def _rules_text(self) -> str:
        if self._text[0] is not self.rules:
            self._text = (self.rules, str(self.rules))
        return self._text[1]

    def _raise_best(self) -> None:
        """Let the score on the table count as the best, at once and for good."""
        text, score = self._rules_text(), self.game.score
        if self.category not in PERSON or score <= self._bests.get(text, 0):
            return
        self._bests[text] = score
        self._keeper.note_score(text, self.category, score)


def open_session(url: str | None = None, *, owner: str = "local", player: str = "") -> Session:
    """Open a session on the store at `url` (by default the player's own).

    Raises:
        StorageError: if the store cannot be opened.
    """
    from py2048.session.autosave import Autosave
    from py2048.storage import open_store

    keeper = Autosave(open_store(url, patience=PATIENCE), owner)
    keeper.finish_left_behind()
    return Session(keeper, player=player)
