"""A table of a server: one game with its session, whose actions are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from py2048.direction import Direction
from py2048.errors import Py2048Error
from py2048.game import Outcome
from py2048.game.record import direction_of
from py2048.server.fairness import commitment_of, draws_of, known_secret
from py2048.server.ledger import Ledger, LedgerKeeper
from py2048.session.advice import Hint
from py2048.session.events import Event
from py2048.session.session import Session
from py2048.storage import GameChange, NewRound, Round, SavedGame

if TYPE_CHECKING:
    from py2048.storage import Store

CASUAL, RANKED, DAILY, BOT = "casual", "ranked", "daily", "bot"
MODES = (RANKED, CASUAL, DAILY, BOT)

MOST_ACTIONS = 1_000_000
"""The longest game: so many moves, undos, redos and hints together."""


class RefusedError(Py2048Error):
    """A request that the server does not grant.

    Attributes:
        reason: one word for programs.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Action:
    """What a numbered action did.

    Attributes:
        version: the game's version after it.
        events: what is to be told, in order; empty if the number was done before.
    """

    version: int
    events: tuple[Event, ...]


class Table:
    """A game on a server, as one process sees it. Not for several threads at a time.

    Every action carries the number that the game's version will have after it. The next number
    is done, an earlier one was done before, a later one is refused.

    Args:
        store: reads best scores.
        saved: the game as the store has it.
        round_: what it has besides.

    Attributes:
        unwritten: the game as it begins, until it is in the store.
    """

    def __init__(self, store: Store, saved: SavedGame, round_: Round) -> None:
        self._store = store
        self.id = saved.id
        self.round = round_
        self.unwritten: NewRound | None = None
        self.rules_text = saved.rules
        self.commitment = commitment_of(round_.secret) if round_.secret else None
        self._events: list[Event] = []
        self._lay(saved)

    def _lay(self, saved: SavedGame) -> None:
        self.ledger = Ledger(self._store, saved)
        self.session = Session(LedgerKeeper(self.ledger, saved.owner), player=saved.player)
        secret = self.round.secret
        self.session.resume_saved(saved, draws_of(secret) if secret else None)
        self.session.subscribe(self._events.append)
        self._events.clear()

    @property
    def version(self) -> int:
        """How many actions changed the game."""
        return self.ledger.revision

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.session.game.is_over

    @property
    def allows_help(self) -> bool:
        """Whether the game's mode allows undo, hints and computer players."""
        return self.round.mode == CASUAL

    @property
    def secret(self) -> str | None:
        """What the draws come from, once the game is over and it may be known."""
        return known_secret(self.round, is_over=self.is_over)

    @property
    def outcome(self) -> Outcome:
        """How the game stands."""
        return self.session.game.outcome

    # Numbered actions

    def move(self, number: int, direction: Direction) -> Action:
        """Slide.

        Raises:
            RefusedError: if the number is not the next (``gap``) or the game is over (``over``).
        """
        if not self._is_next(number):
            return Action(self.version, ())
        if self.is_over:
            raise RefusedError("over", "the game is over: begin a new one")
        self.session.move(direction)
        return self._done()

    def undo(self, number: int) -> Action:
        """Take back the last turn.

        Raises:
            RefusedError: as `move`, or where the mode forbids it (``mode``) or there is none.
        """
        return self._step(number, "undo")

    def redo(self, number: int) -> Action:
        """Play the last undone turn again; refused as `undo`."""
        return self._step(number, "redo")

    def show_hint(self, number: int, hint: Hint) -> Action:
        """Count a hint; an outdated one is not counted and tells nothing.

        Raises:
            RefusedError: if the number is not the next, or the mode forbids it.
        """
        self.check_help()
        if self._is_next(number):
            self.session.show_hint(hint)
        return self._done()

    def play_hint(self, hint: Hint) -> Action:
        """Play the move that a computer player chose, unless it is outdated.

        Raises:
            RefusedError: reason ``over`` if the game is as long as a game may be.
        """
        self._check_length()
        self.session.play_hint(hint)
        return self._done()

    def check_help(self) -> None:
        """Refuse help where the mode forbids it.

        Raises:
            RefusedError: reason ``mode``, or ``over`` when there is nothing left to ask.
        """
        if not self.allows_help:
            raise RefusedError(
                "mode", f"{self.round.mode} games go without undo, hints and autoplay"
            )

    def _step(self, number: int, name: str) -> Action:
        self.check_help()
        if not self._is_next(number):
            return Action(self.version, ())
        if not getattr(self.session, name)():
            raise RefusedError("nothing", f"there is nothing to {name}")
        return self._done()

    def _is_next(self, number: int) -> bool:
        if number > self.version + 1:
            raise RefusedError("gap", f"action {number} comes before action {self.version + 1}")
        if number == self.version + 1:
            self._check_length()
        return number == self.version + 1

    def _check_length(self) -> None:
        if self.version >= MOST_ACTIONS:
            raise RefusedError("over", f"the game ends here: it has {MOST_ACTIONS} actions")

    def _done(self) -> Action:
        events = tuple(self._events)
        self._events.clear()
        return Action(self.version, events)

    def take(self) -> GameChange:
        """Return what was done since the last time, to be written."""
        return self.ledger.take(max_tile=self.session.game.board.max_tile)

    # Other processes

    def catch_up(self, saved: SavedGame) -> tuple[Event, ...] | None:
        """Take over what another process has written, unless this one has it already.

        Turns that were simply added are played here too, and their events returned; anything
        else lays the game on the table anew, and `None` says that everybody must forget
        what they knew.
        """
        if saved.revision <= self.ledger.revision and not self.ledger.is_dirty:
            return ()
        added = self._added_turns(saved)
        for code in added:
            self.session.move(direction_of(code))
        events = self._done().events
        if not added or self.ledger.codes != list(saved.turns):
            self._lay(saved)
            return None
        self.ledger.take()
        return events

    def _added_turns(self, saved: SavedGame) -> tuple[str, ...]:
        """Return the turns that `saved` adds to what is known, none if it differs otherwise."""
        known, added = self.ledger.codes, saved.turns[len(self.ledger.codes) :]
        is_simple = (
            not self.ledger.is_dirty
            and self.ledger.facts == (saved.undos, saved.hints, bool(saved.extra.get("computer")))
            and saved.position == len(saved.turns)
            and self.ledger.played == known == list(saved.turns[: len(known)])
            and len(added) == saved.revision - self.ledger.revision
        )
        return added if is_simple else ()
